# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
"""A graph network whose graphlet features are counted inside its jitted training step, in plain JAX.

Two kinds of graphs of as many nodes and edges: in one a third of the edges close triangles. Messages alone tell nodes
of equal degree apart poorly; with the orbits of each node as its first features the network learns the difference.

    python examples/graph_network.py
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif import Graph
from jaxmotif.features import soft_densities
from jaxmotif.graphlets import dense_node_orbits

NODES, EDGES, WIDTH = 16, 32, 16


def data_set(graphs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges ``[graphs, 2, EDGES]`` and labels ``[graphs]``; columns of id ``NODES`` are padding."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, graphs)
    edges = np.full((graphs, 2, EDGES), NODES, np.int32)
    for i in range(graphs):
        rows = rng.integers(0, NODES, (EDGES - 8, 2))
        if labels[i]:
            corner = rng.integers(0, NODES, (8, 3))  # eight triangles in the place of as many edges
            rows[:24] = np.concatenate([corner[:, :2], corner[:, 1:], corner[:, ::2]])
        edges[i, :, : len(rows)] = rows.T
    return edges, labels


def features(edges: jax.Array) -> tuple[Graph, jax.Array]:
    """The graph of an array of edges and its nodes' orbits, float32 ``[NODES, 15]``."""
    graph = Graph.from_edge_index(edges, num_nodes=NODES)
    return graph, jnp.log1p(dense_node_orbits(graph).astype("float32"))


def network(parameters: dict[str, jax.Array], edges: jax.Array) -> jax.Array:
    """The logit of one graph: one round of messages, a sum over nodes, a line."""
    graph, orbits = features(edges)
    sources = jnp.repeat(jnp.arange(NODES), jnp.diff(graph.out_offsets), total_repeat_length=graph.slot_capacity)
    state = jnp.tanh(orbits @ parameters["first"])
    real = (graph.out_targets < NODES)[:, None]
    sent = jnp.where(real, state[jnp.minimum(graph.out_targets, NODES - 1)], 0.0)
    state = jnp.tanh(state @ parameters["own"] + jax.ops.segment_sum(sent, sources, NODES) @ parameters["messages"])
    return state.mean(axis=0) @ parameters["last"] + parameters["bias"]


def loss(parameters: dict[str, jax.Array], edges: jax.Array, labels: jax.Array) -> jax.Array:
    logits = jax.vmap(network, in_axes=(None, 0))(parameters, edges)
    return jnp.mean(jnp.logaddexp(0.0, jnp.where(labels == 1, -logits, logits)))


@jax.jit
def train_step(parameters: dict[str, jax.Array], edges: jax.Array, labels: jax.Array) -> dict[str, jax.Array]:
    """Counting, messages and gradient in one compiled program."""
    slope = jax.grad(loss)(parameters, edges, labels)
    return jax.tree.map(lambda p, g: p - 0.3 * g, parameters, slope)


def train(steps: int = 300) -> float:
    """The accuracy on graphs that were not trained on."""
    keys = jax.random.split(jax.random.key(0), 4)
    shapes = {"first": (15, WIDTH), "own": (WIDTH, WIDTH), "messages": (WIDTH, WIDTH), "last": (WIDTH,)}
    parameters = {
        name: jax.random.normal(key, shape, jnp.float32) / float(np.sqrt(shape[0]))
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }
    parameters["bias"] = jnp.zeros((), jnp.float32)
    edges, labels = data_set(128, seed=1)
    for _ in range(steps):
        parameters = train_step(parameters, edges, labels)
    edges, labels = data_set(128, seed=2)
    logits = jax.jit(jax.vmap(network, in_axes=(None, 0)))(parameters, edges)
    return float(jnp.mean((logits > 0) == (labels == 1)))


def close_triangles(steps: int = 200) -> tuple[float, float]:
    """Learns a weighted graph of few wedges and many triangles by the gradient of soft densities: the share of closed
    wedges before and after."""

    def closed(logits: jax.Array) -> jax.Array:
        weights = jax.nn.sigmoid(logits + logits.T)
        found = soft_densities(weights)
        return found.triangle / found.wedge

    step = jax.jit(lambda logits: logits + 20.0 * jax.grad(closed)(logits))
    logits = 0.1 * jax.random.normal(jax.random.key(1), (12, 12))
    before = float(closed(logits))
    for _ in range(steps):
        logits = step(logits)
    return before, float(closed(logits))


if __name__ == "__main__":
    print(f"accuracy on new graphs: {train():.2f}")
    print("closed wedges of a learned graph: {:.2f} before, {:.2f} after".format(*close_triangles()))
