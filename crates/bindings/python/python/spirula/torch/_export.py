"""Programs of `torch.export` as StableHLO."""

from __future__ import annotations

import torch
from torch.export.graph_signature import InputKind

from spirula.torch._graph import choose_decompositions, lower_graph


def to_stablehlo(exported: torch.export.ExportedProgram) -> str:
    """The text of a module with a function `main`.

    Its parameters are those of the model by their names in `state_dict`, then the arguments by their names. Its results are
    the buffers that the model changes, then its results.

    Raises UnsupportedError, with the line of the source, for an operation without a translation.
    """
    rules = torch.export.default_decompositions()
    rules.update(choose_decompositions())
    decomposed = exported.run_decompositions(rules)
    names = {}
    for spec in decomposed.graph_signature.input_specs:
        is_state = spec.kind in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
        names[spec.arg.name] = spec.target if is_state else spec.arg.name
    return lower_graph(decomposed.graph_module, names).text
