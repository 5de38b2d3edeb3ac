//! Aggregate instructions: members of aggregates, which are in memory form.

use crate::ir::{LlvmInst, LlvmType, LlvmValue};
use crate::translate::function_body::FunctionTranslator;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl FunctionTranslator<'_, '_> {
    pub(super) fn extract_value(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let aggregate = self.function.operands(inst)[0];
        let path = self.function.numbers_of(inst);
        if let Some(flag) = self.separate_flag(aggregate) {
            return match path {
                [0] => self.lower_value(aggregate),
                _ => Ok(flag),
            };
        }
        let whole = self.type_of(aggregate);
        let member = self.find_member_type(whole, path)?;
        let ty = self.t.memory_type(member)?;
        let aggregate = self.lower_value(aggregate)?;
        let path = self.t.path_without_wrappers(whole, path);
        let mut words = vec![aggregate.word()];
        words.extend_from_slice(&path);
        let laid_out = self.member_in_layout(aggregate, &path, ty);
        let id = self
            .t
            .b
            .append_value(Op::CompositeExtract, laid_out, &words);
        let id = self.in_layout(id, ty)?;
        self.convert_to_register(member, id)
    }

    pub(super) fn insert_value(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let operands = self.function.operands(inst);
        let whole = self.type_of(operands[0]);
        let path = self.function.numbers_of(inst);
        let path = self.t.path_without_wrappers(whole, path);
        let ty = self.result_type(inst)?;
        let element = self.in_memory(operands[1])?;
        let aggregate = self.lower_value(operands[0])?;
        let laid_out = self.t.b.type_of(element).unwrap_or(ty);
        let laid_out = self.member_in_layout(aggregate, &path, laid_out);
        let element = self.in_layout(element, laid_out)?;
        let mut words = vec![element.word(), aggregate.word()];
        words.extend_from_slice(&path);
        Ok(self.t.b.append_value(Op::CompositeInsert, ty, &words))
    }

    /// Keeps the flag of a (value, flag) pair separate. The value's id then stands for the pair.
    /// This requires that all uses of the pair are extractions of members.
    pub(in crate::translate) fn keep_flag_separate(&mut self, inst: LlvmInst, flag: Id) -> bool {
        let local = self.local_of(inst);
        if self.at_lane.is_some() || self.uses.is_used_whole(self.function, local) {
            return false;
        }
        self.flags.resize(self.function.local_count(), None);
        self.flags[local] = Some(flag);
        true
    }

    /// The flag that is kept separate for a pair.
    fn separate_flag(&self, pair: LlvmValue) -> Option<Id> {
        *self.flags.get(pair.as_local()?)?
    }

    fn find_member_type(&self, aggregate: LlvmType, path: &[u32]) -> LlvmResult<LlvmType> {
        path.iter()
            .try_fold(aggregate, |ty, &index| {
                self.t.module.types.element_type(ty, u64::from(index))
            })
            .ok_or_else(|| make_refusal("a path does not select a member"))
    }
}
