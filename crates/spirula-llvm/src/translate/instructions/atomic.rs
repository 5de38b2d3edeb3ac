//! Atomic instructions and fences.

use crate::ir::{Extra, Inst, Ordering, RmwOp, Symbol, Type, Value};
use crate::translate::body::Body;
use crate::translate::refusal::{Lowered, refuse};
use crate::translate::types::{Elem, Shape};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics, Scope, StorageClass};

/// Updates of integers.
const UPDATES: &[(RmwOp, Op)] = &[
    (RmwOp::Xchg, Op::AtomicExchange),
    (RmwOp::Add, Op::AtomicIAdd),
    (RmwOp::Sub, Op::AtomicISub),
    (RmwOp::And, Op::AtomicAnd),
    (RmwOp::Or, Op::AtomicOr),
    (RmwOp::Xor, Op::AtomicXor),
    (RmwOp::Max, Op::AtomicSMax),
    (RmwOp::Min, Op::AtomicSMin),
    (RmwOp::UMax, Op::AtomicUMax),
    (RmwOp::UMin, Op::AtomicUMin),
    (RmwOp::FAdd, Op::AtomicFAddEXT),
    (RmwOp::FMax, Op::AtomicFMaxEXT),
    (RmwOp::FMin, Op::AtomicFMinEXT),
];

/// What updates compute, where their instructions cannot be had.
const COMPUTED: &[(RmwOp, Op)] = &[
    (RmwOp::Add, Op::IAdd),
    (RmwOp::Sub, Op::ISub),
    (RmwOp::And, Op::BitwiseAnd),
    (RmwOp::Or, Op::BitwiseOr),
    (RmwOp::Xor, Op::BitwiseXor),
];

/// Updates that keep the old value where a comparison with the other holds.
const CHOSEN: &[(RmwOp, Op)] = &[
    (RmwOp::Max, Op::SGreaterThan),
    (RmwOp::Min, Op::SLessThan),
    (RmwOp::UMax, Op::UGreaterThan),
    (RmwOp::UMin, Op::ULessThan),
];

/// Synchronisation scopes by name, those of OpenCL as Clang writes them.
const SCOPES: &[(&str, Scope)] = &[
    // That of the whole system.
    ("", Scope::CrossDevice),
    ("all_svm_devices", Scope::CrossDevice),
    ("device", Scope::Device),
    ("agent", Scope::Device),
    ("workgroup", Scope::Workgroup),
    ("subgroup", Scope::Subgroup),
    ("wavefront", Scope::Subgroup),
    ("singlethread", Scope::Invocation),
];

/// The scope with this name.
pub(super) fn scope_of(name: &str) -> Lowered<Scope> {
    match SCOPES.iter().find(|row| row.0 == name) {
        Some(row) => Ok(row.1),
        None => Err(refuse(format!(
            "the synchronisation scope {name} is not known"
        ))),
    }
}

/// Ordering and storage class as memory semantics.
pub(super) fn semantics_of(ordering: Ordering, class: Option<StorageClass>) -> MemorySemantics {
    let order = match ordering {
        Ordering::NotAtomic | Ordering::Unordered | Ordering::Monotonic => {
            return MemorySemantics::default();
        }
        Ordering::Acquire => MemorySemantics::Acquire,
        Ordering::Release => MemorySemantics::Release,
        Ordering::AcquireRelease => MemorySemantics::AcquireRelease,
        Ordering::SeqCst => MemorySemantics::SequentiallyConsistent,
    };
    let memory = match class {
        Some(StorageClass::CrossWorkgroup) => MemorySemantics::CrossWorkgroupMemory,
        Some(StorageClass::Workgroup) => MemorySemantics::WorkgroupMemory,
        _ => MemorySemantics::CrossWorkgroupMemory | MemorySemantics::WorkgroupMemory,
    };
    order | memory
}

/// The ordering of an exchange that does not take place: nothing is released then.
fn unreleased(ordering: Ordering) -> Ordering {
    match ordering {
        Ordering::Release => Ordering::Monotonic,
        Ordering::AcquireRelease => Ordering::Acquire,
        other => other,
    }
}

impl Body<'_, '_> {
    fn atomic_shape(&self, ty: Type) -> Lowered<Shape> {
        let shape = self.t.need_shape(ty)?;
        if shape.elem == Elem::Brain {
            return Err(refuse(
                "atomic operations on bfloat have no counterpart in SPIR-V",
            ));
        }
        // Halves may be added and compared two or four at a time, with an extension.
        let halves = shape.elem == Elem::Float && shape.width == 16;
        let lanes = shape.lanes == 1 || (halves && matches!(shape.lanes, 2 | 4));
        if !shape.is_exact() || !lanes || shape.width < 16 {
            return Err(refuse(
                "an atomic access is of 16, 32 or 64 bits in SPIR-V, and this one is not",
            ));
        }
        Ok(shape)
    }

