//! Lowered types: the components, layout and number of scalars of each type.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_scalar::FloatEncoding;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions, TypeLayouts};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{FPEncoding, Scope, StorageClass};
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Most scalars of values of which two types can be alike.
const MAX_ALIKE: usize = 64;

/// Deepest nesting of types that is accepted (SPIR-V's universal limit for structures is 255).
const MAX_DEPTH: u16 = 255;

/// A scalar as values hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ScalarRepr {
    /// 0 or 1 in a byte.
    Bool,
    /// An integer of 8, 16, 32 or 64 bits; its signedness is in the instructions.
    Int(u8),
    /// IEEE binary16, kept as its bits.
    F16,
    /// bfloat16, kept as its bits.
    BF16,
    /// A float of 8 bits without infinities, kept as its bits.
    E4M3,
    /// A float of 8 bits, kept as its bits.
    E5M2,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// An address of the host, or an opaque handle.
    Pointer,
}

impl ScalarRepr {
    /// Bytes in memory.
    pub fn bytes(self) -> u32 {
        match self {
            ScalarRepr::Bool => 1,
            ScalarRepr::Int(bits) => u32::from(bits) / 8,
            ScalarRepr::E4M3 | ScalarRepr::E5M2 => 1,
            ScalarRepr::F16 | ScalarRepr::BF16 => 2,
            ScalarRepr::F32 => 4,
            ScalarRepr::F64 | ScalarRepr::Pointer => 8,
        }
    }

    /// Bits that carry information.
    pub fn bits(self) -> u32 {
        match self {
            ScalarRepr::Bool => 1,
            other => other.bytes() * 8,
        }
    }

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        self.float_format().is_some()
    }

    /// The format of a floating-point number.
    pub fn float_format(self) -> Option<FloatEncoding> {
        Some(match self {
            ScalarRepr::E4M3 => FloatEncoding::E4M3,
            ScalarRepr::E5M2 => FloatEncoding::E5M2,
            ScalarRepr::F16 => FloatEncoding::F16,
            ScalarRepr::BF16 => FloatEncoding::BF16,
            ScalarRepr::F32 => FloatEncoding::F32,
            ScalarRepr::F64 => FloatEncoding::F64,
            _ => return None,
        })
    }
}

/// The structure of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoweredTypeKind {
    /// No type, or one that values cannot have.
    Other,
    /// An image, a sampler, or both. The scalars are the address of a texture and a sampler's word.
    Handle {
        count: u32,
    },
    Void,
    Scalar(ScalarRepr),
    Vector {
        component: Id,
        count: u32,
    },
    Matrix {
        column: Id,
        count: u32,
    },
    Array {
        element: Id,
        count: u64,
    },
    RuntimeArray {
        element: Id,
    },
    /// `members` is a range of the member table.
    Struct {
        first: u32,
        count: u32,
    },
    /// `pointee` is none for untyped pointers.
    Pointer {
        class: StorageClass,
        pointee: Option<Id>,
    },
}

/// A type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoweredType {
    /// Its structure.
    pub kind: LoweredTypeKind,
    /// Number of scalars of a value. The count saturates.
    pub scalars: u32,
    /// Bytes to the end of the last scalar in memory, without trailing padding.
    pub extent: u64,
    depth: u16,
}

/// The representation of a float of a width with an explicit encoding.
fn classify_encoded_float(width: u32, encoding: FPEncoding) -> Option<LoweredTypeKind> {
    Some(LoweredTypeKind::Scalar(match (width, encoding) {
        (16, FPEncoding::BFloat16KHR) => ScalarRepr::BF16,
        (8, FPEncoding::Float8E4M3EXT) => ScalarRepr::E4M3,
        (8, FPEncoding::Float8E5M2EXT) => ScalarRepr::E5M2,
        _ => return None,
    }))
}

/// Distances in a matrix, or in a vector that is a column of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MatrixStrides {
    /// Bytes from a column to the next.
    pub column: u64,
    /// Bytes from a component to the next.
    pub component: u64,
}

