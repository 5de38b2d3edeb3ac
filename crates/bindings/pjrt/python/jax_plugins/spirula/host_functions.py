"""Functions of the host that programs on Spirula call: those of Python (callbacks), and those of C (`jax.ffi`).

The plugin has the table of XLA's foreign function interface. A function of C is registered there by its name. Callbacks to
Python have one function there, `serve_callback`: it finds the Python function by a text of the call, which no other process
has, so that a program from a cache never calls another function.

The plugin calls functions on the thread of the device, or on the thread of the caller. It needs no lock of Python meanwhile,
so that a callback may run programs on the same device.
"""

import atexit
import ctypes
import functools
import itertools
import traceback
import types
import uuid
import weakref

import jax
import ml_dtypes
import numpy as np

# The name of `serve_callback` among functions of the host.
CALLBACK_TARGET = "spirula_python_callback"

# The attribute of a call that names the Python function.
_KEY = "callback"

# The code of internal errors.
_INTERNAL = 13

# Types of elements by their numbers in the interface. A token has no elements.
_TOKEN = 17
_DTYPES = {
    1: np.dtype(np.bool_),
    2: np.dtype(np.int8),
    3: np.dtype(np.int16),
    4: np.dtype(np.int32),
    5: np.dtype(np.int64),
    6: np.dtype(np.uint8),
    7: np.dtype(np.uint16),
    8: np.dtype(np.uint32),
    9: np.dtype(np.uint64),
    10: np.dtype(np.float16),
    11: np.dtype(np.float32),
    12: np.dtype(np.float64),
    15: np.dtype(np.complex64),
    16: np.dtype(ml_dtypes.bfloat16),
    18: np.dtype(np.complex128),
    19: np.dtype(ml_dtypes.float8_e5m2),
    20: np.dtype(ml_dtypes.float8_e4m3fn),
    21: np.dtype(ml_dtypes.int4),
    22: np.dtype(ml_dtypes.uint4),
    23: np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    24: np.dtype(ml_dtypes.float8_e5m2fnuz),
    25: np.dtype(ml_dtypes.float8_e4m3fnuz),
    26: np.dtype(ml_dtypes.int2),
    27: np.dtype(ml_dtypes.uint2),
    28: np.dtype(ml_dtypes.float8_e4m3),
    29: np.dtype(ml_dtypes.float8_e3m4),
    32: np.dtype(ml_dtypes.float4_e2m1fn),
    33: np.dtype(ml_dtypes.float8_e8m0fnu),
}


def _declare(name, *fields):
    """A struct of C."""
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


