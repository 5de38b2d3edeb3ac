//! Serialised objects: bytes that the caller reads and frees.

use crate::generated::PjrtSerializedTopology;
use crate::handle::ApiObject;

/// Bytes of a serialised object. Each kind of object has an opaque type of its own, to which pointers are cast.
pub struct SerializedBytes(pub Vec<u8>);

impl ApiObject for SerializedBytes {
    type Opaque = PjrtSerializedTopology;
    const NAME: &'static str = "serialised object";
}
