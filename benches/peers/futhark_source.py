"""Futhark's benchmarks from source: Spirula beside Futhark's CUDA and OpenCL back ends, in the same minutes.

    python3 benches/peers/futhark_source.py compile FOLDER [NAME…]
    python3 benches/peers/futhark_source.py run FOLDER --spirula PATH --futhark PATH [--platform NVIDIA] [NAME…]

The first makes a copy of the benchmarks (SPIRULA_CORPUS) per back end and writes C beside each program, where futhark is. The
second compiles the C where the GPU is, measures each data set by all three, and writes a table of medians with the geometric means of
ours by theirs. Every kind of data set is measured: files, values in the source, random ones, and those of scripts. Files of tuning
parameters are heeded by Futhark's back ends.
"""

import argparse
import concurrent.futures
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

LIBRARIES = {
    "opencl": ["-lOpenCL"],
    "cuda": "-I/usr/local/cuda/include -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs -lcuda -lcudart -lnvrtc".split(),
}
# Least runs of a data set, and seconds after which it is given up; a program is after three times as many.
RUNS, PATIENCE = 10, 10
# CUDA 13 has a parameter more.
CONTEXT = re.compile(r"cuCtxCreate\(&([^,]*), 0, ")


def programs(folder, names):
    """Programs with data sets that belong to no package, relative to the folder."""
    for place, _, files in sorted(os.walk(folder)):
        for file in sorted(files):
            path = os.path.relpath(os.path.join(place, file), folder)
            wanted = not names or any(name in path for name in names)
            if file.endswith(".fut") and wanted and "lib/" not in path:
                text = open(os.path.join(place, file)).read()
                if re.search(r"^-- ==", text, re.MULTILINE) and re.search(r"^--.*input", text, re.MULTILINE):
                    yield path


def write_c(folder, backend, program, environment):
    """Writes the C program of a back end beside its source."""
    path = os.path.join(folder, backend, program)
    out = path.removesuffix(".fut")
    done = subprocess.run(["futhark", backend, "--server", path, "-o", out], env=environment, capture_output=True)
    if done.returncode != 0:
        return f"{program}: futhark {backend} failed"
    text = open(out + ".c").read()
    open(out + ".c", "w").write(CONTEXT.sub(r"cuCtxCreate(&\1, NULL, 0, ", text))


def compile_sources(folder, names):
    corpus = os.path.join(os.environ["SPIRULA_CORPUS"], "futhark", "benchmarks")
    for backend in LIBRARIES:
        shutil.copytree(corpus, os.path.join(folder, backend), dirs_exist_ok=True)
        subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    with tempfile.TemporaryDirectory() as empty:
        # Futhark calls the compiler of the machine that it is on.
        for compiler in ("cc", "gcc"):
            os.symlink(shutil.which("true"), os.path.join(empty, compiler))
        environment = os.environ | {"PATH": empty + os.pathsep + os.environ["PATH"], "CC": "cc"}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            work = [(folder, backend, program, environment) for program in programs(corpus, names) for backend in LIBRARIES]
            for failure in pool.map(lambda item: write_c(*item), work):
                if failure:
                    print(failure, file=sys.stderr)


def build(folder, backend, program):
    """Whether a program that Futhark calls exists for the back end."""
    out = os.path.join(folder, backend, program).removesuffix(".fut")
    command = ["gcc", "-w", "-O1", out + ".c", "-o", out, *LIBRARIES[backend], "-lm"]
    return os.path.exists(out + ".c") and subprocess.run(command, capture_output=True).returncode == 0


def measure(command, program):
    """Median time of each data set of a program, µs."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        try:
            subprocess.run([*command, "--json", out.name, program], capture_output=True, timeout=3 * PATIENCE)
        except subprocess.TimeoutExpired:
            return {}
        text = open(out.name).read()
    measured = {}
    for name, data in json.loads(text or "{}").items():
        entry = name.partition(":")[2] or "main"
        for dataset, found in data["datasets"].items():
            if isinstance(found, dict):
                # Futhark names the type of a number of 32 bits where the source leaves it out.
                dataset = re.sub(r"\b(\d+)i32\b", r"\1", dataset)
                measured[entry, dataset] = statistics.median(found["runtimes"])
    return measured


def run(folder, names, options):
    commands = {"ours": [options.spirula, "bench", "--device", options.device, "--timeout", str(PATIENCE)]}
    backends = options.backends.split(",")
    for backend in backends:
        commands[backend] = [options.futhark, "bench", f"--backend={backend}", "--skip-compilation", "--no-convergence-phase"]
        commands[backend] += [f"--runs={RUNS}", f"--timeout={PATIENCE}"]
    if options.platform and "opencl" in commands:
        commands["opencl"] += [f"--pass-option=-p{options.platform}"]
    found = list(programs(os.path.join(folder, "cuda"), names))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for backend in backends:
            list(pool.map(lambda program: build(folder, backend, program), found))
    print("| program | data |", " | ".join(f"{who}, µs" for who in commands), "|\n|", " --- |" * (2 + len(commands)), flush=True)
    ratios = {backend: [] for backend in backends}
    for program in found:
        trees = {who: who if who in LIBRARIES else backends[0] for who in commands}
        times = {who: measure(command, os.path.join(folder, trees[who], program)) for who, command in commands.items()}
        for key in sorted(set().union(*times.values())):
            cells = [times[who].get(key) for who in commands]
            for backend, peer in zip(backends, cells[1:]):
                if cells[0] and peer:
                    ratios[backend].append(cells[0] / peer)
            shown = " | ".join(str(round(cell)) if cell else "" for cell in cells)
            print(f"| {program.removesuffix('.fut')} {key[0]} | {key[1]} | {shown} |", flush=True)
    for backend, each in ratios.items():
        if each:
            mean = math.exp(statistics.fmean(map(math.log, each)))
            print(f"\nOf the time of {backend}, geometric mean of {len(each)}: {mean:.2f}; most {max(each):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["compile", "run"])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--spirula", default="spirula")
    parser.add_argument("--futhark", default="futhark")
    parser.add_argument("--device", default="vulkan")
    parser.add_argument("--backends", default="opencl,cuda", help="those of Futhark that are measured")
    parser.add_argument("--platform", help="part of the name of OpenCL's platform")
    options = parser.parse_intermixed_args()
    if options.what == "compile":
        compile_sources(options.folder, options.names)
    else:
        run(options.folder, options.names, options)


main()
