//! Built-in atomic functions of OpenCL 1 and 2.

use super::MangledParameter;
use crate::translate::call_rules::{AtomicKind, BuiltinMemoryOrder, ExternalCall};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics, Scope, StorageClass};

const fn lower_integer_atomic(signed: Op, unsigned: Op) -> AtomicKind {
    AtomicKind::Update([None, Some(signed), Some(unsigned)])
}

impl AtomicKind {
    pub(super) const ADD: Self = AtomicKind::Update([
        Some(Op::AtomicFAddEXT),
        Some(Op::AtomicIAdd),
        Some(Op::AtomicIAdd),
    ]);
    const SUBTRACTION: [Option<Op>; 3] = [None, Some(Op::AtomicISub), Some(Op::AtomicISub)];
    pub(super) const SUB: Self = AtomicKind::Update(Self::SUBTRACTION);
    pub(super) const AND: Self = lower_integer_atomic(Op::AtomicAnd, Op::AtomicAnd);
    pub(super) const OR: Self = lower_integer_atomic(Op::AtomicOr, Op::AtomicOr);
    pub(super) const XOR: Self = lower_integer_atomic(Op::AtomicXor, Op::AtomicXor);
    pub(super) const MIN: Self = AtomicKind::Update([
        Some(Op::AtomicFMinEXT),
        Some(Op::AtomicSMin),
        Some(Op::AtomicUMin),
    ]);
    pub(super) const MAX: Self = AtomicKind::Update([
        Some(Op::AtomicFMaxEXT),
        Some(Op::AtomicSMax),
        Some(Op::AtomicUMax),
    ]);
    pub(super) const EXCHANGE: Self = AtomicKind::Update([
        Some(Op::AtomicExchange),
        Some(Op::AtomicExchange),
        Some(Op::AtomicExchange),
    ]);
}

/// Object and environment of an atomic access.
struct AtomicBuiltinAccess {
    pointer: Id,
    shape: NumericShape,
    ty: Id,
    scope: Id,
    semantics: Id,
    /// Of a failed comparison.
    failure: Id,
}

impl FunctionTranslator<'_, '_> {
    /// Translates an atomic function.
    pub(in crate::translate) fn lower_atomic(
        &mut self,
        kind: AtomicKind,
        order: BuiltinMemoryOrder,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        let site = self.atomic_site(kind, order, call)?;
        let AtomicBuiltinAccess {
            pointer,
            ty,
            scope,
            semantics,
            ..
        } = site;
        match kind {
            AtomicKind::Update(ops) => {
                let mut op = call.select_by_type(ops);
                let mut value = self.atomic_value(&site, call, 1)?;
                if op.is_none() && ops == AtomicKind::SUBTRACTION {
                    // Floats are subtracted by adding the negated value.
                    value = self.emit_op(Op::FNegate, ty, [value]);
                    op = Some(Op::AtomicFAddEXT);
                }
                let Some(op) = op else {
                    return Err(make_refusal("there is no such atomic operation on floats"));
                };
                let id = self.emit_op(op, ty, [pointer, scope, semantics, value]);
                Ok(Some(id))
            }
            AtomicKind::Step(op) => Ok(Some(self.emit_op(op, ty, [pointer, scope, semantics]))),
            AtomicKind::Init => {
                let value = self.atomic_value(&site, call, 1)?;
                self.t
                    .b
                    .append_effect(Op::Store, &[pointer.word(), value.word()]);
                Ok(None)
            }
            AtomicKind::Load => Ok(Some(self.emit_op(
                Op::AtomicLoad,
                ty,
                [pointer, scope, semantics],
            ))),
            AtomicKind::Store => {
                let value = self.atomic_value(&site, call, 1)?;
                let words = [pointer, scope, semantics, value].map(Id::word);
                self.t.b.append_effect(Op::AtomicStore, &words);
                Ok(None)
            }
            AtomicKind::CompareValue => {
                let expected = self.atomic_value(&site, call, 1)?;
                let new = self.atomic_value(&site, call, 2)?;
                let old = self.emit_compare_exchange(&site, expected, new);
                let result = self.result_shape(call.inst)?;
                self.emit_bitcast(site.shape, result, old).map(Some)
            }
            AtomicKind::CompareObject => self.compare_object(&site, call).map(Some),
            AtomicKind::FlagSet => {
                let bool = self.t.b.bool_type();
                let operands = [pointer, scope, semantics];
                let set = self.emit_op(Op::AtomicFlagTestAndSet, bool, operands);
                self.as_result(set, call).map(Some)
            }
            AtomicKind::FlagClear => {
                let words = [pointer, scope, semantics].map(Id::word);
                self.t.b.append_effect(Op::AtomicFlagClear, &words);
                Ok(None)
            }
        }
    }

