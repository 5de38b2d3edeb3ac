"""Operations that move elements, and those that make them of nothing."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from spirula.torch._elementwise import align_operands
from spirula.torch._table import lowers, normalize_dimension
from spirula.torch._writer import HloValue, HloWriter, Number, UnsupportedError, format_numbers


@lowers(
    "view.default",
    "_unsafe_view.default",
    "reshape.default",
    "squeeze.default",
    "squeeze.dim",
    "squeeze.dims",
    "unsqueeze.default",
    "_reshape_alias.default",
)
def lower_reshape(writer: HloWriter, result: torch.Tensor, operand: HloValue, *_: object) -> HloValue:
    return writer.reshape(operand, tuple(result.shape))


@lowers("expand.default")
def lower_expand(writer: HloWriter, result: torch.Tensor, operand: HloValue, *_: object, **__: object) -> HloValue:
    return writer.broadcast(operand, tuple(result.shape))


@lowers("permute.default")
def lower_permute(writer: HloWriter, _: torch.Tensor, operand: HloValue, order: Sequence[int]) -> HloValue:
    rank = len(operand.shape)
    return writer.transpose(operand, [normalize_dimension(dimension, rank) for dimension in order])


@lowers("transpose.int")
def lower_transpose(writer: HloWriter, _: torch.Tensor, operand: HloValue, first: int, second: int) -> HloValue:
    rank = len(operand.shape)
    order = list(range(rank))
    first, second = normalize_dimension(first, rank), normalize_dimension(second, rank)
    if rank:
        order[first], order[second] = order[second], order[first]
    return writer.transpose(operand, order)


@lowers("t.default")
def lower_t(writer: HloWriter, _: torch.Tensor, operand: HloValue) -> HloValue:
    return writer.transpose(operand, list(reversed(range(len(operand.shape)))))


@lowers("slice.Tensor")
def lower_slice(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    dimension: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> HloValue:
    dimension = normalize_dimension(dimension, len(operand.shape))
    start, limit = clip_range(operand.shape[dimension], start, end)
    return writer.slice_dimension(operand, dimension, start, limit, step)


def clip_range(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """The start and the end of a slice, within the size."""
    start, end, _ = slice(start, end).indices(size)
    return start, max(start, end)


@lowers("select.int")
def lower_select(writer: HloWriter, result: torch.Tensor, operand: HloValue, dimension: int, index: int) -> HloValue:
    dimension = normalize_dimension(dimension, len(operand.shape))
    if not isinstance(index, int):
        raise UnsupportedError("an index that is a tensor")
    index %= operand.shape[dimension]
    part = writer.slice_dimension(operand, dimension, index, index + 1)
    return writer.reshape(part, tuple(result.shape))


@lowers("cat.default")
def lower_cat(writer: HloWriter, result: torch.Tensor, tensors: Sequence[HloValue], dimension: int = 0) -> HloValue:
    dimension = normalize_dimension(dimension, result.dim())
    # PyTorch passes over vectors without elements, whatever the others' ranks.
    kept = [tensor for tensor in tensors if tensor.shape != (0,) or result.dim() == 1]
    parts = [writer.convert(tensor, result.dtype) for tensor in kept]
    return writer.concatenate(parts, dimension)


@lowers("split_with_sizes.default")
def lower_split(
    writer: HloWriter, _: object, operand: HloValue, sizes: Sequence[int], dimension: int = 0
) -> list[HloValue]:
    dimension = normalize_dimension(dimension, len(operand.shape))
    parts, start = [], 0
    for size in sizes:
        parts.append(writer.slice_dimension(operand, dimension, start, start + size))
        start += size
    return parts


@lowers("unbind.int")
def lower_unbind(
    writer: HloWriter, results: Sequence[torch.Tensor], operand: HloValue, dimension: int = 0
) -> list[HloValue]:
    return [lower_select(writer, result, operand, dimension, at) for at, result in enumerate(results)]


@lowers("flip.default")
def lower_flip(writer: HloWriter, _: torch.Tensor, operand: HloValue, dimensions: Sequence[int]) -> HloValue:
    rank = len(operand.shape)
    numbers = [normalize_dimension(dimension, rank) for dimension in dimensions]
    if not numbers or not rank:
        return operand
    attributes = f"dimensions = {format_numbers(numbers)}"
    return writer.make_value("reverse", [operand], operand.shape, operand.dtype, attributes)


@lowers("repeat.default")
def lower_repeat(writer: HloWriter, result: torch.Tensor, operand: HloValue, counts: Sequence[int]) -> HloValue:
    shape = (1,) * (len(counts) - len(operand.shape)) + operand.shape
    pairs = [size for pair in zip(counts, shape, strict=True) for size in pair]
    places = list(range(1, len(pairs), 2))
    repeated = writer.broadcast(writer.reshape(operand, shape), pairs, places)
    return writer.reshape(repeated, tuple(result.shape))


@lowers("constant_pad_nd.default")
def lower_pad(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, sizes: Sequence[int], value: Number = 0
) -> HloValue:
    rank = len(operand.shape)
    low, high = [0] * rank, [0] * rank
    for at in range(len(sizes) // 2):
        low[rank - 1 - at], high[rank - 1 - at] = sizes[2 * at], sizes[2 * at + 1]
    return writer.pad(operand, writer.make_constant(value, result.dtype), low, high)


@lowers("slice_scatter.default")
def lower_slice_scatter(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    source: HloValue,
    dimension: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> HloValue:
    dimension = normalize_dimension(dimension, len(operand.shape))
    size = operand.shape[dimension]
    start, limit = clip_range(size, start, end)
    places = range(start, limit, step)
    source = writer.broadcast(writer.convert(source, result.dtype), _with_size(operand.shape, dimension, len(places)))
    if step == 1:
        return _update_slice(writer, operand, source, dimension, start)
    # Elements between the slice's come from the operand: each index says whether and which one of the slice it takes.
    return _merge_strided(writer, operand, source, dimension, places)


def _with_size(shape: Sequence[int], dimension: int, size: int) -> tuple[int, ...]:
    return (*shape[:dimension], size, *shape[dimension + 1 :])


def _update_slice(writer: HloWriter, operand: HloValue, source: HloValue, dimension: int, start: int) -> HloValue:
    starts = [writer.make_constant(start if at == dimension else 0, torch.int64) for at in range(len(operand.shape))]
    return writer.make_value("dynamic_update_slice", [operand, source, *starts], operand.shape, operand.dtype)


def _merge_strided(
    writer: HloWriter, operand: HloValue, source: HloValue, dimension: int, places: range
) -> HloValue:
    rank = len(operand.shape)
    if not places:
        return operand
    low, high, inside = [0] * rank, [0] * rank, [0] * rank
    low[dimension], inside[dimension] = places.start, places.step - 1
    high[dimension] = operand.shape[dimension] - places[-1] - 1

    def spread(value: HloValue) -> HloValue:
        return writer.pad(value, writer.make_constant(0, value.dtype), low, high, inside)

    mask = spread(writer.make_constant(True, torch.bool, source.shape))
    return writer.select(mask, spread(source), operand)


@lowers("select_scatter.default")
def lower_select_scatter(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, source: HloValue, dimension: int, index: int
) -> HloValue:
    dimension = normalize_dimension(dimension, len(operand.shape))
    row = writer.reshape(writer.convert(source, result.dtype), _with_size(operand.shape, dimension, 1))
    return _update_slice(writer, operand, row, dimension, index % operand.shape[dimension])


@lowers("full.default", "full_like.default", "fill.Scalar", "scalar_tensor.default", "new_full.default")
def lower_full(writer: HloWriter, result: torch.Tensor, *arguments: object, **_: object) -> HloValue:
    return writer.make_constant(arguments[-1], result.dtype, tuple(result.shape))


@lowers("fill.Tensor")
def lower_fill(writer: HloWriter, result: torch.Tensor, _: HloValue, value: HloValue) -> HloValue:
    return align_operands(writer, tuple(result.shape), result.dtype, value)[0]


@lowers(
    "empty.memory_format",
    "empty_like.default",
    "empty_strided.default",
    "new_empty.default",
    "new_empty_strided.default",
    "zeros.default",
    "zeros_like.default",
    "new_zeros.default",
)
def lower_zeros(writer: HloWriter, result: torch.Tensor, *_: object, **__: object) -> HloValue:
    return writer.make_constant(0, result.dtype, tuple(result.shape))


@lowers("ones.default", "ones_like.default", "new_ones.default")
def lower_ones(writer: HloWriter, result: torch.Tensor, *_: object, **__: object) -> HloValue:
    return writer.make_constant(1, result.dtype, tuple(result.shape))


@lowers("arange.start_step")
def lower_arange(
    writer: HloWriter, result: torch.Tensor, start: Number, end: Number, step: Number = 1, **_: object
) -> HloValue:
    return _count_from(writer, result, start, step)


@lowers("prims::iota.default")
def lower_iota(
    writer: HloWriter, result: torch.Tensor, length: int, *, start: Number, step: Number, **_: object
) -> HloValue:
    return _count_from(writer, result, start, step)


def _count_from(writer: HloWriter, result: torch.Tensor, start: Number, step: Number) -> HloValue:
    shape, dtype = tuple(result.shape), result.dtype
    value = writer.make_iota(shape, 0, dtype)
    if step != 1:
        value = writer.map("multiply", value, writer.make_constant(step, dtype, shape))
    return writer.map("add", value, writer.make_constant(start, dtype, shape)) if start else value


@lowers("eye.default", "eye.m")
def lower_eye(writer: HloWriter, result: torch.Tensor, *_: object, **__: object) -> HloValue:
    shape = tuple(result.shape)
    same = writer.compare(writer.make_iota(shape, 0), writer.make_iota(shape, 1), "EQ")
    return writer.convert(same, result.dtype)
