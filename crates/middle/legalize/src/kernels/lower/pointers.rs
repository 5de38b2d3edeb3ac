//! Pointers as numbers: access chains, casts and comparisons.

use super::ShaderLowering;
use super::composites::expect_result;
use crate::kernels::module_info::MemoryScalar;
use crate::kernels::pointer_delta::PointerDelta;
use crate::kernels::points_to::{PointerRegion, PointsToSetId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics, StorageClass};
use spirula_spirv::ir::InstRef;

impl ShaderLowering<'_> {
    /// Bits of a set's pointers.
    fn pointer_width(&self, set: PointsToSetId) -> u32 {
        self.points_to.memory(set).pointer_width()
    }

    /// Advances a pointer of some width by a number of bytes.
    pub fn add_byte_offset(&mut self, width: u32, pointer: Id, bytes: i64) -> Id {
        if bytes == 0 {
            return pointer;
        }
        if let Some(known) = self.numbers.get(&pointer) {
            return self.make_uint_constant(width, known.wrapping_add(bytes as u64));
        }
        let (ty, bytes) = (
            self.make_int_type(width),
            self.make_uint_constant(width, bytes as u64),
        );
        self.emit_value(Op::IAdd, ty, &[pointer, bytes])
    }
}

/// Access chains of all kinds.
pub fn lower_access_chain(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let base = inst.id_operand(0);
    let indices: Vec<Id> = inst.id_operands(1).collect();
    let set = l.find_points_to_set(expect_result(inst))?;
    let steps = PointerDelta::new(l.info, inst.op(), base, &indices)?;
    let mut pointer = l.lower_pointer(base, set)?;
    let width = l.pointer_width(set);
    let ty = l.make_int_type(width);
    for (index, stride) in steps.indices {
        let (scalar, _) = l.find_component_scalar(index)?;
        let value = l.lower_operand(index)?;
        let own = scalar.size() * 8;
        let index = match own.cmp(&width) {
            std::cmp::Ordering::Less => l.emit_value(Op::SConvert, ty, &[value]),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => l.emit_value(Op::UConvert, ty, &[value]),
        };
        let bytes = match stride {
            1 => index,
            _ => {
                let stride = l.make_uint_constant(width, stride);
                l.emit_value(Op::IMul, ty, &[index, stride])
            }
        };
        pointer = match l.numbers.get(&pointer) {
            Some(0) => bytes,
            _ => l.emit_value(Op::IAdd, ty, &[pointer, bytes]),
        };
    }
    Ok(l.add_byte_offset(width, pointer, steps.bytes))
}

/// Casts from pointer to pointer.
pub fn lower_pointer_cast(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let set = l.find_points_to_set(expect_result(inst))?;
    l.lower_pointer(inst.id_operand(0), set)
}

/// `OpBitcast`, of pointers or other values.
pub fn lower_bitcast(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    match (
        l.info.is_pointer(inst.id_operand(0)),
        l.info.is_pointer(expect_result(inst)),
    ) {
        (true, true) => lower_pointer_cast(l, inst),
        (true, false) => to_bits(l, inst),
        (false, true) => from_bits(l, inst),
        (false, false) => super::bits::lower_value_bitcast(l, inst),
    }
}

/// `OpCopyObject`.
pub fn lower_copy_object(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    if l.info.is_pointer(inst.id_operand(0)) {
        lower_pointer_cast(l, inst)
    } else {
        l.lower_operand(inst.id_operand(0))
    }
}

/// `OpGenericCastToPtrExplicit`: the pointer if it points to the storage class, else null.
pub fn lower_explicit_cast(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let set = l.find_points_to_set(expect_result(inst))?;
    let memory = l.points_to.memory(set);
    let wanted = match StorageClass(inst.operand_word(1)) {
        StorageClass::CrossWorkgroup => PointerRegion::Buffer,
        StorageClass::Workgroup => PointerRegion::Shared,
        _ => PointerRegion::Own,
    };
    if memory.is_generic() {
        let pointer = l.lower_pointer(inst.id_operand(0), set)?;
        let (is_there, ty, null) = (
            l.is_to(pointer, wanted),
            l.make_int_type(64),
            l.make_uint_constant(64, 0),
        );
        return Ok(l.emit_value(Op::Select, ty, &[is_there, pointer, null]));
    }
    if memory.list_regions().contains(&wanted) {
        l.lower_pointer(inst.id_operand(0), set)
    } else {
        Ok(l.make_uint_constant(memory.pointer_width(), 0))
    }
}

