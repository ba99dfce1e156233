"""Whole tasks as functions, and the files, policies and models that they are given."""
