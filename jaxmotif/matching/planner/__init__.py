"""From a query and a target to a search: a file a phase, called one after another by :mod:`._plan`."""
