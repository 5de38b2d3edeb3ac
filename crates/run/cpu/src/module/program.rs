//! A module with everything that is known about it before one of its entry points is lowered.

use super::constants::SpirvConstants;
use super::types::{LoweredTypeKind, LoweredTypeTable, ScalarRepr};
use crate::analysis::reached_functions::ReachedFunctions;
use crate::simd;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_scalar::table::ScalarExtSet;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, BuiltIn, Decoration, ExecutionMode, ExecutionModel, FunctionParameterAttribute,
};
use spirula_spirv::ir::{Func, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// An extended instruction set by what is done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtSet {
    /// One whose instructions compute.
    Scalar(ScalarExtSet),
    /// One that changes no result: debug information and the like.
    NonSemantic,
    /// The one that prints.
    DebugPrintf,
    /// Another one, which is refused where it is used.
    Unknown,
}

/// The entry point that is compiled.
#[derive(Clone, Debug)]
pub(crate) struct EntryInfo {
    /// Its function.
    pub func: Func,
    /// Its name.
    pub name: String,
    /// Whether it is a `Kernel`; a `GLCompute` shader otherwise.
    pub is_kernel: bool,
    /// Whether it is no entry point, but enqueued by one.
    pub is_block: bool,
    /// Size of its workgroups, where the module says.
    pub local_size: Option<[u32; 3]>,
}

/// Where a kernel begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EntrySelector<'a> {
    /// An entry point.
    Entry(&'a str, ExecutionModel),
    /// A function that a kernel enqueues.
    Block(Func),
}

/// A module and the analyses that lowering asks.
pub(crate) struct AnalysedModule<'a> {
    pub module: &'a SpirvModule,
    pub definitions: IdDefinitions,
    pub decorations: IdDecorations,
    pub types: LoweredTypeTable,
    pub constants: SpirvConstants,
    pub sets: IdMap<Option<ExtSet>>,
    pub entry: EntryInfo,
    pub functions: ReachedFunctions,
    /// Whether every workgroup is one bundle, whose invocations go on together, so that none waits for
    /// another one: barriers are nothing then, and large cooperative matrices lie in memory.
    pub is_single: bool,
}

