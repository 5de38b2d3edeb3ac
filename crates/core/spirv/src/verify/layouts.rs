//! Rule 16: explicit layouts of externally visible memory.
//!
//! Three sets of rules (Vulkan specification, "Offset and Stride Assignment"): *scalar*, *standard*
//! (std430) and *extended* (std140, where arrays and structures are aligned to 16 bytes).

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use crate::grammar::Op;
use crate::grammar::enumerants::{Decoration, StorageClass};
use crate::ir::InstRef;
use crate::target::TargetEnvironment;
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum BlockLayoutRules {
    Scalar,
    Standard,
    Extended,
}

/// The layout of a matrix: the decorations of its member.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct MatrixLayout {
    stride: u32,
    row_major: bool,
}

/// Types that were checked, and their alignments.
#[derive(Default)]
pub(super) struct CheckedLayouts {
    free: FxHashSet<u32>,
    decorated: FxHashSet<(u32, bool)>,
    laid_out: FxHashSet<(u32, BlockLayoutRules, u32, MatrixLayout)>,
    aligns: FxHashMap<(u32, BlockLayoutRules, MatrixLayout), u32>,
}

/// Deepest nesting that is followed; types nest by declaration, one in another.
const DEPTH: u32 = 256;

/// Checks the type of a variable, or of a pointer to physical storage.
pub(super) fn verify_layout(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    known: &mut CheckedLayouts,
) -> VerifyResult {
    let pointer = cx.type_shape(inst.result_type().map_or(0, crate::Id::word));
    if pointer.op != Op::TypePointer || !cx.is_vulkan() {
        return Ok(());
    }
    let class = pointer.class;
    let mut ty = pointer.part;
    let is_block = cx.defining_op(ty) == Op::TypeStruct && cx.has_decoration(ty, Decoration::Block);
    if inst.op() != Op::Variable && class != StorageClass::PhysicalStorageBuffer {
        return Ok(());
    }
    let required = match class {
        StorageClass::Workgroup if is_block => true,
        StorageClass::StorageBuffer
        | StorageClass::Uniform
        | StorageClass::PushConstant
        | StorageClass::PhysicalStorageBuffer => true,
        StorageClass::Workgroup | StorageClass::UniformConstant => {
            return verify_no_layout(cx, ty, class, known, 0);
        }
        StorageClass::Function | StorageClass::Private
            if cx.version > crate::grammar::SpirvVersion::new(1, 4) =>
        {
            return verify_no_layout(cx, ty, class, known, 0);
        }
        _ => false,
    };
    if !required {
        return Ok(());
    }
    if matches!(class, StorageClass::StorageBuffer | StorageClass::Uniform)
        && matches!(cx.defining_op(ty), Op::TypeArray | Op::TypeRuntimeArray)
    {
        ensure(
            VerifyRule::Layout,
            !cx.has_decoration(ty, Decoration::ArrayStride),
            || format!("the array of descriptors %{ty} has ArrayStride"),
        )?;
        ty = cx.type_shape(ty).part;
    }
    let scalar = cx.options.scalar_block_layout && class != StorageClass::Workgroup;
    let rules = if scalar {
        BlockLayoutRules::Scalar
    } else if class == StorageClass::Uniform && !cx.has_decoration(ty, Decoration::BufferBlock) {
        BlockLayoutRules::Extended
    } else {
        BlockLayoutRules::Standard
    };
    let walk = LayoutVerifier { cx, rules };
    walk.verify_decorations(ty, false, known, 0)?;
    walk.verify_offsets(ty, 0, MatrixLayout::default(), known, 0)
}

/// Types without an explicit layout have no layout decorations.
fn verify_no_layout(
    cx: &VerifyContext<'_>,
    ty: u32,
    class: StorageClass,
    known: &mut CheckedLayouts,
    depth: u32,
) -> VerifyResult {
    if depth > DEPTH || !known.free.insert(ty) {
        return Ok(());
    }
    let shape = cx.type_shape(ty);
    if shape.op == Op::TypePointer
        && !matches!(
            shape.class,
            StorageClass::UniformConstant | StorageClass::Function | StorageClass::Private
        )
    {
        return Ok(());
    }
    let whole = [
        Decoration::Block,
        Decoration::BufferBlock,
        Decoration::ArrayStride,
        Decoration::ArrayStrideIdEXT,
    ];
    let members = [
        Decoration::Offset,
        Decoration::MatrixStride,
        Decoration::RowMajor,
        Decoration::ColMajor,
    ];
    let say = |what: Decoration| {
        let message = format!("%{ty} has {what}, but the class {class} has no explicit layout");
        make_fault(VerifyRule::Layout, message)
    };
    if let Some(what) = whole.into_iter().find(|d| cx.has_decoration(ty, *d)) {
        known.free.remove(&ty);
        return Err(say(what));
    }
    for n in 0..cx.struct_members(ty).len() as u32 {
        let found = members
            .into_iter()
            .find(|d| cx.member_decoration(ty, n, *d).is_some());
        if let Some(what) = found {
            known.free.remove(&ty);
            return Err(say(what));
        }
    }
    match shape.op {
        Op::TypeStruct => {
            for member in cx.struct_members(ty) {
                verify_no_layout(cx, *member, class, known, depth + 1)?;
            }
            Ok(())
        }
        Op::TypeArray | Op::TypeRuntimeArray => {
            verify_no_layout(cx, shape.part, class, known, depth + 1)
        }
        _ => Ok(()),
    }
}

