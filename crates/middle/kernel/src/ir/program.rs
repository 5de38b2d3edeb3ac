//! Kernel programs: the arenas and their entities.

use super::{
    ArrayId, ExprId, FragmentType, FuncId, KernelId, KernelStmt, LimitId, MessageId, NameId,
    ParamId, ProgramNames, StmtBlock, VarId,
};
use spirula_diagnostics::SourceLocation;
use spirula_program::{ProgramParameter, ScalarLiteral, ScalarOperator, ScalarType, SizeClass};
use std::ops::Range;

/// A program for one device: functions of the host and the kernels that they launch.
#[derive(Clone, Debug, Default)]
pub struct KernelProgram {
    /// All names.
    pub names: ProgramNames,
    /// All variables. A name is unique within a function together with the globals.
    pub vars: Vec<VarData>,
    /// Types of private arrays.
    pub arrays: Vec<ArrayData>,
    pub(crate) exprs: Vec<ExprData>,
    pub(crate) operands: Vec<ExprId>,
    pub(crate) blocks: Vec<Range<u32>>,
    pub(crate) stmts: Vec<KernelStmt>,
    /// Messages of assertions and traces.
    pub messages: Vec<MessageData>,
    /// Tuning parameters, without duplicates.
    pub parameters: Vec<ProgramParameter>,
    /// Classes of device limits that the program reads, without duplicates.
    pub limits: Vec<SizeClass>,
    /// Variables that are visible in all functions.
    pub globals: Vec<VarId>,
    /// The block that runs once, before any function.
    pub initialise: Option<StmtBlock>,
    /// Functions. A function that is only declared has no body.
    pub functions: Vec<FuncData>,
    /// Kernels.
    pub kernels: Vec<KernelData>,
    /// Entry points.
    pub entries: Vec<EntryDecl>,
    /// Descriptions of opaque types, line by line as they were written.
    pub opaque_types: Vec<String>,
}

/// A variable.
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
    /// A private array of an invocation.
    Array(ArrayId),
    /// A matrix of a subgroup.
    Fragment(FragmentType),
}

/// Address space of a block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySpace {
    /// Memory of the host.
    Host,
    /// Memory of the device.
    Device,
    /// Shared memory of a workgroup.
    Shared,
}

impl MemorySpace {
    /// All spaces with their names.
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
    /// Sizes of the dimensions: `i64` expressions over literals, tuning parameters and the kernel's constants. A
    /// single element has none.
    pub shape: Vec<ExprId>,
}

/// A node of an expression. The operands of a node come before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExprData {
    /// A literal.
    Literal(ScalarLiteral),
    /// The value of a scalar variable.
    Var(VarId),
    /// An operator, and the position of its first operand.
    Apply(ScalarOperator, u32),
    /// The value of a tuning parameter, an `i64`.
    Parameter(ParamId),
    /// A limit of the device, an `i64`.
    Limit(LimitId),
}

/// A message of an assertion or a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageData {
    /// Its segments.
    pub parts: Vec<MessageSegment>,
    /// Source places, the innermost first; may be empty.
    pub backtrace: String,
}

/// A segment of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageSegment {
    /// Literal text.
    Text(String),
    /// The value of a scalar, printed without its type.
    Value(ExprId),
}

/// A function.
#[derive(Clone, Debug)]
pub struct FuncData {
    /// Name.
    pub name: NameId,
    /// Inputs in the order of arguments.
    pub inputs: Vec<VarId>,
    /// Outputs in the order of results.
    pub outputs: Vec<VarId>,
    /// Its body; `None` until it is defined.
    pub body: Option<StmtBlock>,
    /// Its source place.
    pub place: SourceLocation,
}

/// A kernel and its launch.
#[derive(Clone, Debug)]
pub struct KernelData {
    /// A name for profiles and for the text of the module; several kernels may have the same.
    pub label: Option<String>,
    /// Workgroups in each dimension: one to three `i64` expressions over variables of the host.
    pub blocks: Vec<ExprId>,
    /// Invocations of a workgroup in each dimension.
    pub block_size: Vec<BlockSize>,
    /// The values and blocks of the host that the body sees.
    pub captures: Vec<KernelCapture>,
    /// Whether it may run after an earlier kernel failed.
    pub failure_tolerant: bool,
    /// Its body.
    pub body: StmtBlock,
    /// Its source place.
    pub place: SourceLocation,
}

/// The size of a workgroup in one dimension, an `i64` expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockSize {
    /// An expression over variables of the host.
    Dynamic(ExprId),
    /// An expression over tuning parameters and literals only.
    Constant(ExprId),
}

impl BlockSize {
    /// The expression.
    pub fn size_expr(self) -> ExprId {
        match self {
            BlockSize::Dynamic(value) | BlockSize::Constant(value) => value,
        }
    }
}

/// A capture: a value or block of the host that a kernel sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelCapture {
    /// A scalar of the host, passed by value.
    Scalar(VarId),
    /// A block of device memory.
    Memory(VarId),
    /// A variable of the kernel itself. Its value is an expression over tuning parameters and literals.
    Constant(VarId, ExprId),
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct EntryDecl {
    /// Its name for callers.
    pub name: String,
    /// The function that is called.
    pub function: FuncId,
    /// Its parameters.
    pub parameters: Vec<EntryDeclParameter>,
    /// Its results.
    pub results: Vec<EntryDeclValue>,
}

/// A parameter of an entry point.
#[derive(Clone, Debug)]
pub struct EntryDeclParameter {
    /// Its name in the source program.
    pub name: String,
    /// Its type and variables.
    pub value: EntryDeclValue,
}

/// A parameter or a result of an entry point.
#[derive(Clone, Debug)]
pub struct EntryDeclValue {
    /// Whether a parameter is consumed by the call, or a result aliases no other value.
    pub unique: bool,
    /// Its type and variables.
    pub kind: EntryKind,
}

/// The kind of a parameter or a result.
#[derive(Clone, Debug)]
pub enum EntryKind {
    /// A scalar or an array.
    Plain(PlainValue),
    /// A value of a type that has no external form: its name and parts.
    Opaque(String, Vec<PlainValue>),
}

/// A scalar or an array.
#[derive(Clone, Debug)]
pub struct PlainValue {
    /// The scalar variable, or the block that holds the array.
    pub var: VarId,
    /// Type of the scalar or of the elements.
    pub element: ScalarType,
    /// Whether integers are unsigned.
    pub unsigned: bool,
    /// Sizes of an array's dimensions, dense and in row-major order; `None` for a scalar.
    pub shape: Option<Vec<ArrayDimension>>,
}

/// The size of an array's dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayDimension {
    /// The value of a scalar variable.
    Var(VarId),
    /// A known number.
    Literal(i64),
}

impl KernelProgram {
    /// A variable.
    pub fn var(&self, var: VarId) -> &VarData {
        &self.vars[var.index()]
    }

    /// The name of a variable.
    pub fn var_name(&self, var: VarId) -> &str {
        self.names.get(self.var(var).name)
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

    /// The operands of a node with an operator.
    pub fn operands(&self, operator: ScalarOperator, start: u32) -> &[ExprId] {
        &self.operands[start as usize..][..operator.arity()]
    }

    /// The type of an expression; `None` for a memory variable.
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

    /// Calls a closure with every variable that an expression reads.
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
