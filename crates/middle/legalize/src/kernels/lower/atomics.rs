//! Atomic operations.
//!
//! Operations that Vulkan has become one instruction. Operations on parts of words, and minima and maxima of floats, become a
//! compare-and-exchange loop on the containing word. An operation by a generic pointer becomes one operation for each region. In memory
//! of an invocation an operation needs no atomic instruction, since no other invocation accesses that memory.

use super::ShaderLowering;
use super::barriers::AllowedSemantics;
use super::composites::expect_result;
use super::memory::ShaderMemoryLocation;
use super::subword_memory::ContainingWord;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::points_to::PointerRegion;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl};
use spirula_spirv::ir::InstRef;

/// An atomic operation.
struct ShaderAtomic {
    /// The instruction.
    op: Op,
    /// Type of its memory.
    scalar: MemoryScalar,
    /// Scope, and semantics of success and failure.
    scope: Id,
    semantics: [Id; 2],
    /// Operands: none, a value, or a value and the comparator.
    values: Vec<Id>,
}

impl ShaderAtomic {
    /// Whether it is a loop that exchanges the containing word.
    fn is_loop(&self) -> bool {
        let is_bound = matches!(self.op, Op::AtomicFMinEXT | Op::AtomicFMaxEXT);
        self.scalar.size() < 4 || is_bound
    }
}

