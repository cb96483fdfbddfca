"""Interfaces of other libraries, implemented with jaxmotif; each module imports the library it is for."""
