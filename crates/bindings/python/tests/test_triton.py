"""Kernels of Triton: the intermediate representation, which needs no package of Triton."""

import unittest

import numpy as np

import spirula as sp

DOUBLE = """
module {
  tt.func public @double(%x: !tt.ptr<f32>) {
    %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %p = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<64xf32>
    %m = "tt.reduce"(%w) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.maxnumf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<64xf32>) -> f32
    %ms = tt.splat %m : f32 -> tensor<64xf32>
    %d = arith.subf %w, %ms : tensor<64xf32>
    tt.store %p, %d : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
"""


class TritonTest(unittest.TestCase):
    def test_modules_compile_and_run(self):
        x = np.arange(64, dtype=np.float32)
        kernel = sp.compile(DOUBLE).kernel("double", device="cpu")
        kernel(None, x, groups=1)
        np.testing.assert_array_equal(x, 2 * np.arange(64) - 126)

    def test_workgroup_memory_is_measured(self):
        self.assertGreaterEqual(sp.measure_triton(DOUBLE), 256)

    def test_unsupported_operations_have_places(self):
        with self.assertRaises(sp.CompileError) as caught:
            sp.compile(DOUBLE.replace("arith.addf %v, %v", "arith.unknown %v, %v"))
        self.assertIn("arith.unknown is not supported", str(caught.exception))
        self.assertEqual(caught.exception.line, 8)


if __name__ == "__main__":
    unittest.main()
