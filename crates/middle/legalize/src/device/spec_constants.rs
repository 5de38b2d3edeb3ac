//! Specialisation constants: given values become the defaults of the constants, and the workgroup that results.

use crate::emulate::freeze_spec_constants;
use crate::error::LegalizeError;
use spirula_spirv::Id;
use spirula_spirv::analysis::{EntryReach, IdDecorations, IdDefinitions, TypeLayouts};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, ExecutionMode, StorageClass};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::{EntryInterface, SpecConstant, spec_constants};

/// Makes the values of `spec`, by `SpecId`, the defaults of their constants.
pub fn specialise_constants(module: &mut SpirvModule, spec: &[(u32, u64)]) {
    if spec.is_empty() {
        return;
    }
    let definitions = IdDefinitions::from_module(module);
    let constants = spec_constants(module, &definitions, &IdDecorations::from_module(module));
    for &(spec_id, value) in spec {
        for constant in constants.iter().filter(|c| c.spec_id == spec_id) {
            let ty = definitions.get(module, constant.ty);
            let ty = ty.map_or([0; 2], |ty| match ty.op() {
                Op::TypeInt => [ty.operand_word(0), ty.operand_word(1)],
                _ => [64, 0],
            });
            let Some(inst) = definitions.get(module, constant.id) else {
                continue;
            };
            let (inst, op) = (inst.handle(), inst.op());
            if matches!(op, Op::SpecConstantTrue | Op::SpecConstantFalse) {
                let truth = [Op::SpecConstantFalse, Op::SpecConstantTrue];
                let words = module.words_mut(inst).to_vec();
                module.replace_inst(inst, truth[usize::from(value != 0)], &words);
                continue;
            }
            // Narrow signed numbers are sign-extended to their word.
            let value = match ty {
                [8, 1] => value as i8 as u64,
                [16, 1] => value as i16 as u64,
                _ => value,
            };
            let words = module.words_mut(inst).iter_mut().skip(2);
            for (word, value) in words.zip([value as u32, (value >> 32) as u32]) {
                *word = value;
            }
        }
    }
}

/// A copy of the module in which the values of `spec`, by `SpecId`, and the defaults of other specialisation constants are
/// constants.
///
/// # Errors
/// When the module is malformed.
pub fn fix_constants(
    module: &SpirvModule,
    spec: &[(u32, u64)],
) -> Result<SpirvModule, LegalizeError> {
    let mut fixed = module.clone();
    specialise_constants(&mut fixed, spec);
    freeze_spec_constants(&mut fixed)?;
    Ok(fixed)
}

/// The workgroup of an entry point once its module is specialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialisedWorkgroup {
    /// Invocations in each dimension; 1 where the module does not say.
    pub size: [u32; 3],
    /// Bytes of the workgroup's memory that the entry point's variables take, as far as the sizes of their types
    /// are known.
    pub memory_bytes: u64,
}

impl SpecialisedWorkgroup {
    /// The workgroup with the values of `spec`, by `SpecId`.
    pub fn from_module(
        module: &SpirvModule,
        interface: &EntryInterface,
        spec: &[(u32, u64)],
    ) -> SpecialisedWorkgroup {
        let definitions = IdDefinitions::from_module(module);
        let decorations = IdDecorations::from_module(module);
        let constants = spec_constants(module, &definitions, &decorations);
        let values = SpecialisedConstants {
            module,
            definitions: &definitions,
            constants: &constants,
            spec,
        };
        let own_size = values.workgroup_size(&decorations, interface.function);
        SpecialisedWorkgroup {
            size: own_size.or(interface.workgroup_size).unwrap_or([1; 3]),
            memory_bytes: values.workgroup_memory(&decorations, interface.function),
        }
    }
}

/// The specialisation constants of a module with given values.
struct SpecialisedConstants<'a> {
    module: &'a SpirvModule,
    definitions: &'a IdDefinitions,
    constants: &'a [SpecConstant],
    spec: &'a [(u32, u64)],
}

impl SpecialisedConstants<'_> {
    /// The specialised value of a constant.
    fn evaluate_constant(&self, id: Id) -> Option<u32> {
        let spec_id = self.constants.iter().find(|c| c.id == id);
        let given = spec_id.and_then(|c| self.spec.iter().find(|(id, _)| *id == c.spec_id));
        match given {
            Some((_, value)) => Some(*value as u32),
            None => Some(self.definitions.default_value(self.module, id)? as u32),
        }
    }

    /// The sizes of the workgroup variables that a function uses.
    fn workgroup_memory(&self, decorations: &IdDecorations, function: Id) -> u64 {
        let (module, definitions) = (self.module, self.definitions);
        let length = |id| self.evaluate_constant(id).map(u64::from);
        let Ok(layouts) = TypeLayouts::from_module(module, definitions, decorations, length) else {
            return 0;
        };
        let reach = EntryReach::from_module(module);
        let Some(entry) = (0..reach.len()).find(|n| reach.entry_function(*n) == function) else {
            return 0;
        };
        let variables = reach.used_variables(entry).iter();
        let variables = variables.filter_map(|id| definitions.get(module, *id));
        let shared = variables.filter(|v| v.operand_word(0) == StorageClass::Workgroup.0);
        let pointers = shared.filter_map(|v| definitions.get(module, v.result_type()?));
        pointers
            .map(|pointer| layouts.get(pointer.id_operand(1)).size)
            .sum()
    }

    fn evaluate_size(&self, mut ids: impl Iterator<Item = Id>) -> Option<[u32; 3]> {
        let mut next = || self.evaluate_constant(ids.next()?);
        Some([next()?, next()?, next()?])
    }

    /// The size by ids of constants: of the constant decorated `WorkgroupSize`, which overrides the execution mode, or of
    /// `LocalSizeId`.
    fn workgroup_size(&self, decorations: &IdDecorations, function: Id) -> Option<[u32; 3]> {
        let mut globals = self.module.section_insts(ModuleSection::Globals);
        let decorated = globals.find(|inst| {
            let is_composite =
                matches!(inst.op(), Op::ConstantComposite | Op::SpecConstantComposite);
            let builtin = inst.result().filter(|_| is_composite);
            let builtin =
                builtin.and_then(|id| decorations.get(self.module, id, Decoration::BuiltIn));
            builtin == Some(&[BuiltIn::WorkgroupSize.0])
        });
        if let Some(constant) = decorated {
            return self.evaluate_size(constant.id_operands(0));
        }
        let mut modes = self.module.section_insts(ModuleSection::ExecutionModes);
        let mode = modes.find(|m| {
            m.op() == Op::ExecutionModeId
                && m.id_operand(0) == function
                && m.operand_word(1) == ExecutionMode::LocalSizeId.0
        })?;
        self.evaluate_size(mode.id_operands(2))
    }
}
