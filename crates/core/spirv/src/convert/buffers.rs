//! Conversion of storage buffers to the form that 1.4 requires.
//!
//! Before, a storage buffer could be a variable of the class `Uniform` whose structure is decorated
//! `BufferBlock`. It becomes a variable of the class `StorageBuffer` whose structure is decorated
//! `Block`, and so do all pointers into it.

use super::ConvertError;
use crate::analysis::IdDefinitions;
use crate::grammar::enumerants::{Decoration, StorageClass};
use crate::grammar::{Op, SpirvVersion};
use crate::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use crate::{Id, IdMap};

/// Converts all storage buffers of a module to the newer form.
///
/// # Errors
/// If a pointer into such a buffer reaches a function or a phi that also takes pointers into other memory.
pub(super) fn modernise_buffers(
    module: &mut SpirvModule,
    version: SpirvVersion,
) -> Result<(), ConvertError> {
    let blocks = redecorate_blocks(module);
    if blocks.is_empty() {
        return Ok(());
    }
    let mut mover = StorageBufferConverter::new(module, version, &blocks);
    let globals: Vec<Inst> = module
        .section_insts(ModuleSection::Globals)
        .map(InstRef::handle)
        .collect();
    for inst in globals {
        mover.move_global(module, inst);
    }
    for func in module.functions().to_vec() {
        let all: Vec<Inst> = module.function_insts(func).map(InstRef::handle).collect();
        for inst in all {
            mover.move_instruction(module, inst)?;
        }
    }
    mover.verify_pointer_uses(module)
}

/// Decorates structures `Block` that were decorated `BufferBlock`; returns them, sorted. Groups are
/// decorated as structures are, and their targets found.
fn redecorate_blocks(module: &mut SpirvModule) -> Vec<Id> {
    let is_old = |i: &InstRef<'_>| {
        i.op() == Op::Decorate && i.operands().get(1) == Some(&Decoration::BufferBlock.0)
    };
    let annotations = module.section_insts(ModuleSection::Annotations);
    let old: Vec<Inst> = annotations.filter(is_old).map(InstRef::handle).collect();
    let mut blocks = Vec::new();
    for inst in old {
        blocks.push(module.inst(inst).id_operand(0));
        module.words_mut(inst)[1] = Decoration::Block.0;
    }
    blocks.sort_unstable();
    let groups = module.section_insts(ModuleSection::Annotations);
    let groups = groups.filter(|i| i.op() == Op::GroupDecorate);
    let members: Vec<Id> = groups
        .filter(|g| blocks.binary_search(&g.id_operand(0)).is_ok())
        .flat_map(|g| g.id_operands(1))
        .collect();
    blocks.extend(members);
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

const UNIFORM: u32 = StorageClass::Uniform.0;
const STORAGE: u32 = StorageClass::StorageBuffer.0;

struct StorageBufferConverter {
    version: SpirvVersion,
    definitions: IdDefinitions,
    /// Structures that are buffers, and arrays of them.
    buffers: IdMap<bool>,
    /// Pointer types into buffers, as they are now.
    moved: IdMap<bool>,
    /// The pointer type into a buffer for each one of the class `Uniform`.
    counterparts: IdMap<Option<Id>>,
    /// Types of values that were changed or created.
    types: IdMap<Option<Id>>,
}

impl StorageBufferConverter {
    fn new(module: &SpirvModule, version: SpirvVersion, blocks: &[Id]) -> Self {
        let mut buffers = IdMap::new(module.bound(), false);
        for id in blocks {
            buffers.set(*id, true);
        }
        StorageBufferConverter {
            version,
            definitions: IdDefinitions::from_module(module),
            buffers,
            moved: IdMap::new(module.bound(), false),
            counterparts: IdMap::new(module.bound(), None),
            types: IdMap::new(module.bound(), None),
        }
    }

    /// Types and variables.
    fn move_global(&mut self, module: &mut SpirvModule, inst: Inst) {
        let i = module.inst(inst);
        let Some(id) = i.result() else { return };
        match i.op() {
            Op::TypeArray | Op::TypeRuntimeArray if self.buffers[i.id_operand(0)] => {
                self.buffers.set(id, true);
            }
            Op::TypePointer if i.operand_word(0) == UNIFORM && self.buffers[i.id_operand(1)] => {
                module.words_mut(inst)[1] = STORAGE;
                self.moved.set(id, true);
            }
            Op::Variable if i.result_type().is_some_and(|ty| self.moved[ty]) => {
                module.words_mut(inst)[2] = STORAGE;
            }
            _ => {}
        }
    }

