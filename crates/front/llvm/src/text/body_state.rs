//! Body state: locals, labels and placeholders of the function body that is being parsed.

use crate::ir::{LlvmBlock, LlvmFunction, LlvmMetadata, LlvmSymbol, LlvmType};
use crate::{LlvmResult, error_at};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;

/// A name after `%` or `@`. A number is a distinct kind of name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LlvmName {
    /// `%7`
    Number(u64),
    /// `%name`
    Symbol(LlvmSymbol),
}

/// Locals from this number on are placeholders for locals that are not defined yet.
pub(super) const FORWARD: usize = 1 << 29;

/// A local that was used before its definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForwardLocal {
    pub(super) name: LlvmName,
    pub(super) ty: LlvmType,
    pub(super) place: SourceLocation,
}

/// A block that was used or defined.
#[derive(Clone, Copy, Debug)]
pub(super) struct LlvmBlockLabel {
    pub(super) place: SourceLocation,
    pub(super) block: Option<LlvmBlock>,
}

/// The body being parsed.
#[derive(Debug)]
pub struct BodyParseState {
    pub func: LlvmFunction,
    pub(super) locals: FxHashMap<LlvmName, usize>,
    pub(super) forwards: Vec<ForwardLocal>,
    pub(super) forward_of: FxHashMap<LlvmName, usize>,
    pub(super) labels: Vec<LlvmBlockLabel>,
    pub(super) label_of: FxHashMap<LlvmName, usize>,
    /// The number of the next local or block without a name.
    pub(super) next_number: u64,
    pub(super) block_start: usize,
    pub(super) block_name: Option<LlvmSymbol>,
    /// Metadata that is a local value.
    pub local_metadata: Vec<LlvmMetadata>,
}

impl BodyParseState {
    pub(super) fn new(
        mut func: LlvmFunction,
        names: &[Option<LlvmName>],
        place: SourceLocation,
    ) -> LlvmResult<Self> {
        let mut locals = FxHashMap::default();
        let mut next_number = 0;
        for (index, name) in names.iter().enumerate() {
            let name = name.unwrap_or(LlvmName::Number(next_number));
            let mut symbol = LlvmSymbol::EMPTY;
            match name {
                LlvmName::Symbol(found) => symbol = found,
                LlvmName::Number(number) if number < next_number => {
                    return Err(error_at(place, "parameters with numbers out of order"));
                }
                LlvmName::Number(number) => next_number = number.saturating_add(1),
            }
            func.names.push(symbol);
            if locals.insert(name, index).is_some() {
                return Err(error_at(place, "two parameters of one name"));
            }
        }
        Ok(BodyParseState {
            func,
            locals,
            forwards: Vec::new(),
            forward_of: FxHashMap::default(),
            labels: Vec::new(),
            label_of: FxHashMap::default(),
            next_number,
            block_start: 0,
            block_name: None,
            local_metadata: Vec::new(),
        })
    }

    pub(super) fn intern_label(&mut self, name: LlvmName, place: SourceLocation) -> usize {
        let labels = &mut self.labels;
        *self.label_of.entry(name).or_insert_with(|| {
            labels.push(LlvmBlockLabel { place, block: None });
            labels.len() - 1
        })
    }

    /// Whether a block of this name is defined.
    pub(super) fn label_is_defined(&self, name: LlvmName) -> bool {
        self.label_of
            .get(&name)
            .is_some_and(|&label| self.labels[label].block.is_some())
    }
}
