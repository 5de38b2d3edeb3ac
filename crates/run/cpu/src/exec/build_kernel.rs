//! Kernel building: lowers the functions of an analysed module and compiles them into a kernel.

use super::compile::JitOptions;
use super::cpu_mode::CpuMode;
use super::jit_error::JitError;
use super::jit_kernel::JitKernel;
use super::launch_work::{MeasuredWork, count_invocation_work};
use crate::analysis::analysed_module::AnalysedModule;
use crate::analysis::block_counters::BlockCounters;
use crate::analysis::privatised_atomics::PrivatisedAtomics;
use crate::analysis::suspension::SyncGroup;
use crate::codegen::access_hooks::{AccessHooks, PlainHooks};
use crate::codegen::gang_loop::GangLoop;
use crate::codegen::jit::JitCode;
use crate::codegen::lowering::ClifKernelContext;
use crate::codegen::{call, entry, in_memory_matrix};
use crate::host::printf::PrintfSites;
use crate::layout::frames::{FrameExtent, FrameLayout, PrivateExtent, private_variable_extent};
use crate::layout::globals::ReachedGlobals;
use crate::layout::module_variables::ModuleVariables;
use crate::layout::parameters::{ParameterSlot, SlotKind, parameter_slots};
use crate::module::types::LoweredTypeKind;
use crate::sanitizer::SanitizerInfo;
use crate::sanitizer::instrument::analysis::SanitizerAnalysis;
use crate::sanitizer::instrument::{InstrumentedKernel, SanitizerHooks};
use crate::simd;
use cranelift_codegen::ir::{Function, UserFuncName};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::{Func, InstRef};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Builds the kernel; none where it has to be for gangs alone and cannot be.
///
/// # Errors
/// When the module cannot be lowered, or its code cannot be compiled.
pub(crate) fn build_kernel(
    program: &AnalysedModule<'_>,
    options: &JitOptions,
    variables: &ModuleVariables,
) -> Result<Option<JitKernel>, JitError> {
    let mut code = JitCode::new().map_err(unplaced_fault)?;
    let globals = ReachedGlobals::from_program(program, &mut variables.lock_memory())?;
    let slots = parameter_slots(program)?;
    let subgroup_size = options.lanes_per_subgroup();
    let sanitizer = (options.mode == CpuMode::Sanitizer).then(|| {
        let analysis = SanitizerAnalysis::new(program, &globals);
        let rows = analysis.collect_row_kinds(program, &globals);
        SanitizerHooks::new(analysis, rows)
    });
    let hooks: &dyn AccessHooks = match &sanitizer {
        Some(hooks) => hooks,
        None => &PlainHooks,
    };
    let mut shared = ClifKernelContext::new(program, &globals, &slots, &mut code, hooks);
    shared.subgroup_size = subgroup_size;
    shared.rooms = private_variable_extent(&globals, sanitizer.is_some()).ok_or_else(|| {
        let bytes = globals.private_bytes;
        unplaced_fault(format!(
            "private memory of {bytes} bytes is not supported by the CPU device"
        ))
    })?;
    shared.counters = (options.mode == CpuMode::Counting).then(|| BlockCounters::new(program));
    let Some(entries) = lower_functions(&mut shared, options.mode)? else {
        return Ok(None);
    };
    let points = shared.points;
    let workgroup_align = in_memory_matrix::workgroup_align(&globals, shared.matrix_bytes);
    let workgroup_bytes = match shared.matrix_bytes {
        0 => globals.workgroup_bytes,
        bytes => in_memory_matrix::matrix_base(&globals) + bytes,
    };
    let counters = shared.counters.unwrap_or_default();
    let (non_temporal, privatised) = (shared.non_temporal, shared.privatised);
    let constants = globals.data.iter().copied();
    let prints = PrintfSites::new(shared.prints, constants.chain(shared.strings).collect());
    let sanitizer = sanitizer.map(|hooks| {
        build_sanitizer_info(hooks.finish(), program, &globals, &slots, subgroup_size)
    });
    code.make_callable(entries.single.map(|_| program.entry.func))
        .map_err(unplaced_fault)?;
    let [single, gang] = [entries.single, entries.gang]
        .map(|e| e.unwrap_or(FrameExtent::new(0, PrivateExtent::default())));
    Ok(Some(JitKernel {
        code,
        name: program.entry.name.clone(),
        local_size: program.entry.local_size,
        has_partial_groups: program.entry.is_kernel,
        subgroup_size,
        points,
        frame: FrameLayout::new(single.below, single.above),
        gang_width: program.gang_width.unwrap_or(1),
        gang_frame: FrameLayout::new(gang.below, gang.above),
        room_bytes: [single.rooms.stride(), gang.rooms.stride()],
        room_align: single.rooms.align.max(gang.rooms.align),
        slots,
        bindings: globals.bindings.clone(),
        workgroup_bytes,
        workgroup_align,
        zero_workgroup: globals.zero_workgroup,
        push_bytes: globals.push_bytes,
        counters,
        prints,
        non_temporal,
        may_wait: may_wait(program, &privatised),
        invocation_work: count_invocation_work(program),
        measured_work: MeasuredWork::default(),
        privatised,
        blocks: Vec::new(),
        initialisers: Vec::new(),
        _variables: variables.clone(),
        sanitizer,
    }))
}

