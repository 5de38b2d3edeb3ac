//! The module and its parts.

use super::InstRef;
use super::list::{Ends, Insts, List};
use crate::Id;
use crate::grammar::{Op, Version};
use spirula_source::Place;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub(super) u32);

        impl $name {
            /// Position in tables keyed by this kind of handle.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

handle!(
    /// An instruction of a module.
    Inst
);
handle!(
    /// A basic block of a module.
    Block
);
handle!(
    /// A function of a module.
    Func
);

/// The module's sections outside of functions, in the order of the specification (section 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// `OpCapability`.
    Capabilities,
    /// `OpExtension`.
    Extensions,
    /// `OpExtInstImport`.
    Imports,
    /// The one `OpMemoryModel`.
    MemoryModel,
    /// `OpEntryPoint`.
    EntryPoints,
    /// `OpExecutionMode` and `OpExecutionModeId`.
    ExecutionModes,
    /// `OpString`, `OpSource` and what belongs to it.
    Sources,
    /// `OpName` and `OpMemberName`.
    Names,
    /// `OpModuleProcessed`.
    Processed,
    /// Decorations.
    Annotations,
    /// Types, constants, global variables, non-semantic instructions and lines among them.
    Globals,
    /// What stands behind the last function.
    Trailer,
}

impl Section {
    /// All sections in their order; functions stand before the trailer.
    pub const ALL: [Section; 12] = [
        Section::Capabilities,
        Section::Extensions,
        Section::Imports,
        Section::MemoryModel,
        Section::EntryPoints,
        Section::ExecutionModes,
        Section::Sources,
        Section::Names,
        Section::Processed,
        Section::Annotations,
        Section::Globals,
        Section::Trailer,
    ];

    /// The section in which an instruction outside of functions belongs.
    pub fn of(op: Op) -> Section {
        match op {
            Op::Capability => Section::Capabilities,
            Op::Extension => Section::Extensions,
            Op::ExtInstImport => Section::Imports,
            Op::MemoryModel => Section::MemoryModel,
            Op::EntryPoint => Section::EntryPoints,
            Op::ExecutionMode | Op::ExecutionModeId => Section::ExecutionModes,
            Op::String | Op::Source | Op::SourceContinued | Op::SourceExtension => Section::Sources,
            Op::Name | Op::MemberName => Section::Names,
            Op::ModuleProcessed => Section::Processed,
            _ if op
                .info()
                .is_some_and(|i| i.class == crate::grammar::Class::Annotation) =>
            {
                Section::Annotations
            }
            _ => Section::Globals,
        }
    }

    /// The list of this section's instructions.
    pub fn list(self) -> List {
        List(self as u32)
    }
}

/// An instruction in the arena.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// First word in the pool, behind the instruction's first.
    pub start: u32,
    /// Words behind the first.
    pub length: u16,
    pub op: Op,
    pub list: Option<List>,
    pub previous: Option<Inst>,
    pub next: Option<Inst>,
}

/// A function definition or declaration.
#[derive(Clone, Debug)]
pub struct Function {
    /// `OpLine` and non-semantic instructions before `OpFunction`.
    pub lead: List,
    /// `OpFunction`.
    pub def: Inst,
    /// `OpFunctionParameter`, and lines among them.
    pub params: List,
    /// Basic blocks, the entry block first; empty for a declaration.
    pub blocks: Vec<Block>,
    /// Lines before `OpFunctionEnd`.
    pub tail: List,
    /// `OpFunctionEnd`.
    pub end: Inst,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct BasicBlock {
    /// The function it is in.
    pub func: Func,
    /// Lines before the label.
    pub lead: List,
    /// `OpLabel`.
    pub label: Inst,
    /// Everything behind the label, the terminator last.
    pub body: List,
}

/// A SPIR-V module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Version of SPIR-V.
    pub version: Version,
    /// Generator word of the header.
    pub generator: u32,
    /// Schema word of the header.
    pub schema: u32,
    pub(super) bound: u32,
    /// Words that came from the module that was read: their positions are places in it.
    pub(super) original: u32,
    pub(super) words: Vec<u32>,
    pub(super) nodes: Vec<Node>,
    pub(super) lists: Vec<Ends>,
    pub(super) blocks: Vec<BasicBlock>,
    pub(super) functions: Vec<Function>,
    pub(super) order: Vec<Func>,
}

impl Module {
    /// Spirula's generator word, until a number is registered: 0 and the version of this crate.
    pub const GENERATOR: u32 = 1;

