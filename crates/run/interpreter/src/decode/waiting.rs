//! Barriers, group and subgroup operations.

use super::CodeDecoder;
use crate::exchange::{BallotQuery, ExchangeKind, ExchangePoint};
use crate::step::CodeStep;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{GroupOperation, Scope};
use spirula_spirv::ir::InstRef;

impl<'m> CodeDecoder<'m> {
    /// Decodes an instruction at which invocations wait for each other. Returns whether it is one.
    ///
    /// # Errors
    /// When its types are not supported.
    pub(super) fn decode_waiting(&mut self, inst: InstRef<'m>) -> Result<bool, SourceDiagnostic> {
        let kind = match inst.op() {
            Op::ControlBarrier | Op::GroupWaitEvents => ExchangeKind::Barrier,
            op => match ExchangeKind::from_opcode(op) {
                Some(kind) => kind,
                None => return Ok(false),
            },
        };
        let scope = self.facts.scalar_constant(inst.id_operand(0));
        let scope = scope.map(|bits| Scope(bits as u32));
        if scope == Some(Scope::Invocation) && kind == ExchangeKind::Barrier {
            return Ok(true);
        }
        let mut point = ExchangePoint {
            is_subgroup: scope == Some(Scope::Subgroup),
            ..ExchangePoint::of_workgroup(kind)
        };
        if kind != ExchangeKind::Barrier {
            self.read_operands(inst, &mut point)?;
        }
        let number = self.code.points.len() as u32;
        self.code.points.push(point);
        self.push_step(CodeStep::Suspend(number));
        Ok(true)
    }

    fn read_operands(
        &mut self,
        inst: InstRef<'m>,
        point: &mut ExchangePoint,
    ) -> Result<(), SourceDiagnostic> {
        point.to = self.result_slot(inst)?;
        point.to_count = self.facts.count_scalars(self.result_type(inst)?)?;
        let mut at = 1;
        let is_count = point.kind == ExchangeKind::Query(BallotQuery::Count);
        if is_count || matches!(point.kind, ExchangeKind::Reduce(_)) {
            point.operation = inst.operand_word(1);
            at = 2;
        }
        if let Some(value) = inst.get_id(at) {
            point.value = self.value_slot(value)?;
            point.count = self.count_of(value)?;
            point.scalar = self.facts.component_kind(self.facts.type_of(value)?)?;
        }
        if let Some(operand) = inst.get_id(at + 1) {
            let is_cluster = point.operation == GroupOperation::ClusteredReduce.0
                && matches!(point.kind, ExchangeKind::Reduce(_));
            if is_cluster {
                point.cluster = self.facts.scalar_constant(operand).unwrap_or(0) as u32;
            } else if !matches!(point.kind, ExchangeKind::Reduce(_)) {
                point.operand = self.linear_operand(inst, operand)?;
            }
        }
        if let (ExchangeKind::Rotate, Some(cluster)) = (point.kind, inst.get_id(at + 2)) {
            point.cluster = self.facts.scalar_constant(cluster).unwrap_or(0) as u32;
        }
        Ok(())
    }

    /// The number of a lane. That of a broadcast in a workgroup may be a vector of coordinates, which is refused.
    fn linear_operand(
        &mut self,
        inst: InstRef<'m>,
        operand: spirula_spirv::Id,
    ) -> Result<crate::step::Slot, SourceDiagnostic> {
        if self.count_of(operand)? != 1 {
            return Err(self.refuse_inst(inst));
        }
        self.value_slot(operand)
    }
}