/// A scalar of a type and where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarLeaf {
    pub scalar: ScalarRepr,
    /// Bytes from the beginning of the type.
    pub offset: u64,
}

/// The types of a module.
pub(crate) struct LoweredTypeTable {
    rows: IdMap<LoweredType>,
    members: Vec<Id>,
    /// Sizes, alignments and offsets.
    pub layouts: TypeLayouts,
}

impl LoweredTypeTable {
    /// Reads the module's types in one pass. `constant` gives the lengths of arrays.
    pub fn from_module(
        module: &SpirvModule,
        definitions: &IdDefinitions,
        decorations: &IdDecorations,
        subgroup_size: u32,
        constant: impl Fn(Id) -> Option<u64>,
    ) -> Result<LoweredTypeTable, SourceDiagnostic> {
        let layouts = TypeLayouts::from_module(module, definitions, decorations, &constant)?;
        let none = LoweredType {
            kind: LoweredTypeKind::Other,
            scalars: 0,
            extent: 0,
            depth: 0,
        };
        let mut types = LoweredTypeTable {
            rows: IdMap::new(module.bound(), none),
            members: Vec::new(),
            layouts,
        };
        for inst in module.section_insts(ModuleSection::Globals) {
            if inst.op() == Op::TypeForwardPointer {
                // Until its definition comes it is known to be a pointer.
                let kind = LoweredTypeKind::Pointer {
                    class: StorageClass(inst.operand_word(1)),
                    pointee: None,
                };
                let ty = types.measure_type(inst.id_operand(0), kind, inst.place())?;
                types.rows.set(inst.id_operand(0), ty);
            }
            let Some(id) = inst.result() else { continue };
            let Some(kind) = types.kind_of(inst, subgroup_size, &constant) else {
                continue;
            };
            let kind = if types.is_made_of_known(kind) {
                kind
            } else {
                LoweredTypeKind::Other
            };
            let ty = types.measure_type(id, kind, inst.place())?;
            types.rows.set(id, ty);
        }
        Ok(types)
    }

    /// A type.
    pub fn get(&self, ty: Id) -> LoweredType {
        self.rows[ty]
    }

    /// The structure of a type.
    pub fn kind(&self, ty: Id) -> LoweredTypeKind {
        self.rows[ty].kind
    }

    /// Scalars in a value of a type.
    pub fn scalar_count(&self, ty: Id) -> usize {
        self.rows[ty].scalars as usize
    }

    /// The members of a structure type.
    pub fn members(&self, first: u32, count: u32) -> &[Id] {
        &self.members[first as usize..(first + count) as usize]
    }

    /// The component type of a scalar, vector or matrix type.
    pub fn component_scalar(&self, ty: Id) -> Option<ScalarRepr> {
        match self.kind(ty) {
            LoweredTypeKind::Scalar(scalar) => Some(scalar),
            LoweredTypeKind::Pointer { .. } | LoweredTypeKind::Handle { .. } => {
                Some(ScalarRepr::Pointer)
            }
            LoweredTypeKind::Vector { component, .. } => self.component_scalar(component),
            LoweredTypeKind::Matrix { column, .. } => self.component_scalar(column),
            _ => None,
        }
    }

    /// Type and first scalar of member `index` of an aggregate or vector.
    pub fn find_part(&self, ty: Id, index: u32) -> Option<(Id, usize)> {
        let n = index as usize;
        match self.kind(ty) {
            LoweredTypeKind::Vector { component, count } => {
                (index < count).then_some((component, n))
            }
            LoweredTypeKind::Matrix { column, count } => {
                (index < count).then(|| (column, n * self.scalar_count(column)))
            }
            LoweredTypeKind::Array { element, count } => {
                (u64::from(index) < count).then(|| (element, n * self.scalar_count(element)))
            }
            LoweredTypeKind::Struct { first, count } if index < count => {
                let members = self.members(first, count);
                let before = members[..n].iter().map(|m| self.scalar_count(*m)).sum();
                Some((members[n], before))
            }
            _ => None,
        }
    }

