"""Accesses to images by OpenCL, on this driver and on others, in turns.

    python3 benches/peers/opencl_images.py [--rounds 3] Spirula 'Portable Computing Language'

The arguments are parts of the names of platforms. Each round runs all platforms one after another, each in a process of its
own. An invocation makes 16 accesses to an image of 256 by 256 texels, or of 64 by 32 by 32. A time is that of one access in
nanoseconds, the least of all rounds. What kernels read is compared with what the first platform read. It needs pyopencl.

The last columns are how many times faster the first platform is than each other one; the last row is the geometric mean.
"""

import argparse
import json
import math
import subprocess
import sys
import time

ITEMS, ACCESSES = 1 << 16, 16

ACCESS = {
    "read": ("read_only", "read_imageT(i, P)"),
    "nearest": ("read_only", "read_imageT(i, near, P)"),
    "nearest float": ("read_only", "read_imageT(i, edge, F(P) + 0.25f)"),
    "repeat": ("read_only", "read_imageT(i, wrap, F(P) * 0.0117f)"),
    "linear": ("read_only", "read_imageT(i, smooth, F(P) + 0.25f)"),
    "border": ("read_only", "read_imageT(i, black, F(P) * 1.25f - 32.0f)"),
    "border, linear": ("read_only", "read_imageT(i, fade, F(P) * 1.25f - 32.0f)"),
    "write": ("write_only", "write_imageT(i, P, V(g))"),
}

HEAD = """
constant sampler_t near = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t wrap = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;
constant sampler_t black = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t fade = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
constant sampler_t smooth = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
"""

KERNEL = """
kernel void accesses(QUALIFIER IMAGE i, global VALUE *out) {
  int g = get_global_id(0);
  VALUE sum = 0;
  for (int k = 0; k < 16; k++) ACCESS;
  out[g] = sum;
}
"""

# Types of images with the place of access `k` and its conversion to numbers.
SHAPES = {
    "1D": ("image1d_t", "((g + k) & 255)", "convert_float"),
    "buffer": ("image1d_buffer_t", "((g + k) & 255)", "convert_float"),
    "2D": ("image2d_t", "((int2)((g + k) & 255, (g >> 8) & 255))", "convert_float2"),
    "2D array": ("image2d_array_t", "((int4)((g + k) & 63, (g >> 6) & 31, (g >> 11) & 31, 0))", "convert_float4"),
    "3D": ("image3d_t", "((int4)((g + k) & 63, (g >> 6) & 31, (g >> 11) & 31, 0))", "convert_float4"),
}

# Shape, order and type of the texels, letter of the built-in functions, accesses.
CASES = [
    ("2D", "RGBA", "UNORM_INT8", "f", ["read", "nearest", "nearest float", "repeat", "linear", "border", "border, linear", "write"]),
    ("2D", "RGBA", "FLOAT", "f", ["read", "nearest", "nearest float", "repeat", "linear", "write"]),
    ("2D", "R", "FLOAT", "f", ["nearest", "linear", "write"]),
    ("2D", "R", "UNORM_INT8", "f", ["nearest", "linear", "write"]),
    ("2D", "BGRA", "UNORM_INT8", "f", ["nearest", "write"]),
    ("2D", "RGBA", "HALF_FLOAT", "f", ["nearest", "linear", "write"]),
    ("2D", "RGBA", "UNSIGNED_INT8", "ui", ["nearest", "nearest float", "write"]),
    ("2D", "R", "SIGNED_INT32", "i", ["nearest", "write"]),
    ("2D", "RG", "HALF_FLOAT", "f", ["nearest", "write"]),
    ("2D", "RGBA", "UNSIGNED_INT16", "ui", ["nearest", "write"]),
    ("2D", "A", "UNORM_INT8", "f", ["nearest", "linear", "write"]),
    ("2D array", "RGBA", "UNORM_INT8", "f", ["nearest", "linear"]),
    ("1D", "RGBA", "FLOAT", "f", ["nearest", "write"]),
    ("buffer", "RGBA", "FLOAT", "f", ["read", "write"]),
    ("3D", "RGBA", "UNORM_INT8", "f", ["nearest", "linear"]),
]

LETTERS = {"f": "float4", "i": "int4", "ui": "uint4"}


def find_device(cl, wanted):
    for platform in cl.get_platforms():
        if wanted in platform.name:
            return platform.get_devices()[0]
    sys.exit(f"no platform of OpenCL is called {wanted}")


def make_source(shape, letter, access):
    image, place, convert = SHAPES[shape]
    qualifier, call = ACCESS[access]
    for name, text in {"T(": letter + "(", "P": place, "F(": convert + "(", "V(": f"({LETTERS[letter]})("}.items():
        call = call.replace(name, text)
    if access != "write":
        call = "sum += " + call
    parts = {"QUALIFIER": qualifier, "IMAGE": image, "VALUE": LETTERS[letter], "ACCESS": call}
    text = KERNEL
    for name, part in parts.items():
        text = text.replace(name, part)
    return HEAD + text


