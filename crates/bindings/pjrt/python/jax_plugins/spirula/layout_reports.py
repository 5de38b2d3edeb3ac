"""Layouts that programs ask for while they are compiled: `jax.debug.inspect_array_sharding`.

The plugin calls `take_report` with the text of each call and the layout of its value. The text names the Python function. No
other process has it, so that a program from a cache never calls another function.
"""

import ctypes
import functools
import itertools
import traceback
import uuid
import weakref

import numpy as np


class _LayoutReport(ctypes.Structure):
    """A layout as the plugin has it."""

    _fields_ = [
        ("key", ctypes.c_void_p),
        ("key_size", ctypes.c_size_t),
        ("tiles", ctypes.POINTER(ctypes.c_uint64)),
        ("tile_count", ctypes.c_size_t),
        ("devices", ctypes.POINTER(ctypes.c_uint64)),
        ("device_count", ctypes.c_size_t),
    ]


_Inspector = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_LayoutReport))

# Texts of calls: one for the process, and a number.
_process = uuid.uuid4().hex
_numbers = itertools.count()

# Python functions by the texts of their calls. JAX keeps a function alive as long as the executable.
_functions = weakref.WeakValueDictionary()

# The text of the last error, which the plugin reads after the call.
_last_error = None


def _make_sharding(report):
    """The layout as JAX has it."""
    from jax._src.lib import xla_client

    if report.tile_count == 0:
        return xla_client.HloSharding.manual()
    tiles = report.tiles[: report.tile_count]
    if all(count == 1 for count in tiles[:-1]):
        return xla_client.HloSharding.replicate()
    devices = np.array(report.devices[: report.device_count], np.int64).reshape(tiles)
    shared = [xla_client.OpSharding.Type.REPLICATED]
    return xla_client.HloSharding.subgroup_with_device_ordering(devices, subgroup_types=shared)


@_Inspector
def take_report(report):
    """Calls the Python function of a call with the layout of its value. An exception is the error of the compilation."""
    global _last_error
    try:
        report = report.contents
        function = _functions.get(ctypes.string_at(report.key, report.key_size).decode())
        if function is not None:
            function(_make_sharding(report))
        return None
    except BaseException:
        _last_error = ctypes.create_string_buffer(traceback.format_exc().encode())
        return ctypes.addressof(_last_error)


def _name_function(lower, ctx, value, *, callback):
    """Lowers a call as JAX does, and gives it a text in the place of an address."""
    from jax._src.lib.mlir import ir

    kept = len(ctx.module_context.keepalives)
    results = lower(ctx, value, callback=callback)
    added = ctx.module_context.keepalives[kept:]
    if added:
        key = f"{_process}-{next(_numbers)}"
        _functions[key] = added[-1]
        call = ir.InsertionPoint.current.block.operations[-1].operation
        call.attributes["backend_config"] = ir.StringAttr.get(key)
    return results


def serve_reports(library, platforms):
    """Lets the functions of `jax.debug.inspect_array_sharding` be called on platforms."""
    from jax._src import debugging
    from jax._src.interpreters import mlir

    primitive = debugging.inspect_sharding_p
    rule = functools.partial(_name_function, mlir._lowerings[primitive].rule)
    for platform in platforms:
        mlir.register_lowering(primitive, rule, platform=platform)
    ctypes.CDLL(str(library)).spirula_set_layout_inspector(take_report)
