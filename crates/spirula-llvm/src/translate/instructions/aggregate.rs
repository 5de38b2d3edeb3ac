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
        let mut words = vec![self.value(aggregate)?.word()];
        words.extend_from_slice(path);
        let id = self.t.b.value(Op::CompositeExtract, ty, &words);
        self.loaded(member, id)
    }

    pub(super) fn insert_value(&mut self, inst: Inst) -> Lowered<Id> {
        let operands = self.function.operands(inst);
        let path = self.function.numbers_of(inst);
        let ty = self.result_type(inst)?;
        let element = self.in_memory(operands[1])?;
        let aggregate = self.value(operands[0])?;
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
