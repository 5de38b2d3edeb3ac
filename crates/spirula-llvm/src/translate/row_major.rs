//! Matrices in memory whose rows lie together, which only members of structures can be said to be.
//!
//! A matrix is an array of its columns wherever it is a value. In memory such a one is a matrix to
//! SPIR-V, too, and what is loaded and stored is composed anew.

use super::body::Body;
use super::refusal::{Lowered, refuse};
use super::translator::Translator;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl Translator<'_> {
    /// A matrix in memory of so many columns.
    pub(super) fn row_major_matrix(&mut self, column: Id, count: u64) -> Lowered<Id> {
        let known = u32::try_from(count).ok().filter(|n| (2..=4).contains(n));
        let count = known.ok_or_else(|| refuse("what is in row-major order is no matrix"))?;
        let id = self.b.ty(Op::TypeMatrix, &[column.word(), count]);
        self.set_first_member(id, column);
        if let Some(shader) = &mut self.shader {
            shader.elements.set(id, Some((column, count.into())));
            shader.matrices.insert(id);
        }
        Ok(id)
    }

    /// The types of the parts of an aggregate.
    fn parts_of(&self, ty: Id) -> Vec<Id> {
        let Some(shader) = self.shader.as_ref() else {
            return Vec::new();
        };
        match (&shader.members[ty], shader.elements[ty]) {
            (Some(members), _) => members.to_vec(),
            (None, Some((element, count))) => vec![element; count as usize],
            _ => Vec::new(),
        }
    }

    /// Whether a type is or holds such a matrix.
    fn holds_matrix(&self, ty: Id) -> bool {
        let Some(shader) = self.shader.as_ref() else {
            return false;
        };
        match (&shader.members[ty], shader.elements[ty]) {
            _ if shader.matrices.is_empty() => false,
            _ if shader.matrices.contains(&ty) => true,
            (Some(members), _) => members.iter().any(|part| self.holds_matrix(*part)),
            (None, Some((element, _))) => self.holds_matrix(element),
            _ => false,
        }
    }
}

impl Body<'_, '_> {
    /// A value in a type that differs by its layout.
    pub(super) fn copied_to_layout(&mut self, id: Id, have: Id, ty: Id) -> Id {
        if have == ty {
            return id;
        }
        if !(self.t.holds_matrix(have) || self.t.holds_matrix(ty)) {
            return self.op(Op::CopyLogical, ty, [id]);
        }
        let parts = self.t.parts_of(have).into_iter().zip(self.t.parts_of(ty));
        let mut words = Vec::new();
        for (index, (have, ty)) in (0..).zip(parts) {
            let operands = [id.word(), index];
            let part = self.t.b.value(Op::CompositeExtract, have, &operands);
            words.push(self.copied_to_layout(part, have, ty).word());
        }
        self.t.b.value(Op::CompositeConstruct, ty, &words)
    }
}
