//! Statements of the host and of kernels.

use super::{ExprId, FragmentOp, FuncId, KernelId, MemoryElement, MessageId, StmtBlock, VarId};
use spirula_diagnostics::SourceLocation;
use spirula_program::{ForeignSignature, ScalarLiteral, ScalarType};

/// A statement with its source place.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelStmt {
    /// The operation.
    pub kind: StmtKind,
    /// Its source place.
    pub place: SourceLocation,
}

/// The operation of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Declares a variable without a value. A private array exists from here on.
    Declare(VarId),
    /// Assigns a value to a scalar.
    Assign {
        /// The scalar.
        to: VarId,
        /// Its new value.
        value: ExprId,
    },
    /// Makes a memory variable refer to another's block. For private arrays, copies the elements.
    Alias {
        /// The variable that is set.
        to: VarId,
        /// The variable whose block or elements it takes.
        from: VarId,
    },
    /// Allocates a block: of device memory on the host, of workgroup memory in a kernel. A statement of a kernel
    /// allocates once per workgroup.
    Alloc {
        /// The variable that refers to the block.
        to: VarId,
        /// Its size in bytes, an `i64`.
        bytes: ExprId,
    },
    /// Ends the use of a variable. The block stays alive while other variables refer to it.
    Free(VarId),
    /// Tests whether no other variable refers to the block of a variable (host).
    IsUnique {
        /// The variable that is assigned, a truth value.
        to: VarId,
        /// The variable that refers to the block.
        memory: VarId,
    },
    /// Creates host memory with constant contents.
    Static {
        /// The variable that refers to it.
        to: VarId,
        /// Its contents.
        data: Box<StaticData>,
    },
    /// Loads an element of memory or of a private array.
    Read {
        /// The variable that is assigned.
        to: VarId,
        /// The element.
        from: MemoryElement,
    },
    /// Stores an element of memory or of a private array.
    Write {
        /// The element.
        to: MemoryElement,
        /// The value.
        value: ExprId,
    },
    /// Loads adjacent elements of memory, one for each variable (kernels). Together they have 4, 8 or 16 bytes. The
    /// index is a multiple of their number.
    ReadVector {
        /// The variables that are assigned.
        to: Box<[VarId]>,
        /// The first element.
        from: MemoryElement,
    },
    /// Stores adjacent elements of memory, with the same restrictions as a vector load (kernels).
    WriteVector {
        /// The first element.
        to: MemoryElement,
        /// The values.
        values: Box<[ExprId]>,
    },
    /// An operation on fragments (kernels).
    Fragment(Box<FragmentOp>),
    /// Copies a multi-dimensional array between blocks.
    Copy(Box<CopyStmt>),
    /// A conditional.
    If {
        /// The condition, a truth value.
        condition: ExprId,
        /// The block that runs where it holds.
        then: StmtBlock,
        /// The block that runs where it does not hold.
        otherwise: StmtBlock,
    },
    /// A counted loop from 0 to below a bound. The bound is evaluated once.
    For {
        /// The counter.
        counter: VarId,
        /// The bound, of the counter's type; signed.
        bound: ExprId,
        /// The loop's body.
        body: StmtBlock,
    },
    /// A loop that repeats while a condition holds.
    While {
        /// The condition, a truth value.
        condition: ExprId,
        /// The loop's body.
        body: StmtBlock,
    },
    /// Calls a function.
    Call(Box<CallStmt>),
    /// Calls a function that does not belong to the program (host).
    Foreign(Box<ForeignStmt>),
    /// An assertion: ends the program with a message if a condition does not hold.
    Assert {
        /// The condition, a truth value.
        condition: ExprId,
        /// The message.
        message: MessageId,
    },
    /// Prints a message and goes on.
    Trace(MessageId),
    /// Launches a kernel (host).
    Launch(KernelId),
    /// Reads the position of the invocation in the launch (kernels).
    Position {
        /// The variable that is assigned, an `i32`.
        to: VarId,
        /// The part of the position.
        part: LaunchIndex,
        /// The dimension.
        dimension: u8,
    },
    /// Exchanges a value of 32 bits with the invocation of the subgroup whose number differs by a mask. All
    /// invocations of the subgroup reach it together (kernels).
    Shuffle {
        /// The variable that gets the other invocation's value.
        to: VarId,
        /// The value of this invocation.
        value: ExprId,
        /// The bits in which the numbers of both invocations differ.
        mask: u32,
    },
    /// A synchronisation (kernels).
    Sync {
        /// The kind of synchronisation.
        kind: SyncKind,
        /// The memory that becomes visible.
        scope: KernelSyncScope,
    },
    /// An atomic operation on an element of memory (kernels).
    Atomic(Box<AtomicStmt>),
}

