//! Types as the lowering sees them: what they are made of, and how many scalars that is.

use spirula_diagnostics::{Diagnostic, Place};
use spirula_scalar::Format;
use spirula_spirv::analysis::{Decorations, Definitions, Layouts};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{FPEncoding, Scope, StorageClass};
use spirula_spirv::ir::{InstRef, Module, Section};
use spirula_spirv::{Id, IdMap};

/// Most scalars of values of which two types can be alike.
const MAX_ALIKE: usize = 64;

/// Deepest nesting of types that is accepted (SPIR-V's universal limit for structures is 255).
const MAX_DEPTH: u16 = 255;

/// A scalar as values hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
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

impl Scalar {
    /// Bytes in memory.
    pub fn bytes(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Int(bits) => u32::from(bits) / 8,
            Scalar::E4M3 | Scalar::E5M2 => 1,
            Scalar::F16 | Scalar::BF16 => 2,
            Scalar::F32 => 4,
            Scalar::F64 | Scalar::Pointer => 8,
        }
    }

    /// Bits that carry information.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            other => other.bytes() * 8,
        }
    }

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        self.format().is_some()
    }

    /// The format of a floating-point number.
    pub fn format(self) -> Option<Format> {
        Some(match self {
            Scalar::E4M3 => Format::E4M3,
            Scalar::E5M2 => Format::E5M2,
            Scalar::F16 => Format::F16,
            Scalar::BF16 => Format::BF16,
            Scalar::F32 => Format::F32,
            Scalar::F64 => Format::F64,
            _ => return None,
        })
    }
}

/// What a type is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No type, or one that values cannot have.
    Other,
    /// An image, a sampler, or both: so many scalars, the address of a texture and a sampler's word.
    Handle {
        count: u32,
    },
    Void,
    Scalar(Scalar),
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
pub(crate) struct Type {
    /// What it is made of.
    pub kind: Kind,
    /// Scalars in a value of it; saturates.
    pub scalars: u32,
    /// Bytes up to the end of its last scalar in memory, trailing padding excluded.
    pub extent: u64,
    depth: u16,
}

/// What a float of a width is whose encoding the type names.
fn encoded(width: u32, encoding: FPEncoding) -> Option<Kind> {
    Some(Kind::Scalar(match (width, encoding) {
        (16, FPEncoding::BFloat16KHR) => Scalar::BF16,
        (8, FPEncoding::Float8E4M3EXT) => Scalar::E4M3,
        (8, FPEncoding::Float8E5M2EXT) => Scalar::E5M2,
        _ => return None,
    }))
}

/// Distances in a matrix, or in a vector that is a column of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strides {
    /// Bytes from a column to the next.
    pub column: u64,
    /// Bytes from a component to the next.
    pub component: u64,
}

/// A scalar of a type and where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub scalar: Scalar,
    /// Bytes from the beginning of the type.
    pub offset: u64,
}

/// The types of a module.
pub(crate) struct Types {
    rows: IdMap<Type>,
    members: Vec<Id>,
    /// Sizes, alignments and offsets.
    pub layouts: Layouts,
}

impl Types {
    /// One pass over the module's types; `constant` gives the lengths of arrays.
    pub fn compute(
        module: &Module,
        definitions: &Definitions,
        decorations: &Decorations,
        subgroup_size: u32,
        constant: impl Fn(Id) -> Option<u64>,
    ) -> Result<Types, Diagnostic> {
        let layouts = Layouts::compute(module, definitions, decorations, &constant)?;
        let none = Type {
            kind: Kind::Other,
            scalars: 0,
            extent: 0,
            depth: 0,
        };
        let mut types = Types {
            rows: IdMap::new(module.bound(), none),
            members: Vec::new(),
            layouts,
        };
        for inst in module.section(Section::Globals) {
            if inst.op() == Op::TypeForwardPointer {
                // Until its definition comes it is known to be a pointer.
                let kind = Kind::Pointer {
                    class: StorageClass(inst.word(1)),
                    pointee: None,
                };
                let ty = types.measure(inst.id(0), kind, inst.place())?;
                types.rows.set(inst.id(0), ty);
            }
            let Some(id) = inst.result() else { continue };
            let Some(kind) = types.kind_of(inst, subgroup_size, &constant) else {
                continue;
            };
            let kind = if types.is_made_of_known(kind) {
                kind
            } else {
                Kind::Other
            };
            let ty = types.measure(id, kind, inst.place())?;
            types.rows.set(id, ty);
        }
        Ok(types)
    }

    /// A type.
    pub fn get(&self, ty: Id) -> Type {
        self.rows[ty]
    }

    /// What a type is made of.
    pub fn kind(&self, ty: Id) -> Kind {
        self.rows[ty].kind
    }

    /// Scalars in a value of a type.
    pub fn scalars(&self, ty: Id) -> usize {
        self.rows[ty].scalars as usize
    }

    /// The members of a structure type.
    pub fn members(&self, first: u32, count: u32) -> &[Id] {
        &self.members[first as usize..(first + count) as usize]
    }

