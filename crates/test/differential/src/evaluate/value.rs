//! Values: what is known of each scalar in them.

use spirula_llvm::ir::{LlvmType, Module, TypeKind};

/// An address: bytes behind the beginning of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Number of the object.
    pub object: usize,
    /// Bytes behind its beginning.
    pub offset: i64,
}

/// A scalar of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// It may be anything: poison, undefined, or not told by the reference manual.
    Any,
    /// A NaN of any payload.
    Nan,
    /// These bits.
    Bits(u128),
    /// An address, also as an integer of as many bits.
    Address(Address),
}

impl Scalar {
    /// The bits, where they are known.
    pub fn bits(self) -> Option<u128> {
        match self {
            Scalar::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// A boolean.
    pub fn truth(value: bool) -> Scalar {
        Scalar::Bits(value.into())
    }
}

/// A value: the scalars in it, in order of their addresses.
pub type Value = Vec<Scalar>;

/// A scalar's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer of so many bits.
    Int(u32),
    /// A float of so many bits.
    Float(u32),
    /// A pointer.
    Pointer,
}

impl Kind {
    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Kind::Int(width) | Kind::Float(width) => width,
            Kind::Pointer => 64,
        }
    }
}

/// A scalar within a value and where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// What it is.
    pub kind: Kind,
    /// Bytes behind the beginning.
    pub offset: u64,
}

/// The scalars of a type; `None` where it has others.
pub fn leaves(module: &Module, ty: LlvmType) -> Option<Vec<Leaf>> {
    let mut found = Vec::new();
    gather(module, ty, 0, &mut found)?;
    Some(found)
}

fn gather(module: &Module, ty: LlvmType, at: u64, into: &mut Vec<Leaf>) -> Option<()> {
    let (types, layout) = (&module.types, &module.layout);
    let kind = match types.kind(ty) {
        TypeKind::Int(width) => Kind::Int(*width),
        TypeKind::Half => Kind::Float(16),
        TypeKind::Float => Kind::Float(32),
        TypeKind::Double => Kind::Float(64),
        TypeKind::Pointer { .. } => Kind::Pointer,
        TypeKind::Array { element, len } => {
            let stride = layout.alloc_size(types, *element)?;
            return (0..*len).try_for_each(|n| gather(module, *element, at + n * stride, into));
        }
        TypeKind::Vector { element, len, .. } => {
            let bits = layout.size_in_bits(types, *element)?;
            let offset = |n: u32| at + u64::from(n) * bits / 8;
            return (0..*len).try_for_each(|n| gather(module, *element, offset(n), into));
        }
        TypeKind::Struct { fields, .. } => {
            let offsets = layout.struct_layout(types, ty)?.offsets;
            let mut fields = fields.as_ref()?.iter().zip(offsets);
            return fields
                .try_for_each(|(field, offset)| gather(module, *field, at + offset, into));
        }
        _ => return None,
    };
    into.push(Leaf { kind, offset: at });
    Some(())
}

/// How many scalars a type has.
pub fn count(module: &Module, ty: LlvmType) -> Option<usize> {
    leaves(module, ty).map(|all| all.len())
}
