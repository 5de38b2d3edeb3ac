//! Attributes of operations that compute each element from one element of each operand.

use crate::dialect::keywords::{ComparisonDirection, ComparisonType};
use crate::dialect::properties::attribute_record;

attribute_record! {
    /// Attributes of `compare`.
    struct CompareAttributes {
        comparison_direction: ComparisonDirection,
        compare_type: Option<ComparisonType>,
    }
}

attribute_record! {
    /// Attributes of `reduce_precision`.
    struct ReducePrecisionAttributes {
        exponent_bits: i32,
        mantissa_bits: i32,
    }
}
