"""Decompositions of matrices by LAPACK, which jaxlib has on processors, and by Spirula's own routines.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`. They run once more with `SPIRULA_OWN_LAPACK=1`.
"""

import os
import pickle
import subprocess
import sys
import tempfile
import textwrap
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import serialize_executable

RANDOM = np.random.default_rng(7)
ON_PROCESSOR = jax.devices()[0].platform == "spirula"


def make_matrices(*sizes):
    return RANDOM.standard_normal(sizes).astype(np.float32)


def make_symmetric(*sizes):
    matrices = make_matrices(*sizes)
    return matrices + np.swapaxes(matrices, -1, -2)


def make_positive(*sizes):
    matrices = make_matrices(*sizes)
    return matrices @ np.swapaxes(matrices, -1, -2) + sizes[-1] * np.eye(sizes[-1], dtype=np.float32)


def compare(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-3)


class LinearAlgebraTest(unittest.TestCase):
    def test_matrices_are_put_together_again(self):
        for sizes in [(3, 3), (4, 5, 5), (40, 40)]:
            with self.subTest(sizes=sizes):
                a, s, p = make_matrices(*sizes), make_symmetric(*sizes), make_positive(*sizes)
                u, singular, v = jax.jit(lambda x: jnp.linalg.svd(x, full_matrices=False))(a)
                compare(u * np.asarray(singular)[..., None, :] @ v, a)
                values, vectors = jax.jit(jnp.linalg.eigh)(s)
                compare(vectors * np.asarray(values)[..., None, :] @ np.swapaxes(vectors, -1, -2), s)
                q, r = jax.jit(jnp.linalg.qr)(a)
                compare(q @ r, a)
                lower = jax.jit(jnp.linalg.cholesky)(p)
                compare(lower @ np.swapaxes(lower, -1, -2), p)
                compare(jax.jit(jnp.linalg.solve)(p, a), np.linalg.solve(p, a))
                values, vectors = jax.jit(jnp.linalg.eig)(a)
                compare(a @ np.asarray(vectors), np.asarray(vectors) * np.asarray(values)[..., None, :])

    def test_matrices_that_are_not_square(self):
        for sizes in [(7, 3), (3, 7), (2, 40, 5)]:
            a = make_matrices(*sizes)
            u, singular, v = jax.jit(lambda x: jnp.linalg.svd(x, full_matrices=False))(a)
            compare(u * np.asarray(singular)[..., None, :] @ v, a)
            q, r = jax.jit(jnp.linalg.qr)(a)
            compare(q @ r, a)

    def test_eigenvalues_by_the_name_of_a_method(self):
        for sizes in [(3, 3), (2, 33, 33)]:
            a = make_symmetric(*sizes)
            for name in jax.lax.linalg.EighImplementation:
                decompose = jax.jit(lambda x, name=name: jax.lax.linalg.eigh(x, implementation=name))
                vectors, values = decompose(a)
                compare(vectors * np.asarray(values)[..., None, :] @ np.swapaxes(vectors, -1, -2), a)
                compare(values, np.linalg.eigvalsh(a))

    def test_decompositions_in_loops(self):
        for size in (4, 40):
            with self.subTest(size=size):
                p = make_positive(size, size)

                def step(x, _):
                    return jnp.linalg.cholesky(x @ x.T + size * jnp.eye(size)), jnp.linalg.eigvalsh(x + x.T)[0]

                ended, least = jax.jit(lambda x: jax.lax.scan(step, x, None, length=5))(p)
                wanted = p
                for at in range(5):
                    compare(least[at] / np.abs(wanted).max(), np.linalg.eigvalsh(wanted + wanted.T)[0] / np.abs(wanted).max())
                    wanted = np.linalg.cholesky(wanted @ wanted.T + size * np.eye(size, dtype=np.float32))
                compare(ended / np.abs(wanted).max(), wanted / np.abs(wanted).max())

    def test_a_matrix_that_is_not_positive_has_no_factor(self):
        lower = jax.jit(jnp.linalg.cholesky)(-np.eye(4, dtype=np.float32))
        self.assertTrue(np.isnan(np.diagonal(lower)).all())

    def test_gradients(self):
        p = make_positive(5, 5)
        gradient = jax.jit(jax.grad(lambda x: jnp.linalg.slogdet(x)[1]))(p)
        compare(gradient, np.linalg.inv(p).T)

    def test_a_stored_program_runs_in_another_process(self):
        p = make_positive(6, 6)
        compiled = jax.jit(jnp.linalg.cholesky).lower(p).compile()
        stored = serialize_executable.serialize(compiled)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program")
            with open(path, "wb") as file:
                pickle.dump((stored, p, np.asarray(compiled(p))), file)
            script = textwrap.dedent("""
                import pickle, sys
                import jax, numpy as np
                from jax.experimental import serialize_executable
                jax.devices()
                (stored, p, wanted) = pickle.load(open(sys.argv[1], "rb"))
                program = serialize_executable.deserialize_and_load(*stored)
                np.testing.assert_allclose(program(p), wanted, rtol=1e-4)
            """)
            ended = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=300)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    @unittest.skipIf(os.environ.get("SPIRULA_OWN_LAPACK") or not ON_PROCESSOR, "it is such a run, or no processor")
    def test_own_routines(self):
        environment = dict(os.environ, SPIRULA_OWN_LAPACK="1")
        command = [sys.executable, os.path.abspath(__file__)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment)
        self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == "__main__":
    unittest.main()