    /// Bytes from the beginning of an aggregate or vector to its member `index`, and the strides of matrices in the
    /// member. `strides` are those of the whole.
    pub fn part_offset(
        &self,
        ty: Id,
        index: u64,
        strides: Option<MatrixStrides>,
    ) -> (u64, Option<MatrixStrides>) {
        match self.kind(ty) {
            LoweredTypeKind::Struct { first, .. } => {
                let member = self.layouts.member_layout(ty, index as u32);
                let of = self.members[first as usize + index as usize];
                (member.offset, self.member_strides(ty, index as u32, of))
            }
            _ => (self.part_stride(ty, strides).saturating_mul(index), strides),
        }
    }

    /// Bytes between the elements of an array, vector or matrix.
    pub fn part_stride(&self, ty: Id, strides: Option<MatrixStrides>) -> u64 {
        match (self.kind(ty), strides) {
            (LoweredTypeKind::Vector { .. }, Some(s)) => s.component,
            (LoweredTypeKind::Matrix { .. }, Some(s)) => s.column,
            _ => self.layouts.get(ty).stride,
        }
    }

    /// Whether values of two types are passed in the same way. The types may differ in the pointees of pointers.
    /// Values of more than 64 scalars lie in memory and need the same type.
    pub fn are_alike(&self, a: Id, b: Id) -> bool {
        if a == b {
            return true;
        }
        if self.scalar_count(a) != self.scalar_count(b) || self.scalar_count(a) > MAX_ALIKE {
            return false;
        }
        match (self.kind(a), self.kind(b)) {
            (
                LoweredTypeKind::Pointer { class, .. },
                LoweredTypeKind::Pointer { class: other, .. },
            ) => class == other,
            (
                LoweredTypeKind::Array { element: a, .. },
                LoweredTypeKind::Array { element: b, .. },
            ) => self.are_alike(a, b),
            (
                LoweredTypeKind::Struct { first, count },
                LoweredTypeKind::Struct {
                    first: other,
                    count: others,
                },
            ) => {
                let members = self.members(first, count).iter();
                count == others
                    && members
                        .zip(self.members(other, others))
                        .all(|(a, b)| self.are_alike(*a, *b))
            }
            _ => false,
        }
    }

    /// Appends the scalars of a type in order.
    pub fn append_leaves(
        &self,
        ty: Id,
        offset: u64,
        strides: Option<MatrixStrides>,
        out: &mut Vec<ScalarLeaf>,
    ) {
        match self.kind(ty) {
            LoweredTypeKind::Scalar(scalar) => out.push(ScalarLeaf { scalar, offset }),
            LoweredTypeKind::Pointer { .. } => out.push(ScalarLeaf {
                scalar: ScalarRepr::Pointer,
                offset,
            }),
            LoweredTypeKind::Handle { count } => out.extend((0..count).map(|n| ScalarLeaf {
                scalar: ScalarRepr::Pointer,
                offset: offset + u64::from(n) * 8,
            })),
            LoweredTypeKind::Struct { first, count } => {
                for n in 0..count {
                    let (at, inner) = self.part_offset(ty, n.into(), strides);
                    self.append_leaves(
                        self.members(first, count)[n as usize],
                        offset + at,
                        inner,
                        out,
                    );
                }
            }
            kind => {
                let (element, count) = match kind {
                    LoweredTypeKind::Vector { component, count } => (component, u64::from(count)),
                    LoweredTypeKind::Matrix { column, count } => (column, u64::from(count)),
                    LoweredTypeKind::Array { element, count } => (element, count),
                    _ => return,
                };
                let stride = self.part_stride(ty, strides);
                for n in 0..count {
                    self.append_leaves(element, offset + n * stride, strides, out);
                }
            }
        }
    }