impl<'a> AnalysedModule<'a> {
    /// Analyses a module for one of its entry points, or for a function that one enqueues; for bundles
    /// alone, where workgroups are such.
    pub fn new(
        module: &'a SpirvModule,
        start: EntrySelector<'_>,
        spec: &[(u32, u64)],
        subgroup_size: u32,
        bundles: bool,
    ) -> Result<AnalysedModule<'a>, SourceDiagnostic> {
        check_addressing(module)?;
        let definitions = IdDefinitions::from_module(module);
        let decorations = IdDecorations::from_module(module);
        // Lengths of arrays may be operations on specialisation constants, and those are typed: the
        // first round is for the lengths alone.
        let draft = LoweredTypeTable::from_module(
            module,
            &definitions,
            &decorations,
            subgroup_size,
            |_| Some(1),
        )?;
        let lengths =
            SpirvConstants::from_module(module, &definitions, &decorations, &draft, spec)?;
        let types = LoweredTypeTable::from_module(
            module,
            &definitions,
            &decorations,
            subgroup_size,
            |id| lengths.get_u64(id),
        )?;
        let constants =
            SpirvConstants::from_module(module, &definitions, &decorations, &types, spec)?;
        let entry = match start {
            EntrySelector::Entry(name, model) => find_entry(module, &constants, name, model)?,
            EntrySelector::Block(func) => block_entry(module, &constants, func),
        };
        let is_single = bundles && is_bundle(&entry, subgroup_size);
        let mut program = AnalysedModule {
            is_single,
            sets: extended_sets(module),
            functions: ReachedFunctions::default(),
            module,
            definitions,
            decorations,
            types,
            constants,
            entry,
        };
        program.functions = ReachedFunctions::from_program(&program)?;
        Ok(program)
    }

    /// The type of a value.
    pub fn type_of(&self, id: Id) -> Option<Id> {
        self.definitions
            .get(self.module, id)
            .and_then(InstRef::result_type)
    }

    /// The type that a pointer value points to.
    pub fn pointee_of(&self, id: Id) -> Option<Id> {
        match self.types.kind(self.type_of(id)?) {
            LoweredTypeKind::Pointer { pointee, .. } => pointee,
            _ => None,
        }
    }

    /// A constant index, which may have a sign.
    pub fn constant_index(&self, index: Id, signed: bool) -> Option<i64> {
        let value = self.constants.get_u64(index)?;
        let bits = self.scalar_of(index)?.bits();
        let unused = 64 - bits.clamp(1, 64);
        Some(match signed {
            true => (value << unused) as i64 >> unused,
            false => (value << unused >> unused) as i64,
        })
    }

    /// Whether an index into an array may be below zero. In a shader it never is, so that unsigned numbers of 32 bits reach
    /// 2^32 elements.
    pub fn is_index_signed(&self, index: Id) -> bool {
        let ty = self.type_of(index);
        let ty = ty.and_then(|ty| self.definitions.get(self.module, ty));
        let is_unsigned = ty.is_some_and(|ty| ty.op() == Op::TypeInt && ty.operand_word(1) == 0);
        self.entry.is_kernel || !is_unsigned
    }

    /// Bytes from what a pointer points to to the next of that type.
    pub fn element_stride(&self, pointer: Id, pointee: Id) -> u64 {
        let declared = self.type_of(pointer);
        let declared = declared.and_then(|ty| self.decoration_operand(ty, Decoration::ArrayStride));
        let layout = self.types.layouts.get(pointee);
        let natural = layout.size.next_multiple_of(layout.align.into());
        declared.map_or(natural, u64::from)
    }

    /// The pointer to a byte whose word another pointer is to, where that was computed from it: how atomic accesses to bytes
    /// are made of such to words.
    pub fn byte_in_word(&self, word: Id) -> Option<Id> {
        let def = |id: Id| self.definitions.get(self.module, id);
        let cast = def(word).filter(|cast| cast.op() == Op::Bitcast)?;
        let chain = def(cast.id_operand(0)).filter(|chain| chain.op() == Op::PtrAccessChain)?;
        let back = def(chain.id_operand(1)).filter(|back| back.op() == Op::SNegate)?;
        let rest = def(back.id_operand(0)).filter(|rest| rest.op() == Op::BitwiseAnd)?;
        let address =
            def(rest.id_operand(0)).filter(|address| address.op() == Op::ConvertPtrToU)?;
        let is_rest = self.constants.get_u64(rest.id_operand(1)) == Some(3);
        (is_rest && address.id_operand(0) == chain.id_operand(0)).then(|| chain.id_operand(0))
    }

    /// The type of what a variable holds.
    pub fn variable_type(&self, id: Id) -> Option<Id> {
        let variable = self.definitions.get(self.module, id)?;
        match variable.op() {
            Op::UntypedVariableKHR => variable.get_id(1),
            _ => self.pointee_of(id),
        }
    }

    /// Whether a type is one of cooperative matrices.
    pub fn is_cooperative(&self, ty: Id) -> bool {
        self.definitions.defining_op(self.module, ty) == Some(Op::TypeCooperativeMatrixKHR)
    }

    /// Whether a type is one of cooperative matrices that lie in memory as a whole.
    pub fn is_dense(&self, ty: Id) -> bool {
        self.is_single && self.is_cooperative(ty)
    }

    /// The component type of a value.
    pub fn scalar_of(&self, id: Id) -> Option<ScalarRepr> {
        self.types.component_scalar(self.type_of(id)?)
    }

    /// The operand of a decoration of an id that takes one.
    pub fn decoration_operand(&self, id: Id, what: Decoration) -> Option<u32> {
        self.decorations
            .get(self.module, id, what)?
            .first()
            .copied()
    }

    /// Whether a parameter is a pointer to a copy that belongs to its function (`ByVal`).
    pub fn is_by_value(&self, param: Id) -> bool {
        let mut decorations = self
            .decorations
            .decorations_of(self.module, param, u32::MAX);
        decorations.any(|(what, operands)| {
            what == Decoration::FuncParamAttr
                && operands.first() == Some(&FunctionParameterAttribute::ByVal.0)
        })
    }

    /// Whether an id is decorated so.
    pub fn is_decorated(&self, id: Id, what: Decoration) -> bool {
        self.decorations.get(self.module, id, what).is_some()
    }
}

fn check_addressing(module: &SpirvModule) -> Result<(), SourceDiagnostic> {
    let Some(model) = module.section_insts(ModuleSection::MemoryModel).next() else {
        let message = "the module has no OpMemoryModel";
        return Err(SourceDiagnostic::error(SourceLocation::Unknown, message));
    };
    if model.operand_word(0) == AddressingModel::Physical32.0 {
        let message = "the addressing model Physical32 is not supported by the CPU device";
        return Err(SourceDiagnostic::error(model.place(), message)
            .with_hint("compile for spir64 instead of spir"));
    }
    Ok(())
}

