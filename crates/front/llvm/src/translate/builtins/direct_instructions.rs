//! Direct instructions: functions that are one instruction on the same operands (pipes,
//! reservations, device events).

use crate::ir::LlvmType;
use crate::translate::call_rules::ExternalCall;
use crate::translate::function_body::FunctionTranslator;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::Scope;
use spirula_spirv::grammar::{Op, ResultForm};

impl FunctionTranslator<'_, '_> {
    /// An instruction on the arguments, preceded by a scope if it has one.
    pub(in crate::translate) fn lower_direct_instruction(
        &mut self,
        op: Op,
        scope: Option<Scope>,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        let mut words = Vec::with_capacity(call.args.len() + 1);
        words.extend(scope.map(|scope| self.t.make_u32(scope.0).word()));
        for index in 0..call.args.len() {
            words.push(self.lower_argument(call, index)?.word());
        }
        let Some(row) = op.info() else {
            return Err(make_refusal("there is no such instruction"));
        };
        if row.result == ResultForm::None {
            self.t.b.append_effect(op, &words);
            return Ok(None);
        }
        if matches!(op, Op::IsValidReserveId | Op::IsValidEvent) {
            let bool = self.t.b.bool_type();
            let truth = self.t.b.append_value(op, bool, &words);
            return self.as_result(truth, call).map(Some);
        }
        let ty = self.call_type(call)?;
        let id = self.t.b.append_value(op, ty, &words);
        Ok((self.function.inst(call.inst).ty != LlvmType::VOID).then_some(id))
    }
}
