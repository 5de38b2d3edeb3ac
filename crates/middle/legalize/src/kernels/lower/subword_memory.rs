//! Subword memory: parts of words whose atomic operations need whole words.
//!
//! A store to a part must not undo concurrent stores to the rest of the word. In workgroup memory its bits are therefore cleared and set
//! by atomic operations.

use super::ShaderLowering;
use super::memory::ShaderMemoryLocation;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::points_to::PointerRegion;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Scope;

/// The word that contains a part.
#[derive(Clone, Copy)]
pub struct ContainingWord {
    /// A pointer to the word.
    pub pointer: Id,
    /// Bits of the word.
    pub width: u32,
    /// Bits of the part.
    pub part: u32,
    /// First bit of the part.
    pub shift: Id,
}

impl ShaderLowering<'_> {
    /// The element of a set's array that contains a part of `size` bytes.
    pub fn find_containing_word(
        &mut self,
        place: ShaderMemoryLocation,
        size: u32,
    ) -> Result<ContainingWord, SourceDiagnostic> {
        let element = self.points_to.memory(place.set).element_scalar();
        let pointer = self.make_element_pointer(place, 0)?;
        let at = self.add_byte_offset(32, place.pointer, place.offset as i64);
        let (ty, low, three) = (
            self.make_int_type(32),
            self.make_uint_constant(32, u64::from(element.size()) - 1),
            self.make_uint_constant(32, 3),
        );
        let at = self.emit_value(Op::BitwiseAnd, ty, &[at, low]);
        Ok(ContainingWord {
            pointer,
            width: element.size() * 8,
            part: size * 8,
            shift: self.emit_value(Op::ShiftLeftLogical, ty, &[at, three]),
        })
    }

    /// Extracts a part of a word.
    pub fn extract_part(&mut self, around: ContainingWord, word: Id) -> Id {
        let ty = self.make_int_type(around.width);
        let moved = self.emit_value(Op::ShiftRightLogical, ty, &[word, around.shift]);
        self.resize_int(moved, around.width, around.part)
    }

    /// Shifts a part to its position in a word of zeros.
    fn shift_into_word(&mut self, around: ContainingWord, part: Id) -> Id {
        let ty = self.make_int_type(around.width);
        let part = self.resize_int(part, around.part, around.width);
        self.emit_value(Op::ShiftLeftLogical, ty, &[part, around.shift])
    }

    /// A mask of ones except for a part's bits.
    pub fn make_hole_mask(&mut self, around: ContainingWord) -> Id {
        let ty = self.make_int_type(around.width);
        let ones = self.make_uint_constant(around.width, u64::MAX >> (64 - around.part));
        let ones = self.emit_value(Op::ShiftLeftLogical, ty, &[ones, around.shift]);
        self.emit_value(Op::Not, ty, &[ones])
    }

    /// Replaces a part of a word.
    pub fn with_part(&mut self, around: ContainingWord, hole: Id, word: Id, part: Id) -> Id {
        let ty = self.make_int_type(around.width);
        let part = self.shift_into_word(around, part);
        let rest = self.emit_value(Op::BitwiseAnd, ty, &[word, hole]);
        self.emit_value(Op::BitwiseOr, ty, &[rest, part])
    }

    /// Loads a scalar in parts of `unit` bytes, or whole.
    pub fn load_packed(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        unit: u32,
    ) -> Result<Id, SourceDiagnostic> {
        let size = unit.min(scalar.size());
        let mut parts = Vec::new();
        for n in 0..scalar.size() / size {
            let place = place.advance_by(u64::from(n * size));
            let around = self.find_containing_word(place, size)?;
            let ty = self.make_int_type(around.width);
            let pointer = around.pointer;
            let word = match self.object_flags(place) {
                Some(flags) => self.b.append_value(Op::Load, ty, &[pointer.word(), flags]),
                None => self.emit_value(Op::Load, ty, &[pointer]),
            };
            parts.push(self.extract_part(around, word));
        }
        Ok(self.join_pieces(parts, MemoryScalar::Int(size * 8), scalar))
    }

    /// Stores a scalar in parts of `unit` bytes, or whole.
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
            let place = place.advance_by(n as u64 * u64::from(size));
            let around = self.find_containing_word(place, size)?;
            let (ty, hole) = (
                self.make_int_type(around.width),
                self.make_hole_mask(around),
            );
            if self.find_region(place) == Some(PointerRegion::Shared) {
                let part = self.shift_into_word(around, part);
                let scope = self.b.constant_u32(Scope::Workgroup.0);
                let relaxed = self.make_uint_constant(32, 0);
                for (op, operand) in [(Op::AtomicAnd, hole), (Op::AtomicOr, part)] {
                    self.emit_value(op, ty, &[around.pointer, scope, relaxed, operand]);
                }
                continue;
            }
            let word = self.emit_value(Op::Load, ty, &[around.pointer]);
            let word = self.with_part(around, hole, word, part);
            self.emit_effect(Op::Store, &[around.pointer, word]);
        }
        Ok(())
    }
}
