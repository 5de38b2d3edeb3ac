//! Print options: what a disassembly shows.

/// Options of the disassembler. The default is the format of SPIRV-Tools with `--raw-id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Begin with the header as a comment, from which [`super::parse_assembly`] takes it back.
    pub header: bool,
    /// Align opcodes in a column.
    pub indent: bool,
    /// Print names such as `%main` and `%v4float` instead of numbers. Assembling the text assigns new numbers to
    /// named ids.
    pub friendly_names: bool,
    /// Colour results, ids, numbers and strings for a terminal. The assembler does not read such text.
    pub colors: bool,
    /// End each line with a comment that has the offset of the instruction in bytes.
    pub offsets: bool,
    /// Comment results with their decorations, and begin each section and function with its title.
    pub comments: bool,
    /// Indent instructions by the nesting of their block, and separate blocks by an empty line.
    pub nested_indent: bool,
    /// Order blocks by structured control flow instead of their order in the module.
    pub reorder_blocks: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions {
            header: true,
            indent: true,
            friendly_names: false,
            colors: false,
            offsets: false,
            comments: false,
            nested_indent: false,
            reorder_blocks: false,
        }
    }
}

impl PrintOptions {
    /// Whether the nesting of blocks matters.
    pub(super) fn uses_nesting(&self) -> bool {
        self.nested_indent || self.reorder_blocks
    }
}

/// The colour of each part of an instruction, as control sequences of terminals.
pub(super) mod color {
    pub const RESULT: &str = "\x1b[34m";
    pub const ID: &str = "\x1b[33m";
    pub const NUMBER: &str = "\x1b[31m";
    pub const STRING: &str = "\x1b[32m";
    pub const OFFSET: &str = "\x1b[1;30m";
    pub const RESET: &str = "\x1b[0m";
}
