# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false
"""Modules of Equinox and of Flax whose features are counted inside the jitted training step.

Both count the orbits of each node of a graph of fixed size, and have a layer over nodes and one over their mean. They
learn which graphs have triangles closed; ``graph_network.py`` makes these, and does the same in plain JAX.

    pip install equinox flax
    python examples/modules.py
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from graph_network import NODES, WIDTH, data_set

from jaxmotif import Graph
from jaxmotif.graphlets import dense_node_orbits


def orbits(edges: jax.Array) -> jax.Array:
    """The orbits of the nodes of a graph, float32 ``[NODES, 15]``; exact, without a gradient."""
    graph = Graph.from_edge_index(edges, num_nodes=NODES)
    return jnp.log1p(dense_node_orbits(graph).astype("float32"))


class EquinoxNetwork(eqx.Module):
    nodes: eqx.nn.Linear
    last: eqx.nn.Linear

    def __init__(self, key: jax.Array):
        first, second = jax.random.split(key)
        self.nodes = eqx.nn.Linear(15, WIDTH, key=first)
        self.last = eqx.nn.Linear(WIDTH, "scalar", key=second)

    def __call__(self, edges: jax.Array) -> jax.Array:
        return self.last(jax.nn.tanh(jax.vmap(self.nodes)(orbits(edges))).mean(axis=0))


class FlaxNetwork(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.nodes = nnx.Linear(15, WIDTH, rngs=rngs)
        self.last = nnx.Linear(WIDTH, 1, rngs=rngs)

    def __call__(self, edges: jax.Array) -> jax.Array:
        return self.last(jax.nn.tanh(self.nodes(orbits(edges))).mean(axis=0))[0]


def loss(network: EquinoxNetwork | FlaxNetwork, edges: jax.Array, labels: jax.Array) -> jax.Array:
    logits = jax.vmap(network)(edges)
    return optax.sigmoid_binary_cross_entropy(logits, labels).mean()


def train_equinox(steps: int = 200) -> float:
    """The accuracy on graphs that were not trained on."""
    network, optimizer = EquinoxNetwork(jax.random.key(0)), optax.adam(0.03)
    state = optimizer.init(eqx.filter(network, eqx.is_array))
    (edges, labels), (others, truth) = data_set(128, seed=1), data_set(128, seed=2)

    @eqx.filter_jit
    def step(
        network: EquinoxNetwork, state: optax.OptState, edges: jax.Array, labels: jax.Array
    ) -> tuple[EquinoxNetwork, optax.OptState]:
        slope = eqx.filter_grad(loss)(network, edges, labels)
        updates, state = optimizer.update(slope, state)
        return eqx.apply_updates(network, updates), state

    for _ in range(steps):
        network, state = step(network, state, jnp.asarray(edges), jnp.asarray(labels))
    logits = eqx.filter_jit(eqx.filter_vmap(network))(jnp.asarray(others))
    return float(np.mean((np.asarray(logits) > 0) == (truth == 1)))


def train_flax(steps: int = 200) -> float:
    """The accuracy on graphs that were not trained on."""
    network = FlaxNetwork(nnx.Rngs(0))
    optimizer = nnx.Optimizer(network, optax.adam(0.03), wrt=nnx.Param)
    (edges, labels), (others, truth) = data_set(128, seed=1), data_set(128, seed=2)

    @nnx.jit
    def step(network: FlaxNetwork, optimizer: nnx.Optimizer[FlaxNetwork], edges: jax.Array, labels: jax.Array) -> None:
        slope = nnx.grad(loss)(network, edges, labels)
        optimizer.update(network, slope)

    for _ in range(steps):
        step(network, optimizer, jnp.asarray(edges), jnp.asarray(labels))
    logits = jax.vmap(network)(jnp.asarray(others))
    return float(np.mean((np.asarray(logits) > 0) == (truth == 1)))


if __name__ == "__main__":
    print(f"accuracy on new graphs: Equinox {train_equinox():.2f}, Flax {train_flax():.2f}")
