"""What single operations on tensors take on a device, by its clock, beside a copy of as many bytes.

    python3 benches/rounds.py [--spirula PATH] [--device vulkan] [--option=--schedule=…] [NAME…]

Each module applies one operation to operands that lie in memory, in a loop of ROUNDS rounds, so that the clock is up: the
operands are made on the device and carried by the loop. A row of the table is the mean time of a round, all kernels of the loop
together. A product is told in operations in a second, anything else in bytes that it reads and writes at least.
"""

import argparse
import re
import subprocess
import sys
import tempfile

ROUNDS = 40
# Bytes of an element.
SIZES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "i32": 4}


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}{'x' if shape else ''}{element}>"


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


class Case:
    """An operation: its operands by shape and type, its result, the lines that make %y of %a0, %a1, …"""

    def __init__(self, name, operands, result, lines, operations=None, seen=None):
        self.name, self.operands, self.result, self.lines = name, operands, result, lines
        self.operations = operations
        both = [*(seen or operands), result]
        self.bytes = sum(count(shape) * SIZES[element] for shape, element in both)

    def module(self):
        made, types, names, first = [], [], [], []
        for n, (shape, element) in enumerate(self.operands):
            whole = tensor(shape, element)
            made += [
                f"%i{n} = stablehlo.iota dim = {len(shape) - 1} : {tensor(shape, 'i32')}",
                f"%k{n} = stablehlo.constant dense<3> : {tensor(shape, 'i32')}",
                f"%m{n} = stablehlo.and %i{n}, %k{n} : {tensor(shape, 'i32')}",
                f"%x{n} = stablehlo.convert %m{n} : ({tensor(shape, 'i32')}) -> {whole}",
            ]
            types.append(whole)
            names.append(f"%a{n}")
            first.append(f"%x{n}")
        result = tensor(*self.result)
        carried = ", ".join(f"{a} = {x}" for a, x in zip(names, first))
        kinds = ", ".join(["tensor<i32>", *types, result])
        body = "\n      ".join(self.lines)
        return f"""module {{
  func.func @main() -> {result} {{
    %none = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %rounds = stablehlo.constant dense<{ROUNDS}> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    {chr(10).join(made)}
    %before = stablehlo.constant dense<0> : {tensor(self.result[0], 'i32')}
    %start = stablehlo.convert %before : ({tensor(self.result[0], 'i32')}) -> {result}
    %r:{len(types) + 2} = stablehlo.while(%n = %none, {carried}, %last = %start) : {kinds}
    cond {{
      %c = stablehlo.compare LT, %n, %rounds : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      {body}
      %next = stablehlo.add %n, %one : tensor<i32>
      stablehlo.return %next, {', '.join(names)}, %y : {kinds}
    }}
    return %r#{len(types) + 1} : {result}
  }}
}}
"""


def elementwise(name, size, operands, lines):
    kind = ((size,), "f32")
    return Case(name, [kind] * operands, kind, [line.replace("T", tensor(*kind)) for line in lines])


def fold(operation, start, value, axis, shape, out="%y"):
    kept = [size for n, size in enumerate(shape) if n != axis]
    return (
        f"{out} = stablehlo.reduce({value} init: {start}) applies stablehlo.{operation} across dimensions = [{axis}] : "
        f"({tensor(shape, 'f32')}, tensor<f32>) -> {tensor(kept, 'f32')}"
    )


def reduction(name, shape, axis, operation="add", start="%zero"):
    kept = tuple(size for n, size in enumerate(shape) if n != axis)
    return Case(name, [(shape, "f32")], (kept, "f32"), [fold(operation, start, "%a0", axis, shape)])


def spread(value, out, rows, whole):
    return f"{out} = stablehlo.broadcast_in_dim {value}, dims = [0] : ({rows}) -> {whole}"


