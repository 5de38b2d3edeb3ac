//! Memory instructions: loads, stores and copies.

use super::ShaderLowering;
use super::composites::expect_result;
use super::memory::ShaderMemoryLocation;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::points_to::{align_at_offset, memory_operands};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemoryAccess, StorageClass};
use spirula_spirv::ir::InstRef;

/// Most pieces of a copy that are unrolled.
const UNROLLED: u64 = 32;

impl ShaderLowering<'_> {
    /// The location of a pointer of the source, with the memory operands from word `n` on.
    pub fn locate_access(
        &mut self,
        inst: InstRef<'_>,
        pointer: Id,
        n: usize,
        natural: u32,
    ) -> Result<ShaderMemoryLocation, SourceDiagnostic> {
        let set = self.find_points_to_set(pointer)?;
        let (flags, align) = memory_operands(inst, n);
        Ok(ShaderMemoryLocation {
            set,
            pointer: self.lower_pointer(pointer, set)?,
            region: None,
            offset: 0,
            align: align.unwrap_or(natural),
            is_volatile: flags.contains(MemoryAccess::Volatile),
        })
    }
}

/// `OpLoad`.
pub fn lower_load(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let pointer = inst.id_operand(0);
    if l.info.pointer_of(pointer) == Some(StorageClass::Input) {
        return l.load_builtin(inst);
    }
    let ty = l.info.type_of(expect_result(inst));
    let ty = ty.ok_or_else(|| l.info.diagnose_id(pointer, "this load"))?;
    if l.is_nowhere(pointer) {
        let ty = l.result_type(expect_result(inst))?;
        return Ok(l.b.constant_null(ty));
    }
    let natural = l.info.layouts.get(ty).align;
    let place = l.locate_access(inst, pointer, 1, natural)?;
    let value = l.load_value(place, ty)?;
    l.convert_from_memory_form(expect_result(inst), value)
}

/// `OpStore`.
pub fn lower_store(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
    let (pointer, object) = (inst.id_operand(0), inst.id_operand(1));
    let ty = l.info.type_of(object);
    let ty = ty.ok_or_else(|| l.info.diagnose_id(pointer, "this store"))?;
    if l.is_nowhere(pointer) {
        return Ok(());
    }
    let natural = l.info.layouts.get(ty).align;
    let place = l.locate_access(inst, pointer, 2, natural)?;
    let value = l.convert_to_memory_form(object)?;
    l.store_value(place, ty, value)
}

/// `OpCopyMemory` and `OpCopyMemorySized`.
pub fn lower_copy_memory(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    let (to, from) = (inst.id_operand(0), inst.id_operand(1));
    if l.is_nowhere(to) || l.is_nowhere(from) {
        return Ok(());
    }
    let is_sized = inst.op() == Op::CopyMemorySized;
    let pointee = l
        .info
        .find_pointee(to)
        .or_else(|_| l.info.find_pointee(from));
    let natural = match pointee {
        Ok(ty) => l.info.layouts.get(ty).align,
        Err(_) => 1,
    };
    let at = if is_sized { 3 } else { 2 };
    let to = l.locate_access(inst, to, at, natural)?;
    let from = l.locate_access(inst, from, at, natural)?;
    let piece = l.choose_copy_unit(to, from);
    let scalar = MemoryScalar::Int(piece * 8);
    let size = if is_sized {
        l.info.read_constant(inst.id_operand(2))
    } else {
        Some(l.info.layouts.get(pointee?).size)
    };
    let Some(size) = size else {
        return copy_loop(l, inst, to, from, piece);
    };
    if size / u64::from(piece) > UNROLLED && size % u64::from(piece) == 0 {
        return copy_loop(l, inst, to, from, piece);
    }
    let whole = size / u64::from(piece);
    // Everything is read before anything is written, since the memories may overlap.
    let mut values = Vec::new();
    for n in 0..whole {
        values.push(l.load_scalars(from.advance_by(n * u64::from(piece)), scalar, 1)?);
    }
    for (n, value) in values.into_iter().enumerate() {
        l.store_scalars(to.advance_by(n as u64 * u64::from(piece)), scalar, 1, value)?;
    }
    let rest = whole * u64::from(piece)..size;
    if !rest.is_empty() && piece > align_of_rest(l, to, from) {
        return Err(crate::error::diagnose_instruction(
            inst,
            "a copy of a part of an element",
        ));
    }
    for at in rest {
        let value = l.load_scalars(from.advance_by(at), MemoryScalar::Int(8), 1)?;
        l.store_scalars(to.advance_by(at), MemoryScalar::Int(8), 1, value)?;
    }
    Ok(())
}

