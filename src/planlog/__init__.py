"""Planlog: generalised policies for PDDL domains, written as a few Datalog rules."""