impl ShaderLowering<'_> {
    /// Lowers an operation on the pointee of a pointer of the source; returns the old value.
    fn lower_atomic(&mut self, pointer: Id, atomic: &ShaderAtomic) -> Result<Id, SourceDiagnostic> {
        if self.is_nowhere(pointer) {
            return Ok(self.make_zero(atomic.scalar));
        }
        let set = self.find_points_to_set(pointer)?;
        let place = ShaderMemoryLocation {
            set,
            pointer: self.lower_pointer(pointer, set)?,
            region: None,
            offset: 0,
            align: atomic.scalar.size(),
            is_volatile: false,
        };
        match self.find_region(place) {
            Some(region) => self.emit_atomic_in_region(place, region, atomic),
            None => {
                let mut ways = Vec::new();
                self.branch_by_region(place, |l, place| {
                    let region = place.region.unwrap_or(PointerRegion::Own);
                    let was = l.emit_atomic_in_region(place, region, atomic)?;
                    ways.extend([was.word(), l.kernel.open.word()]);
                    Ok(())
                })?;
                let ty = self.make_scalar_type(atomic.scalar);
                let (was, phi) = self.b.append_phi(ty);
                self.b.set_phi(phi, &ways);
                Ok(was)
            }
        }
    }

    fn emit_atomic_in_region(
        &mut self,
        place: ShaderMemoryLocation,
        region: PointerRegion,
        atomic: &ShaderAtomic,
    ) -> Result<Id, SourceDiagnostic> {
        let scalar = atomic.scalar;
        let (size, element) = (
            scalar.size(),
            self.points_to.memory(place.set).element_scalar(),
        );
        if region == PointerRegion::Own {
            let was = self.load_scalars(place, scalar, 1)?;
            if let Some(new) = self.apply_atomic(atomic, was) {
                self.store_scalars(place, scalar, 1, new)?;
            }
            return Ok(was);
        }
        if region == PointerRegion::Buffer {
            if size < 4 {
                let around = self.find_buffer_word(place, size);
                return Ok(self.emit_subword_atomic(around, atomic));
            }
            let kept = if atomic.is_loop() {
                MemoryScalar::Int(size * 8)
            } else {
                scalar
            };
            let stored = self.make_scalar_type(kept);
            let pointer = self.make_buffer_pointer(place, stored);
            return self.emit_scalar_atomic(pointer, kept, atomic);
        }
        // Workgroup memory is an array of the type of its largest atomic operation.
        if element.size() > size {
            let around = self.find_containing_word(place, size)?;
            return Ok(self.emit_subword_atomic(around, atomic));
        }
        let pointer = self.make_element_pointer(place, 0)?;
        self.emit_scalar_atomic(pointer, element, atomic)
    }

    /// The operation on a scalar of its size.
    fn emit_scalar_atomic(
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
            let values = atomic
                .values
                .iter()
                .map(|v| self.bitcast_scalar(*v, scalar, kept));
            let values: Vec<Id> = values.collect();
            let was = self.emit_atomic(pointer, kept, atomic, &values);
            return Ok(self.bitcast_scalar(was, kept, scalar));
        }
        if !matches!(kept, MemoryScalar::Int(_)) {
            // Only integers can be compared and exchanged.
            let text = format!("{} on workgroup memory of floats", atomic.op);
            return Err(crate::error::diagnose_unsupported(&text));
        }
        Ok(self.emit_exchange_loop(
            pointer,
            kept,
            atomic,
            |l, word| l.bitcast_scalar(word, kept, scalar),
            |l, _, new| l.bitcast_scalar(new, scalar, kept),
        ))
    }

    /// The word in a buffer that contains a part.
    fn find_buffer_word(&mut self, place: ShaderMemoryLocation, size: u32) -> ContainingWord {
        let (wide, narrow) = (self.make_int_type(64), self.make_int_type(32));
        let address = self.add_byte_offset(64, place.pointer, place.offset as i64);
        let (mask, low) = (
            self.make_uint_constant(64, !3),
            self.make_uint_constant(64, 3),
        );
        let around = self.emit_value(Op::BitwiseAnd, wide, &[address, mask]);
        let at = self.emit_value(Op::BitwiseAnd, wide, &[address, low]);
        let at = self.resize_int(at, 64, 32);
        let three = self.make_uint_constant(32, 3);
        let shift = self.emit_value(Op::ShiftLeftLogical, narrow, &[at, three]);
        let around = ShaderMemoryLocation {
            pointer: around,
            offset: 0,
            align: 4,
            ..place
        };
        ContainingWord {
            pointer: self.make_buffer_pointer(around, narrow),
            width: 32,
            part: size * 8,
            shift,
        }
    }

    /// The operation on a part of the containing word.
    fn emit_subword_atomic(&mut self, around: ContainingWord, atomic: &ShaderAtomic) -> Id {
        let (scalar, bits) = (atomic.scalar, MemoryScalar::Int(around.part));
        let hole = self.make_hole_mask(around);
        self.emit_exchange_loop(
            around.pointer,
            MemoryScalar::Int(around.width),
            atomic,
            |l, whole| {
                let part = l.extract_part(around, whole);
                l.bitcast_scalar(part, bits, scalar)
            },
            |l, whole, new| {
                let part = l.bitcast_scalar(new, scalar, bits);
                l.with_part(around, hole, whole, part)
            },
        )
    }

    /// A loop that exchanges a word for the result of the operation.
    fn emit_exchange_loop(
        &mut self,
        pointer: Id,
        word: MemoryScalar,
        atomic: &ShaderAtomic,
        part: impl FnOnce(&mut Self, Id) -> Id,
        whole: impl FnOnce(&mut Self, Id, Id) -> Id,
    ) -> Id {
        let (ty, truth) = (self.make_scalar_type(word), self.b.bool_type());
        let ShaderAtomic { scope, .. } = *atomic;
        let relaxed = self.make_uint_constant(32, 0);
        let first = self.emit_value(Op::AtomicLoad, ty, &[pointer, scope, relaxed]);
        let before = self.kernel.open;
        let [header, after] = [(); 2].map(|()| self.b.fresh_id());
        self.emit_effect(Op::Branch, &[header]);
        self.begin_block(header);
        let (known, phi) = self.b.append_phi(ty);
        let was = part(self, known);
        let new = match self.apply_atomic(atomic, was) {
            Some(new) => whole(self, known, new),
            None => known,
        };
        let [success, failure] = atomic.semantics;
        let operands = [pointer, scope, success, failure, new, known];
        let found = self.emit_value(Op::AtomicCompareExchange, ty, &operands);
        let is_done = self.emit_value(Op::IEqual, truth, &[found, known]);
        let last = self.kernel.open;
        self.emit_effect(Op::BranchConditional, &[is_done, after, header]);
        self.b
            .set_phi(phi, &[first, before, found, last].map(Id::word));
        self.begin_block(after);
        was
    }

    /// The operation as one instruction.
    fn emit_atomic(
        &mut self,
        pointer: Id,
        kept: MemoryScalar,
        atomic: &ShaderAtomic,
        values: &[Id],
    ) -> Id {
        let ty = self.make_scalar_type(kept);
        let [success, failure] = atomic.semantics;
        let mut operands = vec![pointer, atomic.scope, success];
        if atomic.op == Op::AtomicCompareExchange {
            operands.push(failure);
        }
        operands.extend(values);
        if atomic.op == Op::AtomicStore {
            self.emit_effect(Op::AtomicStore, &operands);
            return values[0];
        }
        self.emit_value(atomic.op, ty, &operands)
    }

    /// The new value after an operation; `None` where it only reads.
    fn apply_atomic(&mut self, atomic: &ShaderAtomic, was: Id) -> Option<Id> {
        let (ty, truth) = (self.make_scalar_type(atomic.scalar), self.b.bool_type());
        let value = atomic.values.first().copied();
        let width = atomic.scalar.size() * 8;
        let value = match (atomic.op, value) {
            (Op::AtomicLoad, _) => return None,
            (Op::AtomicIIncrement | Op::AtomicIDecrement, _) => self.make_uint_constant(width, 1),
            (_, value) => value?,
        };
        let chosen = |l: &mut Self, comparison: Op| {
            let is_new = l.emit_value(comparison, truth, &[value, was]);
            l.emit_value(Op::Select, ty, &[is_new, value, was])
        };
        Some(match atomic.op {
            Op::AtomicIIncrement | Op::AtomicIAdd => self.emit_value(Op::IAdd, ty, &[was, value]),
            Op::AtomicIDecrement | Op::AtomicISub => self.emit_value(Op::ISub, ty, &[was, value]),
            Op::AtomicAnd => self.emit_value(Op::BitwiseAnd, ty, &[was, value]),
            Op::AtomicOr => self.emit_value(Op::BitwiseOr, ty, &[was, value]),
            Op::AtomicXor => self.emit_value(Op::BitwiseXor, ty, &[was, value]),
            Op::AtomicSMin => chosen(self, Op::SLessThan),
            Op::AtomicUMin => chosen(self, Op::ULessThan),
            Op::AtomicSMax => chosen(self, Op::SGreaterThan),
            Op::AtomicUMax => chosen(self, Op::UGreaterThan),
            Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
                self.apply_float_atomic(atomic, [was, value])
            }
            Op::AtomicCompareExchange => {
                let is_same = self.emit_value(Op::IEqual, truth, &[was, atomic.values[1]]);
                self.emit_value(Op::Select, ty, &[is_same, value, was])
            }
            _ => value,
        })
    }

    /// The new value after an operation on floats.
    fn apply_float_atomic(&mut self, atomic: &ShaderAtomic, v: [Id; 2]) -> Id {
        let (op, is_bfloat16) = (atomic.op, atomic.scalar == MemoryScalar::Bfloat16);
        let of = if is_bfloat16 {
            MemoryScalar::Float(32)
        } else {
            atomic.scalar
        };
        let ty = self.make_scalar_type(of);
        let make = |l: &mut Self, v: &[Id]| match op {
            Op::AtomicFAddEXT => l.emit_value(Op::FAdd, ty, v),
            Op::AtomicFMinEXT => l.emit_glsl(glsl::NMIN, ty, v),
            _ => l.emit_glsl(glsl::NMAX, ty, v),
        };
        if is_bfloat16 {
            self.compute_in_singles(&v, make)
        } else {
            make(self, &v)
        }
    }

    fn atomic_scalar(&mut self, value: Id) -> Result<MemoryScalar, SourceDiagnostic> {
        match self.find_component_scalar(value)? {
            (scalar, 1) => Ok(scalar),
            _ => Err(self
                .info
                .diagnose_id(value, "an atomic operation on a vector")),
        }
    }
}