/// `OpGenericPtrMemSemantics`.
pub fn lower_pointer_semantics(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let set = l.find_points_to_set(inst.id_operand(0))?;
    let memory = l.points_to.memory(set);
    let (regions, is_generic) = (memory.list_regions(), memory.is_generic());
    let semantics = |region| match region {
        PointerRegion::Buffer => MemorySemantics::CrossWorkgroupMemory.0,
        PointerRegion::Shared => MemorySemantics::WorkgroupMemory.0,
        PointerRegion::Own => 0,
    };
    let mut found = l.make_uint_constant(32, semantics(regions[0]).into());
    if is_generic {
        let pointer = l.lower_pointer(inst.id_operand(0), set)?;
        for region in regions.into_iter().skip(1) {
            let (is_there, ty) = (l.is_to(pointer, region), l.make_int_type(32));
            let number = l.make_uint_constant(32, semantics(region).into());
            found = l.emit_value(Op::Select, ty, &[is_there, number, found]);
        }
    }
    Ok(found)
}

/// `OpConvertPtrToU`.
pub fn to_number(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (to, _) = l.find_component_scalar(expect_result(inst))?;
    if l.info.is_nothing(inst.id_operand(0)) {
        return Ok(l.make_uint_constant(to.size() * 8, 0));
    }
    let set = l.find_points_to_set(inst.id_operand(0))?;
    let (value, width) = (l.lower_operand(inst.id_operand(0))?, l.pointer_width(set));
    Ok(l.resize_int(value, width, to.size() * 8))
}

/// `OpConvertUToPtr`.
pub fn from_number(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let set = l.find_points_to_set(expect_result(inst))?;
    let (from, _) = l.find_component_scalar(inst.id_operand(0))?;
    let (value, width) = (l.lower_operand(inst.id_operand(0))?, l.pointer_width(set));
    Ok(l.resize_int(value, from.size() * 8, width))
}

/// `OpBitcast` of a pointer to a number or a vector of 64 bits.
fn to_bits(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let result = expect_result(inst);
    let (to, count) = l.find_component_scalar(result)?;
    if let (MemoryScalar::Int(_), 1) = (to, count) {
        return to_number(l, inst);
    }
    let pointer = inst.id_operand(0);
    let number = match l.points_to.find_set(pointer) {
        Some(set) => {
            let (value, width) = (l.lower_pointer(pointer, set)?, l.pointer_width(set));
            l.resize_int(value, width, 64)
        }
        None => l.make_uint_constant(64, 0),
    };
    let parts = l.split_pieces(number, MemoryScalar::Int(64), to);
    let ty = l.result_type(result)?;
    Ok(match parts[..] {
        [only] => only,
        _ => l.construct_composite(ty, parts),
    })
}

/// `OpBitcast` of a number or a vector of 64 bits to a pointer.
fn from_bits(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let operand = inst.id_operand(0);
    let (from, count) = l.find_component_scalar(operand)?;
    if let (MemoryScalar::Int(_), 1) = (from, count) {
        return from_number(l, inst);
    }
    let set = l.find_points_to_set(expect_result(inst))?;
    let lanes = l.lanes_of(operand)?;
    let number = l.join_pieces(lanes, from, MemoryScalar::Int(64));
    let width = l.pointer_width(set);
    Ok(l.resize_int(number, 64, width))
}

/// `OpPtrEqual`, `OpPtrNotEqual`, and comparisons of integers that are applied to pointers.
pub fn lower_pointer_comparison(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (a, b) = (inst.id_operand(0), inst.id_operand(1));
    let op = match inst.op() {
        Op::PtrEqual => Op::IEqual,
        Op::PtrNotEqual => Op::INotEqual,
        op => op,
    };
    let set = match (l.points_to.find_set(a), l.points_to.find_set(b)) {
        (Some(x), Some(y)) if x != y => return compare_sets(l, op, [(a, x), (b, y)]),
        (Some(x), _) | (_, Some(x)) => x,
        _ => return Ok(l.b.constant_bool(op == Op::IEqual)),
    };
    let (a, b) = (l.lower_pointer(a, set)?, l.lower_pointer(b, set)?);
    let ty = l.b.bool_type();
    Ok(l.emit_value(op, ty, &[a, b]))
}

