"""Rover: an integer program for the arrivals of rovers, and a search for their order."""
