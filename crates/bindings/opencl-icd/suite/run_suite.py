"""Builds and runs Khronos' conformance tests of OpenCL on this driver.

    python3 run_suite.py --checkout OpenCL-CTS --headers OpenCL-Headers --spirv-headers SPIRV-Headers \\
        --library libspirula_opencl.so --state FOLDER [--device cpu] [SUITE …]

The three folders are checkouts of Khronos' repositories, which stay where they are. Programs are built in the folder of the
state with CMake and Ninja; modules of SPIR-V are assembled with `spirv-as`. The driver is copied there, so that it can be
built again while tests run.

The tests of a suite run in one process. A test that passes its time limit, or that ends the process, is noted, and a new
process runs the tests after it. Outcomes and logs are kept by device: a test with an outcome is not run again, so that a run
can be continued. `--retry` runs those again that failed or did not end, and `--test` runs named tests of a suite.

The result is a table in Markdown: tests that pass, that are left out, and that fail, by suite. A test counts as left out
where its log says that it is skipped. The exit code is 1 if a test fails or does not end, or a suite is not built.

Suites run with the loader of the system (`libOpenCL.so`), and with the installed Clang for sources.
"""

import argparse
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

# Suites that run by default, with their arguments. The tests of large images take hours, and bruteforce, conversions and
# half check a part of all values (`-w`).
SUITES = {
    "api": [],
    "basic": [],
    "buffers": [],
    "events": [],
    "profiling": [],
    "printf": [],
    "computeinfo": [],
    "compiler": [],
    "vectors": [],
    "workgroups": [],
    "atomics": [],
    "c11_atomics": [],
    "subgroups": [],
    "svm": [],
    "half": ["-w"],
    "conversions": ["-w"],
    "bruteforce": ["-w"],
    "contractions": [],
    "integer_ops": [],
    "relationals": [],
    "commonfns": [],
    "geometrics": [],
    "select": [],
    "image_streams": ["small_images", "CL_FILTER_NEAREST"],
    "kernel_image_methods": [],
    "cl_copy_images": ["small_images"],
    "cl_fill_images": ["small_images"],
    "cl_get_info": ["small_images"],
    "cl_read_write_images": ["small_images"],
    "samplerless_reads": [],
    "generic_address_space": [],
    # Its program takes the first argument for its own name.
    "non_uniform_work_group": ["program"],
    "allocations": ["single", "5", "all"],
    "multiples": [],
    "mem_host_flags": [],
    "device_partition": [],
    "device_execution": [],
    "device_timer": [],
    "pipes": [],
    "thread_dimensions": [],
    "spir": [],
    "spirv_new": [],
    "cl_ext_buffer_device_address": [],
    "cl_ext_cxx_for_opencl": [],
    "cl_khr_command_buffer": [],
    "cl_khr_external_memory_dma_buf": [],
    "cl_khr_kernel_clock": [],
    "cl_khr_mutable_dispatch": [],
    "cl_khr_semaphore": [],
}

# Tests that try hundreds of thousands of sizes, and run only if they are named.
LONG_TESTS = {
    "basic": ("imagedim_pow2", "imagedim_non_pow2"),
    "thread_dimensions": (
        "full_1d_explicit_local", "full_2d_explicit_local", "full_3d_explicit_local",
        "full_1d_implicit_local", "full_2d_implicit_local", "full_3d_implicit_local",
    ),
}

# Arguments that stand after the names of tests. The atomics repeat each operation ten thousand times by default, so that the 5,000
# variants of one test take an hour.
LAST_ARGUMENTS = {"c11_atomics": ["-internalIterations", "500"]}

# Suites of one test whose arguments are no names of tests.
UNNAMED = ("conversions",)

PASS, SKIP, FAIL, LATE, DEAD = "pass", "left out", "fail", "not ended", "process ended"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkout", type=Path, required=True)
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--spirv-headers", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--device", default="cpu", help="a name that `spirula devices` shows")
    parser.add_argument("--loader", type=Path, default=Path("/usr/lib/x86_64-linux-gnu"))
    parser.add_argument("--timeout", type=int, default=300, help="seconds for a test")
    parser.add_argument("--suite-timeout", type=int, default=3600, help="seconds for a suite in this run")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--no-build", action="store_true", help="takes the programs that are there")
    parser.add_argument("--table", action="store_true", help="only shows the outcomes of earlier runs")
    parser.add_argument("--retry", action="store_true", help="runs tests again that did not pass")
    parser.add_argument("--test", action="append", default=[], help="runs this test of the suites again")
    parser.add_argument("suites", nargs="*")
    return parser.parse_args()


