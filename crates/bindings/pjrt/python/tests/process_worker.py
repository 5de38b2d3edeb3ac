"""One process of a program for several: `process_worker.py CHECK PROCESS COUNT PORT`.

The check is a function of this module. `test_processes` starts the processes and waits for them.
"""

import functools
import os
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def make_mesh(*sizes, names=("x", "y")):
    return Mesh(np.array(jax.devices()).reshape(sizes), names[: len(sizes)])


def matrix(*sizes, dtype=np.float32):
    return np.random.RandomState(len(sizes)).randn(*sizes).astype(dtype)


def place(mesh, array, *spec):
    sharding = NamedSharding(mesh, P(*spec))
    return jax.make_array_from_callback(array.shape, sharding, lambda at: array[at])


def fetch(array):
    """The whole array, of which this process has a part."""
    return multihost_utils.process_allgather(array, tiled=True)


def close(found, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(wanted, np.float64), tolerance, tolerance)


def check_devices(process, count):
    local = jax.local_devices()
    assert jax.process_count() == count and jax.process_index() == process
    assert len(jax.devices()) == count * len(local)
    assert [device.process_index for device in local] == [process] * len(local)
    assert [device.id for device in jax.devices()] == list(range(len(jax.devices())))
    # A program for devices of this process alone needs no other one.
    if process == 0:
        close(jax.jit(lambda x: (x @ x.T).sum())(matrix(4, 4)), (matrix(4, 4) @ matrix(4, 4).T).sum())
    mesh = Mesh(np.array(local), ("x",))
    array = jax.device_put(matrix(8, 4), NamedSharding(mesh, P("x")))
    close(jax.jit(lambda x: x.sum())(array), matrix(8, 4).sum())


