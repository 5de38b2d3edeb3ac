//! Specialisation constants.

use crate::translate::shapes::{NumericElement, NumericShape};
use crate::translate::translator::LlvmTranslator;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::ModuleSection;

impl LlvmTranslator<'_> {
    /// The specialisation constant of a number; there is one for each number and type.
    pub(in crate::translate) fn make_spec_constant(
        &mut self,
        number: u32,
        shape: NumericShape,
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
            (NumericElement::Bool, 0) => Op::SpecConstantFalse,
            (NumericElement::Bool, _) => Op::SpecConstantTrue,
            _ => Op::SpecConstant,
        };
        if op == Op::SpecConstant {
            words.push(default as u32);
            words.extend((shape.width > 32).then_some((default >> 32) as u32));
        }
        self.b.push_inst(ModuleSection::Globals, op, &words);
        self.b.set_type_of(id, ty);
        self.b.decorate_id(id, Decoration::SpecId, &[number]);
        id
    }
}
