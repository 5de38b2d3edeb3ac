//! Atomic instructions.
//!
//! One thread runs a workgroup, so that atomics on workgroup memory are plain loads and stores. All others are
//! sequentially consistent. Those on floating-point numbers compare and swap in a loop.

use super::ClifResult;
use super::lanes::LaneTypes;
use super::lowering::{ClifLowering, clif_type, plain_flags};
use super::values::PointerOperand;
use crate::layout::launch_context::at;
use crate::module::types::{LoweredTypeKind, ScalarRepr};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AliasRegionData, AtomicRmwOp, BlockArg, InstBuilder, MemFlagsData, Type, Value, types,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::InstRef;

/// The address of an atomic.
struct AtomicAddress {
    address: Value,
    /// Whether no other thread can see the memory, so that loads and stores suffice.
    private: bool,
    /// Flags of atomic accesses. Code for gangs makes them lane by lane. There, accesses to memory that no other
    /// thread can see are atomic as well, and carry a mark.
    flags: MemFlagsData,
}

/// `OpAtomicLoad`.
pub(crate) fn lower_atomic_load(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let place = lower.atomic_place(inst.id_operand(0))?;
    let ty = lower.result_type(inst)?;
    let scalar = lower.component_scalar(ty)?;
    let bits = lower.atomic_read(&place, int_type(scalar));
    let value = lower.bitcast_value(clif_type(scalar), bits);
    lower.set_result(inst.result(), &[value])
}

/// `OpAtomicStore`.
pub(crate) fn lower_atomic_store(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let place = lower.atomic_place(inst.id_operand(0))?;
    let value = lower.read_value(inst.id_operand(3))?;
    let bits = lower.bits_of(value);
    lower.atomic_write(&place, bits);
    Ok(())
}

/// `OpAtomicCompareExchange` and its weak variant. The result is the old value.
pub(crate) fn compare_exchange(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let place = lower.atomic_place(inst.id_operand(0))?;
    let value = lower.read_value(inst.id_operand(4))?;
    let expected = lower.read_value(inst.id_operand(5))?;
    let old = if place.private {
        let ty = lower.value_type(value);
        let old = lower.atomic_read(&place, ty);
        let same = lower.builder.ins().icmp(IntCC::Equal, old, expected);
        let new = lower.builder.ins().select(same, value, old);
        lower.atomic_write(&place, new);
        old
    } else {
        let address = place.address;
        lower
            .builder
            .ins()
            .atomic_cas(place.flags, address, expected, value)
    };
    lower.set_result(inst.result(), &[old])
}

/// `OpAtomicFlagTestAndSet`.
pub(crate) fn test_and_set(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let place = lower.atomic_place(inst.id_operand(0))?;
    let one = lower.emit_iconst(types::I32, 1);
    let old = lower.exchange_op(&place, AtomicRmwOp::Xchg, one);
    let set = lower.builder.ins().icmp_imm_s(IntCC::NotEqual, old, 0);
    lower.set_result(inst.result(), &[set])
}

/// `OpAtomicFlagClear`.
pub(crate) fn lower_flag_clear(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let place = lower.atomic_place(inst.id_operand(0))?;
    let zero = lower.emit_iconst(types::I32, 0);
    lower.atomic_write(&place, zero);
    Ok(())
}

