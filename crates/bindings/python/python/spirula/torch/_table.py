"""The table of PyTorch's operations and the functions that write them as StableHLO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

# A function takes the writer, the metadata of the results (tensors without elements), and the arguments of the operation. It
# returns the value of the result, or a list of values.
LoweringFunction = Callable[..., Any]

LOWERINGS: dict[Any, LoweringFunction] = {}


def lowers(*operations: str) -> Callable[[LoweringFunction], LoweringFunction]:
    """Enters a function for operations of the namespace `aten`, such as `add.Tensor`.

    Operations that this release of PyTorch lacks are left out.
    """

    def enter(function: LoweringFunction) -> LoweringFunction:
        for operation in operations:
            found = find_operation(operation)
            if found is not None:
                LOWERINGS[found] = function
        return function

    return enter


def find_operation(name: str) -> Any | None:
    """An operation of the namespace `aten`, or of the one that its name begins with, as in `prims::iota.default`."""
    namespace, _, rest = name.rpartition("::")
    packet, _, overload = rest.partition(".")
    found = getattr(getattr(torch.ops, namespace or "aten"), packet, None)
    return getattr(found, overload, None)


def normalize_dimensions(dimensions: int | list[int] | None, rank: int) -> list[int]:
    """Dimensions counted from the first one; all where there are none."""
    if dimensions is None or not rank:
        return list(range(rank))
    numbers = [dimensions] if isinstance(dimensions, int) else list(dimensions)
    return [number % rank for number in numbers] or list(range(rank))


def normalize_dimension(dimension: int, rank: int) -> int:
    """A dimension counted from the first one."""
    return dimension % rank if rank else 0
