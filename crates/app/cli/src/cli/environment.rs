//! Environment variables and exit codes: the tables that the help shows.

/// An environment variable that Spirula reads.
struct EnvironmentVariable {
    name: &'static str,
    /// The parts that read it.
    reader: &'static str,
    meaning: &'static str,
}

/// All variables of users. Those of the tests are in CONTRIBUTING.md.
const VARIABLES: &[EnvironmentVariable] = &[
    EnvironmentVariable {
        name: "SPIRULA_CACHE_DIR",
        reader: "all",
        meaning: "Folder of the files that are kept between runs; empty for none",
    },
    EnvironmentVariable {
        name: "SPIRULA_CLANG",
        reader: "command, OpenCL driver",
        meaning: "Path of the Clang that reads OpenCL C",
    },
    EnvironmentVariable {
        name: "SPIRULA_DXC",
        reader: "command",
        meaning: "Path of the DXC that reads HLSL",
    },
    EnvironmentVariable {
        name: "SPIRULA_GLSLANG",
        reader: "command",
        meaning: "Path of the glslang that reads GLSL and HLSL",
    },
    EnvironmentVariable {
        name: "SPIRULA_VULKAN_VALIDATION",
        reader: "all",
        meaning: "Enables Vulkan's validation layer, unless it is empty or 0",
    },
    EnvironmentVariable {
        name: "SPIRULA_DEVICE",
        reader: "Python, JAX, C interfaces",
        meaning: "Device, by default cpu; for JAX also a list",
    },
    EnvironmentVariable {
        name: "SPIRULA_TIMEOUT",
        reader: "JAX, OpenCL driver",
        meaning: "Seconds after which a launch is ended",
    },
    EnvironmentVariable {
        name: "SPIRULA_LOGICAL_DEVICES",
        reader: "JAX",
        meaning: "Number of devices of a client, which share one",
    },
    EnvironmentVariable {
        name: "SPIRULA_PARTITION",
        reader: "JAX",
        meaning: "Partitions programs for several devices, if it is 1",
    },
    EnvironmentVariable {
        name: "SPIRULA_LISTEN_ADDRESS",
        reader: "JAX",
        meaning: "IP address at which a process of several waits for the others",
    },
    EnvironmentVariable {
        name: "SPIRULA_PEER_TIMEOUT",
        reader: "JAX",
        meaning: "Seconds to wait for a process or device; by default 300",
    },
    EnvironmentVariable {
        name: "SPIRULA_PARTITION_LOG",
        reader: "JAX",
        meaning: "Says why a program is not partitioned, unless it is empty",
    },
    EnvironmentVariable {
        name: "SPIRULA_DUMP_MODULES",
        reader: "JAX",
        meaning: "Folder for the StableHLO of each program",
    },
    EnvironmentVariable {
        name: "SPIRULA_OWN_LAPACK",
        reader: "JAX",
        meaning: "Linear algebra without LAPACK, unless it is empty",
    },
    EnvironmentVariable {
        name: "SPIRULA_PJRT_LIBRARY",
        reader: "JAX, PyTorch/XLA",
        meaning: "Path of the plugin, in place of that of the package",
    },
    EnvironmentVariable {
        name: "SPIRULA_OPENCL_DEVICES",
        reader: "OpenCL driver",
        meaning: "Devices of the platform, separated by commas",
    },
    EnvironmentVariable {
        name: "SPIRULA_OPENCL_CHECK",
        reader: "OpenCL driver",
        meaning: "Runs kernels under the sanitizer, unless it is 0",
    },
    EnvironmentVariable {
        name: "SPIRULA_OPENCL_LOG",
        reader: "OpenCL driver",
        meaning: "Prints the reason of each error, unless it is 0",
    },
    EnvironmentVariable {
        name: "SPIRULA_OPENCL_TYPE",
        reader: "OpenCL driver",
        meaning: "gpu: all devices are shown as graphics processors",
    },
    EnvironmentVariable {
        name: "NO_COLOR",
        reader: "command",
        meaning: "Prints no colours, unless it is empty",
    },
];

/// The exit codes of the command.
const EXIT_CODES: &[(u8, &str)] = &[
    (0, "Success"),
    (
        super::failure::FAILURE,
        "A bad input, a failed check or test, or a file that cannot be written",
    ),
    (
        super::failure::WRONG_USAGE,
        "Wrong usage: an unknown command, option or value",
    ),
];

/// Describes variables and exit codes, for the long help.
pub fn describe_environment() -> String {
    let mut text = "Environment variables:\n".to_owned();
    for variable in VARIABLES {
        text += &format!(
            "  {:27}{} ({})\n",
            variable.name, variable.meaning, variable.reader
        );
    }
    text += "\nExit codes:\n";
    for (code, meaning) in EXIT_CODES {
        text += &format!("  {code}  {meaning}\n");
    }
    text
}
