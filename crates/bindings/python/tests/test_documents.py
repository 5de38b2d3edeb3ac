"""The examples of the documents run."""

import contextlib
import io
import pathlib
import re
import tempfile
import unittest

import numpy as np

from sources import SAXPY

ROOT = pathlib.Path(__file__).resolve().parents[4]

MODEL = """
func.func @main(%x: tensor<32x16xf32> loc("x")) -> tensor<32x16xf32> {
  %0 = stablehlo.add %x, %x : tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}
"""


class DocumentsTest(unittest.TestCase):
    def run_examples(self, name):
        """Runs the examples of a document one after the other, and returns their names and their output."""
        examples = re.findall(r"^```python\n(.*?)^```$", ROOT.joinpath(name).read_text(), re.DOTALL | re.MULTILINE)
        self.assertTrue(examples, name)
        names = {"x": np.arange(8, dtype=np.float32), "y": np.ones(8, np.float32)}
        output = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            pathlib.Path("model.mlir").write_text(MODEL)
            pathlib.Path("saxpy.ll").write_text(SAXPY)
            for example in examples:
                with contextlib.redirect_stdout(output):
                    exec(compile(example, name, "exec"), names)
        return names, output.getvalue()

    def test_the_page_about_python(self):
        names, output = self.run_examples("docs/python.md")
        self.assertTrue(output.startswith("(32, 16) float32 spirula.Device('cpu')\n[[4. "), output)
        np.testing.assert_array_equal(names["y"], 2 * names["x"] + 1)
        self.assertIn("OpFunctionEnd", output)
        self.assertIn("\nsaxpy None [<spirula.KernelArgument x: buffer", output)

    def test_the_description_of_the_package(self):
        _, output = self.run_examples("crates/bindings/python/README.md")
        self.assertTrue(output.startswith("[[2. "), output)


if __name__ == "__main__":
    unittest.main()
