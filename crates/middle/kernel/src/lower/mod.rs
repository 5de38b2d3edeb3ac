//! Lowering of kernels to SPIR-V modules for Vulkan.
//!
//! # The interface of a module
//!
//! | what | where |
//! | --- | --- |
//! | blocks of device memory | descriptor set 0, bindings from 0 in the order of the captures |
//! | the failure block | the binding after them |
//! | number of workgroups in the first dimension (`u32`), then captured scalars | push constants; above 256 bytes the binding after that |
//! | workgroup size, constants, sizes of private arrays and shared memory | specialisation constants, numbered from 0 in the order of [`LoweredKernel::constants`] |
//!
//! Scalars are aligned to their size; scalars of fewer than 32 bits take 32. Workgroups beyond the device's limit
//! in the first dimension continue in the second; excess workgroups do nothing.

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

/// Most calls that are inlined into a kernel.
const CALLS: u32 = 10_000;
/// Number of element types through which the memory of a binding is accessed.
const VIEWS: usize = 6;
/// Bytes of an element in each view.
const VIEW_BYTES: [u32; VIEWS] = [1, 2, 4, 8, 8, 16];

/// A lowered kernel: its module, and the values that its launch has to provide.
#[derive(Debug)]
pub struct LoweredKernel {
    /// The module; its entry point is `main`.
    pub module: SpirvModule,
    /// The same kernel with an explicit layout of shared memory, for devices that support it. `None` if that gains
    /// nothing.
    pub laid_out: Option<SpirvModule>,
    /// Values of the specialisation constants.
    pub constants: Vec<SpecValue>,
    /// Offsets of the captured scalars in bytes; the number of workgroups comes first.
    pub scalars: Vec<(VarId, ScalarType, u32)>,
    /// Bytes of the number of workgroups and the scalars.
    pub scalar_bytes: u32,
    /// Whether scalars are passed in a buffer instead of push constants.
    pub scalars_in_buffer: bool,
    /// For each binding of a block, whether it is accessed.
    pub bound: Vec<bool>,
    /// For each binding of a block, the bytes that indices of 32 bits reach.
    pub reach: Vec<u64>,
    /// Whether the failure block is bound.
    pub uses_failures: bool,
    /// Whether assertions of the kernel may fail.
    pub can_fail: bool,
}

/// The value of a specialisation constant, which the host computes.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecValue {
    /// Size of the workgroup in a dimension, 32 bits.
    BlockSize(usize),
    /// An expression over parameters, limits and the kernel's constants.
    Value(ExprId),
    /// The product of sizes, but at least 1; 32 bits.
    Product(Vec<ExprId>),
    /// The size of shared memory in elements, 32 bits: each allocation is rounded up to a multiple of 16 bytes.
    Shared {
        /// Sizes of the allocations in bytes.
        bytes: Vec<ExprId>,
        /// Additional bytes, a multiple of 16.
        more: u64,
        /// Bytes of an element.
        size: u64,
        /// The least result.
        least: u64,
    },
}

/// Lowers a kernel of a checked program.
///
/// # Errors If the kernel contains a construct that cannot be lowered; the message names it.
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

/// Lowers a kernel. For the module with an explicit layout, `constants` are those of the other module: they keep
/// their numbers, and further constants follow.
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
    /// The block in which variables are declared.
    first: Block,
    /// SPIR-V variables by the program's variables: scalars, private arrays, references.
    slots: Vec<Option<Id>>,
    /// Values of scalars that no statement assigns.
    values: Vec<Option<Id>>,
    array_lengths: Vec<Option<Id>>,
    /// Variables of bindings, [`VIEWS`] for each: elements of 1, 2, 4, 8 bytes, two and four words.
    bindings: Vec<Option<Id>>,
    /// Types of storage buffers by view: read-only, written.
    blocks: [[Option<Id>; 2]; VIEWS],
    /// Shared memory by alias class.
    shared: Vec<Option<SharedVariable>>,
    memory_use: KernelMemoryUse,
    interface: Vec<Id>,
    constants: Vec<SpecValue>,
    spec_ids: Vec<Option<Id>>,
    /// The views of shared memory, if it has an explicit layout.
    layout: Option<SharedMemoryViews>,
    failure_binding: u32,
    failed: Option<Id>,
    workgroup_flag: Option<Id>,
    /// Whether an assertion since the last error synchronisation may have failed.
    pending: bool,
    calls: u32,
    /// Set of float widths that occur, as the bits 16, 32 and 64.
    floats: u32,
    place: SourceLocation,
    local_id: Vec<Id>,
    group_id: Vec<Id>,
    local_size: Vec<Id>,
    /// Built-in variables of the subgroup's index, and of the invocation's index in it.
    subgroup: [Option<Id>; 2],
}

pub(crate) fn unsupported_diagnostic(place: SourceLocation, what: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(place, format!("kernels cannot be lowered with {what}"))
}
