//! Pointer casts: to other pointee types and to other storage classes.

use super::function_body::FunctionTranslator;
use super::storage_classes::space_cast;
use super::translator::LlvmTranslator;
use super::words::TranslationWords;
use crate::{LlvmResult, make_refusal};
use smallvec::smallvec;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// Greatest number of steps to first members that replace a pointer cast.
const MAX_STEPS: usize = 8;
/// Number of casts that are remembered within a block.
const REMEMBERED: usize = 8;

/// The casts to other pointee types in the current block, which are reused.
#[derive(Debug, Default)]
pub(super) struct RecentCasts(Vec<PointerCast>);

#[derive(Debug)]
struct PointerCast {
    pointer: Id,
    ty: Id,
    result: Id,
}

impl RecentCasts {
    /// Forgets all casts, because another block begins.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The result of a recent cast of a pointer to a type.
    fn find_cast(&self, pointer: Id, ty: Id) -> Option<Id> {
        let mut recent = self.0.iter().rev().take(REMEMBERED);
        let cast = recent.find(|cast| cast.pointer == pointer && cast.ty == ty);
        cast.map(|cast| cast.result)
    }
}

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
        if let Some(id) = self.casts.find_cast(pointer, ty) {
            return id;
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
        self.casts.0.push(PointerCast {
            pointer,
            ty,
            result: id,
        });
        id
    }

    /// Casts a pointer to another storage class, with the same pointee.
    pub(super) fn cast_space(&mut self, pointer: Id, to: StorageClass) -> LlvmResult<Id> {
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
