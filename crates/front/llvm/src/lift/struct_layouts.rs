//! Struct layouts: layouts that LLVM's types cannot express, one row per structure in
//! `!spirv.Layouts`.
//!
//! A row is `!{%type undef, !{decorations}, !{decorations of member 0}, …}`. Strides of arrays are
//! listed with the member that has them, outermost first. A matrix is an array of its columns, even
//! if it is row-major in memory. Its member then has the decorations `RowMajor` and `MatrixStride`.

use super::lifted_entities::LiftedTypeShape;
use super::lifter::SpirvLifter;
use crate::ir::{ConstKind, LlvmMetadata, LlvmType};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::InstRef;

/// Nesting of arrays beyond which a layout is refused.
const MAX_NESTING: usize = 64;

/// Decorations of members that have another counterpart in LLVM.
const EXPRESSED: &[Decoration] = &[
    Decoration::ArrayStride,
    Decoration::MatrixStride,
    Decoration::ColMajor,
];

impl SpirvLifter<'_> {
    /// Whether a structure or its members are decorated.
    pub(super) fn is_laid_out(&self, id: Id, members: u32) -> bool {
        if !self.is_shader {
            return false;
        }
        let mut all = std::iter::once(u32::MAX).chain(0..members);
        all.any(|member| {
            self.decorations
                .decorations_of(self.source, id, member)
                .next()
                .is_some()
        })
    }

    /// Notes the layout of a structure.
    pub(super) fn record_struct_layout(
        &mut self,
        ty: LlvmType,
        id: Id,
        inst: InstRef<'_>,
    ) -> LlvmResult<()> {
        let undefined = self.out.consts.intern_constant(ty, ConstKind::Undef);
        let own = self.decoration_rows(id, u32::MAX, &[]);
        let mut parts = vec![self.md_constant(undefined), self.md_node(&own)];
        for (member, part) in (0..).zip(inst.id_operands(0)) {
            let mut rows = self.decoration_rows(id, member, EXPRESSED);
            rows.extend(self.read_member_strides(id, member, part)?);
            parts.push(self.md_node(&rows));
        }
        let row = self.md_node(&parts);
        self.layouts.push(row);
        Ok(())
    }

    /// The strides of a member that is an array or a matrix.
    fn read_member_strides(
        &mut self,
        id: Id,
        member: u32,
        ty: Id,
    ) -> LlvmResult<Vec<LlvmMetadata>> {
        let mut rows = Vec::new();
        let mut at = ty;
        for _ in 0..MAX_NESTING {
            let stride = match self.definitions.defining_op(self.source, at) {
                Some(Op::TypeArray | Op::TypeRuntimeArray) => {
                    self.find_decoration(at, Decoration::ArrayStride)
                }
                Some(Op::TypeMatrix) => {
                    let of = |what| self.decorations.get_member(self.source, id, member, what);
                    let stride = of(Decoration::MatrixStride);
                    if let (Some(_), Some(&[stride])) = (of(Decoration::RowMajor), stride) {
                        rows.push(self.md_numbers(&[Decoration::MatrixStride.0, stride]));
                        return Ok(rows);
                    }
                    stride
                }
                _ => return Ok(rows),
            };
            if let Some(&[stride]) = stride {
                rows.push(self.md_numbers(&[Decoration::ArrayStride.0, stride]));
            }
            let LiftedTypeShape::Elements(part) = self.find_lowered_type(at)?.shape else {
                return Ok(rows);
            };
            at = part;
        }
        Err(make_refusal("arrays are nested too deeply"))
    }

    /// Lists the layouts of the module.
    pub(super) fn list_layouts(&mut self) {
        let rows = std::mem::take(&mut self.layouts);
        self.md_named("spirv.Layouts", rows);
    }
}