    /// An empty module.
    pub fn new(version: Version) -> Self {
        Module {
            version,
            generator: Self::GENERATOR,
            schema: 0,
            bound: 1,
            original: 0,
            words: Vec::new(),
            nodes: Vec::new(),
            lists: vec![Ends::default(); Section::ALL.len()],
            blocks: Vec::new(),
            functions: Vec::new(),
            order: Vec::new(),
        }
    }

    /// One more than the largest id.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// An instruction.
    pub fn inst(&self, inst: Inst) -> InstRef<'_> {
        let node = &self.nodes[inst.index()];
        let start = node.start as usize;
        InstRef {
            handle: inst,
            op: node.op,
            words: &self.words[start..start + usize::from(node.length)],
            place: match node.start.checked_sub(1) {
                Some(at) if node.start <= self.original => Place::Word(at),
                _ => Place::Unknown,
            },
        }
    }

    /// Number of instructions ever made: the size of tables keyed by [`Inst`].
    pub fn inst_count(&self) -> usize {
        self.nodes.len()
    }

    /// Number of blocks ever made: the size of tables keyed by [`Block`].
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The instructions of a list in order.
    pub fn insts(&self, list: List) -> Insts<'_> {
        Insts::new(self, list)
    }

    /// The instructions of a section in order.
    pub fn section(&self, section: Section) -> Insts<'_> {
        self.insts(section.list())
    }

    /// The instruction behind this one in its list.
    pub fn next(&self, inst: Inst) -> Option<Inst> {
        self.nodes[inst.index()].next
    }

    /// The instruction before this one in its list.
    pub fn previous(&self, inst: Inst) -> Option<Inst> {
        self.nodes[inst.index()].previous
    }

    /// The list that an instruction is in; none for labels, `OpFunction` and `OpFunctionEnd`, and
    /// for instructions that were removed.
    pub fn list_of(&self, inst: Inst) -> Option<List> {
        self.nodes[inst.index()].list
    }

    /// The functions in order.
    pub fn functions(&self) -> &[Func] {
        &self.order
    }

    /// A function.
    pub fn function(&self, func: Func) -> &Function {
        &self.functions[func.index()]
    }

    /// A basic block.
    pub fn block(&self, block: Block) -> &BasicBlock {
        &self.blocks[block.index()]
    }

    /// The instructions of a block behind its label.
    pub fn body(&self, block: Block) -> Insts<'_> {
        self.insts(self.block(block).body)
    }

    /// The id of a block's label.
    pub fn label(&self, block: Block) -> Id {
        self.inst(self.block(block).label)
            .result()
            .unwrap_or(Id::MAX)
    }

    /// The last instruction of a block.
    ///
    /// # Panics
    /// When the block is being built and still empty.
    pub fn terminator(&self, block: Block) -> InstRef<'_> {
        match self.ends(self.block(block).body).tail {
            Some(inst) => self.inst(inst),
            None => panic!("a block under construction has no terminator"),
        }
    }

    /// The merge instruction of a block, before its terminator.
    pub fn merge(&self, block: Block) -> Option<InstRef<'_>> {
        let before = self.previous(self.terminator(block).handle)?;
        let inst = self.inst(before);
        matches!(inst.op, Op::LoopMerge | Op::SelectionMerge).then_some(inst)
    }

    /// The id of a function.
    pub fn function_id(&self, func: Func) -> Id {
        self.inst(self.function(func).def)
            .result()
            .unwrap_or(Id::MAX)
    }

    /// Every instruction of a function in order, lines, labels and `OpFunctionEnd` included.
    pub fn function_insts(&self, func: Func) -> impl Iterator<Item = InstRef<'_>> {
        let f = self.function(func);
        let blocks = f.blocks.iter().flat_map(|b| {
            let block = self.block(*b);
            let label = std::iter::once(self.inst(block.label));
            self.insts(block.lead)
                .chain(label)
                .chain(self.insts(block.body))
        });
        self.insts(f.lead)
            .chain(std::iter::once(self.inst(f.def)))
            .chain(self.insts(f.params))
            .chain(blocks)
            .chain(self.insts(f.tail))
            .chain(std::iter::once(self.inst(f.end)))
    }

    /// Every instruction of the module in its logical order.
    pub fn all_insts(&self) -> impl Iterator<Item = InstRef<'_>> {
        let before = Section::ALL.into_iter().filter(|s| *s != Section::Trailer);
        before
            .flat_map(|s| self.section(s))
            .chain(self.order.iter().flat_map(|f| self.function_insts(*f)))
            .chain(self.section(Section::Trailer))
    }

    pub(super) fn ends(&self, list: List) -> Ends {
        self.lists[list.0 as usize]
    }
}