/// Atomic reads, modifications and writes of an integer. The result is the old value.
pub(crate) fn lower_atomic_modify(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let place = lower.atomic_place(inst.id_operand(0))?;
    let ty = lower.result_type(inst)?;
    let scalar = lower.component_scalar(ty)?;
    let operand = match inst.op() {
        Op::AtomicIIncrement | Op::AtomicIDecrement => lower.emit_iconst(clif_type(scalar), 1),
        _ => {
            let value = lower.read_value(inst.id_operand(3))?;
            lower.bits_of(value)
        }
    };
    let op = match inst.op() {
        Op::AtomicExchange => AtomicRmwOp::Xchg,
        Op::AtomicIIncrement | Op::AtomicIAdd => AtomicRmwOp::Add,
        Op::AtomicIDecrement | Op::AtomicISub => AtomicRmwOp::Sub,
        Op::AtomicSMin => AtomicRmwOp::Smin,
        Op::AtomicUMin => AtomicRmwOp::Umin,
        Op::AtomicSMax => AtomicRmwOp::Smax,
        Op::AtomicUMax => AtomicRmwOp::Umax,
        Op::AtomicAnd => AtomicRmwOp::And,
        Op::AtomicOr => AtomicRmwOp::Or,
        _ => AtomicRmwOp::Xor,
    };
    if !place.private
        && lower
            .shared
            .privatised
            .pointers
            .contains(&inst.id_operand(0))
    {
        lower.emit_privatised_update(&place, op, operand);
        // The result is not used.
        return lower.set_result(inst.result(), &[operand]);
    }
    let old = lower.exchange_op(&place, op, operand);
    let old = lower.bitcast_value(clif_type(scalar), old);
    lower.set_result(inst.result(), &[old])
}

/// Atomic modifications of a floating-point number.
pub(crate) fn modify_float(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let place = lower.atomic_place(inst.id_operand(0))?;
    let ty = lower.result_type(inst)?;
    let scalar = lower.component_scalar(ty)?;
    let operand = lower.read_value(inst.id_operand(3))?;
    let operand = lower.widen_half(scalar, operand);
    let int = int_type(scalar);
    if place.flags.alias_region().is_some() {
        return lower.fail_unsupported("changing a number in workgroup memory by gangs");
    }
    let first = lower.atomic_read(&place, int);
    if place.private {
        let new = lower.combine_float(inst.op(), scalar, first, operand);
        lower.atomic_write(&place, new);
        let old = lower.bitcast_value(clif_type(scalar), first);
        return lower.set_result(inst.result(), &[old]);
    }
    let again = lower.builder.create_block();
    let done = lower.builder.create_block();
    let expected = lower.builder.append_block_param(again, int);
    lower.builder.ins().jump(again, &[BlockArg::Value(first)]);
    lower.builder.switch_to_block(again);
    let new = lower.combine_float(inst.op(), scalar, expected, operand);
    let address = place.address;
    let found = lower
        .builder
        .ins()
        .atomic_cas(plain_flags(), address, expected, new);
    let same = lower.builder.ins().icmp(IntCC::Equal, found, expected);
    let args = [BlockArg::Value(found)];
    lower.builder.ins().brif(same, done, &[], again, &args);
    lower.builder.switch_to_block(done);
    let old = lower.bitcast_value(clif_type(scalar), found);
    lower.set_result(inst.result(), &[old])
}

/// `OpMemoryBarrier`.
pub(crate) fn memory_barrier(lower: &mut ClifLowering, _: InstRef) -> ClifResult {
    lower.hooks().before_fence(lower);
    lower.builder.ins().fence();
    Ok(())
}

fn int_type(scalar: ScalarRepr) -> Type {
    super::lowering::int_of(scalar.bytes())
}