fn unplaced_fault(message: String) -> SourceDiagnostic {
    SourceDiagnostic::error(SourceLocation::Unknown, message)
}

/// The extents of frames and private memory of the entry functions that were compiled.
struct LoweredEntries {
    /// Those of single invocations, if there is an entry function for them.
    single: Option<FrameExtent>,
    /// Those of gangs, if there is an entry function for them.
    gang: Option<FrameExtent>,
}

/// Lowers all functions; none where the kernel has to be for gangs alone and cannot be.
fn lower_functions(
    shared: &mut ClifKernelContext<'_, '_>,
    mode: CpuMode,
) -> Result<Option<LoweredEntries>, JitError> {
    let program = shared.program;
    let entry = program.entry.func;
    let mut builders = FunctionBuilderContext::new();
    for func in &program.functions.bottom_up {
        if *func != entry && !program.functions.get(*func).inline {
            lower_function(shared, &mut builders, *func, false)?;
        }
    }
    let gang = if mode == CpuMode::Gangs {
        lower_gang(shared)
    } else {
        None
    };
    if program.is_single && gang.is_none() {
        return Ok(None);
    }
    // A shader whose workgroups all divide into gangs needs no other code.
    let needs_single = gang.is_none() || program.entry.is_kernel;
    let mut single = None;
    if needs_single {
        shared.gang = None;
        shared.points.clear();
        let is_deferred = gang.is_some();
        single = Some(lower_function(shared, &mut builders, entry, is_deferred)?);
    }
    Ok(Some(LoweredEntries { single, gang }))
}

/// Lowers a function and compiles it, now or when it is first needed.
fn lower_function(
    shared: &mut ClifKernelContext<'_, '_>,
    builders: &mut FunctionBuilderContext,
    func: Func,
    is_deferred: bool,
) -> Result<FrameExtent, JitError> {
    let program = shared.program;
    let convention = shared.code.host_convention();
    let signature = if func == program.entry.func {
        entry::entry_signature(convention)
    } else {
        call::build_signature(program, func, convention)
    };
    let def = program.module.inst(program.module.function(func).def);
    let bug = |message: String| {
        let message = format!("bug in the CPU device: {message}");
        JitError::Bug(SourceDiagnostic::error(def.place(), message))
    };
    let mut context = shared.code.begin_function(func, signature).map_err(bug)?;
    let builder = FunctionBuilder::new(&mut context.func, builders);
    let frame = entry::lower_entry(shared, builder, func)?;
    let made = if is_deferred {
        shared.code.defer_function(func, context)
    } else {
        shared.code.define_function(func, &mut context)
    };
    made.map_err(bug)?;
    Ok(frame)
}

