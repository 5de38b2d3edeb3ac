"""Backend of Triton's compiler: kernels of `@triton.jit` become SPIR-V.

Triton's own passes simplify the module of a kernel. Its text goes to Spirula, which compiles one program of the grid to the
work of one workgroup.
"""

import functools
import hashlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from triton import knobs
from triton._C.libtriton import ir, passes
from triton.backends.compiler import BaseBackend, GPUTarget, Language

import spirula

BACKEND_NAME = "spirula"


@dataclass(frozen=True)
class SpirulaOptions:
    """Options of a kernel. Those that only concern graphics cards are accepted and have no effect."""

    num_warps: int = 1
    num_ctas: int = 1
    num_stages: int = 1
    warp_size: int = 1
    maxnreg: int | None = None
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[tuple[str, str], ...] = ()
    debug: bool = False
    backend_name: str = BACKEND_NAME
    sanitize_overflow: bool = True
    arch: str = "cpu"
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False
    waves_per_eu: int = 0
    matrix_instr_nonkdim: int = 0
    kpack: int = 1
    allow_flush_denorm: bool = False
    schedule_hint: str = "none"
    ir_override: str | None = None

    def __post_init__(self) -> None:
        assert self.num_warps > 0 and self.num_warps & (self.num_warps - 1) == 0, "num_warps must be a power of 2"

    def hash(self) -> str:
        """Identifies the options in Triton's cache."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


class SpirulaBackend(BaseBackend):
    """Compiles for the target `GPUTarget("spirula", …)`."""

    binary_ext = "spv"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == BACKEND_NAME

    @functools.lru_cache
    def hash(self) -> str:
        return f"{BACKEND_NAME}-{spirula.__version__}-{self.target.arch}"

    def parse_options(self, options: dict[str, Any]) -> SpirulaOptions:
        known = SpirulaOptions.__dataclass_fields__
        chosen = {name: value for name, value in options.items() if name in known and value is not None}
        if isinstance(chosen.get("extern_libs"), dict):
            chosen["extern_libs"] = tuple(chosen["extern_libs"].items())
        chosen["arch"] = str(self.target.arch)
        # Triton counts the threads of a program by this product, which must not exceed those of the device.
        chosen["warp_size"] = 1
        return SpirulaOptions(**chosen)

    def pack_metadata(self, metadata: Any) -> tuple[int, ...]:
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)

    def get_codegen_implementation(self, options: SpirulaOptions) -> dict[str, Any]:
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def get_module_map(self) -> dict[str, ModuleType]:
        from triton.language.extra.cuda import libdevice

        # These functions are calls of symbols `__nv_…`, which Spirula knows.
        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, context: Any) -> None:
        pass

    def add_stages(self, stages: dict[str, Any], options: SpirulaOptions, language: Language) -> None:
        if language != Language.TRITON:
            raise NotImplementedError("Spirula compiles kernels of triton.jit, not of Gluon")
        stages["ttir"] = simplify_module
        stages["spv"] = functools.partial(compile_module, options=options)


def simplify_module(module: Any, metadata: dict[str, Any]) -> Any:
    """Runs the passes of Triton that do not depend on a device."""
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    passes.common.add_inliner(manager)
    passes.ttir.add_rewrite_tensor_descriptor_to_pointer(manager)
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_combine(manager)
    passes.ttir.add_reorder_broadcast(manager)
    passes.common.add_cse(manager)
    passes.ttir.add_triton_licm(manager)
    passes.common.add_symbol_dce(manager)
    manager.run(module, "make_ttir")
    return module


def compile_module(module: Any, metadata: dict[str, Any], options: SpirulaOptions) -> bytes:
    """Compiles the module to SPIR-V, and notes what the launch needs."""
    text = str(module)
    name = module.get_entry_func_name()
    metadata["name"] = name
    metadata["prints"] = "tt.print" in text or "tt.assert" in text
    # Kernels divide the memory of a device by this number, so it is never zero.
    metadata["shared"] = max(spirula.measure_triton(text, name=name), 1)
    metadata["tensordesc_meta"] = None
    return bytes(spirula.compile(text, name=name))
