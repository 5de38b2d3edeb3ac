//! Members of aggregates, which are in memory form.

use crate::ir::{Inst, Type};
use crate::translate::body::Body;
use crate::translate::refusal::{Lowered, refuse};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl Body<'_, '_> {
    pub(super) fn extract_value(&mut self, inst: Inst) -> Lowered<Id> {
        let aggregate = self.function.operands(inst)[0];
        let path = self.function.numbers_of(inst);
        let member = self.member(self.type_of(aggregate), path)?;
        let ty = self.t.memory_type(member)?;
        let aggregate = self.value(aggregate)?;
        let mut words = vec![aggregate.word()];
        words.extend_from_slice(path);
        let laid_out = self.member_in_layout(aggregate, path, ty);
        let id = self.t.b.value(Op::CompositeExtract, laid_out, &words);
        let id = self.in_layout(id, ty);
        self.loaded(member, id)
    }

    pub(super) fn insert_value(&mut self, inst: Inst) -> Lowered<Id> {
        let operands = self.function.operands(inst);
        let path = self.function.numbers_of(inst);
        let ty = self.result_type(inst)?;
        let element = self.in_memory(operands[1])?;
        let aggregate = self.value(operands[0])?;
        let laid_out = self.t.b.type_of(element).unwrap_or(ty);
        let laid_out = self.member_in_layout(aggregate, path, laid_out);
        let element = self.in_layout(element, laid_out);
        let mut words = vec![element.word(), aggregate.word()];
        words.extend_from_slice(path);
        Ok(self.t.b.value(Op::CompositeInsert, ty, &words))
    }

    fn member(&self, aggregate: Type, path: &[u32]) -> Lowered<Type> {
        path.iter()
            .try_fold(aggregate, |ty, &index| {
                self.t.module.types.element(ty, u64::from(index))
            })
            .ok_or_else(|| refuse("a path leads to no member"))
    }
}
