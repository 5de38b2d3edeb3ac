//! Interned names.

use super::NameId;
use spirula_entity::StringInterner;

/// All names of a program, each once.
pub type ProgramNames = StringInterner<NameId>;