def configure(options, build):
    if (build / "build.ninja").exists():
        return
    command = [
        "cmake", "-G", "Ninja", "-S", options.checkout, "-B", build,
        "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_CXX_FLAGS=-O1 -w -Wno-error", "-DCMAKE_C_FLAGS=-O1 -w",
        f"-DCL_INCLUDE_DIR={options.headers.resolve()}",
        f"-DSPIRV_INCLUDE_DIR={options.spirv_headers.resolve()}",
        f"-DCL_LIB_DIR={options.loader}", "-DOPENCL_LIBRARIES=OpenCL",
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def copy_library(options):
    """Copies the driver under a name of its version, and gives the path."""
    folder = options.state / "drivers"
    folder.mkdir(exist_ok=True)
    version = int(options.library.stat().st_mtime)
    copied = folder / f"libspirula_opencl-{version}.so"
    if not copied.exists():
        partial = copied.with_suffix(f".{os.getpid()}")
        shutil.copyfile(options.library, partial)
        partial.rename(copied)
    return copied.resolve()


def make_environment(options, folder):
    """The environment of tests, with a folder of vendors that names the driver's copy."""
    vendors = folder / "vendors"
    vendors.mkdir(parents=True, exist_ok=True)
    (vendors / "spirula.icd").write_text(f"{copy_library(options)}\n")
    return dict(os.environ, OCL_ICD_VENDORS=str(vendors.resolve()), SPIRULA_OPENCL_DEVICES=options.device)


def assemble_modules(options, folder):
    """Assembles the modules of spirv_new, which are text."""
    source = options.checkout / "test_conformance/spirv_new/spirv_asm"
    for file in source.rglob("*.spvasm*"):
        target = folder / file.relative_to(source).parent / file.name.replace(".spvasm", ".spv")
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # Folders are named by versions of SPIR-V. Other modules are of version 1.0.
        folder_name = file.parent.name
        environment = folder_name if folder_name.startswith("spv1.") else "spv1.0"
        command = ["spirv-as", "--target-env", environment, file, "-o", target]
        subprocess.run(command, check=True)


def list_tests(program, environment):
    """The names of a program's tests, in the order in which it shows them."""
    shown = subprocess.run([program, "--list"], env=environment, capture_output=True, text=True, errors="replace")
    return [line.strip() for line in shown.stdout.splitlines() if re.fullmatch(r"\t\w+", line)]


class OutcomeStore:
    """The outcomes of a suite's tests, with their seconds, in a file."""

    def __init__(self, path):
        self.path = path
        self.outcomes = json.loads(path.read_text()) if path.exists() else {}

    def add(self, name, outcome, seconds):
        self.outcomes[name] = [outcome, round(seconds, 1)]
        partial = self.path.with_suffix(".part")
        partial.write_text(json.dumps(self.outcomes, indent=1))
        partial.replace(self.path)
        print(f"{time.strftime('%T')} {self.path.stem} {name}: {outcome}, {seconds:.1f} s", file=sys.stderr, flush=True)


class OutputReader:
    """Reads the output of a process, and notes where tests begin and how they end."""

    def __init__(self, names, store):
        self.names, self.store = names, store
        self.current, self.outcome, self.skips, self.started = None, None, False, 0.0
        self.rest = ""

    def take(self, data):
        *lines, self.rest = (self.rest + data.decode(errors="replace")).split("\n")
        for line in lines:
            self.take_line(line.strip())

    def take_line(self, line):
        if line.endswith("...") and line[:-3] in self.names:
            self.end(DEAD)
            self.current, self.outcome, self.skips, self.started = line[:-3], None, False, time.time()
        elif self.current:
            name = re.escape(self.current)
            if re.search(rf"\b{name} FAILED", line):
                self.outcome = FAIL
            elif re.search(rf"\b{name} (test not supported|skipped)|[Ss]kipping test", line):
                self.skips = True
            elif re.search(rf"\b{name} passed", line):
                self.outcome = self.outcome or PASS
        elif line == "Test skipped while initialization":
            for name in sorted(self.names):
                self.store.add(name, SKIP, 0.0)
            self.names.clear()

    def end(self, otherwise):
        """Notes the outcome of the current test, if there is one; `otherwise` where the output has none."""
        if self.current is None:
            return
        outcome = self.outcome
        if self.skips and outcome != FAIL:
            outcome = SKIP
        self.store.add(self.current, outcome or otherwise, time.time() - self.started)
        self.names.discard(self.current)
        self.current = None


def run_process(command, folder, environment, log, reader, options, deadline):
    """Runs a process until it ends or a test passes its limit."""
    process = subprocess.Popen(
        ["stdbuf", "-oL", "-eL", *command], cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )
    begun = time.time()
    while True:
        limit = min((reader.started or begun) + options.timeout, deadline)
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, limit - time.time()))
        if not ready:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if limit < deadline:
                reader.end(LATE)
            return
        data = os.read(process.stdout.fileno(), 1 << 16)
        if not data:
            break
        log.write(data)
        log.flush()
        reader.take(data)
    code = process.wait()
    log.write(f"\nexit code {code}\n".encode())
    reader.end(f"{DEAD} by signal {-code}" if code < 0 else DEAD)


