"""Runs programs of OpenCL by others on this driver, and writes a table of their results in Markdown.

    python3 run_applications.py --library libspirula_opencl.so --state FOLDER [--device cpu] [APPLICATION …]

The programs are those that are installed: clinfo, clpeak, hashcat and CLBlast's tuners as commands; pyopencl, OpenMM, pyvkfft
and dpnp as packages of this Python, or of the one that `--python` names. What is missing is said in the table. pyopencl's tests
are fetched with pip from its source package. All output is in the folder of the state. The exit code is 1 if a program fails.
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

# Modes of hashcat whose example hash and password are single lines.
HASH_MODES = [0, 100, 300, 400, 500, 900, 1000, 1400, 1700, 1800, 2100, 3000, 3200, 5000, 5600, 6100, 7400, 10000, 10800, 22000]

# Tuners of CLBlast, which compare each variant of a kernel with a reference.
TUNERS = ["copy_fast", "copy_pad", "transpose_fast", "transpose_pad", "xaxpy", "xdot", "xgemv", "xger", "xgemm", "xgemm_direct"]

# Files of dpnp's tests.
DPNP_FILES = ["sort", "sum", "indexing", "linalg", "fft", "statistics", "mathematical", "manipulation", "random", "umath", "histogram", "search"]

Counts = collections.namedtuple("Counts", "passed left_out failed note")


class MissingProgram(Exception):
    """A program or a package is not installed."""


class ApplicationRun:
    """Where and how programs run."""

    def __init__(self, options):
        self.options = options
        self.state = Path(options.state).resolve()
        vendors = self.state / "vendors"
        vendors.mkdir(parents=True, exist_ok=True)
        (vendors / "spirula.icd").write_text(f"{Path(options.library).resolve()}\n")
        self.environment = os.environ | {
            "OCL_ICD_VENDORS": str(vendors),
            "SPIRULA_OPENCL_DEVICES": options.device,
            "PYOPENCL_TEST": "Spirula",
        }

    def run(self, name, command, seconds, folder=None):
        """Runs a command, and returns its output and whether it ended well in its time."""
        if shutil.which(command[0]) is None:
            raise MissingProgram(f"{command[0]} is not installed")
        log = self.state / f"{name}-{self.options.device.replace(':', '')}.log"
        with log.open("w") as out:
            try:
                done = subprocess.run(
                    command, stdout=out, stderr=subprocess.STDOUT, timeout=seconds, cwd=folder or self.state, env=self.environment
                )
                ended = done.returncode == 0
            except subprocess.TimeoutExpired:
                ended = False
        return re.sub(r"\x1b\[[0-9;]*m", "", log.read_text(errors="replace")), ended

    def run_python(self, name, arguments, seconds, folder=None):
        return self.run(name, [self.options.python, *arguments], seconds, folder)

    def require_package(self, package):
        found = subprocess.run([self.options.python, "-c", f"import {package}"], capture_output=True)
        if found.returncode:
            raise MissingProgram(f"this Python has no {package}")

    def run_pytest(self, name, paths, seconds, folder=None):
        options = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
        text, _ = self.run_python(name, [*options, *map(str, paths)], seconds, folder)
        return count_pytest(text)


def count_pytest(text):
    """The counts in the last line of pytest."""
    last = text.strip().splitlines()[-1] if text.strip() else ""
    found = {word: int(number) for number, word in re.findall(r"(\d+) (passed|skipped|failed|error)", last)}
    note = "" if found else "did not end"
    failed = found.get("failed", 0) + found.get("error", 0) + (not found)
    return Counts(found.get("passed", 0), found.get("skipped", 0), failed, note)


def add_counts(rows):
    notes = "; ".join(row.note for row in rows if row.note)
    return Counts(*(sum(row[at] for row in rows) for at in range(3)), notes)


def run_clinfo(run):
    text, ended = run.run("clinfo", ["clinfo"], 100)
    ok = ended and "Spirula" in text
    return Counts(int(ok), 0, int(not ok), "")


def run_clpeak(run):
    text, ended = run.run("clpeak", ["clpeak"], 600)
    ok = ended and "Kernel launch latency" in text
    return Counts(int(ok), 0, int(not ok), "")


def run_clpeak_in_part(run):
    """One kind of kernel, and the latency: the whole takes minutes with a driver that is built for development."""
    text, ended = run.run("clpeak-in-part", ["clpeak", "--compute-sp", "--kernel-latency"], 300)
    ok = ended and "Kernel launch latency" in text
    return Counts(int(ok), 0, int(not ok), "")


def run_pyopencl(run):
    run.require_package("pyopencl")
    folder = run.state / "pyopencl"
    if not folder.exists():
        version = "import importlib.metadata as m; print(m.version('pyopencl'))"
        version = subprocess.run([run.options.python, "-c", version], capture_output=True, text=True, check=True).stdout.strip()
        options = ["--no-deps", "--no-binary", ":all:", "-d", str(folder)]
        text, ended = run.run_python("pyopencl-source", ["-m", "pip", "download", *options, f"pyopencl=={version}"], 600)
        if not ended:
            shutil.rmtree(folder, ignore_errors=True)
            raise MissingProgram("pip does not give the source of pyopencl")
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
    return run.run_pytest("pyopencl", ["."], 1800, next(folder.glob("*/test")))


def run_openmm(run):
    run.require_package("openmm")
    text, ended = run.run_python("openmm", ["-m", "openmm.testInstallation"], 600)
    count = re.search(r"There are (\d+) Platforms", text)
    is_whole = count is not None and text.count("Successfully computed forces") == int(count.group(1))
    ok = ended and is_whole and "OpenCL" in text and "All differences are within tolerance" in text
    return Counts(int(ok), 0, int(not ok), "")


def run_vkfft(run):
    run.require_package("pyvkfft")
    program = str(Path(run.options.python).parent / "pyvkfft-test")
    text, ended = run.run("pyvkfft", [program, "--backend", "pyopencl", "--quick", "--nproc", "1"], 1800)
    return Counts(int(ended), 0, int(not ended), "" if ended else "failed, or did not end")


def run_hashcat(run):
    rows = []
    for mode in HASH_MODES:
        text, _ = run.run(f"hashcat-info-{mode}", ["hashcat", "-m", str(mode), "--hash-info"], 30)
        example = re.search(r"Example\.Hash\.+: (.*)", text)
        password = re.search(r"Example\.Pass\.+: (.*)", text)
        words, hashes = run.state / f"words-{mode}", run.state / f"hash-{mode}"
        words.write_text(password.group(1) + "\n")
        hashes.write_text(example.group(1) + "\n")
        options = ["-a", "0", "--potfile-disable", "--force"]
        text, ended = run.run(f"hashcat-{mode}", ["hashcat", "-m", str(mode), *options, str(hashes), str(words)], 300)
        ok = ended and "Cracked" in text and "self-test failed" not in text
        rows.append(Counts(int(ok), 0, int(not ok), "" if ok else f"mode {mode}"))
    return add_counts(rows)


def run_clblast(run):
    rows = []
    for tuner in TUNERS:
        options = ["-runs", "1", "-fraction", "16"]
        text, ended = run.run(f"clblast-{tuner}", [f"clblast_tuner_{tuner}", *options], 900)
        right = text.count("results match")
        wrong = len(re.findall(r"^\|\s+\d+ \|", text, re.MULTILINE)) - right
        rows.append(Counts(right, 0, wrong + (not ended), "" if ended and not wrong else tuner))
    return add_counts(rows)


def run_dpnp(run):
    run.require_package("dpnp")
    where = subprocess.run([run.options.python, "-c", "import dpnp.tests as t; print(t.__path__[0])"], capture_output=True, text=True)
    folder = Path(where.stdout.strip())
    return add_counts([run.run_pytest(f"dpnp-{name}", [folder / f"test_{name}.py"], 1800) for name in DPNP_FILES])


APPLICATIONS = {
    "clinfo": run_clinfo,
    "clpeak": run_clpeak,
    "clpeak-in-part": run_clpeak_in_part,
    "pyopencl": run_pyopencl,
    "openmm": run_openmm,
    "pyvkfft": run_vkfft,
    "hashcat": run_hashcat,
    "clblast": run_clblast,
    "dpnp": run_dpnp,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("applications", nargs="*", metavar="APPLICATION", help=", ".join(APPLICATIONS))
    parser.add_argument("--library", required=True, help="the driver")
    parser.add_argument("--state", required=True, help="folder of outputs")
    parser.add_argument("--device", default="cpu", help="cpu, vulkan:0, …")
    parser.add_argument("--python", default=sys.executable, help="the Python that has the packages")
    options = parser.parse_args()
    unknown = set(options.applications) - set(APPLICATIONS)
    if unknown:
        parser.error(f"there is no application {', '.join(sorted(unknown))}")
    run = ApplicationRun(options)
    print(f"| application, on {options.device} | pass | left out | fail | seconds |\n| --- | --- | --- | --- | --- |")
    has_failed = False
    for name in options.applications or APPLICATIONS:
        start = time.monotonic()
        try:
            row = APPLICATIONS[name](run)
            has_failed |= row.failed > 0
            failed = f"{row.failed}: {row.note}" if row.note else row.failed
            cells = [row.passed, row.left_out, failed, round(time.monotonic() - start)]
        except MissingProgram as missing:
            cells = [f"not run: {missing}", "", "", ""]
        print(f"| {name} | " + " | ".join(map(str, cells)) + " |", flush=True)
    sys.exit(int(has_failed))


if __name__ == "__main__":
    main()