struct LayoutVerifier<'a, 'm> {
    cx: &'a VerifyContext<'m>,
    rules: BlockLayoutRules,
}

impl LayoutVerifier<'_, '_> {
    fn make_layout_fault(&self, ty: u32, message: &str) -> super::context::VerifyFault {
        let rules = match self.rules {
            BlockLayoutRules::Scalar => "scalar",
            BlockLayoutRules::Standard => "standard",
            BlockLayoutRules::Extended => "extended",
        };
        make_fault(
            VerifyRule::Layout,
            format!("%{ty}: {message} ({rules} layout)"),
        )
    }

    fn find_matrix_layout(&self, structure: u32, n: u32) -> (MatrixLayout, bool) {
        let cx = self.cx;
        let stride = cx.member_decoration(structure, n, Decoration::MatrixStride);
        let row = cx
            .member_decoration(structure, n, Decoration::RowMajor)
            .is_some();
        let column = cx
            .member_decoration(structure, n, Decoration::ColMajor)
            .is_some();
        let matrix = MatrixLayout {
            stride: stride.and_then(<[u32]>::first).copied().unwrap_or(0),
            row_major: row,
        };
        (matrix, matrix.stride != 0 && (row || column))
    }

    /// Every member has an offset, every array a stride, every matrix both of its.
    fn verify_decorations(
        &self,
        ty: u32,
        has_matrix: bool,
        known: &mut CheckedLayouts,
        depth: u32,
    ) -> VerifyResult {
        let cx = self.cx;
        if depth > DEPTH || !known.decorated.insert((ty, has_matrix)) {
            return Ok(());
        }
        let shape = cx.type_shape(ty);
        match shape.op {
            Op::TypeStruct => {
                for (n, member) in cx.struct_members(ty).iter().enumerate() {
                    let n = n as u32;
                    let has_offset = cx.member_decoration(ty, n, Decoration::Offset).is_some()
                        || cx
                            .member_decoration(ty, n, Decoration::OffsetIdEXT)
                            .is_some();
                    ensure(VerifyRule::Layout, has_offset, || {
                        format!("member {n} of %{ty} has no Offset")
                    })?;
                    let (_, has_matrix) = self.find_matrix_layout(ty, n);
                    self.verify_decorations(*member, has_matrix, known, depth + 1)?;
                }
                Ok(())
            }
            Op::TypeArray | Op::TypeRuntimeArray => {
                ensure(
                    VerifyRule::Layout,
                    cx.has_decoration(ty, Decoration::ArrayStride)
                        || cx.has_decoration(ty, Decoration::ArrayStrideIdEXT),
                    || format!("the array %{ty} has no ArrayStride"),
                )?;
                self.verify_decorations(shape.part, has_matrix, known, depth + 1)
            }
            Op::TypeMatrix => ensure(VerifyRule::Layout, has_matrix || depth == 0, || {
                format!("a member with the matrix %{ty} has no MatrixStride, or no order")
            }),
            _ => Ok(()),
        }
    }

    /// Offsets and strides keep alignments and do not overlap.
    fn verify_offsets(
        &self,
        ty: u32,
        offset: u32,
        matrix: MatrixLayout,
        known: &mut CheckedLayouts,
        depth: u32,
    ) -> VerifyResult {
        let cx = self.cx;
        // Where a structure lies matters to vectors that may not straddle 16 bytes.
        let key = (ty, self.rules, offset % 64, matrix);
        if depth > DEPTH || !known.laid_out.insert(key) {
            return Ok(());
        }
        let shape = cx.type_shape(ty);
        match shape.op {
            Op::TypeStruct => self.verify_members(ty, offset, known, depth),
            Op::TypeArray | Op::TypeRuntimeArray => {
                self.verify_array_layout(ty, offset, matrix, known, depth)
            }
            Op::TypeMatrix if matrix.stride != 0 => self.verify_matrix_stride(ty, matrix, known),
            _ => Ok(()),
        }
    }

