//! Values: what is known of each scalar in them.

use spirula_llvm::ir::{LlvmModule, LlvmType, LlvmTypeKind};

/// An address: bytes behind the beginning of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectAddress {
    /// Number of the object.
    pub object: usize,
    /// Bytes behind its beginning.
    pub offset: i64,
}

/// A scalar of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbstractScalar {
    /// It may be anything: poison, undefined, or not told by the reference manual.
    Any,
    /// A NaN of any payload.
    Nan,
    /// These bits.
    Bits(u128),
    /// An address, also as an integer of as many bits.
    Address(ObjectAddress),
}

impl AbstractScalar {
    /// The bits, where they are known.
    pub fn known_bits(self) -> Option<u128> {
        match self {
            AbstractScalar::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// A boolean.
    pub fn from_bool(value: bool) -> AbstractScalar {
        AbstractScalar::Bits(value.into())
    }
}

/// A value: the scalars in it, in order of their addresses.
pub type AbstractValue = Vec<AbstractScalar>;

/// A scalar's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafType {
    /// An integer of so many bits.
    Int(u32),
    /// A float of so many bits.
    Float(u32),
    /// A pointer.
    Pointer,
}

impl LeafType {
    /// Width in bits.
    pub fn bit_width(self) -> u32 {
        match self {
            LeafType::Int(width) | LeafType::Float(width) => width,
            LeafType::Pointer => 64,
        }
    }
}

/// A scalar within a value and where it lies.
#[derive(Clone, Copy, Debug)]
pub struct ValueLeaf {
    /// What it is.
    pub kind: LeafType,
    /// Bytes behind the beginning.
    pub offset: u64,
}

/// The scalars of a type; `None` where it has others.
pub fn list_leaves(module: &LlvmModule, ty: LlvmType) -> Option<Vec<ValueLeaf>> {
    let mut found = Vec::new();
    gather_leaves(module, ty, 0, &mut found)?;
    Some(found)
}

fn gather_leaves(
    module: &LlvmModule,
    ty: LlvmType,
    at: u64,
    into: &mut Vec<ValueLeaf>,
) -> Option<()> {
    let (types, layout) = (&module.types, &module.layout);
    let kind = match types.kind(ty) {
        LlvmTypeKind::Int(width) => LeafType::Int(*width),
        LlvmTypeKind::Half => LeafType::Float(16),
        LlvmTypeKind::Float => LeafType::Float(32),
        LlvmTypeKind::Double => LeafType::Float(64),
        LlvmTypeKind::Pointer { .. } => LeafType::Pointer,
        LlvmTypeKind::Array { element, len } => {
            let stride = layout.alloc_size(types, *element)?;
            return (0..*len)
                .try_for_each(|n| gather_leaves(module, *element, at + n * stride, into));
        }
        LlvmTypeKind::Vector { element, len, .. } => {
            let bits = layout.size_in_bits(types, *element)?;
            let offset = |n: u32| at + u64::from(n) * bits / 8;
            return (0..*len).try_for_each(|n| gather_leaves(module, *element, offset(n), into));
        }
        LlvmTypeKind::Struct { fields, .. } => {
            let offsets = layout.struct_layout(types, ty)?.offsets;
            let mut fields = fields.as_ref()?.iter().zip(offsets);
            return fields
                .try_for_each(|(field, offset)| gather_leaves(module, *field, at + offset, into));
        }
        _ => return None,
    };
    into.push(ValueLeaf { kind, offset: at });
    Some(())
}

/// How many scalars a type has.
pub fn count_scalars(module: &LlvmModule, ty: LlvmType) -> Option<usize> {
    list_leaves(module, ty).map(|all| all.len())
}
