//! The editing interface, which is the only way to change a module.

use super::inst_arena::MOST_LISTS;
use super::list::InstListEnds;
use super::module::{BasicBlock, Block, Func, Inst, List, SpirvFunction, SpirvModule};
use crate::Id;
use crate::grammar::Op;

/// Part of their length by which the pools grow: little, as most edits are small beside the module.
pub(super) const GROWTH: usize = 8;

impl SpirvModule {
    /// A new id.
    pub fn fresh_id(&mut self) -> Id {
        let id = Id::new(self.bound).unwrap_or(Id::MAX);
        self.bound = self.bound.saturating_add(1);
        id
    }

    /// Reserves room for this number of additional instructions and words, so that a module of roughly known
    /// size grows in place.
    pub fn reserve_insts(&mut self, instructions: usize, words: usize) {
        self.nodes.reserve_exact(instructions);
        self.words.reserve_exact(words);
    }

    /// Creates an instruction outside of any list, from its opcode and the words after the first.
    ///
    /// # Panics
    /// If there are 65,535 words or more: no instruction is that long.
    pub fn create_inst(&mut self, op: Op, words: &[u32]) -> Inst {
        self.create_parts(op, words, &[])
    }

    /// As [`SpirvModule::create_inst`], with the words in two parts.
    pub(crate) fn create_parts(&mut self, op: Op, head: &[u32], tail: &[u32]) -> Inst {
        let start = self.put_words(op, head, tail);
        self.create_at(start)
    }

    /// The instruction whose words begin at a place of the pool.
    #[inline]
    pub(super) fn create_at(&mut self, start: u32) -> Inst {
        self.nodes.push_free(start)
    }

    /// Appends the words of an instruction to the pool and returns their position.
    fn put_words(&mut self, op: Op, head: &[u32], tail: &[u32]) -> u32 {
        self.as_read = false;
        self.words.push_instruction(op, head, tail)
    }

    /// Appends a free instruction to a list.
    pub fn append_inst(&mut self, list: List, inst: Inst) {
        let tail = self.list_ends(list).tail;
        if !self.nodes.append_adjacent(inst, list, tail) {
            return self.link_inst(list, tail, inst, None);
        }
        self.as_read = false;
        let ends = &mut self.lists[list.index()];
        ends.head.get_or_insert(inst);
        ends.tail = Some(inst);
    }

    /// Inserts a free instruction before another one.
    ///
    /// # Panics
    /// If `at` is in no list.
    pub fn insert_before(&mut self, at: Inst, inst: Inst) {
        let Some(list) = self.list_of(at) else {
            panic!("insertion before a free instruction")
        };
        self.link_inst(list, self.previous(at), inst, Some(at));
    }

    /// Inserts a free instruction after another one.
    ///
    /// # Panics
    /// If `at` is in no list.
    pub fn insert_after(&mut self, at: Inst, inst: Inst) {
        let Some(list) = self.list_of(at) else {
            panic!("insertion after a free instruction")
        };
        self.link_inst(list, Some(at), inst, self.next(at));
    }

    /// Takes an instruction out of its list; its handle stays valid.
    pub fn remove_inst(&mut self, inst: Inst) {
        let Some(list) = self.list_of(inst) else {
            return;
        };
        self.as_read = false;
        let (previous, next) = (self.previous(inst), self.next(inst));
        if previous.is_none() {
            self.lists[list.index()].head = next;
        }
        if next.is_none() {
            self.lists[list.index()].tail = previous;
        }
        self.nodes.unlink_node(inst, previous, next);
    }

    /// The operand words of an instruction, to change in place.
    #[inline]
    pub fn words_mut(&mut self, inst: Inst) -> &mut [u32] {
        self.words.operands_mut(self.nodes.start(inst))
    }

    /// Replaces the words of an instruction by any number of words, in place.
    ///
    /// # Panics
    /// As [`SpirvModule::create_inst`].
    pub fn replace_words(&mut self, inst: Inst, words: &[u32]) {
        self.replace_parts(inst, words, &[]);
    }

