"""The rule language: text (`.dl` files) to checked, stratified programs; see docs/rules.md."""

from planlog.datalog.program import Program, parse_program, read_program

__all__ = ["Program", "parse_program", "read_program"]
