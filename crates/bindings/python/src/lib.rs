//! The Python package `spirula`, and the plugin for JAX in the same library.
//!
//! The library is the module `spirula._spirula`; the package around it is in the folder `python`. It also exports
//! [`GetPjrtApi`], [`spirula_ffi_api`] and [`spirula_set_layout_inspector`], so that JAX loads the library as its plugin.
//!
//! - `compile`: sources to modules and programs. `module`, `reflection`: SPIR-V modules.
//! - `open_device`: the memory of a device, which one thread uses at a time. `device`, `array`: devices and arrays on them.
//! - `array_view`, `dlpack`: arrays that other libraries see without a copy.
//! - `program`, `program_call`, `opaque`: programs and calls of their functions. `signature`, `consumed_parameters`: what
//!   the functions take.
//! - `kernel`, `kernel_values`, `launch_size`: kernels and their launches with arrays of NumPy.
//! - `triton`: facts of Triton's kernels.
//! - `numpy_element`, `host_array`: types and arrays of NumPy.
//! - `call_arguments`: arguments by position and by name.
//! - `failure`, `diagnostic`: exceptions with places in sources.
//! - `command`: the command `spirula`.
//!
//! Python's lock is released while a source compiles, and while a device is used or waited for.

mod array;
mod array_view;
mod call_arguments;
mod command;
mod compile;
mod consumed_parameters;
mod device;
mod diagnostic;
mod dlpack;
mod failure;
mod host_array;
mod kernel;
mod kernel_values;
mod launch_size;
mod module;
mod numpy_element;
mod opaque;
mod open_device;
mod program;
mod program_call;
mod reflection;
mod signature;
mod triton;

pub use spirula_pjrt::{GetPjrtApi, spirula_ffi_api, spirula_set_layout_inspector};

use pyo3::prelude::*;

/// The native part of the package.
#[pymodule]
mod _spirula {
    #[pymodule_export]
    use crate::array::PythonArray;
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::compile::{compile, load};
    #[pymodule_export]
    use crate::device::{PythonDevice, devices};
    #[pymodule_export]
    use crate::diagnostic::PythonDiagnostic;
    #[pymodule_export]
    use crate::kernel::PythonKernel;
    #[pymodule_export]
    use crate::kernel_values::PythonLocalMemory;
    #[pymodule_export]
    use crate::module::{PythonModule, assemble, disassemble, optimize, verify_module};
    #[pymodule_export]
    use crate::opaque::PythonOpaque;
    #[pymodule_export]
    use crate::program::{PythonFunction, PythonProgram};
    #[pymodule_export]
    use crate::reflection::{PythonEntryPoint, PythonKernelArgument, PythonReflection, reflect};
    #[pymodule_export]
    use crate::signature::PythonParameter;
    #[pymodule_export]
    use crate::triton::measure_triton;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn initialise(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
