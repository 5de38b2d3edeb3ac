"""Arrays on devices, and what other libraries see of them."""

import gc
import unittest

import ml_dtypes
import numpy as np

import spirula as sp
from sources import ADD, OPEN_SIZE


class DeviceTest(unittest.TestCase):
    def test_the_processor_is_the_default(self):
        device = sp.Device()
        self.assertEqual((device.name, device.kind), ("cpu", "cpu"))
        self.assertEqual(sp.devices()[0], device)
        self.assertEqual({sp.Device("cpu"), device}, {device})
        self.assertGreater(device.max_buffer_size, 1 << 20)
        self.assertTrue(device.description and device.driver and device.max_workgroup_size)


class ArrayTest(unittest.TestCase):
    def setUp(self):
        self.device = sp.Device("cpu")

    def test_attributes(self):
        array = self.device.array(np.zeros((2, 3), np.int16))
        self.assertEqual((array.shape, array.dtype, array.device), ((2, 3), np.int16, self.device))
        self.assertEqual((array.ndim, array.size, array.nbytes, len(array)), (2, 6, 12, 2))
        self.assertEqual(repr(array), "<spirula.Array shape=(2, 3) dtype=int16 device=cpu>")

    def test_elements_come_back(self):
        for given in (
            np.arange(24, dtype=np.float64).reshape(2, 3, 4).T,
            np.zeros((0, 5), np.float32),
            np.float32(3.5),
            np.array([True, False]),
            np.array([1 + 2j, 3]),
            np.array([1, 2.5, -3], ml_dtypes.bfloat16),
            np.array([-8, 7, 0], ml_dtypes.int4),
            [1, 2, 3],
        ):
            array = self.device.array(given)
            wanted = np.asarray(given)
            self.assertEqual((array.shape, array.dtype), (wanted.shape, wanted.dtype))
            np.testing.assert_array_equal(array.numpy(), wanted)
            self.assertTrue(array.numpy().flags.writeable)
        self.assertEqual(self.device.array([1, 2], np.uint8).dtype, np.uint8)
        np.testing.assert_array_equal(self.device.zeros((2, 2)).numpy(), np.zeros((2, 2), np.float32))

    def test_views_share_memory_and_are_read_only(self):
        given = np.arange(6, dtype=np.float32).reshape(2, 3)
        array = self.device.array(given)
        view = np.asarray(array)
        self.assertEqual(view.ctypes.data, np.asarray(array).ctypes.data)
        self.assertFalse(view.flags.writeable)
        memory = memoryview(array)
        self.assertEqual((memory.format, memory.shape, memory.strides, memory.readonly), ("f", (2, 3), (12, 4), True))
        self.assertEqual(bytes(array), given.tobytes())
        del array, memory
        gc.collect()
        self.device.array(np.full((2, 3), 9, np.float32))
        np.testing.assert_array_equal(view, given)

    def test_numbers_without_memory_have_views(self):
        (total,) = sp.compile(OPEN_SIZE)(np.ones(3, np.float32))
        view = np.asarray(total)
        self.assertEqual((view.shape, float(view)), ((), 3.0))
        self.assertEqual(float(np.from_dlpack(total)), 3.0)

    def test_conversion(self):
        array = self.device.array(np.array([1.5, 2.5], np.float32))
        np.testing.assert_array_equal(np.asarray(array, np.float64), [1.5, 2.5])
        np.testing.assert_array_equal(np.sqrt(self.device.array([4.0, 9.0])), [2, 3])
        half = self.device.array(np.array([1.5], ml_dtypes.bfloat16))
        self.assertEqual(np.asarray(half).dtype, ml_dtypes.bfloat16)
        with self.assertRaises(BufferError):
            memoryview(half)
        self.assertEqual((float(half), int(half), bool(half)), (1.5, 1, True))
        with self.assertRaises(ValueError):
            array.item()

    def test_dlpack(self):
        array = self.device.array(np.arange(6, dtype=np.int32).reshape(2, 3))
        self.assertEqual(array.__dlpack_device__(), (1, 0))
        other = np.from_dlpack(array)
        np.testing.assert_array_equal(other, array.numpy())
        for arguments in ({}, {"max_version": (1, 0)}, {"max_version": (1, 0), "copy": True}, {"copy": True}):
            # A capsule that nobody takes the tensor of releases it.
            self.assertIn("dltensor", repr(array.__dlpack__(**arguments)))
        for arguments in ({"copy": False}, {"stream": 1}, {"dl_device": (2, 0)}):
            with self.assertRaises(BufferError):
                array.__dlpack__(**arguments)
        with self.assertRaises(BufferError):
            self.device.array(np.zeros(1, ml_dtypes.int4)).__dlpack__()

    def test_other_libraries_take_arrays(self):
        import jax.numpy as jnp

        array = self.device.array(np.arange(3, dtype=np.float32))
        np.testing.assert_array_equal(np.asarray(jnp.asarray(array) + 1), [1, 2, 3])

    def test_refused_arrays(self):
        for given in (np.array(["a"]), np.array([object()]), np.zeros(1, "M8[s]")):
            with self.assertRaises(sp.ArgumentError):
                self.device.array(given)
        with self.assertRaises(MemoryError):
            self.device.array(np.broadcast_to(np.int8(0), (1 << 62,)))

    def test_memory_is_reused(self):
        program = sp.compile(ADD)
        given = np.ones(4, np.float32)
        for _ in range(2000):
            program(given, given)
        self.device.array(given)


if __name__ == "__main__":
    unittest.main()
