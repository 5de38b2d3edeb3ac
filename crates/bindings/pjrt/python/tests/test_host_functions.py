"""Functions of the host: callbacks to Python, and functions of C that are registered with JAX.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`. They need a C compiler, `cc` or the one that `CC` names.
"""

import ctypes
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.experimental import io_callback

FOLDER = pathlib.Path(__file__).parent


def call_pure(function, x, **options):
    """A pure callback whose result has the type of its operand."""
    return jax.pure_callback(function, jax.ShapeDtypeStruct(x.shape, x.dtype), x, **options)


def run_python(code, platforms="spirula"):
    """The output of a program in a process of its own."""
    environment = dict(os.environ, JAX_PLATFORMS=platforms)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode:
        raise AssertionError(f"the process ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


class CallbackTest(unittest.TestCase):
    def test_operands_and_results_have_their_types(self):
        dtypes = [np.bool_, np.int8, np.uint16, np.int32, np.float16, np.float32, np.complex64]
        dtypes += [ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn]
        for dtype in dtypes:
            x = np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)
            seen = []

            def turn(a):
                seen.append((a.dtype, a.shape))
                return np.asarray(a)[:, ::-1]

            with self.subTest(dtype=dtype.__name__):
                result = jax.jit(functools.partial(call_pure, turn))(x)
                np.testing.assert_array_equal(np.asarray(result), x[:, ::-1])
                self.assertEqual(seen, [(np.dtype(dtype), (2, 3))])
        negative = jnp.array([-8, 7, -1]).astype("int4")
        doubled = jax.jit(lambda x: call_pure(np.asarray, x).astype(np.int32) * 2)(negative)
        self.assertEqual(doubled.tolist(), [-16, 14, -2])

    def test_callbacks_work_under_transformations(self):
        x = jnp.arange(6, dtype=np.float32).reshape(2, 3)
        for method in ("sequential", "expand_dims", "broadcast_all"):
            with self.subTest(method=method):
                double = functools.partial(call_pure, lambda a: np.asarray(a) * 2, vmap_method=method)
                np.testing.assert_array_equal(jax.jit(jax.vmap(double))(x), x * 2)

        @jax.custom_vjp
        def sine(x):
            return call_pure(np.sin, x)

        sine.defvjp(lambda x: (sine(x), x), lambda x, d: (d * call_pure(np.cos, x),))
        gradient = jax.jit(jax.grad(lambda x: sine(x).sum()))(x)
        np.testing.assert_allclose(gradient, np.cos(x), rtol=1e-6)

    def test_ordered_effects_keep_their_order(self):
        log = []

        def note(name, value):
            log.append(f"{name}{int(value)}")

        @jax.jit
        def count(n):
            def body(i, total):
                io_callback(functools.partial(note, "a"), None, i, ordered=True)
                jax.lax.cond(i % 2 == 1, lambda: io_callback(functools.partial(note, "odd"), None, i, ordered=True), lambda: None)
                jax.debug.callback(functools.partial(note, "b"), i, ordered=True)
                return total + io_callback(lambda v: np.int32(v * 2), jax.ShapeDtypeStruct((), np.int32), i, ordered=True)

            return jax.lax.fori_loop(0, n, body, jnp.int32(0))

        self.assertEqual(int(count(3)), 6)
        jax.effects_barrier()
        self.assertEqual(log, ["a0", "b0", "a1", "odd1", "b1", "a2", "b2"])

    def test_calls_return_after_their_callbacks(self):
        log = []

        @jax.jit
        def note(x):
            jax.debug.callback(lambda a: time.sleep(0.05) or log.append(int(a)), x)
            return x + 1

        for number in range(3):
            note(number)
            self.assertEqual(log, list(range(number + 1)))

    def test_effects_are_kept_and_unused_pure_calls_removed(self):
        log = []

        @jax.jit
        def both(x):
            call_pure(lambda a: log.append("pure") or a, x)
            io_callback(lambda a: log.append("effect"), None, x)
            return x

        both(jnp.float32(1))
        jax.effects_barrier()
        self.assertEqual(log, ["effect"])

    def test_an_exception_is_the_error_of_the_call(self):
        def break_down(a):
            raise ValueError("a broken callback")

        failing = jax.jit(functools.partial(call_pure, break_down))
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, r"(?s)Traceback.*ValueError: a broken callback"):
            failing(jnp.ones(3))
        self.assertEqual(float(jnp.ones(3).sum()), 3)

    def test_callbacks_run_programs_on_the_same_device(self):
        matrix = jnp.eye(3) * 2
        inner = jax.jit(lambda x: call_pure(lambda a: np.asarray(matrix @ np.asarray(a)), x))
        with jax.default_device(jax.devices("spirula")[0]):

            def run_inner(a):
                on_spirula = jax.device_put(np.asarray(a), jax.devices("spirula")[0])
                return np.asarray(inner(on_spirula)) + 1

            outer = jax.jit(lambda x: call_pure(run_inner, x) * 10)
            np.testing.assert_array_equal(outer(jnp.arange(3.0)), [10, 30, 50])

    def test_threads_share_a_device_with_callbacks(self):
        add = jax.jit(lambda x: call_pure(lambda a: np.asarray(a) + 1, x) * 2)
        failures = []

        def work(number):
            for _ in range(20):
                found = np.asarray(add(jnp.full(4, float(number))))
                if not np.array_equal(found, np.full(4, (number + 1) * 2)):
                    failures.append(found)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_addresses_are_known_before_a_callback_has_ended(self):
        slow = jax.jit(functools.partial(call_pure, lambda a: time.sleep(0.2) or np.asarray(a) + 1))
        y = slow(jnp.ones(3))
        z = y * 2
        for array, value in ((y, 2), (z, 4)):
            # The caller holds the lock of Python, which the callback needs.
            address = array.unsafe_buffer_pointer()
            array.block_until_ready()
            found = np.ctypeslib.as_array((ctypes.c_float * 3).from_address(address))
            np.testing.assert_array_equal(found, [value] * 3)

    def test_arguments_are_of_spirula_without_another_processor(self):
        code = """
import jax, jax.numpy as jnp, numpy as np
def double(x):
    assert isinstance(x, jax.Array)
    return np.asarray(x * 2)
print(jax.jit(lambda x: jax.pure_callback(double, x, x))(jnp.arange(3)))
jax.debug.print("x = {}", jnp.float32(3))
"""
        self.assertEqual(run_python(code), "[0 2 4]\nx = 3.0\n")

    def test_python_ends_after_callbacks_have(self):
        code = """
import jax, jax.numpy as jnp, numpy as np, time
slow = jax.jit(lambda x: jax.pure_callback(lambda a: time.sleep(0.3) or np.asarray(a), x, x))
slow(jnp.ones(2))
print("end")
"""
        self.assertEqual(run_python(code, "spirula,cpu"), "end\n")


class ForeignFunctionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        compiler = os.environ.get("CC") or shutil.which("cc")
        if compiler is None:
            raise AssertionError("the tests of functions of C need a C compiler: there is no cc, and CC names none")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        library = pathlib.Path(cls.folder.name) / "ffi_target.so"
        source = FOLDER / "ffi_target.c"
        command = [compiler, "-shared", "-fPIC", "-O1", f"-I{jax.ffi.include_dir()}", str(source), "-o", str(library)]
        subprocess.run(command, check=True, timeout=120)
        functions = ctypes.CDLL(str(library))
        for name, platform in (("scale", "spirula"), ("flatten", "cpu")):
            capsule = jax.ffi.pycapsule(getattr(functions, name))
            jax.ffi.register_ffi_target(f"test_{name}", capsule, platform=platform)

    def test_a_function_gets_buffers_and_attributes(self):
        x = jnp.arange(6, dtype=np.float32).reshape(2, 3)

        def scale(x, factor):
            call = jax.ffi.ffi_call("test_scale", jax.ShapeDtypeStruct(x.shape, x.dtype), vmap_method="broadcast_all")
            return call(x, factor=np.float32(factor))

        np.testing.assert_array_equal(scale(x, 3), x * 3)
        np.testing.assert_array_equal(jax.jit(jax.vmap(lambda x: scale(x, 2) + 1))(x), x * 2 + 1)
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "INVALID_ARGUMENT.*the factor is negative"):
            np.asarray(scale(x, -1))
        np.testing.assert_array_equal(scale(x, 1), x)

    def test_layouts_are_orders_of_memory_and_effects_are_kept(self):
        x = jnp.arange(6, dtype=np.float32).reshape(2, 3)
        types = (jax.ShapeDtypeStruct((6,), np.float32), jax.ShapeDtypeStruct((), np.int32))
        call = jax.ffi.ffi_call("test_flatten", types, input_layouts=[(1, 0)], has_side_effect=True)

        @jax.jit
        def run(x):
            call(x)
            return call(x)

        flat, first = run(x)
        self.assertEqual(flat.tolist(), [0, 3, 1, 4, 2, 5])
        _, second = run(x)
        self.assertEqual(int(second) - int(first), 2)

    def test_platforms_without_a_branch_take_that_of_cpu(self):
        x = jnp.arange(3, dtype=np.float32)

        def scale(x):
            call = jax.ffi.ffi_call("test_scale", jax.ShapeDtypeStruct(x.shape, x.dtype))
            return call(x, factor=np.float32(4))

        chosen = jax.jit(lambda x: jax.lax.platform_dependent(x, cpu=scale, cuda=lambda x: x))(x)
        np.testing.assert_array_equal(chosen, x * 4)

    def test_missing_functions_are_named_when_a_program_is_compiled(self):
        x = jnp.ones(2)
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "custom_call @test_missing"):
            jax.ffi.ffi_call("test_missing", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


if __name__ == "__main__":
    unittest.main()