def make_image(cl, np, context, case):
    shape, order, kind, letter, _ = case
    format = cl.ImageFormat(getattr(cl.channel_order, order), getattr(cl.channel_type, kind))
    sizes = {"1D": (256,), "buffer": (256,), "2D": (256, 256), "2D array": (64, 32, 32), "3D": (64, 32, 32)}[shape]
    bytes_of_texel = format.itemsize
    words = np.random.default_rng(7).integers(0, 256, math.prod(sizes) * bytes_of_texel).astype(np.uint8)
    if kind in ("FLOAT", "HALF_FLOAT"):
        number = {"FLOAT": np.float32, "HALF_FLOAT": np.float16}[kind]
        words = (words[: words.size // number().itemsize] / 16).astype(number)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    if shape == "buffer":
        buffer = cl.Buffer(context, flags, hostbuf=words)
        type = cl.mem_object_type.IMAGE1D_BUFFER
        return cl.Image(context, cl.mem_flags.READ_WRITE, format, desc=describe(cl, type, sizes[0], buffer)), buffer
    return cl.create_image(context, flags, format, sizes, hostbuf=words, is_array=shape == "2D array"), words


def describe(cl, type, width, buffer):
    description = cl.ImageDescriptor()
    description.image_type = type
    description.shape = (width, 1, 1)
    description.array_size = 0
    description.pitches = (0, 0)
    description.num_mip_levels = 0
    description.num_samples = 0
    description.buffer = buffer
    return description


def run_case(cl, np, queue, case, access):
    source = make_source(case[0], case[3], access)
    kernel = cl.Kernel(cl.Program(queue.context, source).build(["-cl-std=CL1.2"], cache_dir=False), "accesses")
    image, kept = make_image(cl, np, queue.context, case)
    out = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, ITEMS * 16)
    kernel.set_args(image, out)
    least = math.inf
    for _ in range(6):
        start = time.perf_counter()
        cl.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), (256,))
        queue.finish()
        least = min(least, time.perf_counter() - start)
    result = np.empty(ITEMS * 4, {"f": np.float32, "i": np.int32, "ui": np.uint32}[case[3]])
    cl.enqueue_copy(queue, result, out)
    total = float(result.astype(np.float64).sum())
    return least / ITEMS / ACCESSES * 1e9, total


def run_platform(wanted):
    import numpy as np
    import pyopencl as cl

    device = find_device(cl, wanted)
    queue = cl.CommandQueue(cl.Context([device]))
    times = {}
    for case in CASES:
        for access in case[4]:
            name = f"{case[0]} {case[1]} {case[2]}, {access}"
            try:
                times[name] = run_case(cl, np, queue, case, access)
            except cl.Error as error:
                print(f"{name}: {error}", file=sys.stderr)
    print(json.dumps({"device": f"{device.platform.name}, {device.name}", "times": times}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return run_platform(options.platforms[0])
    best, totals, names = {}, {}, {}
    for _ in range(options.rounds):
        for wanted in options.platforms:
            command = [sys.executable, __file__, "--child", wanted]
            told = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
            report = json.loads(told.splitlines()[-1])
            names[wanted] = report["device"]
            for case, (took, total) in report["times"].items():
                best[wanted, case] = min(took, best.get((wanted, case), math.inf))
                totals[wanted, case] = total
    print_table(options.platforms, names, best, totals)


def print_table(platforms, names, best, totals):
    first, *others = platforms
    print("| access, ns | " + " | ".join(names[p] for p in platforms) + " | faster by |")
    print("| --- " * (len(platforms) + 2) + "|")
    ratios = {other: [] for other in others}
    for case in [case for wanted, case in best if wanted == first]:
        row = [f"{best[p, case]:.1f}" if (p, case) in best else "–" for p in platforms]
        shown = []
        for other in [other for other in others if (other, case) in best]:
            ratios[other].append(best[other, case] / best[first, case])
            shown.append(f"{ratios[other][-1]:.2f}")
            if not math.isclose(totals[other, case], totals[first, case], rel_tol=1e-4, abs_tol=1e-3):
                print(f"{case}: {totals[first, case]}, not {totals[other, case]}", file=sys.stderr)
        print(f"| {case} | " + " | ".join(row) + " | " + ", ".join(shown) + " |")
    means = [math.exp(sum(map(math.log, r)) / len(r)) for r in ratios.values() if r]
    print("| geometric mean " + "| " * (len(platforms) + 1) + ", ".join(f"{m:.2f}" for m in means) + " |")


if __name__ == "__main__":
    main()
