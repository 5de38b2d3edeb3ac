//! Kernels to SPIR-V modules for Vulkan.
//!
//! # The interface of a module
//!
//! | what | where |
//! | --- | --- |
//! | blocks of device memory | descriptor set 0, bindings from 0 in the order of the uses |
//! | the block for failures | the binding after them |
//! | number of workgroups in the first dimension (`u32`), then scalar uses | push constants; above 256 bytes the binding after that |
//! | workgroup size, constants, sizes of private arrays and shared memory | specialisation constants, numbered from 0 in the order of [`LoweredKernel::constants`] |
//!
//! Scalars lie at multiples of their size; those of fewer than 32 bits take 32. Workgroups beyond
//! the device's limit in the first dimension continue in the second, and those in excess do nothing.

mod assertions;
mod atomics;
mod emit;
mod explicit_layout;
mod fragments;
mod indices;
mod interface;
mod math;
mod memory;
mod memory_use;
mod operators;
mod shared_memory;
mod spin_loops;
mod statements;
mod subgroups;
mod vector_access;

use crate::ir::{ExprId, KernelCapture, KernelData, KernelId, KernelProgram, VarId};
use explicit_layout::SharedMemoryViews;
use memory_use::KernelMemoryUse;
use shared_memory::SharedVariable;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::ScalarType;
use spirula_spirv::Id;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::{Block, SpirvModule};

/// Most calls that are put in place within a kernel.
const CALLS: u32 = 10_000;
/// Types of elements that the memory of a binding is seen as.
const VIEWS: usize = 6;
/// Bytes of an element in each of those.
const VIEW_BYTES: [u32; VIEWS] = [1, 2, 4, 8, 8, 16];

/// A kernel as a module, and what its launch has to provide.
#[derive(Debug)]
pub struct LoweredKernel {
    /// The module; its entry point is `main`.
    pub module: SpirvModule,
    /// The same with shared memory that is laid out explicitly, for devices that have it; none where
    /// that gains nothing.
    pub laid_out: Option<SpirvModule>,
    /// Values of the specialisation constants.
    pub constants: Vec<SpecValue>,
    /// Offsets of the scalar uses in bytes, after the number of workgroups.
    pub scalars: Vec<(VarId, ScalarType, u32)>,
    /// Bytes of number of workgroups and scalars.
    pub scalar_bytes: u32,
    /// Whether scalars are a buffer and no push constants.
    pub scalars_in_buffer: bool,
    /// Which bindings of blocks are accessed.
    pub bound: Vec<bool>,
    /// Bytes of each of those that indices of 32 bits reach.
    pub reach: Vec<u64>,
    /// Whether the block for failures is bound.
    pub uses_failures: bool,
    /// Whether assertions of the kernel may fail.
    pub can_fail: bool,
}

/// The value of a specialisation constant, as the host computes it.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecValue {
    /// Invocations of a workgroup in a dimension, 32 bits.
    BlockSize(usize),
    /// A value over parameters, limits and the kernel's constants.
    Value(ExprId),
    /// The product of sizes, at least 1, 32 bits.
    Product(Vec<ExprId>),
    /// The sum of bytes, each rounded up to a multiple of 16, in elements of so many bytes; 32 bits.
    Shared {
        /// Bytes.
        bytes: Vec<ExprId>,
        /// Bytes besides, a multiple of 16.
        more: u64,
        /// Bytes of an element.
        size: u64,
        /// The least value.
        least: u64,
    },
}

/// Lowers a kernel of a checked program.
///
/// # Errors
/// When the kernel does what cannot be lowered; the message names it.
pub fn lower_kernel(
    program: &KernelProgram,
    kernel: KernelId,
) -> Result<LoweredKernel, SourceDiagnostic> {
    let memory_use = memory_use::analyse_memory_use(program, kernel)?;
    let gains = memory_use.mixes_shared();
    let mut lowered = lower_as(program, kernel, memory_use, None)?;
    if gains {
        let memory_use = memory_use::analyse_memory_use(program, kernel)?;
        let constants = std::mem::take(&mut lowered.constants);
        let other = lower_as(program, kernel, memory_use, Some(constants))?;
        lowered.laid_out = Some(other.module);
        lowered.constants = other.constants;
    }
    Ok(lowered)
}