impl ShaderLowering<'_> {
    /// Whether a pointer is always null. An access by it has undefined behaviour; it is dropped, and reads zero.
    pub fn is_nowhere(&self, pointer: Id) -> bool {
        self.info.is_nothing(pointer) && self.points_to.find_set(pointer).is_none()
    }

    /// A zero of a type.
    pub fn make_zero(&mut self, scalar: MemoryScalar) -> Id {
        match scalar.to_stored_scalar() {
            MemoryScalar::Float(width) => self.make_float_constant(width, 0.0),
            MemoryScalar::Bool => self.b.constant_bool(false),
            other => self.make_uint_constant(other.size() * 8, 0),
        }
    }

    /// A location that is advanced by a 32-bit number of bytes, a multiple of `step`.
    pub fn advance_location(
        &mut self,
        place: ShaderMemoryLocation,
        offset: Id,
        step: u32,
    ) -> ShaderMemoryLocation {
        let ty = self.pointer_type(place.set);
        let offset = match self.points_to.memory(place.set).pointer_width() {
            64 => self.emit_value(Op::UConvert, ty, &[offset]),
            _ => offset,
        };
        ShaderMemoryLocation {
            pointer: self.emit_value(Op::IAdd, ty, &[place.pointer, offset]),
            align: align_at_offset(place.align, step.into()),
            ..place
        }
    }

    /// The pieces of a copy, in bytes: elements of arrays. If both sides are arrays, the larger elements are taken, since elements can be
    /// combined but not split.
    fn choose_copy_unit(&self, to: ShaderMemoryLocation, from: ShaderMemoryLocation) -> u32 {
        let element = |place: ShaderMemoryLocation| {
            let memory = self.points_to.memory(place.set);
            (!memory.is_physical).then(|| memory.access_unit())
        };
        let align = align_at_offset(to.align, 0)
            .min(align_at_offset(from.align, 0))
            .min(4);
        element(to).max(element(from)).unwrap_or(align)
    }
}

/// The size of elements that can be copied bytewise.
fn align_of_rest(
    l: &ShaderLowering<'_>,
    to: ShaderMemoryLocation,
    from: ShaderMemoryLocation,
) -> u32 {
    let places = [to, from];
    let is_physical = places.iter().all(|p| l.points_to.memory(p.set).is_physical);
    if is_physical { u32::MAX } else { 1 }
}

/// A copy piece by piece in an unstructured loop; the structuriser runs afterwards.
fn copy_loop(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
    to: ShaderMemoryLocation,
    from: ShaderMemoryLocation,
    piece: u32,
) -> Result<(), SourceDiagnostic> {
    let bytes = match inst.op() {
        Op::CopyMemorySized => {
            let (scalar, _) = l.find_component_scalar(inst.id_operand(2))?;
            let size = l.lower_operand(inst.id_operand(2))?;
            l.resize_int(size, scalar.size() * 8, 32)
        }
        _ => l.make_uint_constant(
            32,
            l.info
                .layouts
                .get(l.info.find_pointee(inst.id_operand(0))?)
                .size,
        ),
    };
    let (zero, step) = (
        l.make_uint_constant(32, 0),
        l.make_uint_constant(32, piece.into()),
    );
    l.emit_counted_loop([zero, step, bytes], |l, offset| {
        let (from, to) = (
            l.advance_location(from, offset, piece),
            l.advance_location(to, offset, piece),
        );
        let value = l.load_scalars(from, MemoryScalar::Int(piece * 8), 1)?;
        l.store_scalars(to, MemoryScalar::Int(piece * 8), 1, value)
    })
}
