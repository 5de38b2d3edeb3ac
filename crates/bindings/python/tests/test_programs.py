"""Programs: StableHLO and Futhark source, called with arrays."""

import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import ml_dtypes
import numpy as np

import spirula as sp
from sources import ADD, CONSUMING, DOUBLE, FUTHARK, OPEN_SIZE, SLOW

# Types of StableHLO with those of NumPy.
TYPES = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
    "bf16": ml_dtypes.bfloat16,
    "i4": ml_dtypes.int4,
    "ui4": ml_dtypes.uint4,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


class StablehloTest(unittest.TestCase):
    def test_arguments_have_positions_and_names(self):
        program = sp.compile(ADD)
        x, y = np.arange(4, dtype=np.float32), np.full(4, 10, np.float32)
        for call in (
            lambda: program(x, y),
            lambda: program(x, x=y),
            lambda: program(**{"x": y, "params['w']": x}),
            lambda: program.function("main")(x, [10, 10, 10, 10]),
        ):
            (result,) = call()
            np.testing.assert_array_equal(result.numpy(), x + y)

    def test_signature(self):
        function = sp.compile(ADD).function()
        self.assertEqual(function.name, "main")
        self.assertEqual([p.name for p in function.parameters], ["params['w']", "x"])
        self.assertEqual([p.dtype for p in function.parameters], [np.dtype(np.float32)] * 2)
        self.assertEqual([r.shape for r in function.results], [(4,)])

    def test_all_types(self):
        for name, dtype in TYPES.items():
            with self.subTest(name):
                given = np.array([0, 1, 2, 3, 1]).astype(dtype)
                (result,) = sp.compile(DOUBLE.format(name))(given)
                self.assertEqual(result.dtype, np.dtype(dtype))
                np.testing.assert_array_equal(result.numpy(), given + given)

    def test_results_stay_and_are_arguments(self):
        program = sp.compile(ADD)
        array = program.device.array(np.ones(4, np.float32))
        for _ in range(3):
            (array,) = program(array, array)
        np.testing.assert_array_equal(array.numpy(), [8, 8, 8, 8])

    def test_sizes_of_calls(self):
        program = sp.compile(OPEN_SIZE)
        self.assertEqual(program.function().parameters[0].shape, (None,))
        for size in (0, 1, 1000):
            (total,) = program(np.ones(size, np.float32))
            self.assertEqual(total.shape, ())
            self.assertEqual(float(total), size)
            self.assertEqual(total.item(), size)

    def test_strides_and_byte_orders(self):
        program = sp.compile(ADD)
        wide = np.arange(8, dtype=np.float32)
        (result,) = program(wide[::2], wide[4:].astype(">f4"))
        np.testing.assert_array_equal(result.numpy(), wide[::2] + wide[4:])

    def test_wrong_arguments(self):
        program = sp.compile(ADD)
        x = np.ones(4, np.float32)
        for call, text in (
            (lambda: program(x), "takes 2 arguments, 1 are given"),
            (lambda: program(x, y=x), "no parameter y"),
            (lambda: program(x, np.ones(3, np.float32)), r"argument x is float32\[3\]"),
            (lambda: program(x, np.ones(4)), r"argument x is float64\[4\], the program takes float32\[4\]"),
            (lambda: program(x, [1j] * 4), "complex128 numbers do not convert"),
            (lambda: program(x, np.array(["a"] * 4)), "not supported"),
            (lambda: program.function("other"), "it has: main"),
        ):
            with self.subTest(text), self.assertRaisesRegex(sp.ArgumentError, text):
                call()
        self.assertTrue(issubclass(sp.ArgumentError, ValueError))

    def test_archives(self):
        archive = sp.compile(ADD).to_bytes()
        (result,) = sp.compile(archive)(np.ones(4, np.float32), np.ones(4, np.float32))
        np.testing.assert_array_equal(result.numpy(), [2, 2, 2, 2])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "add.mlir")
            path.write_text(ADD)
            (result,) = sp.load(path)(np.ones(4, np.float32), np.ones(4, np.float32))
            np.testing.assert_array_equal(result.numpy(), [2, 2, 2, 2])
            with self.assertRaises(FileNotFoundError):
                sp.load(path.with_name("none.mlir"))

    def test_types_without_their_package(self):
        code = (
            "import sys, numpy as np; sys.modules['ml_dtypes'] = None\n"
            "import spirula as sp\n"
            f"program = sp.compile({DOUBLE.format('bf16')!r})\n"
            "try: program([1.0] * 5)\n"
            "except sp.ArgumentError as error: print(error)\n"
        )
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertIn("bfloat16 is a type of the package ml_dtypes", shown.stdout)


class FutharkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = sp.compile(FUTHARK, name="points.fut")

    def test_entry_points(self):
        self.assertEqual(sorted(self.program.functions), ["dot", "make", "pick", "same", "sum", "update"])
        dot = self.program.function("dot")
        self.assertEqual([p.name for p in dot.parameters], ["xs", "ys"])
        (result,) = dot(ys=[3.0, 4.0], xs=np.array([1, 2], np.float32))
        self.assertEqual(float(result), 11)
        with self.assertRaisesRegex(sp.ArgumentError, "several functions"):
            self.program(1)

    def test_consumed_arguments_of_the_caller_stay(self):
        given = self.program.device.array(np.zeros(3, np.int32))
        (result,) = self.program.function("update")(given, 1)
        np.testing.assert_array_equal(result.numpy(), [0, 7, 0])
        np.testing.assert_array_equal(given.numpy(), [0, 0, 0])

    def test_consumed_parts_of_the_caller_stay(self):
        program = sp.compile(CONSUMING)
        array = program.device.array(np.zeros(3, np.int32))
        (pair,) = program.function("pair")(array, array)
        (total,) = program.function("change")(pair)
        self.assertEqual(int(total), 18)
        (total,) = program.function("total")(pair)
        self.assertEqual(int(total), 0)
        np.testing.assert_array_equal(array.numpy(), [0, 0, 0])

    def test_results_have_memory_of_their_own(self):
        given = self.program.device.array(np.zeros(3, np.int32))
        (result,) = self.program.function("same")(given)
        self.assertNotEqual(np.asarray(given).ctypes.data, np.asarray(result).ctypes.data)
        program = sp.compile(CONSUMING)
        (pair,) = program.function("pair")([1, 2, 3], [4, 5, 6])
        results = [program.function("first")(pair)[0] for _ in range(2)]
        self.assertEqual(len({np.asarray(result).ctypes.data for result in results}), 2)

    def test_opaque_values(self):
        (point,) = self.program.function("make")(3.0)
        self.assertIsInstance(point, sp.Opaque)
        self.assertEqual(point.type_name, "{x: f32, y: f32}")
        (total,) = self.program.function("sum")(point)
        self.assertEqual(float(total), 9)
        other = sp.compile(FUTHARK)
        for wrong in (1.0, other.function("make")(1.0)[0]):
            with self.assertRaises(sp.ArgumentError):
                self.program.function("sum")(wrong)

    def test_failed_assertions(self):
        with self.assertRaisesRegex(sp.ProgramError, "out of bounds"):
            self.program.function("pick")(np.zeros(3, np.int32), 5)
        (result,) = self.program.function("pick")(np.arange(3, dtype=np.int32), 2)
        self.assertEqual(int(result), 2)


class ThreadsTest(unittest.TestCase):
    def test_calls_of_several_threads(self):
        program = sp.compile(ADD)
        failures = []

        def work(number):
            try:
                array = np.full(4, number, np.float32)
                for _ in range(50):
                    (result,) = program(array, array)
                    np.testing.assert_array_equal(result.numpy(), array + array)
                    sp.compile(DOUBLE.format("f32"))(np.ones(5, np.float32))
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_other_threads_run_meanwhile(self):
        program = sp.compile(SLOW)
        program(1.0)
        enough = threading.Event()
        ended = threading.Event()
        counted = 0

        def work():
            calls = 0
            while not enough.is_set() and calls < 2000:
                program(1.0)
                calls += 1
            ended.set()

        # A thread that holds the lock of the interpreter would be asked for it only after this time.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(60)
        try:
            thread = threading.Thread(target=work)
            thread.start()
            while not ended.is_set():
                counted += 1
                if counted > 5:
                    enough.set()
                time.sleep(0)
            thread.join()
        finally:
            sys.setswitchinterval(interval)
        self.assertGreater(counted, 5)


if __name__ == "__main__":
    unittest.main()
