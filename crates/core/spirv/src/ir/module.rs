//! The module and its parts.

use super::InstRef;
use super::inst_arena::InstArena;
use super::list::{InstIter, InstListEnds};
use super::walk::SpirvWalk;
use super::word_pool::WordPool;
use crate::Id;
use crate::binary::split_first_word;
use crate::grammar::{InstructionClass, Op, OpcodeRole, SpirvVersion};
use spirula_entity::define_ids;
use std::num::NonZeroU32;

define_ids! {
    /// An instruction of a module.
    pub struct Inst: "inst";
    /// A basic block of a module.
    pub struct Block: "block";
    /// A function of a module.
    pub struct Func: "func";
    /// A list of instructions: a section, a function's parameters, a block's body.
    pub struct List: "list";
}

impl Inst {
    /// The first instruction of a module, with which tables are initialised.
    pub(crate) const FIRST: Inst = Inst(NonZeroU32::MIN);

    /// The handle after this one.
    #[inline]
    pub(super) fn next_handle(self) -> Inst {
        Inst(self.0.saturating_add(1))
    }
}

/// The module's sections outside of functions, in the order of the specification (section 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModuleSection {
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
    /// `OpString`, `OpSource` and similar instructions.
    Sources,
    /// `OpName` and `OpMemberName`.
    Names,
    /// `OpModuleProcessed`.
    Processed,
    /// Decorations.
    Annotations,
    /// Types, constants, global variables, non-semantic instructions and lines among them.
    Globals,
    /// Instructions after the last function.
    Trailer,
}

impl ModuleSection {
    /// All sections in their order. Functions come before the trailer.
    pub const ALL: [ModuleSection; 12] = [
        ModuleSection::Capabilities,
        ModuleSection::Extensions,
        ModuleSection::Imports,
        ModuleSection::MemoryModel,
        ModuleSection::EntryPoints,
        ModuleSection::ExecutionModes,
        ModuleSection::Sources,
        ModuleSection::Names,
        ModuleSection::Processed,
        ModuleSection::Annotations,
        ModuleSection::Globals,
        ModuleSection::Trailer,
    ];

    /// The section in which an instruction outside of functions belongs.
    pub fn from_op(op: Op) -> ModuleSection {
        match op {
            Op::Capability => ModuleSection::Capabilities,
            Op::Extension => ModuleSection::Extensions,
            Op::ExtInstImport => ModuleSection::Imports,
            Op::MemoryModel => ModuleSection::MemoryModel,
            Op::EntryPoint => ModuleSection::EntryPoints,
            Op::ExecutionMode | Op::ExecutionModeId => ModuleSection::ExecutionModes,
            Op::String | Op::Source | Op::SourceContinued | Op::SourceExtension => {
                ModuleSection::Sources
            }
            Op::Name | Op::MemberName => ModuleSection::Names,
            Op::ModuleProcessed => ModuleSection::Processed,
            _ if op.shape().role == OpcodeRole::Annotation => ModuleSection::Annotations,
            _ => ModuleSection::Globals,
        }
    }

    /// Whether an instruction is allowed in this section. Computations are allowed in functions only. Unknown
    /// opcodes count as types and the like.
    pub fn can_hold(self, op: Op) -> bool {
        ModuleSection::from_op(op) == self && (self != ModuleSection::Globals || is_global(op))
    }

    /// The list of this section's instructions.
    pub fn list(self) -> List {
        List::new(self as usize)
    }
}

/// Whether an instruction is allowed among types, constants and variables.
fn is_global(op: Op) -> bool {
    let class = op.info().map(|i| i.class);
    matches!(
        class,
        None | Some(
            InstructionClass::TypeDeclaration
                | InstructionClass::ConstantCreation
                | InstructionClass::Graph
        )
    ) || matches!(
        op,
        Op::Variable
            | Op::UntypedVariableKHR
            | Op::ConstantFunctionPointerINTEL
            | Op::Undef
            | Op::Line
            | Op::NoLine
            | Op::ExtInst
            | Op::ExtInstWithForwardRefsKHR
            | Op::SamplerImageAddressingModeNV
            | Op::AsmTargetINTEL
            | Op::AsmINTEL
            | Op::AliasDomainDeclINTEL
            | Op::AliasScopeDeclINTEL
            | Op::AliasScopeListDeclINTEL
    )
}

impl List {
    /// The section whose list this is.
    pub(super) fn section(self) -> Option<ModuleSection> {
        ModuleSection::ALL.get(self.index()).copied()
    }

