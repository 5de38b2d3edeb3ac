//! The state of a kernel's lowering.

use super::lowered_kernel::SpecValue;
use super::memory_use::KernelMemoryUse;
use crate::ir::{KernelData, KernelProgram};
use spirula_diagnostics::SourceLocation;
use spirula_spirv::Id;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::ir::Block;

/// Number of element types through which the memory of a binding is accessed.
pub(super) const VIEWS: usize = 6;
/// Bytes of an element in each view.
pub(super) const VIEW_BYTES: [u32; VIEWS] = [1, 2, 4, 8, 8, 16];

/// The state of the lowering of one kernel.
pub(super) struct KernelLowering<'a> {
    pub(super) p: &'a KernelProgram,
    pub(super) data: &'a KernelData,
    pub(super) b: SpirvBuilder,
    /// The block in which variables are declared.
    pub(super) first: Block,
    /// SPIR-V variables by the program's variables: scalars, private arrays, references.
    pub(super) slots: Vec<Option<Id>>,
    /// Values of scalars that no statement assigns.
    pub(super) values: Vec<Option<Id>>,
    pub(super) array_lengths: Vec<Option<Id>>,
    /// Variables of bindings, [`VIEWS`] for each: elements of 1, 2, 4, 8 bytes, two and four words.
    pub(super) bindings: Vec<Option<Id>>,
    /// Types of storage buffers by view: read-only, written.
    pub(super) blocks: [[Option<Id>; 2]; VIEWS],
    /// Shared memory by alias class.
    pub(super) shared: Vec<Option<SharedVariable>>,
    pub(super) memory_use: KernelMemoryUse,
    pub(super) interface: Vec<Id>,
    pub(super) constants: Vec<SpecValue>,
    pub(super) spec_ids: Vec<Option<Id>>,
    /// The views of shared memory, if it has an explicit layout.
    pub(super) layout: Option<SharedMemoryViews>,
    pub(super) failure_binding: u32,
    pub(super) failed: Option<Id>,
    pub(super) workgroup_flag: Option<Id>,
    /// Whether an assertion since the last error synchronisation may have failed.
    pub(super) pending: bool,
    pub(super) calls: u32,
    /// Set of float widths that occur, as the bits 16, 32 and 64.
    pub(super) floats: u32,
    pub(super) place: SourceLocation,
    pub(super) local_id: Vec<Id>,
    pub(super) group_id: Vec<Id>,
    pub(super) local_size: Vec<Id>,
    /// Built-in variables of the subgroup's index, and of the invocation's index in it.
    pub(super) subgroup: [Option<Id>; 2],
}

/// The variable of shared memory of an alias class.
#[derive(Clone, Copy)]
pub(super) struct SharedVariable {
    pub variable: Id,
    /// Bytes of an element.
    pub size: u64,
}

/// The aliased variables of shared memory with an explicit layout, for elements of 1, 2, 4 and 8 bytes.
#[derive(Default)]
pub(super) struct SharedMemoryViews {
    pub views: [Option<Id>; 4],
}
