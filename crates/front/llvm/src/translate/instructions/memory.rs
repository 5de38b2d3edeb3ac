//! Memory instructions: loads and stores.

use crate::ir::{
    InstructionExtra, LlvmAlign, LlvmInst, LlvmInstFlags, LlvmSymbol, LlvmType, LlvmValue, Ordering,
};
use crate::translate::alias_scopes::{self, AccessAliasScopes, AliasScopeEmitter};
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::translate::words::TranslationWords;
use crate::{LlvmResult, make_refusal};
use smallvec::smallvec;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;

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
    /// The access properties of a value of a type at an address.
    fn resolve_access(
        &mut self,
        inst: LlvmInst,
        ty: LlvmType,
        place: LlvmValue,
    ) -> LlvmResult<(TranslatedAccess, Ordering, LlvmSymbol)> {
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

    pub(super) fn lower_load(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let ty = self.function.inst(inst).ty;
        let pointer = self.function.operands(inst)[0];
        let (access, ordering, scope) = self.resolve_access(inst, ty, pointer)?;
        if !matches!(ordering, Ordering::NotAtomic | Ordering::Unordered) {
            return self.emit_atomic_load(ty, pointer, ordering, scope);
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

    pub(super) fn lower_store(&mut self, inst: LlvmInst) -> LlvmResult<()> {
        let [value, pointer] = self.function.operands(inst) else {
            return Err(make_refusal("a store without two operands"));
        };
        let ty = self.stored_type(*value);
        let (access, ordering, scope) = self.resolve_access(inst, ty, *pointer)?;
        if !matches!(ordering, Ordering::NotAtomic | Ordering::Unordered) {
            return self.emit_atomic_store(*value, *pointer, ordering, scope);
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
    ) -> LlvmResult<Id> {
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
    pub(in crate::translate) fn in_memory(&mut self, value: LlvmValue) -> LlvmResult<Id> {
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

    /// Loads lane by lane, or an integer in pieces of widths that SPIR-V has, so that no byte
    /// beyond the value is accessed.
    fn load_in_pieces(
        &mut self,
        shape: NumericShape,
        pointer: LlvmValue,
        access: TranslatedAccess,
    ) -> LlvmResult<Id> {
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
                    id = self.emit_shift_left(scalar, id, offset);
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

    fn emit_shift_left(&mut self, shape: NumericShape, id: Id, by: u32) -> Id {
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
    ) -> LlvmResult<()> {
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
