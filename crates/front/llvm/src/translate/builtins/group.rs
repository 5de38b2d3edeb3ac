//! Work-group and sub-group functions.

use crate::translate::call_rules::{ExternalCall, GroupKind};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Scope;

impl FunctionTranslator<'_, '_> {
    pub(in crate::translate) fn lower_group_operation(
        &mut self,
        kind: GroupKind,
        scope: Scope,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let scope = self.t.make_u32(scope.0);
        match kind {
            GroupKind::Vote(op) => {
                let predicate = self.lower_predicate_argument(call, 0)?;
                let bool = self.t.b.bool_type();
                let vote = self.emit_op(op, bool, [scope, predicate]);
                self.as_result(vote, call)
            }
            GroupKind::Broadcast => {
                let value = self.lower_value(call.arg(0)?)?;
                let from = self.lower_group_position(call)?;
                let ty = self.call_type(call)?;
                Ok(self.emit_op(Op::GroupBroadcast, ty, [scope, value, from]))
            }
        }
    }

    /// The item that a value is taken from: one, two or three coordinates.
    fn lower_group_position(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let shape = self.shape_of(call.arg(1)?)?;
        let mut coordinates = Vec::new();
        for &argument in &call.args[1..] {
            coordinates.push(self.lower_value(argument)?);
        }
        if coordinates.len() > 3 {
            return Err(make_refusal("a position with more than three coordinates"));
        }
        let lanes = coordinates.len() as u32;
        Ok(self.compose_vector(NumericShape::new_int(shape.width, lanes), &coordinates))
    }

    /// An argument as a Boolean.
    pub(super) fn lower_predicate_argument(
        &mut self,
        call: &ExternalCall<'_>,
        index: usize,
    ) -> LlvmResult<Id> {
        let value = call.arg(index)?;
        if let Some(known) = self.t.module.as_u64(value) {
            return Ok(self.t.b.constant_bool(known != 0));
        }
        let shape = self.shape_of(value)?;
        let id = self.lower_value(value)?;
        Ok(match shape.elem {
            NumericElement::Bool => id,
            _ => self.is_nonzero(shape, id),
        })
    }

    /// An instruction on the active items of a sub-group.
    pub(in crate::translate) fn lower_non_uniform(
        &mut self,
        op: Op,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let scope = self.t.make_u32(Scope::Subgroup.0);
        let votes = matches!(
            op,
            Op::GroupNonUniformElect
                | Op::GroupNonUniformAll
                | Op::GroupNonUniformAny
                | Op::GroupNonUniformInverseBallot
        );
        let truth =
            votes && op != Op::GroupNonUniformInverseBallot || op == Op::GroupNonUniformBallot;
        let mut words = vec![scope.word()];
        for index in 0..call.args.len() {
            let operand = if truth {
                self.lower_predicate_argument(call, index)?
            } else {
                self.lower_value(call.arg(index)?)?
            };
            words.push(operand.word());
        }
        if votes {
            let bool = self.t.b.bool_type();
            let vote = self.t.b.append_value(op, bool, &words);
            return self.as_result(vote, call);
        }
        let ty = self.call_type(call)?;
        Ok(self.t.b.append_value(op, ty, &words))
    }
}
