//! Host modules: modules without kernels or address spaces, such as those of `rustc`.
//!
//! The functions that the options name become kernels, and all pointers get address spaces. Modules
//! for devices that have variables in address space 0, such as those of Julia, are handled in the
//! same way. There this address space is private memory, and no module-scope variable can be in it.
//!
//! [`prepare_host_module`] infers the memory that each pointer points to. Parameters of kernels
//! and globals point to device memory. Allocations are in private memory. Loaded pointers and
//! pointers of unknown origin may point to any memory. Pointers that an address computation, phi,
//! select or call joins point to the same memory (after Steensgaard, "Points-to analysis in almost
//! linear time", 1996). If the joined pointers differ, the result is generic. Pointers in memory
//! are generic, too. Globals in the section `.workgroup` are shared by a workgroup.
//!
//! Cost: a copy of the module and one pass over its instructions with union-find.

use super::options::{TranslationOptions, is_shader};
use crate::ir::{
    CallingConvention, ConstKind, GlobalKind, Linkage, LlvmConst, LlvmFunc, LlvmFunction, LlvmInst,
    LlvmModule, LlvmOpcode, LlvmType, LlvmValue, ValueKind,
};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_entity::UnionFind;

/// Address spaces of OpenCL's environments.
const PRIVATE: u32 = 0;
const GLOBAL: u32 = 1;
const WORKGROUP: u32 = 3;
const GENERIC: u32 = 4;

/// Section of globals that a workgroup shares.
const WORKGROUP_SECTION: &str = ".workgroup";

/// The word among the names of kernels that stands for all possible kernels.
const ALL: &str = "all";

/// A module whose pointers have inferred address spaces.
pub(super) struct HostCompiledModule {
    pub(super) module: LlvmModule,
    /// Kernel parameters that are joined with pointers to other memory. They are made generic at
    /// the beginning of their kernel.
    pub(super) generic_params: Vec<(LlvmFunc, usize)>,
    /// The types of pointers to private, global and workgroup memory. In memory these pointers are
    /// generic.
    pub(super) inferred_pointer_types: [LlvmType; 3],
}

/// The target that a module without address spaces was compiled for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModuleOrigin {
    /// A host: pointer arguments of kernels point to device memory.
    Host,
    /// A device: pointer arguments of kernels in address space 0 point to copies of arguments.
    Device,
}

impl ModuleOrigin {
    /// The address space of the memory that a kernel's parameters point to, if they are in address
    /// space 0.
    fn kernel_space(self) -> u32 {
        match self {
            ModuleOrigin::Host => GLOBAL,
            ModuleOrigin::Device => PRIVATE,
        }
    }

    /// The address space of the memory that parameters of exported functions point to, if they are
    /// in address space 0.
    fn exported_space(self) -> u32 {
        match self {
            ModuleOrigin::Host => GENERIC,
            ModuleOrigin::Device => PRIVATE,
        }
    }
}

/// The module with kernels and address spaces. It is `None` if no kernels are named and no variable
/// is in address space 0.
pub(super) fn prepare_host_module(
    module: &LlvmModule,
    options: &TranslationOptions,
) -> Result<Option<HostCompiledModule>, Vec<SourceDiagnostic>> {
    let kernels = &options.kernels;
    let origin = if !kernels.is_empty() {
        ModuleOrigin::Host
    } else if has_private_globals(module) && !is_shader(module, options) {
        ModuleOrigin::Device
    } else {
        return Ok(None);
    };
    let mut new = module.clone();
    let unknown = name_kernels(&mut new, kernels);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let spaces = AddressSpaceInference::infer_spaces(&new, origin);
    let (inferred_pointer_types, generic_params) = spaces.apply_spaces(&mut new);
    if origin == ModuleOrigin::Host {
        new.triple = match new.layout.pointer_width(0) {
            32 => "spir-unknown-unknown".to_owned(),
            _ => "spir64-unknown-unknown".to_owned(),
        };
    }
    Ok(Some(HostCompiledModule {
        module: new,
        generic_params,
        inferred_pointer_types,
    }))
}

/// Whether variables of a module are in address space 0. Variables that only the compiler reads do
/// not count.
fn has_private_globals(module: &LlvmModule) -> bool {
    module.globals.iter().any(|data| {
        let name = module.symbol_text(data.name);
        let read = !name.starts_with("llvm.") && !name.starts_with("__spirv_BuiltIn");
        let variable = matches!(data.kind, GlobalKind::Variable(_));
        variable
            && read
            && data.ty == LlvmType::PTR
            && module.symbol_text(data.section) != "llvm.metadata"
    })
}

