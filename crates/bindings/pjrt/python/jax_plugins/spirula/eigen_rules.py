"""Algorithms of `jax.lax.linalg.eigh` by their names.

JAX's rule of `cpu` knows one. Jacobi's method is a routine of the plugin, and `QDWH` is JAX's own program for TPUs.
"""

import functools
import re


def _emit_rotations(emit, ctx, operand, **options):
    """Emits the call of LAPACK as JAX does, and makes it one of Jacobi's method."""
    from jax._src.lib.mlir import ir

    block = ir.InsertionPoint.current.block
    first = len(block.operations)
    results = emit(ctx, operand, **options)
    for operation in list(block.operations)[first:]:
        attributes = operation.operation.attributes
        if "call_target_name" in attributes:
            target = re.sub("evd_ffi$", "evj_ffi", attributes["call_target_name"].value)
            attributes["call_target_name"] = ir.StringAttr.get(target)
    return results


def _emit_decomposition(emit, ctx, operand, *, algorithm, **options):
    """Emits a decomposition by the algorithm of a name."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg
    from jax._src.tpu.linalg import eigh

    names = linalg.EighImplementation
    if algorithm == names.JACOBI:
        return _emit_rotations(emit, ctx, operand, algorithm=names.QR, **options)
    if algorithm == names.QDWH:
        return mlir.lower_fun(eigh._eigh_qdwh_impl, multiple_results=True)(ctx, operand, **options)
    return emit(ctx, operand, algorithm=algorithm, **options)


def register_rules(platforms):
    """Registers the rule for platforms that have that of `cpu`."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    for platform in platforms:
        original = mlir._platform_specific_lowerings[platform][linalg.eigh_p].rule
        rule = functools.partial(_emit_decomposition, original)
        mlir.register_lowering(linalg.eigh_p, rule, platform=platform)
