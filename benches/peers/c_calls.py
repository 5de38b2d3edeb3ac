"""Calls through the C interface of Spirula, and through Futhark's own for several processors, in turns.

    python3 benches/peers/c_calls.py --spirula PATH [--libraries FOLDER] [--backend multicore]

A dot product of two arrays is called again and again. The table has the least time of a call by each, and ours by theirs. The
folder has libspirula_futhark_c; by default it is that of the command.
"""

import argparse
import os
import subprocess
import tempfile

SOURCE = "entry dot [n] (xs: [n]f32) (ys: [n]f32) : f32 = f32.sum (map2 (*) xs ys)\n"
# Lengths, and calls of each in a turn.
LENGTHS = {10: 2000, 100_000: 300, 20_000_000: 10}
TURNS = 5

CALLER = r"""
#include "dot.h"
#include <stdlib.h>
#include <time.h>

static double read_clock(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

int main(int count, char **arguments) {
  long length = atol(arguments[count - 2]), calls = atol(arguments[count - 1]);
  float *data = malloc(length * sizeof *data), sum;
  for (long i = 0; i < length; i++) data[i] = 1;
  struct futhark_context_config *cfg = futhark_context_config_new();
  struct futhark_context *ctx = futhark_context_new(cfg);
  struct futhark_f32_1d *xs = futhark_new_f32_1d(ctx, data, length);
  struct futhark_f32_1d *ys = futhark_new_f32_1d(ctx, data, length);
  double least = 1e30;
  for (long i = -2; i < calls; i++) {
    double start = read_clock();
    if (futhark_entry_dot(ctx, &sum, xs, ys) != 0 || futhark_context_sync(ctx) != 0) return 1;
    double time = read_clock() - start;
    if (i >= 0 && time < least) least = time;
  }
  printf("%.3f\n", least);
  futhark_free_f32_1d(ctx, xs);
  futhark_free_f32_1d(ctx, ys);
  futhark_context_free(ctx);
  futhark_context_config_free(cfg);
  return sum != length;
}
"""


def build(folder, generate, links):
    """Generates an interface in a folder of its own, and compiles the caller with it."""
    os.mkdir(folder)
    for name, text in [("dot.fut", SOURCE), ("caller.c", CALLER)]:
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    subprocess.run([*generate, "dot.fut", "-o", "dot"], cwd=folder, check=True)
    compiler = ["cc", "-O3", "-std=gnu99", "caller.c", "dot.c", "-o", "caller", *links, "-lm", "-lpthread"]
    subprocess.run(compiler, cwd=folder, check=True)
    return os.path.join(folder, "caller")


def measure(caller, length, calls, libraries):
    """The least time of a call, in microseconds."""
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
    command = [caller, str(length), str(calls)]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spirula", required=True)
    parser.add_argument("--libraries")
    parser.add_argument("--backend", default="multicore")
    options = parser.parse_args()
    spirula = os.path.abspath(options.spirula)
    libraries = os.path.abspath(options.libraries or os.path.dirname(spirula))
    with tempfile.TemporaryDirectory() as folder:
        ours = build(os.path.join(folder, "ours"), [spirula, "compile", "--library"], ["-L", libraries, "-lspirula_futhark_c"])
        theirs = build(os.path.join(folder, "theirs"), ["futhark", options.backend, "--library"], [])
        print(f"| elements | ours, µs | futhark {options.backend}, µs | ours by theirs |\n| --- | --- | --- | --- |")
        for length, calls in LENGTHS.items():
            turns = [[measure(caller, length, calls, libraries) for caller in (ours, theirs)] for _ in range(TURNS)]
            least = [min(times) for times in zip(*turns)]
            print(f"| {length} | {least[0]:.2f} | {least[1]:.2f} | {least[0] / least[1]:.2f} |")


main()
