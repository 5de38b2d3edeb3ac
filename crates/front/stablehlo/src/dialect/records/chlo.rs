//! Attributes of operations of the `chlo` dialect.

use crate::dialect::numbers::RaggedDotNumbers;
use crate::dialect::properties::attribute_record;
use crate::dialect::values::{NamedInteger, PrecisionConfig, SegmentSizes};
use crate::mlir::MlirAttr;

attribute_record! {
    /// Attributes of `chlo.top_k`.
    struct TopKAttributes {
        k: i64,
    }
}

attribute_record! {
    /// Attributes of `chlo.scan`. The sizes of segments are the numbers of inputs and of carries.
    struct ScanAttributes {
        dimension: NamedInteger,
        is_reverse: Option<bool>,
        operand_segment_sizes as "operandSegmentSizes": Option<SegmentSizes>,
    }
    unread {
        is_associative: Option<MlirAttr>,
        result_segment_sizes as "resultSegmentSizes": Option<SegmentSizes>,
    }
}

attribute_record! {
    /// Attributes of `chlo.ragged_dot`.
    struct RaggedDotAttributes {
        ragged_dot_dimension_numbers: RaggedDotNumbers,
        precision_config: Option<PrecisionConfig>,
    }
}
