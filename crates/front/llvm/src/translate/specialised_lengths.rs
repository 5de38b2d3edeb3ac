//! Specialised lengths: array lengths that are specialisation constants, given by rows of
//! `!spirv.Lengths`.
//!
//! The module `lift/specialised_lengths` describes the form of the rows. A structure that has one
//! stands for an array.

use super::translator::LlvmTranslator;
use crate::ir::{LlvmMetadata, LlvmType, LlvmTypeKind, LlvmValue};
use crate::{LlvmError, LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use std::borrow::Cow;

/// Operations within each other.
const MAX_DEPTH: u32 = 64;

impl LlvmTranslator<'_> {
    /// The length of the array that a structure stands for, if it does.
    pub(super) fn specialised_length(&self, ty: LlvmType) -> Option<LlvmMetadata> {
        let row = (*self.shader.as_ref()?.lengths.rows.get(ty.index())?)?;
        self.module.metadata.operands(row).get(1).copied().flatten()
    }

    /// The parameters of a SPIR-V type, if its row states them.
    pub(super) fn specialised_parameters(&self, ty: LlvmType) -> Vec<LlvmMetadata> {
        let shader = self.shader.as_ref();
        let row = shader.and_then(|shader| *shader.lengths.rows.get(ty.index())?);
        let operands = row.map(|row| self.module.metadata.operands(row));
        let numbers = operands.and_then(|operands| operands.get(1..));
        numbers.map_or_else(Vec::new, |numbers| {
            numbers.iter().flatten().copied().collect()
        })
    }

    /// An array of a length that can be specialised.
    pub(super) fn specialised_array(
        &mut self,
        array: LlvmType,
        length: LlvmMetadata,
        depth: u32,
    ) -> LlvmResult<Id> {
        let LlvmTypeKind::Array { element, .. } = *self.module.types.kind(array) else {
            return Err(make_refusal(
                "a specialised length of a type that is not an array",
            ));
        };
        let element = self.memory_type_within(element, depth + 1)?;
        let length = self.specialised_number(length)?;
        let words = [element.word(), length.word()];
        let id = self.b.distinct_type(Op::TypeArray, &words);
        self.set_first_member(id, element);
        Ok(id)
    }

    /// The constant that a node describes.
    pub(super) fn specialised_number(&mut self, node: LlvmMetadata) -> LlvmResult<Id> {
        let Some(lengths) = self.shader.as_mut().map(|shader| &mut shader.lengths) else {
            return Err(make_malformed_refusal());
        };
        if let Some(id) = lengths.made.get(&node) {
            return Ok(*id);
        }
        if lengths.depth >= MAX_DEPTH {
            return Err(make_refusal(
                "the operations of a specialised length are nested too deeply",
            ));
        }
        lengths.depth += 1;
        let made = self.create_specialised_number(node);
        if let Some(shader) = &mut self.shader {
            shader.lengths.depth -= 1;
            if let Ok(id) = made {
                shader.lengths.made.insert(node, id);
            }
        }
        made
    }

    fn create_specialised_number(&mut self, node: LlvmMetadata) -> LlvmResult<Id> {
        let module = self.module;
        let metadata = &module.metadata;
        if let Some(constant) = metadata.as_constant(node) {
            return self.lower_constant(constant);
        }
        let operands: Vec<LlvmMetadata> =
            metadata.operands(node).iter().flatten().copied().collect();
        let constant = |at: usize| metadata.as_constant(*operands.get(at)?);
        let (Some(first), Some(second)) = (constant(0), constant(1)) else {
            return Err(make_malformed_refusal());
        };
        let number = |constant| {
            let number = module.consts.as_u64(constant);
            number.and_then(|n| u32::try_from(n).ok())
        };
        let op = number(first).and_then(|op| u16::try_from(op).ok());
        let op = Op(op.ok_or_else(make_malformed_refusal)?);
        if op == Op::SpecConstant {
            let (Some(number), Some(default)) = (number(second), constant(2)) else {
                return Err(make_malformed_refusal());
            };
            let shape = self.require_shape(module.consts.ty(default))?;
            let bits = module
                .consts
                .as_u64(default)
                .ok_or_else(make_malformed_refusal)?;
            return Ok(self.make_spec_constant(number, shape, bits));
        }
        let ty = self.register_type(module.consts.ty(second))?;
        let mut words = vec![u32::from(op.0)];
        for &operand in &operands[2..] {
            words.push(self.specialised_number(operand)?.word());
        }
        Ok(self.b.declare_constant(Op::SpecConstantOp, ty, &words))
    }

    /// Indices into a type, without those that select the array in a structure that stands for it.
    pub(super) fn without_wrappers<'p>(
        &self,
        source: LlvmType,
        path: &'p [LlvmValue],
    ) -> Cow<'p, [LlvmValue]> {
        self.shorten_index_path(source, path, |value| self.module.as_u64(value))
    }

    /// The same for constant indices.
    pub(super) fn path_without_wrappers<'p>(
        &self,
        source: LlvmType,
        path: &'p [u32],
    ) -> Cow<'p, [u32]> {
        self.shorten_index_path(source, path, |index| Some(index.into()))
    }

    fn shorten_index_path<'p, T: Copy>(
        &self,
        source: LlvmType,
        path: &'p [T],
        number: impl Fn(T) -> Option<u64>,
    ) -> Cow<'p, [T]> {
        let shader = self.shader.as_ref();
        if shader.is_none_or(|shader| shader.lengths.rows.is_empty()) {
            return Cow::Borrowed(path);
        }
        let types = &self.module.types;
        let mut at = Some(source);
        let mut kept = Vec::with_capacity(path.len());
        for &index in path {
            let Some(ty) = at else {
                kept.push(index);
                continue;
            };
            if self.specialised_length(ty).is_none() {
                kept.push(index);
            }
            at = match types.kind(ty) {
                LlvmTypeKind::Array { element, .. } | LlvmTypeKind::Vector { element, .. } => {
                    Some(*element)
                }
                _ => number(index).and_then(|n| types.element_type(ty, n)),
            };
        }
        Cow::Owned(kept)
    }
}

fn make_malformed_refusal() -> Box<LlvmError> {
    make_refusal("a length in !spirv.Lengths is malformed")
}