fn extended_sets(module: &SpirvModule) -> IdMap<Option<ExtSet>> {
    let mut sets = IdMap::new(module.bound(), None);
    for import in module.section_insts(ModuleSection::Imports) {
        let Some(id) = import.result() else { continue };
        let name = import.string_operand(0);
        let set = match ScalarExtSet::from_name(&name) {
            Some(set) => ExtSet::Scalar(set),
            None if name == "NonSemantic.DebugPrintf" => ExtSet::DebugPrintf,
            None if name.starts_with("NonSemantic.") || name.contains("DebugInfo") => {
                ExtSet::NonSemantic
            }
            None => ExtSet::Unknown,
        };
        sets.set(id, Some(set));
    }
    sets
}

/// A function that is enqueued.
fn block_entry(module: &SpirvModule, constants: &SpirvConstants, func: Func) -> EntryInfo {
    let function = module.function_id(func);
    let mut names = module.section_insts(ModuleSection::Names);
    let name = names.find(|n| n.op() == Op::Name && n.id_operand(0) == function);
    EntryInfo {
        func,
        name: name.map_or_else(|| function.to_string(), |n| n.string_operand(1)),
        is_kernel: true,
        is_block: true,
        local_size: local_size(module, constants, function),
    }
}

fn find_entry(
    module: &SpirvModule,
    constants: &SpirvConstants,
    name: &str,
    model: ExecutionModel,
) -> Result<EntryInfo, SourceDiagnostic> {
    let mut points = module.section_insts(ModuleSection::EntryPoints);
    let point = points
        .find(|p| p.operand_word(0) == model.0 && p.string_operand(2) == name)
        .ok_or_else(|| {
            let message = format!("the module has no entry point {name} of model {model}");
            SourceDiagnostic::error(SourceLocation::Unknown, message)
        })?;
    if model != ExecutionModel::Kernel && model != ExecutionModel::GLCompute {
        let message = format!("the execution model {model} is not supported by the CPU device");
        return Err(SourceDiagnostic::error(point.place(), message));
    }
    let function = point.id_operand(1);
    let func = module
        .functions()
        .iter()
        .copied()
        .find(|f| module.function_id(*f) == function);
    let func = func.filter(|f| !module.function(*f).blocks.is_empty());
    let func = func.ok_or_else(|| {
        let message = format!("the entry point {name} has no body");
        SourceDiagnostic::error(point.place(), message)
    })?;
    let is_kernel = model == ExecutionModel::Kernel;
    let declared = local_size(module, constants, function);
    Ok(EntryInfo {
        func,
        name: name.to_owned(),
        is_kernel,
        is_block: false,
        local_size: if is_kernel {
            declared
        } else {
            Some(declared.unwrap_or([1; 3]))
        },
    })
}

/// The constant decorated `WorkgroupSize` counts above the execution modes.
fn local_size(module: &SpirvModule, constants: &SpirvConstants, function: Id) -> Option<[u32; 3]> {
    for inst in module.section_insts(ModuleSection::Annotations) {
        if let (Op::Decorate, [target, decoration, builtin]) = (inst.op(), inst.operands())
            && *decoration == Decoration::BuiltIn.0
            && *builtin == BuiltIn::WorkgroupSize.0
            && let Some(id) = Id::new(*target)
        {
            let bits = |n: usize| match constants.scalars(id).get(n) {
                Some(super::constants::ConstantScalar::Plain(bits)) => Some(*bits as u32),
                _ => None,
            };
            // Of kernels it is a variable, which demands no size.
            if let (Some(x), Some(y), Some(z)) = (bits(0), bits(1), bits(2)) {
                return Some([x, y, z]);
            }
        }
    }
    let modes = module.section_insts(ModuleSection::ExecutionModes);
    for mode in modes.filter(|m| m.id_operand(0) == function) {
        let [_, kind, x, y, z] = *mode.operands() else {
            continue;
        };
        if kind == ExecutionMode::LocalSize.0 {
            return Some([x, y, z]);
        }
        if kind == ExecutionMode::LocalSizeId.0 {
            let value = |word| constants.get_u64(Id::new(word)?).map(|v| v as u32);
            return Some([value(x)?, value(y)?, value(z)?]);
        }
    }
    None
}

/// Whether the workgroups of a shader are one bundle each, and one subgroup.
fn is_bundle(entry: &EntryInfo, subgroup_size: u32) -> bool {
    let Some(size @ [x, y, z]) = entry.local_size else {
        return false;
    };
    let width = simd::choose_gang_width(Some(x)).filter(|width| *width as u32 == x);
    !entry.is_kernel && width.is_some() && [y, z] == [1, 1] && size[0] <= subgroup_size
}
