//! Code of the kernels of radix sorts and selections: statements and expressions over `i32`s.

use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{
    BlockSize, ExprId, KernelData, KernelSyncScope, LaunchIndex, MemoryElement, MemorySpace,
    StmtKind, SyncKind, VarId, VariableType,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// Elements of memory that are `i32`s.
const WORD: ScalarType = ScalarType::I32;

/// Bytes of a word.
pub(super) const WORD_BYTES: i64 = 4;

/// A kernel that is being written.
pub(in crate::lower) struct RadixKernelCode<'b> {
    pub b: &'b mut ProgramBuilder,
}

impl<'b> RadixKernelCode<'b> {
    /// Begins the body of a kernel.
    pub fn begin(b: &'b mut ProgramBuilder) -> RadixKernelCode<'b> {
        b.begin_block();
        RadixKernelCode { b }
    }

    /// Ends the kernel. It has a name, and is launched with workgroups of a size.
    pub fn finish(self, name: &str, groups: ExprId, size: u64) -> KernelData {
        let body = self.b.end_block();
        let size = self.b.make_i64(size as i64);
        KernelData {
            label: Some(name.to_owned()),
            blocks: vec![groups],
            block_size: vec![BlockSize::Constant(size)],
            captures: self.b.find_captures(body),
            failure_tolerant: true,
            body,
            place: self.b.current_place(),
        }
    }

    pub fn number(&mut self, value: i64) -> ExprId {
        self.b.make_literal(ScalarLiteral::from_i32(value as i32))
    }

    pub fn apply(&mut self, op: ScalarOp, operands: &[ExprId]) -> ExprId {
        self.b.apply_op(op, operands)
    }

    pub fn add(&mut self, one: ExprId, other: ExprId) -> ExprId {
        self.apply(ScalarOp::Add, &[one, other])
    }

    pub fn multiply(&mut self, one: ExprId, by: i64) -> ExprId {
        let by = self.number(by);
        self.apply(ScalarOp::Mul, &[one, by])
    }

    /// A number as an `i64`.
    pub fn widen(&mut self, number: ExprId) -> ExprId {
        match self.b.program().type_of(number) {
            Some(ScalarType::I64) => number,
            _ => self.convert(number, WORD, ScalarType::I64),
        }
    }

    /// An `i64` as an `i32`.
    pub fn narrow(&mut self, number: ExprId) -> ExprId {
        self.convert(number, ScalarType::I64, WORD)
    }

    fn convert(&mut self, number: ExprId, from: ScalarType, to: ScalarType) -> ExprId {
        let convert = ScalarOperator::from_conversion(ScalarOp::SExt, from, to);
        self.b.apply_operator(convert, &[number])
    }

    /// Declares a variable with the value of an expression, and returns its value.
    pub fn bind(&mut self, name: &str, value: ExprId) -> ExprId {
        let var = self.declare(name, value);
        self.b.read_var(var)
    }

    /// Declares a variable with an initial value.
    pub fn declare(&mut self, name: &str, value: ExprId) -> VarId {
        let ty = self.b.program().type_of(value).unwrap_or(WORD);
        let var = self.b.declare_var(name, VariableType::Scalar(ty), false);
        self.b.push_assignment(var, value);
        var
    }

    /// Reads a part of the invocation's position.
    pub fn position(&mut self, name: &str, part: LaunchIndex) -> ExprId {
        let to = self.b.declare_var(name, VariableType::Scalar(WORD), false);
        self.b.push_statement(StmtKind::Position {
            to,
            part,
            dimension: 0,
        });
        self.b.read_var(to)
    }

    /// Declares a private array of words.
    pub fn declare_array(&mut self, name: &str, length: i64) -> VarId {
        self.declare_elements(name, WORD, length)
    }

    /// Declares a private array of elements of a type.
    pub fn declare_elements(&mut self, name: &str, ty: ScalarType, length: i64) -> VarId {
        let length = self.b.make_i64(length);
        let array = self.b.add_array_type(ty, vec![length]);
        self.b.declare_var(name, VariableType::Array(array), false)
    }

    /// Declares words in the workgroup's memory.
    pub fn declare_shared(&mut self, name: &str, length: i64) -> VarId {
        let ty = VariableType::Memory(MemorySpace::Shared);
        let to = self.b.declare_var(name, ty, false);
        let bytes = self.b.make_i64(length * WORD_BYTES);
        self.b.push_statement(StmtKind::Alloc { to, bytes });
        to
    }

    fn element(&mut self, memory: VarId, ty: ScalarType, index: ExprId) -> MemoryElement {
        let index = self.widen(index);
        MemoryElement {
            memory,
            ty,
            index,
            volatile: false,
        }
    }

    /// Loads a word. The index is an `i32` or an `i64`.
    pub fn load(&mut self, name: &str, memory: VarId, index: ExprId) -> ExprId {
        self.load_element(name, memory, WORD, index)
    }

    /// Loads an element of a type. The index is an `i32` or an `i64`.
    pub fn load_element(
        &mut self,
        name: &str,
        memory: VarId,
        ty: ScalarType,
        index: ExprId,
    ) -> ExprId {
        let from = self.element(memory, ty, index);
        let to = self.b.declare_var(name, VariableType::Scalar(ty), false);
        self.b.push_statement(StmtKind::Read { to, from });
        self.b.read_var(to)
    }

    /// Stores a word. The index is an `i32` or an `i64`.
    pub fn store(&mut self, memory: VarId, index: ExprId, value: ExprId) {
        self.store_element(memory, WORD, index, value);
    }

    /// Stores an element of a type. The index is an `i32` or an `i64`.
    pub fn store_element(&mut self, memory: VarId, ty: ScalarType, index: ExprId, value: ExprId) {
        let to = self.element(memory, ty, index);
        self.b.push_statement(StmtKind::Write { to, value });
    }

    /// Loads two words, the first of which has an even index.
    pub fn load_pair(&mut self, memory: VarId, index: ExprId) -> [ExprId; 2] {
        let from = self.element(memory, WORD, index);
        let to = ["word", "number"]
            .map(|name| self.b.declare_var(name, VariableType::Scalar(WORD), false));
        self.b.push_statement(StmtKind::ReadVector {
            to: Box::new(to),
            from,
        });
        to.map(|var| self.b.read_var(var))
    }

    /// Stores two words, the first of which has an even index.
    pub fn store_pair(&mut self, memory: VarId, index: ExprId, values: [ExprId; 2]) {
        let to = self.element(memory, WORD, index);
        self.b.push_statement(StmtKind::WriteVector {
            to,
            values: Box::new(values),
        });
    }

    /// Adds a number to a word, and returns the word before.
    pub fn increase(&mut self, memory: VarId, index: ExprId, by: ExprId) -> ExprId {
        let before = self.load("count", memory, index);
        let after = self.add(before, by);
        self.store(memory, index, after);
        before
    }

    /// Replaces a word, and returns the word before.
    pub fn exchange(&mut self, memory: VarId, index: ExprId, value: ExprId) -> ExprId {
        let before = self.load("before", memory, index);
        self.store(memory, index, value);
        before
    }

    /// Emits a loop from 0 to below a bound.
    pub fn repeat(&mut self, bound: ExprId, body: impl FnOnce(&mut Self, ExprId)) {
        let counter = self.b.new_var("i", VariableType::Scalar(WORD));
        self.b.begin_block();
        let at = self.b.read_var(counter);
        body(self, at);
        let body = self.b.end_block();
        self.b.push_statement(StmtKind::For {
            counter,
            bound,
            body,
        });
    }

    /// Emits a loop that repeats while a condition holds.
    pub fn repeat_while(&mut self, condition: ExprId, body: impl FnOnce(&mut Self)) {
        self.b.begin_block();
        body(self);
        let body = self.b.end_block();
        self.b.push_statement(StmtKind::While { condition, body });
    }

    /// Emits code under a condition.
    pub fn only_if(&mut self, condition: ExprId, body: impl FnOnce(&mut Self)) {
        self.b.begin_block();
        body(self);
        let then = self.b.end_block();
        self.b.begin_block();
        let otherwise = self.b.end_block();
        self.b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Waits for all invocations of the workgroup, whose accesses of the workgroup's memory become visible.
    pub fn wait(&mut self) {
        self.b.push_statement(StmtKind::Sync {
            kind: SyncKind::Barrier,
            scope: KernelSyncScope::Shared,
        });
    }

    /// The digit of a word that begins at a bit.
    pub fn digit(&mut self, word: ExprId, pass: RadixPass) -> ExprId {
        let amount = self.number(i64::from(pass.lowest));
        let shifted = self.apply(ScalarOp::LShr, &[word, amount]);
        let mask = self.number(pass.digits() - 1);
        self.apply(ScalarOp::And, &[shifted, mask])
    }
}

/// A pass over the words: the digit that it sorts by.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct RadixPass {
    /// Its lowest bit.
    pub lowest: u32,
    /// Number of its bits.
    pub bits: u32,
}

impl RadixPass {
    /// The passes over words of a number of bits, digit after digit from the lowest.
    pub fn list_passes(bits: u32, digit: u32) -> Vec<RadixPass> {
        let count = bits.div_ceil(digit);
        let share = bits.div_ceil(count);
        let lowest = (0..bits).step_by(share as usize);
        let pass = lowest.map(|lowest| RadixPass {
            lowest,
            bits: share.min(bits - lowest),
        });
        pass.collect()
    }

    /// The number of different digits.
    pub fn digits(self) -> i64 {
        1 << self.bits
    }

    /// The number of digits without the highest bit.
    pub fn lower_digits(self) -> i64 {
        1 << (self.bits - 1)
    }
}
