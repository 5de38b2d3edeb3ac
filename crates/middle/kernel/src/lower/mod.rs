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
mod barriers;
mod context;
mod copies;
mod emit;
mod explicit_layout;
mod fragments;
mod indices;
mod interface;
mod lowered_kernel;
mod math;
mod memory;
mod memory_use;
mod operators;
mod shared_memory;
mod spin_loops;
mod statements;
mod subgroups;
mod unsupported;
mod vector_access;

pub use lowered_kernel::{LoweredKernel, SpecValue};
pub(crate) use unsupported::unsupported_diagnostic;

use crate::ir::{KernelCapture, KernelId, KernelProgram};
use context::{KernelLowering, SharedMemoryViews, VIEWS};
use memory_use::KernelMemoryUse;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::SpirvVersion;

/// Lowers a kernel of a checked program.
///
/// # Errors
/// If the kernel contains a construct that cannot be lowered; the message names it.
pub fn lower_kernel(
    program: &KernelProgram,
    kernel: KernelId,
) -> Result<LoweredKernel, SourceDiagnostic> {
    let memory_use = memory_use::analyse_memory_use(program, kernel)?;
    let gains = memory_use.has_mixed_shared_sizes();
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
        .captures
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
    let reach = (0..failure_binding)
        .map(|b| lower.binding_reach(b))
        .collect();
    let uses_failures = lower.is_bound(failure_binding);
    let (module, constants) = lower.finish_module(main, data.label.as_deref())?;
    Ok(LoweredKernel {
        module,
        laid_out: None,
        constants,
        scalars: scalars.rows,
        scalar_bytes: scalars.bytes,
        scalars_in_buffer: scalars.in_buffer,
        reach,
        uses_failures,
        can_fail,
    })
}
