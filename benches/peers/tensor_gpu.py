"""Times of the corpus' StableHLO models on a GPU, beside another platform of JAX on the same GPU.

    cargo build --release -p spirula-pjrt
    export PYTHONPATH=crates/bindings/pjrt/python SPIRULA_PJRT_LIBRARY=target/release/libspirula_pjrt.so
    python3 benches/peers/tensor_gpu.py --platforms spirula_vulkan,cuda --record FILE [NAME…]
    python3 benches/peers/tensor_gpu.py --record FILE --report

Both platforms run in one process and take turns at each model. Arguments are on the device before, results stay there. *Call* is
the time from the call to the end of its work, with nothing before it. *Enqueued* is the time of one of several calls that are
enqueued without waits: the longer one of the time on the device and the time on the host. Neither contains the compilation.

FILE has a line of JSON for each model, written when it ends: a run that is repeated goes on where the last one stopped. A model
that ends its process is recorded as such, and the next process goes on.
"""

import argparse
import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import sys
import time

CORPUS = os.path.join(os.environ["SPIRULA_CORPUS"], "stablehlo")
MODELS = os.path.join(CORPUS, "models")
# Seconds of calls of a model on a platform in each turn, the fewest and the most calls, and the turns.
EFFORT, FEWEST, MOST, TURNS = 0.02, 3, 200, 3
# Models that are compiled before the first of them is measured.
GROUP = 32


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platforms", default="spirula_vulkan,cuda", help="ours, then the peer's")
    parser.add_argument("--record", required=True, help="file of results, which a later run continues")
    parser.add_argument("--report", action="store_true", help="print the tables of the recorded results")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no group of models after this time")
    # XLA's CUDA back end (jax 0.11.2) crashes where several threads compile.
    parser.add_argument("--threads", type=int, default=1, help="models that are compiled at the same time")
    parser.add_argument("--slowest", type=int, default=40, help="rows of the table of slow models")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="models; all by default")
    return parser.parse_args()


def read_record(path):
    """The last line of each model."""
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    return {line["name"]: line for line in lines}


def list_models(options):
    names = options.names or sorted(name[:-5] for name in os.listdir(MODELS) if name.endswith(".mlir"))
    done = read_record(options.record)
    return [name for name in names if name not in done]


def write_line(options, line):
    with open(options.record, "a") as file:
        file.write(json.dumps(line) + "\n")


class Model:
    """A model with its arguments, compiled for each platform."""

    def __init__(self, name, platforms):
        import modelgen

        self.name = name
        with open(os.path.join(MODELS, name + ".json")) as file:
            about = json.load(file)
        seed = int(about["seed"], 16)
        self.group = about["group"]
        self.arguments = [modelgen.make_arg(seed, at, argument) for at, argument in enumerate(about["args"])]
        with open(os.path.join(MODELS, name + ".mlir")) as file:
            text = file.read()
        shapes = [argument.shape for argument in self.arguments]
        self.programs = {platform: compile_text(platform, text, shapes) for platform in platforms}


def compile_text(platform, text, shapes):
    """The executable and the seconds that it took, or the first line of the error."""
    import jax
    import modelgen
    from jax._src import compiler
    from jaxlib import _jax

    device = jax.devices(platform)[0]
    compile_options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    try:
        code = modelgen.static_module(text, shapes)
        begin = time.perf_counter()
        executable = device.client.compile_and_load(code, _jax.DeviceList((device,)), compile_options)
    except Exception as error:
        return first_line(error)
    return executable, time.perf_counter() - begin


def first_line(error):
    return (str(error) or type(error).__name__).splitlines()[0][:200]


def call_program(executable, arguments):
    return [result[0] for result in executable.execute_sharded(arguments).disassemble_into_single_device_arrays()]


def wait_for(results):
    for result in results:
        result.block_until_ready()


def measure_calls(executable, arguments):
    """The times of whole calls, and of one of several enqueued calls, in µs."""
    calls = []
    begin = time.perf_counter()
    while len(calls) < FEWEST or (time.perf_counter() - begin < EFFORT and len(calls) < MOST):
        start = time.perf_counter()
        wait_for(call_program(executable, arguments))
        calls.append(1e6 * (time.perf_counter() - start))
    count = max(2, min(64, int(1e6 * EFFORT / statistics.median(calls))))
    start = time.perf_counter()
    for _ in range(count):
        last = call_program(executable, arguments)
    wait_for(last)
    return calls, 1e6 * (time.perf_counter() - start) / count


