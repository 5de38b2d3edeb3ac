"""A plugin of pytest that writes the outcome of each test to a file as soon as it is known.

The environment has its parameters:

- `SUITE_LOG`: the file. A line is `start`, or an outcome, then the name of the test, the seconds, and a reason.
- `SUITE_SHARD`: `I/N` runs every test whose position in the file is I modulo N.
- `SUITE_DONE`: a file with the names of tests that are left out.
- `SUITE_DEVICE`: the device that JAX's tests believe to be on; they skip those of others.
"""

import os
import pathlib

_LOG = pathlib.Path(os.environ["SUITE_LOG"])
_REASON_LENGTH = 300


def _write(*fields: str) -> None:
    with _LOG.open("a") as log:
        log.write("\t".join(" ".join(field.split()) for field in fields) + "\n")


def pytest_collection_modifyitems(items):
    device = os.environ.get("SUITE_DEVICE")
    if device:
        import jax

        jax.config.update("jax_test_dut", device)
    shard, count = (int(number) for number in os.environ["SUITE_SHARD"].split("/"))
    done = set(pathlib.Path(os.environ["SUITE_DONE"]).read_text().splitlines())
    names = [" ".join(item.nodeid.split()) for item in items]
    items[:] = [
        item for at, (item, name) in enumerate(zip(items, names)) if at % count == shard and name not in done
    ]


def pytest_runtest_logstart(nodeid, location):
    _write("start", nodeid)


def _find_reason(report) -> str:
    """The first line of an error, or the reason of a skip."""
    if report.skipped and isinstance(report.longrepr, tuple):
        text = report.longrepr[2]
    else:
        lines = report.longreprtext.splitlines()
        errors = [line[1:].strip() for line in lines if line.startswith("E ")]
        text = next((line for line in errors if line), lines[-1] if lines else "")
    return text[:_REASON_LENGTH]


def pytest_runtest_logreport(report):
    # A test that passes has its outcome when it is called; what is set up before and torn down after it may fail or skip.
    if report.when == "call" or not report.passed:
        reason = "" if report.passed else _find_reason(report)
        _write(report.outcome, report.nodeid, f"{report.duration:.2f}", reason)
