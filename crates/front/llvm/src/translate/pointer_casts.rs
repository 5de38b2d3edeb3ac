//! Pointer casts: to other pointee types and to other storage classes.

use super::function_body::FunctionTranslator;
use super::refusal::{TranslationResult, make_refusal};
use super::storage_classes::space_cast;
use super::translator::LlvmTranslator;
use super::words::TranslationWords;
use smallvec::smallvec;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// Greatest number of steps to first members that replace a pointer cast.
const MAX_STEPS: usize = 8;
/// Casts remembered within a block.
const REMEMBERED: usize = 8;

impl FunctionTranslator<'_, '_> {
    /// Casts a pointer to another pointee type: it is left unchanged, or becomes a step to the
    /// first member, or a bit cast.
    pub(super) fn cast_pointer(&mut self, pointer: Id, pointee: Id) -> Id {
        let known = self.t.b.type_of(pointer);
        let Some((class, have)) = known.and_then(|ty| self.t.pointee_of(ty)) else {
            return pointer;
        };
        if have == pointee || self.t.is_shader() {
            return pointer;
        }
        let ty = self.t.pointer_type(class, pointee);
        let recent = self.casts.iter().rev().take(REMEMBERED);
        if let Some(cast) = recent.into_iter().find(|c| (c.0, c.1) == (pointer, ty)) {
            return cast.2;
        }
        let id = match self.t.path_to_first(have, pointee) {
            Some(steps) => {
                let zero = self.t.b.constant_u32(0);
                let mut words: TranslationWords = smallvec![pointer.word()];
                words.extend(std::iter::repeat_n(zero.word(), steps));
                self.t.b.append_value(Op::InBoundsAccessChain, ty, &words)
            }
            None => self.emit_op(Op::Bitcast, ty, [pointer]),
        };
        self.casts.push((pointer, ty, id));
        id
    }

    /// Casts a pointer to another storage class, with the same pointee.
    pub(super) fn cast_space(&mut self, pointer: Id, to: StorageClass) -> TranslationResult<Id> {
        let known = self.t.b.type_of(pointer);
        let Some((from, pointee)) = known.and_then(|ty| self.t.pointee_of(ty)) else {
            return Err(make_refusal(
                "an address space cast of a value that is not a pointer",
            ));
        };
        let mut id = pointer;
        for (op, class) in space_cast(from, to)? {
            let ty = self.t.pointer_type(class, pointee);
            id = self.emit_op(op, ty, [id]);
        }
        Ok(id)
    }
}

impl LlvmTranslator<'_> {
    /// The number of steps to first members that lead from one type in memory to another.
    pub(super) fn path_to_first(&self, from: Id, to: Id) -> Option<usize> {
        let mut at = from;
        for steps in 1..=MAX_STEPS {
            at = self.first_member(at)?;
            if at == to {
                return Some(steps);
            }
        }
        None
    }
}