    fn member_strides(&self, structure: Id, n: u32, mut ty: Id) -> Option<MatrixStrides> {
        let layout = self.layouts.member_layout(structure, n);
        let stride = layout.matrix_stride?;
        while let LoweredTypeKind::Array { element, .. }
        | LoweredTypeKind::RuntimeArray { element } = self.kind(ty)
        {
            ty = element;
        }
        let component = u64::from(self.component_scalar(ty)?.bytes());
        Some(if layout.row_major {
            MatrixStrides {
                column: component,
                component: stride,
            }
        } else {
            MatrixStrides {
                column: stride,
                component,
            }
        })
    }

    fn kind_of(
        &mut self,
        inst: InstRef<'_>,
        subgroup_size: u32,
        constant: &impl Fn(Id) -> Option<u64>,
    ) -> Option<LoweredTypeKind> {
        Some(match inst.op() {
            Op::TypeVoid => LoweredTypeKind::Void,
            Op::TypeBool => LoweredTypeKind::Scalar(ScalarRepr::Bool),
            Op::TypeInt => match inst.operand_word(0) {
                bits @ (8 | 16 | 32 | 64) => LoweredTypeKind::Scalar(ScalarRepr::Int(bits as u8)),
                _ => LoweredTypeKind::Other,
            },
            Op::TypeFloat => match (inst.operand_word(0), inst.operands().get(1)) {
                (16, None) => LoweredTypeKind::Scalar(ScalarRepr::F16),
                (width, Some(encoding)) => classify_encoded_float(width, FPEncoding(*encoding))?,
                (32, None) => LoweredTypeKind::Scalar(ScalarRepr::F32),
                (64, None) => LoweredTypeKind::Scalar(ScalarRepr::F64),
                _ => LoweredTypeKind::Other,
            },
            Op::TypeVector => LoweredTypeKind::Vector {
                component: inst.id_operand(0),
                count: inst.operand_word(1),
            },
            // Each invocation of the subgroup holds some of the components.
            Op::TypeCooperativeMatrixKHR => {
                let [scope, rows, columns] = [1, 2, 3].map(|n| constant(inst.id_operand(n)));
                let all = rows?.checked_mul(columns?)?;
                let count = u32::try_from(all.div_ceil(subgroup_size.into())).ok()?;
                match Scope(scope? as u32) {
                    Scope::Subgroup => LoweredTypeKind::Vector {
                        component: inst.id_operand(0),
                        count,
                    },
                    _ => LoweredTypeKind::Other,
                }
            }
            Op::TypeMatrix => LoweredTypeKind::Matrix {
                column: inst.id_operand(0),
                count: inst.operand_word(1),
            },
            Op::TypeArray => LoweredTypeKind::Array {
                element: inst.id_operand(0),
                count: constant(inst.id_operand(1)).unwrap_or(0),
            },
            Op::TypeRuntimeArray => LoweredTypeKind::RuntimeArray {
                element: inst.id_operand(0),
            },
            Op::TypeStruct => {
                let first = self.members.len() as u32;
                self.members.extend(inst.id_operands(0));
                LoweredTypeKind::Struct {
                    first,
                    count: self.members.len() as u32 - first,
                }
            }
            Op::TypePointer => LoweredTypeKind::Pointer {
                class: StorageClass(inst.operand_word(0)),
                pointee: inst.get_id(1),
            },
            Op::TypeUntypedPointerKHR => LoweredTypeKind::Pointer {
                class: StorageClass(inst.operand_word(0)),
                pointee: None,
            },
            Op::TypeEvent
            | Op::TypeReserveId
            | Op::TypePipe
            | Op::TypePipeStorage
            | Op::TypeQueue
            | Op::TypeDeviceEvent => LoweredTypeKind::Scalar(ScalarRepr::Pointer),
            Op::TypeImage | Op::TypeSampler => LoweredTypeKind::Handle { count: 1 },
            Op::TypeSampledImage => LoweredTypeKind::Handle { count: 2 },
            _ => return None,
        })
    }