def check_products(process, count):
    total = len(jax.devices())
    mesh = make_mesh(total // 2, 2)
    a, b = matrix(16, 8), matrix(8, 12)
    given = place(mesh, a, "x", "y"), place(mesh, b, "y")
    product = jax.jit(lambda a, b: a @ b, out_shardings=NamedSharding(mesh, P("x")))(*given)
    close(fetch(product), a @ b)
    total = jax.jit(lambda a, b: jnp.tanh(a @ b).sum())(*given)
    close(total, np.tanh(a @ b).sum())


def check_collectives(process, count):
    total = len(jax.devices())
    mesh = make_mesh(total)
    map_shards = functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x"))
    for dtype in (np.float32, np.int8, jnp.bfloat16, np.complex64, np.bool_):
        x = (matrix(total * total, 3) * 4).astype(dtype)
        array = place(mesh, x, "x")
        parts = x.reshape(total, total, 3)

        def move(x):
            turned = lax.ppermute(x, "x", [(at, (at + 1) % total) for at in range(total)])
            return lax.all_to_all(x, "x", 0, 0, tiled=True), lax.all_gather(x, "x"), turned

        moved = jax.jit(map_shards(move, out_specs=(P("x"), P("x"), P("x"))))(array)
        exchanged, gathered, turned = (fetch(each) for each in moved)
        assert (exchanged.reshape(total, total, 3) == parts.swapaxes(0, 1)).all(), dtype
        assert (gathered.reshape(total, total, total, 3) == parts).all(), dtype
        assert (turned.reshape(parts.shape) == np.roll(parts, 1, 0)).all(), dtype
        if dtype == np.bool_:
            continue
        scattered = jax.jit(map_shards(lambda x: lax.psum_scatter(x, "x", tiled=True), out_specs=P("x")))(array)
        close(fetch(scattered).real, parts.astype(np.complex128).sum(0).real.astype(np.float64), 2e-2)
        summed = jax.jit(map_shards(lambda x: lax.psum(x, "x"), out_specs=P()))(array)
        close(np.asarray(summed).real, parts.astype(np.complex128).sum(0).real, 2e-2)
        if dtype != np.complex64:
            greatest = jax.jit(map_shards(lambda x: lax.pmax(x, "x"), out_specs=P()))(array)
            assert (np.asarray(greatest) == parts.max(0)).all()


def check_large_sums(process, count):
    """Sums of many bytes, of a size that devices do not divide, in groups of devices and of all."""
    total = len(jax.devices())
    mesh = make_mesh(2, total // 2)
    x = matrix(2, total // 2, 70001)
    array = place(mesh, x, "x", "y")
    for axes in ("x", "y", ("x", "y")):
        run = jax.shard_map(lambda x: lax.psum(x, axes), mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
        names = (axes,) if isinstance(axes, str) else axes
        wanted = x.astype(np.float64).sum(tuple("xy".index(name) for name in names), keepdims=True)
        close(fetch(jax.jit(run)(array)), np.broadcast_to(wanted, x.shape), 1e-4)


def check_loops(process, count):
    """Collectives in loops. Groups of devices end after different numbers of iterations."""
    total = len(jax.devices())
    mesh = make_mesh(2, total // 2)

    def run(x):
        limit = 3 + 4 * lax.axis_index("x")
        body = lambda state: (state[0] + 1, lax.psum(state[1], "y") / 2)
        return lax.while_loop(lambda state: state[0] < limit, body, (0, x))[1]

    x = matrix(2, total // 2, 5)
    mapped = jax.shard_map(run, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"), check_vma=False)
    wanted = x.astype(np.float64)
    for row, steps in ((0, 3), (1, 7)):
        for _ in range(steps):
            wanted[row] = wanted[row].sum(0) / 2
    close(fetch(jax.jit(mapped)(place(mesh, x, "x", "y"))), wanted, 1e-4)


def check_donation(process, count):
    mesh = make_mesh(len(jax.devices()))
    array = place(mesh, matrix(16, 4), "x")
    step = jax.jit(lambda x: x + x.sum(), donate_argnums=0)
    after = step(array)
    assert array.is_deleted()
    close(fetch(after), matrix(16, 4) + matrix(16, 4).sum(), 1e-4)


def check_utilities(process, count):
    multihost_utils.sync_global_devices("all are here")
    found = multihost_utils.broadcast_one_to_all(np.arange(3) * (process + 1))
    assert (found == np.arange(3)).all()
    found = multihost_utils.process_allgather(np.array([process, 7]))
    assert (found == [[at, 7] for at in range(count)]).all()
    multihost_utils.assert_equal(np.ones(2), "all have the same")
    mesh = make_mesh(len(jax.devices()))
    own = np.full((len(jax.local_devices()), 2), process, np.float32)
    array = jax.make_array_from_process_local_data(NamedSharding(mesh, P("x")), own)
    sums = jax.jit(lambda x: x.sum(0), out_shardings=NamedSharding(mesh, P()))(array)
    assert (np.asarray(sums) == len(jax.local_devices()) * sum(range(count))).all()
    uneven = jax.device_put(matrix(16, 2), NamedSharding(mesh, P("x")))
    close(fetch(uneven), matrix(16, 2))


def check_training(process, count):
    """Steps of a perceptron, of which each device has a part of the batch."""
    mesh = make_mesh(len(jax.devices()))
    whole = NamedSharding(mesh, P())
    parameters = {"a": matrix(6, 16) / 4, "b": matrix(16, 1) / 4}
    x = np.random.RandomState(5).randn(32, 6).astype(np.float32)
    y = x.sum(1, keepdims=True)

    def loss(parameters, x, y):
        return jnp.square(jnp.tanh(x @ parameters["a"]) @ parameters["b"] - y).mean()

    def step(parameters, x, y):
        value, slopes = jax.value_and_grad(loss)(parameters, x, y)
        return jax.tree.map(lambda p, g: p - 0.05 * g, parameters, slopes), value

    shared = jax.tree.map(lambda p: jax.make_array_from_callback(p.shape, whole, lambda at, p=p: p[at]), parameters)
    train = jax.jit(step, donate_argnums=0, out_shardings=whole)
    alone = jax.jit(step)
    alone_parameters = parameters
    for _ in range(20):
        shared, value = train(shared, place(mesh, x, "x"), place(mesh, y, "x"))
        alone_parameters, alone_value = alone(alone_parameters, x, y)
    close(value, alone_value, 1e-4)
    close(shared["a"], alone_parameters["a"], 1e-3)


def check_callbacks(process, count):
    """Each device calls back, in the process that has it."""
    mesh = make_mesh(len(jax.devices()))
    seen = []

    def run(x):
        jax.debug.callback(lambda value: seen.append(float(value)), x[0])
        return lax.psum(x, "x")

    mapped = jax.shard_map(run, mesh=mesh, in_specs=P("x"), out_specs=P())
    x = np.arange(len(jax.devices()), dtype=np.float32)
    found = jax.jit(mapped)(place(mesh, x, "x"))
    close(found, [x.sum()])
    jax.effects_barrier()
    own = [device.id for device in jax.local_devices()]
    assert sorted(seen) == own, (seen, own)


def fail_callback(value):
    raise ValueError("the second process has no data")


def check_errors(process, count):
    """An error in one process is an error of all, and the next program runs."""
    mesh = make_mesh(len(jax.devices()))
    array = place(mesh, matrix(16, 4), "x")

    def run(x):
        def fetch_data(x):
            return jax.pure_callback(fail_callback if process == 1 else np.asarray, x, x)

        return lax.psum(fetch_data(x), "x")

    mapped = jax.shard_map(run, mesh=mesh, in_specs=P("x"), out_specs=P())
    try:
        jax.block_until_ready(jax.jit(mapped)(array))
    except Exception as error:
        assert "process 1" in str(error) and "has no data" in str(error), error
    else:
        raise AssertionError("there is no error")
    close(jax.jit(lambda x: x.sum())(array), matrix(16, 4).sum(), 1e-4)


def check_bad_input(process, count):
    mesh = make_mesh(len(jax.devices()))
    for make in (
        lambda: jax.make_array_from_process_local_data(NamedSharding(mesh, P("x")), np.ones((3, 2)), (7, 2)),
        lambda: Mesh(np.array(jax.devices()).reshape(-1, 7), ("x", "y")),
        lambda: jax.jit(lambda x: x, out_shardings=NamedSharding(mesh, P("x")))(np.ones((7, 2))),
        lambda: np.asarray(place(mesh, matrix(16, 4), "x")),
    ):
        try:
            make()
        except Exception as error:
            assert str(error), error
        else:
            raise AssertionError("there is no error")


def check_death(process, count):
    """The others hear of a process that dies, and name it."""
    mesh = make_mesh(len(jax.devices()))
    array = place(mesh, matrix(4 * len(jax.devices()), 4), "x")
    add = jax.jit(lambda x: x.sum())
    add(array).block_until_ready()
    if process == count - 1:
        os._exit(7)
    try:
        add(array).block_until_ready()
    except Exception as error:
        assert f"process {count - 1}" in str(error), error
        print("DONE", flush=True)
        # The coordinator would wait for the process that died.
        os._exit(0)
    raise AssertionError("there is no error")


def check_absence(process, count):
    """A process that makes no client is missing after the time-out."""
    if process == 0:
        try:
            jax.devices()
        except RuntimeError as error:
            assert "process 1 is missing" in str(error), error
        else:
            raise AssertionError("there is no error")
    print("DONE", flush=True)
    os._exit(0)


def run_check(name, process, count, port):
    jax.distributed.initialize(f"127.0.0.1:{port}", count, process)
    for each in name.split(","):
        begin = time.monotonic()
        globals()[f"check_{each}"](process, count)
        print(f"{each}: {time.monotonic() - begin:.1f} s", flush=True)
    print("DONE", flush=True)


if __name__ == "__main__":
    run_check(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