def softmax(rows, columns):
    shape = (rows, columns)
    whole, short = tensor(shape, "f32"), tensor((rows,), "f32")
    lines = [
        fold("maximum", "%least", "%a0", 1, shape, "%most"),
        spread("%most", "%mosts", short, whole),
        f"%less = stablehlo.subtract %a0, %mosts : {whole}",
        f"%power = stablehlo.exponential %less : {whole}",
        fold("add", "%zero", "%power", 1, shape, "%sum"),
        spread("%sum", "%sums", short, whole),
        f"%y = stablehlo.divide %power, %sums : {whole}",
    ]
    return Case(f"softmax, {rows} x {columns}", [(shape, "f32")], (shape, "f32"), lines)


def normalisation(rows, columns):
    shape = (rows, columns)
    whole, short = tensor(shape, "f32"), tensor((rows,), "f32")
    lines = [
        f"%size = stablehlo.constant dense<{float(columns)}> : {short}",
        fold("add", "%zero", "%a0", 1, shape, "%sum"),
        f"%mean = stablehlo.divide %sum, %size : {short}",
        spread("%mean", "%means", short, whole),
        f"%less = stablehlo.subtract %a0, %means : {whole}",
        f"%square = stablehlo.multiply %less, %less : {whole}",
        fold("add", "%zero", "%square", 1, shape, "%squares"),
        f"%variance = stablehlo.divide %squares, %size : {short}",
        f"%root = stablehlo.rsqrt %variance : {short}",
        spread("%root", "%roots", short, whole),
        f"%y = stablehlo.multiply %less, %roots : {whole}",
    ]
    return Case(f"normalisation, {rows} x {columns}", [(shape, "f32")], (shape, "f32"), lines)


def scan(name, shape, axis, reverse=False):
    """As JAX lowers `cumsum`: a window over all that is before."""
    whole, size = tensor(shape, "f32"), shape[axis]
    ones = lambda value: ", ".join(str(value if n == axis else 1) for n in range(len(shape)))
    pads = [[0, 0] for _ in shape]
    pads[axis] = [0, size - 1] if reverse else [size - 1, 0]
    lines = [
        f'%y = "stablehlo.reduce_window"(%a0, %zero) <{{padding = dense<{pads}> : tensor<{len(shape)}x2xi64>, '
        f"window_dimensions = array<i64: {ones(size)}>, window_strides = array<i64: {ones(1)}>}}> ({{",
        "^bb0(%p: tensor<f32>, %q: tensor<f32>):",
        "%t = stablehlo.add %p, %q : tensor<f32>",
        "stablehlo.return %t : tensor<f32>",
        f"}}) : ({whole}, tensor<f32>) -> {whole}",
    ]
    return Case(name, [(shape, "f32")], (shape, "f32"), lines)


def transposition(size, element):
    kind = ((size, size), element)
    whole = tensor(*kind)
    return Case(
        f"transposition, {size} x {size} {element}",
        [kind],
        kind,
        [f"%y = stablehlo.transpose %a0, dims = [1, 0] : ({whole}) -> {whole}"],
    )


def product(m, n, k, element, result, batch=None, turned=(), epilogue=False):
    a = (k, m) if 0 in turned else (m, k)
    b = (n, k) if 1 in turned else (k, n)
    c, first = (m, n), ""
    if batch:
        a, b, c = (batch, *a), (batch, *b), (batch, *c)
        first = "batching_dims = [0] x [0], "
    shift = 1 if batch else 0
    axes = [(0 if 0 in turned else 1) + shift, (1 if 1 in turned else 0) + shift]
    whole = tensor(c, result)
    lines = [
        f"%{'p' if epilogue else 'y'} = stablehlo.dot_general %a0, %a1, {first}contracting_dims = [{axes[0]}] x [{axes[1]}] : "
        f"({tensor(a, element)}, {tensor(b, element)}) -> {whole}"
    ]
    operands = [(a, element), (b, element)]
    if epilogue:
        operands.append(((n,), result))
        lines += [
            f"%row = stablehlo.broadcast_in_dim %a2, dims = [1] : ({tensor((n,), result)}) -> {whole}",
            f"%s = stablehlo.add %p, %row : {whole}",
            f"%y = stablehlo.tanh %s : {whole}",
        ]
    name = f"product, {element} to {result}, "
    name += f"{batch} of {m}" if batch else (str(m) if m == n == k else f"{m} x {n} x {k}")
    name += "".join(f", {('first', 'second')[t]} transposed" for t in turned)
    name += ", row added and tanh" if epilogue else ""
    return Case(name, operands, (c, result), lines, operations=2 * m * n * k * (batch or 1))