    /// The stride of an array is aligned and no smaller than an element.
    fn verify_array_layout(
        &self,
        ty: u32,
        offset: u32,
        matrix: MatrixLayout,
        known: &mut CheckedLayouts,
        depth: u32,
    ) -> VerifyResult {
        let shape = self.cx.type_shape(ty);
        let align = self.compute_alignment(shape.part, matrix, known, 0);
        let align = if self.rules == BlockLayoutRules::Extended {
            align.next_multiple_of(16)
        } else {
            align
        };
        let stride = self.array_stride(ty);
        ensure(VerifyRule::Layout, stride != Some(0), || {
            format!("the array %{ty} has the stride 0")
        })?;
        if let Some(stride) = stride
            && stride % align.max(1) != 0
        {
            return Err(self.make_layout_fault(
                ty,
                &format!("the stride {stride} is not aligned to {align}"),
            ));
        }
        if let Some(stride) = stride {
            let size = self.compute_size(shape.part, matrix, 0);
            if u64::from(stride) < size {
                let message =
                    format!("the stride {stride} is smaller than an element of {size} bytes");
                return Err(self.make_layout_fault(ty, &message));
            }
        }
        self.verify_offsets(shape.part, offset, matrix, known, depth + 1)?;
        if let Some(stride) = stride
            && shape.op == Op::TypeArray
        {
            self.verify_offsets(
                shape.part,
                offset.wrapping_add(stride),
                matrix,
                known,
                depth + 1,
            )?;
        }
        Ok(())
    }

    /// The stride of a matrix is aligned and no smaller than a row or column.
    fn verify_matrix_stride(
        &self,
        ty: u32,
        matrix: MatrixLayout,
        known: &mut CheckedLayouts,
    ) -> VerifyResult {
        let cx = self.cx;
        let shape = cx.type_shape(ty);
        let align = self.compute_alignment(ty, matrix, known, 0);
        if !matrix.stride.is_multiple_of(align.max(1)) {
            let message = format!(
                "the matrix stride {} is not aligned to {align}",
                matrix.stride
            );
            return Err(self.make_layout_fault(ty, &message));
        }
        let column = cx.type_shape(shape.part);
        let size = if matrix.row_major {
            self.compute_size(column.part, matrix, 0) * u64::from(shape.count)
        } else {
            self.compute_size(shape.part, matrix, 0)
        };
        if u64::from(matrix.stride) < size {
            let message = format!(
                "the matrix stride {} is smaller than {size} bytes",
                matrix.stride
            );
            return Err(self.make_layout_fault(ty, &message));
        }
        Ok(())
    }

    fn array_stride(&self, array: u32) -> Option<u32> {
        let found = self.cx.decoration(array, Decoration::ArrayStride)?;
        found.first().copied()
    }

    fn verify_members(
        &self,
        ty: u32,
        incoming: u32,
        known: &mut CheckedLayouts,
        depth: u32,
    ) -> VerifyResult {
        let cx = self.cx;
        let members = cx.struct_members(ty);
        let offset = |n: usize| {
            let found = cx.member_decoration(ty, n as u32, Decoration::Offset);
            found.and_then(<[u32]>::first).copied()
        };
        let mut order: Vec<(u32, usize)> = (0..members.len())
            .filter_map(|n| Some((offset(n)?, n)))
            .collect();
        order.sort();
        let mut next = 0u64;
        for (at, n) in order {
            let (member, (matrix, _)) = (members[n], self.find_matrix_layout(ty, n as u32));
            let shape = cx.type_shape(member);
            let relaxed = self.is_relaxed() && shape.op == Op::TypeVector;
            // Only vectors that are members are aligned to their components; arrays and structures of them are not.
            let aligned = if relaxed { shape.part } else { member };
            let align = self.compute_alignment(aligned, matrix, known, 0);
            let size = self.compute_size(member, matrix, 0);
            if at % align.max(1) != 0 || incoming.wrapping_add(at) % align.max(1) != 0 {
                return Err(self.make_layout_fault(
                    ty,
                    &format!("member {n} at offset {at} is not aligned to {align}"),
                ));
            }
            if u64::from(at) < next {
                let message = format!(
                    "member {n} at offset {at} overlaps the one before, which ends at {next}"
                );
                return Err(self.make_layout_fault(ty, &message));
            }
            if relaxed && is_straddling(incoming.wrapping_add(at), size) {
                return Err(self.make_layout_fault(
                    ty,
                    &format!("the vector of member {n} straddles 16 bytes at offset {at}"),
                ));
            }
            self.verify_offsets(member, incoming.wrapping_add(at), matrix, known, depth + 1)?;
            next = u64::from(at) + size;
            if self.rules != BlockLayoutRules::Scalar
                && matches!(shape.op, Op::TypeArray | Op::TypeStruct)
            {
                next = next.next_multiple_of(u64::from(align.max(1)));
            }
        }
        Ok(())
    }

