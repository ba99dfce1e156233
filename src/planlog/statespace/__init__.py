"""State spaces of small tasks: goal distances, optimal actions, labels."""
