//! Memory instructions: allocations, loads, stores and address computations.

use super::partword_atomics::WORD;
use crate::ir::{
    InstructionExtra, LlvmAlign, LlvmBlock, LlvmInst, LlvmInstFlags, LlvmOpcode, LlvmSymbol,
    LlvmType, LlvmTypeKind, LlvmValue, Ordering,
};
use crate::pointee_inference::gep_element;
use crate::translate::alias_scopes::{self, AccessAliasScopes, AliasScopeEmitter};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::refusal::{TranslationResult, make_refusal};
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::translate::words::TranslationWords;
use smallvec::{SmallVec, smallvec};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, MemoryAccess, StorageClass};

/// How a piece of memory is accessed.
#[derive(Clone, Copy)]
struct TranslatedAccess {
    align: LlvmAlign,
    volatile: bool,
    nontemporal: bool,
    scopes: AccessAliasScopes,
}

impl TranslatedAccess {
    fn to_words(self) -> TranslationWords {
        let mut mask = MemoryAccess::default();
        let mut words: TranslationWords = smallvec![0];
        if self.volatile {
            mask |= MemoryAccess::Volatile;
        }
        if let Some(align) = self.align.to_bytes().and_then(|a| u32::try_from(a).ok()) {
            mask |= MemoryAccess::Aligned;
            words.push(align);
        }
        if self.nontemporal {
            mask |= MemoryAccess::Nontemporal;
        }
        mask |= self.scopes.add_to(&mut words);
        if mask == MemoryAccess::default() {
            return TranslationWords::new();
        }
        words[0] = mask.0;
        words
    }

    /// The access to a member at a byte offset.
    fn with_offset(self, offset: u64) -> TranslatedAccess {
        let align = self.align.to_bytes().unwrap_or(1);
        let known = if offset == 0 {
            align
        } else {
            align.min(1 << offset.trailing_zeros())
        };
        TranslatedAccess {
            align: LlvmAlign::from_bytes(known).unwrap_or(LlvmAlign::NONE),
            ..self
        }
    }
}

impl FunctionTranslator<'_, '_> {
    /// Declares the variables of all static allocations at the beginning of the function, as SPIR-V
    /// requires.
    pub(in crate::translate) fn make_stack_variables(&mut self, order: &[LlvmBlock]) {
        let function = self.function;
        let mut made = Vec::new();
        for &block in order {
            for inst in function.block_insts(block) {
                if function.inst(inst).opcode != LlvmOpcode::Alloca {
                    continue;
                }
                match self.make_stack_variable(inst) {
                    Ok(Some(id)) => made.push((inst, id)),
                    Ok(None) => {}
                    Err(refusal) => {
                        self.t
                            .report_refusal(self.func, function.inst_place(inst), &refusal);
                        self.define_placeholder(inst, LlvmOpcode::Alloca);
                    }
                }
            }
        }
        if made.is_empty() {
            return;
        }
        for (inst, id) in made {
            self.name_result(inst, id);
            self.instruction_decorations(inst, id);
            let joined = self.is_phi_operand(self.local_of(inst));
            match self.adapt_stack_variable(inst, id, joined) {
                Ok(placed) => {
                    if placed != id {
                        self.generic_casts.push((placed, id));
                    }
                    self.set_result(inst, placed);
                }
                Err(refusal) => {
                    self.t
                        .report_refusal(self.func, function.inst_place(inst), &refusal);
                    self.define_placeholder(inst, LlvmOpcode::Alloca);
                }
            }
        }
    }

    /// A variable as its allocation's result. It is cast if the result is a generic pointer. Casts
    /// to the pointee type are made at the uses, except for phis, where no cast can be placed.
    fn adapt_stack_variable(
        &mut self,
        inst: LlvmInst,
        id: Id,
        joined: bool,
    ) -> TranslationResult<Id> {
        let ty = self.function.inst(inst).ty;
        let space = self.t.module.types.address_space(ty).unwrap_or(0);
        let class = self.t.storage_class(space)?;
        let id = self.cast_space(id, class)?;
        if joined {
            self.adapt_result(inst, id)
        } else {
            Ok(id)
        }
    }

