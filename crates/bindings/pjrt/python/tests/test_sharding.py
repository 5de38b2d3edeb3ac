"""JAX on eight logical devices beside XLA's processor: training, collectives, loops, copies, donation.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`.
"""

import os
import pickle
import unittest

DEVICES = 8
os.environ["SPIRULA_LOGICAL_DEVICES"] = str(DEVICES)

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import parallel
from jax.experimental import serialize_executable
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_num_cpu_devices", DEVICES)


def make_mesh(platform, shape=(4, 2), names=("x", "y"), order=None, axis_types=None):
    devices = np.array(jax.devices(platform))
    return Mesh(devices[order if order is not None else slice(None)].reshape(shape), names, axis_types)


def matrix(rows=8, columns=8):
    return np.random.RandomState(rows).randn(rows, columns).astype(np.float32)


def train(platform, steps=20):
    """The losses and parameters of a training whose batch and weights are sharded."""
    mesh = make_mesh(platform, names=("batch", "model"))
    place = lambda array, *spec: jax.device_put(array, NamedSharding(mesh, P(*spec)))
    params = (place(matrix(8, 32) * 0.3, None, "model"), place(matrix(32, 1) * 0.3, "model", None))

    def loss_of(params, x, y):
        hidden = jnp.tanh(x @ params[0])
        hidden = lax.with_sharding_constraint(hidden, NamedSharding(mesh, P("batch", "model")))
        return jnp.mean((hidden @ params[1] - y) ** 2)

    def update(params, x, y):
        loss, gradient = jax.value_and_grad(loss_of)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.05 * g, params, gradient), loss

    step = jax.jit(update, donate_argnums=0)
    losses = []
    for at in range(steps):
        x = np.random.RandomState(at).randn(64, 8).astype(np.float32)
        before = params
        params, loss = step(params, place(x, "batch"), place(np.sin(x.sum(1, keepdims=True)), "batch"))
        losses.append(loss)
    assert all(array.is_deleted() for array in before)
    return np.array(losses), params


def collectives(a):
    """Each collective, over the axes of the mesh."""
    return (
        lax.psum(a, "x"),
        lax.pmax(a, ("x", "y")),
        lax.all_gather(a, "y", axis=1, tiled=True),
        lax.psum_scatter(a, "y", scatter_dimension=1, tiled=True),
        lax.all_to_all(a, "y", 1, 0, tiled=True),
        lax.ppermute(a, "x", [(0, 1), (1, 2), (3, 0)]),
        (lax.axis_index("x") * 10 + lax.axis_index("y")).reshape(1, 1),
        lax.pmean(a, "x"),
    )


COLLECTIVE_SPECS = (
    P(None, "y"), P(), P("x"), P("x", "y"), P(("x", "y")), P("x", "y"), P("x", "y"), P(None, "y"),
)  # fmt: skip


