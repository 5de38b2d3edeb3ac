"""Compile compute programs to SPIR-V and run them.

- `load` and `compile` make a `Program` of StableHLO or Futhark source, and a `Module` of LLVM IR or SPIR-V.
- `Program` and `Function` are called with arrays, and return arrays that stay on the device.
- `Module.kernel` compiles an entry point, which is called with a size and arrays.
- `devices` lists the devices, and `Device.array` copies an array to one.
- `assemble`, `disassemble`, `optimize`, `reflect` and `verify` work on SPIR-V.

    >>> import spirula as sp
    >>> program = sp.load("model.mlir")
    >>> result, = program(x)
    >>> result.numpy()

Errors are exceptions of the class `SpirulaError`, with places in the source.
"""

from spirula._errors import (
    ArgumentError,
    CompileError,
    DeviceError,
    DeviceMemoryError,
    FaultError,
    ProgramError,
    ReadError,
    SpirulaError,
    SpirulaWarning,
    VerifyError,
)
from spirula._spirula import (
    Array,
    Device,
    Diagnostic,
    EntryPoint,
    Function,
    Kernel,
    KernelArgument,
    LocalMemory,
    Module,
    Opaque,
    Parameter,
    Program,
    Reflection,
    __version__,
    assemble,
    compile,
    devices,
    disassemble,
    load,
    measure_triton,
    optimize,
    reflect,
    verify,
)

__all__ = [
    "ArgumentError",
    "Array",
    "CompileError",
    "Device",
    "DeviceError",
    "DeviceMemoryError",
    "Diagnostic",
    "EntryPoint",
    "FaultError",
    "Function",
    "Kernel",
    "KernelArgument",
    "LocalMemory",
    "Module",
    "Opaque",
    "Parameter",
    "Program",
    "ProgramError",
    "ReadError",
    "Reflection",
    "SpirulaError",
    "SpirulaWarning",
    "VerifyError",
    "__version__",
    "assemble",
    "compile",
    "devices",
    "disassemble",
    "load",
    "measure_triton",
    "optimize",
    "reflect",
    "verify",
]