impl StmtKind {
    /// The nested blocks; the body of a launched kernel is not one of them.
    pub fn nested_blocks(&self) -> impl Iterator<Item = StmtBlock> + use<> {
        let (first, second) = match *self {
            StmtKind::If {
                then, otherwise, ..
            } => (Some(then), Some(otherwise)),
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => (Some(body), None),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Constant contents of host memory.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticData {
    /// Type of the elements.
    pub ty: ScalarType,
    /// The elements, or the single element that is repeated.
    pub values: Vec<ScalarLiteral>,
    /// The number of repetitions of a single element.
    pub repeat: Option<u64>,
}

/// A strided copy: `to[offset + Σ i·stride] = from[offset + Σ i·stride]`, in elements.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyStmt {
    /// Type of the elements.
    pub ty: ScalarType,
    /// Elements in each dimension, `i64`s. A copy without dimensions copies one element.
    pub shape: Vec<ExprId>,
    /// Its destination.
    pub to: CopyOperand,
    /// Its source.
    pub from: CopyOperand,
}

/// Destination or source of a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyOperand {
    /// The block or array.
    pub memory: VarId,
    /// Index of the first element, an `i64`.
    pub offset: ExprId,
    /// Elements from one index to the next in each dimension, `i64`s.
    pub strides: Vec<ExprId>,
}

/// A call of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct CallStmt {
    /// The function.
    pub function: FuncId,
    /// Its arguments.
    pub inputs: Vec<FuncArgument>,
    /// The variables that get its results.
    pub outputs: Vec<VarId>,
}

/// A call of a function that does not belong to the program.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignStmt {
    /// Name and types.
    pub signature: ForeignSignature,
    /// Its operands.
    pub inputs: Vec<FuncArgument>,
    /// The variables that get its results. Memory is allocated for them.
    pub outputs: Vec<VarId>,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FuncArgument {
    /// A scalar.
    Scalar(ExprId),
    /// A reference to memory.
    Memory(VarId),
}

/// A part of the position in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchIndex {
    /// Index of the workgroup.
    Group,
    /// Index of the invocation in its workgroup.
    Local,
    /// Size of the workgroup.
    LocalSize,
    /// Number of invocations that run in lockstep; 1 is always right.
    LockstepWidth,
    /// Index of the subgroup in its workgroup; the dimension is ignored.
    Subgroup,
    /// Index of the invocation in its subgroup; the dimension is ignored.
    Lane,
}

impl LaunchIndex {
    /// All parts with their names.
    pub const NAMES: [(&'static str, LaunchIndex); 6] = [
        ("group_id", LaunchIndex::Group),
        ("local_id", LaunchIndex::Local),
        ("local_size", LaunchIndex::LocalSize),
        ("lockstep_width", LaunchIndex::LockstepWidth),
        ("subgroup_id", LaunchIndex::Subgroup),
        ("subgroup_lane", LaunchIndex::Lane),
    ];
}

/// The kind of a synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// A barrier: all invocations of the workgroup wait for each other.
    Barrier,
    /// A memory fence: accesses before it come before accesses after it.
    Fence,
    /// A barrier at which the workgroup ends if one of its invocations has failed.
    Error,
}

impl SyncKind {
    /// All kinds with their names.
    pub const NAMES: [(&'static str, SyncKind); 3] = [
        ("barrier", SyncKind::Barrier),
        ("fence", SyncKind::Fence),
        ("error_sync", SyncKind::Error),
    ];
}

/// The memory that a synchronisation makes visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelSyncScope {
    /// Memory of the workgroup.
    Shared,
    /// Memory of the workgroup and of the device.
    Device,
}

/// An atomic operation on memory.
#[derive(Clone, Debug, PartialEq)]
pub struct AtomicStmt {
    /// The operation.
    pub op: AtomicOp,
    /// The element.
    pub element: MemoryElement,
    /// The operand; for a compare and exchange, the new value.
    pub value: ExprId,
    /// The value expected by a compare and exchange.
    pub expected: Option<ExprId>,
    /// The variable that gets the old value; `None` for [`AtomicOp::Write`].
    pub old: Option<VarId>,
}

/// The operation of an atomic statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as the operators are")]
pub enum AtomicOp {
    Add,
    FAdd,
    SMax,
    SMin,
    UMax,
    UMin,
    And,
    Or,
    Xor,
    /// Replaces a value.
    Exchange,
    /// Replaces a value if it is the expected one.
    CompareExchange,
    /// Stores a value, then fences the memory.
    Write,
}

impl AtomicOp {
    /// All operations with their names.
    pub const NAMES: [(&'static str, AtomicOp); 12] = [
        ("add", AtomicOp::Add),
        ("fadd", AtomicOp::FAdd),
        ("smax", AtomicOp::SMax),
        ("smin", AtomicOp::SMin),
        ("umax", AtomicOp::UMax),
        ("umin", AtomicOp::UMin),
        ("and", AtomicOp::And),
        ("or", AtomicOp::Or),
        ("xor", AtomicOp::Xor),
        ("xchg", AtomicOp::Exchange),
        ("cmpxchg", AtomicOp::CompareExchange),
        ("write", AtomicOp::Write),
    ];

    /// Whether the operation exists on elements of a type.
    pub fn can_apply_to(self, ty: ScalarType) -> bool {
        match self {
            AtomicOp::FAdd => ty.is_float(),
            AtomicOp::Write | AtomicOp::Exchange => ty != ScalarType::Unit,
            _ => ty.is_int(),
        }
    }
}
