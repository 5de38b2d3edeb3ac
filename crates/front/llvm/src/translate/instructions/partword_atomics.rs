//! Part-word atomics: atomic accesses to values narrower than a word, by exchanging the word that
//! contains them.
//!
//! Few devices have atomic instructions on such values. An aligned word is within the same page as
//! the value. It is also within the same allocation if the allocation's size is a multiple of four
//! bytes, as those of devices are. Variables of modules with such accesses are padded accordingly.

use super::atomic::AtomicSite;
use crate::LlvmResult;
use crate::ir::{
    InstructionExtra, LlvmInst, LlvmModule, LlvmOpcode, LlvmSymbol, LlvmValue, Ordering,
};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericShape, make_width_mask};
use crate::translate::translator::LlvmTranslator;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Bytes of a word.
pub(in crate::translate) const WORD: u64 = 4;

/// Whether a module has atomic accesses to values narrower than a word.
pub(in crate::translate) fn has_partword_atomics(module: &LlvmModule) -> bool {
    let is_small = |ty| {
        let bits = module.layout.size_in_bits(&module.types, ty);
        bits.is_some_and(|bits| bits < 8 * WORD)
    };
    module.functions.iter().any(|function| {
        (0..function.insts.len()).map(LlvmInst::new).any(|inst| {
            let data = function.inst(inst);
            let operand = |at: usize| function.type_of(module, function.operands(inst)[at]);
            match (data.opcode, data.extra) {
                (LlvmOpcode::AtomicRmw | LlvmOpcode::CmpXchg, _) => is_small(operand(1)),
                (
                    _,
                    InstructionExtra::Access {
                        ordering: Ordering::NotAtomic | Ordering::Unordered,
                        ..
                    },
                ) => false,
                (LlvmOpcode::Load, InstructionExtra::Access { .. }) => is_small(data.ty),
                (LlvmOpcode::Store, InstructionExtra::Access { .. }) => is_small(operand(0)),
                _ => false,
            }
        })
    })
}

impl LlvmTranslator<'_> {
    /// The type of the padding after a variable of `size` bytes, so that it ends with a whole word.
    /// It is only needed if the module has part-word atomics.
    pub(in crate::translate) fn make_padding_type(
        &mut self,
        bytes: Option<u64>,
    ) -> LlvmResult<Option<Id>> {
        let rest = bytes.map_or(0, |bytes| bytes % WORD);
        if !self.uses_partword_atomics || rest == 0 {
            return Ok(None);
        }
        let byte = self.make_byte_type();
        self.array_type(byte, WORD - rest).map(Some)
    }
}

/// A value within a word.
#[derive(Clone, Copy)]
struct PartwordSite {
    /// The site of the word's access.
    site: AtomicSite,
    /// Number of bits below the value.
    shift: Id,
    /// The shape of the value.
    shape: NumericShape,
}

impl FunctionTranslator<'_, '_> {
    /// Loads an integer of 8 or 16 bits.
    pub(super) fn load_partword(
        &mut self,
        shape: NumericShape,
        pointer: LlvmValue,
        ordering: Ordering,
        scope: LlvmSymbol,
    ) -> LlvmResult<Id> {
        let part = self.find_containing_word(shape, pointer, [ordering; 2], scope)?;
        let AtomicSite {
            pointer,
            scope,
            equal,
            ..
        } = part.site;
        let word = self.t.b.int_type(32, false);
        let all = self.emit_op(Op::AtomicLoad, word, [pointer, scope, equal]);
        Ok(self.extract_from_word(all, part))
    }

    /// Replaces an integer of 8 or 16 bits by a value computed from it, and returns the old one.
    /// The site has the semantics of a successful and of a failed exchange.
    pub(super) fn exchange_partword(
        &mut self,
        shape: NumericShape,
        pointer: LlvmValue,
        orderings: [Ordering; 2],
        scope: LlvmSymbol,
        new: impl FnOnce(&mut Self, Id) -> LlvmResult<Id>,
    ) -> LlvmResult<Id> {
        let part = self.find_containing_word(shape, pointer, orderings, scope)?;
        let word = self.t.b.int_type(32, false);
        let ones = self.t.make_u32(make_width_mask(shape.width) as u32);
        let bits = self.emit_op(Op::ShiftLeftLogical, word, [ones, part.shift]);
        let others = self.emit_op(Op::Not, word, [bits]);
        let old = self.exchange_loop(word, part.site, |body, old| {
            let before = body.extract_from_word(old, part);
            let new = new(body, before)?;
            let new = body.emit_op(Op::UConvert, word, [new]);
            let new = body.emit_op(Op::ShiftLeftLogical, word, [new, part.shift]);
            let kept = body.emit_op(Op::BitwiseAnd, word, [old, others]);
            Ok(body.emit_op(Op::BitwiseOr, word, [kept, new]))
        })?;
        Ok(self.extract_from_word(old, part))
    }

    /// The word that contains a value, from the value's address.
    fn find_containing_word(
        &mut self,
        shape: NumericShape,
        pointer: LlvmValue,
        orderings: [Ordering; 2],
        scope: LlvmSymbol,
    ) -> LlvmResult<PartwordSite> {
        let byte = self.t.make_byte_type();
        let pointer = self.lower_pointer(pointer, byte)?;
        let size = NumericShape::new_int(self.t.pointer_bits, 1);
        let address = self.pointer_bits_as(pointer, size)?;
        let ty = self.t.shape_type(size);
        let three = self.t.make_splat(size, 3);
        let within = self.emit_op(Op::BitwiseAnd, ty, [address, three]);
        let back = self.emit_op(Op::SNegate, ty, [within]);
        let bytes = self.t.b.type_of(pointer).unwrap_or(byte);
        let start = self.emit_op(Op::PtrAccessChain, bytes, [pointer, back]);
        let word = self.t.b.int_type(32, false);
        let start = self.cast_pointer(start, word);
        let within = self.resize_integer(size, NumericShape::new_int(32, 1), within, false);
        let three = self.t.make_u32(3);
        let shift = self.emit_op(Op::ShiftLeftLogical, word, [within, three]);
        Ok(PartwordSite {
            site: self.site_at(start, orderings, scope)?,
            shift,
            shape,
        })
    }

    fn extract_from_word(&mut self, word: Id, part: PartwordSite) -> Id {
        let ty = self.t.b.int_type(32, false);
        let low = self.emit_op(Op::ShiftRightLogical, ty, [word, part.shift]);
        let ty = self.t.shape_type(part.shape);
        self.emit_op(Op::UConvert, ty, [low])
    }
}
