"""The planner of matching, from a query and a target to a search. ``_plan`` calls the phases; each phase is a file."""
