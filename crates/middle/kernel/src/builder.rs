//! The builder of programs, which front ends use.
//!
//! A [`ProgramBuilder`] appends statements to the innermost open block. It keeps names unique within a function: a
//! name that is taken gets a number (`x`, `x.1`, `x.2`). It does not check types; [`crate::verify_program()`] does.
//!
//! The example squares each of `n` numbers in place, with one workgroup of a single invocation for each:
//!
//! ```
//! use spirula_kernel::ir::{
//!     BlockSize, MemoryElement, EntryDecl, EntryKind, EntryDeclParameter, EntryDeclValue, ArrayDimension, LaunchIndex, KernelData,
//!     PlainValue, MemorySpace, StmtKind, VariableType, KernelCapture,
//! };
//! use spirula_kernel::ProgramBuilder;
//! use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
//! use spirula_diagnostics::SourceLocation;
//!
//! let mut b = ProgramBuilder::new();
//! let main = b.declare_function("main");
//! b.begin_function(main);
//! let n = b.add_input(main, "n", VariableType::Scalar(ScalarType::I64));
//! let xs = b.add_input(main, "xs", VariableType::Memory(MemorySpace::Device));
//! let out = b.add_output(main, "out", VariableType::Memory(MemorySpace::Device));
//! b.begin_block();
//!
//! // The kernel's body is a block of its own.
//! b.begin_block();
//! let group = b.declare_var("group", VariableType::Scalar(ScalarType::I32), false);
//! b.push_statement(StmtKind::Position { to: group, part: LaunchIndex::Group, dimension: 0 });
//! let number = b.read_var(group);
//! let widened = ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I32, ScalarType::I64);
//! let index = b.apply_operator(widened, &[number]);
//! let element = MemoryElement { memory: xs, ty: ScalarType::F32, index, volatile: false };
//! let x = b.declare_var("x", VariableType::Scalar(ScalarType::F32), false);
//! b.push_statement(StmtKind::Read { to: x, from: element });
//! let x = b.read_var(x);
//! let value = b.apply_op(ScalarOp::FMul, &[x, x]);
//! b.push_statement(StmtKind::Write { to: element, value });
//! let body = b.end_block();
//!
//! // The host launches it.
//! let (groups, one) = (b.read_var(n), b.make_i64(1));
//! let kernel = b.add_kernel(KernelData {
//!     label: None,
//!     blocks: vec![groups],
//!     block_size: vec![BlockSize::Constant(one)],
//!     captures: vec![KernelCapture::Memory(xs)],
//!     failure_tolerant: false,
//!     body,
//!     place: SourceLocation::Unknown,
//! });
//! b.push_statement(StmtKind::Launch(kernel));
//! b.push_statement(StmtKind::Alias { to: out, from: xs });
//! let body = b.end_block();
//! b.define_function(main, body);
//!
//! // The entry point: callers pass an array, whose size is an input of the function.
//! let array = |var| PlainValue {
//!     var,
//!     element: ScalarType::F32,
//!     unsigned: false,
//!     shape: Some(vec![ArrayDimension::Var(n)]),
//! };
//! let value = |var| EntryDeclValue { unique: true, kind: EntryKind::Plain(array(var)) };
//! b.add_entry(EntryDecl {
//!     name: "main".to_owned(),
//!     function: main,
//!     parameters: vec![EntryDeclParameter { name: "xs".to_owned(), value: value(xs) }],
//!     results: vec![value(out)],
//! });
//!
//! let program = b.finish_program();
//! spirula_kernel::verify_program(&program).unwrap();
//! let compiled = spirula_kernel::compile_program(&program).unwrap();
//! assert!(compiled.kernels[0].module.is_ok());
//! ```

use crate::ir::{
    ArrayData, ArrayId, EntryDecl, ExprData, ExprId, FuncData, FuncId, KernelCapture, KernelData,
    KernelId, KernelProgram, KernelStmt, LimitId, MessageData, MessageId, ParamId, StmtBlock,
    StmtKind, VarData, VarId, VariableType,
};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_diagnostics::SourceLocation;
use spirula_program::{
    ProgramParameter, ScalarLiteral, ScalarOp, ScalarOperator, ScalarType, SizeClass,
};

/// Builds a program statement by statement.
#[derive(Debug, Default)]
pub struct ProgramBuilder {
    program: KernelProgram,
    /// Statements of the open blocks, the innermost last.
    open: Vec<Vec<KernelStmt>>,
    /// Names of globals, and names of the current function.
    global_names: FxHashSet<String>,
    local_names: FxHashSet<String>,
    /// For each name, the last number that was appended to it in the current function.
    numbered: FxHashMap<String, u32>,
    functions: FxHashMap<String, FuncId>,
    parameters: FxHashMap<ProgramParameter, ParamId>,
    place: SourceLocation,
}

