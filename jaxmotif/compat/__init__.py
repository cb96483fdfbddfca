"""Interfaces of other libraries, served by this one; each module imports its library."""
