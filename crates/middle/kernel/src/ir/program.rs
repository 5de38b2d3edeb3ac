//! The program: arenas and what stands in them.

use super::{
    Array, Block, Expr, Fragment, Func, Kernel, Limit, Message, Name, Names, Param, Stmt, Var,
};
use spirula_diagnostics::Place;
use spirula_program::{Literal, Operator, Parameter, Scalar, SizeClass};
use std::ops::Range;

/// One program for one device: functions of the host and the kernels that they launch.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All names.
    pub names: Names,
    /// All variables. A name is that of one variable only within a function and the globals.
    pub vars: Vec<VarData>,
    /// Types of private arrays.
    pub arrays: Vec<ArrayData>,
    pub(crate) exprs: Vec<ExprData>,
    pub(crate) operands: Vec<Expr>,
    pub(crate) blocks: Vec<Range<u32>>,
    pub(crate) stmts: Vec<Stmt>,
    /// Messages of assertions.
    pub messages: Vec<MessageData>,
    /// Tuning parameters, each once.
    pub parameters: Vec<Parameter>,
    /// Classes of limits that are asked for, each once.
    pub limits: Vec<SizeClass>,
    /// Variables that all functions see.
    pub globals: Vec<Var>,
    /// Runs once, before any function.
    pub initialise: Option<Block>,
    /// Functions; those that are only named have no body.
    pub functions: Vec<Function>,
    /// Kernels.
    pub kernels: Vec<KernelData>,
    /// Entry points.
    pub entries: Vec<Entry>,
    /// Descriptions of the types of opaque values, line by line, as they were written.
    pub opaque_types: Vec<String>,
}

/// What a variable is.
#[derive(Clone, Debug)]
pub struct VarData {
    /// Name.
    pub name: Name,
    /// Type.
    pub ty: Type,
    /// Whether it was declared volatile.
    pub volatile: bool,
}

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// A reference to a block of memory.
    Memory(Space),
    /// An array of the invocation itself.
    Array(Array),
    /// A matrix of the subgroup.
    Fragment(Fragment),
}

/// Where blocks of memory are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The host's memory.
    Host,
    /// The device's memory.
    Device,
    /// The memory of a workgroup.
    Shared,
}

impl Space {
    /// All, with their names.
    pub const NAMES: [(&'static str, Space); 3] = [
        ("host", Space::Host),
        ("device", Space::Device),
        ("shared", Space::Shared),
    ];
}

/// The type of a private array.
#[derive(Clone, Debug)]
pub struct ArrayData {
    /// Type of the elements.
    pub element: Scalar,
    /// Sizes of the dimensions, `i64`s over literals, tuning parameters and the kernel's constants;
    /// none for a single element.
    pub shape: Vec<Expr>,
}

/// A node of an expression. Operands come before what they are operands of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExprData {
    /// A value.
    Literal(Literal),
    /// A scalar variable.
    Var(Var),
    /// An operator and the position of its operands.
    Apply(Operator, u32),
    /// The value of a tuning parameter, an `i64`.
    Parameter(Param),
    /// A limit of the device, an `i64`.
    Limit(Limit),
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageData {
    /// What it is put together from.
    pub parts: Vec<Part>,
    /// Places in the source of the program, the innermost first; may be empty.
    pub backtrace: String,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A scalar, printed without its type.
    Value(Expr),
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name.
    pub name: Name,
    /// Inputs in the order of calls.
    pub inputs: Vec<Var>,
    /// Outputs in the order of calls.
    pub outputs: Vec<Var>,
    /// Statements; `None` until it is defined.
    pub body: Option<Block>,
    /// Where it stands.
    pub place: Place,
}

/// A kernel, and how it is launched.
#[derive(Clone, Debug)]
pub struct KernelData {
    /// Workgroups in each dimension, one to three `i64`s over variables of the host.
    pub blocks: Vec<Expr>,
    /// Invocations of a workgroup in each dimension.
    pub block_size: Vec<BlockSize>,
    /// What the body sees of the host.
    pub uses: Vec<Use>,
    /// Whether it may run after an earlier kernel failed.
    pub failure_tolerant: bool,
    /// Statements.
    pub body: Block,
    /// Where it stands.
    pub place: Place,
}

/// The size of a workgroup in one dimension, an `i64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockSize {
    /// Over variables of the host.
    Dynamic(Expr),
    /// Over tuning parameters and literals only.
    Constant(Expr),
}

