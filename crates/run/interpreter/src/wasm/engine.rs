//! The interface of whatever runs WebAssembly modules: a browser, Node, or an interpreter in tests.

use super::host::HostFunctions;
use std::sync::Arc;

/// The module that imports of generated modules name.
pub const HOST_MODULE: &str = "spirula";

/// A function that generated modules import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineImport {
    /// `apply(number, a, b, c, d)`: the operation with this number on the bits of scalars.
    Apply,
    /// `put_row(at, bits)`: sets an operand of the next function on vectors.
    PutRow,
    /// `compute_row(number)`: computes the function on vectors with this number.
    ComputeRow,
    /// `take_row(at)`: a component of the last result.
    TakeRow,
}

impl EngineImport {
    /// The imports in the order of their indices.
    pub const ALL: [EngineImport; 4] = [
        EngineImport::Apply,
        EngineImport::PutRow,
        EngineImport::ComputeRow,
        EngineImport::TakeRow,
    ];

    /// The name in the import section.
    pub fn name(self) -> &'static str {
        match self {
            EngineImport::Apply => "apply",
            EngineImport::PutRow => "put_row",
            EngineImport::ComputeRow => "compute_row",
            EngineImport::TakeRow => "take_row",
        }
    }
}

/// Runs generated modules.
///
/// A module exports `memory`, and `run_group(is_new)`, which runs the workgroup that its memory describes. The instance of a
/// module has memory of its own. Errors are messages: of a trap, the engine's own words.
pub trait WasmEngine {
    /// Compiles and instantiates a module, whose imports call these functions. Returns the number of the instance.
    ///
    /// # Errors
    /// When the engine refuses the module.
    fn load_module(&mut self, code: &[u8], functions: &Arc<HostFunctions>) -> Result<u32, String>;

    /// Grows the memory of an instance to at least a given number of bytes.
    ///
    /// # Errors
    /// When there is not so much memory.
    fn reserve_memory(&mut self, instance: u32, bytes: u64) -> Result<(), String>;

    /// Copies bytes to the memory of an instance.
    ///
    /// # Errors
    /// When they end outside of it.
    fn write_memory(&mut self, instance: u32, at: u32, bytes: &[u8]) -> Result<(), String>;

    /// Copies bytes from the memory of an instance.
    ///
    /// # Errors
    /// When they end outside of it.
    fn read_memory(&mut self, instance: u32, at: u32, out: &mut [u8]) -> Result<(), String>;

    /// Calls `run_group`. The result is 0 where all invocations have ended.
    ///
    /// # Errors
    /// The message of a trap.
    fn run_group(&mut self, instance: u32, is_new: bool) -> Result<u32, String>;

    /// Drops an instance.
    fn drop_instance(&mut self, instance: u32);
}
