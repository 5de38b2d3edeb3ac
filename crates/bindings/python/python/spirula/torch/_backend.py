"""The backend of `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from spirula import _spirula
from spirula.torch._graph import choose_decompositions, is_supported, lower_graph
from spirula.torch._program import TensorProgram, open_device


def compile_graph(
    module: torch.fx.GraphModule,
    inputs: Sequence[Any],
    *,
    options: dict[str, Any] | None = None,
    **_: Any,
) -> Callable[..., Any]:
    """Compiles a graph of `torch.compile(backend="spirula")`, and of its gradient.

    Operations without a translation are run by PyTorch, between programs of the others.

    `options` may have `device`, the name of a device.
    """
    from torch._dynamo.backends.common import aot_autograd

    device = open_device((options or {}).get("device"))

    def compile_part(part: torch.fx.GraphModule, examples: Sequence[Any]) -> Callable[..., Any]:
        from functorch.compile import make_boxed_func

        return make_boxed_func(_compile_part(part, examples, device))

    compiler = aot_autograd(fw_compiler=compile_part, decompositions=choose_decompositions())
    return compiler(module, inputs)


def _compile_part(
    module: torch.fx.GraphModule, examples: Sequence[Any], device: _spirula.Device
) -> Callable[..., Any]:
    """A function that runs a graph of operations without effects."""
    if any(isinstance(example, torch.SymInt) for example in examples):
        return SpecializedGraph(module, device)
    return compile_static_graph(module, device)


class SpecializedGraph:
    """A graph with sizes that are known only at run time. It is compiled for each choice of sizes that it is called with."""

    def __init__(self, module: torch.fx.GraphModule, device: _spirula.Device) -> None:
        self._module = module
        self._device = device
        self._compiled: dict[tuple, Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        key = tuple(
            (tuple(argument.shape), argument.dtype) if isinstance(argument, torch.Tensor) else argument
            for argument in arguments
        )
        if key not in self._compiled:
            with torch.no_grad():
                traced = make_fx(self._module, tracing_mode="fake")(*arguments)
            self._compiled[key] = compile_static_graph(traced, self._device)
        return self._compiled[key](*arguments)


class _Support(OperatorSupportBase):
    """The nodes that become parts of programs."""

    def is_node_supported(self, _: Any, node: torch.fx.Node) -> bool:
        return node.op == "call_function" and is_supported(node)


def compile_static_graph(module: torch.fx.GraphModule, device: _spirula.Device) -> Callable[..., Any]:
    """A function that runs a graph whose sizes are known: one program, or several with PyTorch's operations between them."""
    module.graph.eliminate_dead_code()
    calls = [node for node in module.graph.nodes if node.op == "call_function"]
    if not calls or any(_changes_intermediate(node) for node in calls):
        return module
    support = _Support()
    if all(support.is_node_supported({}, node) for node in calls):
        return _compile_whole(module, device)
    partitioner = CapabilityBasedPartitioner(module, support, allows_single_node_partition=True)
    fused = partitioner.partition_and_fuse()
    for node in fused.graph.nodes:
        if node.op == "call_module":
            part = getattr(fused, node.target)
            run = _compile_whole(part, device)
            setattr(fused, node.target, _ProgramModule(run, isinstance(_find_output(part), torch.fx.Node)))
    return fused


def _changes_intermediate(node: torch.fx.Node) -> bool:
    """Whether an operation changes a tensor in place, other than an argument of the graph. Programs have no such tensors."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return False
    return not (isinstance(node.args[0], torch.fx.Node) and node.args[0].op == "placeholder")


def _find_output(module: torch.fx.GraphModule) -> Any:
    """The result of a graph: a node, or several ones."""
    return next(node for node in module.graph.nodes if node.op == "output").args[0]


class _ProgramModule(torch.nn.Module):
    """A compiled part of a graph."""

    def __init__(self, run: Callable[..., Any], has_one_result: bool) -> None:
        super().__init__()
        self._run = run
        self._has_one_result = has_one_result

    def forward(self, *arguments: Any) -> Any:
        results = self._run(*arguments)
        return results[0] if self._has_one_result else results


def _compile_whole(module: torch.fx.GraphModule, device: _spirula.Device) -> Callable[..., Any]:
    """A function that runs a graph as one program."""
    program = TensorProgram(lower_graph(module), device)
    return lambda *arguments: program(arguments)