    /// Whether the members of a type were defined before it, so that no type contains itself. Images and samplers do
    /// not count as known.
    fn is_made_of_known(&self, kind: LoweredTypeKind) -> bool {
        let is_known = |part: &Id| self.rows[*part].depth > 0;
        match kind {
            LoweredTypeKind::Vector {
                component: part, ..
            }
            | LoweredTypeKind::Matrix { column: part, .. }
            | LoweredTypeKind::Array { element: part, .. }
            | LoweredTypeKind::RuntimeArray { element: part } => is_known(&part),
            LoweredTypeKind::Struct { first, count } => {
                self.members(first, count).iter().all(is_known)
            }
            _ => true,
        }
    }

    fn measure_type(
        &self,
        id: Id,
        kind: LoweredTypeKind,
        place: SourceLocation,
    ) -> Result<LoweredType, SourceDiagnostic> {
        let repeat = |part: Id, count: u64| {
            let part = self.rows[part];
            let scalars = count.saturating_mul(part.scalars.into());
            let stride = self.layouts.get(id).stride;
            let extent = count
                .checked_sub(1)
                .map_or(0, |n| n.saturating_mul(stride).saturating_add(part.extent));
            (scalars, extent, part.depth)
        };
        let (scalars, extent, depth) = match kind {
            LoweredTypeKind::Other | LoweredTypeKind::Void => (0, 0, 0),
            LoweredTypeKind::Scalar(s) => (1, s.bytes().into(), 0),
            LoweredTypeKind::Pointer { .. } => (1, 8, 0),
            LoweredTypeKind::Handle { count } => (count.into(), u64::from(count) * 8, 0),
            LoweredTypeKind::Vector { component, count } => repeat(component, count.into()),
            LoweredTypeKind::Matrix { column, count } => repeat(column, count.into()),
            LoweredTypeKind::Array { element, count } => repeat(element, count),
            LoweredTypeKind::RuntimeArray { element } => repeat(element, 0),
            LoweredTypeKind::Struct { first, count } => {
                let mut all = (0u64, 0u64, 0u16);
                for (n, member) in self.members(first, count).iter().enumerate() {
                    let ty = self.rows[*member];
                    let offset = self.layouts.member_layout(id, n as u32).offset;
                    all.0 = all.0.saturating_add(ty.scalars.into());
                    all.1 = all
                        .1
                        .max(offset.saturating_add(self.member_extent(id, n as u32, *member)));
                    all.2 = all.2.max(ty.depth);
                }
                all
            }
        };
        if depth >= MAX_DEPTH {
            let message = format!("the type {id} is nested deeper than {MAX_DEPTH}");
            return Err(SourceDiagnostic::error(place, message));
        }
        Ok(LoweredType {
            kind,
            scalars: u32::try_from(scalars).unwrap_or(u32::MAX),
            extent,
            depth: depth + 1,
        })
    }

    /// Bytes that member `n`, of type `ty`, takes; its matrices have strides of the member's own.
    fn member_extent(&self, structure: Id, n: u32, ty: Id) -> u64 {
        match self.kind(ty) {
            LoweredTypeKind::Array { element, count } if count > 0 => {
                let stride = self.layouts.get(ty).stride;
                let last = self.member_extent(structure, n, element);
                (count - 1).saturating_mul(stride).saturating_add(last)
            }
            LoweredTypeKind::Matrix { column, count } => {
                let Some(s) = self.member_strides(structure, n, ty) else {
                    return self.rows[ty].extent;
                };
                let rows = self.scalar_count(column).max(1) as u64;
                let scalar = self
                    .component_scalar(column)
                    .map_or(0, |c| c.bytes().into());
                let columns = u64::from(count.max(1));
                (columns - 1) * s.column + (rows - 1) * s.component + scalar
            }
            _ => self.rows[ty].extent,
        }
    }
}
