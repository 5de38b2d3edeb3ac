//! Physical storage buffers: device addresses in shaders.
//!
//! Shaders cannot cast such pointers as freely as LLVM does. They have no null pointer, and
//! pointers in memory need forward declarations. So an address is a 64-bit integer wherever it is a
//! value: in memory, in phis, in comparisons, as an argument. It becomes a pointer to the accessed
//! type where memory is accessed (`OpConvertUToPtr`). The result of an address computation stays a
//! pointer until it is used as a value.

use super::function_body::FunctionTranslator;
use super::shapes::NumericShape;
use super::translator::LlvmTranslator;
use crate::ir::{
    LlvmAlign, LlvmInst, LlvmInstFlags, LlvmOpcode, LlvmType, LlvmTypeKind, LlvmValue,
};
use crate::pointee_inference::element_type;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// The address space of physical storage buffers.
const SPACE: u32 = 14;

/// The shape of an address as a value.
pub(super) const ADDRESS: NumericShape = NumericShape::new_int(64, 1);

impl LlvmTranslator<'_> {
    /// Whether a type is that of device addresses of a shader.
    pub(super) fn is_address(&self, ty: LlvmType) -> bool {
        self.is_shader() && self.module.types.address_space(ty) == Some(SPACE)
    }

    /// The address space of a pointer that stays a pointer in SPIR-V when it is a value.
    pub(super) fn pointer_space(&self, ty: LlvmType) -> Option<u32> {
        let space = self.module.types.address_space(ty)?;
        (!self.is_address(ty)).then_some(space)
    }

    /// Whether the module has device addresses.
    pub(super) fn has_addresses(&self) -> bool {
        self.is_shader() && self.module.types.iter().any(|(ty, _)| self.is_address(ty))
    }
}

impl FunctionTranslator<'_, '_> {
    /// Whether an operand is a device address.
    pub(super) fn is_address(&self, value: LlvmValue) -> bool {
        self.t.is_address(self.type_of(value))
    }

    /// Converts a pointer into a physical storage buffer to an integer; other values are unchanged.
    pub(super) fn as_address(&mut self, id: Id) -> Id {
        let known = self.t.b.type_of(id).and_then(|ty| self.t.pointee_of(ty));
        match known {
            Some((StorageClass::PhysicalStorageBuffer, _)) => {
                let ty = self.t.shape_type(ADDRESS);
                self.emit_op(Op::ConvertPtrToU, ty, [id])
            }
            _ => id,
        }
    }

    /// Converts the result of an instruction to an integer if a phi uses it, because a conversion
    /// cannot be placed at the phi.
    pub(super) fn adapt_address(&mut self, inst: LlvmInst, id: Id) -> Id {
        let local = self.local_of(inst);
        if self.is_phi_operand(local) {
            self.as_address(id)
        } else {
            id
        }
    }

    /// A device address as a pointer to a type in memory form.
    pub(super) fn address_to_pointer(&mut self, address: LlvmValue, pointee: Id) -> LlvmResult<Id> {
        let place = address
            .as_local()
            .and_then(|local| self.find_translated(local));
        let known = place.and_then(|id| self.t.b.type_of(id));
        let known = known.and_then(|ty| self.t.pointee_of(ty));
        if let (Some(place), Some((_, have))) = (place, known)
            && self.t.is_laid_out(have, pointee)
        {
            return Ok(place);
        }
        let number = self.lower_value(address)?;
        Ok(self.pointer_at(number, pointee))
    }

    fn pointer_at(&mut self, number: Id, pointee: Id) -> Id {
        let class = StorageClass::PhysicalStorageBuffer;
        let ty = self.t.pointer_type(class, pointee);
        self.emit_op(Op::ConvertUToPtr, ty, [number])
    }

    /// The alignment of an access through a device address, which must be stated.
    pub(super) fn address_align(&self, ty: LlvmType, stated: LlvmAlign) -> LlvmAlign {
        match stated {
            LlvmAlign::NONE => {
                let (layout, types) = (&self.t.module.layout, &self.t.module.types);
                let natural = layout.abi_align(types, types.scalar_type(ty));
                LlvmAlign::from_bytes(natural).unwrap_or(LlvmAlign::from_exponent(0))
            }
            stated => stated,
        }
    }

    /// An address computation: the first index, in whole objects, is added to the address; the
    /// other indices select a member of the object there.
    pub(super) fn lower_device_address(
        &mut self,
        source: LlvmType,
        operands: &[LlvmValue],
        flags: LlvmInstFlags,
    ) -> LlvmResult<Id> {
        let (base, first) = match operands {
            [base, first, ..] => (*base, *first),
            _ => return Err(make_refusal("an address computation without an index")),
        };
        let path = &operands[2..];
        if self.is_zero(first) {
            return match path {
                [] => self.lower_value(base),
                path => {
                    let pointee = self.t.memory_type(source)?;
                    let object = self.address_to_pointer(base, pointee)?;
                    self.access_path(object, source, path, flags)
                }
            };
        }
        if element_type(self.t.module, source, operands[1..].iter().copied()).is_none() {
            return Err(make_refusal(
                "an address computation steps into a type without members",
            ));
        }
        let Some(size) = self.object_size(source) else {
            return Err(make_refusal(
                "an address computation steps over objects of unknown size",
            ));
        };
        let number = self.lower_value(base)?;
        let shape = self.shape_of(first)?;
        let index = self.lower_value(first)?;
        let index = self.convert_number(LlvmOpcode::SExt, shape, ADDRESS, index)?;
        let ty = self.t.shape_type(ADDRESS);
        let bytes = match size {
            1 => index,
            size => {
                let size = self.t.make_splat(ADDRESS, size);
                self.emit_op(Op::IMul, ty, [index, size])
            }
        };
        let number = self.emit_op(Op::IAdd, ty, [number, bytes]);
        match path {
            [] => Ok(number),
            path => {
                let pointee = self.t.memory_type(source)?;
                let object = self.pointer_at(number, pointee);
                self.access_path(object, source, path, flags)
            }
        }
    }

    /// Distance in bytes between consecutive objects of a type. It is unknown if the module states
    /// a layout for the type, as that does not include its size.
    fn object_size(&self, ty: LlvmType) -> Option<u64> {
        let types = &self.t.module.types;
        let mut innermost = ty;
        while let LlvmTypeKind::Array { element, .. } = types.kind(innermost) {
            innermost = *element;
        }
        if self.t.has_layout(innermost) {
            None
        } else {
            self.t.module.layout.alloc_size(types, ty)
        }
    }
}