def cases():
    big = 1 << 27
    yield elementwise("negation, 2^27", big, 1, ["%y = stablehlo.negate %a0 : T"])
    yield elementwise(
        "(a + b) * b, 2^27", big, 2, ["%s = stablehlo.add %a0, %a1 : T", "%y = stablehlo.multiply %s, %a1 : T"]
    )
    yield reduction("sum, 2^28", (2 * big,), 0)
    for columns in (32, 64, 128, 256, 512, 1024, 4096, 16384):
        yield reduction(f"sums of {2 * big // columns} rows of {columns}", (2 * big // columns, columns), 1)
    yield reduction("maxima of 65536 rows of 4096", (65536, 4096), 1, "maximum", "%least")
    for columns in (64, 4096):
        yield reduction(f"sums of {columns} columns of {2 * big // columns}", (2 * big // columns, columns), 0)
    for columns in (64, 128, 256, 512, 1024, 4096, 32768):
        yield softmax((1 << 26) // columns, columns)
    yield normalisation(32768, 2048)
    yield normalisation(1 << 18, 256)
    yield normalisation(1 << 19, 128)
    for power in (16, 20, 24, 27):
        yield scan(f"scan, 2^{power}", (1 << power,), 0)
    yield scan("scan from the last, 2^24", (1 << 24,), 0, reverse=True)
    yield scan("scan, 10^7", (10**7,), 0)
    yield scan("scans of 512 rows of 4096", (512, 4096), 1)
    yield scan("scans of 32768 rows of 4096", (32768, 4096), 1)
    yield scan("scans of 262144 rows of 512", (262144, 512), 1)
    yield scan("scans of 32768 columns of 4096", (4096, 32768), 0)
    yield transposition(8192, "f32")
    yield transposition(8192, "f16")
    for size in (64, 256, 512, 1024, 2048, 4096, 8192, 4095, 2049):
        yield product(size, size, size, "f32", "f32")
    for size in (64, 256, 512, 1024, 2048, 4096, 6144, 8192, 2049, 4095):
        yield product(size, size, size, "f16", "f32")
    yield product(4096, 4096, 4096, "f16", "f32", turned=(0,))
    yield product(4096, 4096, 4096, "f16", "f32", turned=(1,))
    yield product(1024, 1024, 1024, "f16", "f32", batch=16)
    yield product(1024, 1024, 1024, "f32", "f32", batch=16)
    yield product(4096, 4096, 4096, "f16", "f16", epilogue=True)
    for size in (1024, 4096, 8192):
        yield product(size, size, size, "bf16", "f32")
        yield product(size, size, size, "i8", "i32")


def measure(case, options):
    """Mean time of a round, µs."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(case.module())
        file.flush()
        command = [options.spirula, "run", file.name, "--device", options.device, "--profile", *options.option]
        done = subprocess.run(command, capture_output=True, text=True)
    text = done.stdout + done.stderr
    times = re.findall(r"(\d+) launches +([\d.]+) ms", text)
    rounds = [float(time) for launches, time in times if int(launches) % ROUNDS == 0]
    if done.returncode or not rounds:
        print(text, file=sys.stderr)
        return None
    return sum(rounds) / ROUNDS * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of the names of what is measured")
    parser.add_argument("--spirula", default="spirula")
    parser.add_argument("--device", default="vulkan")
    parser.add_argument("--option", action="append", default=[], help="an option of `spirula run`")
    options = parser.parse_intermixed_args()
    print("| work | µs | in a second |\n| --- | --- | --- |")
    for case in cases():
        if options.names and not any(name in case.name for name in options.names):
            continue
        time = measure(case, options)
        if time is None:
            print(f"| {case.name} | failed | |")
            continue
        rate = f"{case.operations / time / 1e6:.1f} T" if case.operations else f"{case.bytes / time / 1e6:.2f} TB"
        print(f"| {case.name} | {time:.1f} | {rate} |", flush=True)


main()