/// Operations with at most one operand that return the old value.
pub fn lower_atomic_update(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let scalar = l.atomic_scalar(expect_result(inst))?;
    let semantics = l.lower_semantics(
        inst.id_operand(2),
        inst.id_operand(1),
        AllowedSemantics::Both,
    )?;
    let failure = l.lower_semantics(
        inst.id_operand(2),
        inst.id_operand(1),
        AllowedSemantics::Acquire,
    )?;
    let value = inst
        .get_id(3)
        .map(|value| l.lower_operand(value))
        .transpose()?;
    let atomic = ShaderAtomic {
        op: inst.op(),
        scalar,
        scope: l.lower_scope(inst.id_operand(1))?,
        semantics: [semantics, failure],
        values: value.into_iter().collect(),
    };
    l.lower_atomic(inst.id_operand(0), &atomic)
}

/// `OpAtomicLoad`.
pub fn lower_atomic_load(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let scalar = l.atomic_scalar(expect_result(inst))?;
    let semantics = l.lower_semantics(
        inst.id_operand(2),
        inst.id_operand(1),
        AllowedSemantics::Acquire,
    )?;
    let atomic = ShaderAtomic {
        op: Op::AtomicLoad,
        scalar,
        scope: l.lower_scope(inst.id_operand(1))?,
        semantics: [semantics; 2],
        values: Vec::new(),
    };
    l.lower_atomic(inst.id_operand(0), &atomic)
}

