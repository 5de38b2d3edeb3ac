//! Metadata: nodes, strings, values and named lists.

use super::{LlvmConst, LlvmMetadata, LlvmPoolRange, LlvmSymbol, LlvmValue};

/// The kind of a metadata node, with its contents. Ranges refer to pools of the [`MetadataArena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// A string.
    String(LlvmSymbol),
    /// A constant.
    Constant(LlvmConst),
    /// A local value of the function that uses the metadata.
    Local(LlvmValue),
    /// `!DIArgList(...)`: pieces of metadata that are values.
    ArgList(LlvmPoolRange),
    /// `!{...}`
    Node {
        /// Whether it is never merged with an equal node.
        distinct: bool,
        /// Its operands; see [`MetadataArena::operands`].
        operands: LlvmPoolRange,
    },
    /// A specialised node such as `!DILocation(...)`.
    Specialised {
        /// Whether it is never merged with an equal node.
        distinct: bool,
        /// Its class, such as `DILocation`.
        class: LlvmSymbol,
        /// Its fields; see [`MetadataArena::fields`].
        fields: LlvmPoolRange,
    },
}

/// The value of a field of a specialised node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataField {
    /// Other metadata, or `null`.
    Node(Option<LlvmMetadata>),
    /// A number, or a boolean as 0 and 1.
    Int(i128),
    /// A symbolic constant such as `DW_TAG_member` or `DIFlagPublic | DIFlagVector`.
    Word(LlvmSymbol),
}

/// A named list of metadata of a module.
#[derive(Clone, Debug)]
pub struct NamedMetadata {
    /// Its name.
    pub name: LlvmSymbol,
    /// Its operands.
    pub operands: Vec<LlvmMetadata>,
}

/// All metadata of a module.
#[derive(Clone, Debug, Default)]
pub struct MetadataArena {
    kinds: Vec<MetadataKind>,
    operands: Vec<Option<LlvmMetadata>>,
    fields: Vec<(LlvmSymbol, MetadataField)>,
}

impl MetadataArena {
    /// Adds a string, a value, or a node whose range one of the functions below returned.
    pub fn push(&mut self, kind: MetadataKind) -> LlvmMetadata {
        self.kinds.push(kind);
        LlvmMetadata::new(self.kinds.len() - 1)
    }

    /// Replaces the node of an id. Readers use it to define a node that was referred to before.
    pub fn replace_metadata(&mut self, id: LlvmMetadata, kind: MetadataKind) {
        self.kinds[id.index()] = kind;
    }

    /// Puts operands of a node into their pool.
    pub fn push_operands(&mut self, operands: &[Option<LlvmMetadata>]) -> LlvmPoolRange {
        let start = self.operands.len();
        self.operands.extend_from_slice(operands);
        LlvmPoolRange::from_start(start, &self.operands)
    }

    /// Puts fields of a specialised node into their pool.
    pub fn push_fields(&mut self, fields: &[(LlvmSymbol, MetadataField)]) -> LlvmPoolRange {
        let start = self.fields.len();
        self.fields.extend_from_slice(fields);
        LlvmPoolRange::from_start(start, &self.fields)
    }

    /// The kind of a node, with its contents.
    pub fn kind(&self, id: LlvmMetadata) -> MetadataKind {
        self.kinds[id.index()]
    }

    /// All nodes, in the order in which they were added.
    pub fn iter_ids(&self) -> impl Iterator<Item = LlvmMetadata> + use<> {
        (0..self.kinds.len()).map(LlvmMetadata::new)
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Operands of a node or argument list; empty for other kinds. `None` stands for `null`.
    pub fn operands(&self, id: LlvmMetadata) -> &[Option<LlvmMetadata>] {
        match self.kind(id) {
            MetadataKind::Node { operands, .. } | MetadataKind::ArgList(operands) => {
                &self.operands[operands.to_range()]
            }
            _ => &[],
        }
    }

    /// Fields of a specialised node; empty for anything else.
    pub fn fields(&self, id: LlvmMetadata) -> &[(LlvmSymbol, MetadataField)] {
        match self.kind(id) {
            MetadataKind::Specialised { fields, .. } => &self.fields[fields.to_range()],
            _ => &[],
        }
    }

    /// A field of a specialised node by its name.
    pub fn find_field(&self, id: LlvmMetadata, name: LlvmSymbol) -> Option<MetadataField> {
        self.fields(id)
            .iter()
            .find(|field| field.0 == name)
            .map(|field| field.1)
    }

    /// The symbol of a metadata string.
    pub fn as_string(&self, id: LlvmMetadata) -> Option<LlvmSymbol> {
        match self.kind(id) {
            MetadataKind::String(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// The constant that a piece of metadata wraps.
    pub fn as_constant(&self, id: LlvmMetadata) -> Option<LlvmConst> {
        match self.kind(id) {
            MetadataKind::Constant(constant) => Some(constant),
            _ => None,
        }
    }
}
