"""The eight benchmark kernels by OpenCL, on this driver and on others, in turns.

    python3 benches/peers/opencl.py [--scale small|large] [--rounds 3] Spirula 'Portable Computing Language'

The arguments are parts of the names of platforms, or `PLATFORM:DEVICE` with a part of the name of a device. Each round runs
all platforms one after another, each in a process of its own. A time is that of a launch of many that are enqueued at once,
from the first call to the return of clFinish, the least of all rounds. Results are compared with NumPy's. It needs pyopencl.

The table has the time of each platform, and how many times faster the first platform is than each other one; the last row is
the geometric mean. `first` is the time to build a small program and to launch it for the first time in a process.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "kernels" / "kernels.cl"

# Sizes by scale: elements of vectors, rows of matrices, bodies, pixels of a side.
SCALES = {
    "small": {"vector": 1 << 20, "matrix": 256, "bodies": 2048, "pixels": 512},
    "large": {"vector": 1 << 24, "matrix": 2048, "bodies": 1 << 15, "pixels": 4096},
}

FIRST = """kernel void first(global float *a, int n) {
  float sum = 0.0f;
  for (int k = 0; k < n; k++) sum += sin(a[get_global_id(0)] + k);
  a[get_global_id(0)] = sum;
}"""


def build_cases(np, size):
    """Each case: kernel, arguments (arrays are inputs, "out" with a shape is an output), sizes, and the expected output."""
    random = np.random.default_rng(7)
    n, m, b, p = size["vector"], size["matrix"], size["bodies"], size["pixels"]
    x = random.random(n, dtype=np.float32)
    a, c = random.random((2, m, m), dtype=np.float32)
    bodies = random.random((b, 4), dtype=np.float32)
    words = random.integers(0, 1 << 31, n).astype(np.uint32)
    i32 = np.int32
    tiles = ((m, m), (16, 16))
    product = a @ c if m <= 2048 else None
    counts = np.bincount(words & 255, minlength=256).astype(np.uint32)
    partial = x.reshape(-1, 256).sum(1, dtype=np.float32)
    return [
        ("saxpy", [x, ("out", x.shape, np.float32), np.float32(2)], (n,), (256,), None),
        ("matmul_tiled", [a, c, ("out", a.shape, np.float32), i32(m)], *tiles, product),
        ("reduce_tree", [x, ("out", partial.shape, np.float32)], (n,), (256,), partial),
        ("nbody", [bodies, ("out", bodies.shape, np.float32), i32(b)], (b,), (256,), accelerate(np, bodies)),
        ("mandelbrot", [("out", (p, p), i32), i32(p), i32(p), i32(256)], (p, p), (16, 16), None),
        ("matmul_naive", [a, c, ("out", a.shape, np.float32), i32(m)], *tiles, product),
        ("histogram", [words, ("out", (256,), np.uint32)], (n // 16,), (256,), counts),
        ("transpose", [a, ("out", a.shape, np.float32), i32(m)], *tiles, a.T),
    ]


def accelerate(np, bodies):
    """The accelerations of the first 64 bodies."""
    apart = bodies[None, :, :3] - bodies[:64, None, :3]
    inverse = ((apart**2).sum(2) + np.float32(1e-3)) ** -0.5
    return (apart * (bodies[:, 3] * inverse**3)[..., None]).sum(1)


def find_device(cl, wanted):
    platform, _, device = wanted.partition(":")
    for found in cl.get_platforms():
        if platform in found.name:
            for one in found.get_devices():
                if device in one.name:
                    return one
    sys.exit(f"no device of OpenCL is called {wanted}")


def time_first_launch(cl, np, device):
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    memory = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4096)
    start = time.perf_counter()
    kernel = cl.Kernel(cl.Program(context, FIRST).build(cache_dir=False), "first")
    kernel(queue, (1024,), (64,), memory, np.int32(8))
    queue.finish()
    return time.perf_counter() - start


def run_case(cl, np, queue, program, case):
    name, arguments, sizes, local, expected = case
    flags = cl.mem_flags
    passed, out = [], None
    for argument in arguments:
        if isinstance(argument, tuple):
            result = np.zeros(argument[1], argument[2])
            out = cl.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=result)
            argument = out
        elif isinstance(argument, np.ndarray):
            argument = cl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=argument)
        passed.append(argument)
    kernel = cl.Kernel(program, name)
    kernel(queue, sizes, local, *passed)
    cl.enqueue_copy(queue, result, out)
    if expected is not None:
        got = result[:64, :3] if name == "nbody" else result
        np.testing.assert_allclose(got, expected, rtol=2e-3)
    kernel.set_args(*passed)
    least, launches = math.inf, 1
    spent = 0.0
    while spent < 1.0:
        start = time.perf_counter()
        for _ in range(launches):
            cl.enqueue_nd_range_kernel(queue, kernel, sizes, local)
        queue.finish()
        took = time.perf_counter() - start
        spent += took
        if took < 0.05:
            launches *= 2
        else:
            least = min(least, took / launches)
    return min(least, took / launches)


def run_platform(wanted, scale):
    import numpy as np
    import pyopencl as cl

    device = find_device(cl, wanted)
    times = {"first": time_first_launch(cl, np, device)}
    queue = cl.CommandQueue(cl.Context([device]))
    program = cl.Program(queue.context, SOURCE.read_text()).build(cache_dir=False)
    for case in build_cases(np, SCALES[scale]):
        times[case[0]] = run_case(cl, np, queue, program, case)
    print(json.dumps({"device": f"{device.platform.name}, {device.name}", "times": times}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="+")
    parser.add_argument("--scale", choices=SCALES, default="small")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return run_platform(options.platforms[0], options.scale)
    best, names = {}, {}
    for _ in range(options.rounds):
        for wanted in options.platforms:
            command = [sys.executable, __file__, "--child", "--scale", options.scale, wanted]
            told = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
            report = json.loads(told.splitlines()[-1])
            names[wanted] = report["device"]
            for case, took in report["times"].items():
                best[wanted, case] = min(took, best.get((wanted, case), math.inf))
    first, *others = options.platforms
    print("| kernel, µs | " + " | ".join(names[p] for p in options.platforms) + " | faster by |")
    print("| --- " * (len(options.platforms) + 2) + "|")
    ratios = {other: [] for other in others}
    for case in [case for wanted, case in best if wanted == first]:
        row = [f"{best[p, case] * 1e6:.1f}" for p in options.platforms]
        shown = [best[other, case] / best[first, case] for other in others]
        if case != "first":
            for other, ratio in zip(others, shown):
                ratios[other].append(ratio)
        print(f"| {case} | " + " | ".join(row) + " | " + ", ".join(f"{r:.2f}" for r in shown) + " |")
    means = [math.exp(sum(map(math.log, r)) / len(r)) for r in ratios.values()]
    print("| geometric mean " + "| " * (len(options.platforms) + 1) + ", ".join(f"{m:.2f}" for m in means) + " |")


if __name__ == "__main__":
    main()
