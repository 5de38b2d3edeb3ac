//! Kernel compilation: from a module to a JIT kernel.

use super::build_kernel::build_kernel;
use super::cpu_mode::CpuMode;
use super::jit_error::JitError;
use super::jit_kernel::JitKernel;
use crate::analysis::analysed_module::AnalysedModule;
use crate::codegen::{ext, instruction_table};
use crate::layout::globals::PlacedVariables;
use crate::module::entry_point::EntrySelector;
use rustc_hash::FxHashSet;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::Id;
use spirula_spirv::analysis::function_name;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{ExecutionMode, ExecutionModel};
use spirula_spirv::ir::{Func, ModuleSection, SpirvModule};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Most faults that are reported at once.
const MAX_FAULTS: usize = 20;

/// Options of kernel compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitOptions {
    /// Invocations of a subgroup: a power of two from 1 to 64. Other numbers are rounded up to one.
    pub subgroup_size: u32,
    /// Whether invocations run in gangs, are counted, or are checked.
    pub mode: CpuMode,
}

impl Default for JitOptions {
    /// Subgroups of 8, in gangs.
    fn default() -> Self {
        JitOptions {
            subgroup_size: 8,
            mode: CpuMode::Gangs,
        }
    }
}

impl JitOptions {
    /// Invocations of a subgroup.
    pub(crate) fn lanes_per_subgroup(&self) -> u32 {
        self.subgroup_size.clamp(1, 64).next_power_of_two()
    }
}

impl JitKernel {
    /// Compiles an entry point. `spec` gives the values of specialisation constants by `SpecId`.
    ///
    /// # Errors
    /// When the module has no such entry point, when its code is malformed, or when it uses features that the CPU
    /// device does not support. Each such instruction is named with its place.
    pub fn compile_entry_point(
        module: &SpirvModule,
        entry_point: &str,
        model: ExecutionModel,
        spec: &[(u32, u64)],
        options: &JitOptions,
    ) -> Result<JitKernel, JitError> {
        let start = EntrySelector::Entry(entry_point, model);
        let mut variables = PlacedVariables::default();
        let mut initialisers = Vec::new();
        let (first, surrounds) = initialisers_of(module, entry_point);
        for name in first.iter().filter(|_| !surrounds) {
            let start = EntrySelector::Entry(name, ExecutionModel::Kernel);
            let (made, _) = compile_one(module, start, spec, options, &variables)?;
            variables.extend(made.variables.iter().map(|(id, place)| (*id, *place)));
            initialisers.push(made);
        }
        let (mut kernel, mut wanted) = compile_one(module, start, spec, options, &variables)?;
        kernel.initialisers = initialisers;
        variables.extend(kernel.variables.iter().map(|(id, place)| (*id, *place)));
        while let Some(func) = wanted.pop() {
            let number = module.function_id(func).index() as u64;
            if kernel.blocks.iter().all(|b| b.0 != number) {
                let start = EntrySelector::Block(func);
                let (block, more) = compile_one(module, start, spec, options, &variables)?;
                variables.extend(block.variables.iter().map(|(id, place)| (*id, *place)));
                kernel.blocks.push((number, block));
                wanted.extend(more);
            }
        }
        Ok(kernel)
    }
}

/// The entry points of a module that run before all others, and whether the given one itself runs before or after all
/// others.
fn initialisers_of(module: &SpirvModule, entry_point: &str) -> (Vec<String>, bool) {
    let with = |mode: ExecutionMode| -> FxHashSet<Id> {
        let modes = module.section_insts(ModuleSection::ExecutionModes);
        let those = modes.filter(|m| m.operands().get(1) == Some(&mode.0));
        those.map(|m| m.id_operand(0)).collect()
    };
    let (before, after) = (
        with(ExecutionMode::Initializer),
        with(ExecutionMode::Finalizer),
    );
    let mut found = Vec::new();
    let mut surrounds = false;
    for point in module.section_insts(ModuleSection::EntryPoints) {
        let (id, name) = (point.id_operand(1), point.string_operand(2));
        let first = before.contains(&id);
        surrounds |= name == entry_point && (first || after.contains(&id));
        found.extend(first.then_some(name));
    }
    (found, surrounds)
}

