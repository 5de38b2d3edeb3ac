//! Row-major matrices in memory.
//!
//! As a value, a matrix is an array of its columns. SPIR-V can state a row-major layout only for
//! members of structures, whose type must be a matrix. So a row-major matrix is a matrix type in
//! memory, and loaded and stored values are composed again.

use super::function_body::FunctionTranslator;
use super::translator::LlvmTranslator;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Greatest number of members that one value with such matrices is composed of, nested ones
/// included.
const MAX_PARTS: u64 = 4096;

impl LlvmTranslator<'_> {
    /// A matrix in memory with `count` columns.
    pub(super) fn row_major_matrix(&mut self, column: Id, count: u64) -> LlvmResult<Id> {
        let known = u32::try_from(count).ok().filter(|n| (2..=4).contains(n));
        let count =
            known.ok_or_else(|| make_refusal("a type in row-major order is not a matrix"))?;
        let id = self.b.declare_type(Op::TypeMatrix, &[column.word(), count]);
        self.set_first_member(id, column);
        if let Some(shader) = &mut self.shader {
            shader.elements.set(id, Some((column, count.into())));
            shader.composed.insert(id, count.into());
        }
        Ok(id)
    }

    /// The types of the members of an aggregate.
    fn member_types_of(&self, ty: Id) -> Vec<Id> {
        let Some(shader) = self.shader.as_ref() else {
            return Vec::new();
        };
        match (&shader.members[ty], shader.elements[ty]) {
            (Some(members), _) => members.to_vec(),
            (None, Some((element, count))) => vec![element; count as usize],
            _ => Vec::new(),
        }
    }

    /// Records the number of members that are composed again, if the aggregate contains such a
    /// matrix.
    pub(super) fn note_composed(&mut self, aggregate: Id) {
        let parts = self.count_composed_members(aggregate);
        if let (Some(shader), Some(parts)) = (&mut self.shader, parts) {
            shader.composed.insert(aggregate, parts);
        }
    }

    fn count_composed_members(&self, aggregate: Id) -> Option<u64> {
        let shader = self.shader.as_ref()?;
        let composed = |part: &Id| shader.composed.get(part).copied();
        match (&shader.members[aggregate], shader.elements[aggregate]) {
            (Some(members), _) => members.iter().any(|m| composed(m).is_some()).then(|| {
                let parts = members.iter().map(|m| composed(m).unwrap_or(1));
                parts.fold(0, u64::saturating_add)
            }),
            (None, Some((element, count))) => Some(composed(&element)?.saturating_mul(count)),
            _ => None,
        }
    }

    /// The number of members of a type that are composed again; `None` if it contains no such
    /// matrix.
    fn members_to_compose(&self, ty: Id) -> Option<u64> {
        self.shader.as_ref()?.composed.get(&ty).copied()
    }
}

impl FunctionTranslator<'_, '_> {
    /// Copies a value to a type that differs in its layout.
    pub(super) fn copy_to_layout(&mut self, id: Id, have: Id, ty: Id) -> LlvmResult<Id> {
        let parts = [have, ty].map(|ty| self.t.members_to_compose(ty));
        if parts.iter().flatten().any(|parts| *parts > MAX_PARTS) {
            return Err(make_refusal(
                "a value with too many row-major matrices is loaded or stored as a whole",
            ));
        }
        Ok(self.compose_in_layout(id, have, ty))
    }

    fn compose_in_layout(&mut self, id: Id, have: Id, ty: Id) -> Id {
        if have == ty {
            return id;
        }
        let parts = [have, ty].map(|ty| self.t.members_to_compose(ty));
        if parts == [None; 2] {
            return self.emit_op(Op::CopyLogical, ty, [id]);
        }
        let parts = self
            .t
            .member_types_of(have)
            .into_iter()
            .zip(self.t.member_types_of(ty));
        let mut words = Vec::new();
        for (index, (have, ty)) in (0..).zip(parts) {
            let operands = [id.word(), index];
            let part = self.t.b.append_value(Op::CompositeExtract, have, &operands);
            words.push(self.compose_in_layout(part, have, ty).word());
        }
        self.t.b.append_value(Op::CompositeConstruct, ty, &words)
    }
}