impl BlockSize {
    /// The size.
    pub fn value(self) -> Expr {
        match self {
            BlockSize::Dynamic(value) | BlockSize::Constant(value) => value,
        }
    }
}

/// What a kernel sees of the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Use {
    /// The value of a scalar of the host.
    Scalar(Var),
    /// A block of device memory.
    Memory(Var),
    /// A variable of the kernel's own with a value over tuning parameters and literals.
    Constant(Var, Expr),
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name users call it by.
    pub name: String,
    /// What is called.
    pub function: Func,
    /// Its parameters.
    pub parameters: Vec<EntryParameter>,
    /// Its results.
    pub results: Vec<EntryValue>,
}

/// A parameter of an entry point.
#[derive(Clone, Debug)]
pub struct EntryParameter {
    /// Its name in the source of the program.
    pub name: String,
    /// What it is.
    pub value: EntryValue,
}

/// A parameter or a result.
#[derive(Clone, Debug)]
pub struct EntryValue {
    /// Whether a parameter is consumed, a result shares no memory.
    pub unique: bool,
    /// What it is.
    pub kind: EntryKind,
}

/// What a parameter or a result is.
#[derive(Clone, Debug)]
pub enum EntryKind {
    /// A scalar or an array.
    Plain(PlainValue),
    /// A value of a type without an external form: its parts.
    Opaque(String, Vec<PlainValue>),
}

/// A scalar or an array.
#[derive(Clone, Debug)]
pub struct PlainValue {
    /// The scalar, or the block that holds the array.
    pub var: Var,
    /// Type of the scalar or of the elements.
    pub element: Scalar,
    /// Whether integers have no sign.
    pub unsigned: bool,
    /// Sizes of the dimensions of an array, dense in row-major order; `None` for a scalar.
    pub shape: Option<Vec<Dimension>>,
}

/// The size of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Held by a scalar.
    Var(Var),
    /// Known.
    Literal(i64),
}

impl Program {
    /// A variable.
    pub fn var(&self, var: Var) -> &VarData {
        &self.vars[var.index()]
    }

    /// The name of a variable.
    pub fn var_name(&self, var: Var) -> &str {
        self.names.text(self.var(var).name)
    }

    /// The type of a scalar variable.
    pub fn scalar(&self, var: Var) -> Option<Scalar> {
        match self.var(var).ty {
            Type::Scalar(ty) => Some(ty),
            _ => None,
        }
    }

    /// A type of private arrays.
    pub fn array(&self, array: Array) -> &ArrayData {
        &self.arrays[array.index()]
    }

    /// A node of an expression.
    pub fn expr(&self, expr: Expr) -> ExprData {
        self.exprs[expr.index()]
    }

    /// The operands of an operator's node.
    pub fn operands(&self, operator: Operator, start: u32) -> &[Expr] {
        &self.operands[start as usize..][..operator.arity()]
    }

    /// The type of an expression; memory variables have none.
    pub fn type_of(&self, expr: Expr) -> Option<Scalar> {
        match self.expr(expr) {
            ExprData::Literal(literal) => Some(literal.ty),
            ExprData::Var(var) => self.scalar(var),
            ExprData::Apply(operator, _) => Some(operator.to),
            ExprData::Parameter(_) | ExprData::Limit(_) => Some(Scalar::I64),
        }
    }

    /// The statements of a block.
    pub fn block(&self, block: Block) -> &[Stmt] {
        let range = &self.blocks[block.index()];
        &self.stmts[range.start as usize..range.end as usize]
    }

    /// A message.
    pub fn message(&self, message: Message) -> &MessageData {
        &self.messages[message.index()]
    }

    /// A function.
    pub fn function(&self, function: Func) -> &Function {
        &self.functions[function.index()]
    }

    /// A kernel.
    pub fn kernel(&self, kernel: Kernel) -> &KernelData {
        &self.kernels[kernel.index()]
    }

    /// Ids of all functions.
    pub fn function_ids(&self) -> impl Iterator<Item = Func> + use<> {
        (0..self.functions.len()).map(Func::new)
    }

    /// Ids of all kernels.
    pub fn kernel_ids(&self) -> impl Iterator<Item = Kernel> + use<> {
        (0..self.kernels.len()).map(Kernel::new)
    }

    /// Calls a function with every variable that an expression reads.
    pub fn each_var(&self, expr: Expr, seen: &mut impl FnMut(Var)) {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match self.expr(expr) {
                ExprData::Var(var) => seen(var),
                ExprData::Apply(operator, start) => {
                    open.extend(self.operands(operator, start));
                }
                _ => {}
            }
        }
    }
}
