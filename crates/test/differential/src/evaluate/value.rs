//! Values as lists of scalars, each of them known or not.

use spirula_llvm::ir::{LlvmModule, LlvmType, LlvmTypeKind};

/// An address: an offset in bytes into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectAddress {
    /// Index of the object.
    pub object: usize,
    /// Offset in bytes.
    pub offset: i64,
}

/// A scalar of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbstractScalar {
    /// Any value: poison, undefined, or unspecified by the reference manual.
    Any,
    /// A NaN with any payload.
    Nan,
    /// Known bits.
    Bits(u128),
    /// An address, or an integer with the bits of one.
    Address(ObjectAddress),
}

impl AbstractScalar {
    /// The bits, if they are known.
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

/// A value: its scalars, in order of their addresses.
pub type AbstractValue = Vec<AbstractScalar>;

/// A scalar's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafType {
    /// An integer of a width.
    Int(u32),
    /// A float of a width.
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

/// The place of a scalar within a value.
#[derive(Clone, Copy, Debug)]
pub struct ValueLeaf {
    /// Its type.
    pub kind: LeafType,
    /// Its offset in bytes.
    pub offset: u64,
}

/// The scalars of a type; `None` if it contains unsupported types.
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

/// The number of scalars of a type.
pub fn count_scalars(module: &LlvmModule, ty: LlvmType) -> Option<usize> {
    list_leaves(module, ty).map(|all| all.len())
}
