//! Address computations: `getelementptr`, and offsets of pointers.

use crate::ir::{InstructionExtra, LlvmInst, LlvmInstFlags, LlvmType, LlvmTypeKind, LlvmValue};
use crate::pointee_inference::gep_element;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::translate::words::TranslationWords;
use crate::{LlvmResult, make_refusal};
use smallvec::{SmallVec, smallvec};
use spirula_spirv::Id;
use spirula_spirv::grammar::{AccessChainForm, Op};

impl FunctionTranslator<'_, '_> {
    /// A pointer plus a number of bytes, as a pointer to bytes unless the offset is zero.
    pub(in crate::translate) fn byte_offset(&mut self, pointer: Id, offset: u64) -> Id {
        if offset == 0 {
            return pointer;
        }
        let byte = self.t.make_byte_type();
        let bytes = self.cast_pointer(pointer, byte);
        let size = NumericShape::new_int(self.t.pointer_bits, 1);
        let offset = self.t.make_splat(size, offset);
        self.step_pointer(bytes, offset)
    }

    /// A pointer plus a number of elements.
    pub(in crate::translate) fn step_pointer(&mut self, pointer: Id, elements: Id) -> Id {
        match self.t.b.type_of(pointer) {
            Some(ty) => self.emit_op(Op::InBoundsPtrAccessChain, ty, [pointer, elements]),
            None => pointer,
        }
    }

    pub(super) fn lower_address(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        if self.t.is_shader() {
            return self.lower_shader_address(inst);
        }
        let data = self.function.inst(inst);
        let InstructionExtra::SourceType(source) = data.extra else {
            return Err(make_refusal("an address computation without a source type"));
        };
        if self
            .t
            .module
            .types
            .address_space(self.inst_type(inst))
            .is_none()
        {
            return Err(make_refusal(
                "vectors of pointers have no counterpart in SPIR-V",
            ));
        }
        let Some(end) = gep_element(self.t.module, self.function, inst) else {
            return Err(make_refusal(
                "an address computation steps into a type without members",
            ));
        };
        let operands = self.function.operands(inst);
        let pointee = self.t.memory_type(source)?;
        let base = self.lower_pointer(operands[0], pointee)?;
        let end = self.t.memory_type(end)?;
        let class = self.t.b.type_of(base).and_then(|ty| self.t.pointee_of(ty));
        let Some((class, _)) = class else {
            return Err(make_refusal(
                "an address computation from a value that is not a pointer",
            ));
        };
        let steps = self.filter_address_indices(source, &operands[1..]);
        let stays = match steps.as_slice() {
            [] => true,
            [only] => self.is_zero(*only),
            _ => false,
        };
        if stays {
            return Ok(base);
        }
        let mut words: TranslationWords = smallvec![base.word()];
        for &index in &steps {
            words.push(self.lower_index(index)?.word());
        }
        let ty = self.t.pointer_type(class, end);
        let is_inbounds = data.flags.contains_all(LlvmInstFlags::INBOUNDS);
        let chain = AccessChainForm::TYPED
            .with_element(true)
            .with_inbounds(is_inbounds);
        Ok(self.t.b.append_value(chain.opcode(), ty, &words))
    }

    /// The indices of an address computation, without those into vectors of one lane, which are
    /// scalars here.
    fn filter_address_indices(
        &self,
        source: LlvmType,
        indices: &[LlvmValue],
    ) -> SmallVec<[LlvmValue; 8]> {
        let types = &self.t.module.types;
        let mut ty = source;
        let mut steps = SmallVec::new();
        for (position, &index) in indices.iter().enumerate() {
            if position > 0 {
                let single = matches!(types.kind(ty), LlvmTypeKind::Vector { len: 1, .. });
                let at = self.t.module.as_u64(index).unwrap_or(0);
                ty = match types.kind(ty) {
                    LlvmTypeKind::Array { element, .. } | LlvmTypeKind::Vector { element, .. } => {
                        *element
                    }
                    _ => types.element_type(ty, at).unwrap_or(ty),
                };
                if single {
                    continue;
                }
            }
            steps.push(index);
        }
        steps
    }

    /// Whether a value is the constant zero.
    pub(in crate::translate) fn is_zero(&self, value: LlvmValue) -> bool {
        value
            .as_const()
            .is_some_and(|constant| self.t.module.consts.is_zero(constant))
    }

    /// An index, which counts as signed.
    fn lower_index(&mut self, value: LlvmValue) -> LlvmResult<Id> {
        if let Some(id) = value.as_const().and_then(|c| self.t.index_constant(c)) {
            return Ok(id);
        }
        let shape = self.shape_of(value)?;
        if shape.lanes != 1 {
            return Err(make_refusal(
                "vectors of pointers have no counterpart in SPIR-V",
            ));
        }
        let id = self.lower_value(value)?;
        Ok(match shape.elem {
            NumericElement::Bool => self.convert_boolean(id, NumericShape::new_int(32, 1), true),
            _ => self.sign_extend_value(shape, id),
        })
    }
}
