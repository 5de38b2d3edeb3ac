//! Kernel compilation: from a module to a JIT kernel.

use super::build_kernel::build_kernel;
use super::cpu_mode::CpuMode;
use super::jit_error::JitError;
use super::jit_kernel::JitKernel;
use crate::analysis::analysed_module::AnalysedModule;
use crate::codegen::{ext, instruction_table};
use crate::layout::module_variables::ModuleVariables;
use crate::module::entry_point::EntrySelector;
use rustc_hash::FxHashSet;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::Id;
use spirula_spirv::analysis::function_name;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{ExecutionMode, ExecutionModel};
use spirula_spirv::ir::{Func, ModuleSection, SpirvModule};
use spirula_spirv::reflect::subgroup_demands;
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
    /// The sizes of subgroups that an entry point can demand by its execution mode `SubgroupSize`.
    pub const SUBGROUP_SIZES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

    /// Invocations of a subgroup.
    pub(crate) fn lanes_per_subgroup(&self) -> u32 {
        self.subgroup_size.clamp(1, 64).next_power_of_two()
    }

    /// The options with the size of subgroups that an entry point demands.
    fn with_demanded_subgroups(
        self,
        module: &SpirvModule,
        name: &str,
    ) -> Result<JitOptions, JitError> {
        let mut demands = subgroup_demands(module).into_iter();
        let Some(demand) = demands.find(|demand| demand.entry == name) else {
            return Ok(self);
        };
        let subgroup_size = demand.size;
        if !Self::SUBGROUP_SIZES.contains(&subgroup_size) {
            let message = format!("{name} demands subgroups of {subgroup_size} invocations");
            let fault = SourceDiagnostic::error(demand.place, message);
            let hint = "sizes of subgroups are powers of two up to 64";
            return Err(fault.with_hint(hint).into());
        }
        Ok(JitOptions {
            subgroup_size,
            ..self
        })
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
        let variables = ModuleVariables::default();
        JitKernel::compile_with_variables(module, entry_point, model, spec, options, &variables)
    }

    /// Compiles an entry point that shares the variables at module level with other kernels of the module. Only the first of
    /// them has initialisers. `spec` must be the same for all.
    ///
    /// # Errors
    /// As [`JitKernel::compile_entry_point`].
    pub fn compile_with_variables(
        module: &SpirvModule,
        entry_point: &str,
        model: ExecutionModel,
        spec: &[(u32, u64)],
        options: &JitOptions,
        variables: &ModuleVariables,
    ) -> Result<JitKernel, JitError> {
        let options = &options.with_demanded_subgroups(module, entry_point)?;
        let start = EntrySelector::Entry(entry_point, model);
        let mut initialisers = Vec::new();
        let (first, surrounds) = find_initialisers(module, entry_point);
        let has_initialisers = !surrounds && !variables.lock_memory().is_initialised;
        for name in first.iter().filter(|_| has_initialisers) {
            let start = EntrySelector::Entry(name, ExecutionModel::Kernel);
            let (compiled, _) = compile_one(module, start, spec, options, variables)?;
            initialisers.push(compiled);
        }
        let (mut kernel, mut wanted) = compile_one(module, start, spec, options, variables)?;
        kernel.initialisers = initialisers;
        while let Some(func) = wanted.pop() {
            let number = module.function_id(func).index() as u64;
            if kernel.blocks.iter().all(|b| b.0 != number) {
                let start = EntrySelector::Block(func);
                let (block, more) = compile_one(module, start, spec, options, variables)?;
                kernel.blocks.push((number, block));
                wanted.extend(more);
            }
        }
        variables.lock_memory().is_initialised |= has_initialisers;
        Ok(kernel)
    }
}

/// The entry points of a module that run before all others, and whether the given one itself runs before or after all
/// others.
fn find_initialisers(module: &SpirvModule, entry_point: &str) -> (Vec<String>, bool) {
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
    variables: &ModuleVariables,
) -> Result<(JitKernel, Vec<Func>), JitError> {
    // An invocation that is alone with its gang waits for nobody. Without gangs, code is compiled for single
    // invocations.
    let is_plain = options.mode == CpuMode::Gangs;
    if is_plain && let Some(compiled) = compile_for(module, start, spec, options, variables, true)?
    {
        return Ok(compiled);
    }
    let compiled = compile_for(module, start, spec, options, variables, false)?;
    compiled.ok_or_else(|| JitError::Unsupported(Vec::new()))
}

/// Compiles a kernel and finds the functions that it enqueues. With `gangs`, none where the code cannot be for gangs
/// alone.
fn compile_for(
    module: &SpirvModule,
    start: EntrySelector<'_>,
    spec: &[(u32, u64)],
    options: &JitOptions,
    variables: &ModuleVariables,
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
                let construct = if !instruction_table::is_supported(inst.op()) {
                    inst.op().to_string()
                } else if inst.op() == Op::ExtInst
                    && let Err(construct) = ext::check_ext_inst(program, inst)
                {
                    construct
                } else {
                    continue;
                };
                let message = format!("{construct} is not supported by the CPU device");
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
