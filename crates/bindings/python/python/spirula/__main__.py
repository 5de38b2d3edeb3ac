"""The command `spirula`."""

import signal
import sys

from spirula._spirula import run_command


def main() -> None:
    """Runs the command with the arguments of the process, and ends the process with its exit code."""
    # The command ends by an interrupt as any program does. Python would wait for the end of the native part.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_command(sys.argv[1:], [sys.executable, "-m", "spirula"]))


if __name__ == "__main__":
    main()
