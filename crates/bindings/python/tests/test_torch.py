"""The parts of the package for PyTorch, which is not installed here. `cargo xtask torch` tests what they do."""

import importlib.metadata
import importlib.util
import unittest


class EntryPointTest(unittest.TestCase):
    def test_entry_points(self):
        """PyTorch finds the backend, and PyTorch/XLA the plugin."""
        found = {
            (point.group, point.name): point
            for group in ("torch_dynamo_backends", "torch_xla.plugins")
            for point in importlib.metadata.entry_points(group=group)
        }
        expected = {
            ("torch_dynamo_backends", "spirula"): ("spirula.torch", "compile_graph"),
            ("torch_xla.plugins", "spirula"): ("spirula.torch_xla", "SpirulaPlugin"),
            ("torch_xla.plugins", "spirula_vulkan"): ("spirula.torch_xla", "SpirulaVulkanPlugin"),
        }
        for key, (module, name) in expected.items():
            self.assertEqual(found[key].value, f"{module}:{name}")
            spec = importlib.util.find_spec(module)
            with open(spec.origin, encoding="utf-8") as source:
                self.assertIn(name, source.read())


if __name__ == "__main__":
    unittest.main()
