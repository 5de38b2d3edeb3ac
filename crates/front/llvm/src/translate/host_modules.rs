//! Modules that were compiled for a host, such as those of `rustc`: their pointers have no address
//! spaces, and their kernels are functions like others. Modules for devices that have variables in address
//! space 0, such as those of Julia, are brought to the same form: that space is of private memory, where
//! no variable of a module can be.
//!
//! [`prepare_hosted_module`] makes the functions that the options name kernels, and finds out which memory each
//! pointer leads to: parameters of kernels and globals lead to the device's memory, allocations to
//! private memory, pointers that were loaded or come from elsewhere to any. What an address
//! computation, a phi, a select or a call joins leads to the same (after Steensgaard, "Points-to
//! analysis in almost linear time", 1996); where that differs the pointer is generic. Pointers in
//! memory are generic, too. Globals in the section `.workgroup` are shared by a workgroup.
//!
//! Cost: a copy of the module and one pass over its instructions with union-find.

use super::compute_shaders::is_shader;
use super::translator::TranslationOptions;
use crate::ir::{
    CallingConvention, ConstKind, GlobalKind, Linkage, LlvmConst, LlvmFunc, LlvmFunction, LlvmInst,
    LlvmModule, LlvmOpcode, LlvmType, LlvmValue, ValueKind,
};
use crate::pointee_inference::SlotUnionFind;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Address spaces of OpenCL's environments.
const PRIVATE: u32 = 0;
const GLOBAL: u32 = 1;
const WORKGROUP: u32 = 3;
const GENERIC: u32 = 4;

/// Section of globals that a workgroup shares.
const WORKGROUP_SECTION: &str = ".workgroup";

/// The word among names of kernels that stands for all functions that could be some.
const ALL: &str = "all";

/// A module whose pointers got address spaces by what they lead to.
pub(super) struct HostCompiledModule {
    pub(super) module: LlvmModule,
    /// Parameters of kernels that are joined with pointers to other memory: they are generic from
    /// their kernel's beginning on.
    pub(super) generic: Vec<(LlvmFunc, usize)>,
    /// The types that pointers to private, global and workgroup memory got: in memory they are generic.
    pub(super) flat: [LlvmType; 3],
}

/// What a module without address spaces was compiled for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModuleOrigin {
    /// A host: kernels are given pointers to the device's memory.
    Host,
    /// A device: pointers in address space 0 that kernels are given are to copies of arguments.
    Device,
}

impl ModuleOrigin {
    /// The memory that a kernel's parameters in address space 0 lead to.
    fn kernel_space(self) -> u32 {
        match self {
            ModuleOrigin::Host => GLOBAL,
            ModuleOrigin::Device => PRIVATE,
        }
    }

    /// The memory that parameters in address space 0 lead to of functions that other modules call.
    fn exported_space(self) -> u32 {
        match self {
            ModuleOrigin::Host => GENERIC,
            ModuleOrigin::Device => PRIVATE,
        }
    }
}

/// The module with kernels and address spaces; `None` where no kernels are named and no variable is in
/// address space 0.
pub(super) fn prepare_hosted_module(
    module: &LlvmModule,
    options: &TranslationOptions,
) -> Result<Option<HostCompiledModule>, Vec<SourceDiagnostic>> {
    let kernels = &options.kernels;
    let origin = if !kernels.is_empty() {
        ModuleOrigin::Host
    } else if has_flat_variables(module) && !is_shader(module, options) {
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
    let (flat, generic) = spaces.apply_spaces(&mut new);
    if origin == ModuleOrigin::Host {
        new.triple = match new.layout.pointer_width(0) {
            32 => "spir-unknown-unknown".to_owned(),
            _ => "spir64-unknown-unknown".to_owned(),
        };
    }
    Ok(Some(HostCompiledModule {
        module: new,
        generic,
        flat,
    }))
}

/// Whether variables of a module are in address space 0; those that only the compiler reads do not count.
fn has_flat_variables(module: &LlvmModule) -> bool {
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
            let message = format!("the module has no function {name}, which is to be a kernel");
            SourceDiagnostic::error(SourceLocation::Unknown, message)
        })
        .collect()
}

/// Whether a function is seen from outside under a name of its own and gives nothing.
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

/// Which memory pointers lead to.
struct AddressSpaceInference {
    origin: ModuleOrigin,
    /// By function: the slot of its first local.
    first: Vec<u32>,
    classes: SlotUnionFind,
    /// By slot that stands for others: the space, once one is known.
    spaces: Vec<Option<u32>>,
    /// What joins and sources there are, before they are put together.
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
            classes: SlotUnionFind::new(count as usize),
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
            // Intrinsics that return a pointer return one to the memory of the first that they take.
            LlvmOpcode::Call if is_intrinsic(module, function, inst) => {
                match function.arguments(inst).first() {
                    Some(first) => self.join_value(module, func, slot, *first),
                    None => self.sources.push((slot, GENERIC)),
                }
            }
            _ => self.sources.push((slot, GENERIC)),
        }
    }

    /// Arguments lead where the parameters of a known callee do.
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

    /// A slot leads where a value does.
    fn join_value(&mut self, module: &LlvmModule, func: LlvmFunc, slot: u32, value: LlvmValue) {
        match value.kind() {
            ValueKind::Local(local) => {
                let other = self.slot_of(func, local);
                self.classes.union_sets(slot, other);
            }
            // Null and undefined pointers lead anywhere.
            ValueKind::Const(constant) if is_address(module, constant) => {
                self.sources.push((slot, GENERIC));
            }
            _ => {}
        }
    }

    /// Gives every local pointer its space, those in memory the generic one. The types that it gave, and the
    /// parameters of kernels that have to become generic.
    fn apply_spaces(mut self, module: &mut LlvmModule) -> ([LlvmType; 3], Vec<(LlvmFunc, usize)>) {
        let mut generic = Vec::new();
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
                        generic.push((func, local));
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
        generic.retain(|(func, param)| {
            module
                .types
                .address_space(module.function(*func).params[*param])
                .is_some()
        });
        ([private, global, workgroup], generic)
    }
}

/// Whether an instruction is a call of one of LLVM's own functions.
fn is_intrinsic(module: &LlvmModule, function: &LlvmFunction, inst: LlvmInst) -> bool {
    let callee = function.callee(inst).and_then(|v| module.as_function(v));
    callee.is_some_and(|callee| module.function_name(callee).starts_with("llvm."))
}

/// Whether a constant is the address of something.
fn is_address(module: &LlvmModule, constant: LlvmConst) -> bool {
    let kind = module.consts.kind(constant);
    !matches!(kind, ConstKind::Null | ConstKind::Undef | ConstKind::Poison)
}

/// By function: whether it is used other than by being called.
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