    /// The scalar that a scalar, vector or matrix type is made of.
    pub fn component(&self, ty: Id) -> Option<Scalar> {
        match self.kind(ty) {
            Kind::Scalar(scalar) => Some(scalar),
            Kind::Pointer { .. } | Kind::Handle { .. } => Some(Scalar::Pointer),
            Kind::Vector { component, .. } => self.component(component),
            Kind::Matrix { column, .. } => self.component(column),
            _ => None,
        }
    }

    /// Type and first scalar of part `index` of an aggregate or vector.
    pub fn part(&self, ty: Id, index: u32) -> Option<(Id, usize)> {
        let n = index as usize;
        match self.kind(ty) {
            Kind::Vector { component, count } => (index < count).then_some((component, n)),
            Kind::Matrix { column, count } => {
                (index < count).then(|| (column, n * self.scalars(column)))
            }
            Kind::Array { element, count } => {
                (u64::from(index) < count).then(|| (element, n * self.scalars(element)))
            }
            Kind::Struct { first, count } if index < count => {
                let members = self.members(first, count);
                let before = members[..n].iter().map(|m| self.scalars(*m)).sum();
                Some((members[n], before))
            }
            _ => None,
        }
    }

    /// Bytes from the beginning of an aggregate or vector to its part `index`, and the strides of
    /// matrices there. `strides` are those of the whole.
    pub fn part_offset(
        &self,
        ty: Id,
        index: u64,
        strides: Option<Strides>,
    ) -> (u64, Option<Strides>) {
        match self.kind(ty) {
            Kind::Struct { first, .. } => {
                let member = self.layouts.member(ty, index as u32);
                let of = self.members[first as usize + index as usize];
                (member.offset, self.member_strides(ty, index as u32, of))
            }
            _ => (self.stride(ty, strides).saturating_mul(index), strides),
        }
    }

    /// Bytes between the parts of an array, vector or matrix.
    pub fn stride(&self, ty: Id, strides: Option<Strides>) -> u64 {
        match (self.kind(ty), strides) {
            (Kind::Vector { .. }, Some(s)) => s.component,
            (Kind::Matrix { .. }, Some(s)) => s.column,
            _ => self.layouts.get(ty).stride,
        }
    }

