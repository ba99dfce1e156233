"""Output formats of reports."""
