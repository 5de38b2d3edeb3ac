//! Comments of a disassembly: offsets of instructions, decorations of results, and titles of sections.

use crate::grammar::Op;
use rustc_hash::FxHashMap;

/// Column at which comments begin where no line is longer.
const COLUMN: usize = 52;

/// Column that comments do not move beyond.
const LAST_COLUMN: usize = 256;

/// Spaces before a comment, at least.
const GAP: usize = 2;

/// Titles of the sections, in their order.
const TITLES: [&str; 3] = [
    "Debug Information",
    "Annotations",
    "Types, variables and constants",
];

/// The facts known for the comments of later lines.
#[derive(Debug)]
pub struct DisassemblyNotes {
    column: usize,
    /// Decorations of ids, as they are printed.
    decorations: FxHashMap<u32, Vec<Box<str>>>,
    /// Titles that were printed.
    is_titled: [bool; TITLES.len()],
}

impl Default for DisassemblyNotes {
    fn default() -> Self {
        DisassemblyNotes {
            column: COLUMN,
            decorations: FxHashMap::default(),
            is_titled: [false; TITLES.len()],
        }
    }
}

impl DisassemblyNotes {
    /// The title of the section that an instruction begins, if it begins one.
    pub fn begin_section(&mut self, op: Op) -> Option<&'static str> {
        let section = match op {
            Op::SourceContinued
            | Op::Source
            | Op::SourceExtension
            | Op::Name
            | Op::MemberName
            | Op::String
            | Op::ModuleProcessed => 0,
            op if is_annotation(op) => 1,
            op if declares_globally(op) => 2,
            _ => return None,
        };
        let was_titled = std::mem::replace(&mut self.is_titled[section], true);
        (!was_titled).then_some(TITLES[section])
    }

    /// Records a decoration of an id.
    pub fn record_decoration(&mut self, target: u32, text: &str) {
        // A comment ends with its line.
        let text = text.replace(['\n', '\r'], " ");
        self.decorations
            .entry(target)
            .or_default()
            .push(text.into());
    }

    /// The decorations of an id.
    pub fn decorations_of(&self, id: u32) -> &[Box<str>] {
        self.decorations.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The number of spaces between a line of this width and its comment. The column of comments moves to the right
    /// with long lines, in steps of four.
    pub fn place_comment(&mut self, width: usize) -> usize {
        let wanted = (width + GAP).max(self.column).next_multiple_of(4);
        self.column = wanted.min(LAST_COLUMN);
        wanted.max(width + GAP) - width
    }
}

/// Whether an instruction decorates.
pub fn is_annotation(op: Op) -> bool {
    matches!(
        op,
        Op::Decorate
            | Op::MemberDecorate
            | Op::DecorationGroup
            | Op::GroupDecorate
            | Op::GroupMemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
    )
}

/// Whether an instruction declares a type, a constant or a variable of the module.
fn declares_globally(op: Op) -> bool {
    let is_constant =
        |name: &str| name.starts_with("OpConstant") || name.starts_with("OpSpecConstant");
    op.is_type_declaration()
        || matches!(op, Op::Variable | Op::Undef)
        || op.info().is_some_and(|row| is_constant(row.name))
}