    /// The variable of an allocation; `None` if its size is not constant.
    fn make_stack_variable(&mut self, inst: LlvmInst) -> TranslationResult<Option<Id>> {
        let InstructionExtra::Alloca { ty, align } = self.function.inst(inst).extra else {
            return Err(make_refusal("an allocation without a type"));
        };
        let count = self.function.operands(inst)[0];
        let mut pointee = self.t.memory_type(ty)?;
        let natural = self.t.module.layout.abi_align(&self.t.module.types, ty);
        let needed = if self.t.uses_partword_atomics {
            natural.max(WORD)
        } else {
            natural
        };
        if let Some(count) = self.t.module.as_u64(count) {
            if count != 1 {
                pointee = self.t.array_type(pointee, count)?;
            }
            let size = self.t.module.layout.alloc_size(&self.t.module.types, ty);
            let size = size.map(|size| size.saturating_mul(count));
            if let Some(padding) = self.t.make_padding_type(size)? {
                pointee = self.t.struct_type("", &[pointee, padding], false);
            }
        } else if let Some(count) = self.specialised_element_count(count)? {
            pointee = self.t.b.array_type(pointee, count);
        } else {
            return Ok(None);
        }
        let pointer = self.t.pointer_type(StorageClass::Function, pointee);
        let class = StorageClass::Function.0;
        let id = self.t.b.append_value(Op::Variable, pointer, &[class]);
        let align = align.to_bytes().unwrap_or(1).max(needed);
        if align > natural
            && let Ok(align) = u32::try_from(align)
        {
            self.t
                .decorate_by_row(id, Decoration::Alignment, vec![align]);
        }
        Ok(Some(id))
    }

    /// A number of elements that is a specialisation constant.
    fn specialised_element_count(&mut self, count: LlvmValue) -> TranslationResult<Option<Id>> {
        let Some(inst) = count
            .as_local()
            .and_then(|local| self.function.inst_of(local))
        else {
            return Ok(None);
        };
        if !self.is_spec_constant_call(inst) {
            return Ok(None);
        }
        if let Some(id) = self.find_translated(self.local_of(inst)) {
            return Ok(Some(id));
        }
        let id = self.lower_instruction(inst)?;
        if let Some(id) = id {
            self.set_result(inst, id);
            self.name_result(inst, id);
        }
        Ok(id)
    }

    /// Whether the function has allocations whose size is computed at run time.
    pub(in crate::translate) fn has_dynamic_allocation(&self) -> bool {
        self.function.insts.iter().any(|inst| {
            let count = self.function.value_pool[inst.operands.to_range()].first();
            inst.opcode == LlvmOpcode::Alloca
                && count.is_some_and(|count| self.t.module.as_u64(*count).is_none())
        })
    }

    /// An allocation of a number of elements that is computed at run time.
    pub(super) fn lower_dynamic_allocation(&mut self, inst: LlvmInst) -> TranslationResult<Id> {
        let InstructionExtra::Alloca { ty, align } = self.function.inst(inst).extra else {
            return Err(make_refusal("an allocation without a type"));
        };
        let pointee = self.t.memory_type(ty)?;
        let count = self.lower_value(self.function.operands(inst)[0])?;
        let pointer = self.t.pointer_type(StorageClass::Function, pointee);
        let id = self.emit_op(Op::VariableLengthArrayINTEL, pointer, [count]);
        if let Some(align) = align.to_bytes().and_then(|a| u32::try_from(a).ok()) {
            self.decorate_result(id, Decoration::Alignment, &[align]);
        }
        self.adapt_stack_variable(inst, id, false)
    }

    /// The access properties of a value of a type at an address.
    fn resolve_access(
        &mut self,
        inst: LlvmInst,
        ty: LlvmType,
        place: LlvmValue,
    ) -> TranslationResult<(TranslatedAccess, Ordering, LlvmSymbol)> {
        let data = self.function.inst(inst);
        let InstructionExtra::Access {
            align,
            ordering,
            scope,
        } = data.extra
        else {
            return Err(make_refusal("an access without its properties"));
        };
        let nontemporal = self.metadata_kinds.nontemporal;
        let nontemporal =
            nontemporal.is_some_and(|kind| self.function.find_attachment(inst, kind).is_some());
        let access = TranslatedAccess {
            // Alignments of logical addresses follow from their layouts.
            align: if !self.t.is_shader() {
                align
            } else if self.is_address(place) {
                self.address_align(ty, align)
            } else {
                LlvmAlign::NONE
            },
            volatile: data.flags.contains_all(LlvmInstFlags::VOLATILE),
            nontemporal,
            scopes: self.alias_scopes(inst),
        };
        Ok((access, ordering, scope))
    }