/// A kernel, and the functions that it enqueues.
fn compile_one(
    module: &SpirvModule,
    start: EntrySelector<'_>,
    spec: &[(u32, u64)],
    options: &JitOptions,
    variables: &PlacedVariables,
) -> Result<(JitKernel, Vec<Func>), JitError> {
    // An invocation that is alone with its gang waits for nobody. Without gangs, code is compiled for single
    // invocations.
    let is_plain = options.mode == CpuMode::Gangs;
    if is_plain && let Some(made) = compile_for(module, start, spec, options, variables, true)? {
        return Ok(made);
    }
    let made = compile_for(module, start, spec, options, variables, false)?;
    made.ok_or_else(|| JitError::Unsupported(Vec::new()))
}

/// Compiles a kernel and finds the functions that it enqueues. With `gangs`, none where the code cannot be for gangs
/// alone.
fn compile_for(
    module: &SpirvModule,
    start: EntrySelector<'_>,
    spec: &[(u32, u64)],
    options: &JitOptions,
    variables: &PlacedVariables,
    gangs: bool,
) -> Result<Option<(JitKernel, Vec<Func>)>, JitError> {
    let lanes = options.lanes_per_subgroup();
    let program = AnalysedModule::new(module, start, spec, lanes, gangs)?;
    check_supported_instructions(&program)?;
    // Invalid modules may confuse the code generator, whose assertions are panics.
    let built = catch_unwind(AssertUnwindSafe(|| {
        build_kernel(&program, options, variables)
    }));
    let built = built.unwrap_or_else(|_| {
        let message = format!("no code could be made for {}", program.entry.name);
        let hint = "validate the module; if it is valid, this is a bug in the CPU device";
        let fault = SourceDiagnostic::error(SourceLocation::Unknown, message);
        Err(fault.with_hint(hint).into())
    });
    let Some(kernel) = built? else {
        return Ok(None);
    };
    let blocks = find_enqueued_kernels(&program)?;
    Ok(Some((kernel, blocks)))
}

/// The functions that a kernel enqueues.
fn find_enqueued_kernels(program: &AnalysedModule<'_>) -> Result<Vec<Func>, SourceDiagnostic> {
    let module = program.module;
    let mut found = Vec::new();
    for func in &program.functions.bottom_up {
        let insts = module.function_insts(*func);
        for inst in insts.filter(|inst| inst.op() == Op::EnqueueKernel) {
            let invoked = inst.id_operand(6);
            let mut all = module.functions().iter().copied();
            let block = all.find(|f| module.function_id(*f) == invoked);
            let block = block.filter(|f| !module.function(*f).blocks.is_empty());
            found.push(block.ok_or_else(|| {
                let name = function_name(module, invoked);
                let message = format!("{name} is enqueued, but has no body");
                SourceDiagnostic::error(inst.place(), message)
            })?);
        }
    }
    Ok(found)
}

