from jaxmotif.graph._saved import GraphFileError as GraphFileError
from jaxmotif.io._read import read_graph as read_graph
from jaxmotif.io._registry import format_table as format_table
from jaxmotif.io._write import write_graph as write_graph
