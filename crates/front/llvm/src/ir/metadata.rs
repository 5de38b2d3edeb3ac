//! Metadata.

use super::id::dense_id;
use super::{Const, Span, Symbol, Value};

dense_id! {
    /// A metadata string, value or node.
    Metadata, "!"
}

/// What a piece of metadata is. Spans point into pools of the [`MetadataArena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// A string.
    String(Symbol),
    /// A constant.
    Constant(Const),
    /// A local value of the function in which the metadata is used.
    Local(Value),
    /// `!DIArgList(...)`: pieces of metadata that are values.
    ArgList(Span),
    /// `!{...}`
    Node {
        /// Whether it is never merged with an equal node.
        distinct: bool,
        /// Its operands; see [`MetadataArena::operands`].
        operands: Span,
    },
    /// A specialised node such as `!DILocation(...)`.
    Special {
        /// Whether it is never merged with an equal node.
        distinct: bool,
        /// Its class, such as `DILocation`.
        class: Symbol,
        /// Its fields; see [`MetadataArena::fields`].
        fields: Span,
    },
}

/// The value of a field of a specialised node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Other metadata, or `null`.
    Node(Option<Metadata>),
    /// A number, or a boolean as 0 and 1.
    Int(i128),
    /// A symbolic word such as `DW_TAG_member` or `DIFlagPublic | DIFlagVector`.
    Word(Symbol),
}

/// A named list of metadata of a module.
#[derive(Clone, Debug)]
pub struct NamedMetadata {
    /// Its name.
    pub name: Symbol,
    /// Its operands.
    pub operands: Vec<Metadata>,
}

/// All metadata of a module.
#[derive(Clone, Debug, Default)]
pub struct MetadataArena {
    kinds: Vec<MetadataKind>,
    operands: Vec<Option<Metadata>>,
    fields: Vec<(Symbol, Field)>,
}

impl MetadataArena {
    /// Adds a string, a value, or a node whose span was made by one of the calls below.
    pub fn push(&mut self, kind: MetadataKind) -> Metadata {
        self.kinds.push(kind);
        Metadata::new(self.kinds.len() - 1)
    }

    /// Replaces what stands under an id: how readers define what was referred to before.
    pub fn set(&mut self, id: Metadata, kind: MetadataKind) {
        self.kinds[id.index()] = kind;
    }

    /// Puts operands of a node into their pool.
    pub fn push_operands(&mut self, operands: &[Option<Metadata>]) -> Span {
        let start = self.operands.len();
        self.operands.extend_from_slice(operands);
        Span::since(start, &self.operands)
    }

    /// Puts fields of a specialised node into their pool.
    pub fn push_fields(&mut self, fields: &[(Symbol, Field)]) -> Span {
        let start = self.fields.len();
        self.fields.extend_from_slice(fields);
        Span::since(start, &self.fields)
    }

    /// What a piece of metadata is.
    pub fn kind(&self, id: Metadata) -> MetadataKind {
        self.kinds[id.index()]
    }

    /// All pieces, in the order in which they were added.
    pub fn ids(&self) -> impl Iterator<Item = Metadata> + use<> {
        (0..self.kinds.len()).map(Metadata::new)
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Operands of a node or argument list; empty for anything else. `None` is `null`.
    pub fn operands(&self, id: Metadata) -> &[Option<Metadata>] {
        match self.kind(id) {
            MetadataKind::Node { operands, .. } | MetadataKind::ArgList(operands) => {
                &self.operands[operands.range()]
            }
            _ => &[],
        }
    }

    /// Fields of a specialised node; empty for anything else.
    pub fn fields(&self, id: Metadata) -> &[(Symbol, Field)] {
        match self.kind(id) {
            MetadataKind::Special { fields, .. } => &self.fields[fields.range()],
            _ => &[],
        }
    }

    /// A field of a specialised node by its name.
    pub fn field(&self, id: Metadata, name: Symbol) -> Option<Field> {
        self.fields(id)
            .iter()
            .find(|field| field.0 == name)
            .map(|field| field.1)
    }

    /// The symbol of a metadata string.
    pub fn as_string(&self, id: Metadata) -> Option<Symbol> {
        match self.kind(id) {
            MetadataKind::String(symbol) => Some(symbol),
            _ => None,
        }
    }

    /// The constant that a piece of metadata wraps.
    pub fn as_constant(&self, id: Metadata) -> Option<Const> {
        match self.kind(id) {
            MetadataKind::Constant(constant) => Some(constant),
            _ => None,
        }
    }
}
