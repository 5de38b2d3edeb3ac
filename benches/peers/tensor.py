"""What other compilers take for the corpus' StableHLO models, in the form that `spirula bench --compare` reads.

    PYTHONPATH=… python3 benches/peers/tensor.py xla|iree|iree-vulkan [NAME…] > peer.json
    spirula bench $SPIRULA_CORPUS/stablehlo/models --processor-time --compare peer.json

With `--turns SPIRULA`, the peer and that command take turns at each model, and a table is written in place of the measurements.

Wants jax, and for IREE iree-base-compiler and iree-base-runtime. Arguments are there before a run begins; the mean is of
processor time of all threads. Processor time of compiling is told on standard error.
"""

import argparse
import json
import math
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"
CORPUS = os.path.join(os.environ["SPIRULA_CORPUS"], "stablehlo")
MODELS = os.path.join(CORPUS, "models")
sys.path.insert(0, os.path.join(CORPUS, "tools"))
import modelgen

# What compiles for each of IREE's drivers.
FLAGS = {
    "local-task": [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
    ],
    "vulkan": ["--iree-hal-target-device=vulkan"],
}
# Seconds, runs at least, and seconds after which none begins.
EFFORT = (0.5, 3, 20)
# The same for each of three turns.
TURNS, TURN = 3, (0.3, 2, 10)
# Seconds after which a peer is given up that compiles, or that runs a turn.
PATIENCE = 90


def xla(path, arguments):
    import jax

    modelgen.client()
    shapes = [argument.shape for argument in arguments]
    executable = modelgen.compile_text(open(path).read(), shapes)
    there = [jax.device_put(argument, jax.devices("cpu")[0]) for argument in arguments]

    def run():
        results = executable.execute_sharded(there)
        for result in results.disassemble_into_single_device_arrays():
            result[0].block_until_ready()

    return run


def iree(path, arguments, driver="local-task"):
    import iree.runtime

    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "module.vmfb")
        command = ["iree-compile", "--iree-input-type=stablehlo", path, "-o", module]
        subprocess.run(command + FLAGS[driver], check=True, capture_output=True)
        loaded = open(module, "rb").read()
    config = iree.runtime.Config(driver)
    context = iree.runtime.SystemContext(config=config)
    compiled = iree.runtime.VmModule.copy_buffer(context.instance, loaded)
    context.add_vm_module(compiled)
    main = context.modules[compiled.name]["main"]
    there = [iree.runtime.asdevicearray(config.device, a) for a in arguments]

    # Modules wait for their devices before they return.
    return lambda: main(*there)


def processor_time():
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def iree_vulkan(path, arguments):
    return iree(path, arguments, "vulkan")


def measure(run, effort=EFFORT):
    least, fewest, most = effort
    run()
    times, began = [], time.monotonic()
    while len(times) < fewest or sum(times) < least * 1e6:
        start = time.process_time()
        run()
        times.append((time.process_time() - start) * 1e6)
        if time.monotonic() - began > most:
            break
    return times


# Each peer, and the device that Spirula has beside it.
PEERS = {"xla": (xla, "cpu"), "iree": (iree, "cpu"), "iree-vulkan": (iree_vulkan, "vulkan")}


def prepare(peer, name):
    """What runs a model once."""
    path = os.path.join(MODELS, name + ".mlir")
    about = json.load(open(os.path.join(MODELS, name + ".json")))
    seed = int(about["seed"], 16)
    arguments = [modelgen.make_arg(seed, at, a) for at, a in enumerate(about["args"])]
    start = processor_time()
    run = PEERS[peer][0](path, arguments)
    print(f"{name}: compiled in {processor_time() - start:.2f} s", file=sys.stderr)
    return run


def alone(peer, names):
    found = {}
    for name in names:
        try:
            times = measure(prepare(peer, name))
        except Exception as error:
            print(f"{name}: {str(error).splitlines()[:1]}", file=sys.stderr)
            continue
        found[name + ".mlir"] = {"datasets": {"#0": {"runtimes": times}}}
        print(f"{name}: {sum(times) / len(times):.0f} µs", file=sys.stderr)
    json.dump(found, sys.stdout)


def serve(peer, name, pipe):
    """Measures a turn whenever it is asked to; the first answer is that it is ready."""
    run = prepare(peer, name)
    while True:
        pipe.send(measure(run, TURN))
        pipe.recv()


def spirula(command, device, name):
    with tempfile.NamedTemporaryFile() as record:
        line = [command, "bench", MODELS, "--device", device, "--filter", f"models/{name}.mlir"]
        line += ["--processor-time", "--runs", str(TURN[1]), "--json", record.name]
        subprocess.run(line, check=True, capture_output=True, timeout=PATIENCE)
        (found,) = json.load(open(record.name)).values()
    return found["datasets"]["#0"]["runtimes"]


def turns(peer, names, command):
    """A line for each model: the fastest runs, in microseconds, and how many times as fast as the peer."""
    ratios = []
    for name in names:
        pipe, other = multiprocessing.Pipe()
        server = multiprocessing.Process(target=serve, args=(peer, name, other), daemon=True)
        server.start()
        other.close()
        theirs, ours = [], []
        try:
            for turn in range(TURNS):
                if not pipe.poll(PATIENCE):
                    raise TimeoutError(f"the peer did not end within {PATIENCE} s")
                theirs += pipe.recv()
                ours += spirula(command, PEERS[peer][1], name)
                pipe.send("again")
        except Exception as error:
            why = "the peer failed" if isinstance(error, EOFError) else str(error).splitlines()[0]
            print(f"{name}\t{why}", flush=True)
            continue
        finally:
            server.kill()
            server.join()
        # The fastest run: IREE's waiting takes a slice of the scheduler's where a processor is busy.
        theirs, ours = min(theirs), min(ours)
        ratios.append(theirs / ours)
        print(f"{name}\t{theirs:.0f}\t{ours:.0f}\t{theirs / ours:.2f}", flush=True)
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan
    print(f"geometric mean of {len(ratios)}\t\t\t{mean:.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--turns", metavar="SPIRULA", help="command that takes turns with the peer")
    parser.add_argument("names", nargs="*")
    args = parser.parse_intermixed_args()
    every = sorted(n[:-5] for n in os.listdir(MODELS) if n.endswith(".mlir"))
    names = args.names or every
    if args.turns:
        turns(args.peer, names, args.turns)
    else:
        alone(args.peer, names)


main()
