//! Attributes of Shardy's operations.

use crate::dialect::properties::attribute_record;
use crate::mlir::MlirAttr;

attribute_record! {
    /// Attributes of `sdy.manual_computation`.
    struct ManualComputationAttributes {
        in_shardings: MlirAttr,
        out_shardings: MlirAttr,
        manual_axes: MlirAttr,
    }
}
