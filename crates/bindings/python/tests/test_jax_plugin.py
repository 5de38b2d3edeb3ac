"""JAX on the plugin that the package installs, in a process of its own."""

import os
import subprocess
import sys
import unittest

TRAINING = """
import jax
import jax.numpy as jnp

def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)

@jax.jit
def step(w, x, y):
    value, gradient = jax.value_and_grad(loss)(w, x, y)
    return w - 0.5 * gradient, value

x = jnp.linspace(-1, 1, 64).reshape(16, 4)
y = jnp.sin(x.sum(axis=1))
w = jnp.zeros(4)
for _ in range(20):
    w, value = step(w, x, y)
print(jax.devices()[0].platform, float(value), *map(float, w))
"""


def train(platform):
    environment = os.environ | {"JAX_PLATFORMS": platform}
    shown = subprocess.run([sys.executable, "-c", TRAINING], env=environment, capture_output=True, text=True)
    if shown.returncode != 0:
        raise AssertionError(shown.stderr)
    name, *numbers = shown.stdout.split()
    return name, [float(number) for number in numbers]


class JaxPluginTest(unittest.TestCase):
    def test_training_is_that_of_xla(self):
        name, numbers = train("spirula")
        self.assertEqual(name, "spirula")
        _, wanted = train("cpu")
        self.assertEqual(len(numbers), 5)
        for number, want in zip(numbers, wanted):
            self.assertAlmostEqual(number, want, places=5)

    def test_one_library_serves_both(self):
        code = TRAINING + "\nimport spirula\nprint(sum('_spirula' in line for line in open('/proc/self/maps')) > 0)\n"
        code += "print(len({line.split()[-1] for line in open('/proc/self/maps') if 'spirula' in line}))\n"
        if not os.path.exists("/proc/self/maps"):
            self.skipTest("the system does not list the libraries of a process")
        environment = os.environ | {"JAX_PLATFORMS": "spirula"}
        shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        self.assertEqual(shown.stdout.split()[-2:], ["True", "1"])


if __name__ == "__main__":
    unittest.main()
