//! Parts of words of memory that atomic operations need in words.
//!
//! What an invocation stores into a part must not undo what others do to the rest of the word meanwhile, so that in
//! memory of the workgroup bits are cleared and set by atomic operations.

use super::ShaderLowering;
use super::memory::ShaderMemoryLocation;
use crate::classes::PointerRegion;
use crate::facts::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Capability, Scope};

/// The word around a part.
#[derive(Clone, Copy)]
pub struct ContainingWord {
    /// A pointer to it.
    pub pointer: Id,
    /// Its bits.
    pub width: u32,
    /// Bits of the part.
    pub part: u32,
    /// The part's first bit.
    pub shift: Id,
}

impl ShaderLowering<'_> {
    /// The element of the array of a class that a part of `size` bytes is in.
    pub fn around(
        &mut self,
        place: ShaderMemoryLocation,
        size: u32,
    ) -> Result<ContainingWord, SourceDiagnostic> {
        let element = self.classes.memory(place.class).element();
        let pointer = self.element(place, 0)?;
        let at = self.plus(32, place.pointer, place.offset as i64);
        let (ty, low, three) = (
            self.int(32),
            self.number(32, u64::from(element.size()) - 1),
            self.number(32, 3),
        );
        let at = self.op(Op::BitwiseAnd, ty, &[at, low]);
        Ok(ContainingWord {
            pointer,
            width: element.size() * 8,
            part: size * 8,
            shift: self.op(Op::ShiftLeftLogical, ty, &[at, three]),
        })
    }

    /// A part of a word.
    pub fn part_of(&mut self, around: ContainingWord, word: Id) -> Id {
        let ty = self.int(around.width);
        let moved = self.op(Op::ShiftRightLogical, ty, &[word, around.shift]);
        self.resize(moved, around.width, around.part)
    }

    /// A part at its place in a word of zeros.
    fn placed(&mut self, around: ContainingWord, part: Id) -> Id {
        let ty = self.int(around.width);
        let part = self.resize(part, around.part, around.width);
        self.op(Op::ShiftLeftLogical, ty, &[part, around.shift])
    }

    /// Ones everywhere but at a part's place.
    pub fn hole(&mut self, around: ContainingWord) -> Id {
        let ty = self.int(around.width);
        let ones = self.number(around.width, u64::MAX >> (64 - around.part));
        let ones = self.op(Op::ShiftLeftLogical, ty, &[ones, around.shift]);
        self.op(Op::Not, ty, &[ones])
    }

    /// A word with another part.
    pub fn with_part(&mut self, around: ContainingWord, hole: Id, word: Id, part: Id) -> Id {
        let ty = self.int(around.width);
        let part = self.placed(around, part);
        let rest = self.op(Op::BitwiseAnd, ty, &[word, hole]);
        self.op(Op::BitwiseOr, ty, &[rest, part])
    }

    /// Loads a scalar in parts of `unit` bytes, or as one.
    pub fn load_packed(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        unit: u32,
    ) -> Result<Id, SourceDiagnostic> {
        let size = unit.min(scalar.size());
        let mut parts = Vec::new();
        for n in 0..scalar.size() / size {
            let place = place.after(u64::from(n * size));
            let around = self.around(place, size)?;
            let ty = self.int(around.width);
            let pointer = around.pointer;
            let word = match self.object_flags(place) {
                Some(flags) => self.b.value(Op::Load, ty, &[pointer.word(), flags]),
                None => self.op(Op::Load, ty, &[pointer]),
            };
            parts.push(self.part_of(around, word));
        }
        Ok(self.join_pieces(parts, MemoryScalar::Int(size * 8), scalar))
    }

    /// Stores one.
    pub fn store_packed(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        unit: u32,
        value: Id,
    ) -> Result<(), SourceDiagnostic> {
        let size = unit.min(scalar.size());
        let parts = self.split_pieces(value, scalar, MemoryScalar::Int(size * 8));
        for (n, part) in parts.into_iter().enumerate() {
            let place = place.after(n as u64 * u64::from(size));
            let around = self.around(place, size)?;
            let (ty, hole) = (self.int(around.width), self.hole(around));
            if self.region(place) == Some(PointerRegion::Shared) {
                if around.width == 64 {
                    self.b.capability(Capability::Int64Atomics);
                }
                let part = self.placed(around, part);
                let scope = self.b.constant_u32(Scope::Workgroup.0);
                let relaxed = self.number(32, 0);
                for (op, operand) in [(Op::AtomicAnd, hole), (Op::AtomicOr, part)] {
                    self.op(op, ty, &[around.pointer, scope, relaxed, operand]);
                }
                continue;
            }
            let word = self.op(Op::Load, ty, &[around.pointer]);
            let word = self.with_part(around, hole, word, part);
            self.effect(Op::Store, &[around.pointer, word]);
        }
        Ok(())
    }
}