/// Makes kernels of the functions that are named.
fn name_kernels(module: &mut LlvmModule, kernels: &[String]) -> Vec<SourceDiagnostic> {
    let all = kernels.iter().any(|name| name == ALL);
    let mut found = vec![false; kernels.len()];
    for func in module.function_ids() {
        let name = module.function_name(func);
        let asked = kernels.iter().position(|kernel| kernel == name);
        if asked.is_some_and(|at| std::mem::replace(&mut found[at], true)) {
            continue;
        }
        let kernel = asked.is_some() || (all && could_be_kernel(module, func));
        if kernel && !module.function(func).is_declaration() {
            module.functions[func.index()].convention = CallingConvention::SPIR_KERNEL;
        }
    }
    let missing = kernels
        .iter()
        .zip(found)
        .filter(|(name, found)| !found && *name != ALL);
    missing
        .map(|(name, _)| {
            let message = format!("the module has no function {name} to make a kernel");
            SourceDiagnostic::error(SourceLocation::Unknown, message)
        })
        .collect()
}

/// Whether a function can be a kernel: it is exported, its name is not mangled, and it returns
/// nothing.
fn could_be_kernel(module: &LlvmModule, func: LlvmFunc) -> bool {
    let function = module.function(func);
    let name = module.function_name(func);
    let mangled = name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("rust_");
    let result = module
        .types
        .function_signature(function.ty)
        .map(|signature| signature.0);
    module.global(function.global).linkage == Linkage::External
        && !mangled
        && result == Some(LlvmType::VOID)
}

/// Inference of the address space that each pointer refers to.
struct AddressSpaceInference {
    origin: ModuleOrigin,
    /// By function: the slot of its first local.
    first: Vec<u32>,
    classes: UnionFind,
    /// By representative slot: its address space, once it is known.
    spaces: Vec<Option<u32>>,
    /// Joins and sources, before they are applied.
    sources: Vec<(u32, u32)>,
}

impl AddressSpaceInference {
    fn infer_spaces(module: &LlvmModule, origin: ModuleOrigin) -> AddressSpaceInference {
        let mut count = 0;
        let mut first = Vec::with_capacity(module.functions.len());
        for function in &module.functions {
            first.push(count);
            count += function.local_count() as u32;
        }
        let mut spaces = AddressSpaceInference {
            origin,
            first,
            classes: UnionFind::new(count as usize),
            spaces: vec![None; count as usize],
            sources: Vec::new(),
        };
        let taken = address_taken(module);
        for func in module.function_ids() {
            spaces.constrain_parameters(module, func, taken[func.index()]);
            for index in 0..module.function(func).insts.len() {
                spaces.constrain_instruction(module, func, LlvmInst::new(index));
            }
        }
        for (slot, space) in std::mem::take(&mut spaces.sources) {
            let class = spaces.classes.find_root(slot) as usize;
            spaces.spaces[class] = match spaces.spaces[class] {
                Some(known) if known != space => Some(GENERIC),
                _ => Some(space),
            };
        }
        spaces
    }

    fn slot_of(&self, func: LlvmFunc, local: usize) -> u32 {
        self.first[func.index()] + local as u32
    }

    fn constrain_parameters(&mut self, module: &LlvmModule, func: LlvmFunc, taken: bool) {
        let function = module.function(func);
        let kernel = function.convention == CallingConvention::SPIR_KERNEL;
        let space = if kernel {
            self.origin.kernel_space()
        } else if taken {
            GENERIC
        } else if !module.global(function.global).linkage.is_local() {
            self.origin.exported_space()
        } else {
            return;
        };
        for index in 0..function.params.len() {
            self.sources.push((self.slot_of(func, index), space));
        }
    }

    fn constrain_instruction(&mut self, module: &LlvmModule, func: LlvmFunc, inst: LlvmInst) {
        let function = module.function(func);
        let data = function.inst(inst);
        let local = function.params.len() + inst.index();
        let slot = self.slot_of(func, local);
        if data.opcode == LlvmOpcode::Call {
            self.constrain_call(module, func, inst);
        }
        if data.ty != LlvmType::PTR {
            return;
        }
        let operands = function.operands(inst);
        match data.opcode {
            LlvmOpcode::Alloca => self.sources.push((slot, PRIVATE)),
            LlvmOpcode::GetElementPtr | LlvmOpcode::BitCast | LlvmOpcode::Freeze => {
                self.join_value(module, func, slot, operands[0]);
            }
            LlvmOpcode::Phi => {
                for &operand in operands {
                    self.join_value(module, func, slot, operand);
                }
            }
            LlvmOpcode::Select => {
                for &operand in &operands[1..] {
                    self.join_value(module, func, slot, operand);
                }
            }
            // An intrinsic that returns a pointer returns one to the same memory as its first
            // pointer argument.
            LlvmOpcode::Call if is_intrinsic(module, function, inst) => {
                match function.arguments(inst).first() {
                    Some(first) => self.join_value(module, func, slot, *first),
                    None => self.sources.push((slot, GENERIC)),
                }
            }
            _ => self.sources.push((slot, GENERIC)),
        }
    }