/// Lowers a kernel; `constants` are those of its other form, which are given where shared memory is to
/// be laid out explicitly. They keep their numbers, and others follow.
fn lower_as(
    program: &KernelProgram,
    kernel: KernelId,
    memory_use: KernelMemoryUse,
    constants: Option<Vec<SpecValue>>,
) -> Result<LoweredKernel, SourceDiagnostic> {
    let data = program.kernel(kernel);
    let memories = data
        .uses
        .iter()
        .filter(|u| matches!(u, KernelCapture::Memory(_)));
    let mut b = SpirvBuilder::new(SpirvVersion::new(1, 5));
    let (main, first) = interface::begin_module(&mut b, memory_use.has_fragments);
    let mut lower = KernelLowering {
        p: program,
        data,
        b,
        first,
        slots: vec![None; program.vars.len()],
        values: vec![None; program.vars.len()],
        array_lengths: vec![None; program.arrays.len()],
        bindings: Vec::new(),
        blocks: [[None; 2]; VIEWS],
        shared: vec![None; memory_use.classes.len()],
        memory_use,
        interface: Vec::new(),
        layout: constants.is_some().then(SharedMemoryViews::default),
        spec_ids: vec![None; constants.as_ref().map_or(0, Vec::len)],
        constants: constants.unwrap_or_default(),
        failure_binding: memories.count() as u32,
        failed: None,
        workgroup_flag: None,
        pending: false,
        calls: 0,
        floats: 0,
        place: data.place,
        local_id: Vec::new(),
        group_id: Vec::new(),
        local_size: Vec::new(),
        subgroup: [None; 2],
    };
    let scalars = lower.begin_interface()?;
    lower.begin_failures();
    lower.begin_references();
    lower.lower_block(data.body)?;
    let can_fail = lower.can_fail();
    let failure_binding = lower.failure_binding;
    let bound = (0..failure_binding).map(|b| lower.is_bound(b)).collect();
    let reach = (0..failure_binding)
        .map(|b| lower.binding_reach(b))
        .collect();
    let uses_failures = lower.is_bound(failure_binding);
    let (module, constants) = lower.finish_module(main);
    Ok(LoweredKernel {
        module,
        laid_out: None,
        constants,
        scalars: scalars.rows,
        scalar_bytes: scalars.bytes,
        scalars_in_buffer: scalars.in_buffer,
        bound,
        reach,
        uses_failures,
        can_fail,
    })
}

struct KernelLowering<'a> {
    p: &'a KernelProgram,
    data: &'a KernelData,
    b: SpirvBuilder,
    /// The block that has the variables.
    first: Block,
    /// Variables by the program's variables: scalars, private arrays, references.
    slots: Vec<Option<Id>>,
    /// Values of scalars that nothing changes.
    values: Vec<Option<Id>>,
    array_lengths: Vec<Option<Id>>,
    /// Variables of bindings, [`VIEWS`] for each: elements of 1, 2, 4, 8 bytes, two and four words.
    bindings: Vec<Option<Id>>,
    /// Block types, by the size of their elements likewise.
    blocks: [[Option<Id>; 2]; VIEWS],
    /// Shared memory by class.
    shared: Vec<Option<SharedVariable>>,
    memory_use: KernelMemoryUse,
    interface: Vec<Id>,
    constants: Vec<SpecValue>,
    spec_ids: Vec<Option<Id>>,
    /// Where shared memory is laid out explicitly: its views.
    layout: Option<SharedMemoryViews>,
    failure_binding: u32,
    failed: Option<Id>,
    workgroup_flag: Option<Id>,
    /// Whether an assertion before may have failed since the last error synchronisation.
    pending: bool,
    calls: u32,
    /// The widths of floats that occur: 16, 32 and 64 are one bit each.
    floats: u32,
    place: SourceLocation,
    local_id: Vec<Id>,
    group_id: Vec<Id>,
    local_size: Vec<Id>,
    /// Variables of the number of the subgroup, and of the invocation in it.
    subgroup: [Option<Id>; 2],
}

pub(crate) fn unsupported_diagnostic(place: SourceLocation, what: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(place, format!("kernels cannot be lowered with {what}"))
}
