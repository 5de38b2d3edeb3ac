"""JAX on Spirula: the platforms `spirula` and `spirula_vulkan`.

JAX finds this module by its package, `jax_plugins`, and calls `initialize`. `JAX_PLATFORMS=spirula` selects the device that
is the processor, `JAX_PLATFORMS=spirula_vulkan` the first Vulkan device. The environment variable `SPIRULA_DEVICE` names
another device, such as `cpu+san` or `vulkan:1`. `SPIRULA_LOGICAL_DEVICES` gives a client several logical devices, which
share the memory of the one. `SPIRULA_PARTITION=1` partitions their programs. `SPIRULA_TIMEOUT` is the number of seconds that
a launch of a kernel may take.

JAX lowers some operations by rules of a platform. Those of the platform `cpu` hold for Spirula, too. Names of JAX that
begin with an underscore may change, so each use of one is guarded.
"""

import collections
import functools
import importlib.util
import os
import pathlib
import re
import sys
import types
import warnings

import jax
from jax._src import xla_bridge

# The releases of JAX that the plugin was tested with.
_TESTED = ("0.10.2", "0.11.2", "0.12.0")

# Platforms with the kinds of their devices. The plugin opens the first of the kind, unless the environment names another.
_PLATFORMS = {"spirula": "cpu", "spirula_vulkan": "vulkan"}

# Operations with a rule of `cpu` that calls a routine which Spirula does not have. JAX's rule for all platforms serves.
_GENERIC = frozenset({"dot_general"})

# JAX prefers platforms of a higher priority where the user names none. The processor of XLA has 0.
_PRIORITY = -100


def _find_library() -> pathlib.Path:
    """The plugin: the file that the environment names, the library of the package `spirula`, or the file beside this module."""
    named = os.environ.get("SPIRULA_PJRT_LIBRARY")
    if named:
        return pathlib.Path(named)
    try:
        package = importlib.util.find_spec("spirula._spirula")
    except ModuleNotFoundError:
        package = None
    if package is not None and package.origin:
        return pathlib.Path(package.origin)
    name = {"darwin": "libspirula_pjrt.dylib", "win32": "spirula_pjrt.dll"}
    return pathlib.Path(__file__).parent / name.get(sys.platform, "libspirula_pjrt.so")


def _count_devices() -> int:
    """The number of logical devices: that of the environment, or of JAX's and XLA's options for the platform `cpu`."""
    named = os.environ.get("SPIRULA_LOGICAL_DEVICES")
    if named:
        return int(named)
    asked = getattr(jax.config, "jax_num_cpu_devices", -1)
    if asked > 0:
        return asked
    flag = re.search(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    return int(flag.group(1)) if flag else 1


def _make_options(platform: str) -> dict:
    """The options of a client. JAX asks for them when it opens one."""
    options = {"device_kind": _PLATFORMS[platform], "logical_devices": _count_devices()}
    coordinator = _find_coordinator()
    if coordinator:
        options["coordinator_address"] = coordinator
    return options


def _find_coordinator() -> str | None:
    """The address of the coordinator, if `jax.distributed.initialize` was called. Others are reached by its network."""
    try:
        from jax._src import distributed

        return distributed.global_state.coordinator_address
    except (ImportError, AttributeError):
        return None


class _SharedRules(collections.ChainMap):
    """The lowering rules of a platform, and after them those of `cpu`, also those that are registered later."""

    def __contains__(self, primitive):
        if primitive in self.maps[0]:
            return True
        return primitive.name not in _GENERIC and super().__contains__(primitive)


def _share_lowerings(platform: str) -> None:
    """Lets a platform use the lowering rules of `cpu`."""
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    rules[platform] = _SharedRules(rules[platform], rules["cpu"])


def _allow_donation(platform: str) -> None:
    """Lets programs of a platform take the memory of their arguments."""
    from jax._src.interpreters import mlir

    if platform not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(platform)


def _share_branches(platforms: tuple[str, ...]) -> None:
    """Lets `jax.lax.platform_dependent` take the branch of `cpu` on platforms that have none, where there is no default."""
    from jax._src.lax import control_flow
    from jax._src.lax.control_flow import conditionals

    original = conditionals.platform_dependent

    @functools.wraps(original)
    def choose_branch(*arguments, default=None, **branches):
        if default is None and "cpu" in branches:
            branches = dict.fromkeys(platforms, branches["cpu"]) | branches
        return original(*arguments, default=default, **branches)

    for module in (conditionals, control_flow, jax.lax):
        module.platform_dependent = choose_branch


def _allow_compilation_cache(platforms: tuple[str, ...]) -> None:
    """Lets JAX keep executables on disk, which it does for platforms that it knows."""
    from jax._src import compilation_cache

    original = compilation_cache.is_cache_used

    @functools.wraps(original)
    def is_cache_used(backend):
        if backend.platform in platforms:
            backend = types.SimpleNamespace(platform="cpu", supports_executable_serialization=True)
        return original(backend)

    compilation_cache.is_cache_used = is_cache_used


def _serve_host_functions(library: pathlib.Path) -> None:
    """Lets programs call functions of Python and C."""
    from . import host_functions

    functions = host_functions.HostFunctions(library)
    host_functions.adapt_callbacks(tuple(_PLATFORMS))
    host_functions.adapt_targets(functions, tuple(_PLATFORMS))


def _report_layouts(library: pathlib.Path) -> None:
    """Lets `jax.debug.inspect_array_sharding` work."""
    from . import layout_reports

    layout_reports.serve_reports(library, tuple(_PLATFORMS))


def _name_algorithms(platforms: tuple[str, ...]) -> None:
    """Lets `jax.lax.linalg.eigh` take all names of algorithms."""
    from . import eigen_rules

    eigen_rules.register_rules(platforms)


def _adapt_jax(change, argument) -> None:
    """Changes a part of JAX that no public interface reaches. Without it JAX still works in part."""
    try:
        change(argument)
    except (ImportError, AttributeError, TypeError) as error:
        warnings.warn(
            f"Spirula was tested with JAX {', '.join(_TESTED)}; with JAX {jax.__version__}, "
            f"{change.__name__.strip('_')} failed: {error}"
        )


def initialize() -> None:
    """Registers the platforms. JAX calls it."""
    library = _find_library()
    if not library.exists():
        warnings.warn(f"Spirula's plugin is not at {library}; SPIRULA_PJRT_LIBRARY names another place")
        return
    for platform in _PLATFORMS:
        xla_bridge.register_plugin(
            platform,
            priority=_PRIORITY,
            library_path=str(library),
            options=functools.partial(_make_options, platform),
        )
        for change in (_share_lowerings, _allow_donation):
            _adapt_jax(change, platform)
    _adapt_jax(_share_branches, tuple(_PLATFORMS))
    _adapt_jax(_allow_compilation_cache, tuple(_PLATFORMS))
    _adapt_jax(_name_algorithms, tuple(_PLATFORMS))
    _adapt_jax(_serve_host_functions, library)
    _adapt_jax(_report_layouts, library)
