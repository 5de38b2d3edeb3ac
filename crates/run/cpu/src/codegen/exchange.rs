//! Suspension points: stores the operands and live values of an invocation, and resumes it.

use super::access_hooks::{CopyEndpoint, GroupCopy};
use super::lowering::{ClifLowering, IdLocation, SymbolicPointer, clif_type};
use super::{ClifResult, ClifScalars};
use crate::analysis::suspension::{self, ExchangeOperandForm, GroupExchange, SuspensionPoint};
use crate::layout::launch_context::{EXCHANGE, at};
use crate::module::types::{LoweredTypeKind, ScalarRepr};
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::InstRef;

/// A control barrier, or an instruction that exchanges values.
pub(crate) fn lower_suspension(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    if !suspension::is_point(lower.program, inst) {
        return match inst.op() {
            Op::CooperativeMatrixMulAddKHR => {
                super::in_memory_matrix::lower_in_memory_multiply(lower, inst)
            }
            Op::ControlBarrier => {
                if suspension::group_of(lower.program, inst).is_some() {
                    lower.builder.ins().nop();
                }
                Ok(())
            }
            _ => lower.fail_unsupported("the scope Invocation"),
        };
    }
    let Some(group) = suspension::group_of(lower.program, inst) else {
        return Ok(());
    };
    let (shape, exchange) = suspension::find_exchange_rule(inst.op())
        .unwrap_or((ExchangeOperandForm::Scoped, GroupExchange::Barrier));
    let first = match shape {
        ExchangeOperandForm::Subgroup => 0,
        ExchangeOperandForm::Scoped => 1,
        ExchangeOperandForm::Operation => 2,
    };
    let mut point = SuspensionPoint {
        op: inst.op(),
        place: inst.place(),
        group,
        exchange,
        scalar: ScalarRepr::Int(32),
        components: 0,
        operation: match shape {
            ExchangeOperandForm::Operation => inst.operand_word(1),
            _ => 0,
        },
        cluster: None,
        product: None,
        site: lower.hooks().site(lower),
    };
    let operands: Vec<Id> = match exchange {
        GroupExchange::Barrier | GroupExchange::Elect | GroupExchange::Product => Vec::new(),
        _ => inst.id_operands(first).collect(),
    };
    let slots = match exchange {
        GroupExchange::AsyncCopy => lower.copy_operands(inst.op(), &operands, &mut point)?,
        GroupExchange::Product => lower.product_operands(inst, &mut point)?,
        _ => lower.exchange_operands(inst, &operands, &mut point)?,
    };
    if slots.len() > lower.program.functions.slots as usize {
        return lower.fail_unsupported("an exchange of so many scalars");
    }
    lower.store_slots(&slots);
    lower.current_scope().cut = Some(inst.handle());
    lower.suspend_at_point(point)?;
    lower.exchange_result(inst, exchange)
}

/// `OpGroupNonUniformInverseBallot`, `…BallotBitExtract`, `…BallotBitCount`, `…BallotFindLSB` and
/// `…BallotFindMSB`: of a mask that the invocation has already.
pub(crate) fn lower_ballot_query(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let counts = inst.op() == Op::GroupNonUniformBallotBitCount;
    let mask = lower.read_values(inst.id_operand(if counts { 2 } else { 1 }))?;
    let low = lower.builder.ins().uextend(types::I64, mask[0]);
    let high = mask.get(1).copied().unwrap_or(mask[0]);
    let high = lower.builder.ins().uextend(types::I64, high);
    let high = lower.builder.ins().ishl_imm_u(high, 32);
    let mask = lower.builder.ins().bor(low, high);
    // Bits beyond the lanes of a sub-group do not count.
    let lanes = u64::MAX >> (64 - lower.shared.subgroup_size);
    let lanes = lower.emit_iconst(types::I64, lanes as i64);
    let mask = lower.builder.ins().band(mask, lanes);
    let result = match inst.op() {
        Op::GroupNonUniformInverseBallot | Op::GroupNonUniformBallotBitExtract => {
            let lane = match inst.op() {
                Op::GroupNonUniformInverseBallot => lower.emit_lane_index(),
                _ => lower.read_value(inst.id_operand(2))?,
            };
            let bit = lower.builder.ins().ushr(mask, lane);
            let bit = lower.builder.ins().band_imm_u(bit, 1);
            lower.builder.ins().ireduce(types::I8, bit)
        }
        Op::GroupNonUniformBallotFindLSB => {
            let at = lower.builder.ins().ctz(mask);
            lower.builder.ins().ireduce(types::I32, at)
        }
        Op::GroupNonUniformBallotFindMSB => {
            let zeros = lower.builder.ins().clz(mask);
            let top = lower.emit_iconst(types::I64, 63);
            let at = lower.builder.ins().isub(top, zeros);
            lower.builder.ins().ireduce(types::I32, at)
        }
        _ => lower.ballot_count(mask, inst.operand_word(1)),
    };
    let ty = lower.result_type(inst)?;
    let to = clif_type(lower.component_scalar(ty)?);
    let result = lower.resize_integer(result, to, false);
    lower.set_result(inst.result(), &[result])
}

