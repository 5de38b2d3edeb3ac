//! The program: arenas and what stands in them.

use super::{
    ArrayId, ExprId, FragmentType, FuncId, KernelId, KernelStmt, LimitId, MessageId, NameId,
    ParamId, ProgramNames, StmtBlock, VarId,
};
use spirula_diagnostics::SourceLocation;
use spirula_program::{ProgramParameter, ScalarLiteral, ScalarOperator, ScalarType, SizeClass};
use std::ops::Range;

/// One program for one device: functions of the host and the kernels that they launch.
#[derive(Clone, Debug, Default)]
pub struct KernelProgram {
    /// All names.
    pub names: ProgramNames,
    /// All variables. A name is that of one variable only within a function and the globals.
    pub vars: Vec<VarData>,
    /// Types of private arrays.
    pub arrays: Vec<ArrayData>,
    pub(crate) exprs: Vec<ExprData>,
    pub(crate) operands: Vec<ExprId>,
    pub(crate) blocks: Vec<Range<u32>>,
    pub(crate) stmts: Vec<KernelStmt>,
    /// Messages of assertions.
    pub messages: Vec<MessageData>,
    /// Tuning parameters, each once.
    pub parameters: Vec<ProgramParameter>,
    /// Classes of limits that are asked for, each once.
    pub limits: Vec<SizeClass>,
    /// Variables that all functions see.
    pub globals: Vec<VarId>,
    /// Runs once, before any function.
    pub initialise: Option<StmtBlock>,
    /// Functions; those that are only named have no body.
    pub functions: Vec<FuncData>,
    /// Kernels.
    pub kernels: Vec<KernelData>,
    /// Entry points.
    pub entries: Vec<EntryDecl>,
    /// Descriptions of the types of opaque values, line by line, as they were written.
    pub opaque_types: Vec<String>,
}

/// What a variable is.
#[derive(Clone, Debug)]
pub struct VarData {
    /// Name.
    pub name: NameId,
    /// Type.
    pub ty: VariableType,
    /// Whether it was declared volatile.
    pub volatile: bool,
}

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableType {
    /// A scalar.
    Scalar(ScalarType),
    /// A reference to a block of memory.
    Memory(MemorySpace),
    /// An array of the invocation itself.
    Array(ArrayId),
    /// A matrix of the subgroup.
    Fragment(FragmentType),
}

/// Where blocks of memory are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySpace {
    /// The host's memory.
    Host,
    /// The device's memory.
    Device,
    /// The memory of a workgroup.
    Shared,
}

impl MemorySpace {
    /// All, with their names.
    pub const NAMES: [(&'static str, MemorySpace); 3] = [
        ("host", MemorySpace::Host),
        ("device", MemorySpace::Device),
        ("shared", MemorySpace::Shared),
    ];
}

/// The type of a private array.
#[derive(Clone, Debug)]
pub struct ArrayData {
    /// Type of the elements.
    pub element: ScalarType,
    /// Sizes of the dimensions, `i64`s over literals, tuning parameters and the kernel's constants;
    /// none for a single element.
    pub shape: Vec<ExprId>,
}

/// A node of an expression. Operands come before what they are operands of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExprData {
    /// A value.
    Literal(ScalarLiteral),
    /// A scalar variable.
    Var(VarId),
    /// An operator and the position of its operands.
    Apply(ScalarOperator, u32),
    /// The value of a tuning parameter, an `i64`.
    Parameter(ParamId),
    /// A limit of the device, an `i64`.
    Limit(LimitId),
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageData {
    /// What it is put together from.
    pub parts: Vec<MessageSegment>,
    /// Places in the source of the program, the innermost first; may be empty.
    pub backtrace: String,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageSegment {
    /// Text.
    Text(String),
    /// A scalar, printed without its type.
    Value(ExprId),
}

/// A function.
#[derive(Clone, Debug)]
pub struct FuncData {
    /// Name.
    pub name: NameId,
    /// Inputs in the order of calls.
    pub inputs: Vec<VarId>,
    /// Outputs in the order of calls.
    pub outputs: Vec<VarId>,
    /// Statements; `None` until it is defined.
    pub body: Option<StmtBlock>,
    /// Where it stands.
    pub place: SourceLocation,
}

/// A kernel, and how it is launched.
#[derive(Clone, Debug)]
pub struct KernelData {
    /// Workgroups in each dimension, one to three `i64`s over variables of the host.
    pub blocks: Vec<ExprId>,
    /// Invocations of a workgroup in each dimension.
    pub block_size: Vec<BlockSize>,
    /// What the body sees of the host.
    pub uses: Vec<KernelCapture>,
    /// Whether it may run after an earlier kernel failed.
    pub failure_tolerant: bool,
    /// Statements.
    pub body: StmtBlock,
    /// Where it stands.
    pub place: SourceLocation,
}

/// The size of a workgroup in one dimension, an `i64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockSize {
    /// Over variables of the host.
    Dynamic(ExprId),
    /// Over tuning parameters and literals only.
    Constant(ExprId),
}

impl BlockSize {
    /// The size.
    pub fn size_expr(self) -> ExprId {
        match self {
            BlockSize::Dynamic(value) | BlockSize::Constant(value) => value,
        }
    }
}

/// What a kernel sees of the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelCapture {
    /// The value of a scalar of the host.
    Scalar(VarId),
    /// A block of device memory.
    Memory(VarId),
    /// A variable of the kernel's own with a value over tuning parameters and literals.
    Constant(VarId, ExprId),
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct EntryDecl {
    /// The name users call it by.
    pub name: String,
    /// What is called.
    pub function: FuncId,
    /// Its parameters.
    pub parameters: Vec<EntryDeclParameter>,
    /// Its results.
    pub results: Vec<EntryDeclValue>,
}

/// A parameter of an entry point.
#[derive(Clone, Debug)]
pub struct EntryDeclParameter {
    /// Its name in the source of the program.
    pub name: String,
    /// What it is.
    pub value: EntryDeclValue,
}

/// A parameter or a result.
#[derive(Clone, Debug)]
pub struct EntryDeclValue {
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
    pub var: VarId,
    /// Type of the scalar or of the elements.
    pub element: ScalarType,
    /// Whether integers have no sign.
    pub unsigned: bool,
    /// Sizes of the dimensions of an array, dense in row-major order; `None` for a scalar.
    pub shape: Option<Vec<ArrayDimension>>,
}

/// The size of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayDimension {
    /// Held by a scalar.
    Var(VarId),
    /// Known.
    Literal(i64),
}

