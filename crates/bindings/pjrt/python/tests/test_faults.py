"""Faults: launches that take too long, devices that are lost, and memory that is missing. The process and the device go on.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`. With `JAX_PLATFORMS=spirula_vulkan,cpu` a launch that
takes too long loses the device, which is opened again.
"""

import os
import unittest

os.environ["SPIRULA_TIMEOUT"] = "1"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import SingleDeviceSharding

DEVICE = jax.devices()[0]
ON_VULKAN = DEVICE.platform == "spirula_vulkan"


def run_long(x):
    """Work of a few seconds in one launch."""
    step = lambda _, x: jnp.sin(x) * 1.5 + 0.1
    return jax.block_until_ready(jax.jit(lambda x: lax.fori_loop(0, 300_000_000, step, x))(x))


class FaultTest(unittest.TestCase):
    def check_device_works(self):
        np.testing.assert_array_equal(jax.jit(lambda x: x @ x)(jnp.ones((8, 8))), np.full((8, 8), 8))

    def test_a_launch_that_takes_too_long_is_an_error(self):
        twice = jax.jit(lambda x: x * 2)
        before = twice(jnp.arange(4.0))
        on_host = jax.device_put(np.arange(5.0, dtype=np.float32), SingleDeviceSharding(DEVICE, memory_kind="pinned_host"))
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "after 1s|not done|time"):
            run_long(jnp.ones(()))
        self.check_device_works()
        # A program that had begun before begins again.
        np.testing.assert_array_equal(twice(jnp.arange(4.0)), np.arange(4.0) * 2)
        np.testing.assert_array_equal(on_host, np.arange(5.0))
        if ON_VULKAN:
            with self.assertRaises(jax.errors.JaxRuntimeError):
                jax.block_until_ready(before + 1)
        else:
            np.testing.assert_array_equal(before, np.arange(4.0) * 2)

    def test_memory_that_is_missing_is_an_error(self):
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "RESOURCE_EXHAUSTED"):
            jax.block_until_ready(jnp.zeros((1 << 22, 1 << 22)))
        self.check_device_works()


if __name__ == "__main__":
    unittest.main()
