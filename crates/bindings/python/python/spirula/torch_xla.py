"""PyTorch/XLA on Spirula: the devices `SPIRULA` and `SPIRULA_VULKAN`.

PyTorch/XLA finds the classes of this module by their entry points. `PJRT_DEVICE=SPIRULA` selects the processor, and
`PJRT_DEVICE=SPIRULA_VULKAN` the first Vulkan device. The environment variable `SPIRULA_DEVICE` names another device, such as
`cpu+san` or `vulkan:1`. `SPIRULA_LOGICAL_DEVICES` gives the client several logical devices, which share the memory of the one.
"""

import os

from torch_xla.experimental import plugins

from spirula import _spirula


class SpirulaPlugin(plugins.DevicePlugin):
    """The processor as a device of PyTorch/XLA."""

    _KIND = "cpu"

    def library_path(self) -> str:
        """The plugin for PJRT. PyTorch/XLA asks for it when it opens the client, and sends StableHLO from then on."""
        os.environ.setdefault("XLA_STABLEHLO_COMPILE", "1")
        return os.environ.get("SPIRULA_PJRT_LIBRARY") or _spirula.__file__

    def client_create_options(self) -> dict:
        """The options of the client. The plugin reads the environment variables itself."""
        return {"device_kind": self._KIND}


class SpirulaVulkanPlugin(SpirulaPlugin):
    """The first Vulkan device as a device of PyTorch/XLA."""

    _KIND = "vulkan"
