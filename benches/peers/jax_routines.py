"""Times of JAX's products, eigenvalues, singular values and Fourier transforms, beside another platform of JAX.

    cargo build --release -p spirula-pjrt
    PYTHONPATH=crates/bindings/pjrt/python SPIRULA_PJRT_LIBRARY=target/release/libspirula_pjrt.so \
        python3 benches/peers/jax_routines.py --platforms spirula,cpu [NAME…]

Both platforms run in one process, on arguments that are there before. The least time of all calls counts: the time that passes,
or with --processor the processor time of all threads. Residuals are checked; the exit code is 1 if one is too large.
"""

import argparse
import os
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--platforms", default="spirula,cpu", help="ours, then the peer's")
parser.add_argument("--processor", action="store_true", help="measure processor time")
parser.add_argument("names", nargs="*", help="parts of names of rows; all by default")
options = parser.parse_args()
os.environ["JAX_PLATFORMS"] = options.platforms

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

# Seconds of calls of a routine on a platform, and the most calls.
EFFORT = (1.0, 50)
MATRICES = [(64, 64), (256, 256), (100, 8, 8)]
# Shapes of Hermitian matrices, and of those whose singular values are computed.
HERMITIAN = [(64, 64), (300, 300), (10, 300, 300)]
GENERAL = [(64, 64), (300, 300)]
# Sizes and types of products, which are for graphics devices.
PRODUCTS = [(1024, "bfloat16"), (4096, "bfloat16"), (2048, "float16"), (4096, "float32")]
LENGTHS = [1009, 1024, 4096, 10007, 65536, 100003, 1048576]
# Shapes whose last dimension is transformed, and those of which all are.
BATCHES = [(64, 1000), (256, 256), (10000, 8)]
PLANES = [(100, 100), (512, 512), (64, 64, 64)]


def make_numbers(shape, kind):
    random = np.random.default_rng(0)
    numbers = random.standard_normal(shape)
    if np.dtype(kind).kind == "c":
        numbers = numbers + 1j * random.standard_normal(shape)
    return numbers.astype(kind)


def eigenvector_error(matrix, results):
    values, vectors = results
    difference = matrix @ vectors - vectors * values[..., None, :]
    return np.abs(difference).max() / np.abs(matrix).max() / matrix.shape[-1]


def eigenvalue_error(matrix, values):
    """The difference of the traces."""
    difference = values.sum(-1) - np.trace(matrix, axis1=-2, axis2=-1)
    return np.abs(difference).max() / np.abs(matrix).max() / matrix.shape[-1] ** 2


def adjoint(matrix):
    return np.conj(np.swapaxes(matrix, -1, -2))


def singular_error(matrix, results):
    left, values, right = results
    difference = left * values[..., None, :] @ right - matrix
    return np.abs(difference).max() / values.max()


def spectrum_error(numbers, spectrum):
    wanted = np.fft.rfft(numbers) if numbers.dtype.kind == "f" else np.fft.fft(numbers.astype(complex))
    return np.linalg.norm(spectrum - wanted) / np.linalg.norm(wanted) / np.log2(numbers.size)


def spectra_error(numbers, spectrum):
    wanted = np.fft.fftn(numbers.astype(complex))
    return np.linalg.norm(spectrum - wanted) / np.linalg.norm(wanted) / np.log2(numbers.size)


def product_error(matrix, product):
    """The error of the first rows."""
    rows = matrix[:16].astype(np.float64) @ matrix.astype(np.float64)
    return np.linalg.norm(product[:16].astype(np.float64) - rows) / np.linalg.norm(rows)


def list_rows():
    """Names with a routine, its argument, and the function that computes the error."""
    if options.platforms != "spirula,cpu":
        for size, kind in PRODUCTS:
            argument = make_numbers((size, size), jnp.dtype(kind))
            yield f"product of {size} x {size}, {kind}", lambda x: x @ x, argument, product_error
    for shape in MATRICES:
        for kind in ("float64", "complex64"):
            argument = make_numbers(shape, kind)
            size = " x ".join(map(str, shape))
            yield f"eig of {size}, {kind}", jnp.linalg.eig, argument, eigenvector_error
            yield f"eigvals of {size}, {kind}", jnp.linalg.eigvals, argument, eigenvalue_error
    for shape in HERMITIAN:
        for kind in ("float32", "float64", "complex64"):
            argument = make_numbers(shape, kind)
            size = " x ".join(map(str, shape))
            yield f"eigh of {size}, {kind}", jnp.linalg.eigh, argument + adjoint(argument), eigenvector_error
    for shape in GENERAL:
        for kind in ("float32", "complex64"):
            argument = make_numbers(shape, kind)
            size = " x ".join(map(str, shape))
            run = lambda x: jnp.linalg.svd(x, full_matrices=False)
            yield f"svd of {size}, {kind}", run, argument, singular_error
    for length in LENGTHS:
        for kind in ("complex64", "complex128"):
            yield f"fft of {length}, {kind}", jnp.fft.fft, make_numbers(length, kind), spectrum_error
        yield f"rfft of {length}, float32", jnp.fft.rfft, make_numbers(length, "float32"), spectrum_error
    for shape in BATCHES:
        size = " x ".join(map(str, shape))
        yield f"fft of {size}, complex64", jnp.fft.fft, make_numbers(shape, "complex64"), spectrum_error
    for shape in PLANES:
        size = " x ".join(map(str, shape))
        yield f"fftn of {size}, complex64", jnp.fft.fftn, make_numbers(shape, "complex64"), spectra_error


def measure(function, argument, platform):
    """The least time of a call in seconds, and the results."""
    clock = time.process_time if options.processor else time.perf_counter
    argument = jax.device_put(argument, jax.devices(platform)[0])
    call = jax.jit(function)
    results = jax.block_until_ready(call(argument))
    seconds, most = EFFORT
    end = time.monotonic() + seconds
    least = float("inf")
    for _ in range(most):
        begin = clock()
        jax.block_until_ready(call(argument))
        least = min(least, clock() - begin)
        if time.monotonic() > end:
            break
    return least, jax.tree.map(np.asarray, results)


def main():
    platforms = options.platforms.split(",")[:2]
    print("| routine | " + " | ".join(f"{name}, ms" for name in platforms) + " | ratio |")
    print("| --- | ---: | ---: | ---: |")
    wrong = []
    for name, function, argument, error in list_rows():
        if options.names and not any(part in name for part in options.names):
            continue
        (own, found), (peer, _) = [measure(function, argument, p) for p in platforms]
        if not error(argument, found) < 16 * float(jnp.finfo(argument.dtype).eps):
            wrong.append(name)
        print(f"| {name} | {own * 1e3:.2f} | {peer * 1e3:.2f} | {own / peer:.2f} |", flush=True)
    if wrong:
        sys.exit(f"errors are too large: {', '.join(wrong)}")


main()
