"""Experiments: run configurations on the tasks of many domains in parallel, and store records.

The modules are the stages of a run: `suite` collects the tasks, `configurations` the planners,
`jobs` combines both, `runner` distributes the jobs to workers, and `job_execution` executes one.
"""
