"""Programs of JAX on one and on several devices of a platform, beside another platform of JAX.

    cargo build --release -p spirula-pjrt
    PYTHONPATH=crates/bindings/pjrt/python SPIRULA_PJRT_LIBRARY=target/release/libspirula_pjrt.so SPIRULA_DEVICE=vulkan:all \
        python3 benches/peers/jax_devices.py --platforms spirula_vulkan,cuda [NAME…]

Each program runs on one device of a platform, then on all, with the same whole batch. The least and the median time of a call count,
with arguments on the devices. `scaling` is the time on one device by that on all. Results on one device and on all must be close to
each other, and to those of the other platform; the exit code is 1 if they are not. `sums` has the bandwidth of an all-reduce: bytes
of the array of a device by the time of a call.
"""

import argparse
import os
import statistics
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--platforms", default="spirula_vulkan,cuda", help="ours, then the peer's")
parser.add_argument("--small", action="store_true", help="small sizes, for a machine without graphics cards")
parser.add_argument("--effort", type=float, default=2.0, help="seconds for each program, platform and number of devices")
parser.add_argument("names", nargs="*", help="programs; all by default")
options = parser.parse_args()
os.environ["JAX_PLATFORMS"] = options.platforms
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

# The factor by which sizes are divided.
SHRINK = 16 if options.small else 1
# The most calls of a program.
MOST_CALLS = 50
PROGRAMS = {}


def program(function):
    """Registers a program: a function that returns a function, its arguments with their shardings, and the tolerance."""
    PROGRAMS[function.__name__] = function
    return function


def normal(*shape, scale=1.0):
    return np.random.default_rng(len(shape) + shape[0]).standard_normal(shape, np.float32) * np.float32(scale)


def train_step(loss_of):
    """A step of gradient descent: the loss, and the parameters after it."""

    def step(parameters, *batch):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, *batch)
        return loss, jax.tree.map(lambda own, slope: own - 1e-3 * slope, parameters, gradients)

    return step


@program
def perceptron():
    """Training of five layers of 4096, 16384 examples, each device with its share of them."""
    width, rows = 4096 // SHRINK, 16384 // SHRINK
    layers = [normal(width, width, scale=width**-0.5) for _ in range(5)]

    def loss_of(layers, x):
        for layer in layers:
            x = jnp.tanh(x @ layer)
        return jnp.square(x).mean()

    return train_step(loss_of), [(layers, ()), (normal(rows, width), ("d",))], 1e-3


@program
def convolutions():
    """Training of four layers of 3 x 3 convolutions with 128 channels on 512 pictures of 32 x 32."""
    channels, count = 128 // SHRINK, 512 // SHRINK
    kernels = [normal(3, 3, channels, channels, scale=(9 * channels) ** -0.5) for _ in range(4)]

    def loss_of(kernels, x):
        for kernel in kernels:
            x = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.nn.relu(x)
        return jnp.square(x).mean()

    return train_step(loss_of), [(kernels, ()), (normal(count, 32, 32, channels), ("d",))], 1e-3


@program
def transformer():
    """Training of two blocks of a transformer, 1024 wide with 16 heads, on 32 texts of 512 words."""
    width, heads, texts, words = 1024 // SHRINK, max(16 // SHRINK, 1), 32, 512 // SHRINK
    shapes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    blocks = [[normal(*shape, scale=shape[0] ** -0.5) for shape in shapes] for _ in range(2)]

    def attend(x, split, join):
        parts = (x @ split).reshape(*x.shape[:2], 3, heads, width // heads)
        query, key, value = (parts[:, :, at].transpose(0, 2, 1, 3) for at in range(3))
        weights = jax.nn.softmax(query @ key.swapaxes(-1, -2) * (width // heads) ** -0.5)
        return (weights @ value).transpose(0, 2, 1, 3).reshape(x.shape) @ join

    def scale(x):
        return x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6)

    def loss_of(blocks, x):
        for split, join, widen, narrow in blocks:
            x = x + attend(scale(x), split, join)
            x = x + jax.nn.gelu(scale(x) @ widen) @ narrow
        return jnp.square(x).mean()

    return train_step(loss_of), [(blocks, ()), (normal(texts, words, width), ("d",))], 1e-3


@program
def product():
    """A product of 16384 in `bf16`, each device with a part of the columns of the second factor."""
    size = 16384 // SHRINK
    half = lambda: normal(size, size).astype(jnp.bfloat16)
    return lambda a, b: a @ b, [(half(), ()), (half(), (None, "d"))], 2e-2


@program
def sums():
    """An all-reduce of 64 MiB of each device."""
    size = (16 << 20) // SHRINK
    count = max(len(jax.devices(name)) for name in options.platforms.split(","))

    def add(x):
        return x.reshape(count, -1).sum(0)

    return add, [(normal(count * size), ("d",))], 1e-4


def place(argument, sharding, mesh):
    return jax.tree.map(lambda array: jax.device_put(array, NamedSharding(mesh, P(*sharding))), argument)


def measure(function, arguments):
    """The times of calls in ms, and the result."""
    compiled = jax.jit(function)
    result = jax.block_until_ready(compiled(*arguments))
    times = []
    while len(times) < 3 or (sum(times) < options.effort and len(times) < MOST_CALLS):
        begin = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        times.append(time.perf_counter() - begin)
    return [1e3 * time for time in times], jax.tree.map(lambda array: np.asarray(array, np.float32), result)


def find_difference(left, right):
    """The greatest difference of results, as a share of the greatest value."""
    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right))
    shares = (np.abs(one - two).max() / max(np.abs(two).max(), 1e-30) for one, two in pairs)
    return float(max(shares))


def main():
    is_right = True
    print("| program | platform | one device, ms (least) | all, ms (least) | scaling | difference |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in options.names or PROGRAMS:
        function, arguments, tolerance = PROGRAMS[name]()
        reference = None
        for platform in options.platforms.split(","):
            devices = jax.devices(platform)
            found = []
            for count in [1, len(devices)]:
                mesh = Mesh(np.array(devices[:count]), ("d",))
                placed = [place(argument, sharding, mesh) for argument, sharding in arguments]
                found.append(measure(function, placed))
                del placed
            (one, first), (all_times, last) = found
            reference = first if reference is None else reference
            difference = max(find_difference(last, first), find_difference(first, reference))
            is_right &= difference <= tolerance
            one_time, all_time = statistics.median(one), statistics.median(all_times)
            print(
                f"| {name} | {platform} x {len(devices)} | {one_time:.2f} ({min(one):.2f}) "
                f"| {all_time:.2f} ({min(all_times):.2f}) | {one_time / all_time:.2f} | {difference:.1e} |",
                flush=True,
            )
            if name == "sums" and len(devices) > 1:
                array = arguments[0][0].nbytes / len(devices)
                print(f"  {array / all_time / 1e6:.2f} GB/s of each device in an all-reduce", flush=True)
    sys.exit(0 if is_right else 1)


main()