def find_difference(left, right):
    """The greatest difference of results, as a share of the greatest value."""
    import numpy as np

    greatest = 0.0
    for one, two in zip(left, right):
        one, two = (np.asarray(array).astype(np.complex128) for array in (one, two))
        finite = np.isfinite(one) & np.isfinite(two)
        if finite.any():
            size = max(np.abs(two[finite]).max(), 1e-30)
            greatest = max(greatest, np.abs(one[finite] - two[finite]).max() / size)
    return float(greatest)


def measure_model(model, platforms):
    import jax

    line = {"name": model.name, "group": model.group, "platforms": {}}
    failed = {platform: program for platform, program in model.programs.items() if isinstance(program, str)}
    if failed:
        return line | {"failed": failed}
    placed = {p: [jax.device_put(argument, jax.devices(p)[0]) for argument in model.arguments] for p in platforms}
    results = {}
    for platform in platforms:
        try:
            results[platform] = call_program(model.programs[platform][0], placed[platform])
            wait_for(results[platform])
        except Exception as error:
            return line | {"failed": {platform: first_line(error)}}
    line["difference"] = find_difference(*(results[platform] for platform in platforms))
    calls = {platform: [] for platform in platforms}
    enqueued = {platform: [] for platform in platforms}
    for _ in range(TURNS):
        for platform in platforms:
            times, one = measure_calls(model.programs[platform][0], placed[platform])
            calls[platform] += times
            enqueued[platform].append(one)
    for platform in platforms:
        line["platforms"][platform] = {
            "call": statistics.median(calls[platform]),
            "least": min(calls[platform]),
            "enqueued": min(enqueued[platform]),
            "compiled": model.programs[platform][1],
        }
    return line


def work(options):
    """Compiles a group of models side by side, then measures one after another."""
    os.environ["JAX_PLATFORMS"] = options.platforms
    sys.path.insert(0, os.path.join(CORPUS, "tools"))
    import jax

    jax.config.update("jax_enable_x64", True)
    platforms = options.platforms.split(",")
    # Drivers are loaded by one thread.
    for platform in platforms:
        jax.devices(platform)
    begin, names = time.monotonic(), list_models(options)
    while names and time.monotonic() - begin < options.seconds:
        group, names = names[:GROUP], names[GROUP:]
        with concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
            models = list(pool.map(lambda name: Model(name, platforms), group))
        for model in models:
            write_line(options, {"name": model.name, "group": model.group, "failed": {"process": "ended"}})
            write_line(options, measure_model(model, platforms))


def drive(options):
    """Runs workers until every model has its line."""
    begin = time.monotonic()
    passed = ["--platforms", options.platforms, "--record", options.record, "--threads", str(options.threads)]
    while list_models(options):
        before = len(list_models(options))
        left = options.seconds - (time.monotonic() - begin)
        if left <= 0:
            break
        command = [sys.executable, "-X", "faulthandler", sys.argv[0], "--worker", *passed]
        ended = subprocess.run(command + ["--seconds", str(left)] + options.names).returncode
        if ended != 0 and len(list_models(options)) == before:
            sys.exit(f"the process ended with {ended} before its first model")


def compute_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def report(options):
    lines = list(read_record(options.record).values())
    ours, peer = options.platforms.split(",")
    measured = [line for line in lines if line.get("platforms")]

    def ratio(line, figure):
        return line["platforms"][peer][figure] / line["platforms"][ours][figure]

    print("| models | number | call, mean | below 0.6 | enqueued, mean | below 0.6 |")
    print("| --- | --- | --- | --- | --- | --- |")
    groups = {"all": measured}
    for line in measured:
        groups.setdefault(line["group"], []).append(line)
    for group, members in groups.items():
        cells = []
        for figure in ["call", "enqueued"]:
            ratios = [ratio(line, figure) for line in members]
            cells.append(f"{compute_mean(ratios):.2f} | {sum(one < 0.6 for one in ratios)}")
        print(f"| {group} | {len(members)} | {' | '.join(cells)} |")
    print(f"\n| model | call: {peer}, µs | ours | ratio | enqueued: {peer}, µs | ours | ratio | difference |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for line in sorted(measured, key=lambda line: ratio(line, "enqueued"))[: options.slowest]:
        cells = []
        for figure in ["call", "enqueued"]:
            theirs, own = (line["platforms"][platform][figure] for platform in [peer, ours])
            cells.append(f"{theirs:.0f} | {own:.0f} | {theirs / own:.2f}")
        print(f"| {line['name']} | {' | '.join(cells)} | {line['difference']:.0e} |")
    for line in lines:
        if "failed" in line:
            print(f"{line['name']}: {line['failed']}")


def main():
    options = parse_options()
    if options.report:
        report(options)
    elif options.worker:
        work(options)
    else:
        drive(options)


main()
