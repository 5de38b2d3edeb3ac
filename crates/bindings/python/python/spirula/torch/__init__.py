"""PyTorch on Spirula.

- `torch.compile(model, backend="spirula")` compiles a model, for the device that the environment variable `SPIRULA_DEVICE` or
  the option `device` names. No other package is needed.
- `to_stablehlo(exported)` writes a program of `torch.export` as StableHLO.

    >>> import torch
    >>> model = torch.compile(model, backend="spirula", options={"device": "vulkan"})
    >>> with torch.no_grad():
    ...     y = model(x)

Tensors of PyTorch are on the processor; parameters are copied to the device once.
"""

from spirula.torch._backend import compile_graph
from spirula.torch._export import to_stablehlo
from spirula.torch._writer import UnsupportedError

__all__ = ["UnsupportedError", "compile_graph", "to_stablehlo"]
