//! The editing interface: the only way in which a module changes.

use super::list::{Ends, List};
use super::module::{BasicBlock, Block, Func, Function, Inst, Module, Node};
use crate::Id;
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
        let start = self.words.len() as u32;
        self.words.extend_from_slice(words);
        assert!(
            words.len() < 0xffff,
            "{op} is longer than an instruction may be"
        );
        let length = words.len() as u16;
        let inst = Inst(self.nodes.len() as u32);
        self.nodes.push(Node {
            start,
            length,
            op,
            list: None,
            previous: None,
            next: None,
        });
        inst
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
            None => self.lists[list.0 as usize].head = node.next,
        }
        match node.next {
            Some(n) => self.nodes[n.index()].previous = node.previous,
            None => self.lists[list.0 as usize].tail = node.previous,
        }
        let node = &mut self.nodes[inst.index()];
        (node.list, node.previous, node.next) = (None, None, None);
    }

    /// The operand words of an instruction, to change in place.
    pub fn words_mut(&mut self, inst: Inst) -> &mut [u32] {
        let node = self.nodes[inst.index()];
        let start = node.start as usize;
        &mut self.words[start..start + usize::from(node.length)]
    }

    /// Gives an instruction other words, of any number; it stays where it is.
    ///
    /// # Panics
    /// As [`Module::create`].
    pub fn replace_words(&mut self, inst: Inst, words: &[u32]) {
        let op = self.nodes[inst.index()].op;
        assert!(
            words.len() < 0xffff,
            "{op} is longer than an instruction may be"
        );
        let start = self.words.len() as u32;
        self.words.extend_from_slice(words);
        let node = &mut self.nodes[inst.index()];
        (node.start, node.length) = (start, words.len() as u16);
    }

    /// Gives an instruction another opcode and other words; it stays where it is.
    ///
    /// # Panics
    /// As [`Module::create`].
    pub fn replace(&mut self, inst: Inst, op: Op, words: &[u32]) {
        self.nodes[inst.index()].op = op;
        self.replace_words(inst, words);
    }

    /// Makes a function without blocks and puts it behind the others. `def` is its `OpFunction`.
    pub fn create_function(&mut self, def: Inst) -> Func {
        let (lead, params, tail) = (self.create_list(), self.create_list(), self.create_list());
        let end = self.create(Op::FunctionEnd, &[]);
        let func = Func(self.functions.len() as u32);
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

    /// Gives a function its blocks in another order, the entry block first. Blocks that are left out
    /// are no part of the module any more.
    pub fn set_blocks(&mut self, func: Func, blocks: Vec<Block>) {
        self.functions[func.index()].blocks = blocks;
    }

    pub(super) fn create_block_at(&mut self, func: Func, label: Inst) -> Block {
        let (lead, body) = (self.create_list(), self.create_list());
        let block = Block(self.blocks.len() as u32);
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
        List(self.lists.len() as u32 - 1)
    }

    fn link(&mut self, list: List, previous: Option<Inst>, inst: Inst, next: Option<Inst>) {
        assert!(
            self.nodes[inst.index()].list.is_none(),
            "the instruction is in a list already"
        );
        match previous {
            Some(p) => self.nodes[p.index()].next = Some(inst),
            None => self.lists[list.0 as usize].head = Some(inst),
        }
        match next {
            Some(n) => self.nodes[n.index()].previous = Some(inst),
            None => self.lists[list.0 as usize].tail = Some(inst),
        }
        let node = &mut self.nodes[inst.index()];
        (node.list, node.previous, node.next) = (Some(list), previous, next);
    }
}