/// `OpAtomicStore`.
pub fn lower_atomic_store(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    let scalar = l.atomic_scalar(inst.id_operand(3))?;
    let semantics = l.lower_semantics(
        inst.id_operand(2),
        inst.id_operand(1),
        AllowedSemantics::Release,
    )?;
    let relaxed = l.make_uint_constant(32, 0);
    let atomic = ShaderAtomic {
        op: Op::AtomicStore,
        scalar,
        scope: l.lower_scope(inst.id_operand(1))?,
        semantics: [semantics, relaxed],
        values: vec![l.lower_operand(inst.id_operand(3))?],
    };
    l.lower_atomic(inst.id_operand(0), &atomic)?;
    Ok(())
}

/// `OpAtomicCompareExchange`, weak or not.
pub fn lower_compare_exchange(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let scalar = l.atomic_scalar(expect_result(inst))?;
    let equal = l.lower_semantics(
        inst.id_operand(2),
        inst.id_operand(1),
        AllowedSemantics::Both,
    )?;
    let unequal = l.lower_semantics(
        inst.id_operand(3),
        inst.id_operand(1),
        AllowedSemantics::Acquire,
    )?;
    let atomic = ShaderAtomic {
        op: Op::AtomicCompareExchange,
        scalar,
        scope: l.lower_scope(inst.id_operand(1))?,
        semantics: [equal, unequal],
        values: vec![
            l.lower_operand(inst.id_operand(4))?,
            l.lower_operand(inst.id_operand(5))?,
        ],
    };
    l.lower_atomic(inst.id_operand(0), &atomic)
}

/// A flag: a word that is zero or not.
fn exchange_flag(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
    op: Op,
    value: u64,
) -> Result<Id, SourceDiagnostic> {
    let order = match op {
        Op::AtomicStore => AllowedSemantics::Release,
        _ => AllowedSemantics::Both,
    };
    let semantics = l.lower_semantics(inst.id_operand(2), inst.id_operand(1), order)?;
    let atomic = ShaderAtomic {
        op,
        scalar: MemoryScalar::Int(32),
        scope: l.lower_scope(inst.id_operand(1))?,
        semantics: [semantics; 2],
        values: vec![l.make_uint_constant(32, value)],
    };
    l.lower_atomic(inst.id_operand(0), &atomic)
}

/// `OpAtomicFlagTestAndSet`.
pub fn test_and_set(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let was = exchange_flag(l, inst, Op::AtomicExchange, 1)?;
    let (truth, zero) = (l.b.bool_type(), l.make_uint_constant(32, 0));
    Ok(l.emit_value(Op::INotEqual, truth, &[was, zero]))
}

/// `OpAtomicFlagClear`.
pub fn lower_flag_clear(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    exchange_flag(l, inst, Op::AtomicStore, 0)?;
    Ok(())
}
