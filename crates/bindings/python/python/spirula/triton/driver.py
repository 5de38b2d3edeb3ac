"""Driver of Triton's runtime: launches, facts of the device, and times."""

import contextlib
import io
import os
import statistics
import struct
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase, decompose_descriptor, expand_signature

import spirula
from spirula.triton.compiler import BACKEND_NAME

# Formats of arguments that are no pointers, for `struct`.
FORMATS = {
    "i1": "b",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "u1": "B",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "fp16": "e",
    "fp32": "f",
    "f32": "f",
    "fp64": "d",
}

# Longest times that a benchmark measures, in milliseconds.
WARMUP_TIME = 25
MEASURED_TIME = 100


def pack_integer(kind: str, value: int) -> bytes:
    """The bytes of an integer, of which the low bits are kept."""
    size = struct.calcsize(FORMATS[kind])
    return (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")


def pack_brain(value: float) -> bytes:
    """The bytes of a number in the format `bf16`, rounded to the nearest one."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    if value == value:
        bits += 0x7FFF + ((bits >> 16) & 1)
    return struct.pack("<H", (bits >> 16) & 0xFFFF)


def find_address(value: Any) -> int:
    """The address of an argument that is a pointer."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    if hasattr(value, "data_ptr"):
        return value.data_ptr()
    raise TypeError(f"a pointer is a tensor or an address, not {type(value).__name__}")


def pack_argument(kind: str, value: Any) -> int | bytes:
    """An argument as kernels of Spirula take it: an address, or the bytes of a value."""
    if kind.startswith("*"):
        return find_address(value)
    if kind == "bf16":
        return pack_brain(value)
    if kind[0] in "iu":
        return pack_integer(kind, value)
    return struct.pack("<" + FORMATS[kind], value)


def flatten_signature(signature: Sequence[Any], values: Sequence[Any]) -> list[tuple[str, Any]]:
    """Pairs of types and values, without tuples, constants and descriptors."""
    pairs: list[tuple[str, Any]] = []
    for kind, value in zip(signature, values, strict=True):
        if isinstance(kind, tuple):
            pairs += flatten_signature(kind, value)
        elif kind.startswith("tensordesc"):
            pairs += zip(expand_signature([kind], None, ""), decompose_descriptor(value), strict=True)
        elif kind != "constexpr":
            pairs.append((kind, value))
    return pairs


class SpirulaLauncher:
    """Launches one kernel: Triton calls it with the grid and the arguments."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self.signature = list(source.signature.values())
        self.prints = metadata.prints

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        function: Any,
        kernel_metadata: Any,
        launch_metadata: Any,
        enter_hook: Callable[[Any], None] | None,
        exit_hook: Callable[[Any], None] | None,
        *arguments: Any,
    ) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if grid_x * grid_y * grid_z > 0:
            pairs = flatten_signature(self.signature, arguments)
            packed = [pack_argument(kind, value) for kind, value in pairs]
            grid = (grid_x, grid_y, grid_z)
            if self.prints:
                launch_printing(function, grid, packed)
            else:
                function(None, *packed, groups=grid)
        if exit_hook is not None:
            exit_hook(launch_metadata)


def launch_printing(function: Any, grid: tuple[int, int, int], packed: Sequence[int | bytes]) -> None:
    """Launches a kernel that prints, or has assertions.

    Raises RuntimeError where an assertion failed."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        function(None, *packed, groups=grid)
    failed = []
    for line in output.getvalue().splitlines():
        if "assertion failed: " in line:
            failed.append(line)
            print(line, file=sys.stderr)
        else:
            print(line)
    if failed:
        raise RuntimeError(failed[0])


class SpirulaUtilities:
    """What Triton's runtime asks of a device."""

    def load_binary(self, name: str, module: bytes, shared: int, device: int) -> tuple[Any, Any, int, int, int]:
        """The module, the kernel, and numbers of registers, of registers in memory, and of threads of a program."""
        loaded = spirula.compile(module)
        return (loaded, loaded.kernel(name, device=device_name()), 1, 0, 1 << 20)

    def unload_module(self, module: Any) -> None:
        """Modules are released with the last reference."""

    def get_device_properties(self, device: int | None) -> dict[str, int]:
        """Facts that kernels use to choose sizes of tiles and numbers of programs."""
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return {
            "max_shared_mem": 1 << 20,
            "max_num_regs": 1 << 16,
            "multiprocessor_count": processors,
            "warpSize": 1,
            "max_threads_per_sm": 1 << 10,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
        }


def device_name() -> str:
    """Name of the device that kernels run on."""
    return os.environ.get("SPIRULA_DEVICE") or "cpu"


class ElapsedEvent:
    """A point in time. Launches have ended when they return, so the clock of the process is exact enough."""

    def __init__(self, enable_timing: bool = True) -> None:
        self.time = 0.0

    def record(self, stream: Any = None) -> None:
        """Records the current time."""
        self.time = time.perf_counter()

    def elapsed_time(self, end: "ElapsedEvent") -> float:
        """Milliseconds up to another event."""
        return 1000 * (end.time - self.time)

    def synchronize(self) -> None:
        """Launches have ended when they return."""


class SpirulaInterface:
    """What Triton's benchmarks use of a module such as `torch.cuda`."""

    Event = ElapsedEvent

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Launches have ended when they return."""


def measure_call(
    kernel_call: Callable[[], Any],
    warmup: float = WARMUP_TIME,
    rep: float = MEASURED_TIME,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Milliseconds of a call, by the clock of the process: the quantiles that are asked for, or the mean or another summary."""
    times = []
    end = time.perf_counter() + (warmup + rep) / 1000
    while not times or time.perf_counter() < end and len(times) < 1000:
        for tensor in grad_to_none or ():
            tensor.grad = None
        start = time.perf_counter()
        kernel_call()
        times.append(1000 * (time.perf_counter() - start))
    times.sort()
    if quantiles is not None:
        chosen = [times[min(int(part * len(times)), len(times) - 1)] for part in quantiles]
        return chosen if len(chosen) > 1 else chosen[0]
    summaries = {"mean": statistics.mean, "median": statistics.median, "min": min, "max": max, "all": list}
    return summaries[return_mode](times)


class SpirulaDriver(DriverBase):
    """The processor, or the device that the environment variable `SPIRULA_DEVICE` names."""

    launcher_cls = SpirulaLauncher

    def __init__(self) -> None:
        self.utils = SpirulaUtilities()

    @classmethod
    def is_active(cls) -> bool:
        """Whether this driver is the one to use: by request, or because no other one of Triton is."""
        chosen = os.environ.get("TRITON_DEFAULT_BACKEND")
        if chosen:
            return chosen == BACKEND_NAME
        from triton.backends import backends

        others = [backend.driver for name, backend in backends.items() if name != BACKEND_NAME]
        return not any(driver.is_active() for driver in others)

    def map_python_to_cpp_type(self, ty: str) -> str:
        return "void*" if ty.startswith("*") else ty

    def get_current_target(self) -> GPUTarget:
        return GPUTarget(BACKEND_NAME, device_name(), 1)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        return SpirulaInterface

    def get_benchmarker(self) -> Callable[..., Any]:
        return measure_call

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        """There is one device."""

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, cache: None) -> None:
        """Benchmarks measure with what the caches hold."""