    /// As [`SpirvModule::replace_words`], with the words in two parts.
    pub(crate) fn replace_parts(&mut self, inst: Inst, head: &[u32], tail: &[u32]) {
        let op = self.inst(inst).op();
        let start = self.put_words(op, head, tail);
        self.nodes.set_start(inst, start);
    }

    /// Replaces the opcode and words of an instruction, in place.
    ///
    /// # Panics
    /// As [`SpirvModule::create_inst`].
    pub fn replace_inst(&mut self, inst: Inst, op: Op, words: &[u32]) {
        let start = self.put_words(op, words, &[]);
        self.nodes.set_start(inst, start);
    }

    /// Creates a function without blocks after the others. `def` is its `OpFunction`.
    pub fn create_function(&mut self, def: Inst) -> Func {
        let end = self.create_inst(Op::FunctionEnd, &[]);
        self.create_function_at(def, end)
    }

    pub(super) fn create_function_at(&mut self, def: Inst, end: Inst) -> Func {
        let params = self.create_list();
        let func = Func::new(self.functions.len());
        self.functions.push(SpirvFunction {
            lead: List::always_empty(),
            def,
            params,
            blocks: Vec::new(),
            tail: List::always_empty(),
            end,
        });
        self.order.push(func);
        func
    }

    /// Sets the blocks of a function, or their order.
    pub(super) fn set_blocks(&mut self, func: Func, blocks: Vec<Block>) {
        let old = &mut self.functions[func.index()].blocks;
        self.as_read &= *old == blocks;
        *old = blocks;
    }

    /// Creates an empty block with the given label at the end of the function.
    pub fn create_block(&mut self, func: Func, label: Id) -> Block {
        let label = self.create_inst(Op::Label, &[label.word()]);
        self.create_block_at(func, label)
    }

    pub(super) fn create_block_at(&mut self, func: Func, label: Inst) -> Block {
        let body = self.create_list();
        let block = Block::new(self.blocks.len());
        self.blocks.push(BasicBlock {
            func,
            lead: List::always_empty(),
            label,
            body,
        });
        self.functions[func.index()].blocks.push(block);
        block
    }

    /// The list of line instructions before the label of a block, for insertions.
    pub fn block_lead(&mut self, block: Block) -> List {
        let lead = self.own_list(self.block(block).lead);
        self.blocks[block.index()].lead = lead;
        lead
    }

    /// The list of line instructions before `OpFunction`, for insertions.
    pub fn function_lead(&mut self, func: Func) -> List {
        let lead = self.own_list(self.function(func).lead);
        self.functions[func.index()].lead = lead;
        lead
    }

    /// The list of line instructions before `OpFunctionEnd`, for insertions.
    pub fn function_tail(&mut self, func: Func) -> List {
        let tail = self.own_list(self.function(func).tail);
        self.functions[func.index()].tail = tail;
        tail
    }

    fn own_list(&mut self, list: List) -> List {
        if list == List::always_empty() {
            self.create_list()
        } else {
            list
        }
    }

    pub(super) fn create_list(&mut self) -> List {
        assert!(self.lists.len() < MOST_LISTS, "a module has too many lists");
        self.lists.push(InstListEnds::default());
        List::new(self.lists.len() - 1)
    }

    #[track_caller]
    fn link_inst(&mut self, list: List, previous: Option<Inst>, inst: Inst, next: Option<Inst>) {
        assert!(
            self.list_of(inst).is_none(),
            "the instruction is in a list already"
        );
        assert!(list != List::always_empty(), "this list stays empty");
        self.as_read = false;
        if previous.is_none() {
            self.lists[list.index()].head = Some(inst);
        }
        if next.is_none() {
            self.lists[list.index()].tail = Some(inst);
        }
        self.nodes.insert_between(inst, list, previous, next);
    }
}
