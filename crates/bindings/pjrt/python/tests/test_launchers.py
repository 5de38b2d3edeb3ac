"""Launchers of several processes of JAX on one host: MPI by mpi4py, Ray, and Dask.

`cargo xtask jax --launchers` runs these tests with `JAX_PLATFORMS=spirula`. The Python needs `mpi4py`, an MPI with `mpiexec`, `ray` and
`dask[distributed]`: a test fails where one is missing.
"""

import os
import pathlib
import subprocess
import sys
import unittest

from test_processes import find_port

_COUNT = 2

# Seconds that a launcher may take.
_LIMIT = 240

_FOLDER = str(pathlib.Path(__file__).parent)


def add_numbers(process=None, port=None):
    """A process: the sum of an array over the devices of all."""
    import jax

    if process is None:
        jax.distributed.initialize(cluster_detection_method="mpi4py")
    else:
        jax.distributed.initialize(f"127.0.0.1:{port}", _COUNT, process)
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    mesh = Mesh(np.array(jax.devices()), ("x",))
    numbers = np.arange(32, dtype=np.float32).reshape(8, 4)
    array = jax.make_array_from_callback(numbers.shape, NamedSharding(mesh, P("x")), lambda at: numbers[at])
    found = float(jax.jit(jnp.sum)(array))
    own = jax.process_index()
    jax.distributed.shutdown()
    return own, found


class LaunchersTest(unittest.TestCase):
    def check_results(self, results):
        self.assertEqual(sorted(results), [(process, 496.0) for process in range(_COUNT)])

    def test_mpi(self):
        folder = os.path.dirname(sys.executable)
        program = "from test_launchers import add_numbers; print('RESULT', *add_numbers(), flush=True)"
        environment = dict(os.environ, PATH=os.pathsep.join([folder, os.environ["PATH"]]))
        command = ["mpiexec", "-n", str(_COUNT), sys.executable, "-c", program]
        run = subprocess.run(
            command, cwd=_FOLDER, env=environment, capture_output=True, text=True, timeout=_LIMIT, check=False
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = [line.split()[1:] for line in run.stdout.splitlines() if line.startswith("RESULT")]
        self.check_results([(int(process), float(found)) for process, found in lines])

    def test_ray(self):
        import ray

        os.environ["PYTHONPATH"] = os.pathsep.join([_FOLDER, os.environ.get("PYTHONPATH", "")])
        ray.init(num_cpus=_COUNT, include_dashboard=False, logging_level="error")
        try:
            run = ray.remote(max_calls=1)(add_numbers)
            port = find_port()
            self.check_results(ray.get([run.remote(process, port) for process in range(_COUNT)], timeout=_LIMIT))
        finally:
            ray.shutdown()

    def test_dask(self):
        from dask.distributed import Client, LocalCluster

        with LocalCluster(
            n_workers=_COUNT, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster, Client(cluster) as client:
            port = find_port()
            workers = list(client.scheduler_info()["workers"])
            futures = [
                client.submit(add_numbers, process, port, workers=[worker], pure=False)
                for process, worker in enumerate(workers)
            ]
            self.check_results(client.gather(futures))


if __name__ == "__main__":
    unittest.main()