    /// Whether values of two types are passed in the same way: types are the same but for what pointers
    /// in them point to. Values of more than 64 scalars lie in memory and need one type.
    pub fn are_alike(&self, a: Id, b: Id) -> bool {
        if a == b {
            return true;
        }
        if self.scalars(a) != self.scalars(b) || self.scalars(a) > MAX_ALIKE {
            return false;
        }
        match (self.kind(a), self.kind(b)) {
            (Kind::Pointer { class, .. }, Kind::Pointer { class: other, .. }) => class == other,
            (Kind::Array { element: a, .. }, Kind::Array { element: b, .. }) => {
                self.are_alike(a, b)
            }
            (
                Kind::Struct { first, count },
                Kind::Struct {
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
    pub fn leaves(&self, ty: Id, offset: u64, strides: Option<Strides>, out: &mut Vec<Leaf>) {
        match self.kind(ty) {
            Kind::Scalar(scalar) => out.push(Leaf { scalar, offset }),
            Kind::Pointer { .. } => out.push(Leaf {
                scalar: Scalar::Pointer,
                offset,
            }),
            Kind::Handle { count } => out.extend((0..count).map(|n| Leaf {
                scalar: Scalar::Pointer,
                offset: offset + u64::from(n) * 8,
            })),
            Kind::Struct { first, count } => {
                for n in 0..count {
                    let (at, inner) = self.part_offset(ty, n.into(), strides);
                    self.leaves(
                        self.members(first, count)[n as usize],
                        offset + at,
                        inner,
                        out,
                    );
                }
            }
            kind => {
                let (element, count) = match kind {
                    Kind::Vector { component, count } => (component, u64::from(count)),
                    Kind::Matrix { column, count } => (column, u64::from(count)),
                    Kind::Array { element, count } => (element, count),
                    _ => return,
                };
                let stride = self.stride(ty, strides);
                for n in 0..count {
                    self.leaves(element, offset + n * stride, strides, out);
                }
            }
        }
    }

    fn member_strides(&self, structure: Id, n: u32, mut ty: Id) -> Option<Strides> {
        let layout = self.layouts.member(structure, n);
        let stride = layout.matrix_stride?;
        while let Kind::Array { element, .. } | Kind::RuntimeArray { element } = self.kind(ty) {
            ty = element;
        }
        let component = u64::from(self.component(ty)?.bytes());
        Some(if layout.row_major {
            Strides {
                column: component,
                component: stride,
            }
        } else {
            Strides {
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
    ) -> Option<Kind> {
        Some(match inst.op() {
            Op::TypeVoid => Kind::Void,
            Op::TypeBool => Kind::Scalar(Scalar::Bool),
            Op::TypeInt => match inst.word(0) {
                bits @ (8 | 16 | 32 | 64) => Kind::Scalar(Scalar::Int(bits as u8)),
                _ => Kind::Other,
            },
            Op::TypeFloat => match (inst.word(0), inst.operands().get(1)) {
                (16, None) => Kind::Scalar(Scalar::F16),
                (width, Some(encoding)) => encoded(width, FPEncoding(*encoding))?,
                (32, None) => Kind::Scalar(Scalar::F32),
                (64, None) => Kind::Scalar(Scalar::F64),
                _ => Kind::Other,
            },
            Op::TypeVector => Kind::Vector {
                component: inst.id(0),
                count: inst.word(1),
            },
            // Each invocation of the subgroup has a part of it.
            Op::TypeCooperativeMatrixKHR => {
                let [scope, rows, columns] = [1, 2, 3].map(|n| constant(inst.id(n)));
                let all = rows?.checked_mul(columns?)?;
                let count = u32::try_from(all.div_ceil(subgroup_size.into())).ok()?;
                match Scope(scope? as u32) {
                    Scope::Subgroup => Kind::Vector {
                        component: inst.id(0),
                        count,
                    },
                    _ => Kind::Other,
                }
            }
            Op::TypeMatrix => Kind::Matrix {
                column: inst.id(0),
                count: inst.word(1),
            },
            Op::TypeArray => Kind::Array {
                element: inst.id(0),
                count: constant(inst.id(1)).unwrap_or(0),
            },
            Op::TypeRuntimeArray => Kind::RuntimeArray {
                element: inst.id(0),
            },
            Op::TypeStruct => {
                let first = self.members.len() as u32;
                self.members.extend(inst.ids(0));
                Kind::Struct {
                    first,
                    count: self.members.len() as u32 - first,
                }
            }
            Op::TypePointer => Kind::Pointer {
                class: StorageClass(inst.word(0)),
                pointee: inst.get_id(1),
            },
            Op::TypeUntypedPointerKHR => Kind::Pointer {
                class: StorageClass(inst.word(0)),
                pointee: None,
            },
            Op::TypeEvent
            | Op::TypeReserveId
            | Op::TypePipe
            | Op::TypePipeStorage
            | Op::TypeQueue
            | Op::TypeDeviceEvent => Kind::Scalar(Scalar::Pointer),
            Op::TypeImage | Op::TypeSampler => Kind::Handle { count: 1 },
            Op::TypeSampledImage => Kind::Handle { count: 2 },
            _ => return None,
        })
    }

    /// Whether the parts of a type were defined before it, so that no type contains itself. Images
    /// and the like do not count as known.
    fn is_made_of_known(&self, kind: Kind) -> bool {
        let is_known = |part: &Id| self.rows[*part].depth > 0;
        match kind {
            Kind::Vector {
                component: part, ..
            }
            | Kind::Matrix { column: part, .. }
            | Kind::Array { element: part, .. }
            | Kind::RuntimeArray { element: part } => is_known(&part),
            Kind::Struct { first, count } => self.members(first, count).iter().all(is_known),
            _ => true,
        }
    }

    fn measure(&self, id: Id, kind: Kind, place: Place) -> Result<Type, Diagnostic> {
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
            Kind::Other | Kind::Void => (0, 0, 0),
            Kind::Scalar(s) => (1, s.bytes().into(), 0),
            Kind::Pointer { .. } => (1, 8, 0),
            Kind::Handle { count } => (count.into(), u64::from(count) * 8, 0),
            Kind::Vector { component, count } => repeat(component, count.into()),
            Kind::Matrix { column, count } => repeat(column, count.into()),
            Kind::Array { element, count } => repeat(element, count),
            Kind::RuntimeArray { element } => repeat(element, 0),
            Kind::Struct { first, count } => {
                let mut all = (0u64, 0u64, 0u16);
                for (n, member) in self.members(first, count).iter().enumerate() {
                    let ty = self.rows[*member];
                    let offset = self.layouts.member(id, n as u32).offset;
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
            return Err(Diagnostic::error(place, message));
        }
        Ok(Type {
            kind,
            scalars: u32::try_from(scalars).unwrap_or(u32::MAX),
            extent,
            depth: depth + 1,
        })
    }

    /// Bytes that member `n`, of type `ty`, takes; its matrices have strides of the member's own.
    fn member_extent(&self, structure: Id, n: u32, ty: Id) -> u64 {
        match self.kind(ty) {
            Kind::Array { element, count } if count > 0 => {
                let stride = self.layouts.get(ty).stride;
                let last = self.member_extent(structure, n, element);
                (count - 1).saturating_mul(stride).saturating_add(last)
            }
            Kind::Matrix { column, count } => {
                let Some(s) = self.member_strides(structure, n, ty) else {
                    return self.rows[ty].extent;
                };
                let rows = self.scalars(column).max(1) as u64;
                let scalar = self.component(column).map_or(0, |c| c.bytes().into());
                let columns = u64::from(count.max(1));
                (columns - 1) * s.column + (rows - 1) * s.component + scalar
            }
            _ => self.rows[ty].extent,
        }
    }
}