    /// The type of a value, as it is now.
    fn type_of(&self, module: &SpirvModule, value: Id) -> Option<Id> {
        self.types[value].or_else(|| self.definitions.get(module, value)?.result_type())
    }

    fn is_moved(&self, module: &SpirvModule, value: Id) -> bool {
        self.type_of(module, value).is_some_and(|ty| self.moved[ty])
    }

    /// Instructions whose result is a pointer like their operand.
    fn move_instruction(
        &mut self,
        module: &mut SpirvModule,
        inst: Inst,
    ) -> Result<(), ConvertError> {
        let i = module.inst(inst);
        let derives = match i.op() {
            op if op.is_access_chain() || op == Op::CopyObject => {
                self.is_moved(module, i.id_operand(0))
            }
            Op::Select => self.is_moved(module, i.id_operand(1)),
            Op::Phi => i
                .id_operands(0)
                .step_by(2)
                .any(|v| self.is_moved(module, v)),
            _ => false,
        };
        let (true, Some(old), Some(id)) = (derives, i.result_type(), i.result()) else {
            return Ok(());
        };
        if self.moved[old] {
            return Ok(());
        }
        let new = self.find_counterpart(module, old);
        let new = new.ok_or_else(|| {
            let what = "a pointer into a storage buffer has an unexpected type";
            ConvertError::new(self.version, module.inst(inst), what)
        })?;
        self.types.set(id, Some(new));
        module.words_mut(inst)[0] = new.word();
        Ok(())
    }

    /// The pointer type into storage buffers in the place of one into uniform buffers.
    fn find_counterpart(&mut self, module: &mut SpirvModule, old: Id) -> Option<Id> {
        if let Some(known) = self.counterparts[old] {
            return Some(known);
        }
        let pointer = self.definitions.get(module, old)?;
        if pointer.op() != Op::TypePointer || pointer.operand_word(0) != UNIFORM {
            return None;
        }
        let pointee = pointer.id_operand(1);
        let globals = module.section_insts(ModuleSection::Globals);
        let mut same = globals
            .filter(|i| i.op() == Op::TypePointer && i.operands() == [STORAGE, pointee.word()]);
        let known = same.next().and_then(InstRef::result);
        let id = known.unwrap_or_else(|| {
            let id = module.fresh_id();
            let words = [id.word(), STORAGE, pointee.word()];
            let inst = module.create_inst(Op::TypePointer, &words);
            module.append_inst(ModuleSection::Globals.list(), inst);
            id
        });
        self.moved.set(id, true);
        self.counterparts.set(old, Some(id));
        Some(id)
    }

    /// Demands that no pointer into a buffer is used where another kind is expected: as an argument,
    /// in a phi before its definition.
    fn verify_pointer_uses(&self, module: &SpirvModule) -> Result<(), ConvertError> {
        let fault = |inst, what: &str| Err(ConvertError::new(self.version, inst, what));
        let mut types = IdMap::new(0, None);
        for func in module.functions() {
            let f = module.function(*func);
            types.set(
                module.function_id(*func),
                Some(module.inst(f.def).id_operand(1)),
            );
        }
        for inst in module
            .functions()
            .iter()
            .flat_map(|f| module.function_insts(*f))
        {
            match inst.op() {
                Op::FunctionCall => {
                    let ty =
                        types[inst.id_operand(0)].and_then(|ty| self.definitions.get(module, ty));
                    let Some(ty) = ty else { continue };
                    for (param, argument) in ty.id_operands(1).zip(inst.id_operands(1)) {
                        if self.is_moved(module, argument) != self.moved[param] {
                            return fault(
                                inst,
                                "a pointer into a storage buffer of the class Uniform is passed \
                                 where other pointers may be passed too",
                            );
                        }
                    }
                }
                Op::Phi | Op::Select => {
                    let own = inst.result_type().is_some_and(|ty| self.moved[ty]);
                    let values: Vec<Id> = match inst.op() {
                        Op::Phi => inst.id_operands(0).step_by(2).collect(),
                        _ => inst.id_operands(1).collect(),
                    };
                    if values.iter().any(|v| self.is_moved(module, *v) != own) {
                        return fault(
                            inst,
                            "pointers into storage buffers and into uniform buffers meet",
                        );
                    }
                }
                Op::ReturnValue if self.is_moved(module, inst.id_operand(0)) => {}
                _ => {}
            }
        }
        Ok(())
    }
}
