//! Typed module: a SPIR-V module with its types, constants, decorations and the selected entry point.

use super::constants::SpirvConstants;
use super::entry_point::{EntryInfo, EntrySelector};
use super::types::{LoweredTypeKind, LoweredTypeTable, ScalarRepr};
use crate::image::ImageType;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_scalar::table::ScalarExtSet;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{AddressingModel, Decoration, FunctionParameterAttribute};
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// The kind of an extended instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtSet {
    /// Its instructions compute results.
    Scalar(ScalarExtSet),
    /// Its instructions change no result, such as debug information.
    NonSemantic,
    /// The one that prints.
    DebugPrintf,
    /// Another one, which is refused where it is used.
    Unknown,
}

/// A module as all analyses and the lowering read it.
pub(crate) struct TypedModule<'a> {
    pub module: &'a SpirvModule,
    pub definitions: IdDefinitions,
    pub decorations: IdDecorations,
    pub types: LoweredTypeTable,
    pub constants: SpirvConstants,
    pub sets: IdMap<Option<ExtSet>>,
    pub entry: EntryInfo,
    /// Whether every workgroup is one gang. Its invocations go on together, so that none waits for another one.
    /// Therefore barriers do nothing, and large cooperative matrices lie in memory.
    pub is_single: bool,
}

impl<'a> TypedModule<'a> {
    /// Reads a module for one of its entry points, or for a function that a kernel enqueues. `spec` gives the values
    /// of specialisation constants by `SpecId`. With `gangs`, the code is for gangs alone: each workgroup is one
    /// gang.
    ///
    /// # Errors
    /// The module has no memory model or a 32-bit one, a type or constant is malformed, or there is no such entry
    /// point.
    pub fn new(
        module: &'a SpirvModule,
        start: EntrySelector<'_>,
        spec: &[(u32, u64)],
        subgroup_size: u32,
        gangs: bool,
    ) -> Result<TypedModule<'a>, SourceDiagnostic> {
        check_addressing(module)?;
        let definitions = IdDefinitions::from_module(module);
        let decorations = IdDecorations::from_module(module);
        // Lengths of arrays may be operations on specialisation constants, which have types. The first pass is for
        // the lengths alone.
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
        let entry = EntryInfo::from_module(module, &constants, start)?;
        let is_single = gangs && entry.is_gang(subgroup_size);
        Ok(TypedModule {
            is_single,
            sets: extended_sets(module),
            module,
            definitions,
            decorations,
            types,
            constants,
            entry,
        })
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
        Some(if signed {
            (value << unused) as i64 >> unused
        } else {
            (value << unused >> unused) as i64
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

    /// Bytes from the element that a pointer points to to the next one.
    pub fn element_stride(&self, pointer: Id, pointee: Id) -> u64 {
        let declared = self.type_of(pointer);
        let declared = declared.and_then(|ty| self.decoration_operand(ty, Decoration::ArrayStride));
        let layout = self.types.layouts.get(pointee);
        let natural = layout.size.next_multiple_of(layout.align.into());
        declared.map_or(natural, u64::from)
    }

    /// The pointer to a byte from which the pointer to its word was computed; none for other pointers. Atomic
    /// accesses to bytes become accesses to words in this way.
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

    /// The type of a variable's value.
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
    pub fn is_in_memory_matrix(&self, ty: Id) -> bool {
        self.is_single && self.is_cooperative(ty)
    }

    /// The component type of a value.
    pub fn scalar_of(&self, id: Id) -> Option<ScalarRepr> {
        self.types.component_scalar(self.type_of(id)?)
    }

    /// The description of an image type, also of one that is combined with a sampler; none for other types.
    pub fn image_type(&self, ty: Id) -> Option<ImageType> {
        let mut def = self.definitions.get(self.module, ty)?;
        if def.op() == Op::TypeSampledImage {
            def = self.definitions.get(self.module, def.id_operand(0))?;
        }
        (def.op() == Op::TypeImage).then(|| ImageType::from_definition(def))
    }

    /// The operand of a decoration of an id that takes one.
    pub fn decoration_operand(&self, id: Id, decoration: Decoration) -> Option<u32> {
        self.decorations
            .get(self.module, id, decoration)?
            .first()
            .copied()
    }

    /// Whether a parameter is a pointer to a copy that belongs to its function (`ByVal`).
    pub fn is_by_value(&self, param: Id) -> bool {
        let mut decorations = self
            .decorations
            .decorations_of(self.module, param, u32::MAX);
        decorations.any(|(decoration, operands)| {
            decoration == Decoration::FuncParamAttr
                && operands.first() == Some(&FunctionParameterAttribute::ByVal.0)
        })
    }

    /// Whether an id is decorated so.
    pub fn is_decorated(&self, id: Id, decoration: Decoration) -> bool {
        self.decorations.get(self.module, id, decoration).is_some()
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