    /// A list that stays empty: that of lines where there are none.
    pub(super) fn always_empty() -> List {
        List::new(ModuleSection::ALL.len())
    }
}

/// A function definition or declaration.
#[derive(Clone, Debug)]
pub struct SpirvFunction {
    /// `OpLine` and non-semantic instructions before `OpFunction`; to read only.
    pub lead: List,
    /// `OpFunction`.
    pub def: Inst,
    /// `OpFunctionParameter`, and lines among them.
    pub params: List,
    /// Basic blocks, the entry block first; empty for a declaration.
    pub blocks: Vec<Block>,
    /// Lines before `OpFunctionEnd`; to read only.
    pub tail: List,
    /// `OpFunctionEnd`.
    pub end: Inst,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct BasicBlock {
    /// The function it is in.
    pub func: Func,
    /// Lines before the label; to read only.
    pub lead: List,
    /// `OpLabel`.
    pub label: Inst,
    /// All instructions after the label, the terminator last.
    pub body: List,
}

/// A SPIR-V module.
#[derive(Clone, Debug)]
pub struct SpirvModule {
    /// Version of SPIR-V.
    pub version: SpirvVersion,
    /// Generator word of the header.
    pub generator: u32,
    /// Schema word of the header.
    pub schema: u32,
    pub(super) bound: u32,
    /// Whether the pool is the module as it was read, word for word, with its sections in their order.
    pub(super) as_read: bool,
    /// The words of every instruction, the first with length and opcode included.
    pub(super) words: WordPool,
    pub(super) nodes: InstArena,
    pub(super) lists: Vec<InstListEnds>,
    pub(super) blocks: Vec<BasicBlock>,
    pub(super) functions: Vec<SpirvFunction>,
    pub(super) order: Vec<Func>,
}

impl SpirvModule {
    /// Spirula's generator word, until a number is registered: 0 and the version of this crate.
    pub const GENERATOR: u32 = 1;

    /// An empty module.
    pub fn new(version: SpirvVersion) -> Self {
        SpirvModule {
            version,
            generator: Self::GENERATOR,
            schema: 0,
            bound: 1,
            as_read: false,
            words: WordPool::default(),
            nodes: InstArena::default(),
            lists: vec![InstListEnds::default(); ModuleSection::ALL.len() + 1],
            blocks: Vec::new(),
            functions: Vec::new(),
            order: Vec::new(),
        }
    }

    /// One more than the largest id.
    #[inline]
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// An instruction.
    #[inline]
    pub fn inst(&self, inst: Inst) -> InstRef<'_> {
        let start = self.nodes.start(inst);
        let words = self.words.words_from(start);
        let (length, op) = split_first_word(words[0]);
        InstRef {
            handle: inst,
            op,
            at: if self.words.is_original(start) {
                start
            } else {
                u32::MAX
            },
            words: &words[1..length],
        }
    }

    /// The words that the module was read from, header included; empty if it was built.
    pub(crate) fn words_as_read(&self) -> &[u32] {
        self.words.original_words()
    }