    pub(super) fn lower_load(&mut self, inst: LlvmInst) -> TranslationResult<Id> {
        let ty = self.function.inst(inst).ty;
        let pointer = self.function.operands(inst)[0];
        let (access, ordering, scope) = self.resolve_access(inst, ty, pointer)?;
        if !matches!(ordering, Ordering::NotAtomic | Ordering::Unordered) {
            return self.atomic_load(ty, pointer, ordering, scope);
        }
        if let Some(shape) = self
            .t
            .find_shape(ty)
            .filter(|shape| is_accessed_in_pieces(*shape))
        {
            return self.load_in_pieces(shape, pointer, access);
        }
        let memory = self.t.memory_type(ty)?;
        let pointer = self.lower_pointer(pointer, memory)?;
        let mut words: TranslationWords = smallvec![pointer.word()];
        words.extend(access.to_words());
        let accessed = self.find_accessed_type(pointer, memory);
        let id = self.t.b.append_value(Op::Load, accessed, &words);
        let id = self.in_layout(id, memory)?;
        self.convert_to_register(ty, id)
    }

    pub(super) fn lower_store(&mut self, inst: LlvmInst) -> TranslationResult<()> {
        let [value, pointer] = self.function.operands(inst) else {
            return Err(make_refusal("a store without two operands"));
        };
        let ty = self.stored_type(*value);
        let (access, ordering, scope) = self.resolve_access(inst, ty, *pointer)?;
        if !matches!(ordering, Ordering::NotAtomic | Ordering::Unordered) {
            return self.atomic_store(*value, *pointer, ordering, scope);
        }
        if let Some(shape) = self
            .t
            .find_shape(ty)
            .filter(|shape| is_accessed_in_pieces(*shape))
        {
            return self.store_in_pieces(shape, *value, *pointer, access);
        }
        let memory = self.t.memory_type(ty)?;
        let value = self.in_memory(*value)?;
        let pointer = self.lower_pointer(*pointer, memory)?;
        let accessed = self.find_accessed_type(pointer, memory);
        let value = self.in_layout(value, accessed)?;
        let mut words: TranslationWords = smallvec![pointer.word(), value.word()];
        words.extend(access.to_words());
        self.t.b.append_effect(Op::Store, &words);
        Ok(())
    }

    /// The alias scopes of an access, if their extension was requested.
    fn alias_scopes(&mut self, inst: LlvmInst) -> AccessAliasScopes {
        if self.function.attachments.is_empty() || !self.t.is_requested(alias_scopes::EXTENSION) {
            return AccessAliasScopes::default();
        }
        let mut emitter = AliasScopeEmitter {
            module: self.t.module,
            table: &mut self.t.aliasing,
            b: &mut self.t.b,
        };
        emitter.access_scopes(self.function, inst)
    }

    /// Converts a value of a type from memory form to register form. Pointers remain pointers to
    /// bytes.
    pub(in crate::translate) fn convert_to_register(
        &mut self,
        ty: LlvmType,
        id: Id,
    ) -> TranslationResult<Id> {
        if self.t.is_shader() {
            return Ok(id);
        }
        if ty == LlvmType::I1 {
            return Ok(self.is_nonzero(NumericShape::new_int(8, 1), id));
        }
        match self
            .t
            .find_shape(ty)
            .and_then(|s| Some((s, s.to_packed()?)))
        {
            Some((shape, packed)) => self.emit_bitcast(packed, shape, id),
            None => Ok(id),
        }
    }

    /// The type of a value in memory. Pointers with inferred address spaces are generic there.
    pub(super) fn stored_type(&self, value: LlvmValue) -> LlvmType {
        let ty = self.type_of(value);
        if self.t.inferred_pointer_types.contains(&ty) {
            LlvmType::PTR
        } else {
            ty
        }
    }

    /// A value in memory form.
    pub(in crate::translate) fn in_memory(&mut self, value: LlvmValue) -> TranslationResult<Id> {
        let ty = self.stored_type(value);
        let memory = self.t.memory_type(ty)?;
        if self.t.is_shader() {
            return self.lower_value(value);
        }
        if ty == LlvmType::I1 {
            let id = self.lower_value(value)?;
            return Ok(self.convert_boolean(id, NumericShape::new_int(8, 1), false));
        }
        if let Some((shape, packed)) = self
            .t
            .find_shape(ty)
            .and_then(|s| Some((s, s.to_packed()?)))
        {
            let id = self.lower_value(value)?;
            return self.emit_bitcast(shape, packed, id);
        }
        self.value_as(value, memory)
    }

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

