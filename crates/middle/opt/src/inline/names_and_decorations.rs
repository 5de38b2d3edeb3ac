//! Names and decorations of copies.

use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Names and decorations of ids in functions, by id.
pub struct IdAnnotations {
    decorations: IdMap<Vec<Inst>>,
    names: IdMap<Option<Inst>>,
}

impl IdAnnotations {
    /// One pass over names and decorations.
    pub fn new(module: &SpirvModule) -> Self {
        let mut annotations = IdAnnotations {
            decorations: IdMap::new(0, Vec::new()),
            names: IdMap::new(0, None),
        };
        for name in module.section_insts(ModuleSection::Names) {
            if name.op() == Op::Name {
                annotations
                    .names
                    .set(name.id_operand(0), Some(name.handle()));
            }
        }
        for d in module.section_insts(ModuleSection::Annotations) {
            match d.op() {
                Op::Decorate | Op::DecorateId | Op::DecorateString => {
                    annotations
                        .decorations
                        .get_mut(d.id_operand(0))
                        .push(d.handle());
                }
                Op::GroupDecorate => {
                    for target in d.id_operands(1) {
                        annotations.decorations.get_mut(target).push(d.handle());
                    }
                }
                _ => {}
            }
        }
        annotations
    }

    /// Gives a copy the decorations of the original. Only variables get its name.
    pub fn copy_annotations(&mut self, module: &mut SpirvModule, old: InstRefId, new: Id) {
        for decoration in self.decorations[old.id].clone() {
            let inst = module.inst(decoration);
            let mut words = inst.words().to_vec();
            if inst.op() == Op::GroupDecorate {
                words.push(new.word());
                if words.len() < 0xf000 {
                    module.replace_words(decoration, &words);
                    self.decorations.get_mut(new).push(decoration);
                    continue;
                }
                words = vec![words[0], new.word()];
            } else {
                words[0] = new.word();
            }
            let op = inst.op();
            let copy = module.create_inst(op, &words);
            module.append_inst(ModuleSection::Annotations.list(), copy);
            self.decorations.get_mut(new).push(copy);
        }
        if old.is_variable
            && let Some(name) = self.names[old.id]
        {
            let mut words = module.inst(name).words().to_vec();
            words[0] = new.word();
            let copy = module.create_inst(Op::Name, &words);
            module.append_inst(ModuleSection::Names.list(), copy);
            self.names.set(new, Some(copy));
        }
    }
}

/// An id that is copied.
#[derive(Clone, Copy)]
pub struct InstRefId {
    pub id: Id,
    pub is_variable: bool,
}

impl InstRefId {
    pub fn from_inst(inst: InstRef<'_>) -> Option<Self> {
        Some(InstRefId {
            id: inst.result()?,
            is_variable: inst.op() == Op::Variable,
        })
    }
}