    /// A pointer for an atomic access, with its scope and semantics.
    fn atomic_operands(
        &mut self,
        pointer: Value,
        ty: Id,
        ordering: Ordering,
        scope: Symbol,
    ) -> Lowered<[Id; 3]> {
        let pointer = self.pointer(pointer, ty)?;
        let known = self.t.b.type_of(pointer);
        let class = known.and_then(|ty| self.t.pointee_of(ty)).map(|p| p.0);
        let scope = scope_of(self.t.module.str(scope))?;
        let scope = self.t.u32(scope.0);
        let semantics = self.t.u32(semantics_of(ordering, class).0);
        Ok([pointer, scope, semantics])
    }

    pub(super) fn atomic_load(
        &mut self,
        ty: Type,
        pointer: Value,
        ordering: Ordering,
        scope: Symbol,
    ) -> Lowered<Id> {
        if self.is_byte_access(ty) {
            return self.load_byte(pointer, ordering, scope);
        }
        let shape = self.atomic_shape(ty)?;
        let ty = self.t.shape_type(shape);
        let operands = self.atomic_operands(pointer, ty, ordering, scope)?;
        Ok(self.op(Op::AtomicLoad, ty, operands))
    }

    pub(super) fn atomic_store(
        &mut self,
        value: Value,
        pointer: Value,
        ordering: Ordering,
        scope: Symbol,
    ) -> Lowered<()> {
        if self.is_byte_access(self.type_of(value)) {
            let value = self.value(value)?;
            let site = [ordering, Ordering::Monotonic];
            self.exchange_byte(pointer, site, scope, |_, _| Ok(value))?;
            return Ok(());
        }
        let shape = self.atomic_shape(self.type_of(value))?;
        let ty = self.t.shape_type(shape);
        let [pointer, scope, semantics] = self.atomic_operands(pointer, ty, ordering, scope)?;
        let value = self.value(value)?;
        let words = [pointer, scope, semantics, value].map(Id::word);
        self.t.b.effect(Op::AtomicStore, &words);
        Ok(())
    }

    pub(super) fn atomic_update(&mut self, inst: Inst) -> Lowered<Id> {
        let data = self.function.inst(inst);
        let Extra::Rmw {
            op,
            ordering,
            scope,
            ..
        } = data.extra
        else {
            return Err(refuse("an atomic update without an operation"));
        };
        let operands = self.function.operands(inst);
        if self.is_byte_access(data.ty) {
            let value = self.value(operands[1])?;
            let site = [ordering, unreleased(ordering)];
            let byte = Shape::int(8, 1);
            return self.exchange_byte(operands[0], site, scope, |body, old| {
                body.updated(op, byte, old, value)
            });
        }
        let shape = self.atomic_shape(data.ty)?;
        let ty = self.t.shape_type(shape);
        let [pointer, scope, semantics] = self.atomic_operands(operands[0], ty, ordering, scope)?;
        let known = self.t.b.type_of(pointer);
        let class = known.and_then(|ty| self.t.pointee_of(ty)).map(|p| p.0);
        let mut value = self.value(operands[1])?;
        let mut wanted = op;
        if op == RmwOp::FSub {
            value = self.op(Op::FNegate, ty, [value]);
            wanted = RmwOp::FAdd;
        }
        match UPDATES.iter().find(|row| row.0 == wanted) {
            Some((_, op)) => Ok(self.op(*op, ty, [pointer, scope, semantics, value])),
            None if shape.elem == Elem::Int => {
                let unequal = self.t.u32(semantics_of(unreleased(ordering), class).0);
                let site = [pointer, scope, semantics, unequal];
                self.exchange_loop(ty, site, |body, old| body.updated(op, shape, old, value))
            }
            None => Err(refuse(format!(
                "the atomic operation {} has no counterpart in SPIR-V",
                op.name()
            ))),
        }
    }

    /// An update that SPIR-V has no instruction for: the new value is computed and exchanged for
    /// the old one until nobody came between. `site` is pointer, scope, and semantics when the
    /// exchange takes place and when not. The old value.
    pub(super) fn exchange_loop(
        &mut self,
        ty: Id,
        site: [Id; 4],
        new: impl FnOnce(&mut Self, Id) -> Lowered<Id>,
    ) -> Lowered<Id> {
        let [pointer, scope, equal, unequal] = site;
        let relaxed = self.t.u32(0);
        let first = self.op(Op::AtomicLoad, ty, [pointer, scope, relaxed]);
        let before = self.current_label();
        let [again, after] = [(); 2].map(|()| self.t.b.fresh_id());
        self.t.b.effect(Op::Branch, &[again.word()]);
        self.begin(again);
        let (old, phi) = self.t.b.phi(ty);
        let new = new(self, old)?;
        let operands = [pointer, scope, equal, unequal, new, old];
        let found = self.op(Op::AtomicCompareExchange, ty, operands);
        let bool = self.t.b.bool();
        let same = self.op(Op::IEqual, bool, [found, old]);
        let words = [same, after, again].map(Id::word);
        self.t.b.effect(Op::BranchConditional, &words);
        let words = [first, before, found, again].map(Id::word);
        self.t.b.set_phi(phi, &words);
        self.begin(after);
        Ok(old)
    }

