"""JAX on Spirula beside JAX on XLA's processor: training, types, donation, threads, errors.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`.
"""

import os
import pickle
import tempfile
import threading
import unittest

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.experimental import serialize_executable
from jax.experimental.compilation_cache import compilation_cache

SPIRULA = jax.devices("spirula")[0]
XLA = jax.devices("cpu")[0]


def init_model(key):
    """A perceptron of two layers, with the momentum of its parameters."""
    first, second = jax.random.split(key)
    params = {
        "w1": jax.random.normal(first, (8, 32)) * 0.3,
        "b1": jnp.zeros(32),
        "w2": jax.random.normal(second, (32, 1)) * 0.3,
        "b2": jnp.zeros(1),
    }
    return params, jax.tree.map(jnp.zeros_like, params)


def loss_of(params, x, y):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] + params["b2"] - y) ** 2)


@jax.jit
def make_batch(key):
    x = jax.random.normal(key, (64, 8))
    return x, jnp.sin(x.sum(axis=1, keepdims=True))


def update(state, x, y):
    params, momentum = state
    loss, gradient = jax.value_and_grad(loss_of)(params, x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
    params = jax.tree.map(lambda p, m: p - 0.05 * m, params, momentum)
    return (params, momentum), loss


def train(device, steps):
    """The losses of a training on a device, whose state is donated from step to step."""
    step = jax.jit(update, donate_argnums=0)
    with jax.default_device(device):
        state = init_model(jax.random.key(0))
        losses = []
        for key in jax.random.split(jax.random.key(1), steps):
            state, loss = step(state, *make_batch(key))
            losses.append(loss)
        return np.array(losses), jax.tree.map(np.asarray, state[0])


class TrainingTest(unittest.TestCase):
    def test_losses_are_those_of_xla(self):
        losses, params = train(SPIRULA, 60)
        wanted, wanted_params = train(XLA, 60)
        self.assertLess(losses[-10:].mean(), 0.7 * losses[:10].mean())
        np.testing.assert_allclose(losses, wanted, rtol=2e-4)
        for name, values in params.items():
            np.testing.assert_allclose(values, wanted_params[name], rtol=2e-3, atol=2e-5)

    def test_random_bits_are_those_of_xla(self):
        bits = lambda device: np.asarray(
            jax.device_put(jax.random.key_data(jax.random.key(7)), device).block_until_ready()
        )
        np.testing.assert_array_equal(bits(SPIRULA), bits(XLA))
        with jax.default_device(SPIRULA):
            ours = np.asarray(jax.random.bits(jax.random.key(3), (1000,)))
        with jax.default_device(XLA):
            wanted = np.asarray(jax.random.bits(jax.random.key(3), (1000,)))
        np.testing.assert_array_equal(ours, wanted)


class TypeTest(unittest.TestCase):
    TYPES = [
        np.bool_, np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32, np.float16, np.float32,
        np.complex64, ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3b11fnuz,
    ]  # fmt: skip

    def test_arrays_come_back_as_they_were(self):
        for dtype in self.TYPES:
            with self.subTest(dtype=dtype):
                values = (np.arange(12) % 3).reshape(3, 4).astype(dtype)
                for given in (values, values.T, values[:, 1:3], values[:0], values[1, 2]):
                    array = jax.device_put(given, SPIRULA)
                    self.assertEqual(array.dtype, given.dtype)
                    np.testing.assert_array_equal(np.asarray(array), given)
                    moved = jax.jit(lambda a: jnp.stack([a, a]))(array)
                    np.testing.assert_array_equal(np.asarray(moved), np.stack([given, given]))


class BufferTest(unittest.TestCase):
    def test_donated_arrays_are_deleted(self):
        increment = jax.jit(lambda a: a + 1, donate_argnums=0)
        first = jax.device_put(np.zeros(1000, np.float32), SPIRULA)
        second = increment(first)
        self.assertTrue(first.is_deleted())
        with self.assertRaisesRegex((RuntimeError, ValueError), "deleted"):
            increment(first)
        np.testing.assert_array_equal(np.asarray(second), np.ones(1000))

    def test_threads_share_a_device(self):
        function = jax.jit(lambda a: jnp.sort(a * 3 - 1))
        failures = []

        def work(seed):
            try:
                values = np.random.RandomState(seed).randn(500).astype(np.float32)
                array = jax.device_put(values, SPIRULA)
                for _ in range(20):
                    found = np.asarray(function(array))
                    np.testing.assert_allclose(found, np.sort(values * 3 - 1), rtol=1e-6)
            except Exception as error:  # The thread has nobody else to tell.
                failures.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class ProgramTest(unittest.TestCase):
    def test_compiled_programs_are_stored_and_loaded(self):
        given = jax.device_put(np.arange(6, dtype=np.float32), SPIRULA)
        compiled = jax.jit(lambda a: a * a).lower(given).compile()
        stored = pickle.loads(pickle.dumps(serialize_executable.serialize(compiled)))
        loaded = serialize_executable.deserialize_and_load(*stored, backend="spirula")
        np.testing.assert_array_equal(np.asarray(loaded(given)), np.arange(6) ** 2)
        self.assertGreater(compiled.cost_analysis()["flops"], 0)
        self.assertEqual(compiled.memory_analysis().argument_size_in_bytes, 24)

    def test_decompositions_are_those_of_numpy(self):
        matrix = np.random.RandomState(0).randn(6, 6).astype(np.float32)
        symmetric = matrix @ matrix.T + 6 * np.eye(6, dtype=np.float32)
        with jax.default_device(SPIRULA):
            lower = np.asarray(jnp.linalg.cholesky(symmetric))
            q, r = jnp.linalg.qr(matrix)
            values, vectors = jnp.linalg.eigh(symmetric)
            product = np.asarray((vectors * values) @ vectors.T)
        np.testing.assert_allclose(lower, np.linalg.cholesky(symmetric), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(np.asarray(q @ r), matrix, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(product, symmetric, rtol=1e-4, atol=1e-4)

    def test_windows_beyond_the_bounds_are_dropped(self):
        numbers = jax.lax.ScatterDimensionNumbers((1,), (), (0,))
        indices = np.array([[2], [9], [-1], [8]])
        updates = np.arange(1, 9, dtype=np.float32).reshape(4, 2)
        add = jax.jit(lambda a: jax.lax.scatter_add(a, indices, updates, numbers))
        found = [np.asarray(add(jax.device_put(np.zeros(10, np.float32), d))) for d in (SPIRULA, XLA)]
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], [0, 0, 1, 2, 0, 0, 0, 0, 7, 8])

    def test_executables_are_kept_on_disk(self):
        options = {
            "jax_persistent_cache_min_compile_time_secs": 0.0,
            "jax_persistent_cache_min_entry_size_bytes": -1,
        }
        before = {name: getattr(jax.config, name) for name in options}
        with tempfile.TemporaryDirectory() as folder, jax.default_device(SPIRULA):
            compilation_cache.reset_cache()
            compilation_cache.set_cache_dir(folder)
            for name, value in options.items():
                jax.config.update(name, value)
            try:
                for _ in range(2):
                    jax.clear_caches()
                    found = float(jax.jit(lambda x: jnp.cosh(x).sum())(jnp.zeros(7)))
                    self.assertEqual(found, 7.0)
                    names = [name for name in os.listdir(folder) if name.endswith("-cache")]
                    kept = [name for name in names if name.startswith("jit__lambda")]
                    self.assertEqual(len(kept), 1, names)
            finally:
                compilation_cache.reset_cache()
                for name, value in before.items():
                    jax.config.update(name, value)
                jax.config.update("jax_compilation_cache_dir", None)

    def test_unknown_calls_are_named_and_the_device_goes_on(self):
        with jax.default_device(SPIRULA):
            call = jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((), jnp.float32))
            with self.assertRaisesRegex(Exception, "no_such_target"):
                jax.jit(call)()
            self.assertEqual(int(jnp.arange(5).sum()), 10)


if __name__ == "__main__":
    unittest.main()
