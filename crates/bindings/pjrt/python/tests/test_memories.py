"""Memories of the host: arrays that programs put there and take from there.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`. With `JAX_PLATFORMS=spirula_vulkan,cpu` they run on a
Vulkan device, whose memory is another one than the host's.
"""

import os
import unittest

DEVICES = 2
os.environ["SPIRULA_LOGICAL_DEVICES"] = str(DEVICES)

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

KINDS = ("device", "pinned_host", "unpinned_host")
DEVICE = jax.devices()[0]


def place_of(kind):
    return SingleDeviceSharding(DEVICE, memory_kind=kind)


def kind_of(array):
    return array.sharding.memory_kind


class MemoryTest(unittest.TestCase):
    def test_devices_have_memories(self):
        self.assertEqual([memory.kind for memory in DEVICE.addressable_memories()], list(KINDS))
        self.assertEqual(DEVICE.default_memory().kind, "device")
        self.assertEqual(jnp.ones(3).sharding.memory_kind, "device")

    def test_arrays_move_between_all_memories(self):
        for start in KINDS:
            for end in KINDS:
                for array in (np.arange(1000, dtype=np.float32), np.complex64(1 + 2j), np.zeros((0, 3), np.int8)):
                    with self.subTest(start=start, end=end, shape=array.shape):
                        placed = jax.device_put(array, place_of(start))
                        moved = jax.device_put(placed, place_of(end))
                        self.assertEqual((kind_of(placed), kind_of(moved)), (start, end))
                        np.testing.assert_array_equal(placed, array)
                        np.testing.assert_array_equal(moved, array)

    def test_programs_read_and_write_memory_of_the_host(self):
        call = jax.jit(lambda x, y: (x + y, x * y), out_shardings=(place_of("pinned_host"), place_of("device")))
        x = jax.device_put(jnp.arange(100.0), place_of("pinned_host"))
        total, product = call(x, jax.device_put(jnp.ones(100), place_of("pinned_host")))
        self.assertEqual((kind_of(total), kind_of(product)), ("pinned_host", "device"))
        np.testing.assert_array_equal(total, np.arange(100.0) + 1)
        np.testing.assert_array_equal(product, np.arange(100.0))
        # An array of the host stays as it was.
        np.testing.assert_array_equal(x, np.arange(100.0))

    def test_shards_of_the_host(self):
        mesh = Mesh(np.array(jax.devices()), ("x",))
        on_host = NamedSharding(mesh, P("x"), memory_kind="pinned_host")
        array = jax.device_put(np.arange(8.0, dtype=np.float32), on_host)
        self.assertEqual({shard.data.sharding.memory_kind for shard in array.addressable_shards}, {"pinned_host"})
        result = jax.jit(lambda x: x * 2, out_shardings=on_host)(array)
        self.assertEqual(kind_of(result), "pinned_host")
        np.testing.assert_array_equal(result, np.arange(8.0) * 2)

    def test_donated_arrays_of_the_host(self):
        double = jax.jit(lambda x: x * 2, donate_argnums=0, out_shardings=place_of("pinned_host"))
        array = jax.device_put(np.arange(64.0, dtype=np.float32), place_of("pinned_host"))
        for _ in range(3):
            array = double(array)
        np.testing.assert_array_equal(array, np.arange(64.0) * 8)

    def test_layers_keep_what_they_need_on_the_host(self):
        policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=[], names_which_can_be_offloaded=["hidden"], offload_src="device", offload_dst="pinned_host")

        def loss(weights, x):
            layer = lambda x, weight: (checkpoint_name(jnp.sin(x @ weight), "hidden"), None)
            return jnp.sum(lax.scan(jax.checkpoint(layer, policy=policy), x, weights)[0])

        weights = np.random.RandomState(0).randn(4, 8, 8).astype(np.float32) * 0.3
        x = np.random.RandomState(1).randn(2, 8).astype(np.float32)
        with jax.default_device(jax.devices("cpu")[0]):
            wanted = jax.jit(jax.grad(loss))(weights, x)
        np.testing.assert_allclose(jax.jit(jax.grad(loss))(weights, x), wanted, rtol=1e-4, atol=1e-5)

    @unittest.skipUnless(DEVICE.platform == "spirula_vulkan", "a processor has one memory")
    def test_arrays_of_the_host_take_no_memory_of_the_device(self):
        size = 1 << 20
        before = DEVICE.memory_stats()["bytes_in_use"]
        array = jax.device_put(np.ones(size, np.float32), place_of("pinned_host"))
        self.assertEqual(float(jnp.sum(array)), size)
        self.assertLess(DEVICE.memory_stats()["bytes_in_use"] - before, size)


if __name__ == "__main__":
    unittest.main()