impl ClifLowering<'_, '_, '_> {
    fn atomic_place(&mut self, pointer: Id) -> Result<AtomicAddress, SourceDiagnostic> {
        let ty = self.type_of(pointer)?;
        let private = match self.program.types.kind(ty) {
            LoweredTypeKind::Pointer { class, .. } => matches!(
                class,
                StorageClass::Workgroup | StorageClass::Function | StorageClass::Private
            ),
            _ => false,
        };
        let id = pointer;
        let pointer: PointerOperand = self.read_pointer(pointer)?;
        let pointer = self.hooks().before_atomic(self, id, pointer)?;
        let flags = if private && self.shared.gang.is_some() {
            self.unshared_access_flags()
        } else {
            plain_flags()
        };
        Ok(AtomicAddress {
            address: self.address_of(pointer)?,
            private: private && self.shared.gang.is_none(),
            flags,
        })
    }

    /// Flags of atomic accesses to memory that no other thread can see, in code for gangs.
    fn unshared_access_flags(&mut self) -> MemFlagsData {
        let region = AliasRegionData {
            user_id: 1,
            description: "atomics that nobody sees".into(),
        };
        let region = self.builder.func.dfg.alias_regions.insert(region);
        plain_flags().with_alias_region(Some(region))
    }

    /// Updates privatised memory: without atomics where the thread has its own copy.
    fn emit_privatised_update(&mut self, place: &AtomicAddress, op: AtomicRmwOp, operand: Value) {
        let is_private_copy = self.load_context_field(types::I64, at::PRIVATISED);
        let [unseen, seen, done] = [(); 3].map(|()| self.builder.create_block());
        self.builder
            .ins()
            .brif(is_private_copy, unseen, &[], seen, &[]);
        self.builder.switch_to_block(unseen);
        let is_gang = self.shared.gang.is_some();
        let own = AtomicAddress {
            address: place.address,
            private: !is_gang,
            flags: if is_gang {
                self.unshared_access_flags()
            } else {
                plain_flags()
            },
        };
        self.exchange_op(&own, op, operand);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(seen);
        self.exchange_op(place, op, operand);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    fn atomic_read(&mut self, place: &AtomicAddress, ty: Type) -> Value {
        if place.private {
            self.builder.ins().load(ty, plain_flags(), place.address, 0)
        } else {
            let ins = self.builder.ins();
            ins.atomic_load(ty, place.flags, place.address)
        }
    }

    fn atomic_write(&mut self, place: &AtomicAddress, value: Value) {
        if place.private {
            self.builder
                .ins()
                .store(plain_flags(), value, place.address, 0);
        } else {
            let ins = self.builder.ins();
            ins.atomic_store(place.flags, value, place.address);
        }
    }

    fn exchange_op(&mut self, place: &AtomicAddress, op: AtomicRmwOp, operand: Value) -> Value {
        let ty = self.value_type(operand);
        if !place.private {
            let address = place.address;
            return self
                .builder
                .ins()
                .atomic_rmw(ty, place.flags, op, address, operand);
        }
        let old = self.atomic_read(place, ty);
        let new = match op {
            AtomicRmwOp::Add => self.builder.ins().iadd(old, operand),
            AtomicRmwOp::Sub => self.builder.ins().isub(old, operand),
            AtomicRmwOp::And => self.builder.ins().band(old, operand),
            AtomicRmwOp::Or => self.builder.ins().bor(old, operand),
            AtomicRmwOp::Xor => self.builder.ins().bxor(old, operand),
            AtomicRmwOp::Smin => self.select_by_comparison(IntCC::SignedLessThan, old, operand),
            AtomicRmwOp::Umin => self.select_by_comparison(IntCC::UnsignedLessThan, old, operand),
            AtomicRmwOp::Smax => self.select_by_comparison(IntCC::SignedGreaterThan, old, operand),
            AtomicRmwOp::Umax => {
                self.select_by_comparison(IntCC::UnsignedGreaterThan, old, operand)
            }
            _ => operand,
        };
        self.atomic_write(place, new);
        old
    }

    /// The first integer if it compares so with the second, else the second.
    pub fn select_by_comparison(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let first = self.builder.ins().icmp(condition, a, b);
        self.builder.ins().select(first, a, b)
    }

    fn combine_float(&mut self, op: Op, scalar: ScalarRepr, old: Value, operand: Value) -> Value {
        let old = self.bitcast_value(clif_type(scalar), old);
        let old = self.widen_half(scalar, old);
        let wide = super::lanes::to_arithmetic_scalar(scalar);
        let lane = LaneTypes {
            from: wide,
            to: wide,
        };
        let new = match op {
            Op::AtomicFAddEXT => self.builder.ins().fadd(old, operand),
            Op::AtomicFMinEXT => super::ext::reals::min(self, lane, &[old, operand]),
            _ => super::ext::reals::max(self, lane, &[old, operand]),
        };
        let new = self.narrow_to_half(scalar, new);
        self.bits_of(new)
    }
}
