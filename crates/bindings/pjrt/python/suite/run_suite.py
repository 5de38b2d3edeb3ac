"""Runs test files of a checkout of JAX, several at a time, and keeps the outcome of each test.

    python run_suite.py --checkout ~/jax --state results --jobs 16 lax_test.py nn_test.py
    python run_suite.py --checkout ~/jax --state results --report table.md --failures failures.tsv

A run that ends early goes on where it was: tests with an outcome are left out. A test that ends its process has the
outcome `crashed`, and one that takes too long `stopped`; the others of its file go on. With `--baseline FOLDER`, the
state of a run on another platform, only the tests that pass there count.

The environment selects the platform: `JAX_PLATFORMS`, `PYTHONPATH`, `SPIRULA_PJRT_LIBRARY`.
"""

import argparse
import collections
import dataclasses
import os
import pathlib
import subprocess
import sys
import time

_FOLDER = pathlib.Path(__file__).parent

# Bytes of a test file that make one process.
_SHARD_BYTES = 40_000

# Outcomes of a test that has not passed.
_FAILURES = ("failed", "crashed", "stopped")

# Seconds between looks at the processes.
_PAUSE = 0.2


@dataclasses.dataclass
class TestOutcome:
    """The outcome of a test."""

    outcome: str
    seconds: str = ""
    reason: str = ""