    /// Arguments point to the same memory as the parameters of a known callee.
    fn constrain_call(&mut self, module: &LlvmModule, func: LlvmFunc, inst: LlvmInst) {
        let function = module.function(func);
        let callee = function.callee(inst).and_then(LlvmValue::as_const);
        let callee = callee.and_then(|constant| module.as_global(constant));
        let Some(GlobalKind::Function(callee)) = callee.map(|global| module.global(global).kind)
        else {
            return;
        };
        let params = &module.function(callee).params;
        if module.function(callee).is_declaration() {
            return;
        }
        for (index, &argument) in function.arguments(inst).iter().enumerate() {
            if params.get(index) == Some(&LlvmType::PTR) {
                let slot = self.slot_of(callee, index);
                self.join_value(module, func, slot, argument);
            }
        }
    }

    /// A slot points to the same memory as a value.
    fn join_value(&mut self, module: &LlvmModule, func: LlvmFunc, slot: u32, value: LlvmValue) {
        match value.kind() {
            ValueKind::Local(local) => {
                let other = self.slot_of(func, local);
                self.classes.join_sets(slot, other);
            }
            // Null and undefined pointers fit any address space.
            ValueKind::Const(constant) if is_address(module, constant) => {
                self.sources.push((slot, GENERIC));
            }
            _ => {}
        }
    }

    /// Assigns every local pointer its address space, and the generic one to pointers in memory.
    /// Returns the created pointer types, and the kernel parameters that must become generic.
    fn apply_spaces(mut self, module: &mut LlvmModule) -> ([LlvmType; 3], Vec<(LlvmFunc, usize)>) {
        let mut generic_params = Vec::new();
        let private = module.types.make_generic();
        let [global, workgroup] =
            [GLOBAL, WORKGROUP].map(|space| module.types.distinct_pointer(space));
        for func in module.function_ids() {
            let function = module.function(func);
            let params = function.params.len();
            let kernel = function.convention == CallingConvention::SPIR_KERNEL;
            for local in 0..module.function(func).local_count() {
                let slot = self.slot_of(func, local);
                let class = self.classes.find_root(slot) as usize;
                let space = match (kernel && local < params, self.spaces[class]) {
                    (true, Some(GENERIC)) => {
                        generic_params.push((func, local));
                        Some(self.origin.kernel_space())
                    }
                    (_, space) => space,
                };
                let ty = match space {
                    Some(PRIVATE) => private,
                    Some(GLOBAL) => global,
                    Some(WORKGROUP) => workgroup,
                    _ => continue,
                };
                let function = &mut module.functions[func.index()];
                let place = match local.checked_sub(params) {
                    None => &mut function.params[local],
                    Some(inst) => &mut function.insts[inst].ty,
                };
                if *place == LlvmType::PTR {
                    *place = ty;
                }
            }
        }
        let section = module.strings.find_symbol(WORKGROUP_SECTION);
        for data in &mut module.globals {
            if matches!(data.kind, GlobalKind::Variable(_)) && data.space == PRIVATE {
                let shared = section.is_some_and(|section| data.section == section);
                data.space = if shared { WORKGROUP } else { GLOBAL };
            }
        }
        generic_params.retain(|(func, param)| {
            module
                .types
                .address_space(module.function(*func).params[*param])
                .is_some()
        });
        ([private, global, workgroup], generic_params)
    }
}

/// Whether an instruction calls an intrinsic of LLVM.
fn is_intrinsic(module: &LlvmModule, function: &LlvmFunction, inst: LlvmInst) -> bool {
    let callee = function.callee(inst).and_then(|v| module.as_function(v));
    callee.is_some_and(|callee| module.function_name(callee).starts_with("llvm."))
}

/// Whether a constant is the address of something.
fn is_address(module: &LlvmModule, constant: LlvmConst) -> bool {
    let kind = module.consts.kind(constant);
    !matches!(kind, ConstKind::Null | ConstKind::Undef | ConstKind::Poison)
}

/// By function: whether it has uses other than calls.
fn address_taken(module: &LlvmModule) -> Vec<bool> {
    let mut taken = vec![false; module.functions.len()];
    let mut mark = |constant: LlvmConst| {
        if let Some(global) = module.as_global(constant)
            && let GlobalKind::Function(func) = module.global(global).kind
        {
            taken[func.index()] = true;
        }
    };
    for (_, data) in module.consts.iter() {
        match &data.kind {
            ConstKind::Aggregate(members) => members.iter().for_each(|c| mark(*c)),
            ConstKind::Expr(expr) => expr.operands.iter().for_each(|c| mark(*c)),
            _ => {}
        }
    }
    for func in module.function_ids() {
        let function = module.function(func);
        for inst in (0..function.insts.len()).map(LlvmInst::new) {
            let operands = match function.inst(inst).opcode {
                LlvmOpcode::Call => function.arguments(inst),
                _ => function.operands(inst),
            };
            operands
                .iter()
                .filter_map(|value| value.as_const())
                .for_each(&mut mark);
        }
    }
    taken
}
