//! The editing interface: the only way in which a module changes.

use super::list::Ends;
use super::module::{BasicBlock, Block, Func, Function, Inst, List, Module, Node};
use crate::Id;
use crate::binary::{first_word, split};
use crate::grammar::Op;

impl Module {
    /// A new id.
    pub fn fresh_id(&mut self) -> Id {
        let id = Id::new(self.bound).unwrap_or(Id::MAX);
        self.bound = self.bound.saturating_add(1);
        id
    }

    /// Makes an instruction that is in no list yet, from its opcode and the words behind the first.
    ///
    /// # Panics
    /// When the words are 65,535 or more: no instruction is that long.
    pub fn create(&mut self, op: Op, words: &[u32]) -> Inst {
        self.create_parts(op, words, &[])
    }

    /// The same of words in two parts.
    pub(crate) fn create_parts(&mut self, op: Op, head: &[u32], tail: &[u32]) -> Inst {
        let start = self.put(op, head, tail);
        self.create_at(start)
    }

    /// The instruction whose words begin at a place of the pool.
    #[inline]
    pub(super) fn create_at(&mut self, start: u32) -> Inst {
        let inst = Inst::at(self.nodes.len());
        self.nodes.push(Node {
            start,
            list: None,
            previous: None,
            next: None,
        });
        inst
    }

    /// Puts an instruction's words into the pool, and says where.
    fn put(&mut self, op: Op, head: &[u32], tail: &[u32]) -> u32 {
        let length = head.len() + tail.len();
        assert!(length < 0xffff, "{op} is longer than an instruction may be");
        let start = self.words.len() as u32;
        self.words.reserve(length + 1);
        self.words.push(first_word(op, length));
        self.words.extend_from_slice(head);
        self.words.extend_from_slice(tail);
        start
    }

    /// Puts a free instruction at the end of a list.
    pub fn append(&mut self, list: List, inst: Inst) {
        let tail = self.ends(list).tail;
        self.link(list, tail, inst, None);
    }

    /// Puts a free instruction before another one.
    ///
    /// # Panics
    /// When `at` is in no list.
    pub fn insert_before(&mut self, at: Inst, inst: Inst) {
        let node = self.nodes[at.index()];
        let Some(list) = node.list else {
            panic!("insertion before a free instruction")
        };
        self.link(list, node.previous, inst, Some(at));
    }

    /// Puts a free instruction behind another one.
    ///
    /// # Panics
    /// When `at` is in no list.
    pub fn insert_after(&mut self, at: Inst, inst: Inst) {
        let node = self.nodes[at.index()];
        let Some(list) = node.list else {
            panic!("insertion behind a free instruction")
        };
        self.link(list, Some(at), inst, node.next);
    }

    /// Takes an instruction out of its list; its handle stays valid.
    pub fn remove(&mut self, inst: Inst) {
        let node = self.nodes[inst.index()];
        let Some(list) = node.list else { return };
        match node.previous {
            Some(p) => self.nodes[p.index()].next = node.next,
            None => self.lists[list.index()].head = node.next,
        }
        match node.next {
            Some(n) => self.nodes[n.index()].previous = node.previous,
            None => self.lists[list.index()].tail = node.previous,
        }
        let node = &mut self.nodes[inst.index()];
        (node.list, node.previous, node.next) = (None, None, None);
    }

    /// The operand words of an instruction, to change in place.
    #[inline]
    pub fn words_mut(&mut self, inst: Inst) -> &mut [u32] {
        let start = self.nodes[inst.index()].start as usize;
        let (length, _) = split(self.words[start]);
        &mut self.words[start + 1..start + length]
    }

    /// Gives an instruction other words, of any number; it stays where it is.
    ///
    /// # Panics
    /// As [`Module::create`].
    pub fn replace_words(&mut self, inst: Inst, words: &[u32]) {
        self.replace_parts(inst, words, &[]);
    }

    /// The same with words in two parts.
    pub(crate) fn replace_parts(&mut self, inst: Inst, head: &[u32], tail: &[u32]) {
        let op = self.inst(inst).op();
        self.nodes[inst.index()].start = self.put(op, head, tail);
    }

    /// Gives an instruction another opcode and other words; it stays where it is.
    ///
    /// # Panics
    /// As [`Module::create`].
    pub fn replace(&mut self, inst: Inst, op: Op, words: &[u32]) {
        self.nodes[inst.index()].start = self.put(op, words, &[]);
    }

    /// Makes a function without blocks and puts it behind the others. `def` is its `OpFunction`.
    pub fn create_function(&mut self, def: Inst) -> Func {
        let end = self.create(Op::FunctionEnd, &[]);
        self.create_function_at(def, end)
    }

    pub(super) fn create_function_at(&mut self, def: Inst, end: Inst) -> Func {
        let (lead, params, tail) = (self.create_list(), self.create_list(), self.create_list());
        let func = Func::at(self.functions.len());
        self.functions.push(Function {
            lead,
            def,
            params,
            blocks: Vec::new(),
            tail,
            end,
        });
        self.order.push(func);
        func
    }

    /// Makes an empty block with the given label and puts it behind the function's others.
    pub fn create_block(&mut self, func: Func, label: Id) -> Block {
        let label = self.create(Op::Label, &[label.word()]);
        self.create_block_at(func, label)
    }

    pub(super) fn create_block_at(&mut self, func: Func, label: Inst) -> Block {
        let (lead, body) = (self.create_list(), self.create_list());
        let block = Block::at(self.blocks.len());
        self.blocks.push(BasicBlock {
            func,
            lead,
            label,
            body,
        });
        self.functions[func.index()].blocks.push(block);
        block
    }

    pub(super) fn create_list(&mut self) -> List {
        self.lists.push(Ends::default());
        List::at(self.lists.len() - 1)
    }

    fn link(&mut self, list: List, previous: Option<Inst>, inst: Inst, next: Option<Inst>) {
        assert!(
            self.nodes[inst.index()].list.is_none(),
            "the instruction is in a list already"
        );
        match previous {
            Some(p) => self.nodes[p.index()].next = Some(inst),
            None => self.lists[list.index()].head = Some(inst),
        }
        match next {
            Some(n) => self.nodes[n.index()].previous = Some(inst),
            None => self.lists[list.index()].tail = Some(inst),
        }
        let node = &mut self.nodes[inst.index()];
        (node.list, node.previous, node.next) = (Some(list), previous, next);
    }
}