@dataclasses.dataclass
class SuiteJob:
    """A part of a test file, which one process runs."""

    file: str
    shard: str
    log: pathlib.Path
    process: subprocess.Popen | None = None
    # Outcomes before the process started.
    known: int = 0

    def read_outcomes(self) -> dict[str, TestOutcome]:
        """The outcomes so far. A test that has only started has none."""
        return read_log(self.log)

    def find_unfinished(self) -> str | None:
        """The test that has started and has no outcome."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        fields = lines[-1].split("\t") if lines else [""]
        return fields[1] if fields[0] == "start" else None

    def add_outcome(self, test: str, outcome: str, reason: str) -> None:
        """Appends an outcome that the process could not write."""
        with self.log.open("a") as log:
            log.write(f"{outcome}\t{test}\t\t{' '.join(reason.split())}\n")


def read_log(path: pathlib.Path) -> dict[str, TestOutcome]:
    """The outcomes of a log. A failure stays one, whatever follows it."""
    outcomes: dict[str, TestOutcome] = {}
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        outcome, *fields = line.split("\t")
        if outcome == "start" or not fields:
            continue
        test, *rest = fields
        if test not in outcomes or outcomes[test].outcome not in _FAILURES:
            outcomes[test] = TestOutcome(outcome, *rest[:2])
    return outcomes


def read_state(state: pathlib.Path) -> dict[str, TestOutcome]:
    """The outcomes of all tests of a run."""
    outcomes: dict[str, TestOutcome] = {}
    for log in sorted(state.glob("*.log")):
        outcomes.update(read_log(log))
    return outcomes


def plan_jobs(checkout: pathlib.Path, state: pathlib.Path, files: list[str]) -> collections.deque[SuiteJob]:
    """The parts of all files, those of large files first."""
    sizes = {file: (checkout / "tests" / file).stat().st_size for file in files}
    jobs = collections.deque()
    for file in sorted(files, key=lambda file: -sizes[file]):
        count = max(1, sizes[file] // _SHARD_BYTES)
        for shard in range(count):
            jobs.append(SuiteJob(file, f"{shard}/{count}", state / f"{file}.{shard}.log"))
    return jobs


def start_job(job: SuiteJob, checkout: pathlib.Path, seconds: int) -> None:
    """Starts the process of a job, which leaves out the tests that have an outcome."""
    known = job.read_outcomes()
    job.known = len(known)
    done = job.log.with_suffix(".done")
    done.write_text("\n".join(known))
    environment = dict(os.environ, SUITE_LOG=str(job.log), SUITE_SHARD=job.shard, SUITE_DONE=str(done))
    paths = [str(_FOLDER), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "stream_outcomes"]
    command += ["--timeout", str(seconds), job.file]
    output = job.log.with_suffix(".txt").open("w")
    job.process = subprocess.Popen(
        command, cwd=checkout / "tests", env=environment, stdout=output, stderr=subprocess.STDOUT
    )


def end_job(job: SuiteJob) -> bool:
    """Records why a process ended. Tells whether tests of the job are left."""
    code = job.process.returncode
    unfinished = job.find_unfinished()
    if unfinished:
        job.add_outcome(unfinished, "crashed", f"the process ended with {code}")
    if unfinished or code < 0:
        return True
    # Codes 0, 1 and 5: all tests ran, some failed, there were none.
    if code not in (0, 1, 5):
        output = job.log.with_suffix(".txt").read_text(errors="replace").splitlines()
        errors = [line for line in output if line.startswith("E ")]
        reason = (errors or output or [""])[-1].lstrip("E ")
        job.add_outcome(f"{job.file}::import", "failed", reason[:300])
    return False


def stop_if_stuck(job: SuiteJob, seconds: int) -> None:
    """Ends the process of a test that takes much longer than it may, such as one that never returns to Python."""
    if not job.log.exists() or time.time() - job.log.stat().st_mtime <= 2 * seconds:
        return
    unfinished = job.find_unfinished()
    if unfinished:
        job.process.kill()
        job.process.wait()
        job.add_outcome(unfinished, "stopped", f"after {2 * seconds} s")


def run_jobs(options: argparse.Namespace, jobs: collections.deque[SuiteJob]) -> bool:
    """Runs all jobs. Tells whether they ended before the limit."""
    end = time.time() + options.limit
    running: list[SuiteJob] = []
    while jobs or running:
        while jobs and len(running) < options.jobs:
            job = jobs.popleft()
            start_job(job, options.checkout, options.timeout)
            running.append(job)
        time.sleep(_PAUSE)
        for job in list(running):
            stop_if_stuck(job, options.timeout)
            if job.process.poll() is None:
                continue
            running.remove(job)
            if end_job(job):
                jobs.append(job)
        if time.time() > end:
            for job in running:
                job.process.kill()
            return False
    return True


def write_report(options: argparse.Namespace, outcomes: dict[str, TestOutcome]) -> None:
    """Writes a table with a line for each file, and a list of the tests that have not passed."""
    baseline = read_state(options.baseline) if options.baseline else None
    files: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    failures = []
    for test, found in sorted(outcomes.items()):
        file = test.split("::")[0]
        counts = files[file]
        kind = "failed" if found.outcome in _FAILURES else found.outcome
        counts[kind] += 1
        wanted = baseline is None or (test in baseline and baseline[test].outcome == "passed")
        counts["wanted"] += wanted and (baseline is not None or kind != "skipped")
        counts["reached"] += wanted and kind == "passed"
        if wanted and (kind == "failed" or (baseline is not None and kind != "passed")):
            failures.append(f"{test}\t{found.outcome}\t{found.reason}")
    lines = ["| File | Passed | Failed | Skipped | Of the baseline |", "| --- | ---: | ---: | ---: | ---: |"]
    total = collections.Counter()
    for file, counts in sorted(files.items(), key=lambda item: -item[1]["passed"]):
        lines.append(format_row(file.removesuffix(".py"), counts))
        total.update(counts)
    lines.append(format_row("all", total))
    options.report.write_text("\n".join(lines) + "\n")
    if options.failures:
        options.failures.write_text("\n".join(failures) + "\n")


def format_row(name: str, counts: collections.Counter) -> str:
    """A line of the table."""
    numbers = [counts["passed"], counts["failed"], counts["skipped"]]
    shares = f"{counts['reached']:,} of {counts['wanted']:,}"
    return f"| {name} | " + " | ".join(f"{number:,}" for number in numbers) + f" | {shares} |"


def read_file_names(path: pathlib.Path) -> list[str]:
    """The names in a list of test files, which may have comments."""
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def main() -> None:
    """Runs the tests or writes the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", type=pathlib.Path, required=True, help="checkout of JAX")
    parser.add_argument("--state", type=pathlib.Path, required=True, help="folder for the outcomes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds after which the run ends")
    parser.add_argument("--timeout", type=int, default=120, help="seconds that a test may take")
    parser.add_argument("--baseline", type=pathlib.Path, help="state of a run on another platform")
    parser.add_argument("--report", type=pathlib.Path, help="file for a table of the outcomes; nothing runs")
    parser.add_argument("--failures", type=pathlib.Path, help="file for the tests that have not passed")
    parser.add_argument("files", nargs="*", help="test files; by default those of files.txt")
    options = parser.parse_args()
    options.state = options.state.resolve()
    options.state.mkdir(parents=True, exist_ok=True)
    if options.report:
        write_report(options, read_state(options.state))
        return
    files = options.files or read_file_names(_FOLDER / "files.txt")
    there = [file for file in files if (options.checkout / "tests" / file).exists()]
    for file in sorted(set(files) - set(there)):
        print(f"{file} is not in the checkout", file=sys.stderr)
    ended = run_jobs(options, plan_jobs(options.checkout, options.state, there))
    counts = collections.Counter(outcome.outcome for outcome in read_state(options.state).values())
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    sys.exit(0 if ended else 2)


if __name__ == "__main__":
    main()
