"""Profiles of JAX: the programs and kernels of Spirula's devices.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`.
"""

import glob
import tempfile
import unittest

import jax
import jax.numpy as jnp
import numpy as np

try:
    from jax.profiler import ProfileData
except ImportError:
    ProfileData = None

PLATFORM = jax.devices()[0].platform


def double_rows(x, w):
    return jnp.tanh(x @ w).sum(0)


def take_profile(run):
    """The planes of Spirula's devices in a profile of a function."""
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            run()
        (path,) = glob.glob(f"{folder}/**/*.xplane.pb", recursive=True)
        planes = ProfileData.from_file(path).planes
        return [plane for plane in planes if plane.name.startswith(f"/device:CUSTOM:{PLATFORM}:")]


def list_events(plane):
    """The events of each line, by its name: their names, begins and durations in nanoseconds."""
    return {line.name: [(e.name, e.start_ns, e.duration_ns) for e in line.events] for line in plane.lines}


@unittest.skipIf(ProfileData is None, "this release of JAX does not read profiles")
class ProfilesTest(unittest.TestCase):
    def test_programs_and_kernels(self):
        step = jax.jit(double_rows)
        x = np.ones((64, 32), np.float32)
        w = np.ones((32, 16), np.float32)
        jax.block_until_ready(step(x, w))
        (plane,) = take_profile(lambda: [jax.block_until_ready(step(x, w)) for _ in range(3)])
        lines = list_events(plane)
        programs, kernels = lines["XLA Modules"], lines["XLA Ops"]
        self.assertEqual([name for name, _, _ in programs], ["jit_double_rows"] * 3)
        self.assertGreaterEqual(len(kernels), 3)
        self.assertTrue(any(name.startswith("dot_") for name, _, _ in kernels), kernels)
        begins = [begin for _, begin, _ in kernels]
        self.assertEqual(begins, sorted(begins))
        for _, begin, duration in programs + kernels:
            self.assertGreaterEqual(begin, 0)
            self.assertGreater(duration, 0)

    def test_profiles_follow_each_other(self):
        add = jax.jit(lambda x: x + 1)
        for count in (2, 0, 1):
            planes = take_profile(lambda: [jax.block_until_ready(add(jnp.zeros(10))) for _ in range(count)])
            programs = [event for plane in planes for event in list_events(plane).get("XLA Modules", [])]
            added = [name for name, _, _ in programs if "lambda" in name]
            self.assertEqual(len(added), count)

    def test_work_goes_on_while_a_profile_begins_and_ends(self):
        add = jax.jit(lambda x: x * 2 + 1)
        x = jnp.zeros(1000)
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(3):
                with jax.profiler.trace(folder):
                    y = x
                    for _ in range(50):
                        y = add(y)
        np.testing.assert_array_equal(jax.block_until_ready(add(x)), np.ones(1000))


if __name__ == "__main__":
    unittest.main()
