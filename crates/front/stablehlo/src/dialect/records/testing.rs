//! Attributes of checks in test programs.

use crate::dialect::properties::attribute_record;
use crate::dialect::values::ElementsAttribute;

attribute_record! {
    /// Attributes that the checks of test programs may have, be they operations or custom calls.
    struct CheckAttributes {
        value: Option<ElementsAttribute>,
        tolerance: Option<f64>,
        max_ulp_difference: Option<i64>,
    }
}
