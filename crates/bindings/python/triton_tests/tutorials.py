"""Runs the tutorials of Triton on Spirula: `python tutorials.py CHECKOUT/python/tutorials [NUMBER …]`.

The kernels are those of the tutorials. Host code is changed where it asks for a graphics card: tensors are made on the processor,
benchmarks are left out, and sizes are small. Results are compared with PyTorch, in double precision where the tutorial's own
reference is computed in half precision.
"""

import argparse
import os
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TRITON_DEFAULT_BACKEND", "spirula")

import torch
import triton

# Texts of host code, and what replaces them.
CHANGES = (
    ('device="cuda"', 'device="cpu"'),
    ("device='cuda'", "device='cpu'"),
    ('device = "cuda"', 'device = "cpu"'),
    ('torch.cuda.get_device_properties("cuda")', "PROCESSOR"),
    ("assert x.is_cuda and output_triton.is_cuda", ""),
)


def load_tutorial(folder: Path, number: str, end: str | None = None, drop: str = "") -> types.ModuleType:
    """A tutorial as a module, up to a text and without another one."""
    (path,) = folder.glob(f"{number}-*.py")
    text = path.read_text()
    if end is not None:
        text = text[: text.index(end)]
    for old, new in (*CHANGES, (drop, "")):
        if old:
            text = text.replace(old, new)
    # Triton reads the source of kernels from a file.
    changed = Path(os.environ.get("TMPDIR", "/tmp")) / f"spirula-{path.name}"
    changed.write_text(text)
    module = types.ModuleType(f"tutorial_{number}")
    module.__file__ = str(changed)
    module.PROCESSOR = types.SimpleNamespace(multi_processor_count=2)
    exec(compile(text, str(changed), "exec"), module.__dict__)
    return module


def check_close(found: torch.Tensor, expected: torch.Tensor, tolerance: float) -> float:
    """The largest difference, which must be within a tolerance."""
    difference = (found.double() - expected.double()).abs().max().item()
    assert difference <= tolerance, f"the largest difference is {difference}"
    return difference


def run_vector_add(folder: Path) -> float:
    tutorial = load_tutorial(folder, "01")
    return check_close(tutorial.output_triton, tutorial.output_torch, 0.0)


def run_softmax(folder: Path) -> float:
    tutorial = load_tutorial(folder, "02")
    return check_close(tutorial.y_triton, torch.softmax(tutorial.x.double(), axis=1), 1e-6)


def run_matmul(folder: Path) -> float:
    tutorial = load_tutorial(folder, "03")
    a, b = torch.randn(300, 200, dtype=torch.float16), torch.randn(200, 150, dtype=torch.float16)
    product = a.double() @ b.double()
    leaky = torch.nn.functional.leaky_relu(product, 0.01)
    check_close(tutorial.matmul(a, b, activation="leaky_relu"), leaky, 0.05)
    return check_close(tutorial.matmul(a, b), product, 0.05)


def run_dropout(folder: Path) -> float:
    tutorial = load_tutorial(folder, "04")
    x = torch.randn(1 << 16)
    first, same, other = (tutorial.seeded_dropout(x, 0.5, seed) for seed in (123, 123, 512))
    assert torch.equal(first, same) and not torch.equal(first, other)
    kept = first != 0
    assert abs(kept.double().mean().item() - 0.5) < 0.02
    return check_close(first[kept], 2 * x[kept], 0.0)


def run_layer_norm(folder: Path) -> float:
    tutorial = load_tutorial(folder, "05", drop="test_layer_norm(1151, 8192, torch.float16)")
    torch.manual_seed(0)
    size, dtype = (1151, 8192), torch.float16
    weight = torch.rand(size[1], dtype=dtype, requires_grad=True)
    bias = torch.rand(size[1], dtype=dtype, requires_grad=True)
    x = (-2.3 + 0.5 * torch.randn(size, dtype=dtype)).requires_grad_()
    dy = 0.1 * torch.randn_like(x)
    y = tutorial.LayerNorm.apply(x, (size[1],), weight, bias, 1e-5)
    y.backward(dy)
    # PyTorch sums gradients of weights in half precision on the processor, with an error of 0.06 here.
    wide = [value.detach().double().requires_grad_() for value in (x, weight, bias)]
    expected = torch.nn.functional.layer_norm(wide[0], (size[1],), wide[1], wide[2], 1e-5)
    expected.backward(dy.double())
    pairs = zip((x, weight, bias), wide, strict=True)
    largest = max(check_close(value.grad, other.grad, 1e-2) for value, other in pairs)
    return max(largest, check_close(y, expected, 1e-2))