impl KernelProgram {
    /// A variable.
    pub fn var(&self, var: VarId) -> &VarData {
        &self.vars[var.index()]
    }

    /// The name of a variable.
    pub fn var_name(&self, var: VarId) -> &str {
        self.names.text(self.var(var).name)
    }

    /// The type of a scalar variable.
    pub fn scalar_type(&self, var: VarId) -> Option<ScalarType> {
        match self.var(var).ty {
            VariableType::Scalar(ty) => Some(ty),
            _ => None,
        }
    }

    /// A type of private arrays.
    pub fn array(&self, array: ArrayId) -> &ArrayData {
        &self.arrays[array.index()]
    }

    /// A node of an expression.
    pub fn expr(&self, expr: ExprId) -> ExprData {
        self.exprs[expr.index()]
    }

    /// The operands of an operator's node.
    pub fn operands(&self, operator: ScalarOperator, start: u32) -> &[ExprId] {
        &self.operands[start as usize..][..operator.arity()]
    }

    /// The type of an expression; memory variables have none.
    pub fn type_of(&self, expr: ExprId) -> Option<ScalarType> {
        match self.expr(expr) {
            ExprData::Literal(literal) => Some(literal.ty),
            ExprData::Var(var) => self.scalar_type(var),
            ExprData::Apply(operator, _) => Some(operator.to),
            ExprData::Parameter(_) | ExprData::Limit(_) => Some(ScalarType::I64),
        }
    }

    /// The statements of a block.
    pub fn block_stmts(&self, block: StmtBlock) -> &[KernelStmt] {
        let range = &self.blocks[block.index()];
        &self.stmts[range.start as usize..range.end as usize]
    }

    /// A message.
    pub fn message(&self, message: MessageId) -> &MessageData {
        &self.messages[message.index()]
    }

    /// A function.
    pub fn function(&self, function: FuncId) -> &FuncData {
        &self.functions[function.index()]
    }

    /// A kernel.
    pub fn kernel(&self, kernel: KernelId) -> &KernelData {
        &self.kernels[kernel.index()]
    }

    /// Ids of all functions.
    pub fn function_ids(&self) -> impl Iterator<Item = FuncId> + use<> {
        (0..self.functions.len()).map(FuncId::new)
    }

    /// Ids of all kernels.
    pub fn kernel_ids(&self) -> impl Iterator<Item = KernelId> + use<> {
        (0..self.kernels.len()).map(KernelId::new)
    }

    /// Calls a function with every variable that an expression reads.
    pub fn each_var(&self, expr: ExprId, seen: &mut impl FnMut(VarId)) {
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