    /// What an update makes of the old value.
    fn updated(&mut self, op: RmwOp, shape: Shape, old: Id, value: Id) -> Lowered<Id> {
        let ty = self.t.shape_type(shape);
        let bool = self.t.b.bool();
        let (zero, one) = (self.t.zero(shape), self.t.splat(shape, 1));
        if let Some((_, op)) = COMPUTED.iter().find(|row| row.0 == op) {
            return Ok(self.op(*op, ty, [old, value]));
        }
        if let Some((_, op)) = CHOSEN.iter().find(|row| row.0 == op) {
            let keeps = self.op(*op, bool, [old, value]);
            return Ok(self.select(ty, keeps, old, value));
        }
        Ok(match op {
            RmwOp::Xchg => value,
            RmwOp::Nand => {
                let both = self.op(Op::BitwiseAnd, ty, [old, value]);
                self.op(Op::Not, ty, [both])
            }
            RmwOp::UIncWrap => {
                let next = self.op(Op::IAdd, ty, [old, one]);
                let wraps = self.op(Op::UGreaterThanEqual, bool, [old, value]);
                self.select(ty, wraps, zero, next)
            }
            RmwOp::UDecWrap => {
                let next = self.op(Op::ISub, ty, [old, one]);
                let none = self.op(Op::IEqual, bool, [old, zero]);
                let above = self.op(Op::UGreaterThan, bool, [old, value]);
                let wraps = self.op(Op::LogicalOr, bool, [none, above]);
                self.select(ty, wraps, value, next)
            }
            RmwOp::USubCond | RmwOp::USubSat => {
                let difference = self.op(Op::ISub, ty, [old, value]);
                let fits = self.op(Op::UGreaterThanEqual, bool, [old, value]);
                let other = if op == RmwOp::USubCond { old } else { zero };
                self.select(ty, fits, difference, other)
            }
            _ => {
                return Err(refuse(format!(
                    "the atomic operation {} has no counterpart in SPIR-V",
                    op.name()
                )));
            }
        })
    }

    pub(super) fn compare_exchange(&mut self, inst: Inst) -> Lowered<Id> {
        let data = self.function.inst(inst);
        let Extra::CmpXchg {
            success,
            failure,
            scope,
            ..
        } = data.extra
        else {
            return Err(refuse("a compare-and-exchange without orderings"));
        };
        let [pointer, expected, new] = self.function.operands(inst) else {
            return Err(refuse("a compare-and-exchange without three operands"));
        };
        if self.is_byte_access(self.type_of(*expected)) {
            let (expected, new) = (self.value(*expected)?, self.value(*new)?);
            let byte = self.t.byte();
            let bool = self.t.b.bool();
            let old = self.exchange_byte(*pointer, [success, failure], scope, |body, old| {
                let same = body.op(Op::IEqual, bool, [old, expected]);
                Ok(body.select(byte, same, new, old))
            })?;
            return self.exchanged(inst, old, expected);
        }
        let shape = self.atomic_shape(self.type_of(*expected))?;
        let ty = self.t.shape_type(shape);
        let [pointer, scope, equal] = self.atomic_operands(*pointer, ty, success, scope)?;
        let class = self
            .t
            .b
            .type_of(pointer)
            .and_then(|ty| self.t.pointee_of(ty));
        let unequal = semantics_of(failure, class.map(|p| p.0));
        let unequal = self.t.u32(unequal.0);
        let expected = self.value(*expected)?;
        let new = self.value(*new)?;
        let operands = [pointer, scope, equal, unequal, new, expected];
        let old = self.op(Op::AtomicCompareExchange, ty, operands);
        self.exchanged(inst, old, expected)
    }

    /// The old value, and whether it is what was expected.
    fn exchanged(&mut self, inst: Inst, old: Id, expected: Id) -> Lowered<Id> {
        let bool = self.t.b.bool();
        let same = self.op(Op::IEqual, bool, [old, expected]);
        if self.keep_apart(inst, same) {
            return Ok(old);
        }
        let flag = self.truth_as(same, Shape::int(8, 1), false);
        let result = self.result_type(inst)?;
        Ok(self.op(Op::CompositeConstruct, result, [old, flag]))
    }

    pub(super) fn fence(&mut self, inst: Inst) -> Lowered<()> {
        let Extra::Fence { ordering, scope } = self.function.inst(inst).extra else {
            return Err(refuse("a fence without an ordering"));
        };
        let scope = scope_of(self.t.module.str(scope))?;
        let scope = self.t.u32(scope.0);
        let semantics = self.t.u32(semantics_of(ordering, None).0);
        let words = [scope.word(), semantics.word()];
        self.t.b.effect(Op::MemoryBarrier, &words);
        Ok(())
    }
}
