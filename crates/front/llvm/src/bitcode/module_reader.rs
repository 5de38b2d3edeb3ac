//! State of the module reader.

use super::attributes::AttributeTable;
use super::constants::BitcodeValues;
use super::metadata::MetadataTable;
use super::types::BitcodeTypeTable;
use crate::ir::{LlvmFunc, LlvmFunction, LlvmGlobal, LlvmModule, LlvmSymbol};

/// An entity that has a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum NamedEntity {
    Global(LlvmGlobal),
    Comdat(usize),
}

/// An operand of a global that is a constant.
#[derive(Clone, Copy, Debug)]
pub(super) enum GlobalConstantPart {
    Initializer,
    Aliasee,
    Prefix,
    Prologue,
    Personality,
}

/// State of the module reader.
#[derive(Debug, Default)]
pub struct BitcodeModuleReader {
    pub module: LlvmModule,
    pub types: BitcodeTypeTable,
    pub attributes: AttributeTable,
    pub metadata: MetadataTable,
    /// Globals and constants of the module by number, followed by those of the current function.
    pub slots: BitcodeValues,
    pub sync_scopes: Vec<LlvmSymbol>,
    pub bundle_tags: Vec<LlvmSymbol>,
    /// Memory for function bodies, which is reused.
    pub room: Option<LlvmFunction>,
    pub(super) version: u64,
    pub(super) sections: Vec<LlvmSymbol>,
    pub(super) collectors: Vec<LlvmSymbol>,
    /// Functions with a body, in the order in which the bodies follow.
    pub(super) bodies: std::collections::VecDeque<LlvmFunc>,
    /// Names as ranges of the string table.
    pub(super) names: Vec<(NamedEntity, [u64; 2])>,
    /// Constant operands of globals by number; they are resolved when all constants were read.
    pub(super) initializers: Vec<(LlvmGlobal, GlobalConstantPart, usize)>,
}