    /// The instructions in the order of their handles, where all of them are in the module: as long as it was
    /// not edited.
    pub(crate) fn insts_as_read(&self) -> Option<impl Iterator<Item = InstRef<'_>>> {
        let all = 0..self.nodes.len();
        self.as_read.then(|| all.map(|at| self.inst(Inst::new(at))))
    }

    /// Number of instructions that were ever created: the size of tables keyed by [`Inst`].
    #[inline]
    pub fn inst_count(&self) -> usize {
        self.nodes.len()
    }

    /// All instructions after the first `count` created ones, removed ones included.
    pub fn insts_since(&self, count: usize) -> impl Iterator<Item = InstRef<'_>> {
        (count..self.nodes.len()).map(|at| self.inst(Inst::new(at)))
    }

    /// Number of blocks that were ever created: the size of tables keyed by [`Block`].
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The instructions of a list in order.
    #[inline]
    pub fn list_insts(&self, list: List) -> InstIter<'_> {
        InstIter::new(self, list)
    }

    /// Whether a list has no instruction.
    pub fn is_empty(&self, list: List) -> bool {
        self.list_ends(list).head.is_none()
    }

    /// The instructions of a section in order.
    #[inline]
    pub fn section_insts(&self, section: ModuleSection) -> InstIter<'_> {
        self.list_insts(section.list())
    }

    /// The next instruction in the list.
    #[inline]
    pub fn next(&self, inst: Inst) -> Option<Inst> {
        self.nodes.next(inst)
    }

    /// The instruction before this one in its list.
    #[inline]
    pub fn previous(&self, inst: Inst) -> Option<Inst> {
        self.nodes.previous(inst)
    }

    /// The list that an instruction is in; none for labels, `OpFunction` and `OpFunctionEnd`, and
    /// for instructions that were removed.
    #[inline]
    pub fn list_of(&self, inst: Inst) -> Option<List> {
        self.nodes.containing_list(inst)
    }

    /// The functions in order.
    #[inline]
    pub fn functions(&self) -> &[Func] {
        &self.order
    }

    /// A function.
    #[inline]
    pub fn function(&self, func: Func) -> &SpirvFunction {
        &self.functions[func.index()]
    }

    /// A basic block.
    #[inline]
    pub fn block(&self, block: Block) -> &BasicBlock {
        &self.blocks[block.index()]
    }

    /// The instructions of a block after its label.
    #[inline]
    pub fn body(&self, block: Block) -> InstIter<'_> {
        self.list_insts(self.block(block).body)
    }

    /// The id of a block's label.
    #[inline]
    pub fn label(&self, block: Block) -> Id {
        self.inst(self.block(block).label)
            .result()
            .unwrap_or(Id::MAX)
    }

    /// The last instruction of a block.
    ///
    /// # Panics
    /// When the block is being built and still empty.
    #[inline]
    pub fn terminator(&self, block: Block) -> InstRef<'_> {
        match self.list_ends(self.block(block).body).tail {
            Some(inst) => self.inst(inst),
            None => panic!("a block under construction has no terminator"),
        }
    }

    /// Whether any block ends with `OpSwitch`.
    pub(super) fn has_switches(&self) -> bool {
        let mut blocks = self.order.iter().flat_map(|f| &self.function(*f).blocks);
        let ends = |b: &Block| self.list_ends(self.block(*b).body).tail;
        blocks.any(|b| ends(b).is_some_and(|i| self.inst(i).op == Op::Switch))
    }

    /// The merge instruction of a block, before its terminator.
    #[inline]
    pub fn merge_inst(&self, block: Block) -> Option<InstRef<'_>> {
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
    pub fn function_insts(&self, func: Func) -> impl Iterator<Item = InstRef<'_>> + Clone {
        SpirvWalk::of_function(self, func)
    }

    /// The handles of [`SpirvModule::all_insts`], for walks that look at few of the instructions.
    pub(crate) fn all_handles(&self) -> impl Iterator<Item = Inst> {
        let mut walk = SpirvWalk::of_module(self);
        std::iter::from_fn(move || walk.next_handle())
    }

    /// The opcode of an instruction.
    #[inline]
    pub(crate) fn opcode(&self, inst: Inst) -> Op {
        split_first_word(self.words.words_from(self.nodes.start(inst))[0]).1
    }

    /// Every instruction of the module in its logical order.
    pub fn all_insts(&self) -> impl Iterator<Item = InstRef<'_>> + Clone {
        SpirvWalk::of_module(self)
    }

    /// The imports of extended instruction sets that describe the module and compute nothing.
    pub fn silent_sets(&self) -> Vec<Id> {
        let imports = self.section_insts(ModuleSection::Imports);
        let imports = imports.filter(|i| i.op() == Op::ExtInstImport);
        let silent = imports.filter(|i| is_silent_set(&i.string_operand(0)));
        silent.filter_map(InstRef::result).collect()
    }

    /// Releases room that reading did not need.
    pub(super) fn trim_tables(&mut self) {
        self.nodes.trim_rows();
        trim_capacity(&mut self.lists);
        trim_capacity(&mut self.blocks);
        for function in &mut self.functions {
            trim_capacity(&mut function.blocks);
        }
    }

    #[inline]
    pub(super) fn list_ends(&self, list: List) -> InstListEnds {
        self.lists[list.index()]
    }
}

/// Whether a set of extended instructions describes the module and computes nothing.
pub(super) fn is_silent_set(name: &str) -> bool {
    name.starts_with("NonSemantic.") || name.contains("DebugInfo")
}

/// Releases the unused room of a vector if it is more than a little, because its contents may have to move.
pub(super) fn trim_capacity<T>(rows: &mut Vec<T>) {
    if rows.capacity() - rows.len() > rows.len() / 32 {
        rows.shrink_to_fit();
    }
}
