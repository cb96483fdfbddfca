"""Other libraries' interfaces, served by this one; each module imports its library."""
