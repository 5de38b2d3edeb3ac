"""JAX on eight devices with queues of their own, each of which runs its part of a program by itself.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`. Those of `test_sharding` and `test_partition` run here, too. With
`JAX_PLATFORMS=spirula_vulkan,cpu SPIRULA_DEVICE=vulkan:all` those of this file run on all Vulkan devices that are alike.
"""

import os
import subprocess
import sys
import threading
import unittest

os.environ.setdefault("SPIRULA_DEVICE", ",".join(["cpu"] * 8))
os.environ["SPIRULA_PEER_TIMEOUT"] = "60"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

ON_PROCESSOR = "vulkan" not in os.environ["JAX_PLATFORMS"].split(",")[0]
if ON_PROCESSOR:
    from test_partition import PartitionTest  # noqa: F401
    from test_sharding import ShardingTest  # noqa: F401

DEVICES = jax.devices()
MESH = Mesh(np.array(DEVICES), ("x",))


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def spread(array, *spec, mesh=MESH):
    return jax.device_put(array, NamedSharding(mesh, P(*spec)))


class DevicesTest(unittest.TestCase):
    def test_devices_have_their_shards_only(self):
        before = [device.memory_stats()["bytes_in_use"] for device in DEVICES]
        array = jax.block_until_ready(spread(np.ones((len(DEVICES) * 1024, 1024), np.float32), "x"))
        doubled = jax.block_until_ready(jax.jit(lambda x: x * 2)(array))
        after = [device.memory_stats()["bytes_in_use"] for device in DEVICES]
        for first, last in zip(before, after):
            self.assertGreaterEqual(last - first, 2 * 4 << 20)
            self.assertLess(last - first, 3 * 4 << 20)
        np.testing.assert_array_equal(doubled[-1], np.full(1024, 2))

    def test_copies_between_devices(self):
        first = jax.device_put(numbers(5, 3), DEVICES[0])
        last = jax.device_put(first, DEVICES[-1])
        self.assertEqual(last.devices(), {DEVICES[-1]})
        np.testing.assert_array_equal(jax.jit(lambda x: x + 1)(last), numbers(5, 3) + 1)
        np.testing.assert_array_equal(spread(last, "y", mesh=Mesh(np.array(DEVICES[:1]), ("y",))), numbers(5, 3))

    def test_meshes_of_some_devices(self):
        mesh = Mesh(np.array(DEVICES[::-2]), ("x",))
        count = mesh.devices.size
        array = spread(numbers(count * 2, 4), "x", mesh=mesh)
        turn = [(at, (at + 1) % count) for at in range(count)]
        body = lambda x: (lax.psum(x, "x"), lax.ppermute(x, "x", turn))
        total, turned = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=(P(), P("x"))))(array)
        np.testing.assert_array_equal(total, numbers(count * 2, 4).reshape(count, 2, 4).sum(0))
        np.testing.assert_array_equal(turned, np.roll(numbers(count * 2, 4), 2, axis=0))

    def test_runs_of_several_threads_keep_one_order(self):
        add = jax.jit(jax.shard_map(lambda x: lax.psum(x, "x"), mesh=MESH, in_specs=P("x"), out_specs=P()))
        other = Mesh(np.array(DEVICES[::-1]), ("x",))
        gather = jax.jit(
            jax.shard_map(lambda x: lax.all_gather(x, "x"), mesh=other, in_specs=P("x"), out_specs=P(), check_vma=False)
        )
        one, two = spread(numbers(len(DEVICES), 3), "x"), spread(numbers(len(DEVICES), 3), "x", mesh=other)
        results = []

        def run():
            for _ in range(20):
                results.append((np.asarray(add(one)), np.asarray(gather(two))))

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 80)
        for total, gathered in results:
            np.testing.assert_array_equal(total[0], numbers(len(DEVICES), 3).sum(0))
            np.testing.assert_array_equal(gathered.reshape(-1, 3), numbers(len(DEVICES), 3))

    def test_an_error_of_a_device_is_that_of_all(self):
        def refuse(at):
            if at == 1:
                raise ValueError("device one is tired")
            return np.float32(at)

        def body(x):
            at = lax.axis_index("x")
            value = jax.pure_callback(refuse, jax.ShapeDtypeStruct((), np.float32), at)
            return lax.psum(x + value, "x")

        run = jax.jit(jax.shard_map(body, mesh=MESH, in_specs=P("x"), out_specs=P(), check_vma=False))
        with self.assertRaisesRegex(Exception, "device one is tired"):
            jax.block_until_ready(run(spread(numbers(len(DEVICES), 2), "x")))
        self.test_meshes_of_some_devices()

    def test_donated_shards(self):
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        array = spread(numbers(len(DEVICES) * 2, 4), "x")
        for _ in range(5):
            array = step(array)
        np.testing.assert_array_equal(array, numbers(len(DEVICES) * 2, 4) + 5)


class ChoiceTest(unittest.TestCase):
    def list_devices(self, names):
        code = "import jax; print(len(jax.devices('spirula')))"
        ours = {"SPIRULA_DEVICE": names, "SPIRULA_LOGICAL_DEVICES": "1", "JAX_PLATFORMS": "spirula"}
        environment = {**os.environ, **ours}
        return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)

    def test_names(self):
        for names, count in [("cpu", "1"), ("cpu, cpu", "2"), ("cpu:all", "1")]:
            self.assertEqual(self.list_devices(names).stdout.strip(), count, names)
        wrong = [("cpu,cpu:9", "no device cpu:9")]
        if not ON_PROCESSOR:
            wrong.append(("cpu,vulkan:0", "must be alike"))
        for names, message in wrong:
            found = self.list_devices(names)
            self.assertNotEqual(found.returncode, 0)
            self.assertIn(message, found.stderr, names)


if __name__ == "__main__":
    unittest.main()
