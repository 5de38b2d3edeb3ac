//! Sampled images: values that only the block that makes them may use (specification, `OpSampledImage`).

use super::{Block, IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use crate::Id;
use crate::grammar::Op;

impl SpirvModule {
    /// Makes the sampled images of a block again in another block that uses them, with their decorations. The first
    /// block dominates the second. Passes that divide a block call it, as a sampled image does not cross blocks. Cost:
    /// linear in both blocks, and in the annotations where there is such a use.
    pub fn copy_sampled_images(&mut self, ids: &IdWords, from: Block, to: Block) {
        let made = self.body(from).filter(|i| i.op() == Op::SampledImage);
        let made: Vec<(Inst, Id)> = made
            .filter_map(|i| Some((i.handle(), i.result()?)))
            .collect();
        for (inst, old) in made {
            let users: Vec<Inst> = self
                .body(to)
                .filter(|user| {
                    let mut uses = false;
                    ids.visit_uses(*user, |_, id| uses |= id == old);
                    uses
                })
                .map(InstRef::handle)
                .collect();
            if users.is_empty() {
                continue;
            }
            let new = self.fresh_id();
            let mut words = self.inst(inst).words().to_vec();
            words[1] = new.word();
            let copy = self.create_inst(Op::SampledImage, &words);
            self.insert_before(self.first_after_phis(to), copy);
            for user in users {
                ids.rewrite_uses(self, user, |id| if id == old { new } else { id });
            }
            self.copy_decorations(old, new);
        }
    }

    /// Decorates an id as another one.
    fn copy_decorations(&mut self, old: Id, new: Id) {
        let annotations = self.section_insts(ModuleSection::Annotations);
        let of_old: Vec<Inst> = annotations
            .filter(|i| match i.op() {
                Op::GroupDecorate => i.id_operands(1).any(|id| id == old),
                op => op.is_about_ids() && i.get_id(0) == Some(old),
            })
            .map(InstRef::handle)
            .collect();
        for inst in of_old {
            let (op, mut words) = (self.inst(inst).op(), self.inst(inst).words().to_vec());
            if op == Op::GroupDecorate {
                words.truncate(1);
                words.push(new.word());
            } else {
                words[0] = new.word();
            }
            let copy = self.create_inst(op, &words);
            self.insert_after(inst, copy);
        }
    }
}
