//! Constants that can be specialised.

use crate::translate::translator::Translator;
use crate::translate::types::{Elem, Shape};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::Section;

impl Translator<'_> {
    /// The scalar constant of a number, one for each number and type.
    pub(in crate::translate) fn specialisable(
        &mut self,
        number: u32,
        shape: Shape,
        default: u64,
    ) -> Id {
        let ty = self.shape_type(shape);
        if let Some(id) = self.specialised.get(&(number, ty)) {
            return *id;
        }
        let id = self.b.fresh_id();
        self.specialised.insert((number, ty), id);
        let mut words = vec![ty.word(), id.word()];
        let op = match (shape.elem, default) {
            (Elem::Bool, 0) => Op::SpecConstantFalse,
            (Elem::Bool, _) => Op::SpecConstantTrue,
            _ => Op::SpecConstant,
        };
        if op == Op::SpecConstant {
            words.push(default as u32);
            words.extend((shape.width > 32).then_some((default >> 32) as u32));
        }
        self.b.push(Section::Globals, op, &words);
        self.b.set_type_of(id, ty);
        self.b.decorate(id, Decoration::SpecId, &[number]);
        id
    }
}