/// Compares pointers of different sets. Arguments may be the same buffer, and null pointers are equal; other objects of different
/// sets are different.
fn compare_sets(
    l: &mut ShaderLowering<'_>,
    op: Op,
    pointers: [(Id, PointsToSetId); 2],
) -> Result<Id, SourceDiagnostic> {
    let truth = l.b.bool_type();
    let memories = pointers.map(|(_, set)| l.points_to.memory(set));
    let may_be_buffers = memories.iter().all(|memory| memory.has_buffers());
    let may_be_null = memories.iter().all(|memory| memory.may_be_null());
    let is_tagged = memories.iter().all(|memory| memory.is_generic());
    let is_equality = matches!(op, Op::IEqual | Op::INotEqual);
    let is_comparable = may_be_buffers || (may_be_null && is_equality);
    if !is_comparable {
        return Ok(l.b.constant_bool(op == Op::INotEqual));
    }
    let [(a, x), (b, y)] = pointers;
    let lowered = [l.lower_pointer(a, x)?, l.lower_pointer(b, y)?];
    if may_be_buffers && !(is_tagged && is_equality) {
        return Ok(l.emit_value(op, truth, &lowered));
    }
    let equal = if may_be_buffers {
        // Numbers of other regions may be the same by chance.
        let (same, is_there) = (
            l.emit_value(Op::IEqual, truth, &lowered),
            l.is_to(lowered[0], PointerRegion::Buffer),
        );
        l.emit_value(Op::LogicalAnd, truth, &[same, is_there])
    } else {
        let [first, second] = [(lowered[0], x), (lowered[1], y)].map(|(pointer, set)| {
            let null = l.make_uint_constant(l.pointer_width(set), 0);
            l.emit_value(Op::IEqual, truth, &[pointer, null])
        });
        l.emit_value(Op::LogicalAnd, truth, &[first, second])
    };
    Ok(match op {
        Op::IEqual => equal,
        _ => l.emit_value(Op::LogicalNot, truth, &[equal]),
    })
}

/// `OpPtrDiff`.
pub fn lower_pointer_difference(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let set = l.find_points_to_set(inst.id_operand(0))?;
    let layout = l.info.layouts.get(l.info.find_pointee(inst.id_operand(0))?);
    let stride = layout.size.next_multiple_of(layout.align.into());
    let (a, b) = (
        l.lower_pointer(inst.id_operand(0), set)?,
        l.lower_pointer(inst.id_operand(1), set)?,
    );
    let width = l.pointer_width(set);
    let (ty, stride) = (l.make_int_type(width), l.make_uint_constant(width, stride));
    let bytes = l.emit_value(Op::ISub, ty, &[a, b]);
    let count = l.emit_value(Op::SDiv, ty, &[bytes, stride]);
    let (to, _) = l.find_component_scalar(expect_result(inst))?;
    if to.size() * 8 == width {
        return Ok(count);
    }
    let to = l.make_int_type(to.size() * 8);
    Ok(l.emit_value(Op::SConvert, to, &[count]))
}

/// `OpSelect`, of pointers or other values.
pub fn lower_select(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let (condition, a, b) = (inst.id_operand(0), inst.id_operand(1), inst.id_operand(2));
    if l.info.is_pointer(expect_result(inst)) {
        let set = l.find_points_to_set(expect_result(inst))?;
        let condition = l.lower_operand(condition)?;
        let (a, b) = (l.lower_pointer(a, set)?, l.lower_pointer(b, set)?);
        let ty = l.pointer_type(set);
        return Ok(l.emit_value(Op::Select, ty, &[condition, a, b]));
    }
    if l.info
        .type_of(a)
        .is_some_and(|ty| l.info.split_vector_type(ty).1 == 1)
    {
        let (condition, a, b) = (
            l.lower_operand(condition)?,
            l.lower_operand(a)?,
            l.lower_operand(b)?,
        );
        let ty = l.result_type(expect_result(inst))?;
        return Ok(l.emit_value(Op::Select, ty, &[condition, a, b]));
    }
    l.map_components(inst, &[condition, a, b], |l, ty, v| {
        l.emit_value(Op::Select, ty, v)
    })
}
