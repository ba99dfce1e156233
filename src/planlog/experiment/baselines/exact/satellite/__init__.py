"""Satellite: an integer program that assigns images to instruments, and a plan."""
