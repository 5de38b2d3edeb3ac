"""SPIR-V modules, and errors with their places."""

import pickle
import unittest

import spirula as sp
from sources import ADD, SAXPY, SHADER


class ModuleTest(unittest.TestCase):
    def test_text_and_binary(self):
        module = sp.assemble(SHADER, target="vulkan1.1")
        self.assertEqual((module.version, module.kernels), ("1.3", ["saxpy"]))
        self.assertEqual(bytes(module)[:4], b"\x03\x02\x23\x07")
        text = sp.disassemble(bytes(module))
        self.assertEqual(bytes(sp.assemble(text)), bytes(module))
        self.assertIn("%uint_0", sp.disassemble(module, friendly_names=True))
        self.assertEqual(bytes(sp.compile(module.to_bytes())), bytes(module))

    def test_reflection(self):
        found = sp.reflect(sp.compile(SAXPY))
        (entry,) = found.entry_points
        self.assertEqual((entry.name, entry.model, entry.workgroup_size), ("saxpy", "Kernel", None))
        self.assertEqual([a.name for a in entry.arguments], ["x", "y", "a"])
        self.assertEqual([a.kind for a in entry.arguments], ["buffer", "buffer", "value"])
        self.assertEqual((entry.arguments[2].type, entry.arguments[2].nbytes), ("f32", 4))
        self.assertIn("Kernel", found.capabilities)
        (shader,) = sp.reflect(SHADER).entry_points
        self.assertEqual([(a.set, a.binding) for a in shader.arguments], [(0, 0), (1, 2)])
        self.assertEqual(shader.push_constant_bytes, 8)

    def test_optimisation(self):
        module = sp.compile(SAXPY)
        for passes in ("O2", "mem2reg,adce", ["mem2reg", "gvn", "adce"]):
            smaller = sp.optimize(module, passes)
            sp.verify(smaller)
            self.assertLessEqual(len(bytes(smaller)), len(bytes(module)))
        with self.assertRaisesRegex(sp.ArgumentError, "no pass is named fast"):
            sp.optimize(module, "fast")

    def test_targets(self):
        module = sp.compile(SAXPY, target="vulkan1.2")
        self.assertEqual(sp.reflect(module).entry_points[0].model, "GLCompute")
        self.assertIsNone(sp.verify(module, target="vulkan1.2"))
        with self.assertRaisesRegex(sp.ArgumentError, "vulkan9"):
            sp.compile(SAXPY, target="vulkan9")


class ErrorTest(unittest.TestCase):
    def test_places_of_text(self):
        source = ADD.replace("stablehlo.add %a", "stablehlo.ad %a")
        with self.assertRaises(sp.SpirulaError) as caught:
            sp.compile(source, name="add.mlir")
        error = caught.exception
        self.assertEqual(error.line, 4)
        self.assertEqual(error.source_line[error.column - 1 :].split()[0], "stablehlo.ad")
        self.assertEqual(error.source_line, source.splitlines()[3])
        self.assertIn("add.mlir:4:", str(error))
        self.assertEqual(error.diagnostics[0].severity, "error")
        self.assertEqual(error.diagnostics[0].file, "add.mlir")
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))

    def test_all_faults_of_assembly(self):
        with self.assertRaises(sp.ReadError) as caught:
            sp.assemble("OpCapability Shader\nOpNoSuch\nOpMemoryModel Logical GLSL45\n")
        self.assertEqual([d.line for d in caught.exception.diagnostics], [2, 3])
        self.assertIn("GLSL450", caught.exception.diagnostics[1].hint)

    def test_broken_rules_have_places_in_assembly(self):
        broken = SHADER.replace("OpStore %y_ptr %sum", "OpStore %y_ptr %n")
        with self.assertRaises(sp.VerifyError) as caught:
            sp.verify(broken, target="vulkan1.1")
        self.assertEqual(caught.exception.source_line.strip(), "OpStore %y_ptr %n")
        self.assertTrue(caught.exception.diagnostics[0].notes)

    def test_places_of_binaries(self):
        damaged = bytearray(bytes(sp.assemble(SHADER)))
        damaged[20:24] = b"\x00\x00\x00\x00"
        with self.assertRaises(sp.VerifyError) as caught:
            sp.verify(bytes(damaged))
        self.assertEqual((caught.exception.line, caught.exception.diagnostics[0].offset), (None, 20))

    def test_futhark(self):
        with self.assertRaises(sp.SpirulaError) as caught:
            sp.compile("entry f (x: i32): i32 = x + 1.5f32\n")
        self.assertEqual(caught.exception.line, 1)

    def test_other_inputs(self):
        for source in ("", "hello", b"\x00\x01"):
            with self.assertRaises(sp.ReadError):
                sp.compile(source)
        with self.assertRaises(TypeError):
            sp.compile(1)
        with self.assertRaises(TypeError):
            sp.SpirulaError.line()

    def test_missing_devices(self):
        with self.assertRaisesRegex(sp.DeviceError, "no device abacus; there are: cpu"):
            sp.Device("abacus")
        with self.assertRaises(sp.DeviceError):
            sp.compile(ADD, device="abacus")


if __name__ == "__main__":
    unittest.main()
