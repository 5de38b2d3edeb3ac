"""Graphs of PyTorch as programs in StableHLO."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree

# Each of these modules enters its operations into the table.
from spirula.torch import (  # noqa: F401
    _contraction,
    _elementwise,
    _fourier,
    _indexing,
    _movement,
    _prims,
    _reduction,
    _window,
)
from spirula.torch._table import LOWERINGS
from spirula.torch._writer import HloValue, HloWriter, UnsupportedError, format_type


@dataclasses.dataclass(frozen=True)
class GraphProgram:
    """A graph as the text of a module, whose function `main` takes its tensors."""

    text: str
    # The placeholders that are parameters, by their numbers among all placeholders.
    inputs: list[int]
    # Tensors of the graph that are its constants, and the last parameters.
    constants: list[torch.Tensor]
    # The results of the graph: those of the function, or values that are no tensors.
    outputs: list[Any]


@dataclasses.dataclass(frozen=True)
class ResultTensor:
    """A result of the function: its number, and the strides where they are not those of dense rows."""

    number: int
    dtype: torch.dtype
    strides: tuple[int, ...] | None


def choose_decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's own definitions of the operations that have no translation: those into its core operations, and those of the
    core operations themselves.
    """
    from torch._decomp import core_aten_decompositions, decomposition_table

    def is_core(operation: Any) -> bool:
        return torch.Tag.core in getattr(operation, "tags", ())

    rules = dict(core_aten_decompositions())
    rules |= {operation: rule for operation, rule in decomposition_table.items() if is_core(operation)}
    return {operation: rule for operation, rule in rules.items() if operation not in LOWERINGS}


def lower_graph(module: torch.fx.GraphModule, names: Mapping[str, str] | None = None) -> GraphProgram:
    """Writes a graph as a program. Placeholders have names of their own, or those of a mapping.

    Raises UnsupportedError, with the operation and the line of the source, for what has no translation.
    """
    lowering = _GraphLowering(module, names or {})
    for node in module.graph.nodes:
        lowering.lower_node(node)
    return lowering.finish()


def is_supported(node: torch.fx.Node) -> bool:
    """Whether a node has a translation. It is tried with values that only have types."""
    if node.target is operator.getitem:
        source = node.args[0]
        return isinstance(source, torch.fx.Node) and source.op == "call_function" and is_supported(source)
    try:
        values = {of: _make_stand_ins(of) for of in node.all_input_nodes}
        writer = HloWriter()
        results = _apply_lowering(writer, node, values)
        for user in node.users:
            if user.target is operator.getitem:
                _take_item(results, user.args[1])
    except (UnsupportedError, KeyError):
        return False
    return True


def _make_stand_ins(node: torch.fx.Node) -> Any:
    """Values with the types of a node's results."""

    def convert(value: Any) -> Any:
        return _make_value("%x", value) if isinstance(value, torch.Tensor) else value

    return _pytree.tree_map(convert, node.meta["val"])


def _make_value(name: str, tensor: torch.Tensor) -> HloValue:
    """A value with the type of a tensor."""
    if tensor.layout != torch.strided or tensor.device.type != "cpu":
        raise UnsupportedError(f"a tensor of the layout {tensor.layout} on the device {tensor.device}")
    shape = tuple(tensor.shape)
    if not all(isinstance(size, int) for size in shape):
        raise UnsupportedError("sizes that are known only at run time")
    format_type(shape, tensor.dtype)
    return HloValue(name, shape, tensor.dtype)


def _apply_lowering(writer: HloWriter, node: torch.fx.Node, values: Mapping[torch.fx.Node, Any]) -> Any:
    """The results of a node, from those of its operands."""
    function = LOWERINGS.get(node.target) if node.op == "call_function" else None
    if function is None:
        raise UnsupportedError(f"the operation {node.target}")
    result = node.meta.get("val")
    for tensor in _pytree.tree_leaves(result):
        if isinstance(tensor, torch.Tensor):
            _make_value("", tensor)
    arguments = torch.fx.map_arg((node.args, node.kwargs), lambda of: values[of])
    positional, named = arguments
    if any(isinstance(leaf, torch.SymInt) for leaf in _pytree.tree_leaves(arguments)):
        raise UnsupportedError("sizes that are known only at run time")
    return function(writer, result, *positional, **named)


def _take_item(results: Any, number: int) -> Any:
    """One of several results. Some are written only where they are taken."""
    item = results[number]
    return item() if callable(item) else item


class _GraphLowering:
    """The state of writing a graph."""

    def __init__(self, module: torch.fx.GraphModule, names: Mapping[str, str]) -> None:
        self._module = module
        self._names = names
        self._writer = HloWriter()
        self._values: dict[torch.fx.Node, Any] = {}
        self._parameters: list[tuple[HloValue, str]] = []
        self._placeholders = 0
        self._inputs: list[int] = []
        self._attributes: list[tuple[HloValue, str, torch.Tensor]] = []
        self._results: list[HloValue] = []
        self._outputs: list[Any] = []

    def lower_node(self, node: torch.fx.Node) -> None:
        """Writes a node."""
        try:
            match node.op:
                case "placeholder":
                    self._values[node] = self._add_parameter(node)
                case "get_attr":
                    self._values[node] = self._add_attribute(node)
                case "output":
                    self._add_outputs(node)
                case _ if node.target is operator.getitem:
                    self._values[node] = _take_item(self._values[node.args[0]], node.args[1])
                case _:
                    self._values[node] = _apply_lowering(self._writer, node, self._values)
        except UnsupportedError as error:
            raise UnsupportedError(f"{error} of {node.name}{_describe_place(node)}") from None

    def finish(self) -> GraphProgram:
        """The program."""
        parameters = self._parameters + [(value, name) for value, name, _ in self._attributes]
        text = self._writer.finish(parameters, self._results)
        constants = [tensor for _, _, tensor in self._attributes]
        return GraphProgram(text, self._inputs, constants, self._outputs)

    def _add_parameter(self, node: torch.fx.Node) -> Any:
        number = self._placeholders
        self._placeholders += 1
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return value
        parameter = _make_value(f"%arg{number}", value)
        self._parameters.append((parameter, self._names.get(node.name, node.name)))
        self._inputs.append(number)
        return parameter

    def _add_attribute(self, node: torch.fx.Node) -> Any:
        tensor = _find_attribute(self._module, node.target)
        if not isinstance(tensor, torch.Tensor):
            raise UnsupportedError(f"the attribute {node.target}")
        value = _make_value(f"%constant{len(self._attributes)}", tensor)
        self._attributes.append((value, node.target, tensor))
        return value

    def _add_outputs(self, node: torch.fx.Node) -> None:
        outputs = node.args[0] if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
        for output in outputs:
            value = self._values[output] if isinstance(output, torch.fx.Node) else output
            if isinstance(value, HloValue):
                strides = _find_strides(output.meta["val"])
                self._outputs.append(ResultTensor(len(self._results), value.dtype, strides))
                self._results.append(value)
            else:
                self._outputs.append(value)


def _find_strides(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """The strides of a dense tensor, where they are not those of rows. Repeated elements become elements of their own."""
    if tensor.is_contiguous():
        return None
    step = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1:
            if stride != step:
                return None
            step *= size
    return tuple(tensor.stride())


def _find_attribute(module: torch.nn.Module, path: str) -> Any:
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _describe_place(node: torch.fx.Node) -> str:
    """The line of the source that made a node."""
    lines: Sequence[str] = (node.meta.get("stack_trace") or "").strip().splitlines()
    places = [line.strip() for line in lines if line.strip().startswith("File ")]
    return f", {places[-1]}" if places else ""
