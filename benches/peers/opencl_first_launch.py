"""Compares the time of a first launch in OpenCL on platforms: build of a source, kernel, launch, and its end.

    OCL_ICD_VENDORS=FOLDER python3 benches/peers/opencl_first_launch.py [--rounds 6] PLATFORM …

Each measurement is a process of its own, and platforms take turns. A platform is named by the beginning of its name, on its first
device. A round without caches gives each process an empty folder for `SPIRULA_CACHE_DIR` and `POCL_CACHE_DIR`. Medians are
shown, with the ratio of the first platform to each.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint64
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "crates/bindings/opencl-icd/suite"))
from smoke import DEVICE_TYPE_ALL, PLATFORM_NAME, Loader  # noqa: E402

SOURCE = b"""kernel void first(global float *a, int n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += sin(a[get_global_id(0)] + k);
    a[get_global_id(0)] = sum;
}"""
COUNT, GROUP = 1024, 64


def measure_platform(name):
    """Milliseconds of the first launch on a platform."""
    cl = Loader("libOpenCL.so.1")
    platforms = cl.list("clGetPlatformIDs")
    named = [p for p in platforms if cl.ask_text("clGetPlatformInfo", p, PLATFORM_NAME).startswith(name)]
    if not named:
        sys.exit(f"error: there is no platform {name}")
    device = cl.list("clGetDeviceIDs", named[0], c_uint64(DEVICE_TYPE_ALL))[0]
    context = cl.create("clCreateContext", None, 1, byref(device), None, None)
    queue = cl.create("clCreateCommandQueueWithProperties", context, device, None)
    numbers = (c_float * COUNT)()
    buffer = cl.create("clCreateBuffer", context, c_uint64(0), c_size_t(4 * COUNT), None)
    begun = time.perf_counter()
    program = cl.create("clCreateProgramWithSource", context, 1, byref(c_char_p(SOURCE)), None)
    cl.call("clBuildProgram", program, 1, byref(device), None, None, None)
    kernel = cl.create("clCreateKernel", program, b"first")
    cl.call("clSetKernelArg", kernel, 0, c_size_t(8), byref(buffer))
    cl.call("clSetKernelArg", kernel, 1, c_size_t(4), byref(c_int(8)))
    sizes = byref(c_size_t(COUNT)), byref(c_size_t(GROUP))
    cl.call("clEnqueueNDRangeKernel", queue, kernel, 1, None, *sizes, 0, None, None)
    cl.call("clFinish", queue)
    taken = 1000 * (time.perf_counter() - begun)
    cl.call("clEnqueueReadBuffer", queue, buffer, 1, c_size_t(0), c_size_t(4 * COUNT), byref(numbers), 0, None, None)
    return taken


def run_process(name, folder):
    caches = {"SPIRULA_CACHE_DIR": f"{folder}/spirula", "POCL_CACHE_DIR": f"{folder}/pocl"}
    command = [sys.executable, __file__, "--measure", name]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | caches)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return float(done.stdout)


def measure_rounds(names, rounds, is_warm):
    """Times by platform."""
    times = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as kept:
        if is_warm:
            for name in names:
                run_process(name, kept)
        for _ in range(rounds):
            for name in names:
                with tempfile.TemporaryDirectory() as empty:
                    times[name].append(run_process(name, kept if is_warm else empty))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--measure", metavar="PLATFORM", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(measure_platform(options.measure))
        return
    if not options.platforms:
        parser.error("name at least one platform")
    print("| caches | platform | median, ms | least, ms | first platform / this one |\n| --- | --- | --- | --- | --- |")
    for caches in ("empty", "warm"):
        times = measure_rounds(options.platforms, options.rounds, caches == "warm")
        first = statistics.median(times[options.platforms[0]])
        for name, taken in times.items():
            median = statistics.median(taken)
            print(f"| {caches} | {name} | {median:.1f} | {min(taken):.1f} | {first / median:.2f} |")


if __name__ == "__main__":
    main()
