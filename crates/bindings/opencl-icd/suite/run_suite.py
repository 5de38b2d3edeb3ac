"""Builds and runs Khronos' conformance tests of OpenCL on this driver.

    python3 run_suite.py --checkout OpenCL-CTS --headers OpenCL-Headers --spirv-headers SPIRV-Headers \\
        --library libspirula_opencl.so --state FOLDER [--device cpu] [SUITE …]

The three folders are checkouts of Khronos' repositories, which stay where they are. Programs are built in the folder of the
state with CMake and Ninja; modules of SPIR-V are assembled with `spirv-as`. A suite whose log is in that folder is not run
again, so that a run can be continued. The result is a table in Markdown: tests that pass, that are left out, and that fail,
by suite. A test counts as left out where its log says that it is skipped.

Suites run with the loader of the system (`libOpenCL.so`), and with the installed Clang for sources.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

# Suites that run by default, with their arguments. The tests of large images take hours, and bruteforce and conversions
# check every thousandth value (`-w`).
SUITES = {
    "api": [],
    "basic": [],
    "buffers": [],
    "events": [],
    "profiling": [],
    "printf": [],
    "computeinfo": [],
    "vectors": [],
    "workgroups": [],
    "atomics": [],
    "c11_atomics": [],
    "subgroups": [],
    "svm": [],
    "half": ["-w"],
    "conversions": ["-w"],
    "bruteforce": ["-w"],
    "integer_ops": [],
    "relationals": [],
    "commonfns": [],
    "geometrics": [],
    "select": [],
    "image_streams": ["small_images", "CL_FILTER_NEAREST"],
    "kernel_image_methods": [],
    "cl_copy_images": ["small_images"],
    "cl_fill_images": ["small_images"],
    "cl_get_info": [],
    "cl_read_write_images": ["small_images"],
    "samplerless_reads": [],
    "generic_address_space": [],
    "non_uniform_work_group": [],
    "allocations": ["single", "5", "all"],
    "multiples": [],
    "mem_host_flags": [],
    "device_partition": [],
    "thread_dimensions": [],
    "contractions": [],
    "spirv_new": [],
}

# Tests of `basic` that try hundreds of thousands of sizes.
LONG_TESTS = ("imagedim_pow2", "imagedim_non_pow2")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkout", type=Path, required=True)
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--spirv-headers", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--device", default="cpu", help="a name that `spirula devices` shows")
    parser.add_argument("--loader", type=Path, default=Path("/usr/lib/x86_64-linux-gnu"))
    parser.add_argument("--timeout", type=int, default=1800, help="seconds for a suite")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build-only", action="store_true")
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


def assemble_modules(options, folder):
    """Assembles the modules of spirv_new, which are text."""
    source = options.checkout / "test_conformance/spirv_new/spirv_asm"
    for file in source.rglob("*.spvasm*"):
        target = folder / file.relative_to(source).parent / file.name.replace(".spvasm", ".spv")
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        version = re.search(r"Version: (1\.\d)", file.read_text())
        environment = f"spv{version.group(1)}" if version else "spv1.0"
        command = ["spirv-as", "--target-env", environment, file, "-o", target]
        subprocess.run(command, check=True)


def list_tests(program, environment):
    """The names of a program's tests."""
    shown = subprocess.run([program, "-h"], env=environment, capture_output=True, text=True, errors="replace")
    names = shown.stdout.split("Test names:")[-1].split()
    return [name for name in names if re.fullmatch(r"\w+", name)]


def run_suite(options, build, suite, environment, modules):
    program = next(build.rglob(f"test_{suite}"), None)
    if program is None:
        return None
    arguments = list(SUITES.get(suite, []))
    if suite == "spirv_new":
        arguments += ["--spirv-binaries-path", str(modules)]
    if suite == "basic":
        arguments += [name for name in list_tests(program, environment) if name not in LONG_TESTS]
    log = options.state / f"{suite}.log"
    partial = log.with_suffix(".part")
    started = time.time()
    with open(partial, "wb") as output:
        command = ["timeout", str(options.timeout), "stdbuf", "-oL", "-eL", program, *arguments]
        ended = subprocess.run(command, cwd=program.parent, env=environment, stdout=output, stderr=output)
        output.write(f"\nexit code {ended.returncode} after {time.time() - started:.0f} s\n".encode())
    partial.rename(log)
    return log


def count_outcomes(log):
    """Numbers of tests that pass, are left out, and fail; the names of the last; the exit code."""
    text = log.read_text(errors="replace")
    passed, skipped, failed = 0, 0, []
    parts = re.split(r"^(\w+)\.\.\.$", text, flags=re.M)
    for name, body in zip(parts[1::2], parts[2::2]):
        if re.search(rf"\b{name} FAILED", body):
            failed.append(name)
        elif re.search(rf"\b{name} (test not supported|skipped)|[Ss]kipping test", body):
            skipped += 1
        elif re.search(rf"\b{name} passed", body):
            passed += 1
        else:
            failed.append(f"{name} (not ended)")
    code = re.findall(r"^exit code (-?\d+)", text, flags=re.M)
    return passed, skipped, failed, int(code[-1]) if code else None


def main():
    options = parse_arguments()
    options.state.mkdir(parents=True, exist_ok=True)
    build = options.state / "build"
    configure(options, build)
    vendors = options.state / "vendors"
    vendors.mkdir(exist_ok=True)
    (vendors / "spirula.icd").write_text(f"{options.library.resolve()}\n")
    environment = dict(os.environ, OCL_ICD_VENDORS=str(vendors), SPIRULA_OPENCL_DEVICES=options.device)
    modules = options.state / "modules"
    print("| suite | pass | left out | fail | names of those that fail |")
    print("| --- | --- | --- | --- | --- |")
    for suite in options.suites or SUITES:
        log = options.state / f"{suite}.log"
        if not log.exists():
            target = ["ninja", "-C", build, f"-j{options.jobs}", f"test_{suite}"]
            built = subprocess.run(target, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if built.returncode != 0:
                print(f"| {suite} | | | | is not built |", flush=True)
                continue
            if options.build_only:
                continue
            if suite == "spirv_new":
                assemble_modules(options, modules)
            if run_suite(options, build, suite, environment, modules) is None:
                print(f"| {suite} | | | | there is no program |", flush=True)
                continue
        passed, skipped, failed, code = count_outcomes(log)
        note = ", ".join(failed) or ("" if code == 0 else f"exit code {code}")
        print(f"| {suite} | {passed} | {skipped} | {len(failed)} | {note} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
