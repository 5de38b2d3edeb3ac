//! Interned strings: all names and strings of a module.

use spirula_entity::{StringInterner, define_ids};

define_ids! {
    /// An interned string.
    pub struct MlirSymbol: "sym";
}

/// All names and strings of a module, each once, in one buffer.
pub(crate) type MlirStrings = StringInterner<MlirSymbol>;
