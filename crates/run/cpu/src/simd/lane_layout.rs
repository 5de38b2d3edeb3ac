//! Lane layouts: how the vectorised code holds a value of the original code.

use crate::module::entry_point::MAX_GANG_WIDTH;
use cranelift_codegen::ir::{Type, Value, types};
use smallvec::SmallVec;

/// The values that hold one value of the original code.
pub(super) type LaneValues = SmallVec<[Value; MAX_GANG_WIDTH]>;

/// The layout of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneLayout {
    /// The first lane's scalar. Those of the other lanes follow from the stride.
    Base(Type),
    /// Vectors of this type, enough for all lanes.
    Parts(Type),
    /// Vectors of 32-bit lanes, all ones for true.
    Mask,
    /// A scalar for each lane.
    Lanes(Type),
}

/// The vector type for scalars of a type; none for types that are held lane by lane.
pub(super) fn vector_of(ty: Type) -> Option<Type> {
    match ty {
        types::F32 => Some(types::F32X4),
        types::I32 => Some(types::I32X4),
        types::F64 => Some(types::F64X2),
        _ => None,
    }
}