impl ProgramBuilder {
    /// Creates a builder of an empty program.
    pub fn new() -> Self {
        Self::default()
    }

    /// The program as built so far.
    pub fn program(&self) -> &KernelProgram {
        &self.program
    }

    /// Finishes the program. Each kernel gets the captures that the functions it calls need.
    pub fn finish_program(mut self) -> KernelProgram {
        crate::captures::complete_kernel_captures(&mut self.program);
        self.program
    }

    /// Sets the source place of the statements that follow.
    pub fn set_place(&mut self, place: SourceLocation) {
        self.place = place;
    }

    /// The source place of the statements that follow.
    pub fn current_place(&self) -> SourceLocation {
        self.place
    }

    /// Creates a variable that is visible in all functions.
    pub fn add_global(&mut self, name: &str, ty: VariableType) -> VarId {
        let name = self.make_unique_name(name);
        self.global_names.insert(name.clone());
        let var = self.make_var(&name, ty, false);
        self.program.globals.push(var);
        var
    }

    /// The function with this name, which may be defined later.
    pub fn declare_function(&mut self, name: &str) -> FuncId {
        if let Some(function) = self.functions.get(name) {
            return *function;
        }
        let function = FuncId::new(self.program.functions.len());
        self.functions.insert(name.to_owned(), function);
        self.program.functions.push(FuncData {
            name: self.program.names.intern(name),
            inputs: Vec::new(),
            outputs: Vec::new(),
            body: None,
            place: self.place,
        });
        function
    }

    /// Begins a function and sets its source place. Names of earlier functions may be used again.
    pub fn begin_function(&mut self, function: FuncId) {
        self.local_names.clear();
        self.numbered.clear();
        self.program.functions[function.index()].place = self.place;
    }

    /// Adds an input to a function.
    pub fn add_input(&mut self, function: FuncId, name: &str, ty: VariableType) -> VarId {
        let var = self.new_var(name, ty);
        self.program.functions[function.index()].inputs.push(var);
        var
    }

    /// Adds an output to a function.
    pub fn add_output(&mut self, function: FuncId, name: &str, ty: VariableType) -> VarId {
        let var = self.new_var(name, ty);
        self.program.functions[function.index()].outputs.push(var);
        var
    }

    /// Defines the body of a function.
    pub fn define_function(&mut self, function: FuncId, body: StmtBlock) {
        self.program.functions[function.index()].body = Some(body);
    }

    /// Sets the block that runs before any function.
    pub fn set_initialiser(&mut self, body: StmtBlock) {
        self.program.initialise = Some(body);
    }

    /// Adds an entry point.
    pub fn add_entry(&mut self, entry: EntryDecl) {
        self.program.entries.push(entry);
    }

    /// Sets the descriptions of opaque types.
    pub fn opaque_types(&mut self, lines: Vec<String>) {
        self.program.opaque_types = lines;
    }

    /// Creates a variable of the current function without declaring it, such as an input, a counter or a constant.
    pub fn new_var(&mut self, name: &str, ty: VariableType) -> VarId {
        let name = self.make_unique_name(name);
        self.local_names.insert(name.clone());
        self.make_var(&name, ty, false)
    }

    /// Creates and declares a variable.
    pub fn declare_var(&mut self, name: &str, ty: VariableType, volatile: bool) -> VarId {
        let var = self.new_var(name, ty);
        self.program.vars[var.index()].volatile = volatile;
        self.push_statement(StmtKind::Declare(var));
        var
    }

    fn make_var(&mut self, name: &str, ty: VariableType, volatile: bool) -> VarId {
        let name = self.program.names.intern(name);
        self.program.vars.push(VarData { name, ty, volatile });
        VarId::new(self.program.vars.len() - 1)
    }

    fn make_unique_name(&mut self, name: &str) -> String {
        let taken = |b: &Self, n: &str| b.global_names.contains(n) || b.local_names.contains(n);
        if !taken(self, name) {
            return name.to_owned();
        }
        loop {
            let number = self.numbered.entry(name.to_owned()).or_default();
            *number += 1;
            let numbered = format!("{name}.{number}");
            if !taken(self, &numbered) {
                return numbered;
            }
        }
    }