def run_suite(options, program, suite, environment, folder, modules):
    """Runs the tests of a suite that have no outcome. Notes outcomes, and gives their store."""
    store = OutcomeStore(folder / f"{suite}.json")
    environment = dict(environment)
    arguments = list(SUITES.get(suite, []))
    if suite == "spirv_new":
        arguments += ["--spirv-binaries-path", str(modules.resolve())]
    if options.test:
        names = options.test
    else:
        listed = list_tests(program, environment)
        names = [name for name in listed if name not in LONG_TESTS.get(suite, ())]
        kept = (PASS, SKIP) if options.retry else (PASS, SKIP, FAIL, LATE, DEAD)
        names = [name for name in names if not store.outcomes.get(name, [""])[0].startswith(kept)]
    deadline = time.time() + options.suite_timeout
    with open(folder / f"{suite}.log", "ab") as log:
        while names and time.time() < deadline:
            pending = set(names)
            reader = OutputReader(pending, store)
            named = [] if suite in UNNAMED else names
            command = [program.resolve(), *arguments, *named, *LAST_ARGUMENTS.get(suite, ())]
            run_process(command, program.parent, environment, log, reader, options, deadline)
            if len(pending) == len(names) and time.time() < deadline:
                store.add(names[0], f"{DEAD} before it", 0.0)
                pending.discard(names[0])
            names = [name for name in names if name in pending]
    return store


def show_row(suite, store):
    """Shows the outcomes of a suite, and returns whether no test failed."""
    outcomes = {name: outcome for name, (outcome, _) in store.outcomes.items()}
    passed = sum(outcome == PASS for outcome in outcomes.values())
    skipped = sum(outcome == SKIP for outcome in outcomes.values())
    failed = [f"{name} ({outcome})" if outcome != FAIL else name
              for name, outcome in outcomes.items() if outcome not in (PASS, SKIP)]
    seconds = sum(time for _, time in store.outcomes.values())
    print(f"| {suite} | {passed} | {skipped} | {len(failed)} | {seconds:.0f} | {', '.join(failed)} |", flush=True)
    return not failed


def main():
    options = parse_arguments()
    build, modules = options.state / "build", options.state / "modules"
    folder = options.state / options.device.replace(":", "-")
    folder.mkdir(parents=True, exist_ok=True)
    if not options.table:
        configure(options, build)
        environment = make_environment(options, folder)
    is_right = True
    print("| suite | pass | left out | fail | seconds | names of those that fail |")
    print("| --- | --- | --- | --- | --- | --- |")
    for suite in options.suites or SUITES:
        if options.table:
            if (folder / f"{suite}.json").exists():
                is_right &= show_row(suite, OutcomeStore(folder / f"{suite}.json"))
            continue
        if not options.no_build:
            target = ["ninja", "-C", build, f"-j{options.jobs}", f"test_{suite}"]
            subprocess.run(target, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        program = next((file for file in build.rglob(f"test_{suite}") if file.is_file()), None)
        if program is None:
            print(f"| {suite} | | | | | is not built |", flush=True)
            is_right = False
            continue
        if options.build_only:
            continue
        if suite == "spirv_new":
            assemble_modules(options, modules)
        is_right &= show_row(suite, run_suite(options, program, suite, environment, folder, modules))
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
