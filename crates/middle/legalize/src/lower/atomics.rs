//! Atomic operations.
//!
//! Those that Vulkan has are instructions. Smaller ones than words, and minima and maxima of floats, are a
//! loop that exchanges the word around them until nobody came between. By a pointer that may be to several
//! regions there is one operation for each; in memory of an invocation it is none, as nobody else sees it.

use super::ShaderLowering;
use super::barriers::AllowedSemantics;
use super::composites::result;
use super::memory::ShaderMemoryLocation;
use super::packed::ContainingWord;
use crate::classes::PointerRegion;
use crate::facts::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

/// An atomic operation.
struct ShaderAtomic {
    /// The instruction.
    op: Op,
    /// What it is on.
    scalar: MemoryScalar,
    /// Scope, and semantics of success and failure.
    scope: Id,
    semantics: [Id; 2],
    /// Operands: nothing, a value, or a value and what it replaces.
    values: Vec<Id>,
}

impl ShaderAtomic {
    /// Whether it is done by exchanging the word around.
    fn is_loop(&self) -> bool {
        let is_bound = matches!(self.op, Op::AtomicFMinEXT | Op::AtomicFMaxEXT);
        self.scalar.size() < 4 || is_bound
    }
}

impl ShaderLowering<'_> {
    /// Lowers an operation on what a pointer of the source leads to: what was there.
    fn atomic(&mut self, pointer: Id, atomic: &ShaderAtomic) -> Result<Id, SourceDiagnostic> {
        if self.is_nowhere(pointer) {
            return Ok(self.nothing(atomic.scalar));
        }
        let class = self.class(pointer)?;
        let place = ShaderMemoryLocation {
            class,
            pointer: self.pointer(pointer, class)?,
            region: None,
            offset: 0,
            align: atomic.scalar.size(),
            is_volatile: false,
        };
        match self.region(place) {
            Some(region) => self.atomic_in(place, region, atomic),
            None => {
                let mut ways = Vec::new();
                self.by_region(place, |l, place| {
                    let region = place.region.unwrap_or(PointerRegion::Own);
                    let was = l.atomic_in(place, region, atomic)?;
                    ways.extend([was.word(), l.kernel.open.word()]);
                    Ok(())
                })?;
                let ty = self.scalar(atomic.scalar);
                let (was, phi) = self.b.phi(ty);
                self.b.set_phi(phi, &ways);
                Ok(was)
            }
        }
    }

    fn atomic_in(
        &mut self,
        place: ShaderMemoryLocation,
        region: PointerRegion,
        atomic: &ShaderAtomic,
    ) -> Result<Id, SourceDiagnostic> {
        let scalar = atomic.scalar;
        let (size, element) = (scalar.size(), self.classes.memory(place.class).element());
        if region == PointerRegion::Own {
            let was = self.load_scalars(place, scalar, 1)?;
            if let Some(new) = self.applied(atomic, was) {
                self.store_scalars(place, scalar, 1, new)?;
            }
            return Ok(was);
        }
        if size == 8 {
            self.b.capability(Capability::Int64Atomics);
        }
        if region == PointerRegion::Buffer {
            if size < 4 {
                let around = self.around_address(place, size);
                return Ok(self.atomic_within(around, atomic));
            }
            let kept = if atomic.is_loop() {
                MemoryScalar::Int(size * 8)
            } else {
                scalar
            };
            let stored = self.scalar(kept);
            let pointer = self.physical(place, stored, size);
            return self.atomic_on(pointer, kept, atomic);
        }
        // Workgroup memory is an array of what the largest of its atomic operations is on.
        if element.size() > size {
            if element.size() == 8 {
                self.b.capability(Capability::Int64Atomics);
            }
            let around = self.around(place, size)?;
            return Ok(self.atomic_within(around, atomic));
        }
        let pointer = self.element(place, 0)?;
        self.atomic_on(pointer, element, atomic)
    }

    /// The operation on a scalar of its size.
    fn atomic_on(
        &mut self,
        pointer: Id,
        kept: MemoryScalar,
        atomic: &ShaderAtomic,
    ) -> Result<Id, SourceDiagnostic> {
        let scalar = atomic.scalar;
        let is_moved = matches!(
            atomic.op,
            Op::AtomicLoad | Op::AtomicStore | Op::AtomicExchange
        );
        if !atomic.is_loop() && (kept == scalar || is_moved) {
            let values = atomic.values.iter().map(|v| self.cast(*v, scalar, kept));
            let values: Vec<Id> = values.collect();
            let was = self.instruction(pointer, kept, atomic, &values);
            return Ok(self.cast(was, kept, scalar));
        }
        if !matches!(kept, MemoryScalar::Int(_)) {
            // Nothing but integers can be compared and exchanged.
            let text = format!("{} on workgroup memory of floats", atomic.op);
            return Err(crate::facts::refusal(&text));
        }
        Ok(self.exchanged(
            pointer,
            kept,
            atomic,
            |l, word| l.cast(word, kept, scalar),
            |l, _, new| l.cast(new, scalar, kept),
        ))
    }

    /// The word in a buffer around a part of it.
    fn around_address(&mut self, place: ShaderMemoryLocation, size: u32) -> ContainingWord {
        let (wide, narrow) = (self.int(64), self.int(32));
        let address = self.plus(64, place.pointer, place.offset as i64);
        let (mask, low) = (self.number(64, !3), self.number(64, 3));
        let around = self.op(Op::BitwiseAnd, wide, &[address, mask]);
        let at = self.op(Op::BitwiseAnd, wide, &[address, low]);
        let at = self.resize(at, 64, 32);
        let three = self.number(32, 3);
        let shift = self.op(Op::ShiftLeftLogical, narrow, &[at, three]);
        let around = ShaderMemoryLocation {
            pointer: around,
            offset: 0,
            align: 4,
            ..place
        };
        ContainingWord {
            pointer: self.physical(around, narrow, 4),
            width: 32,
            part: size * 8,
            shift,
        }
    }

    /// The operation on a part of the word around it.
    fn atomic_within(&mut self, around: ContainingWord, atomic: &ShaderAtomic) -> Id {
        let (scalar, bits) = (atomic.scalar, MemoryScalar::Int(around.part));
        let hole = self.hole(around);
        self.exchanged(
            around.pointer,
            MemoryScalar::Int(around.width),
            atomic,
            |l, whole| {
                let part = l.part_of(around, whole);
                l.cast(part, bits, scalar)
            },
            |l, whole, new| {
                let part = l.cast(new, scalar, bits);
                l.with_part(around, hole, whole, part)
            },
        )
    }

    /// A loop that exchanges a word for what the operation makes of it.
    fn exchanged(
        &mut self,
        pointer: Id,
        word: MemoryScalar,
        atomic: &ShaderAtomic,
        part: impl FnOnce(&mut Self, Id) -> Id,
        whole: impl FnOnce(&mut Self, Id, Id) -> Id,
    ) -> Id {
        let (ty, truth) = (self.scalar(word), self.b.bool());
        let ShaderAtomic { scope, .. } = *atomic;
        let relaxed = self.number(32, 0);
        let first = self.op(Op::AtomicLoad, ty, &[pointer, scope, relaxed]);
        let before = self.kernel.open;
        let [header, after] = [(); 2].map(|()| self.b.fresh_id());
        self.effect(Op::Branch, &[header]);
        self.begin(header);
        let (known, phi) = self.b.phi(ty);
        let was = part(self, known);
        let new = match self.applied(atomic, was) {
            Some(new) => whole(self, known, new),
            None => known,
        };
        let [success, failure] = atomic.semantics;
        let operands = [pointer, scope, success, failure, new, known];
        let found = self.op(Op::AtomicCompareExchange, ty, &operands);
        let is_done = self.op(Op::IEqual, truth, &[found, known]);
        let last = self.kernel.open;
        self.effect(Op::BranchConditional, &[is_done, after, header]);
        self.b
            .set_phi(phi, &[first, before, found, last].map(Id::word));
        self.begin(after);
        was
    }

    /// The operation as one instruction.
    fn instruction(
        &mut self,
        pointer: Id,
        kept: MemoryScalar,
        atomic: &ShaderAtomic,
        values: &[Id],
    ) -> Id {
        let ty = self.scalar(kept);
        let [success, failure] = atomic.semantics;
        let mut operands = vec![pointer, atomic.scope, success];
        if atomic.op == Op::AtomicCompareExchange {
            operands.push(failure);
        }
        operands.extend(values);
        if atomic.op == Op::AtomicStore {
            self.effect(Op::AtomicStore, &operands);
            return values[0];
        }
        if atomic.op == Op::AtomicFAddEXT {
            self.b.capability(match kept {
                MemoryScalar::Float(32) => Capability::AtomicFloat32AddEXT,
                _ => Capability::AtomicFloat64AddEXT,
            });
            self.b.extension("SPV_EXT_shader_atomic_float_add");
        }
        self.op(atomic.op, ty, &operands)
    }

    /// What an operation leaves behind; none where it only reads.
    fn applied(&mut self, atomic: &ShaderAtomic, was: Id) -> Option<Id> {
        let (ty, truth) = (self.scalar(atomic.scalar), self.b.bool());
        let value = atomic.values.first().copied();
        let width = atomic.scalar.size() * 8;
        let value = match (atomic.op, value) {
            (Op::AtomicLoad, _) => return None,
            (Op::AtomicIIncrement | Op::AtomicIDecrement, _) => self.number(width, 1),
            (_, value) => value?,
        };
        let chosen = |l: &mut Self, comparison: Op| {
            let is_new = l.op(comparison, truth, &[value, was]);
            l.op(Op::Select, ty, &[is_new, value, was])
        };
        Some(match atomic.op {
            Op::AtomicIIncrement | Op::AtomicIAdd => self.op(Op::IAdd, ty, &[was, value]),
            Op::AtomicIDecrement | Op::AtomicISub => self.op(Op::ISub, ty, &[was, value]),
            Op::AtomicAnd => self.op(Op::BitwiseAnd, ty, &[was, value]),
            Op::AtomicOr => self.op(Op::BitwiseOr, ty, &[was, value]),
            Op::AtomicXor => self.op(Op::BitwiseXor, ty, &[was, value]),
            Op::AtomicSMin => chosen(self, Op::SLessThan),
            Op::AtomicUMin => chosen(self, Op::ULessThan),
            Op::AtomicSMax => chosen(self, Op::SGreaterThan),
            Op::AtomicUMax => chosen(self, Op::UGreaterThan),
            Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
                self.float_applied(atomic, [was, value])
            }
            Op::AtomicCompareExchange => {
                let is_same = self.op(Op::IEqual, truth, &[was, atomic.values[1]]);
                self.op(Op::Select, ty, &[is_same, value, was])
            }
            _ => value,
        })
    }

    /// The same of floats.
    fn float_applied(&mut self, atomic: &ShaderAtomic, v: [Id; 2]) -> Id {
        let (op, is_brain) = (atomic.op, atomic.scalar == MemoryScalar::Brain);
        let of = if is_brain {
            MemoryScalar::Float(32)
        } else {
            atomic.scalar
        };
        let ty = self.scalar(of);
        let make = |l: &mut Self, v: &[Id]| match op {
            Op::AtomicFAddEXT => l.op(Op::FAdd, ty, v),
            Op::AtomicFMinEXT => l.glsl(glsl::NMIN, ty, v),
            _ => l.glsl(glsl::NMAX, ty, v),
        };
        match is_brain {
            true => self.by_singles(&v, make),
            false => make(self, &v),
        }
    }

    fn atomic_scalar(&mut self, value: Id) -> Result<MemoryScalar, SourceDiagnostic> {
        match self.scalars(value)? {
            (scalar, 1) => Ok(scalar),
            _ => Err(self.facts.refuse(value, "an atomic operation on a vector")),
        }
    }
}

