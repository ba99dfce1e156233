"""PDDL domains, problems, states and plans."""
