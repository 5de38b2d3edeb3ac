"""Products of matrices, and convolutions."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from spirula.torch._reduction import format_padding
from spirula.torch._table import lowers
from spirula.torch._writer import HloValue, HloWriter, format_numbers


def contract(
    writer: HloWriter, left: HloValue, right: HloValue, batches: int, dimensions: tuple[int, int]
) -> HloValue:
    """A product that sums over a dimension of each factor; the first dimensions are those of batches."""
    places = list(range(batches))
    attributes = (
        f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {places}, rhs_batching_dimensions = {places}, "
        f"lhs_contracting_dimensions = [{dimensions[0]}], rhs_contracting_dimensions = [{dimensions[1]}]>"
    )
    shape = list(left.shape[:batches])
    shape += [size for at, size in enumerate(left.shape) if at >= batches and at != dimensions[0]]
    shape += [size for at, size in enumerate(right.shape) if at >= batches and at != dimensions[1]]
    return writer.make_value("dot_general", [left, right], shape, left.dtype, attributes)


@lowers("mm.default", "mv.default")
def lower_matrix_product(writer: HloWriter, _: torch.Tensor, left: HloValue, right: HloValue) -> HloValue:
    return contract(writer, left, right, 0, (1, 0))


@lowers("dot.default")
def lower_dot(writer: HloWriter, _: torch.Tensor, left: HloValue, right: HloValue) -> HloValue:
    return contract(writer, left, right, 0, (0, 0))


@lowers("bmm.default")
def lower_batched_product(writer: HloWriter, _: torch.Tensor, left: HloValue, right: HloValue) -> HloValue:
    return contract(writer, left, right, 1, (2, 1))


@lowers("convolution.default")
def lower_convolution(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    weight: HloValue,
    bias: HloValue | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> HloValue:
    rank = len(operand.shape) - 2
    stride, padding, dilation, extra = (
        list(numbers) * rank if len(numbers) == 1 else list(numbers)
        for numbers in (stride, padding, dilation, output_padding)
    )
    strides, spread = stride, [1] * rank
    margins = [[size, size] for size in padding]
    if transposed:
        weight = _exchange_features(writer, weight, groups)
        strides, spread = [1] * rank, stride
        windows = [step * (size - 1) for step, size in zip(dilation, weight.shape[2:], strict=True)]
        triples = zip(windows, padding, extra, strict=True)
        margins = [[window - size, window - size + more] for window, size, more in triples]
    spatial = ", ".join(map(str, range(rank)))
    numbers = f"#stablehlo.conv<[b, f, {spatial}]x[o, i, {spatial}]->[b, f, {spatial}]>"
    reversal = ", ".join(["true" if transposed else "false"] * rank)
    attributes = (
        f"batch_group_count = 1 : i64, dimension_numbers = {numbers}, feature_group_count = {groups} : i64, "
        f"{format_padding(margins)}, window_strides = {format_numbers(strides)}, "
        f"lhs_dilation = {format_numbers(spread)}, rhs_dilation = {format_numbers(dilation)}, "
        f"window_reversal = array<i1: {reversal}>"
    )
    shape = tuple(result.shape)
    value = writer.make_value("convolution", [operand, weight], shape, result.dtype, attributes)
    if bias is None:
        return value
    return writer.map("add", value, writer.broadcast(bias, shape, [1]))


def _exchange_features(writer: HloWriter, weight: HloValue, groups: int) -> HloValue:
    """The weight of a transposed convolution, with the features of the results first."""
    inputs, outputs, *sizes = weight.shape
    value = writer.reshape(weight, (groups, inputs // groups, outputs, *sizes))
    value = writer.transpose(value, [0, 2, 1, *range(3, 3 + len(sizes))])
    return writer.reshape(value, (groups * outputs, inputs // groups, *sizes))
