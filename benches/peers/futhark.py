"""Futhark's benchmarks by its own GPU back ends and by Spirula, in the same minutes.

    python3 benches/peers/futhark.py sources FOLDER [NAME…]
    python3 benches/peers/futhark.py run FOLDER --spirula PATH [--device vulkan] [--platform NVIDIA] [NAME…]

The first writes C for CUDA and OpenCL to a folder, where futhark is; the second compiles that where the GPU is, measures all
three on each data set that is a file of the corpus (SPIRULA_CORPUS), and writes a table of medians with the geometric means of ours
by theirs. Arguments and results stay on the device; files of tuning parameters are heeded by all.
"""

import argparse
import gzip
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

CORPUS = os.path.join(os.environ["SPIRULA_CORPUS"], "futhark")
LIBRARIES = {
    "opencl": ["-lOpenCL"],
    "cuda": "-I/usr/local/cuda/include -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs -lcuda -lcudart -lnvrtc".split(),
}
# Runs of a data set, and seconds after which a back end is given up.
RUNS, PATIENCE = 15, 20
CASE = re.compile(r"^\s*(?:compiled\s+)?input\s*@\s*(\S+)", re.MULTILINE)


def programs(names):
    """Dump and source of the programs that have data."""
    with open(os.path.join(CORPUS, "imp", "INDEX.tsv")) as index:
        rows = [line.split("\t") for line in index][1:]
    for dump, source, _, _, inputs, *_ in rows:
        name = dump.removesuffix(".fut.imp.gz")
        wanted = not names or any(wanted in name for wanted in names)
        if wanted and source.startswith("benchmarks/") and int(inputs or 0) > 0:
            yield name, source


def cases(source):
    """Entry point, name and path of each data set that is a file."""
    path = os.path.join(CORPUS, source)
    text = open(path).read()
    for block in re.findall(r"^-- ==\n((?:--.*\n)+)", text, re.MULTILINE):
        block = re.sub(r"^--", "", block, flags=re.MULTILINE)
        entries = re.search(r"entry:\s*(.*)", block)
        for entry in entries.group(1).split() if entries else ["main"]:
            for data in CASE.findall(block):
                there = os.path.join(os.path.dirname(path), data)
                if os.path.exists(there):
                    yield entry, data, there


def sources(folder, names):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as empty:
        # Futhark calls the compiler of the machine that it is on.
        nothing = shutil.which("true")
        for compiler in ("cc", "gcc"):
            os.symlink(nothing, os.path.join(empty, compiler))
        path = empty + os.pathsep + os.environ["PATH"]
        environment = os.environ | {"PATH": path, "CC": "cc"}
        for name, source in programs(names):
            for backend in LIBRARIES:
                out = os.path.join(folder, f"{name}.{backend}")
                command = ["futhark", backend, os.path.join(CORPUS, source), "-o", out]
                done = subprocess.run(command, env=environment, capture_output=True)
                # CUDA 13 has a parameter more.
                if done.returncode == 0:
                    text = open(out + ".c").read()
                    old, new = "(&ctx->cu_ctx, 0, ctx->dev)", "(&ctx->cu_ctx, NULL, 0, ctx->dev)"
                    open(out + ".c", "w").write(text.replace("cuCtxCreate" + old, "cuCtxCreate" + new))
                else:
                    print(f"{name}: futhark {backend} failed", file=sys.stderr)


def ours(name, source, options):
    """Median time of each data set, µs."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [options.spirula, "bench", os.path.join(CORPUS, "imp"), "--device", options.device]
        command += ["--filter", source, "--timeout", str(PATIENCE), "--json", out.name]
        subprocess.run(command, capture_output=True)
        text = open(out.name).read()
    measured = {}
    for program, data in json.loads(text or "{}").items():
        entry = program.partition(":")[2] or "main"
        for dataset, found in data["datasets"].items():
            measured[entry, dataset] = statistics.median(found["runtimes"])
    return measured


def theirs(program, entry, data, source, options):
    """Median time of a back end, µs, or none where it fails."""
    tuning = os.path.join(CORPUS, source + ".tuning")
    command = [program, "-b", "-r", str(RUNS), "-e", entry]
    command += [f"--tuning={tuning}"] if os.path.exists(tuning) else []
    command += ["-p", options.platform] if program.endswith("opencl") and options.platform else []
    opened = gzip.open if data.endswith(".gz") else open
    with opened(data, "rb") as file, tempfile.NamedTemporaryFile() as times:
        given = file.read()
        try:
            subprocess.run(command + ["-t", times.name], input=given, capture_output=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return None
        found = times.read().split()
    return statistics.median(map(float, found)) if found else None


def run(folder, names, options):
    print("| program | data | ours, µs | OpenCL, µs | CUDA, µs |\n| --- | --- | --- | --- | --- |")
    ratios = {backend: [] for backend in LIBRARIES}
    for name, source in programs(names):
        own = ours(name, source, options)
        built = {}
        for backend, libraries in LIBRARIES.items():
            out = os.path.join(folder, f"{name}.{backend}")
            command = ["gcc", "-w", "-O1", out + ".c", "-o", out, *libraries, "-lm"]
            if subprocess.run(command, capture_output=True).returncode == 0:
                built[backend] = os.path.abspath(out)
        for entry, dataset, data in cases(source):
            time = own.get((entry, dataset))
            cells = []
            for backend in LIBRARIES:
                peer = built.get(backend) and theirs(built[backend], entry, data, source, options)
                if peer and time:
                    ratios[backend].append(time / peer)
                cells.append(f"{peer:.0f}" if peer else "")
            print(f"| {name} {entry} | {dataset} | {time and round(time)} | {' | '.join(cells)} |", flush=True)
    for backend, found in ratios.items():
        if found:
            mean = math.exp(statistics.fmean(map(math.log, found)))
            print(f"\nOf the time of {backend}, geometric mean of {len(found)}: {mean:.2f}; most {max(found):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["sources", "run"])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--spirula", default="spirula")
    parser.add_argument("--device", default="vulkan")
    parser.add_argument("--platform", help="part of the name of OpenCL's platform")
    options = parser.parse_intermixed_args()
    if options.what == "sources":
        sources(options.folder, options.names)
    else:
        run(options.folder, options.names, options)


main()