/// Operations that take an operand or none and return what was.
pub fn update(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let scalar = l.atomic_scalar(result(inst))?;
    let semantics = l.semantics(inst.id(2), inst.id(1), AllowedSemantics::Both)?;
    let failure = l.semantics(inst.id(2), inst.id(1), AllowedSemantics::Acquire)?;
    let value = inst.get_id(3).map(|value| l.value(value)).transpose()?;
    let atomic = ShaderAtomic {
        op: inst.op(),
        scalar,
        scope: l.scope(inst.id(1))?,
        semantics: [semantics, failure],
        values: value.into_iter().collect(),
    };
    l.atomic(inst.id(0), &atomic)
}

/// `OpAtomicLoad`.
pub fn load(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let scalar = l.atomic_scalar(result(inst))?;
    let semantics = l.semantics(inst.id(2), inst.id(1), AllowedSemantics::Acquire)?;
    let atomic = ShaderAtomic {
        op: Op::AtomicLoad,
        scalar,
        scope: l.scope(inst.id(1))?,
        semantics: [semantics; 2],
        values: Vec::new(),
    };
    l.atomic(inst.id(0), &atomic)
}

/// `OpAtomicStore`.
pub fn store(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
    let scalar = l.atomic_scalar(inst.id(3))?;
    let semantics = l.semantics(inst.id(2), inst.id(1), AllowedSemantics::Release)?;
    let relaxed = l.number(32, 0);
    let atomic = ShaderAtomic {
        op: Op::AtomicStore,
        scalar,
        scope: l.scope(inst.id(1))?,
        semantics: [semantics, relaxed],
        values: vec![l.value(inst.id(3))?],
    };
    l.atomic(inst.id(0), &atomic)?;
    Ok(())
}

