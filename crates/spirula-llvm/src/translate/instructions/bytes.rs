//! Atomic accesses to bytes, which SPIR-V does not have: the word around the byte is exchanged.
//!
//! A word that is aligned lies within the page, and within the allocation where that ends at a
//! multiple of four bytes, as those of devices do.

use super::atomic::{scope_of, semantics_of};
use crate::ir::{Ordering, Symbol, Type, Value};
use crate::translate::body::Body;
use crate::translate::refusal::Lowered;
use crate::translate::types::Shape;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// A byte within a word.
#[derive(Clone, Copy)]
struct Byte {
    /// Pointer to the word.
    word: Id,
    /// Bits below it.
    shift: Id,
}

impl Body<'_, '_> {
    /// Whether an atomic access to a type is to a byte. Shaders cannot get at the word around.
    pub(super) fn is_byte_access(&self, ty: Type) -> bool {
        ty == Type::I8 && !self.t.is_shader()
    }

    /// Loads a byte.
    pub(super) fn load_byte(
        &mut self,
        pointer: Value,
        ordering: Ordering,
        scope: Symbol,
    ) -> Lowered<Id> {
        let byte = self.byte_at(pointer)?;
        let scope = scope_of(self.t.module.str(scope))?;
        let scope = self.t.u32(scope.0);
        let semantics = self.semantics_at(byte, ordering);
        let word = self.t.b.int(32, false);
        let all = self.op(Op::AtomicLoad, word, [byte.word, scope, semantics]);
        Ok(self.byte_of(all, byte.shift))
    }

    /// Exchanges a byte for what is made of it; the old one. Orderings when the exchange takes place,
    /// and when others came between.
    pub(super) fn exchange_byte(
        &mut self,
        pointer: Value,
        orderings: [Ordering; 2],
        scope: Symbol,
        new: impl FnOnce(&mut Self, Id) -> Lowered<Id>,
    ) -> Lowered<Id> {
        let byte = self.byte_at(pointer)?;
        let scope = scope_of(self.t.module.str(scope))?;
        let scope = self.t.u32(scope.0);
        let [equal, unequal] = orderings.map(|ordering| self.semantics_at(byte, ordering));
        let word = self.t.b.int(32, false);
        let ones = self.t.u32(0xff);
        let bits = self.op(Op::ShiftLeftLogical, word, [ones, byte.shift]);
        let others = self.op(Op::Not, word, [bits]);
        let site = [byte.word, scope, equal, unequal];
        let old = self.exchange_loop(word, site, |body, old| {
            let part = body.byte_of(old, byte.shift);
            let new = new(body, part)?;
            let new = body.op(Op::UConvert, word, [new]);
            let new = body.op(Op::ShiftLeftLogical, word, [new, byte.shift]);
            let kept = body.op(Op::BitwiseAnd, word, [old, others]);
            Ok(body.op(Op::BitwiseOr, word, [kept, new]))
        })?;
        Ok(self.byte_of(old, byte.shift))
    }

    /// The word that a byte is in, by its address.
    fn byte_at(&mut self, pointer: Value) -> Lowered<Byte> {
        let byte = self.t.byte();
        let pointer = self.pointer(pointer, byte)?;
        let size = Shape::int(self.t.pointer_bits, 1);
        let address = self.pointer_bits_as(pointer, size)?;
        let ty = self.t.shape_type(size);
        let three = self.t.splat(size, 3);
        let within = self.op(Op::BitwiseAnd, ty, [address, three]);
        let back = self.op(Op::SNegate, ty, [within]);
        let bytes = self.t.b.type_of(pointer).unwrap_or(byte);
        let start = self.op(Op::PtrAccessChain, bytes, [pointer, back]);
        let word = self.t.b.int(32, false);
        let start = self.cast(start, word);
        let within = self.resized(size, Shape::int(32, 1), within, false);
        let three = self.t.u32(3);
        Ok(Byte {
            word: start,
            shift: self.op(Op::ShiftLeftLogical, word, [within, three]),
        })
    }

    fn byte_of(&mut self, word: Id, shift: Id) -> Id {
        let ty = self.t.b.int(32, false);
        let low = self.op(Op::ShiftRightLogical, ty, [word, shift]);
        let byte = self.t.byte();
        self.op(Op::UConvert, byte, [low])
    }

    fn semantics_at(&mut self, byte: Byte, ordering: Ordering) -> Id {
        let known = self.t.b.type_of(byte.word);
        let class = known.and_then(|ty| self.t.pointee_of(ty)).map(|p| p.0);
        self.t.u32(semantics_of(ordering, class).0)
    }
}