    /// Whether vectors may be aligned to their components.
    fn is_relaxed(&self) -> bool {
        self.rules != BlockLayoutRules::Scalar
            && match self.cx.options.target.environment {
                TargetEnvironment::Vulkan(major, minor) => (major, minor) >= (1, 1),
                _ => false,
            }
    }

    fn compute_alignment(
        &self,
        ty: u32,
        matrix: MatrixLayout,
        known: &mut CheckedLayouts,
        depth: u32,
    ) -> u32 {
        let key = (ty, self.rules, matrix);
        if let Some(align) = known.aligns.get(&key) {
            return *align;
        }
        if depth > DEPTH {
            return 1;
        }
        let cx = self.cx;
        let shape = cx.type_shape(ty);
        let scalar = self.rules == BlockLayoutRules::Scalar;
        let rounded = |align: u32| {
            if self.rules == BlockLayoutRules::Extended {
                align.next_multiple_of(16)
            } else {
                align
            }
        };
        let grouped = |part: u32, count: u32| {
            if scalar {
                part
            } else {
                part.saturating_mul(if count == 3 { 4 } else { count })
            }
        };
        let align = match shape.op {
            Op::TypeInt | Op::TypeFloat => (shape.width / 8).max(1),
            Op::TypePointer | Op::TypeUntypedPointerKHR => 8,
            Op::TypeVector => grouped(
                self.compute_alignment(shape.part, matrix, known, depth + 1),
                shape.count,
            ),
            Op::TypeMatrix if matrix.row_major => {
                let component = cx.type_shape(shape.part).part;
                let part = self.compute_alignment(component, matrix, known, depth + 1);
                rounded(grouped(part, shape.count))
            }
            Op::TypeMatrix => {
                let column = self.compute_alignment(shape.part, matrix, known, depth + 1);
                rounded(column)
            }
            Op::TypeArray | Op::TypeRuntimeArray => {
                rounded(self.compute_alignment(shape.part, matrix, known, depth + 1))
            }
            Op::TypeStruct => {
                let members = cx.struct_members(ty).iter().enumerate();
                let aligns = members.map(|(n, member)| {
                    let (matrix, _) = self.find_matrix_layout(ty, n as u32);
                    self.compute_alignment(*member, matrix, known, depth + 1)
                });
                rounded(aligns.max().unwrap_or(1))
            }
            _ => 1,
        };
        known.aligns.insert(key, align);
        align
    }

    /// Bytes to the end of the last part.
    fn compute_size(&self, ty: u32, matrix: MatrixLayout, depth: u32) -> u64 {
        let cx = self.cx;
        let shape = cx.type_shape(ty);
        if depth > DEPTH {
            return 0;
        }
        match shape.op {
            Op::TypeInt | Op::TypeFloat => u64::from(shape.width / 8),
            Op::TypePointer | Op::TypeUntypedPointerKHR => 8,
            Op::TypeVector => {
                u64::from(shape.count) * self.compute_size(shape.part, matrix, depth + 1)
            }
            Op::TypeMatrix if matrix.row_major => {
                let column = cx.type_shape(shape.part);
                let part = self.compute_size(column.part, matrix, depth + 1);
                u64::from(column.count.saturating_sub(1)) * u64::from(matrix.stride)
                    + u64::from(shape.count) * part
            }
            Op::TypeMatrix => u64::from(shape.count) * u64::from(matrix.stride),
            Op::TypeArray => {
                let length = cx.defining_inst(ty).map_or(0, |t| t.operand_word(1));
                let length = cx.constant_value(length).unwrap_or(0);
                let part = self.compute_size(shape.part, matrix, depth + 1);
                let stride = u64::from(self.array_stride(ty).unwrap_or(0));
                match length.checked_sub(1) {
                    Some(before) => before.saturating_mul(stride).saturating_add(part),
                    None => 0,
                }
            }
            Op::TypeStruct => {
                let Some(last) = cx.struct_members(ty).len().checked_sub(1) else {
                    return 0;
                };
                let offset = cx.member_decoration(ty, last as u32, Decoration::Offset);
                let offset = offset.and_then(<[u32]>::first).copied().unwrap_or(0);
                let (matrix, _) = self.find_matrix_layout(ty, last as u32);
                u64::from(offset).saturating_add(self.compute_size(
                    cx.struct_members(ty)[last],
                    matrix,
                    depth + 1,
                ))
            }
            _ => 0,
        }
    }
}

/// Whether a vector crosses a boundary of 16 bytes that it could keep to.
fn is_straddling(offset: u32, size: u64) -> bool {
    let offset = u64::from(offset);
    if size <= 16 {
        size > 0 && offset / 16 != (offset + size - 1) / 16
    } else {
        !offset.is_multiple_of(16)
    }
}