/// `OpAtomicCompareExchange`, weak or not.
pub fn exchange(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let scalar = l.atomic_scalar(result(inst))?;
    let equal = l.semantics(inst.id(2), inst.id(1), AllowedSemantics::Both)?;
    let unequal = l.semantics(inst.id(3), inst.id(1), AllowedSemantics::Acquire)?;
    let atomic = ShaderAtomic {
        op: Op::AtomicCompareExchange,
        scalar,
        scope: l.scope(inst.id(1))?,
        semantics: [equal, unequal],
        values: vec![l.value(inst.id(4))?, l.value(inst.id(5))?],
    };
    l.atomic(inst.id(0), &atomic)
}

/// A flag, which is a word that is zero or not.
fn flag(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
    op: Op,
    value: u64,
) -> Result<Id, SourceDiagnostic> {
    let order = match op {
        Op::AtomicStore => AllowedSemantics::Release,
        _ => AllowedSemantics::Both,
    };
    let semantics = l.semantics(inst.id(2), inst.id(1), order)?;
    let atomic = ShaderAtomic {
        op,
        scalar: MemoryScalar::Int(32),
        scope: l.scope(inst.id(1))?,
        semantics: [semantics; 2],
        values: vec![l.number(32, value)],
    };
    l.atomic(inst.id(0), &atomic)
}

/// `OpAtomicFlagTestAndSet`.
pub fn test_and_set(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let was = flag(l, inst, Op::AtomicExchange, 1)?;
    let (truth, zero) = (l.b.bool(), l.number(32, 0));
    Ok(l.op(Op::INotEqual, truth, &[was, zero]))
}

/// `OpAtomicFlagClear`.
pub fn clear(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
    flag(l, inst, Op::AtomicStore, 0)?;
    Ok(())
}
