"""What other compilers take for the corpus' StableHLO models, in the form that `spirula bench --compare` reads.

    PYTHONPATH=… python3 benches/peers/tensor.py xla|iree [NAME…] > peer.json
    spirula bench $SPIRULA_CORPUS/stablehlo/models --processor-time --compare peer.json

Wants jax, and for IREE iree-base-compiler and iree-base-runtime. Arguments are there before a run begins; the mean is of
processor time of all threads. Processor time of compiling is told on standard error.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"
CORPUS = os.path.join(os.environ["SPIRULA_CORPUS"], "stablehlo")
sys.path.insert(0, os.path.join(CORPUS, "tools"))
import modelgen

FLAGS = [
    "--iree-input-type=stablehlo",
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]
# Seconds, runs at least, and seconds after which none begins.
EFFORT = (0.5, 3, 20)


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


def iree(path, arguments):
    import iree.runtime

    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "module.vmfb")
        command = ["iree-compile", path, "-o", module]
        subprocess.run(command + FLAGS, check=True, capture_output=True)
        loaded = open(module, "rb").read()
    config = iree.runtime.Config("local-task")
    context = iree.runtime.SystemContext(config=config)
    compiled = iree.runtime.VmModule.copy_buffer(context.instance, loaded)
    context.add_vm_module(compiled)
    main = context.modules[compiled.name]["main"]
    there = [iree.runtime.asdevicearray(config.device, a) for a in arguments]

    def run():
        results = main(*there)
        for result in results if isinstance(results, tuple) else [results]:
            result.to_host()

    return run


def processor_time():
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measure(run):
    least, fewest, most = EFFORT
    run()
    times, began = [], time.monotonic()
    while len(times) < fewest or sum(times) < least * 1e6:
        start = time.process_time()
        run()
        times.append((time.process_time() - start) * 1e6)
        if time.monotonic() - began > most:
            break
    return times


PEERS = {"xla": xla, "iree": iree}


def main(peer, names):
    folder = os.path.join(CORPUS, "models")
    names = names or sorted(n[:-5] for n in os.listdir(folder) if n.endswith(".mlir"))
    found = {}
    for name in names:
        path = os.path.join(folder, name + ".mlir")
        about = json.load(open(os.path.join(folder, name + ".json")))
        seed = int(about["seed"], 16)
        arguments = [modelgen.make_arg(seed, at, a) for at, a in enumerate(about["args"])]
        try:
            start = processor_time()
            run = PEERS[peer](path, arguments)
            compiled = processor_time() - start
            times = measure(run)
        except Exception as error:
            print(f"{name}: {str(error).splitlines()[:1]}", file=sys.stderr)
            continue
        found[name + ".mlir"] = {"datasets": {"#0": {"runtimes": times}}}
        print(f"{name}: compiled in {compiled:.2f} s, {sum(times) / len(times):.0f} µs", file=sys.stderr)
    json.dump(found, sys.stdout)


main(sys.argv[1], sys.argv[2:])
