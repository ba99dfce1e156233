"""The command line: the only package that parses arguments, prints and exits."""

from planlog.cli.app import main

__all__ = ["main"]
