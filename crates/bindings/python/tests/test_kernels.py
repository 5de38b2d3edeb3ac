"""Kernels and shaders, launched with arrays."""

import contextlib
import io
import threading
import unittest

import numpy as np

import spirula as sp
from sources import PRINT, SAXPY, SHADER, VALUES


class KernelTest(unittest.TestCase):
    def setUp(self):
        self.x = np.arange(256, dtype=np.float32)
        self.y = np.ones(256, np.float32)
        self.wanted = 2 * self.x + self.y

    def test_arrays_are_changed_in_place(self):
        kernel = sp.compile(SAXPY).kernel("saxpy")
        self.assertIsNone(kernel(256, self.x, self.y, 2.0, local=64))
        np.testing.assert_array_equal(self.y, self.wanted)

    def test_arguments_by_name_and_sizes(self):
        kernel = sp.compile(SAXPY).kernel()
        for sizes in ({"size": 256}, {"size": (256,), "local": (32, 1, 1)}, {"size": None, "groups": 4, "local": 64}):
            y = np.ones(256, np.float32)
            kernel(**sizes, x=self.x, y=y, a=2)
            np.testing.assert_array_equal(y, self.wanted)
        y = np.ones(256, np.float32)
        kernel(128, self.x, y, 2.0, offset=128)
        np.testing.assert_array_equal(y[:128], 1)
        np.testing.assert_array_equal(y[128:], self.wanted[128:])

    def test_arrays_on_the_device(self):
        kernel = sp.compile(SAXPY).kernel()
        x, y = kernel.device.array(self.x), kernel.device.array(self.y)
        view = np.asarray(y)
        for _ in range(2):
            kernel(256, x, y, 2.0)
        np.testing.assert_array_equal(y.numpy(), 4 * self.x + 1)
        np.testing.assert_array_equal(view, y.numpy())

    def test_read_only_arrays_are_only_read(self):
        self.x.flags.writeable = False
        sp.compile(SAXPY).kernel()(256, self.x, self.y, 2.0)
        np.testing.assert_array_equal(self.y, self.wanted)

    def test_addresses(self):
        kernel = sp.compile(SAXPY).kernel(device="cpu")
        kernel(256, self.x.ctypes.data, self.y.ctypes.data, 2.0)
        np.testing.assert_array_equal(self.y, self.wanted)
        with self.assertRaises(sp.DeviceError):
            kernel(256, 0, self.y, 2.0)

    def test_an_array_twice(self):
        sp.compile(SAXPY).kernel()(256, self.x, self.x, 2.0)
        np.testing.assert_array_equal(self.x, 3 * np.arange(256))

    def test_wrong_arguments(self):
        kernel = sp.compile(SAXPY).kernel()
        for call, text in (
            (lambda: kernel(256, self.x, self.y), "takes 3 arguments, 2 are given"),
            (lambda: kernel(256, self.x, self.y.astype(np.float64), 2.0), "an array of float64 is given"),
            (lambda: kernel(256, self.x, self.y[::2], 2.0), "not contiguous"),
            (lambda: kernel(256, self.x, [1.0], 2.0), "it takes an array, list is given"),
            (lambda: kernel(256, self.x, self.y, 2j), "do not convert to float32"),
            (lambda: kernel(256, self.x, self.y, np.float64(2)), "float64"),
            (lambda: kernel(None, self.x, self.y, 2.0), "either a size or groups"),
            (lambda: kernel(256, self.x, self.y, b=2.0), "no parameter b"),
            (lambda: kernel((1, 2, 3, 4), self.x, self.y, 2.0), "one to three dimensions"),
            (lambda: sp.compile(SAXPY).kernel("other"), "it has: saxpy"),
        ):
            with self.subTest(text), self.assertRaisesRegex(sp.ArgumentError, text):
                call()

    def test_vectors_and_workgroup_memory(self):
        kernel = sp.compile(VALUES).kernel()
        memory = sp.LocalMemory(16)
        self.assertEqual((memory.nbytes, repr(memory)), (16, "spirula.LocalMemory(16)"))
        for vector in ([1, 2, 3], np.array([1, 2, 3], np.float32), np.array([1, 2, 3, 9], np.float32).tobytes()):
            y = np.zeros(1, np.float32)
            kernel(1, y, memory, vector, -10, 255)
            self.assertEqual(y[0], -4)
        for arguments, text in (
            ((y, 16, [1, 2, 3], 0, 0), "argument 1.*give spirula.LocalMemory"),
            ((y, memory, [1, 2], 0, 0), r"3xf32 \(16 bytes\) is wanted, float32 of shape \[2\]"),
            ((y, memory, b"123", 0, 0), "bytes of length 3"),
            ((y, memory, np.int32([1, 2, 3]), 0, 0), "int32 of shape"),
        ):
            with self.assertRaisesRegex(sp.ArgumentError, text):
                kernel(1, *arguments)
        for number in (1 << 16, -40000):
            with self.assertRaises(OverflowError):
                kernel(1, y, memory, [1, 2, 3], number, 0)
        with self.assertRaises((TypeError, sp.ArgumentError)):
            kernel(1, y, memory, None, 0, 0)

    def test_output_of_kernels(self):
        kernel = sp.compile(PRINT).kernel()
        with contextlib.redirect_stdout(io.StringIO()) as output:
            kernel(1, -42)
        self.assertEqual(output.getvalue(), "value -42\n")

    def test_the_sanitizer_finds_faults(self):
        kernel = sp.compile(SAXPY).kernel(device="cpu+san")
        with self.assertRaisesRegex(sp.FaultError, "saxpy"):
            kernel(257, self.x, self.y, 2.0)

    def test_threads(self):
        kernel = sp.compile(SAXPY).kernel()
        results = [np.ones(256, np.float32) for _ in range(4)]

        def work(y):
            for _ in range(20):
                kernel(256, self.x, y, 1.0)

        threads = [threading.Thread(target=work, args=(y,)) for y in results]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for y in results:
            np.testing.assert_array_equal(y, 20 * self.x + 1)


class ShaderTest(unittest.TestCase):
    def test_resources_and_push_constants(self):
        module = sp.assemble(SHADER, target="vulkan1.1")
        x = np.arange(100, dtype=np.float32)
        for push in ([2.0, 100], np.float32(2).tobytes() + np.uint32(100).tobytes()):
            y = np.ones(100, np.float32)
            module.kernel()(100, x, y, push=push)
            np.testing.assert_array_equal(y, 2 * x + 1)

    def test_specialisation_constants(self):
        kernel = sp.assemble(SHADER).kernel("saxpy", constants={0: 32})
        x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
        kernel(None, y=y, x=x, groups=4, push=[2.0, 100])
        np.testing.assert_array_equal(y, 2 * x + 1)
        with self.assertRaisesRegex(sp.ArgumentError, "no specialisation constant 5; there are: 0"):
            sp.assemble(SHADER).kernel(constants={5: 1})

    def test_wrong_push_constants(self):
        kernel = sp.assemble(SHADER).kernel()
        y = np.ones(4, np.float32)
        for push, text in (([1.0], "2 push constants, 1 are given"), ([1.0, 2.5], "do not convert to uint32")):
            with self.assertRaisesRegex(sp.ArgumentError, text):
                kernel(4, y, y, push=push)


if __name__ == "__main__":
    unittest.main()
