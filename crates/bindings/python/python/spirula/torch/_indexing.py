"""Elements at computed places: gathers and scatters."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from spirula.torch._elementwise import align_operands
from spirula.torch._table import lowers, normalize_dimension
from spirula.torch._writer import HloValue, HloWriter, Number, UnsupportedError, format_combiner, format_numbers, format_type


class _IndexedPlaces:
    """The places that index tensors name in some dimensions of a tensor, in the numbering of StableHLO."""

    def __init__(self, writer: HloWriter, shape: Sequence[int], indices: Sequence[HloValue | None]) -> None:
        self.dimensions = [at for at, index in enumerate(indices) if index is not None]
        given = [index for index in indices if index is not None]
        if any(index.dtype in (torch.bool, torch.uint8) for index in given):
            raise UnsupportedError("an index that is a mask")
        self.batch = tuple(torch.broadcast_shapes(*(index.shape for index in given)))
        columns = []
        for dimension, index in zip(self.dimensions, given, strict=True):
            index = writer.broadcast(writer.convert(index, torch.int64), self.batch)
            columns.append(writer.reshape(_wrap(writer, index, shape[dimension]), (*self.batch, 1)))
        self.starts = writer.concatenate(columns, len(self.batch))
        self.sizes = [1 if at in self.dimensions else size for at, size in enumerate(shape)]
        # Dimensions of adjacent indices are replaced in their place; others come first.
        adjacent = self.dimensions == list(range(self.dimensions[0], self.dimensions[-1] + 1))
        before = self.dimensions[0] if adjacent else 0
        rank = len(shape) - len(self.dimensions)
        self.windows = [at if at < before else at + len(self.batch) for at in range(rank)]
        kept = [size for at, size in enumerate(shape) if at not in self.dimensions]
        self.shape = (*kept[:before], *self.batch, *kept[before:])

    def gather(self, writer: HloWriter, operand: HloValue) -> HloValue:
        """The elements at the places."""
        if 0 in self.shape:
            return writer.make_constant(0, operand.dtype, self.shape)
        numbers = (
            f"#stablehlo.gather<offset_dims = {self.windows}, collapsed_slice_dims = {self.dimensions}, "
            f"start_index_map = {self.dimensions}, index_vector_dim = {len(self.batch)}>"
        )
        attributes = (
            f"dimension_numbers = {numbers}, indices_are_sorted = false, slice_sizes = {format_numbers(self.sizes)}"
        )
        return writer.make_value("gather", [operand, self.starts], self.shape, operand.dtype, attributes)

    def scatter(self, writer: HloWriter, operand: HloValue, updates: HloValue, operation: str | None) -> HloValue:
        """The operand with updates at the places, which replace the elements or are combined with them."""
        if 0 in updates.shape:
            return operand
        numbers = (
            f"#stablehlo.scatter<update_window_dims = {self.windows}, inserted_window_dims = {self.dimensions}, "
            f"scatter_dims_to_operand_dims = {self.dimensions}, index_vector_dim = {len(self.batch)}>"
        )
        attributes = f"indices_are_sorted = false, scatter_dimension_numbers = {numbers}, unique_indices = false"
        element = format_type((), operand.dtype)
        region = f'    ^bb0(%a: {element}, %b: {element}):\n      "stablehlo.return"(%b) : ({element}) -> ()'
        if operation is not None:
            region = format_combiner(operation, operand.dtype)
        operands = [operand, self.starts, updates]
        return writer.make_value("scatter", operands, operand.shape, operand.dtype, attributes, region)


def _wrap(writer: HloWriter, index: HloValue, size: int) -> HloValue:
    """Indices that are negative count from the end."""
    negative = writer.compare(index, writer.make_constant(0, index.dtype, index.shape), "LT")
    moved = writer.map("add", index, writer.make_constant(size, index.dtype, index.shape))
    return writer.select(negative, moved, index)


@lowers("index.Tensor", "_unsafe_index.Tensor")
def lower_index(
    writer: HloWriter, _: torch.Tensor, operand: HloValue, indices: Sequence[HloValue | None]
) -> HloValue:
    return _IndexedPlaces(writer, operand.shape, indices).gather(writer, operand)


@lowers("embedding.default")
def lower_embedding(writer: HloWriter, _: torch.Tensor, weight: HloValue, indices: HloValue, *__: object) -> HloValue:
    return _IndexedPlaces(writer, weight.shape, [indices]).gather(writer, weight)


@lowers("index_select.default")
def lower_index_select(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dimension: int, index: HloValue
) -> HloValue:
    if not operand.shape:
        return operand
    before = [None] * normalize_dimension(dimension, len(operand.shape))
    index = index if index.shape else writer.reshape(index, (1,))
    return _IndexedPlaces(writer, operand.shape, [*before, index]).gather(writer, operand)


@lowers("index_put.default", "_unsafe_index_put.default")
def lower_index_put(
    writer: HloWriter,
    result: torch.Tensor,
    operand: HloValue,
    indices: Sequence[HloValue | None],
    values: HloValue,
    accumulate: bool = False,
) -> HloValue:
    first = indices[0]
    if len(indices) == 1 and first is not None and first.dtype == torch.bool and values.shape in ((), (1,)):
        return _put_at_mask(writer, operand, first, values, accumulate)
    places = _IndexedPlaces(writer, operand.shape, indices)
    (updates,) = align_operands(writer, places.shape, operand.dtype, values)
    return places.scatter(writer, operand, updates, "add" if accumulate else None)


def _put_at_mask(writer: HloWriter, operand: HloValue, mask: HloValue, value: HloValue, accumulate: bool) -> HloValue:
    """Puts a number at the places of a mask of the first dimensions."""
    mask = writer.broadcast(mask, operand.shape, range(len(mask.shape)))
    (filled,) = align_operands(writer, operand.shape, operand.dtype, value)
    return writer.select(mask, writer.map("add", operand, filled) if accumulate else filled, operand)


def _find_points(writer: HloWriter, operand: HloValue, dimension: int, index: HloValue) -> _IndexedPlaces:
    """The places of single elements: an index in one dimension, and the place of the index itself in the others."""
    shape = index.shape
    indices = [index if at == dimension else writer.make_iota(shape, at) for at in range(len(shape))]
    return _IndexedPlaces(writer, operand.shape, indices)


@lowers("gather.default")
def lower_gather(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, dimension: int, index: HloValue, **_: object
) -> HloValue:
    if not operand.shape or not index.shape:
        return writer.reshape(operand, tuple(result.shape))
    dimension = normalize_dimension(dimension, len(operand.shape))
    return _find_points(writer, operand, dimension, index).gather(writer, operand)


def _scatter_points(
    writer: HloWriter,
    operand: HloValue,
    dimension: int,
    index: HloValue,
    source: HloValue | Number,
    operation: str | None,
) -> HloValue:
    if not operand.shape or not index.shape:
        raise UnsupportedError("a scatter into a number")
    dimension = normalize_dimension(dimension, len(operand.shape))
    if isinstance(source, HloValue):
        rank = len(index.shape)
        source = writer.slice(source, [0] * rank, index.shape, [1] * rank)
    (updates,) = align_operands(writer, index.shape, operand.dtype, source)
    return _find_points(writer, operand, dimension, index).scatter(writer, operand, updates, operation)


@lowers("scatter.src", "scatter.value")
def lower_scatter(
    writer: HloWriter,
    _: torch.Tensor,
    operand: HloValue,
    dimension: int,
    index: HloValue,
    source: HloValue | Number,
) -> HloValue:
    return _scatter_points(writer, operand, dimension, index, source, None)


@lowers("scatter_add.default")
def lower_scatter_add(
    writer: HloWriter, _: torch.Tensor, operand: HloValue, dimension: int, index: HloValue, source: HloValue
) -> HloValue:
    return _scatter_points(writer, operand, dimension, index, source, "add")


_REDUCTIONS = {"sum": "add", "prod": "multiply", "amax": "maximum", "amin": "minimum"}


@lowers("scatter_reduce.two")
def lower_scatter_reduce(
    writer: HloWriter,
    _: torch.Tensor,
    operand: HloValue,
    dimension: int,
    index: HloValue,
    source: HloValue,
    reduce: str,
    *,
    include_self: bool = True,
) -> HloValue:
    if reduce not in _REDUCTIONS or not include_self:
        raise UnsupportedError(f"scatter_reduce by {reduce}{'' if include_self else ' without the elements themselves'}")
    return _scatter_points(writer, operand, dimension, index, source, _REDUCTIONS[reduce])


@lowers("diagonal.default", "diagonal_copy.default")
def lower_diagonal(
    writer: HloWriter, result: torch.Tensor, operand: HloValue, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> HloValue:
    rank = len(operand.shape)
    first, second = normalize_dimension(dim1, rank), normalize_dimension(dim2, rank)
    order = [first, second, *(at for at in range(rank) if at not in (first, second))]
    value = writer.transpose(operand, order)
    count = result.shape[-1]
    steps = writer.make_iota((count,), 0)

    def move(distance: int) -> HloValue:
        return writer.map("add", steps, writer.make_constant(distance, torch.int64, (count,)))

    places = _IndexedPlaces(writer, value.shape, [move(max(-offset, 0)), move(max(offset, 0))])
    return writer.transpose(places.gather(writer, value), [*range(1, rank - 1), 0])
