from jaxmotif import datasets as datasets
from jaxmotif.arrays._program_cache import keep_compiled as keep_compiled
from jaxmotif.features import pattern_features as pattern_features
from jaxmotif.graph import Graph as Graph
from jaxmotif.graphlets import edge_graphlets as edge_graphlets
from jaxmotif.graphlets import graphlet_counts as graphlet_counts
from jaxmotif.graphlets import node_orbits as node_orbits
from jaxmotif.io import read_graph as read_graph
from jaxmotif.matching import count_matches as count_matches
from jaxmotif.matching import find_matches as find_matches
from jaxmotif.matching import has_match as has_match
from jaxmotif.matching import iter_matches as iter_matches
from jaxmotif.matching import occurrences as occurrences
from jaxmotif.matching import participation_counts as participation_counts
from jaxmotif.matching import query as query
from jaxmotif.matching import subnetwork as subnetwork
from jaxmotif.motifs import estimate_census as estimate_census
from jaxmotif.motifs import find_motifs as find_motifs
from jaxmotif.motifs import random_graphs as random_graphs
from jaxmotif.motifs import sample_subgraphs as sample_subgraphs
from jaxmotif.motifs import subgraph_census as subgraph_census
from jaxmotif.sieve import ColorMotifs as ColorMotifs
from jaxmotif.sieve import find_color_motif as find_color_motif

__version__: str
