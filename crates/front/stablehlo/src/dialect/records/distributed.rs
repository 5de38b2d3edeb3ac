//! Attributes of collectives.

use crate::dialect::properties::attribute_record;
use crate::dialect::values::{ChannelHandle, ElementsAttribute, IntegerElements};

attribute_record! {
    /// The attribute that collectives share.
    struct CollectiveAttributes {
        replica_groups: Option<ElementsAttribute>,
    }
}

attribute_record! {
    /// Attributes of `collective_permute`.
    struct CollectivePermuteAttributes {
        source_target_pairs: IntegerElements,
    }
    unread {
        channel_handle: Option<ChannelHandle>,
    }
}
