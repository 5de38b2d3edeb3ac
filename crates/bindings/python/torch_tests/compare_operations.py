"""PyTorch's own list of operations and their samples, compiled and beside PyTorch itself.

    python compare_operations.py [--part 0/4] [--samples 6] [--device cpu] [NAME …]

A sample is whole if one program computes it, or in part if PyTorch runs some of its operations.
"""

import argparse
import collections
import sys
import warnings
from collections.abc import Callable, Iterator

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

from spirula.torch._backend import compile_static_graph
from spirula.torch._graph import choose_decompositions, is_supported
from spirula.torch._program import open_device

# Dtypes of samples.
_DTYPES = (torch.float32, torch.complex64, torch.bfloat16, torch.int64, torch.bool)

# Tolerances of results, where they are not exact.
_TOLERANCES = {
    torch.bfloat16: 3e-2,
    torch.float16: 3e-3,
    torch.float32: 1e-4,
    torch.float64: 1e-8,
    torch.complex64: 1e-4,
    torch.complex128: 1e-8,
}

# Operations whose results have no definite value: memory as it is, the order of equal elements, and random numbers.
_INDEFINITE = frozenset(
    "argsort bernoulli cauchy empty empty_like empty_permuted empty_strided exponential geometric log_normal multinomial new_empty "
    "new_empty_strided nn.functional.alpha_dropout nn.functional.dropout nn.functional.dropout2d nn.functional.dropout3d "
    "nn.functional.feature_alpha_dropout nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d "
    "nn.functional.rrelu normal pca_lowrank rand_like randint randint_like randn randn_like sort svd_lowrank topk uniform".split()
)


class OperationSample:
    """A call of an operation as a function of its tensors."""

    def __init__(self, function: Callable, sample) -> None:
        self._function = function
        self._leaves, self._tree = _pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.tensors = [leaf for leaf in self._leaves if isinstance(leaf, torch.Tensor)]

    def run(self, *tensors: torch.Tensor) -> list[torch.Tensor]:
        """The results that are tensors. The tensors are copied, as some operations change them."""
        copies = iter([tensor.clone() for tensor in tensors])
        leaves = [next(copies) if isinstance(leaf, torch.Tensor) else leaf for leaf in self._leaves]
        first, others, named = _pytree.tree_unflatten(leaves, self._tree)
        results = _pytree.tree_leaves(self._function(first, *others, **named))
        return [result for result in results if isinstance(result, torch.Tensor)]


def list_samples(operation, dtype: torch.dtype, limit: int) -> Iterator[OperationSample]:
    """Some samples of an operation, from all over the list."""
    try:
        samples = list(operation.sample_inputs("cpu", dtype, requires_grad=False))
    except (RuntimeError, ValueError, TypeError, ImportError):
        return
    step = max(1, len(samples) // limit)
    for sample in samples[::step][:limit]:
        yield OperationSample(operation.op, sample)


def compare_sample(sample: OperationSample, rules: dict, device) -> tuple[str, str]:
    """The outcome of a sample, and its reason."""
    try:
        expected = sample.run(*sample.tensors)
    except Exception as error:  # noqa: BLE001 - PyTorch's own failure, of any class, leaves nothing to compare.
        return "refused by PyTorch", type(error).__name__
    try:
        traced = make_fx(torch.func.functionalize(sample.run), decomposition_table=rules, tracing_mode="fake")
        module = traced(*sample.tensors)
    except Exception as error:  # noqa: BLE001
        return "not traced", type(error).__name__
    module.graph.eliminate_dead_code()
    calls = [node for node in module.graph.nodes if node.op == "call_function"]
    missing = [str(node.target) for node in calls if not is_supported(node)]
    try:
        found = compile_static_graph(module, device)(*sample.tensors)
        for result, value in zip(found, expected, strict=True):
            tolerance = max(_TOLERANCES.get(tensor.dtype, 0.0) for tensor in (value, *sample.tensors))
            tolerance = tolerance if value.dtype in _TOLERANCES else 0.0
            torch.testing.assert_close(
                result, value, rtol=tolerance, atol=tolerance, equal_nan=True, check_stride=False
            )
    except Exception as error:  # noqa: BLE001 - Every failure is an outcome.
        return "wrong", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ("in part", missing[0]) if missing else ("whole", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="0/1", help="which operations: a number and the count of parts")
    parser.add_argument("--samples", type=int, default=6, help="samples of an operation and dtype at most")
    parser.add_argument("--device", help="name of a device")
    parser.add_argument("names", nargs="*", help="operations; by default all")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    warnings.filterwarnings("ignore")
    device, rules = open_device(options.device), choose_decompositions()
    outcomes, missing = collections.Counter(), collections.Counter()
    chosen = [op for op in op_db if op.name in options.names or not options.names and op.name not in _INDEFINITE]
    for operation in chosen[part::parts]:
        for dtype in _DTYPES:
            if dtype not in operation.dtypes:
                continue
            for sample in list_samples(operation, dtype, options.samples):
                outcome, reason = compare_sample(sample, rules, device)
                outcomes[outcome] += 1
                if outcome == "wrong":
                    shapes = [tuple(tensor.shape) for tensor in sample.tensors]
                    print(f"wrong: {operation.full_name} {dtype} {shapes}: {reason}", flush=True)
                elif reason:
                    missing[f"{outcome}: {reason}"] += 1
    for reason, count in missing.most_common():
        print(f"{count:5} {reason}")
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    return 1 if outcomes["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