class ShardingTest(unittest.TestCase):
    def compare(self, make, *arguments, rtol=1e-5):
        """Compares a function of a mesh with the same on XLA's processor."""
        results = [
            jax.tree.map(np.asarray, make(make_mesh(platform))(*arguments)) for platform in ("spirula", "cpu")
        ]
        for found, wanted in zip(jax.tree.leaves(results[0]), jax.tree.leaves(results[1]), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-6)

    def test_there_are_logical_devices(self):
        devices = jax.devices("spirula")
        self.assertEqual(len(devices), DEVICES)
        self.assertEqual([device.id for device in devices], list(range(DEVICES)))

    def test_sharded_training_is_that_of_xla(self):
        losses, params = train("spirula")
        wanted, wanted_params = train("cpu")
        self.assertLess(losses[-5:].mean(), losses[:5].mean())
        np.testing.assert_allclose(losses, wanted, rtol=1e-4)
        for found, expected in zip(params, wanted_params):
            self.assertEqual(found.sharding.spec, expected.sharding.spec)
            np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-3, atol=1e-5)

    def test_collectives_are_those_of_xla(self):
        def make(mesh):
            specs = dict(in_specs=P("x", "y"), out_specs=COLLECTIVE_SPECS, check_vma=False)
            return jax.jit(jax.shard_map(collectives, mesh=mesh, **specs))

        self.compare(make, matrix(8, 8))
        self.compare(make, np.arange(64, dtype=np.int32).reshape(8, 8))

    def test_loops_communicate(self):
        def body(a):
            def relax(i, a):
                left = lax.ppermute(a, "x", [(j, (j + 1) % 4) for j in range(4)])
                return 0.5 * (a + left) + lax.axis_index("x") * 0.01 * i

            a = lax.fori_loop(0, 5, relax, a)
            # Groups along y end at different times.
            limit = lax.axis_index("x") + 1
            go = lambda state: state[0] < limit
            grow = lambda state: (state[0] + 1, state[1] + lax.psum(state[1], "y"))
            _, a = lax.while_loop(go, grow, (jnp.int32(0), a))
            share = lambda a: lax.psum(a, "y")
            return lax.cond(lax.axis_index("x") % 2 == 0, share, lambda a: -a, a)

        spec = P("x", "y")
        make = lambda mesh: jax.jit(
            jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
        )
        self.compare(make, matrix(8, 8))

    def test_axes_may_be_manual_in_part(self):
        def body(a):
            inner = jax.shard_map(
                lambda b: b * lax.psum(b, "y") + lax.axis_index("y"), in_specs=P(None, "y"), out_specs=P(None, "y"),
                axis_names={"y"},
            )  # fmt: skip
            return lax.psum(a, "x"), inner(a)

        make = lambda mesh: jax.jit(
            jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=(P(), P("x")), axis_names={"x"})
        )
        self.compare(make, matrix(8, 8))

    def test_gradients_of_collectives_are_those_of_xla(self):
        def make(mesh):
            spec = P("x", "y")
            body = lambda a: lax.psum(jnp.sin(a) * lax.psum(a, "x"), ("x", "y")).sum()
            total = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=P())
            return jax.jit(jax.grad(total))

        self.compare(make, matrix(8, 8))

    def test_mapped_functions_run_on_all_devices(self):
        for platform in ("spirula", "cpu"):
            function = jax.pmap(
                lambda a: a - lax.pmean(a, "i"), axis_name="i", devices=jax.devices(platform)
            )
            given = matrix(DEVICES, 3)
            np.testing.assert_allclose(np.asarray(function(given)), given - given.mean(0), rtol=1e-4, atol=1e-6)

    def test_devices_may_have_any_order(self):
        order = [3, 1, 0, 2, 7, 6, 5, 4]
        mesh, plain = make_mesh("spirula", order=order), make_mesh("spirula")
        given = matrix(8, 8)
        array = jax.device_put(given, NamedSharding(mesh, P("x", "y")))
        first = [shard.device.id for shard in array.addressable_shards if shard.index == np.s_[0:2, 0:4]]
        self.assertEqual(first, [3])
        moved = jax.device_put(array, NamedSharding(plain, P("y", "x")))
        np.testing.assert_array_equal(np.asarray(moved), given)
        doubled = jax.jit(lambda a: a + a)(array)
        self.assertEqual(doubled.sharding, array.sharding)
        for shard in doubled.addressable_shards:
            np.testing.assert_array_equal(np.asarray(shard.data), 2 * given[shard.index])

    def test_programs_run_on_some_devices(self):
        devices = jax.devices("spirula")
        mesh = Mesh(np.array(devices[4:6]), ("x",))
        array = jax.device_put(np.arange(6.0, dtype=np.float32), NamedSharding(mesh, P("x")))
        tripled = jax.jit(lambda a: 3 * a)(array)
        self.assertEqual(tripled.devices(), set(devices[4:6]))
        np.testing.assert_array_equal(np.asarray(tripled), 3 * np.arange(6))
        alone = jax.device_put(tripled, devices[7]) + 1
        self.assertEqual(alone.devices(), {devices[7]})
        np.testing.assert_array_equal(np.asarray(alone), 3 * np.arange(6) + 1)

    def test_types_are_cut_and_put_together(self):
        mesh = make_mesh("spirula")
        for dtype in (np.bool_, np.int8, np.float16, jnp.bfloat16, np.uint32, np.complex64):
            given = (np.arange(64) % 3).reshape(8, 8).astype(dtype)
            array = jax.make_array_from_callback(
                given.shape, NamedSharding(mesh, P("y", "x")), lambda index, given=given: given[index]
            )
            flip = jax.jit(lambda a: a.T, out_shardings=NamedSharding(mesh, P(("y", "x"))))
            np.testing.assert_array_equal(np.asarray(flip(array)), given.T)

    def test_programs_of_several_devices_are_stored(self):
        mesh = make_mesh("spirula")
        array = jax.device_put(matrix(8, 8), NamedSharding(mesh, P("x", "y")))
        compiled = jax.jit(lambda a: a @ a).lower(array).compile()
        stored = pickle.loads(pickle.dumps(serialize_executable.serialize(compiled)))
        loaded = serialize_executable.deserialize_and_load(*stored, backend="spirula")
        np.testing.assert_allclose(np.asarray(loaded(array)), matrix(8, 8) @ matrix(8, 8), rtol=1e-4, atol=1e-5)

    def test_replicated_results_have_memory_of_their_own(self):
        mesh = make_mesh("spirula")
        array = jax.device_put(matrix(4, 4), NamedSharding(mesh, P()))
        same = jax.jit(lambda a: (a, a))(array)
        pointers = {shard.data.unsafe_buffer_pointer() for one in (array, *same) for shard in one.addressable_shards}
        self.assertEqual(len(pointers), 3 * DEVICES)
        donated = jax.jit(lambda a: a + 1, donate_argnums=0)(array)
        self.assertTrue(array.is_deleted())
        np.testing.assert_array_equal(np.asarray(donated), matrix(4, 4) + 1)
        np.testing.assert_array_equal(np.asarray(same[1]), matrix(4, 4))

    @unittest.skipUnless(hasattr(parallel, "psum_start"), "JAX has no asynchronous collectives")
    def test_collectives_begin_and_end_in_two_calls(self):
        def body(a):
            total = parallel.psum_start(a, "x")
            turned = parallel.ppermute_start(a, "x", [(0, 1), (1, 2), (2, 3), (3, 0)])
            parts = parallel.psum_scatter_start(a, "y", scatter_dimension=1, tiled=True)
            work = jnp.sin(a) * a
            exchanged = parallel.all_to_all_start(total.done(), "y", split_axis=0, concat_axis=1, tiled=True)
            return turned.done() + work, parts.done(), exchanged.done()

        mesh = make_mesh("spirula", axis_types=(AxisType.Explicit,) * 2)
        spec = P("x", "y")
        with jax.set_mesh(mesh):
            given = jax.device_put(matrix(8, 8), NamedSharding(mesh, spec))
            run = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=(spec, spec, P("y", None))))
            found = run(given)
        rows = matrix(8, 8)
        wanted = (np.roll(rows, 2, 0) + np.sin(rows) * rows, rows[:, :4] + rows[:, 4:], rows.reshape(4, 2, 8).sum(0))
        for one, expected in zip(found, wanted):
            np.testing.assert_allclose(np.asarray(one), expected, rtol=1e-5)

    def test_slices_of_different_sizes_are_exchanged(self):
        # A device sends as many rows to another as both have numbers.
        count = 4
        sizes = np.add.outer(np.arange(count), np.arange(count)).astype(np.int32)
        starts, targets = sizes.cumsum(1) - sizes, sizes.cumsum(0) - sizes
        width = int(sizes.sum(1).max())
        given = np.arange(count * width * 2, dtype=np.float32).reshape(count, width, 2)
        output = np.full((count, width + 1, 2), -1, np.float32)
        wanted = output.copy()
        for sender, receiver in np.ndindex(count, count):
            size, start, target = (list_[sender, receiver] for list_ in (sizes, starts, targets))
            wanted[receiver, target : target + size] = given[sender, start : start + size]

        def body(*arguments):
            arguments = [argument[0] for argument in arguments]
            return lax.ragged_all_to_all(*arguments, axis_name="x")[None]

        mesh = make_mesh("spirula")
        lists = [given, output, starts, sizes, targets, sizes.T]
        lists = [jax.device_put(array, NamedSharding(mesh, P("x"))) for array in lists]
        exchange = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))
        np.testing.assert_array_equal(np.asarray(exchange(*lists)), wanted)
        weights = jax.random.normal(jax.random.key(1), wanted.shape)
        gradient = jax.jit(jax.grad(lambda x: (exchange(x, *lists[1:]) * weights).sum()))(lists[0])
        expected = np.zeros_like(given)
        for sender, receiver in np.ndindex(count, count):
            size, start, target = (list_[sender, receiver] for list_ in (sizes, starts, targets))
            expected[sender, start : start + size] = weights[receiver, target : target + size]
        np.testing.assert_allclose(np.asarray(gradient), expected, rtol=1e-6)

    @unittest.skipIf(
        os.environ.get("SPIRULA_PARTITION") and not os.environ.get("SPIRULA_DEVICE"),
        "programs that have the parts of all devices call no routines of LAPACK",
    )
    def test_decompositions_are_those_of_one_device(self):
        mesh = make_mesh("spirula")
        matrices = np.random.RandomState(0).randn(8, 5, 5).astype(np.float32)
        for decompose in (jnp.linalg.eigh, jnp.linalg.svd, jnp.linalg.qr):
            given = [jax.device_put(matrices, place) for place in (mesh.devices.flat[0], NamedSharding(mesh, P("x")))]
            alone, shared = (jax.jit(decompose)(array) for array in given)
            for one, other in zip(alone, shared):
                np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-6, atol=1e-6)

    def test_layouts_are_reported(self):
        mesh = make_mesh("spirula")
        found = []

        def turn(a):
            b = jnp.sin(a).T
            jax.debug.inspect_array_sharding(b, callback=found.append)
            jax.debug.inspect_array_sharding(b.sum(), callback=found.append)
            return b

        jax.jit(turn)(jax.device_put(matrix(8, 8), NamedSharding(mesh, P("x", None))))
        self.assertEqual([one.device_set for one in found], [set(mesh.devices.flat)] * 2)
        parts = found[0].devices_indices_map((8, 8))
        self.assertEqual([parts[device] for device in mesh.devices[1]], [(slice(None), slice(2, 4))] * 2)
        self.assertTrue(found[1].is_fully_replicated)

        def fail(_):
            raise ValueError("a fault of the function")

        def ask(a):
            jax.debug.inspect_array_sharding(a, callback=fail)
            return a + 1

        with self.assertRaisesRegex(Exception, "a fault of the function"):
            jax.jit(ask)(jax.device_put(matrix(8, 8), NamedSharding(mesh, P("x", None))))

    def test_each_device_of_a_manual_computation_calls_back(self):
        mesh = make_mesh("spirula")
        log = []

        def count_down(x):
            number = jax.lax.axis_index("x")

            def step(state):
                jax.debug.callback(lambda n, left: log.append((int(n), int(left))), number, state[1])
                # The devices communicate, so that all wait for the last.
                return state[0] + jax.lax.psum(1, "y"), state[1] - 1

            total, _ = jax.lax.while_loop(lambda state: state[1] > 0, step, (x, number))
            return total

        size = mesh.shape["x"]
        counted = jax.jit(jax.shard_map(count_down, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))
        result = counted(jax.device_put(jnp.zeros(size, jnp.int32), NamedSharding(mesh, P("x"))))
        jax.effects_barrier()
        others = DEVICES // size
        np.testing.assert_array_equal(np.asarray(result), [number * others for number in range(size)])
        expected = [(number, left) for number in range(size) for left in range(1, number + 1)]
        self.assertEqual(sorted(log), sorted(expected * others))

    def test_a_callback_of_a_sharded_program_gets_the_whole_array(self):
        mesh = make_mesh("spirula")
        array = jax.device_put(matrix(8, 8), NamedSharding(mesh, P("x", "y")))
        shapes = []

        def turn(a):
            shapes.append(a.shape)
            return np.asarray(a).T

        turned = jax.jit(lambda a: jax.pure_callback(turn, a, a) * 2)(array)
        np.testing.assert_array_equal(np.asarray(turned), matrix(8, 8).T * 2)
        self.assertEqual(shapes, [(8, 8)])


if __name__ == "__main__":
    unittest.main()