    /// Loads lane by lane, or an integer in pieces of widths that SPIR-V has, so that no byte
    /// beyond the value is accessed.
    fn load_in_pieces(
        &mut self,
        shape: NumericShape,
        pointer: LlvmValue,
        access: TranslatedAccess,
    ) -> TranslationResult<Id> {
        let base = self.lower_value(pointer)?;
        let mut lanes = Vec::new();
        let scalar = shape.to_scalar();
        for lane in 0..shape.lanes {
            let start = u64::from(lane * shape.bits / 8);
            let mut whole: Option<Id> = None;
            for (offset, width) in split_width(shape.bits) {
                let part = NumericShape::new_int(width, 1);
                let ty = match shape.elem {
                    NumericElement::Float | NumericElement::Brain => self.t.shape_type(scalar),
                    _ => self.t.shape_type(part),
                };
                let at = start + u64::from(offset / 8);
                let bytes = self.byte_offset(base, at);
                let pointer = self.cast_pointer(bytes, ty);
                let mut words = vec![pointer.word()];
                words.extend(access.with_offset(at).to_words());
                let mut id = self.t.b.append_value(Op::Load, ty, &words);
                if shape.is_odd() {
                    id = self.resize_integer(part, scalar.as_int(shape.width), id, false);
                    id = self.shifted_left(scalar, id, offset);
                }
                whole = Some(match whole {
                    Some(low) => {
                        let ty = self.t.shape_type(scalar);
                        self.emit_op(Op::BitwiseOr, ty, [low, id])
                    }
                    None => id,
                });
            }
            lanes.extend(whole);
        }
        Ok(self.compose_vector(shape, &lanes))
    }

    fn shifted_left(&mut self, shape: NumericShape, id: Id, by: u32) -> Id {
        if by == 0 {
            return id;
        }
        let ty = self.t.shape_type(shape);
        let by = self.t.make_splat(shape, u64::from(by));
        self.emit_op(Op::ShiftLeftLogical, ty, [id, by])
    }

    fn store_in_pieces(
        &mut self,
        shape: NumericShape,
        value: LlvmValue,
        pointer: LlvmValue,
        access: TranslatedAccess,
    ) -> TranslationResult<()> {
        let base = self.lower_value(pointer)?;
        let value = self.lower_value(value)?;
        let scalar = shape.to_scalar();
        for lane in 0..shape.lanes {
            let start = u64::from(lane * shape.bits / 8);
            let id = self.extract_lane(shape, value, lane);
            for (offset, width) in split_width(shape.bits) {
                let mut part = id;
                if shape.is_odd() {
                    let ty = self.t.shape_type(scalar);
                    if offset > 0 {
                        let by = self.t.make_splat(scalar, u64::from(offset));
                        part = self.emit_op(Op::ShiftRightLogical, ty, [part, by]);
                    }
                    let whole = scalar.as_int(shape.width);
                    part = self.resize_integer(whole, NumericShape::new_int(width, 1), part, false);
                }
                let ty = match shape.elem {
                    NumericElement::Float | NumericElement::Brain => self.t.shape_type(scalar),
                    _ => self.t.shape_type(NumericShape::new_int(width, 1)),
                };
                let at = start + u64::from(offset / 8);
                let bytes = self.byte_offset(base, at);
                let pointer = self.cast_pointer(bytes, ty);
                let mut words = vec![pointer.word(), part.word()];
                words.extend(access.with_offset(at).to_words());
                self.t.b.append_effect(Op::Store, &words);
            }
        }
        Ok(())
    }

    pub(super) fn lower_address(&mut self, inst: LlvmInst) -> TranslationResult<Id> {
        if self.t.is_shader() {
            return self.shader_address(inst);
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
        let op = if data.flags.contains_all(LlvmInstFlags::INBOUNDS) {
            Op::InBoundsPtrAccessChain
        } else {
            Op::PtrAccessChain
        };
        Ok(self.t.b.append_value(op, ty, &words))
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
    fn lower_index(&mut self, value: LlvmValue) -> TranslationResult<Id> {
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
            _ => self.sign_extended(shape, id),
        })
    }
}

/// Whether a value is loaded and stored in parts: vectors and integers of whole bytes whose
/// representation is longer.
fn is_accessed_in_pieces(shape: NumericShape) -> bool {
    let bytes = shape.elem != NumericElement::Bool && shape.bits.is_multiple_of(8);
    bytes && (shape.lanes != shape.padded || shape.is_odd())
}

/// Offsets and widths in bits of the pieces that an integer consists of, in widths that SPIR-V has.
fn split_width(bits: u32) -> impl Iterator<Item = (u32, u32)> {
    let widths = [64, 32, 16, 8].into_iter();
    let mut offset = 0;
    widths
        .filter(move |width| bits & width != 0)
        .map(move |width| {
            let start = offset;
            offset += width;
            (start, width)
        })
}
