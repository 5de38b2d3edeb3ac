//! Long arrays: initializers with more members than an instruction can have.
//!
//! Long arrays become structures of shorter arrays, which have the same layout in memory.

use super::MAX_MEMBERS;
use crate::ir::{ConstKind, LlvmConst, LlvmType, LlvmTypeKind};
use crate::translate::translator::LlvmTranslator;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;

impl LlvmTranslator<'_> {
    /// The type of a variable with an initializer: its memory form, with long arrays split.
    pub(in crate::translate) fn contents_type(
        &mut self,
        ty: LlvmType,
        contents: Option<LlvmConst>,
    ) -> LlvmResult<Id> {
        match contents {
            Some(constant) if !self.module.consts.is_zero(constant) => self.chunked_type(ty),
            _ => self.memory_type(ty),
        }
    }

    /// The initializer of a variable of type [`Self::contents_type`].
    pub(in crate::translate) fn lower_initializer(
        &mut self,
        ty: LlvmType,
        constant: LlvmConst,
    ) -> LlvmResult<Id> {
        if self.module.consts.is_zero(constant) {
            self.constant_in_memory(constant)
        } else {
            self.make_chunked_constant(constant, ty)
        }
    }

    /// The contents of a variable followed by zeros.
    pub(in crate::translate) fn append_padding(
        &mut self,
        whole: Id,
        contents: Id,
        padding: Id,
    ) -> Id {
        let zeros = self.b.constant_null(padding);
        self.make_composite(whole, &[contents, zeros])
    }

    /// Whether a type contains an array with too many elements for one instruction.
    fn has_long_array(&mut self, ty: LlvmType) -> bool {
        if let Some(known) = self.consts.has_long_arrays.get(&ty) {
            return *known;
        }
        let long = match self.module.types.kind(ty) {
            LlvmTypeKind::Array { element, len } => {
                *len > MAX_MEMBERS as u64 || self.has_long_array(*element)
            }
            LlvmTypeKind::Struct {
                fields: Some(fields),
                ..
            } => fields.iter().any(|field| self.has_long_array(*field)),
            _ => false,
        };
        self.consts.has_long_arrays.insert(ty, long);
        long
    }

    /// A type with long arrays as structures.
    fn chunked_type(&mut self, ty: LlvmType) -> LlvmResult<Id> {
        if !self.has_long_array(ty) {
            return self.memory_type(ty);
        }
        if let Some(known) = self.consts.chunked.get(&ty) {
            return Ok(*known);
        }
        let id = self.make_chunked_type(ty)?;
        self.consts.chunked.insert(ty, id);
        Ok(id)
    }

    fn make_chunked_type(&mut self, ty: LlvmType) -> LlvmResult<Id> {
        match self.module.types.kind(ty) {
            LlvmTypeKind::Array { element, len } => {
                let element = self.chunked_type(*element)?;
                if *len <= MAX_MEMBERS as u64 {
                    return self.array_type(element, *len);
                }
                let mut members = Vec::new();
                for start in (0..*len).step_by(MAX_MEMBERS) {
                    let count = (*len - start).min(MAX_MEMBERS as u64);
                    members.push(self.array_type(element, count)?);
                }
                Ok(self.struct_type("", &members, false))
            }
            LlvmTypeKind::Struct {
                fields: Some(fields),
                packed,
                ..
            } => {
                let mut members = Vec::with_capacity(fields.len());
                for field in fields {
                    members.push(self.chunked_type(*field)?);
                }
                Ok(self.struct_type("", &members, *packed))
            }
            _ => self.memory_type(ty),
        }
    }

    /// A constant of a type whose long arrays are structures.
    fn make_chunked_constant(&mut self, constant: LlvmConst, ty: LlvmType) -> LlvmResult<Id> {
        if !self.has_long_array(ty) {
            return self.constant_in_memory(constant);
        }
        let module = self.module;
        let whole = self.chunked_type(ty)?;
        let mut members = match module.consts.kind(constant) {
            ConstKind::Zero => return Ok(self.b.constant_null(whole)),
            ConstKind::Undef | ConstKind::Poison => return Ok(self.b.declare_undef(whole)),
            ConstKind::Data(_) => self.data_members(constant)?,
            ConstKind::Aggregate(elements) => {
                let mut members = Vec::with_capacity(elements.len());
                for &element in elements {
                    let ty = module.consts.ty(element);
                    members.push(self.make_chunked_constant(element, ty)?);
                }
                members
            }
            _ => {
                return Err(make_refusal(
                    "a constant of this kind has no counterpart in SPIR-V",
                ));
            }
        };
        if let LlvmTypeKind::Array { element, .. } = *module.types.kind(ty)
            && members.len() > MAX_MEMBERS
        {
            let element = self.chunked_type(element)?;
            let mut chunks = Vec::new();
            for chunk in members.chunks(MAX_MEMBERS) {
                let ty = self.array_type(element, chunk.len() as u64)?;
                chunks.push(self.make_composite(ty, chunk));
            }
            members = chunks;
        }
        Ok(self.make_composite(whole, &members))
    }
}
