"""JAX in several processes on the loopback, with two logical devices each.

`cargo xtask jax` runs these tests with `JAX_PLATFORMS=spirula,cpu`. The processes run the checks of `process_worker`.
"""

import os
import pathlib
import socket
import subprocess
import sys
import unittest

_WORKER = pathlib.Path(__file__).parent / "process_worker.py"

# Seconds that the processes of a test may take, so that none hangs.
_LIMIT = 600

# Checks that processes run one after the other.
_CHECKS = "devices,products,collectives,large_sums,loops,donation,utilities,training,callbacks,errors,bad_input"


def find_port() -> int:
    """A port that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_processes(check: str, count: int, **variables: str) -> list[subprocess.Popen]:
    """Starts the processes of a check."""
    port = find_port()
    environment = dict(os.environ, JAX_PLATFORMS="spirula", SPIRULA_LOGICAL_DEVICES="2", **variables)
    command = [sys.executable, str(_WORKER), check]
    return [
        subprocess.Popen(
            [*command, str(process), str(count), str(port)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for process in range(count)
    ]


class ProcessesTest(unittest.TestCase):
    def run_check(self, check: str, count: int, dead: tuple[int, ...] = (), **variables: str):
        """Runs a check in processes, of which all but some must end well within the time."""
        processes = start_processes(check, count, **variables)
        outputs = []
        try:
            for process in processes:
                outputs.append(process.communicate(timeout=_LIMIT)[0])
        finally:
            for process in processes:
                process.kill()
                process.wait()
                process.stdout.close()
        for at, (process, output) in enumerate(zip(processes, outputs)):
            if at not in dead:
                self.assertIn("DONE", output, f"process {at} of {check}:\n{output}")
                self.assertEqual(process.returncode, 0, f"process {at} of {check}:\n{output}")

    def test_two_processes(self):
        self.run_check(_CHECKS, 2)

    def test_four_processes(self):
        self.run_check("devices,products,collectives,large_sums,training", 4)

    def test_a_process_that_dies(self):
        self.run_check("death", 3, dead=(2,))

    def test_a_process_that_is_missing(self):
        self.run_check("absence", 2, SPIRULA_PEER_TIMEOUT="3")


if __name__ == "__main__":
    unittest.main()
