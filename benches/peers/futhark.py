"""Futhark's benchmarks from source: Spirula beside its own path over the printed form and Futhark's back ends, in the same minutes.

    python3 benches/peers/futhark.py compile FOLDER [--peers cuda,opencl,…] [NAME…]
    python3 benches/peers/futhark.py run FOLDER --spirula PATH --futhark PATH [--device vulkan] [--peers …] [--platform NVIDIA] [NAME…]

The first makes a copy of the benchmarks (SPIRULA_CORPUS) per peer and writes C, or the printed form, beside each program, where futhark
is. The second compiles the C on the machine of the devices, measures each data set by all, and writes a table of medians with the
geometric means of ours by theirs. The peers are `printed`, `cuda`, `opencl`, `multicore` and `c`. Every kind of data set is measured:
files, values in the source, random ones, and those of scripts. Files of tuning parameters are heeded by Futhark's back ends.
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
    "multicore": ["-lpthread"],
    "c": [],
}
PRINTED = "printed"
# Least runs of a data set, and seconds after which it is given up; a program is after more, as random values are made, too.
RUNS, PATIENCE, PROGRAM_PATIENCE = 10, 10, 60
# A data set in a file, with its expected values.
CASE = re.compile(r"^--\s*(?:\w+ )*input @ *(\S+).*\n(?:--\s*output @.*\n)?", re.MULTILINE)
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


def prepare_source(path):
    """Leaves out of a copied source the data sets whose files are missing, and what keeps `futhark bench` from measuring the others."""
    text = open(path).read()
    folder = os.path.dirname(path)
    text = CASE.sub(lambda case: case[0] if os.path.exists(os.path.join(folder, case[1])) else "", text)
    # A back end named by a tag skips the program, and expected values that are computed need a reference compiler.
    text = re.sub(r"^-- (?:compiled )?tags \{.*\n", "", text, flags=re.MULTILINE).replace(" auto output", "")
    open(path, "w").write(text)


def write_printed(path):
    """Writes the printed form beside a source."""
    done = subprocess.run(["futhark", "dev", "-w", "--gpu-mem", "--compile-imp-gpu", path], capture_output=True)
    if done.returncode != 0:
        return f"{path}: futhark dev failed"
    open(path + ".imp", "wb").write(done.stdout)


def write_c(folder, backend, program, environment):
    """Writes the C program of a back end beside its source."""
    path = os.path.join(folder, backend, program)
    if backend == PRINTED:
        return write_printed(path)
    out = path.removesuffix(".fut")
    done = subprocess.run(["futhark", backend, "--server", path, "-o", out], env=environment, capture_output=True)
    if done.returncode != 0:
        return f"{program}: futhark {backend} failed"
    text = open(out + ".c").read()
    open(out + ".c", "w").write(CONTEXT.sub(r"cuCtxCreate(&\1, NULL, 0, ", text))


def compile_sources(folder, names, peers):
    corpus = os.path.join(os.environ["SPIRULA_CORPUS"], "futhark", "benchmarks")
    for peer in peers:
        shutil.copytree(corpus, os.path.join(folder, peer), dirs_exist_ok=True)
        subprocess.run(["chmod", "-R", "u+w", folder], check=True)
        for program in programs(corpus, names):
            prepare_source(os.path.join(folder, peer, program))
    with tempfile.TemporaryDirectory() as empty:
        # Futhark calls the compiler of the machine that it is on.
        for compiler in ("cc", "gcc"):
            os.symlink(shutil.which("true"), os.path.join(empty, compiler))
        environment = os.environ | {"PATH": empty + os.pathsep + os.environ["PATH"], "CC": "cc"}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            work = [(folder, backend, program, environment) for program in programs(corpus, names) for backend in peers]
            for failure in pool.map(lambda item: write_c(*item), work):
                if failure:
                    print(failure, file=sys.stderr)


def build(folder, backend, program):
    """Makes the program that `futhark bench` starts."""
    out = os.path.join(folder, backend, program).removesuffix(".fut")
    if os.path.exists(out + ".c") and not os.path.exists(out):
        level = "-O1" if backend in ("cuda", "opencl") else "-O3"
        subprocess.run(["gcc", "-w", level, out + ".c", "-o", out, *LIBRARIES[backend], "-lm"], capture_output=True)


def measure(command, program):
    """Median time of each data set of a program, µs."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        try:
            subprocess.run([*command, "--json", out.name, program], capture_output=True, timeout=PROGRAM_PATIENCE)
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


def run(folder, names, options, peers):
    ours = [options.spirula, "bench", "--device", options.device, "--timeout", str(PATIENCE)]
    commands = {"ours": ours}
    for peer in peers:
        commands[peer] = [options.futhark, "bench", f"--backend={peer}", "--skip-compilation", "--no-convergence-phase"]
        commands[peer] += [f"--runs={RUNS}", f"--timeout={PATIENCE}"]
    if options.threads:
        ours += ["--threads", str(options.threads)]
        if "multicore" in commands:
            commands["multicore"] += [f"--pass-option=--num-threads={options.threads}"]
    if PRINTED in peers:
        commands[PRINTED] = [*ours, "--printed"]
    if options.platform and "opencl" in commands:
        commands["opencl"] += [f"--pass-option=-p{options.platform}"]
    found = list(programs(os.path.join(folder, peers[0]), names))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for peer in peers:
            list(pool.map(lambda program: build(folder, peer, program), found))
    print("| program | data |", " | ".join(f"{who}, µs" for who in commands), "|\n|", " --- |" * (2 + len(commands)), flush=True)
    ratios = {peer: [] for peer in peers}
    for program in found:
        trees = {who: who if who in peers else peers[0] for who in commands}
        times = {who: measure(command, os.path.join(folder, trees[who], program)) for who, command in commands.items()}
        for key in sorted(set().union(*times.values())):
            cells = [times[who].get(key) for who in commands]
            for peer, cell in zip(peers, cells[1:]):
                if cells[0] and cell:
                    ratios[peer].append(cells[0] / cell)
            shown = " | ".join(str(round(cell)) if cell else "" for cell in cells)
            print(f"| {program.removesuffix('.fut')} {key[0]} | {key[1]} | {shown} |", flush=True)
    for peer, each in ratios.items():
        if each:
            mean = math.exp(statistics.fmean(map(math.log, each)))
            print(f"\nOf the time of {peer}, geometric mean of {len(each)}: {mean:.2f}; most {max(each):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["compile", "run"])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--spirula", default="spirula")
    parser.add_argument("--futhark", default="futhark")
    parser.add_argument("--device", default="vulkan")
    parser.add_argument("--peers", default="cuda,opencl", help="of printed, cuda, opencl, multicore and c")
    parser.add_argument("--threads", type=int, help="of the CPU device and of multicore")
    parser.add_argument("--platform", help="part of the name of OpenCL's platform")
    options = parser.parse_intermixed_args()
    if options.what == "compile":
        compile_sources(options.folder, options.names, options.peers.split(","))
    else:
        run(options.folder, options.names, options, options.peers.split(","))


main()
