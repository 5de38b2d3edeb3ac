//! Atomic operations.

use super::Lower;
use super::barriers::Order;
use super::composites::result;
use super::memory::Place;
use crate::facts::Scalar;
use spirula_source::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::InstRef;

type Lowered = Result<Id, Diagnostic>;

impl Lower<'_> {
    /// A pointer for an atomic operation on a scalar of the source's type.
    fn atomic(&mut self, pointer: Id, scalar: Scalar) -> Lowered {
        let class = self.class(pointer)?;
        let memory = self.classes.memory(class);
        let size = scalar.size();
        if size < 4 {
            let text = format!("an atomic operation on {} bits", size * 8);
            return Err(self.facts.refuse(pointer, &text));
        }
        if size == 8 {
            self.b.capability(Capability::Int64Atomics);
        }
        let (is_physical, element) = (memory.is_physical, memory.element());
        if memory.is_generic() {
            let text = "an atomic operation by a pointer that may be to several kinds of memory";
            return Err(self.facts.refuse(pointer, text));
        }
        let place = Place {
            class,
            pointer: self.pointer(pointer, class)?,
            region: None,
            offset: 0,
            align: size,
            is_volatile: false,
        };
        if is_physical {
            let stored = self.scalar(scalar);
            return Ok(self.physical(place, stored, size));
        }
        if element != scalar {
            let text = "an atomic operation on workgroup memory that is also accessed otherwise";
            return Err(self.facts.refuse(pointer, text));
        }
        self.element(place, 0)
    }

    fn atomic_scalar(&mut self, value: Id) -> Result<Scalar, Diagnostic> {
        match self.scalars(value)? {
            (scalar, 1) => Ok(scalar),
            _ => Err(self.facts.refuse(value, "an atomic operation on a vector")),
        }
    }
}

/// Operations that take an operand and return what was.
pub fn update(l: &mut Lower<'_>, inst: InstRef<'_>) -> Lowered {
    let scalar = l.atomic_scalar(result(inst))?;
    if matches!(scalar, Scalar::Float(_)) && inst.op() != Op::AtomicExchange {
        l.b.capability(match scalar {
            Scalar::Float(32) => Capability::AtomicFloat32AddEXT,
            _ => Capability::AtomicFloat64AddEXT,
        });
        l.b.extension("SPV_EXT_shader_atomic_float_add");
    }
    let pointer = l.atomic(inst.id(0), scalar)?;
    let scope = l.scope(inst.id(1))?;
    let semantics = l.semantics(inst.id(2), Order::Both)?;
    let ty = l.scalar(scalar);
    let mut operands = vec![pointer, scope, semantics];
    if let Some(value) = inst.get_id(3) {
        operands.push(l.value(value)?);
    }
    Ok(l.op(inst.op(), ty, &operands))
}

/// `OpAtomicLoad`.
pub fn load(l: &mut Lower<'_>, inst: InstRef<'_>) -> Lowered {
    let scalar = l.atomic_scalar(result(inst))?;
    let pointer = l.atomic(inst.id(0), scalar)?;
    let scope = l.scope(inst.id(1))?;
    let semantics = l.semantics(inst.id(2), Order::Acquire)?;
    let ty = l.scalar(scalar);
    Ok(l.op(Op::AtomicLoad, ty, &[pointer, scope, semantics]))
}

/// `OpAtomicStore`.
pub fn store(l: &mut Lower<'_>, inst: InstRef<'_>) -> Result<(), Diagnostic> {
    let scalar = l.atomic_scalar(inst.id(3))?;
    let pointer = l.atomic(inst.id(0), scalar)?;
    let scope = l.scope(inst.id(1))?;
    let semantics = l.semantics(inst.id(2), Order::Release)?;
    let value = l.value(inst.id(3))?;
    l.effect(Op::AtomicStore, &[pointer, scope, semantics, value]);
    Ok(())
}

/// `OpAtomicCompareExchange`, weak or not.
pub fn exchange(l: &mut Lower<'_>, inst: InstRef<'_>) -> Lowered {
    let scalar = l.atomic_scalar(result(inst))?;
    let pointer = l.atomic(inst.id(0), scalar)?;
    let scope = l.scope(inst.id(1))?;
    let equal = l.semantics(inst.id(2), Order::Both)?;
    let unequal = l.semantics(inst.id(3), Order::Acquire)?;
    let (value, comparator) = (l.value(inst.id(4))?, l.value(inst.id(5))?);
    let ty = l.scalar(scalar);
    let operands = [pointer, scope, equal, unequal, value, comparator];
    Ok(l.op(Op::AtomicCompareExchange, ty, &operands))
}

/// `OpAtomicFlagTestAndSet`.
pub fn test_and_set(l: &mut Lower<'_>, inst: InstRef<'_>) -> Lowered {
    let pointer = l.atomic(inst.id(0), Scalar::Int(32))?;
    let scope = l.scope(inst.id(1))?;
    let semantics = l.semantics(inst.id(2), Order::Both)?;
    let (word, truth) = (l.int(32), l.b.bool());
    let (one, zero) = (l.number(32, 1), l.number(32, 0));
    let was = l.op(Op::AtomicExchange, word, &[pointer, scope, semantics, one]);
    Ok(l.op(Op::INotEqual, truth, &[was, zero]))
}

/// `OpAtomicFlagClear`.
pub fn clear(l: &mut Lower<'_>, inst: InstRef<'_>) -> Result<(), Diagnostic> {
    let pointer = l.atomic(inst.id(0), Scalar::Int(32))?;
    let scope = l.scope(inst.id(1))?;
    let semantics = l.semantics(inst.id(2), Order::Release)?;
    let zero = l.number(32, 0);
    l.effect(Op::AtomicStore, &[pointer, scope, semantics, zero]);
    Ok(())
}
