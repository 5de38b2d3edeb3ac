//! Memory accesses: loads and stores of values of any type, by the points-to set of the pointer.

use super::ShaderLowering;
use super::types::WIDEST;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::points_to::{PointerRegion, PointsToSetId, align_at_offset};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemoryAccess, StorageClass};

/// Deepest nesting of types.
const DEEPEST: u32 = 64;

/// A location in memory.
#[derive(Clone, Copy)]
pub struct ShaderMemoryLocation {
    /// Points-to set of the pointer.
    pub set: PointsToSetId,
    /// The pointer.
    pub pointer: Id,
    /// The region, once it is known for a generic pointer, which is then an offset in that region.
    pub region: Option<PointerRegion>,
    /// Offset from the pointer, in bytes.
    pub offset: u64,
    /// Alignment of the pointer without the offset.
    pub align: u32,
    /// Whether accesses are volatile.
    pub is_volatile: bool,
}

impl ShaderMemoryLocation {
    pub fn advance_by(self, bytes: u64) -> ShaderMemoryLocation {
        ShaderMemoryLocation {
            offset: self.offset + bytes,
            ..self
        }
    }
}

impl ShaderLowering<'_> {
    /// Loads a value of a source type.
    pub fn load_value(
        &mut self,
        place: ShaderMemoryLocation,
        ty: Id,
    ) -> Result<Id, SourceDiagnostic> {
        self.load_part(place, ty, 0)
    }

    fn load_part(
        &mut self,
        place: ShaderMemoryLocation,
        ty: Id,
        depth: u32,
    ) -> Result<Id, SourceDiagnostic> {
        if depth > DEEPEST {
            return Err(self.info.diagnose_id(ty, "so deep a type"));
        }
        if let Some(scalar) = self.info.classify_scalar(ty) {
            return self.load_scalars(place, scalar, 1);
        }
        let def = self.info.find_definition(ty)?;
        if def.op() == Op::TypeVector
            && let Some(scalar) = self.info.classify_scalar(def.id_operand(0))
            && def.operand_word(1) <= WIDEST
        {
            return self.load_scalars(place, scalar, def.operand_word(1));
        }
        let made = self.lower_type(ty)?;
        let mut parts = Vec::new();
        if let Some((scalar, count)) = self.find_wide_vector(ty)? {
            let part = self.make_scalar_type(scalar);
            for piece in 0..count / WIDEST {
                let place = place.advance_by(u64::from(piece * WIDEST * scalar.size()));
                let loaded = self.load_scalars(place, scalar, WIDEST)?;
                parts.extend((0..WIDEST).map(|n| self.extract_component(part, loaded, n)));
            }
            return Ok(self.construct_composite(made, parts));
        }
        for (part, at) in self.info.list_members(ty)? {
            parts.push(self.load_part(place.advance_by(at), part, depth + 1)?);
        }
        Ok(self.construct_composite(made, parts))
    }

    /// Stores a value of a source type, in the form that composites have.
    pub fn store_value(
        &mut self,
        place: ShaderMemoryLocation,
        ty: Id,
        value: Id,
    ) -> Result<(), SourceDiagnostic> {
        self.store_part(place, ty, value, 0)
    }

    fn store_part(
        &mut self,
        place: ShaderMemoryLocation,
        ty: Id,
        value: Id,
        depth: u32,
    ) -> Result<(), SourceDiagnostic> {
        if depth > DEEPEST {
            return Err(self.info.diagnose_id(ty, "so deep a type"));
        }
        if let Some(scalar) = self.info.classify_scalar(ty) {
            return self.store_scalars(place, scalar, 1, value);
        }
        let def = self.info.find_definition(ty)?;
        if def.op() == Op::TypeVector
            && let Some(scalar) = self.info.classify_scalar(def.id_operand(0))
            && def.operand_word(1) <= WIDEST
        {
            return self.store_scalars(place, scalar, def.operand_word(1), value);
        }
        if let Some((scalar, count)) = self.find_wide_vector(ty)? {
            let part = self.make_scalar_type(scalar);
            let piece_type = self.make_vector_type(part, WIDEST);
            for piece in 0..count / WIDEST {
                let place = place.advance_by(u64::from(piece * WIDEST * scalar.size()));
                let first = piece * WIDEST;
                let components = first..first + WIDEST;
                let components = components.map(|n| self.extract_component(part, value, n));
                let components = components.collect();
                let stored = self.construct_composite(piece_type, components);
                self.store_scalars(place, scalar, WIDEST, stored)?;
            }
            return Ok(());
        }
        for (n, (part, at)) in self.info.list_members(ty)?.into_iter().enumerate() {
            let made = self.lower_type(part)?;
            let piece = self.extract_component(made, value, n as u32);
            self.store_part(place.advance_by(at), part, piece, depth + 1)?;
        }
        Ok(())
    }

    /// The scalars of a vector that is wider than those of Vulkan, and whose pieces are as wide as those are: one access of
    /// a piece takes as long as that of a scalar.
    fn find_wide_vector(&self, ty: Id) -> Result<Option<(MemoryScalar, u32)>, SourceDiagnostic> {
        let def = self.info.find_definition(ty)?;
        let is_wide = def.op() == Op::TypeVector
            && def.operand_word(1) > WIDEST
            && def.operand_word(1).is_multiple_of(WIDEST);
        let scalar = is_wide.then(|| self.info.classify_scalar(def.id_operand(0)));
        Ok(scalar.flatten().map(|scalar| (scalar, def.operand_word(1))))
    }

    /// Loads consecutive scalars.
    pub fn load_scalars(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        count: u32,
    ) -> Result<Id, SourceDiagnostic> {
        let part = self.make_scalar_type(scalar);
        let ty = self.make_vector_type(part, count);
        let Some(region) = self.find_region(place) else {
            return self.load_generic(place, scalar, count, ty);
        };
        let size = scalar.size();
        let align = align_at_offset(place.align, place.offset);
        let is_physical = region == PointerRegion::Buffer;
        if is_physical && align >= size {
            let kept = self.make_stored_type(scalar);
            let stored = self.make_vector_type(kept, count);
            let id = self.load_physical(place, stored, size, align);
            return Ok(self.decode_stored_bool(id, scalar, count));
        }
        let mut parts = Vec::new();
        for n in 0..count {
            let place = place.advance_by(u64::from(n * size));
            parts.push(if is_physical {
                self.load_pieces(place, scalar, align)
            } else {
                self.load_object(place, scalar)?
            });
        }
        Ok(self.construct_composite(ty, parts))
    }

    /// Stores consecutive scalars.
    pub fn store_scalars(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        count: u32,
        value: Id,
    ) -> Result<(), SourceDiagnostic> {
        let Some(region) = self.find_region(place) else {
            return self.store_generic(place, scalar, count, value);
        };
        let size = scalar.size();
        let align = align_at_offset(place.align, place.offset);
        let is_physical = region == PointerRegion::Buffer;
        if is_physical && align >= size {
            let value = self.encode_stored_bool(value, scalar, count);
            let kept = self.make_stored_type(scalar);
            let stored = self.make_vector_type(kept, count);
            self.store_physical(place, stored, size, align, value);
            return Ok(());
        }
        let part = self.make_scalar_type(scalar);
        for n in 0..count {
            let one = match count {
                1 => value,
                _ => self.extract_component(part, value, n),
            };
            let place = place.advance_by(u64::from(n * size));
            if is_physical {
                self.store_pieces(place, scalar, align, one)
            } else {
                self.store_object(place, scalar, one)?
            }
        }
        Ok(())
    }

    /// The type of a scalar in memory.
    fn make_stored_type(&mut self, scalar: MemoryScalar) -> Id {
        match scalar {
            MemoryScalar::Bool => self.make_int_type(8),
            other => self.make_scalar_type(other),
        }
    }

    fn decode_stored_bool(&mut self, value: Id, scalar: MemoryScalar, count: u32) -> Id {
        if scalar != MemoryScalar::Bool {
            return value;
        }
        let zero = self.make_uint_constant(8, 0);
        let zero = self.splat_constant(zero, count);
        let truth = self.b.bool_type();
        let ty = self.make_vector_type(truth, count);
        self.emit_value(Op::INotEqual, ty, &[value, zero])
    }

    fn encode_stored_bool(&mut self, value: Id, scalar: MemoryScalar, count: u32) -> Id {
        if scalar != MemoryScalar::Bool {
            return value;
        }
        let (one, zero) = (self.make_uint_constant(8, 1), self.make_uint_constant(8, 0));
        let (one, zero) = (
            self.splat_constant(one, count),
            self.splat_constant(zero, count),
        );
        let byte = self.make_int_type(8);
        let ty = self.make_vector_type(byte, count);
        self.emit_value(Op::Select, ty, &[value, one, zero])
    }

    /// A pointer into a buffer.
    pub fn make_buffer_pointer(&mut self, place: ShaderMemoryLocation, stored: Id) -> Id {
        let address = self.add_byte_offset(64, place.pointer, place.offset as i64);
        let pointer = self
            .b
            .pointer_type(StorageClass::PhysicalStorageBuffer, stored);
        self.emit_value(Op::ConvertUToPtr, pointer, &[address])
    }

    fn compute_access_flags(&self, place: ShaderMemoryLocation) -> u32 {
        let volatile = if place.is_volatile {
            MemoryAccess::Volatile.0
        } else {
            0
        };
        volatile | MemoryAccess::NonPrivatePointer.0
    }

    fn load_physical(
        &mut self,
        place: ShaderMemoryLocation,
        stored: Id,
        _size: u32,
        align: u32,
    ) -> Id {
        let pointer = self.make_buffer_pointer(place, stored);
        let flags = self.compute_access_flags(place) | MemoryAccess::Aligned.0;
        self.b
            .append_value(Op::Load, stored, &[pointer.word(), flags, align])
    }

    pub fn store_physical(
        &mut self,
        place: ShaderMemoryLocation,
        stored: Id,
        _size: u32,
        align: u32,
        value: Id,
    ) {
        let pointer = self.make_buffer_pointer(place, stored);
        let flags = self.compute_access_flags(place) | MemoryAccess::Aligned.0;
        let words = [pointer.word(), value.word(), flags, align];
        self.b.append_effect(Op::Store, &words);
    }

    /// A scalar in a buffer that is not aligned to its size, in pieces.
    fn load_pieces(&mut self, place: ShaderMemoryLocation, scalar: MemoryScalar, align: u32) -> Id {
        let piece = self.make_int_type(align * 8);
        let pieces = (0..scalar.size() / align).map(|n| {
            let place = place.advance_by(u64::from(n * align));
            self.load_physical(place, piece, align, align)
        });
        let pieces = pieces.collect();
        self.join_pieces(pieces, MemoryScalar::Int(align * 8), scalar)
    }

    fn store_pieces(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        align: u32,
        value: Id,
    ) {
        let piece = self.make_int_type(align * 8);
        let pieces = self.split_pieces(value, scalar, MemoryScalar::Int(align * 8));
        for (n, value) in pieces.into_iter().enumerate() {
            let place = place.advance_by(n as u64 * u64::from(align));
            self.store_physical(place, piece, align, align, value);
        }
    }

    /// A pointer to element `n` after a location, in the array of its set.
    pub fn make_element_pointer(
        &mut self,
        place: ShaderMemoryLocation,
        n: u32,
    ) -> Result<Id, SourceDiagnostic> {
        let region = self.find_region(place).unwrap_or(PointerRegion::Own);
        let (array, class) = self.declare_region_array(place.set, region)?;
        let element = self.points_to.memory(place.set).element_scalar();
        let offset = place.offset as i64 + i64::from(n * element.size());
        let at = self.add_byte_offset(32, place.pointer, offset);
        let shift = element.size().trailing_zeros();
        let index = match self.numbers.get(&at) {
            Some(value) => self.make_uint_constant(32, value >> shift),
            None if shift == 0 => at,
            None => {
                let (ty, shift) = (
                    self.make_int_type(32),
                    self.make_uint_constant(32, shift.into()),
                );
                self.emit_value(Op::ShiftRightLogical, ty, &[at, shift])
            }
        };
        let element = self.make_scalar_type(element);
        let pointer = self.b.pointer_type(class, element);
        Ok(self.emit_value(Op::AccessChain, pointer, &[array, index]))
    }

    fn load_object(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
    ) -> Result<Id, SourceDiagnostic> {
        let memory = self.points_to.memory(place.set);
        let (element, unit) = (memory.element_scalar(), memory.access_unit());
        if unit < element.size() {
            return self.load_packed(place, scalar, unit);
        }
        let ty = self.make_scalar_type(element);
        let mut pieces = Vec::new();
        for n in 0..(scalar.size() / element.size()).max(1) {
            let pointer = self.make_element_pointer(place, n)?;
            pieces.push(match self.object_flags(place) {
                Some(flags) => self.b.append_value(Op::Load, ty, &[pointer.word(), flags]),
                None => self.emit_value(Op::Load, ty, &[pointer]),
            });
        }
        Ok(self.join_pieces(pieces, element, scalar))
    }

    fn store_object(
        &mut self,
        place: ShaderMemoryLocation,
        scalar: MemoryScalar,
        value: Id,
    ) -> Result<(), SourceDiagnostic> {
        let memory = self.points_to.memory(place.set);
        let (element, unit) = (memory.element_scalar(), memory.access_unit());
        if unit < element.size() {
            return self.store_packed(place, scalar, unit, value);
        }
        let pieces = self.split_pieces(value, scalar, element);
        for (n, value) in pieces.into_iter().enumerate() {
            let pointer = self.make_element_pointer(place, n as u32)?;
            match self.object_flags(place) {
                Some(flags) => {
                    let words = [pointer.word(), value.word(), flags];
                    self.b.append_effect(Op::Store, &words);
                }
                None => self.emit_effect(Op::Store, &[pointer, value]),
            }
        }
        Ok(())
    }

    /// Memory operands for the array of a set: workgroup memory is shared.
    pub fn object_flags(&self, place: ShaderMemoryLocation) -> Option<u32> {
        let is_shared = self.find_region(place) == Some(PointerRegion::Shared);
        is_shared.then(|| self.compute_access_flags(place))
    }
}
