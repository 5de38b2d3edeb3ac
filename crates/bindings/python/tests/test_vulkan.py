"""Programs, kernels and shaders on a Vulkan device. SPIRULA_REQUIRE_VULKAN demands that there is one."""

import os
import unittest

import numpy as np

import spirula as sp
from sources import ADD, FUTHARK, SAXPY, SHADER

HAS_DEVICE = any(device.name.startswith("vulkan") for device in sp.devices())


@unittest.skipUnless(HAS_DEVICE or "SPIRULA_REQUIRE_VULKAN" in os.environ, "there is no Vulkan device")
class VulkanTest(unittest.TestCase):
    def setUp(self):
        self.device = sp.Device("vulkan")
        self.x, self.y = np.arange(256, dtype=np.float32), np.ones(256, np.float32)

    def test_programs(self):
        program = sp.compile(ADD, device=self.device)
        array = self.device.array(np.ones(4, np.float32))
        (result,) = program(array, [1, 2, 3, 4])
        self.assertEqual(result.device, self.device)
        np.testing.assert_array_equal(np.asarray(result), [2, 3, 4, 5])
        (total,) = sp.compile(FUTHARK, device="vulkan").function("dot")([1, 2], [3, 4])
        self.assertEqual(float(total), 11)

    def test_kernels(self):
        sp.compile(SAXPY).kernel(device=self.device)(256, self.x, self.y, 2.0)
        np.testing.assert_array_equal(self.y, 2 * self.x + 1)

    def test_shaders(self):
        kernel = sp.assemble(SHADER, target="vulkan1.1").kernel(device=self.device)
        y = self.device.array(self.y)
        kernel(256, self.x, y, push=[2.0, 256])
        np.testing.assert_array_equal(y.numpy(), 2 * self.x + 1)

    def test_memory_is_not_visible(self):
        array = self.device.array(self.x)
        with self.assertRaisesRegex(BufferError, "vulkan:0"):
            memoryview(array)
        with self.assertRaises(BufferError):
            array.__dlpack__()

    def test_arrays_of_another_device(self):
        array = self.device.array(np.ones(4, np.float32))
        with self.assertRaisesRegex(sp.ArgumentError, "on the device vulkan:0"):
            sp.compile(ADD, device="cpu")(array, array)
        with self.assertRaisesRegex(sp.ArgumentError, "not on the kernel's device"):
            sp.compile(SAXPY).kernel(device="cpu")(4, array, array, 2.0)


if __name__ == "__main__":
    unittest.main()
