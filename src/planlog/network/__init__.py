"""Networks that rank derived actions: template, circuit, inference, model files. No torch."""
