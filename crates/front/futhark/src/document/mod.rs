//! Documentation of programs: definitions with their comments, their types as they are written, and links.
//!
//! The data is read from the syntax trees of a checked program. Names are resolved as the checker does, where a name
//! stands for the place of its documentation. A type that is not written is the inferred one, without sizes.
//!
//! Source: manual page `futhark-doc`.

mod comment;
mod declaration;
mod inferred;
mod link;
mod module;
mod signature;

pub use comment::DocumentationComment;
pub use link::{DocumentScope, LinkTarget, ReferenceSpace};
pub use signature::SignaturePart;

use crate::compile::CheckedSource;
use crate::syntax::token::TextRange;
use crate::typed::{DefinitionId, FileId, ProgramPlace};
use declaration::DocumentBuilder;
use std::collections::HashMap;
use std::rc::Rc;

/// A file of a program with its documentation.
pub struct DocumentedFile {
    /// Its path as [`crate::source::ProgramFile`] has it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The comment at its head.
    pub documentation: Option<DocumentationComment>,
    /// Its definitions, in order.
    pub items: Vec<DocumentedItem>,
    /// The files that it imports.
    pub imports: Vec<String>,
    /// The names that comments may refer to.
    pub scope: Rc<DocumentScope>,
}

/// A definition with its documentation.
pub struct DocumentedItem {
    /// Which definition it is.
    pub kind: ItemKind,
    /// Its name after those of the modules around it. Empty for `open` and `include`.
    pub name: String,
    /// The identifier of its place on the page of the file.
    pub anchor: String,
    /// Where it stands.
    pub range: TextRange,
    /// The comment in front of it.
    pub documentation: Option<DocumentationComment>,
    /// Keyword, name and type.
    pub signature: Vec<SignaturePart>,
    /// The members of a module or module type that are written out.
    pub members: Vec<DocumentedItem>,
}

/// The kinds of documented definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A value that is no function.
    Value,
    /// A function.
    Function,
    /// A type.
    Type,
    /// A module.
    Module,
    /// A parametric module.
    ParametricModule,
    /// A module type.
    ModuleType,
    /// `open m`: the names of a module as they were defined here.
    Open,
    /// `include s`: the members of another module type.
    Include,
}

impl ItemKind {
    /// A few words for an index.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            ItemKind::Value => "value",
            ItemKind::Function => "function",
            ItemKind::Type => "type",
            ItemKind::Module => "module",
            ItemKind::ParametricModule => "parametric module",
            ItemKind::ModuleType => "module type",
            ItemKind::Open => "open",
            ItemKind::Include => "include",
        }
    }

    /// Whether it defines a name.
    #[must_use]
    pub fn has_name(self) -> bool {
        !matches!(self, ItemKind::Open | ItemKind::Include)
    }
}

/// Documents all files of a program, the prelude included, in the order in which they import each other.
#[must_use]
pub fn document_program(checked: &CheckedSource) -> Vec<DocumentedFile> {
    let files = &checked.files;
    let definitions = checked.program.definitions.iter();
    let places = definitions.map(|(id, definition)| (place_key(definition.place), id));
    // A definition of a parametric module has an instance for each argument. The first one counts.
    let places: HashMap<(FileId, u32), DefinitionId> = places.rev().collect();
    let mut initial = DocumentScope::default();
    let mut scopes = HashMap::new();
    let mut documented = Vec::new();
    for (id, file) in files.files.iter() {
        let mut builder = DocumentBuilder {
            checked,
            file: id,
            definitions: &places,
            files: &scopes,
            scope: initial.clone(),
            path: link::ItemPath::default(),
            hidden: Vec::new(),
        };
        let block = builder.document_declarations(&file.tree.declarations);
        let scope = Rc::new(builder.scope);
        let exported = Rc::new(block.exported);
        if id == files.prelude {
            initial = (*exported).clone();
        }
        let imports = file.tree.imports.iter();
        let imports = imports.filter_map(|import| files.imports.get(&(id, import.name)));
        documented.push(DocumentedFile {
            name: file.name.clone(),
            text: file.text.clone(),
            documentation: file
                .tree
                .documentation
                .map(|range| DocumentationComment::read(&file.text, range)),
            items: block.items,
            imports: imports
                .map(|&file| files.files[file].name.clone())
                .collect(),
            scope,
        });
        scopes.insert(id, exported);
    }
    documented
}

/// The key of a definition by its place.
fn place_key(place: ProgramPlace) -> (FileId, u32) {
    (place.file, place.range.start)
}
