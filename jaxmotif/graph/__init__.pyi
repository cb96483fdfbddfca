from jaxmotif.arrays._sizes import bucket_size as bucket_size
from jaxmotif.graph._batch import Graphs as Graphs
from jaxmotif.graph._batch import disjoint_union as disjoint_union
from jaxmotif.graph._batch import stack_graphs as stack_graphs
from jaxmotif.graph._batch import unstack as unstack
from jaxmotif.graph._coerce import GraphLike as GraphLike
from jaxmotif.graph._coerce import GraphsLike as GraphsLike
from jaxmotif.graph._coerce import as_graph as as_graph
from jaxmotif.graph._coerce import as_graphs as as_graphs
from jaxmotif.graph._container import Graph as Graph
from jaxmotif.graph._fields import BuildReport as BuildReport
from jaxmotif.graph._saved import GraphFileError as GraphFileError

def lend(homes: dict[str, str]) -> None: ...