impl ClifLowering<'_, '_, '_> {
    /// Number of set bits of a mask: of all lanes, of those up to the invocation's own, or of those before it.
    fn ballot_count(&mut self, mask: Value, operation: u32) -> Value {
        let one = self.emit_iconst(types::I64, 1);
        let lane = self.emit_lane_index();
        let own = self.builder.ins().ishl(one, lane);
        let before = self.builder.ins().iadd_imm_s(own, -1);
        let counted = match operation {
            1 => {
                let upto = self.builder.ins().bor(before, own);
                self.builder.ins().band(mask, upto)
            }
            2 => self.builder.ins().band(mask, before),
            _ => mask,
        };
        let count = self.builder.ins().popcnt(counted);
        self.builder.ins().ireduce(types::I32, count)
    }

    fn exchange_operands(
        &mut self,
        inst: InstRef<'_>,
        operands: &[Id],
        point: &mut SuspensionPoint,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let Some((value, rest)) = operands.split_first() else {
            return Ok(ClifScalars::new());
        };
        point.scalar = self.scalar_of(*value)?;
        let mut slots = self.read_values(*value)?;
        point.components = slots.len() as u32;
        if let GroupExchange::Reduce(_) | GroupExchange::Rotate = point.exchange
            && let Some(cluster) = operands.get(match point.exchange {
                GroupExchange::Rotate => 2,
                _ => 1,
            })
        {
            point.cluster = u32::try_from(self.read_constant(*cluster)?).ok();
        }
        match (inst.op(), rest) {
            (Op::GroupBroadcast, [id]) => {
                let id = self.read_values(*id)?;
                slots.push(self.linear_id(&id));
            }
            _ => {
                for id in rest {
                    let scalar = self.read_values(*id)?;
                    for value in scalar {
                        let wide = self.value_type(value).is_int();
                        slots.push(if wide {
                            self.extend_to(value, types::I64, false)
                        } else {
                            value
                        });
                    }
                }
            }
        }
        Ok(slots)
    }

    /// The local index of a local id of one to three components, 64 bits.
    fn linear_id(&mut self, id: &[Value]) -> Value {
        let mut linear = self.emit_iconst(types::I64, 0);
        for (n, component) in id.iter().enumerate().rev() {
            let size = self.load_context_field(types::I64, at::LOCAL + 8 * n as i32);
            let component = self.extend_to(*component, types::I64, false);
            linear = self.builder.ins().imul(linear, size);
            linear = self.builder.ins().iadd(linear, component);
        }
        linear
    }

    /// Destination, source, number of elements, stride of the global side.
    fn copy_operands(
        &mut self,
        op: Op,
        operands: &[Id],
        point: &mut SuspensionPoint,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let (to, from, bytes, count, stride) = match (op, operands) {
            (Op::UntypedGroupAsyncCopyKHR, &[to, from, bytes, count, stride, ..]) => {
                (to, from, self.read_constant(bytes)?, count, stride)
            }
            (Op::GroupAsyncCopy, &[to, from, count, stride, ..]) => {
                let Some(pointee) = self.program.pointee_of(to) else {
                    return self.fail_unsupported("a copy through untyped pointers");
                };
                let bytes = self.program.types.layouts.get(pointee).size;
                (to, from, bytes, count, stride)
            }
            _ => return Err(self.instruction_fault("it has too few operands")),
        };
        let ty = self.type_of(to)?;
        let to_local = matches!(
            self.program.types.kind(ty),
            LoweredTypeKind::Pointer {
                class: StorageClass::Workgroup,
                ..
            }
        );
        point.components = u32::try_from(bytes).unwrap_or(u32::MAX);
        point.operation = u32::from(to_local);
        let [to, from] = [to, from].map(|pointer| {
            let address = self.read_value(pointer)?;
            Ok::<_, SourceDiagnostic>(CopyEndpoint { pointer, address })
        });
        let (to, from) = (to?, from?);
        let (count, stride) = (self.read_value(count)?, self.read_value(stride)?);
        let count = self.extend_to(count, types::I64, false);
        let stride = self.extend_to(stride, types::I64, false);
        let copy = GroupCopy {
            to,
            from,
            count,
            stride,
            bytes,
            to_local,
        };
        self.hooks().before_group_copy(self, copy)?;
        Ok([to.address, from.address, count, stride].into())
    }

    fn store_slots(&mut self, slots: &[Value]) {
        let Some(frame) = self.item.frame else { return };
        for (n, value) in slots.iter().enumerate() {
            let offset = EXCHANGE + 8 * n as i32;
            let flags = MemFlagsData::trusted();
            self.builder.ins().store(flags, *value, frame, offset);
        }
    }

    /// Keeps live values, ends the invocation's run, and begins the block in which it resumes.
    fn suspend_at_point(&mut self, point: SuspensionPoint) -> ClifResult {
        let (Some(frame), Some(end)) = (self.item.frame, self.item_end) else {
            return Err(self.instruction_fault("it stands in a function that cannot be suspended"));
        };
        let live = self.live_variables();
        self.shared.points.push(point);
        let state = self.shared.points.len() as i64;
        let state = self.emit_iconst(types::I32, state);
        self.builder.ins().jump(end, &[BlockArg::Value(state)]);
        let resume = self.builder.create_block();
        self.resumes.push(resume);
        self.builder.switch_to_block(resume);
        let flags = self.slot_flags();
        for variable in live {
            if let Some((offset, ty)) = self.variable_slot(variable) {
                let value = self.builder.ins().load(ty, flags, frame, offset);
                self.builder.def_var(variable, value);
            }
        }
        Ok(())
    }

    /// The Cranelift variables that are live after the cut in every scope.
    fn live_variables(&mut self) -> Vec<Variable> {
        let program = self.program;
        let mut live = Vec::new();
        for scope in &self.scopes {
            let Some(cut) = scope.cut else { continue };
            for id in program.functions.get(scope.func).live.live_after(cut) {
                let held = program.functions.local_index(*id).map(|n| scope.held[n]);
                match held {
                    Some(IdLocation::Symbol(SymbolicPointer::Promoted { first }))
                        if program.functions.is_promoted(*id) =>
                    {
                        live.extend(promoted_variables(program, *id, first));
                    }
                    _ => {}
                }
            }
        }
        for (id, first) in &self.private {
            live.extend(promoted_variables(program, *id, *first));
        }
        let hooks = self.hooks();
        let companions = live.iter().filter_map(|v| hooks.companion_variable(*v));
        let companions: Vec<Variable> = companions.collect();
        live.extend(companions);
        live
    }

    fn exchange_result(&mut self, inst: InstRef<'_>, exchange: GroupExchange) -> ClifResult {
        let Some(id) = inst.result() else {
            return Ok(());
        };
        let Some(frame) = self.item.frame else {
            return Ok(());
        };
        if exchange == GroupExchange::AsyncCopy {
            let event = self.emit_iconst(types::I64, 0);
            self.set_values(id, &[event]);
            return Ok(());
        }
        let ty = self.result_type(inst)?;
        let flags = MemFlagsData::trusted();
        let leaves = self.type_leaves(ty);
        let values: ClifScalars = leaves
            .iter()
            .enumerate()
            .map(|(n, leaf)| {
                let offset = EXCHANGE + 8 * n as i32;
                let ty = clif_type(leaf.scalar);
                self.builder.ins().load(ty, flags, frame, offset)
            })
            .collect();
        self.set_values(id, &values);
        Ok(())
    }
}

fn promoted_variables(
    program: &crate::analysis::analysed_module::AnalysedModule<'_>,
    id: Id,
    first: Variable,
) -> impl Iterator<Item = Variable> {
    let count = program
        .variable_type(id)
        .map_or(0, |ty| program.types.scalar_count(ty)) as u32;
    (0..count).map(move |n| Variable::from_u32(first.as_u32() + n))
}