    fn atomic_site(
        &mut self,
        kind: AtomicKind,
        order: BuiltinMemoryOrder,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<AtomicBuiltinAccess> {
        let shape = self.object_shape(kind, call)?;
        if shape.lanes != 1 || shape.width < 32 {
            return Err(make_refusal("an atomic access has 32 or 64 bits in SPIR-V"));
        }
        let ty = self.t.shape_type(shape);
        let pointer = self.lower_pointer(call.arg(0)?, ty)?;
        let known = self.t.b.type_of(pointer);
        let class = known.and_then(|ty| self.t.pointee_of(ty)).map(|p| p.0);
        let memory = match class {
            Some(StorageClass::CrossWorkgroup) => MemorySemantics::CrossWorkgroupMemory,
            Some(StorageClass::Workgroup) => MemorySemantics::WorkgroupMemory,
            _ => MemorySemantics::CrossWorkgroupMemory | MemorySemantics::WorkgroupMemory,
        };
        // The arguments in front of the order.
        let values = match kind {
            AtomicKind::CompareObject => 3,
            AtomicKind::Load | AtomicKind::FlagSet | AtomicKind::FlagClear => 1,
            _ => 2,
        };
        let orders = if matches!(kind, AtomicKind::CompareObject) {
            2
        } else {
            1
        };
        let default = match (order, class) {
            (BuiltinMemoryOrder::Relaxed, Some(StorageClass::Workgroup)) => Scope::Workgroup,
            _ => Scope::Device,
        };
        let scope = match (order, call.args.get(values + orders)) {
            (BuiltinMemoryOrder::Explicit, Some(&scope)) => self.memory_scope(scope)?,
            _ => self.t.make_u32(default.0),
        };
        let order = if self.is_invocation(scope) {
            BuiltinMemoryOrder::Relaxed
        } else {
            order
        };
        let semantics = self.atomic_semantics(order, memory, call, values)?;
        let failure = match orders {
            1 => semantics,
            _ => self.atomic_semantics(order, memory, call, values + 1)?,
        };
        Ok(AtomicBuiltinAccess {
            pointer,
            shape,
            ty,
            scope,
            semantics,
            failure,
        })
    }

    /// Memory semantics of the object's memory and the memory order; an explicit order is argument
    /// `at`.
    fn atomic_semantics(
        &mut self,
        order: BuiltinMemoryOrder,
        memory: MemorySemantics,
        call: &ExternalCall<'_>,
        at: usize,
    ) -> LlvmResult<Id> {
        match order {
            BuiltinMemoryOrder::Relaxed => Ok(self.t.make_u32(0)),
            BuiltinMemoryOrder::Strong => {
                let strong = MemorySemantics::SequentiallyConsistent | memory;
                Ok(self.t.make_u32(strong.0))
            }
            BuiltinMemoryOrder::Explicit => {
                let order = self.memory_order(call.arg(at)?)?;
                if self.t.known_u32(order) == Some(0) {
                    return Ok(order);
                }
                let memory = self.t.make_u32(memory.0);
                let ty = self.t.b.int_type(32, false);
                Ok(self.combine_semantics(ty, order, memory))
            }
        }
    }

    /// The shape of the object: 32 bits for flags, otherwise as the name states.
    fn object_shape(
        &mut self,
        kind: AtomicKind,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<NumericShape> {
        if matches!(kind, AtomicKind::FlagSet | AtomicKind::FlagClear) {
            return Ok(NumericShape::new_int(32, 1));
        }
        let width = call.param(0).map(|param: &MangledParameter<'_>| param.base);
        match width {
            Some(super::MangledBaseType::Int(bits, _)) => Ok(NumericShape::new_int(bits, 1)),
            // Only integers can be compared; floats are compared by their bits.
            Some(super::MangledBaseType::Float(bits))
                if matches!(kind, AtomicKind::CompareValue | AtomicKind::CompareObject) =>
            {
                Ok(NumericShape::new_int(bits, 1))
            }
            Some(super::MangledBaseType::Float(bits)) => Ok(NumericShape {
                elem: NumericElement::Float,
                ..NumericShape::new_int(bits, 1)
            }),
            _ => Err(make_refusal("the name does not state the accessed type")),
        }
    }

    fn atomic_value(
        &mut self,
        site: &AtomicBuiltinAccess,
        call: &ExternalCall<'_>,
        index: usize,
    ) -> LlvmResult<Id> {
        let value = call.arg(index)?;
        let shape = self.shape_of(value)?;
        let id = self.lower_value(value)?;
        self.emit_bitcast(shape, site.shape, id)
    }

    fn emit_compare_exchange(&mut self, site: &AtomicBuiltinAccess, expected: Id, new: Id) -> Id {
        let operands = [
            site.pointer,
            site.scope,
            site.semantics,
            site.failure,
            new,
            expected,
        ];
        self.emit_op(Op::AtomicCompareExchange, site.ty, operands)
    }

    fn compare_object(
        &mut self,
        site: &AtomicBuiltinAccess,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let object = self.lower_pointer(call.arg(1)?, site.ty)?;
        let expected = self.emit_op(Op::Load, site.ty, [object]);
        let new = self.atomic_value(site, call, 2)?;
        let old = self.emit_compare_exchange(site, expected, new);
        self.t
            .b
            .append_effect(Op::Store, &[object.word(), old.word()]);
        let bool = self.t.b.bool_type();
        let equal = self.emit_op(Op::IEqual, bool, [old, expected]);
        self.as_result(equal, call)
    }

    /// A Boolean as the result of a call.
    pub(super) fn as_result(&mut self, condition: Id, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let shape = self.result_shape(call.inst)?;
        Ok(match shape.elem {
            NumericElement::Bool => condition,
            _ => self.convert_boolean(condition, shape, shape.lanes > 1),
        })
    }
}
