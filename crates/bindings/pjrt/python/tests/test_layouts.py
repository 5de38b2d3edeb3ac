"""Layouts of arrays: orders of dimensions in memory that a program asks for, on one device and on four logical ones.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`.
"""

import itertools
import os
import pickle
import unittest

DEVICES = 4
os.environ["SPIRULA_LOGICAL_DEVICES"] = str(DEVICES)

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.experimental import serialize_executable
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

ONE = SingleDeviceSharding(jax.devices()[0])
SHAPE = (3, 4, 5)
TYPES = [np.float32, np.int8, np.complex64, np.bool_, ml_dtypes.bfloat16, np.float16]


def make_array(dtype, shape=SHAPE):
    numbers = np.random.RandomState(0).randint(-50, 50, shape)
    return (numbers * (1 + 2j) if dtype == np.complex64 else numbers).astype(dtype)


def format_of(order, sharding=ONE):
    return Format(Layout(major_to_minor=order), sharding)


def order_of(array):
    return array.format.layout.major_to_minor


class LayoutTest(unittest.TestCase):
    def test_every_order_of_every_type_goes_there_and_back(self):
        for dtype, order in itertools.product(TYPES, itertools.permutations(range(3))):
            with self.subTest(dtype=dtype, order=order):
                array = make_array(dtype)
                placed = jax.device_put(array, format_of(order))
                self.assertEqual(order_of(placed), order)
                np.testing.assert_array_equal(np.asarray(placed), array)
                # A strided view of the host.
                view = np.swapaxes(make_array(dtype, (5, 4, 3)), 0, 2)
                np.testing.assert_array_equal(np.asarray(jax.device_put(view, format_of(order))), view)

    def test_programs_take_and_give_every_order(self):
        compute = lambda x, y: (x + y, jnp.transpose(x, (1, 2, 0)) * 2)
        array = make_array(np.float32)
        for own, other in itertools.product(itertools.permutations(range(3)), repeat=2):
            with self.subTest(arguments=own, results=other):
                formats = (format_of(own), format_of(other))
                call = jax.jit(compute, in_shardings=formats, out_shardings=(format_of(other), format_of(own)))
                x, y = jax.device_put(array, formats[0]), jax.device_put(array, formats[1])
                sums, turned = call(x, y)
                self.assertEqual((order_of(sums), order_of(turned)), (other, own))
                np.testing.assert_array_equal(sums, array + array)
                np.testing.assert_array_equal(turned, array.transpose(1, 2, 0) * 2)

    def test_results_whose_layout_is_open_are_views(self):
        array = jax.device_put(make_array(np.complex64), format_of((1, 0, 2)))
        result = jax.jit(lambda x: jnp.transpose(x, (2, 0, 1)), out_shardings=Format(Layout.AUTO))(array)
        self.assertEqual(order_of(result), (2, 1, 0))
        np.testing.assert_array_equal(result, make_array(np.complex64).transpose(2, 0, 1))

    def test_shards_lie_as_the_whole(self):
        mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
        for spec, order in itertools.product([P("a", "b"), P(None, "b"), P("b")], itertools.permutations(range(3))):
            with self.subTest(spec=spec, order=order):
                array = make_array(np.float32, (4, 6, 3))
                wanted = format_of(order, NamedSharding(mesh, spec))
                placed = jax.device_put(array, wanted)
                results = jax.jit(lambda x: (x * 2, x.sum(0)), in_shardings=wanted, out_shardings=(wanted, None))(placed)
                self.assertEqual([order_of(shard.data) for shard in results[0].addressable_shards], [order] * DEVICES)
                np.testing.assert_array_equal(results[0], array * 2)
                np.testing.assert_allclose(results[1], array.sum(0), rtol=1e-6)

    def test_stored_programs_keep_layouts(self):
        wanted = format_of((2, 0, 1))
        compiled = jax.jit(jnp.sin, in_shardings=wanted, out_shardings=format_of((0, 2, 1))).lower(
            jax.ShapeDtypeStruct(SHAPE, np.float32)).compile()
        stored = pickle.loads(pickle.dumps(serialize_executable.serialize(compiled)))
        result = serialize_executable.deserialize_and_load(*stored, execution_devices=jax.devices()[:1])(
            jax.device_put(make_array(np.float32), wanted))
        self.assertEqual(order_of(result), (0, 2, 1))
        np.testing.assert_allclose(result, np.sin(make_array(np.float32)), rtol=1e-5, atol=1e-6)

    def test_donated_arrays_of_another_layout(self):
        array = jax.device_put(make_array(np.float32), format_of((2, 1, 0)))
        double = jax.jit(lambda x: x * 2, donate_argnums=0, in_shardings=format_of((2, 1, 0)), out_shardings=format_of((0, 2, 1)))
        np.testing.assert_array_equal(double(array), make_array(np.float32) * 2)

    def test_layouts_with_tiles_are_refused_with_their_name(self):
        tiled = Format(Layout(major_to_minor=(0, 1, 2), tiling=((8, 128),)), ONE)
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "without tiles"):
            jax.jit(jnp.sin, out_shardings=tiled)(make_array(np.float32))
        self.assertEqual(float(jnp.ones(3).sum()), 3)


if __name__ == "__main__":
    unittest.main()
