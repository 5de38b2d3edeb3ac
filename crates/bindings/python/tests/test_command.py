"""The command that the package installs."""

import pathlib
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import unittest

import spirula as sp
from sources import ADD, FUTHARK, SHADER, SLOW

COMMAND = pathlib.Path(sysconfig.get_path("scripts"), "spirula")


def run(*arguments, text=None):
    return subprocess.run([COMMAND, *arguments], input=text, capture_output=True, text=True)


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_exit_codes(self):
        shown = run("--version")
        self.assertEqual((shown.returncode, shown.stdout.split("\n")[0]), (0, f"spirula {sp.__version__}"))
        self.assertIn("Usage: spirula", run("help", "run").stdout)
        self.assertEqual(run("no-such-command").returncode, 2)
        failed = run("dis", self.folder / "none.spv")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("none.spv", failed.stderr)

    def test_output_is_complete(self):
        module = self.write("shader.spvasm", SHADER)
        self.assertEqual(run("as", module, "-o", self.folder / "shader.spv").returncode, 0)
        text = run("dis", self.folder / "shader.spv").stdout
        self.assertEqual(text.strip().splitlines()[-1].strip(), "OpFunctionEnd")
        also = subprocess.run([sys.executable, "-m", "spirula", "dis", self.folder / "shader.spv"], capture_output=True, text=True)
        self.assertEqual(also.stdout, text)

    def test_programs_run(self):
        model = self.write("add.mlir", ADD)
        shown = run("run", model, "--arg", "4xf32=iota", "--arg", "4xf32=iota")
        self.assertIn("0 2 4 6", shown.stdout)
        source = self.write("points.fut", FUTHARK)
        self.assertEqual(run("run", source, "--entry", "dot", text="[1, 2] [3, 4]").stdout, "11.0f32\n")

    def test_workers_begin_the_command_again(self):
        program = "-- ==\n-- input { 2 } output { 4 }\nentry main (x: i32): i32 = x * x\n"
        self.write("square.fut", program)
        tested = run("test", self.folder)
        self.assertEqual(tested.returncode, 0, tested.stderr)
        self.write("square.fut", program.replace("{ 4 }", "{ 5 }"))
        self.assertEqual(run("test", self.folder).returncode, 1)

    def test_interrupts_end_it(self):
        source = self.write("slow.mlir", SLOW.replace("20000", "2000000000"))
        process = subprocess.Popen([COMMAND, "run", source, "--arg", "f32=1"], stderr=subprocess.DEVNULL)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
