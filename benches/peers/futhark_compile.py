"""Processor time of compiling Futhark's benchmarks from source, by Spirula and by Futhark.

    python3 benches/peers/futhark_compile.py [--spirula PATH] [--rounds N] [NAME…]

Spirula writes a program with optimised SPIR-V, and `futhark opencl --library` writes C with OpenCL. Both begin with the source of
the programs in `benchmarks.tsv` of the corpus (SPIRULA_CORPUS). The least time of each counts. The table begins with what takes Futhark longest.
"""

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile

CORPUS = os.path.join(os.environ["SPIRULA_CORPUS"], "futhark")


def processor_time(command):
    """Seconds, or none if the command fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    return None if status else used.ru_utime + used.ru_stime


def least_time(command, rounds):
    times = [processor_time(command) for _ in range(rounds)]
    return None if None in times else min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--spirula", default="target/release/spirula")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with open(os.path.join(CORPUS, "benchmarks.tsv")) as table:
        programs = [line.split("\t")[0] for line in table][1:]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            if options.names and not any(name in program for name in options.names):
                continue
            source = os.path.join(CORPUS, "benchmarks", program)
            own = [options.spirula, "compile", source, "-o", os.path.join(folder, "own.spb")]
            peer = ["futhark", "opencl", "--library", source, "-o", os.path.join(folder, "peer")]
            ours, theirs = least_time(own, options.rounds), least_time(peer, options.rounds)
            if ours and theirs:
                rows.append((theirs, ours, program))
            else:
                failed = "futhark" if ours else "spirula"
                print(f"{program}: {failed} failed", file=sys.stderr)
    print("| program | ours, ms | Futhark, ms | Futhark by ours |\n| --- | --- | --- | --- |")
    for theirs, ours, program in sorted(rows, reverse=True):
        print(f"| {program} | {ours * 1e3:.0f} | {theirs * 1e3:.0f} | {theirs / ours:.1f} |")
    mean = math.exp(statistics.fmean(math.log(theirs / ours) for theirs, ours, _ in rows))
    print(f"\nGeometric mean of {len(rows)} programs: {mean:.1f}")


main()
