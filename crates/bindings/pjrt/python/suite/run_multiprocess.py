"""Runs JAX's `tests/multiprocess` on the loopback, and counts the tests that pass in all processes.

    python run_multiprocess.py --tests ~/jax/tests/multiprocess --processes 4 --state results
    python run_multiprocess.py --tests ~/jax/tests/multiprocess --state results --baseline results-of-xla

A test has passed if it has in every process. A file that takes too long is stopped; its tests without an outcome have failed.
With `--baseline FOLDER`, the state of a run on another platform, only the tests that pass there count.

The environment selects the platform: `JAX_PLATFORMS`, `PYTHONPATH`, `SPIRULA_PJRT_LIBRARY`.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys

# A line of absl's runner about the end or the start of a test.
_LINE = re.compile(r"\[\s+(RUN|OK|FAILED|SKIPPED)\s+\] (\w+\.\w+)")

_NAMES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}

# Later outcomes in this list hold where processes differ.
_ORDER = ("passed", "skipped", "failed")


def read_outcomes(log: str) -> dict[str, str]:
    """The outcome of each test in all processes. One that has started and not ended has failed."""
    outcomes: dict[str, str] = {}
    for part in re.split(r"-+ Process \d+ stderr -+", log)[1:]:
        own: dict[str, str] = {}
        for kind, test in _LINE.findall(part):
            own[test] = _NAMES.get(kind, "failed")
        for test, outcome in own.items():
            outcomes[test] = max(outcomes.get(test, outcome), outcome, key=_ORDER.index)
    return outcomes


def run_file(path: pathlib.Path, processes: int, seconds: int, state: pathlib.Path) -> dict[str, str]:
    """Runs a test file, and keeps its log."""
    logs = state / path.stem
    logs.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, TEST_UNDECLARED_OUTPUTS_DIR=str(logs))
    command = [sys.executable, str(path), f"--num_processes={processes}"]
    # The processes get SIGTERM from the first one, which then prints their logs.
    run = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        output, _ = run.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        run.send_signal(signal.SIGTERM)
        try:
            output, _ = run.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            output, _ = run.communicate()
    log = output.decode(errors="replace")
    (state / f"{path.stem}.log").write_text(log)
    return read_outcomes(log)


def read_state(state: pathlib.Path) -> dict[str, dict[str, str]]:
    """The outcomes of a run by file."""
    return {log.stem: read_outcomes(log.read_text()) for log in sorted(state.glob("*.log"))}


def print_table(outcomes: dict[str, dict[str, str]], baseline: dict[str, dict[str, str]] | None) -> None:
    """A table in Markdown, the tests that failed, and the share of the baseline."""
    print("| File | Passed | Failed | Skipped |")
    print("| --- | ---: | ---: | ---: |")
    for file, tests in outcomes.items():
        counts = [list(tests.values()).count(name) for name in ("passed", "failed", "skipped")]
        print(f"| {file} | {' | '.join(map(str, counts))} |")
    for file, tests in outcomes.items():
        for test in (test for test, outcome in tests.items() if outcome == "failed"):
            print(f"failed: {file} {test}", file=sys.stderr)
    if baseline is None:
        return
    wanted = [(file, test) for file, tests in baseline.items() for test in tests if tests[test] == "passed"]
    passed = [test for file, test in wanted if outcomes.get(file, {}).get(test) == "passed"]
    share = 100 * len(passed) / max(1, len(wanted))
    print(f"\n{len(passed)} of {len(wanted)} tests that pass in the baseline ({share:.1f} %)")
    for file, test in wanted:
        if outcomes.get(file, {}).get(test) != "passed":
            print(f"missing: {file} {test}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=pathlib.Path, help="the folder tests/multiprocess at the tag of the installed JAX")
    parser.add_argument("--state", type=pathlib.Path, required=True, help="folder for the logs")
    parser.add_argument("--baseline", type=pathlib.Path, help="the folder of a run on another platform")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--timeout", type=int, default=600, help="seconds for a file")
    parser.add_argument("files", nargs="*", help="test files; by default all that have no log")
    options = parser.parse_args()
    options.state.mkdir(parents=True, exist_ok=True)
    if options.tests is not None:
        paths = [options.tests / file for file in options.files]
        if not paths:
            paths = [path for path in sorted(options.tests.glob("*_test.py"))]
            paths = [path for path in paths if not (options.state / f"{path.stem}.log").exists()]
        for path in paths:
            outcomes = run_file(path, options.processes, options.timeout, options.state)
            print(f"{path.stem}: {len(outcomes)} tests", file=sys.stderr, flush=True)
    print_table(read_state(options.state), options.baseline and read_state(options.baseline))


if __name__ == "__main__":
    main()