/// Refuses instructions that no row of the tables can lower, before anything is lowered.
fn check_supported_instructions(program: &AnalysedModule<'_>) -> Result<(), JitError> {
    let mut faults = Vec::new();
    for func in &program.functions.bottom_up {
        let info = program.functions.get(*func);
        for at in &info.order {
            for inst in program.module.body(info.cfg.block(*at)) {
                let what = if !instruction_table::is_supported(inst.op()) {
                    inst.op().to_string()
                } else if inst.op() == Op::ExtInst
                    && let Err(what) = ext::check_ext_inst(program, inst)
                {
                    what
                } else {
                    continue;
                };
                let message = format!("{what} is not supported by the CPU device");
                faults.push(SourceDiagnostic::error(inst.place(), message));
                if faults.len() == MAX_FAULTS {
                    return Err(JitError::Unsupported(faults));
                }
            }
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(JitError::Unsupported(faults))
    }
}

/// Builds the kernel; none where it has to be for gangs alone and cannot be.
fn build_kernel(
    program: &AnalysedModule<'_>,
    options: &JitOptions,
    variables: &PlacedVariables,
) -> Result<Option<JitKernel>, SourceDiagnostic> {
    let bug = |message: String| SourceDiagnostic::error(SourceLocation::Unknown, message);
    let mut code = JitCode::new().map_err(bug)?;
    let globals = ReachedGlobals::from_program(program, &mut code.memory, variables)?;
    let slots = parameter_slots(program)?;
    let subgroup_size = options.lanes_per_subgroup();
    let sanitizer = options.check.then(|| {
        let analysis = SanitizerAnalysis::new(program, &globals);
        let rows = analysis.collect_row_kinds(program, &globals);
        SanitizerHooks::new(analysis, rows)
    });
    let hooks: &dyn AccessHooks = match &sanitizer {
        Some(hooks) => hooks,
        None => &PlainHooks,
    };
    let room_bytes = private_room(&globals, sanitizer.is_some());
    let room_bytes = room_bytes.ok_or_else(|| {
        let bytes = globals.private_bytes;
        bug(format!(
            "private memory of {bytes} bytes is not supported by the CPU device"
        ))
    })?;
    let mut shared = ClifKernelContext {
        hooks,
        slots: &slots,
        program,
        globals: &globals,
        subgroup_size,
        code: &mut code,
        points: Vec::new(),
        gang: None,
        room_bytes,
        large_constants: rustc_hash::FxHashMap::default(),
        counters: options.count.then(|| BlockCounters::new(program)),
        prints: Vec::new(),
        wide: rustc_hash::FxHashMap::default(),
        matrix_bytes: 0,
        in_order: false,
        non_temporal: NonTemporalStores::from_program(program, &globals.bound),
        privatised: PrivatisedAtomics::from_program(program, &globals.bound),
        non_temporal_insts: FxHashSet::default(),
        strings: Vec::new(),
    };
    let mut builders = FunctionBuilderContext::new();
    for func in &program.functions.bottom_up {
        if *func != program.entry.func && !program.functions.get(*func).inline {
            lower_one(&mut shared, &mut builders, *func, false)?;
        }
    }
    let gang = if options.gangs && !options.count && !options.check {
        lower_gang(&mut shared)
    } else {
        None
    };
    if program.is_single && gang.is_none() {
        return Ok(None);
    }
    let mut frame = FrameExtent::new(0, 0);
    // A shader whose workgroups all divide into gangs needs no other code.
    let alone = gang.is_none() || program.entry.is_kernel;
    if alone {
        shared.gang = None;
        shared.points.clear();
        let is_deferred = gang.is_some();
        let entry = program.entry.func;
        frame = lower_one(&mut shared, &mut builders, entry, is_deferred)?;
    }
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
    code.make_callable(alone.then_some(program.entry.func))
        .map_err(bug)?;
    let gang = gang.unwrap_or(FrameExtent::new(0, 0));
    Ok(Some(JitKernel {
        code,
        name: program.entry.name.clone(),
        local_size: program.entry.local_size,
        subgroup_size,
        points,
        frame: FrameLayout::new(frame.below, frame.above),
        gang_width: program.entry.gang_width().unwrap_or(1),
        gang_frame: FrameLayout::new(gang.below, gang.above),
        room_bytes: [frame.room_stride(), gang.room_stride()],
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
        privatised,
        blocks: Vec::new(),
        initialisers: Vec::new(),
        variables: globals.variables.clone(),
        sanitizer,
    }))
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

/// A number that no other kernel has.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Compiles code for gangs; none where that is not possible. Errors are not reported here, as the code for single
/// invocations reports them.
fn lower_gang(shared: &mut ClifKernelContext<'_, '_>) -> Option<FrameExtent> {
    let program = shared.program;
    if program.functions.slots > 0 {
        return None;
    }
    let width = program.entry.gang_width()?;
    shared.gang = Some(GangLoop::new(width));
    let made = catch_unwind(AssertUnwindSafe(|| gang_function(shared)));
    made.unwrap_or(None)
}

fn gang_function(shared: &mut ClifKernelContext<'_, '_>) -> Option<FrameExtent> {
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
        several: &shared.wide,
        non_temporal_stub,
        non_temporal_insts: &shared.non_temporal_insts,
    };
    let mut builders = FunctionBuilderContext::new();
    let func = simd::vectorise_gang_loop(&func, roots, &made, &mut builders).ok()?;
    shared.non_temporal_insts.clear();
    shared.code.define_gang(func).ok()?;
    Some(frame)
}

/// Lowers a function and compiles it, at once or when it is needed.
fn lower_one(
    shared: &mut ClifKernelContext<'_, '_>,
    builders: &mut FunctionBuilderContext,
    func: Func,
    is_deferred: bool,
) -> Result<FrameExtent, SourceDiagnostic> {
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
        SourceDiagnostic::error(def.place(), message)
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
