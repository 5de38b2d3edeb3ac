"""Primitive operations, which PyTorch's own definitions of other operations consist of.

Their operands have the dtype and the sizes of the result already.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from spirula.torch._reduction import lower_maximum, lower_minimum, lower_moments, lower_product, lower_sum
from spirula.torch._table import LOWERINGS, LoweringFunction, find_operation, lowers
from spirula.torch._writer import HloValue, HloWriter

# Primitives that are operations of `aten` of another name.
_SAME = {
    "add": "add.Tensor",
    "bessel_i1e": "special_i1e.default",
    "bitwise_and": "bitwise_and.Tensor",
    "bitwise_or": "bitwise_or.Tensor",
    "bitwise_xor": "bitwise_xor.Tensor",
    "bitwise_not": "bitwise_not.default",
    "clone": "clone.default",
    "div": "div.Tensor",
    "erf_inv": "erfinv.default",
    "eq": "eq.Tensor",
    "fmod": "fmod.Tensor",
    "ge": "ge.Tensor",
    "gt": "gt.Tensor",
    "le": "le.Tensor",
    "lt": "lt.Tensor",
    "mul": "mul.Tensor",
    "ne": "ne.Tensor",
    "pow": "pow.Tensor_Tensor",
    "remainder": "remainder.Tensor",
    "reshape": "view.default",
    "shift_left": "bitwise_left_shift.Tensor",
    "shift_right_arithmetic": "bitwise_right_shift.Tensor",
    "squeeze": "squeeze.dims",
    "sub": "sub.Tensor",
    "transpose": "permute.default",
    "where": "where.self",
}

_SAME_NAME = (
    "abs acos acosh asin asinh atan atan2 atanh ceil cos cosh digamma erf erfc exp exp2 expm1 floor isfinite lgamma log log10 "
    "log1p log2 maximum minimum neg nextafter reciprocal round rsqrt sign sin sinh sqrt tan tanh trunc"
).split()


def _enter_same_operations() -> None:
    """Enters the functions of operations of `aten` for the primitives that they are."""
    pairs = dict.fromkeys(_SAME_NAME) | _SAME
    for primitive, name in pairs.items():
        function = LOWERINGS.get(find_operation(name or f"{primitive}.default"))
        if function is not None:
            lowers(f"prims::{primitive}.default")(function)


_enter_same_operations()


@lowers("prims::broadcast_in_dim.default")
def lower_broadcast(
    writer: HloWriter, _: torch.Tensor, operand: HloValue, shape: Sequence[int], dimensions: Sequence[int]
) -> HloValue:
    return writer.broadcast(operand, tuple(shape), list(dimensions))


@lowers("prims::var.default")
def lower_variance(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dims: Sequence[int], correction: float = 1, **_: object
) -> HloValue:
    return lower_moments(writer, [result, result], operand, dims, correction=correction)[0]


def _enter_reduction(name: str, function: LoweringFunction) -> None:
    @lowers(f"prims::{name}.default")
    def lower(writer: HloWriter, result: torch.Tensor, operand: HloValue, dims: Sequence[int], **_: object) -> HloValue:
        return function(writer, result, operand, dims) if dims else operand


for _name, _function in (
    ("sum", lower_sum),
    ("prod", lower_product),
    ("amax", lower_maximum),
    ("amin", lower_minimum),
):
    _enter_reduction(_name, _function)
