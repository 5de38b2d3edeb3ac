"""JAX on eight logical devices of which each has its shards only: programs are partitioned.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`. Those of `test_sharding` run here, too.
"""

import os
import pickle
import unittest

os.environ["SPIRULA_PARTITION"] = "1"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import serialize_executable
from jax.sharding import NamedSharding, PartitionSpec as P
from test_sharding import ShardingTest, make_mesh, matrix  # noqa: F401


def place(mesh, array, *spec):
    return jax.device_put(array, NamedSharding(mesh, P(*spec)))


class PartitionTest(unittest.TestCase):
    def compare(self, function, *arguments, tolerance=1e-4):
        """Compares results on the devices of both platforms, and checks that the program was partitioned."""
        found = {}
        for platform in ("spirula", "cpu"):
            mesh = make_mesh(platform)
            given = [place(mesh, array, *spec) for array, spec in arguments]
            compiled = jax.jit(function).lower(*given).compile()
            found[platform] = jax.tree.map(np.asarray, compiled(*given))
            if platform == "spirula":
                stored = pickle.dumps(serialize_executable.serialize(compiled))
                self.assertIn(b'"is_partitioned":true,"parameters"', stored)
        for one, other in zip(jax.tree.leaves(found["spirula"]), jax.tree.leaves(found["cpu"])):
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)

    def test_products(self):
        self.compare(lambda a, b: a @ b, (matrix(16, 8), ("x", "y")), (matrix(8, 12), ("y", None)))
        self.compare(lambda a, b: jnp.tanh(a @ b).sum(0), (matrix(16, 8), ("x",)), (matrix(8, 12), (None, "y")))

    def test_gradients_of_embeddings(self):
        def loss(table, tokens):
            return jnp.square(table[tokens]).sum()

        tokens = np.arange(24, dtype=np.int32).reshape(8, 3) % 15
        self.compare(jax.value_and_grad(loss), (matrix(16, 6), ("x",)), (tokens, ("y",)))

    def test_positions_of_extremes(self):
        self.compare(lambda a: (a.argmax(1), a.argmin(0)), (matrix(8, 16), ("y", "x")))

    def test_gradients_of_convolutions(self):
        def loss(x, kernel):
            y = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            y = lax.reduce_window(y, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            return jnp.square(y).sum()

        x = np.random.RandomState(0).randn(2, 16, 8, 3).astype(np.float32)
        kernel = np.random.RandomState(1).randn(3, 3, 3, 4).astype(np.float32)
        self.compare(jax.grad(loss, (0, 1)), (x, ("y", "x")), (kernel, ()), tolerance=1e-3)

    def test_batches_of_linear_systems(self):
        a = np.random.RandomState(0).randn(8, 3, 3).astype(np.float32) + 3 * np.eye(3, dtype=np.float32)
        self.compare(jnp.linalg.solve, (a, ("x",)), (a[:, :, :2], ("x",)), tolerance=1e-3)

    def test_loops_sorts_and_random_numbers(self):
        def function(a, key):
            step = lambda a, _: (jnp.sin(a @ a.T) @ a, a.sum())
            a, sums = lax.scan(step, a, length=3)
            noise = jax.random.normal(jax.random.wrap_key_data(key), a.shape)
            return jnp.sort(a + noise, 0), jnp.cumsum(a, 1), sums

        key = jax.random.key_data(jax.random.key(3))
        self.compare(function, (matrix(8, 8) * 0.1, ("x", "y")), (key, ()))


if __name__ == "__main__":
    unittest.main()
