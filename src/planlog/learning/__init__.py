"""Training of networks. The only package that imports torch."""