/// Compiles code for gangs; none where that is not possible. Errors are not reported here, as the code for single
/// invocations reports them.
fn lower_gang(shared: &mut ClifKernelContext<'_, '_>) -> Option<FrameExtent> {
    let program = shared.program;
    if program.functions.slots > 0 {
        return None;
    }
    let width = program.gang_width?;
    shared.gang = Some(GangLoop::new(width));
    let made = catch_unwind(AssertUnwindSafe(|| compile_gang_entry(shared)));
    made.unwrap_or(None)
}

/// Lowers and vectorises the entry function; none where it cannot be.
fn compile_gang_entry(shared: &mut ClifKernelContext<'_, '_>) -> Option<FrameExtent> {
    let entry = shared.program.entry.func;
    let signature = entry::entry_signature(shared.code.host_convention());
    let mut func = Function::with_name_signature(UserFuncName::user(0, 0), signature);
    let mut builders = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut func, &mut builders);
    let mut frame = entry::lower_entry(shared, builder, entry).ok()?;
    if shared.in_order || shared.points.iter().any(|p| p.group == SyncGroup::Subgroup) {
        return None;
    }
    let entered = shared.gang?;
    let roots = entered.roots?;
    frame.below = frame.below.checked_mul(roots.width as u32)?;
    let non_temporal_stub = if shared.non_temporal_insts.is_empty() {
        None
    } else {
        shared.code.get_non_temporal_stub(&mut func)
    };
    let made = simd::GangSupport {
        target: shared.code.gang_target(),
        wide_functions: &shared.wide_functions,
        non_temporal_stub,
        non_temporal_insts: &shared.non_temporal_insts,
    };
    let mut builders = FunctionBuilderContext::new();
    let func = simd::vectorise_gang_loop(&func, roots, &made, &mut builders).ok()?;
    shared.non_temporal_insts.clear();
    shared.code.define_gang(func).ok()?;
    Some(frame)
}

/// The facts that checked launches of a kernel need.
fn build_sanitizer_info(
    kernel: InstrumentedKernel,
    program: &AnalysedModule<'_>,
    globals: &ReachedGlobals,
    slots: &[ParameterSlot],
    subgroup_size: u32,
) -> SanitizerInfo {
    SanitizerInfo {
        number: next_number(),
        kernel: program.entry.name.clone(),
        subgroup_size,
        unknown_granule: kernel.analysis.provenance.unknown_granule(),
        sites: kernel.sites,
        group_granule: kernel.analysis.group_granule,
        granules: kernel.rows.iter().map(|r| r.granule).collect(),
        is_local: slots.iter().map(|s| s.kind == SlotKind::Local).collect(),
        constants: globals.data.clone(),
        largest: kernel.largest,
    }
}

/// A number that no other kernel has.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Whether workgroups may wait for each other. They may if the kernel has pipes, or atomics that do more than count
/// in memory which workgroups share.
fn may_wait(program: &AnalysedModule<'_>, privatised: &PrivatisedAtomics) -> bool {
    let waits = |inst: InstRef<'_>| {
        let op = inst.op();
        match inst.get_id(0).filter(|_| op.is_atomic()) {
            Some(pointer) => {
                !privatised.pointers.contains(&pointer) && !is_workgroups(program, pointer)
            }
            None => op.is_atomic() || op.is_pipe(),
        }
    };
    let mut functions = program.functions.bottom_up.iter();
    functions.any(|f| program.module.function_insts(*f).any(waits))
}

/// Whether a pointer is to memory that each workgroup has for itself.
fn is_workgroups(program: &AnalysedModule<'_>, pointer: Id) -> bool {
    let ty = program.type_of(pointer).map(|ty| program.types.kind(ty));
    matches!(
        ty,
        Some(LoweredTypeKind::Pointer {
            class: StorageClass::Workgroup,
            ..
        })
    )
}
