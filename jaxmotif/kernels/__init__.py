"""The array mechanisms (internal)."""
