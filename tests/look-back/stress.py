"""Runs each kind of scan many times on a device, at several sizes: workgroups that look back at others meet in another
order each time, and what waits for one of them may wait for ever.

    python3 tests/look-back/stress.py [--spirula PATH] [--device vulkan] [--rounds 20] [--scale 1.0] [NAME…]

The scans are those of scans.fut, in the form that Futhark prints, and cumulative sums of StableHLO. Both compare their
results on the device and give the number of wrong elements. A run that does not end in time is told as one that hangs.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCANS = HERE / "scans.fut.imp.gz"

# Seconds after which a run is said to hang.
PATIENCE = 300

# Elements of the scans of numbers.
SIZES = [1_000, 100_000, 1_000_003, 30_000_000]
# Rows and their lengths.
ROWS = [(1_000_003, 5), (5, 1_000_003), (1_000, 1_000)]
# Elements and their lengths; a million of 100 is what most devices have room for.
ARRAYS = [(10_000, 100), (100_000, 10), (1_000_000, 3), (1_000_000, 100)]

# Sums of StableHLO: type, shape.
TENSORS = [("i32", (30_000_000,)), ("i64", (10_000_000,)), ("i32", (7, 3_000_000)), ("i32", (3_000, 3_000))]


def futhark_cases(scale, rounds):
    """Name, entry point, standard input, what is printed or part of the error."""
    scaled = lambda size: max(1, int(size * scale))
    zero = r"^0i64$"
    for entry in ["bytes", "words", "longs", "maps", "kept"]:
        for size in SIZES:
            yield f"{entry} {scaled(size)}", entry, f"{rounds}i64 {scaled(size)}i64", zero
    for rows, length in ROWS:
        yield f"rows {scaled(rows)} x {length}", "rows", f"{rounds}i64 {scaled(rows)}i64 {length}i64", zero
    for count, length in ARRAYS:
        few = max(1, rounds // 4)
        yield f"arrays {scaled(count)} x {length}", "arrays", f"{few}i64 {scaled(count)}i64 {length}i64", zero
    for entry in ["missing", "missing_in_histogram"]:
        for size in [20_000, 1_000_000]:
            for at in [0, 3, size // 2, size - 1]:
                name = f"{entry} {at} of {size}"
                values = "[" + ", ".join(f"{n % 10}i64" for n in range(size)) + f"] {at}i64"
                if entry == "missing_in_histogram":
                    values = values.rsplit(" ", 1)[0] + f" {at % 10}i64"
                yield name, entry, values, r"Index \[-1\] out of bounds"
    # NaN for what has no root, and the bits of all.
    yield "roots", "roots", "[1f16, -1f16, -4f16, 4f16, 0f16]", (
        r"\[false, true, true, false, false\]\s+\[15360u16, (3[12]\d{3}u16, ){2}16384u16, 0u16\]"
    )


def module(element, shape, rounds):
    """Sums of 2i + 1 + r along the last dimension, in rounds: those up to i are (i + 1)(i + 1 + r)."""
    whole = f"tensor<{'x'.join(map(str, shape))}x{element}>"
    flags = whole.replace(element, "i1")
    size, last = shape[-1], len(shape) - 1
    ones = ", ".join([*("1" for _ in shape[1:]), str(size)])
    pads = str([*([0, 0] for _ in shape[1:]), [size - 1, 0]])
    one = f"tensor<{element}>"
    across = ", ".join(map(str, range(len(shape))))
    return f"""module {{
  func.func @main() -> {one} {{
    %none = stablehlo.constant dense<0> : {one}
    %unit = stablehlo.constant dense<1> : {one}
    %count = stablehlo.constant dense<{rounds}> : {one}
    %i = stablehlo.iota dim = {last} : {whole}
    %one = stablehlo.constant dense<1> : {whole}
    %zero = stablehlo.constant dense<0> : {whole}
    %at = stablehlo.add %i, %one : {whole}
    %first = stablehlo.add %i, %at : {whole}
    %r:2 = stablehlo.while(%round = %none, %sum = %none) : {one}, {one}
     cond {{
      %more = stablehlo.compare LT, %round, %count : ({one}, {one}) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    }} do {{
      %all = stablehlo.broadcast_in_dim %round, dims = [] : ({one}) -> {whole}
      %values = stablehlo.add %first, %all : {whole}
      %found = "stablehlo.reduce_window"(%values, %none) <{{padding = dense<{pads}> : tensor<{len(shape)}x2xi64>, window_dimensions = array<i64: {ones}>}}> ({{
      ^bb0(%p: {one}, %q: {one}):
        %t = stablehlo.add %p, %q : {one}
        stablehlo.return %t : {one}
      }}) : ({whole}, {one}) -> {whole}
      %other = stablehlo.add %at, %all : {whole}
      %wanted = stablehlo.multiply %at, %other : {whole}
      %differ = stablehlo.compare NE, %found, %wanted : ({whole}, {whole}) -> {flags}
      %marks = stablehlo.select %differ, %one, %zero : {flags}, {whole}
      %wrong = stablehlo.reduce(%marks init: %none) applies stablehlo.add across dimensions = [{across}] : ({whole}, {one}) -> {one}
      %both = stablehlo.add %sum, %wrong : {one}
      %next = stablehlo.add %round, %unit : {one}
      stablehlo.return %next, %both : {one}, {one}
    }}
    return %r#1 : {one}
  }}
}}
"""


def run(command, text):
    """What is printed and said, and the seconds it took; nothing where it does not end."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, input=text, text=True, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None, PATIENCE
    return done.stdout.strip() + done.stderr, time.monotonic() - start


def tell(name, found, wanted, seconds):
    if found is None:
        verdict = "HANGS"
    elif re.search(wanted, found):
        verdict = "right"
    else:
        verdict = f"WRONG: {' '.join(found.split())[:200]}"
    print(f"{name:40} {seconds:8.2f} s  {verdict}", flush=True)
    return verdict == "right"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--spirula", default="target/release/spirula")
    parser.add_argument("--device", default="vulkan")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--option", action="append", default=[], help="for spirula run, as --option=--param=grid_size=64")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    is_asked = lambda name: not given.names or any(part in name for part in given.names)
    base = [given.spirula, "run", "--device", given.device, *given.option]
    verdicts = []
    for name, entry, text, wanted in futhark_cases(given.scale, given.rounds):
        if is_asked(name):
            found, seconds = run([*base, str(SCANS), "--entry", entry], text)
            verdicts.append(tell(name, found, wanted, seconds))
    for element, shape in TENSORS:
        shape = [max(1, int(size * given.scale)) for size in shape]
        name = f"tensor {'x'.join(map(str, shape))} {element}"
        if is_asked(name):
            with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
                file.write(module(element, shape, given.rounds))
                file.flush()
                found, seconds = run([*base, file.name], "")
            verdicts.append(tell(name, found, r"\b0 to 0\b", seconds))
    print(f"{sum(verdicts)} right, {len(verdicts) - sum(verdicts)} wrong")
    return 0 if verdicts and all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