def _declare_sized(name, *fields):
    """A struct that begins with its size and its extensions."""
    return _declare(name, ("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p), *fields)


_ByteSpan = _declare("_ByteSpan", ("ptr", ctypes.c_void_p), ("len", ctypes.c_size_t))
_Buffer = _declare_sized(
    "_Buffer",
    ("dtype", ctypes.c_uint32),
    ("data", ctypes.c_void_p),
    ("rank", ctypes.c_int64),
    ("dims", ctypes.POINTER(ctypes.c_int64)),
)
_BufferList = _declare_sized(
    "_BufferList",
    ("size", ctypes.c_int64),
    ("types", ctypes.POINTER(ctypes.c_uint32)),
    ("items", ctypes.POINTER(ctypes.POINTER(_Buffer))),
)
_Attributes = _declare_sized(
    "_Attributes",
    ("size", ctypes.c_int64),
    ("types", ctypes.POINTER(ctypes.c_uint32)),
    ("names", ctypes.POINTER(ctypes.POINTER(_ByteSpan))),
    ("values", ctypes.POINTER(ctypes.POINTER(_ByteSpan))),
)
_Version = _declare_sized("_Version", ("major", ctypes.c_int), ("minor", ctypes.c_int))
_ErrorArgs = _declare_sized("_ErrorArgs", ("message", ctypes.c_char_p), ("code", ctypes.c_uint32))
_MessageArgs = _declare_sized("_MessageArgs", ("error", ctypes.c_void_p), ("message", ctypes.c_char_p))
_Bundle = _declare(
    "_Bundle",
    ("instantiate", ctypes.c_void_p),
    ("prepare", ctypes.c_void_p),
    ("initialize", ctypes.c_void_p),
    ("execute", ctypes.c_void_p),
)
_HandlerArgs = _declare_sized(
    "_HandlerArgs",
    ("name", _ByteSpan),
    ("platform", _ByteSpan),
    ("bundle", _Bundle),
    ("traits", ctypes.c_uint32),
)
_TypeArgs = _declare_sized(
    "_TypeArgs", ("name", _ByteSpan), ("type_id", ctypes.c_void_p), ("type_info", ctypes.c_void_p)
)


def _function_of(arguments):
    """A type of functions that return an error."""
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(arguments))


_Api = _declare_sized(
    "_Api",
    ("version", _Version),
    ("internal", ctypes.c_void_p),
    ("create_error", _function_of(_ErrorArgs)),
    ("get_message", ctypes.CFUNCTYPE(None, ctypes.POINTER(_MessageArgs))),
    ("destroy_error", ctypes.CFUNCTYPE(None, ctypes.POINTER(_MessageArgs))),
    ("register_handler", _function_of(_HandlerArgs)),
    ("get_stream", ctypes.c_void_p),
    ("register_type", _function_of(_TypeArgs)),
)
_CallFrame = _declare_sized(
    "_CallFrame",
    ("api", ctypes.POINTER(_Api)),
    ("context", ctypes.c_void_p),
    ("stage", ctypes.c_uint32),
    ("args", _BufferList),
    ("rets", _BufferList),
    ("attrs", _Attributes),
    ("future", ctypes.c_void_p),
)
_Handler = _function_of(_CallFrame)

# Python functions by the texts of their calls. JAX keeps a function alive as long as an executable that calls it.
_functions = weakref.WeakValueDictionary()


def _read_text(span):
    return ctypes.string_at(span.ptr, span.len).decode()


def _find_function(attributes):
    """The Python function of a call."""
    for at in range(attributes.size):
        if _read_text(attributes.names[at].contents) == _KEY:
            function = _functions.get(_read_text(attributes.values[at].contents))
            if function is not None:
                return function
    raise RuntimeError("the Python function of this program is not there: it belongs to another process, or has been released")


def _read_argument(buffer):
    """A copy of an operand. Python functions may keep it."""
    if buffer.dtype == _TOKEN:
        return None
    dtype = _DTYPES[buffer.dtype]
    array = np.empty(buffer.dims[: buffer.rank], dtype)
    ctypes.memmove(array.ctypes.data, buffer.data, array.nbytes)
    array.flags.writeable = False
    return array


def _write_result(buffer, value):
    if buffer.dtype == _TOKEN:
        return
    dtype = _DTYPES[buffer.dtype]
    shape = tuple(buffer.dims[: buffer.rank])
    array = np.ascontiguousarray(value).reshape(shape)
    if array.dtype != dtype:
        raise TypeError(f"the callback returned {array.dtype}{list(shape)}, its type is {dtype}")
    ctypes.memmove(buffer.data, array.ctypes.data, array.nbytes)


def _serve_frame(frame):
    function = _find_function(frame.attrs)
    arguments = [_read_argument(frame.args.items[at].contents) for at in range(frame.args.size)]
    results = function(*arguments)
    if len(results) != frame.rets.size:
        raise RuntimeError(f"the callback returned {len(results)} values, the call has {frame.rets.size}")
    for at, result in enumerate(results):
        _write_result(frame.rets.items[at].contents, result)


@_Handler
def serve_callback(frame):
    """Calls the Python function of a call. An exception is the error of the execution, with its traceback."""
    try:
        _serve_frame(frame.contents)
        return None
    except BaseException:
        message = traceback.format_exc().encode()
        arguments = _ErrorArgs(ctypes.sizeof(_ErrorArgs), None, message, _INTERNAL)
        return frame.contents.api.contents.create_error(ctypes.byref(arguments))


class HostFunctions:
    """The functions of the host that the plugin has."""

    def __init__(self, library):
        self._library = ctypes.CDLL(str(library))
        self._library.spirula_ffi_api.restype = ctypes.POINTER(_Api)
        self._api = self._library.spirula_ffi_api().contents
        address = ctypes.cast(serve_callback, ctypes.c_void_p).value
        self._register_bundle(CALLBACK_TARGET, _Bundle(execute=address))

    def _check(self, error):
        if error:
            arguments = _MessageArgs(ctypes.sizeof(_MessageArgs), None, error, None)
            self._api.get_message(ctypes.byref(arguments))
            message = arguments.message.decode()
            self._api.destroy_error(ctypes.byref(arguments))
            raise RuntimeError(message)

    def _register_bundle(self, name, bundle):
        span, _alive = _make_span(name)
        platform, _alive_too = _make_span("Host")
        arguments = _HandlerArgs(ctypes.sizeof(_HandlerArgs), None, span, platform, bundle, 0)
        self._check(self._api.register_handler(ctypes.byref(arguments)))

    def register_target(self, name, function, platform, api_version=1, traits=0):
        """Registers a function of C: a capsule, or a dictionary of capsules for the stages of a call."""
        del platform, traits
        if api_version != 1:
            raise NotImplementedError(f"{name}: Spirula calls functions of the typed interface, not of version {api_version}")
        stages = function if isinstance(function, dict) else {"execute": function}
        addresses = {stage: _find_address(capsule) for stage, capsule in stages.items()}
        self._register_bundle(_read_name(name), _Bundle(**addresses))

    def register_type(self, name, registration):
        """Registers a type of state or of user data."""
        span, _alive = _make_span(name)
        info = registration.get("type_info")
        arguments = _TypeArgs(
            ctypes.sizeof(_TypeArgs),
            None,
            span,
            _find_address(registration["type_id"]),
            _find_address(info) if info is not None else None,
        )
        self._check(self._api.register_type(ctypes.byref(arguments)))


def _read_name(name):
    """A name as text."""
    return name if isinstance(name, str) else name.decode()


def _make_span(text):
    """A text of C, and the object that keeps it."""
    data = ctypes.create_string_buffer(text.encode())
    return _ByteSpan(ctypes.addressof(data), len(data) - 1), data


def _find_address(capsule):
    """The address in a capsule of Python."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))


# Texts of calls: one for the process, and a number.
_process = uuid.uuid4().hex
_numbers = itertools.count()


def _emit_callback(emit, platforms, ctx, *arguments, **options):
    """Emits a callback as JAX does for its own processor, and makes it a call of `serve_callback`."""
    from jax._src.lib.mlir import ir

    module = ctx.module_context
    if len(module.platforms) != 1 or module.platforms[0] not in platforms:
        return emit(ctx, *arguments, **options)
    backend = types.SimpleNamespace(platform="cpu")
    disguised = ctx.replace(module_context=module.replace(platforms=("cpu",), backend=backend))
    outputs, token, function = emit(disguised, *arguments, **options)
    key = f"{_process}-{next(_numbers)}"
    _functions[key] = function if function is not None else module.host_callbacks[-1]
    made = [value for value in (token, *outputs) if value is not None]
    call = made[0].owner if made else ir.InsertionPoint.current.block.operations[-1].operation
    call.attributes["call_target_name"] = ir.StringAttr.get(CALLBACK_TARGET)
    call.attributes["mhlo.backend_config"] = ir.DictAttr.get({_KEY: ir.StringAttr.get(key)})
    return outputs, token, function


def _list_devices(local_devices, platforms, process_index=None, backend=None, host_id=None):
    """The local devices of a platform, as JAX itself asks for them.

    Callbacks get arrays of the platform `cpu`, or of Spirula where that is missing.
    """
    try:
        return local_devices(process_index, backend, host_id)
    except RuntimeError:
        if backend != "cpu":
            raise
    for platform in platforms:
        try:
            return local_devices(process_index, platform, host_id)
        except RuntimeError:
            continue
    raise RuntimeError("there is no device for the arguments of a callback")


def _finish_callbacks(platforms):
    """Waits for programs with callbacks, before Python ends and its functions cannot be called any more."""
    from jax._src import xla_bridge

    if next(_numbers) == 0:
        return
    for platform in platforms:
        backend = xla_bridge._backends.get(platform)
        if backend is not None:
            # The jobs of a device run in their order.
            jax.device_put(np.zeros((), np.float32), backend.local_devices()[0]).block_until_ready()


def adapt_callbacks(platforms):
    """Lets JAX's callbacks to Python work on platforms."""
    from jax._src import callback, xla_bridge

    atexit.register(_finish_callbacks, platforms)
    callback.emit_python_callback = functools.partial(_emit_callback, callback.emit_python_callback, platforms)
    xla_bridge.local_devices = functools.partial(_list_devices, xla_bridge.local_devices, platforms)


def _follow(module, name, follow):
    """Calls a function after each call of a function of a module, with the same arguments."""
    original = getattr(module, name)

    @functools.wraps(original)
    def call_both(*arguments, **options):
        original(*arguments, **options)
        follow(*arguments, **options)

    setattr(module, name, call_both)


class _LapackTargets:
    """Routines of LAPACK, which are registered once jaxlib has found SciPy's. Before, they have no code."""

    def __init__(self, register):
        from jaxlib import lapack

        self.register = register
        self.waiting = []
        self.find_routines = lapack._lapack.initialize
        lapack._lapack.initialize = self.initialize

    def initialize(self):
        self.find_routines()
        waiting, self.waiting = self.waiting, []
        for arguments in waiting:
            self.register(*arguments)

    def add(self, *arguments):
        self.waiting.append(arguments)


def _defer_routines(register):
    """A function that registers routines of LAPACK when they have code. Other releases of jaxlib may find them otherwise."""
    try:
        return _LapackTargets(register).add
    except (ImportError, AttributeError):
        return register


def adapt_targets(functions, platforms):
    """Lets functions of C that JAX registers for platforms, or for `cpu`, work on platforms."""
    from jax._src.lib import xla_client

    for platform in platforms:
        xla_client.register_custom_type_handler(platform, functions.register_type)
        xla_client.register_custom_call_handler(platform, functions.register_target)

    def share_type(name, registration, platform="cpu"):
        if platform == "cpu":
            functions.register_type(name, registration)

    register_routine = _defer_routines(functions.register_target)

    def share_target(name, fn, platform="cpu", api_version=0, traits=0):
        if platform == "cpu" and api_version == 1:
            register = register_routine if _read_name(name).startswith("lapack_") else functions.register_target
            register(name, fn, platform, api_version, traits)

    # Those of `cpu` wait there until XLA's processor begins.
    host = xla_client.xla_platform_names["cpu"]
    for name, registration in xla_client._custom_type_id.get(host, []):
        share_type(name, registration)
    for name, target, version, _ in xla_client._custom_callback.get(host, []):
        share_target(name, target, api_version=version)
    _follow(xla_client, "register_custom_type", share_type)
    _follow(xla_client, "register_custom_call_target", share_target)