def run_attention(folder: Path) -> float:
    tutorial = load_tutorial(folder, "06", end="try:\n    from flash_attn")
    # The tuner does not tell these apart, and not all tiles for the second are right for the first.
    for causal in (True, False):
        for dimension in (64, 128):
            tutorial.test_op(1, 2, 256, dimension, causal, False, "fwd", "triton-fp8")
            tutorial.test_op(1, 2, 256, dimension, causal, False, "bwd", "triton-fp16")
    return 0.0


def run_extern(folder: Path) -> float:
    tutorial = load_tutorial(folder, "07", end="# %%\n#  Customize the libdevice library path")
    return check_close(tutorial.output_triton, torch.asin(tutorial.x.double()), 1e-6)


def run_grouped(folder: Path) -> float:
    tutorial = load_tutorial(folder, "08", end="# only launch the kernel")
    pairs = [(torch.rand(m, k, dtype=torch.float16), torch.rand(k, m, dtype=torch.float16)) for m, k in ((256, 128), (128, 64))]
    results = tutorial.group_gemm_fn([a for a, _ in pairs], [b for _, b in pairs])
    return max(check_close(c, a.double() @ b.double(), 0.1) for c, (a, b) in zip(results, pairs, strict=True))


def run_persistent(folder: Path) -> float:
    tutorial = load_tutorial(folder, "09")
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8))
    a = torch.randn(256, 128, dtype=torch.float16)
    b = torch.randn(384, 128, dtype=torch.float16)
    product = a.double() @ b.double().T
    largest = check_close(tutorial.matmul(a, b.T), product, 0.1)
    largest = max(largest, check_close(tutorial.matmul_persistent(a, b.T), product, 0.1))
    for kernel in (tutorial.matmul_tma, tutorial.matmul_tma_persistent, tutorial.matmul_descriptor_persistent):
        largest = max(largest, check_close(kernel(a, b, False), product, 0.1))
    return largest


def run_block_scaled(folder: Path) -> float:
    tutorial = load_tutorial(folder, "10")
    largest = 0.0
    for kind in ("nvfp4", "mxfp4", "mxfp8", "mixed"):
        made = tutorial.initialize_block_scaled(256, 256, 512, kind, compute_reference=True)
        descriptors, settings, reference = made[:4], made[4:8], made[8]
        found = tutorial.block_scaled_matmul(*descriptors, torch.float16, 256, 256, 512, *settings)
        largest = max(largest, check_close(found, reference, 1e-2 * reference.abs().max().item()))
    return largest


CHECKS = {
    "01": run_vector_add,
    "02": run_softmax,
    "03": run_matmul,
    "04": run_dropout,
    "05": run_layer_norm,
    "06": run_attention,
    "07": run_extern,
    "08": run_grouped,
    "09": run_persistent,
    "10": run_block_scaled,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tutorials", type=Path, help="folder of the tutorials in a checkout of Triton")
    parser.add_argument("numbers", nargs="*", default=list(CHECKS), help="tutorials to run, by default all")
    options = parser.parse_args()
    triton.testing.Mark.run = lambda *_, **__: None
    failures = 0
    for number in options.numbers:
        start = time.perf_counter()
        try:
            result = f"right, largest difference {CHECKS[number](options.tutorials):.3g}"
        except Exception as error:
            failures += 1
            result = f"FAILED: {type(error).__name__}: {str(error).strip()[:400]}"
        print(f"{number}: {result} ({time.perf_counter() - start:.1f} s)", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
