"""The planner of matching, from a query and a target to a search: a file a phase, called in turn by ``_plan``."""
