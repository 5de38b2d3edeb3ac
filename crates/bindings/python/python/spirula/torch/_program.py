"""Programs that are called with tensors of PyTorch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.weak import WeakTensorKeyDictionary

from spirula import _spirula
from spirula.torch._graph import GraphProgram, ResultTensor

# Dtypes that NumPy has of the package ml_dtypes, with integers of their width.
_BORROWED = {
    torch.bfloat16: ("bfloat16", torch.int16),
    torch.float8_e4m3fn: ("float8_e4m3fn", torch.uint8),
    torch.float8_e5m2: ("float8_e5m2", torch.uint8),
}

# Arrays on a device by the parameters of modules that they copy.
_RESIDENT: dict[Any, WeakTensorKeyDictionary] = {}


def open_device(name: str | None) -> _spirula.Device:
    """The device of a name, of the environment variable `SPIRULA_DEVICE`, or the processor."""
    return _spirula.Device(name or os.environ.get("SPIRULA_DEVICE") or "cpu")


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """The elements of a tensor, without a copy where they are dense."""
    tensor = tensor.detach().contiguous().resolve_conj().resolve_neg()
    if tensor.dtype not in _BORROWED:
        return tensor.numpy()
    import ml_dtypes

    name, word = _BORROWED[tensor.dtype]
    return tensor.view(word).numpy().view(getattr(ml_dtypes, name))


def from_array(array: _spirula.Array, dtype: torch.dtype) -> torch.Tensor:
    """The tensor of an array. On the processor it has the memory of the array, which nobody else knows."""
    elements = array.numpy()
    if dtype not in _BORROWED:
        return torch.from_numpy(elements)
    _, word = _BORROWED[dtype]
    return torch.from_numpy(elements.view(f"i{word.itemsize}")).view(dtype)


def _adopt_result(array: _spirula.Array, result: ResultTensor) -> torch.Tensor:
    """The tensor of a result, with the strides that the graph gives it."""
    tensor = from_array(array, result.dtype)
    if result.strides is None:
        return tensor
    return torch.empty_strided(tensor.shape, result.strides, dtype=tensor.dtype).copy_(tensor)


class TensorProgram:
    """A graph that was compiled for a device. Calls take and return tensors on the processor."""

    def __init__(self, program: GraphProgram, device: _spirula.Device) -> None:
        self._device = device
        self._program = program
        self._function = _spirula.compile(program.text, device=device, name="graph.mlir").function("main")
        self._constants = [device.array(to_numpy(tensor)) for tensor in program.constants]

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """The results of the graph."""
        given = [self._pass_tensor(arguments[number]) for number in self._program.inputs]
        results = self._function(*given, *self._constants)
        return [
            _adopt_result(results[output.number], output) if isinstance(output, ResultTensor) else output
            for output in self._program.outputs
        ]

    def _pass_tensor(self, tensor: torch.Tensor) -> Any:
        """An argument. Parameters of modules stay on the device until they change."""
        if not isinstance(tensor, torch.nn.Parameter) or tensor.is_inference():
            return to_numpy(tensor)
        resident = _RESIDENT.setdefault(self._device, WeakTensorKeyDictionary())
        version, array = resident.get(tensor, (None, None))
        key = (tensor._version, tensor.data_ptr())
        if version != key:
            array = self._device.array(to_numpy(tensor))
            resident[tensor] = (key, array)
        return array
