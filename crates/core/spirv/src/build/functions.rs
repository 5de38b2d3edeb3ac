//! Functions, blocks and instructions of the module builder.

use super::SpirvBuilder;
use crate::Id;
use crate::grammar::Op;
use crate::grammar::enumerants::{FunctionControl, StorageClass};
use crate::ir::{Block, Func, Inst};

impl SpirvBuilder {
    /// Begins a function under an id that was reserved before.
    pub fn begin_function(&mut self, id: Id, result: Id, control: FunctionControl, ty: Id) -> Func {
        let words = [result.word(), id.word(), control.0, ty.word()];
        let def = self.module.create_inst(Op::Function, &words);
        let func = self.module.create_function(def);
        self.set_type_of(id, result);
        self.current = Some((func, None));
        func
    }

    /// Appends a parameter to the current function.
    ///
    /// # Panics
    /// Outside of a function.
    pub fn append_parameter(&mut self, ty: Id) -> Id {
        let id = self.fresh_id();
        let inst = self
            .module
            .create_inst(Op::FunctionParameter, &[ty.word(), id.word()]);
        let list = self.module.function(self.current_function()).params;
        self.module.append_inst(list, inst);
        self.set_type_of(id, ty);
        id
    }

    /// Begins a block of the current function under a label that was reserved before.
    ///
    /// # Panics
    /// Outside of a function.
    pub fn begin_block(&mut self, label: Id) -> Block {
        let func = self.current_function();
        let block = self.module.create_block(func, label);
        self.current = Some((func, Some(block)));
        block
    }

    /// Continues an earlier block.
    pub fn continue_block(&mut self, block: Block) {
        self.current = Some((self.module.block(block).func, Some(block)));
    }

    /// Ends the current function.
    pub fn end_function(&mut self) {
        self.current = None;
    }

    /// Appends an instruction with a typed result.
    ///
    /// # Panics
    /// Outside of a block.
    pub fn append_value(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh_id();
        self.define_value(id, op, ty, operands);
        id
    }

    /// Appends an instruction with a typed result under an id that was reserved before.
    ///
    /// # Panics
    /// Outside of a block.
    pub fn define_value(&mut self, id: Id, op: Op, ty: Id, operands: &[u32]) {
        self.append_parts(op, &[ty.word(), id.word()], operands);
        self.set_type_of(id, ty);
    }

    /// Appends an instruction without a result.
    ///
    /// # Panics
    /// Outside of a block.
    pub fn append_effect(&mut self, op: Op, words: &[u32]) {
        self.append_parts(op, words, &[]);
    }

    fn append_parts(&mut self, op: Op, head: &[u32], tail: &[u32]) {
        let inst = self.module.create_parts(op, head, tail);
        let body = self.module.block(self.current_block()).body;
        self.module.append_inst(body, inst);
    }

    /// Appends an `OpPhi` whose operands are set later by [`SpirvBuilder::set_phi`].
    ///
    /// # Panics
    /// Outside of a block.
    pub fn append_phi(&mut self, ty: Id) -> (Id, Inst) {
        let id = self.fresh_id();
        let inst = self.module.create_inst(Op::Phi, &[ty.word(), id.word()]);
        let body = self.module.block(self.current_block()).body;
        self.module.append_inst(body, inst);
        self.set_type_of(id, ty);
        (id, inst)
    }

    /// Sets the operands of an `OpPhi`: values and the labels of the predecessors that they come from.
    pub fn set_phi(&mut self, phi: Inst, operands: &[u32]) {
        let words = self.module.inst(phi).words();
        let head = [words[0], words[1]];
        self.module.replace_parts(phi, &head, operands);
    }

    /// Inserts a variable at the beginning of the current function's entry block.
    ///
    /// # Panics
    /// If the current function has no block yet.
    pub fn local_variable(&mut self, pointer: Id, initializer: Option<Id>) -> Id {
        let id = self.fresh_id();
        let mut words = vec![pointer.word(), id.word(), StorageClass::Function.0];
        words.extend(initializer.map(Id::word));
        let inst = self.module.create_inst(Op::Variable, &words);
        let entry = self.module.function(self.current_function()).blocks[0];
        let body = self.module.block(entry).body;
        let first = self
            .module
            .list_insts(body)
            .find(|i| i.op() != Op::Variable);
        match first.map(|i| i.handle()) {
            Some(at) => self.module.insert_before(at, inst),
            None => self.module.append_inst(body, inst),
        }
        self.set_type_of(id, pointer);
        id
    }

    /// The function that is being built.
    ///
    /// # Panics
    /// Outside of a function.
    pub fn current_function(&self) -> Func {
        match self.current {
            Some((func, _)) => func,
            None => panic!("no function has been begun"),
        }
    }

    /// The block that is being built.
    ///
    /// # Panics
    /// Outside of a block.
    pub fn current_block(&self) -> Block {
        match self.current {
            Some((_, Some(block))) => block,
            _ => panic!("no block has been begun"),
        }
    }
}
