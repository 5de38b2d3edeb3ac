"""Functions of special values: signs, zeros, infinities and numbers that are none, beside NumPy, as JAX has them.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`, and with `JAX_PLATFORMS=spirula_vulkan,cpu` where there
is a Vulkan driver.
"""

import unittest

import jax
import jax.numpy as jnp
import numpy as np

VALUES = np.array([-np.inf, -3, -2.5, -2, -1, -0.5, -0.0, 0.0, 0.5, 1, 1.5, 2, 3, 7, np.inf, np.nan], np.float32)
# JAX and NumPy give zeros other signs in these functions.
SIGNLESS = ["maximum", "minimum", "sign"]
# All pairs of the values.
FIRST, SECOND = (side.ravel() for side in np.meshgrid(VALUES, VALUES))

# Pairs of every size: a remainder is exact, however large the quotient.
SIZES = np.array([0, 1e-45, 1e-40, 1.2e-38, 1e-20, 0.1, 1, 3, 7, 1e9, 1.7e38, 3.4e38, np.inf, np.nan], np.float32)
SIZES = np.concatenate([SIZES, -SIZES])
LARGE, SMALL = (side.ravel() for side in np.meshgrid(SIZES, SIZES))

BINARY = ["power", "arctan2", "maximum", "minimum", "copysign", "hypot", "logaddexp"]
UNARY = [
    "abs", "ceil", "floor", "rint", "sign", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh",
    "sinh", "cosh", "arctan", "arcsinh", "square", "reciprocal", "trunc",
]  # fmt: skip


class FunctionTest(unittest.TestCase):
    def check(self, name, *arguments):
        with self.subTest(function=name), np.errstate(all="ignore"):
            found = np.asarray(jax.jit(getattr(jnp, name))(*arguments))
            wanted = getattr(np, name)(*arguments)
            np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-6)
            # A zero has a sign, too.
            if name not in SIGNLESS:
                is_number = ~np.isnan(wanted)
                np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])

    def test_binary_functions(self):
        for name in BINARY:
            self.check(name, FIRST, SECOND)

    def test_unary_functions(self):
        for name in UNARY:
            self.check(name, VALUES)

    def test_remainders(self):
        """Remainders of floats, in 16 bits too: NumPy computes them in 32."""
        for dtype in [np.float32, np.float16, jnp.bfloat16]:
            with np.errstate(over="ignore"):
                large, small = LARGE.astype(dtype), SMALL.astype(dtype)
            for name in ["fmod", "remainder"]:
                with self.subTest(function=name, dtype=dtype), np.errstate(all="ignore"):
                    found = np.asarray(jax.jit(getattr(jnp, name))(large, small)).astype(np.float32)
                    wanted = getattr(np, name)(large, small).astype(np.float32)
                    np.testing.assert_array_equal(found, wanted)


if __name__ == "__main__":
    unittest.main()
