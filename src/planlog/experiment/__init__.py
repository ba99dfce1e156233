"""Experiments: domains × configurations × tasks, run on many processors, to records of results.

The files follow the way of a run: `suite` finds or makes the tasks, `configurations` says what is
run on them, `jobs` puts both together, `runner` gives the jobs to `worker`s, and `work` does one.
"""
