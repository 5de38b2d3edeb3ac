"""Times of a call of JAX programs with loops, beside another platform of JAX.

    cargo build --release -p spirula-pjrt
    PYTHONPATH=crates/bindings/pjrt/python SPIRULA_PJRT_LIBRARY=target/release/libspirula_pjrt.so \
        python3 benches/peers/jax_loops.py --platforms spirula,cpu [NAME…]

Both platforms run in one process, on arguments that are there before. The least of all calls counts: processor time of all
threads, or with --wall the time that passes. Results must be close to each other; the exit code is 1 if they are not.
"""

import argparse
import os
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--platforms", default="spirula,cpu", help="ours, then the peer's")
parser.add_argument("--wall", action="store_true", help="measure the time that passes")
parser.add_argument("names", nargs="*", help="programs; all by default")
options = parser.parse_args()
os.environ["JAX_PLATFORMS"] = options.platforms

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

# Seconds of calls of a program on a platform, and the most calls.
EFFORT = (1.0, 50)
PROGRAMS = {}


def program(function):
    """Registers a program: a function that returns a function and its arguments."""
    PROGRAMS[function.__name__] = function
    return function


@program
def stacked_scan():
    """20,000 steps on a number; all its values are stacked."""

    def step(carry, value):
        carry = carry * 0.999 + value
        return carry, carry

    return lambda xs: lax.scan(step, jnp.float32(0), xs), [jnp.arange(20000, dtype=jnp.float32)]


@program
def element_updates():
    """2,000 elements, each computed of the one before it."""
    body = lambda at, x: x.at[at].set(x[at - 1] * 0.5 + x[at])
    return lambda x: lax.fori_loop(1, 2000, body, x), [jnp.arange(2000, dtype=jnp.float32)]


@program
def recurrent_network():
    """500 steps of a network with 32 states."""

    def run(weights, inputs):
        def step(state, x):
            state = jnp.tanh(weights @ state + x)
            return state, state

        return lax.scan(step, jnp.zeros(32), inputs)

    return run, [jnp.full((32, 32), 0.01), jnp.ones((500, 32))]


@program
def random_walk():
    """1,000 random numbers, with a key that is split each time."""

    def body(_, carry):
        key, total = carry
        key, own = jax.random.split(key)
        return key, total + jax.random.normal(own, ())

    return lambda key: lax.fori_loop(0, 1000, body, (key, 0.0)), [jax.random.PRNGKey(0)]


@program
def square_root():
    """Newton's method until it is precise."""
    is_far = lambda x: jnp.abs(x * x - 7) > 1e-5
    return lambda x: lax.while_loop(is_far, lambda x: 0.5 * (x + 7 / x), x), [jnp.float32(1)]


@program
def runge_kutta():
    """2,000 steps of a pendulum and an oscillator."""

    def slope(y):
        return jnp.stack([y[1], -jnp.sin(y[0]), y[3], -0.1 * y[2] + jnp.cos(y[0])])

    def step(y, _):
        h = 0.01
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c))
        return y, y

    return lambda y: lax.scan(step, y, None, length=2000), [jnp.array([1.0, 0.0, 1.0, 0.0])]


@program
def row_updates():
    """500 rows of 4,096 numbers, each replaced in turn."""

    def body(at, x):
        return lax.dynamic_update_slice(x, jnp.full((1, 4096), 1.0) * at, (at, 0))

    return lambda x: lax.fori_loop(0, 500, body, x), [jnp.zeros((500, 4096))]


@program
def counted_indices():
    """5,000 additions at places that are data."""
    places = jnp.asarray(np.random.RandomState(0).randint(0, 1000, 5000))
    run = lambda x, at: lax.fori_loop(0, 5000, lambda i, x: x.at[at[i]].add(1.0), x)
    return run, [jnp.zeros(1000), places]


def measure(function, arguments, platform):
    """The least time of a call in seconds, and the results."""
    clock = time.perf_counter if options.wall else time.process_time
    arguments = jax.device_put(arguments, jax.devices(platform)[0])
    call = jax.jit(function)
    results = jax.block_until_ready(call(*arguments))
    seconds, most = EFFORT
    end = time.monotonic() + seconds
    least = float("inf")
    for _ in range(most):
        begin = clock()
        jax.block_until_ready(call(*arguments))
        least = min(least, clock() - begin)
        if time.monotonic() > end:
            break
    return least, jax.tree.map(np.asarray, results)


def is_close(one, other):
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other))
    return all(np.allclose(a, b, rtol=2e-4, atol=1e-4) for a, b in pairs)


def main():
    platforms = options.platforms.split(",")[:2]
    print("| program | " + " | ".join(f"{name}, µs" for name in platforms) + " | ratio |")
    print("| --- | ---: | ---: | ---: |")
    differ = []
    for name in options.names or PROGRAMS:
        function, arguments = PROGRAMS[name]()
        (own, found), (peer, wanted) = [measure(function, arguments, p) for p in platforms]
        if not is_close(found, wanted):
            differ.append(name)
        print(f"| {name} | {own * 1e6:,.0f} | {peer * 1e6:,.0f} | {own / peer:.2f} |", flush=True)
    if differ:
        sys.exit(f"other results: {', '.join(differ)}")


main()