    /// Adds the type of a private array.
    pub fn add_array_type(&mut self, element: ScalarType, shape: Vec<ExprId>) -> ArrayId {
        self.program.arrays.push(ArrayData { element, shape });
        ArrayId::new(self.program.arrays.len() - 1)
    }

    fn push_expr(&mut self, data: ExprData) -> ExprId {
        self.program.exprs.push(data);
        ExprId::new(self.program.exprs.len() - 1)
    }

    /// A literal expression.
    pub fn make_literal(&mut self, literal: ScalarLiteral) -> ExprId {
        self.push_expr(ExprData::Literal(literal))
    }

    /// A literal expression of type `i64`.
    pub fn make_i64(&mut self, value: i64) -> ExprId {
        self.make_literal(ScalarLiteral::from_i64(value))
    }

    /// The value of a scalar variable.
    pub fn read_var(&mut self, var: VarId) -> ExprId {
        self.push_expr(ExprData::Var(var))
    }

    /// An operator applied to operands.
    pub fn apply_operator(&mut self, operator: ScalarOperator, operands: &[ExprId]) -> ExprId {
        let start = self.program.operands.len() as u32;
        self.program.operands.extend_from_slice(operands);
        self.push_expr(ExprData::Apply(operator, start))
    }

    /// An operator whose types follow from its first operand; those of a conditional follow from its last.
    pub fn apply_op(&mut self, op: ScalarOp, operands: &[ExprId]) -> ExprId {
        let typed = match op {
            ScalarOp::Cond => operands.last(),
            _ => operands.first(),
        };
        let ty = typed.and_then(|e| self.program.type_of(*e));
        self.apply_operator(
            ScalarOperator::with_type(op, ty.unwrap_or(ScalarType::Unit)),
            operands,
        )
    }

    /// The value of a tuning parameter.
    pub fn read_parameter(&mut self, parameter: ProgramParameter) -> ExprId {
        let param = match self.parameters.get(&parameter) {
            Some(param) => *param,
            None => {
                let param = ParamId::new(self.program.parameters.len());
                self.program.parameters.push(parameter.clone());
                self.parameters.insert(parameter, param);
                param
            }
        };
        self.push_expr(ExprData::Parameter(param))
    }

    /// A limit of the device.
    pub fn read_device_limit(&mut self, class: SizeClass) -> ExprId {
        let limits = &mut self.program.limits;
        let at = limits.iter().position(|c| *c == class).unwrap_or_else(|| {
            limits.push(class);
            limits.len() - 1
        });
        self.push_expr(ExprData::Limit(LimitId::new(at)))
    }

    /// Adds a message.
    pub fn add_message(&mut self, message: MessageData) -> MessageId {
        self.program.messages.push(message);
        MessageId::new(self.program.messages.len() - 1)
    }

    /// The id of the kernel that will be the `number`-th one, counted from 0, so that it can be launched before it
    /// is added.
    pub fn later_kernel(&self, number: usize) -> KernelId {
        KernelId::new(number)
    }

    /// The captures that the body of a kernel needs: the variables that it mentions and does not declare.
    pub fn find_captures(&self, body: StmtBlock) -> Vec<KernelCapture> {
        crate::captures::find_block_captures(&self.program, body)
    }

    /// Adds a kernel.
    pub fn add_kernel(&mut self, kernel: KernelData) -> KernelId {
        self.program.kernels.push(kernel);
        KernelId::new(self.program.kernels.len() - 1)
    }

    /// Opens a block.
    pub fn begin_block(&mut self) {
        self.open.push(Vec::new());
    }

    /// The statements of the innermost block so far.
    pub fn open_block(&self) -> &[KernelStmt] {
        self.open.last().map_or(&[], Vec::as_slice)
    }

    /// Closes the innermost block. Returns an empty block if none is open.
    pub fn end_block(&mut self) -> StmtBlock {
        let stmts = self.open.pop().unwrap_or_default();
        let start = self.program.stmts.len() as u32;
        self.program.stmts.extend(stmts);
        let end = self.program.stmts.len() as u32;
        self.program.blocks.push(start..end);
        StmtBlock::new(self.program.blocks.len() - 1)
    }

    /// Appends a statement to the innermost block.
    pub fn push_statement(&mut self, kind: StmtKind) {
        let place = self.place;
        if let Some(block) = self.open.last_mut() {
            block.push(KernelStmt { kind, place });
        }
    }

    /// Appends an assignment.
    pub fn push_assignment(&mut self, to: VarId, value: ExprId) {
        self.push_statement(StmtKind::Assign { to, value });
    }
}
