//! Statements.

use super::{ExprId, FragmentOp, FuncId, KernelId, MessageId, StmtBlock, VarId};
use spirula_diagnostics::SourceLocation;
use spirula_program::{ScalarLiteral, ScalarType};

/// A statement with its place in the input.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelStmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it was written.
    pub place: SourceLocation,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Begins the life of a variable, without a value. A private array is there from here on.
    Declare(VarId),
    /// Gives a scalar a value.
    Assign {
        /// The scalar.
        to: VarId,
        /// Its new value.
        value: ExprId,
    },
    /// Makes a memory variable refer to what another refers to; copies the elements of private
    /// arrays.
    Alias {
        /// The variable.
        to: VarId,
        /// What it takes over.
        from: VarId,
    },
    /// Makes a block of device memory (host) or of the workgroup's memory (kernels, once for each
    /// statement).
    Alloc {
        /// Refers to it.
        to: VarId,
        /// Its size, an `i64`.
        bytes: ExprId,
    },
    /// A variable is not used any more; the block stays while others refer to it.
    Free(VarId),
    /// Makes host memory of fixed contents.
    Static {
        /// Refers to it.
        to: VarId,
        /// Its contents.
        data: Box<StaticData>,
    },
    /// Reads an element of memory or of a private array.
    Read {
        /// Gets the element.
        to: VarId,
        /// Which one.
        from: MemoryElement,
    },
    /// Writes an element of memory or of a private array.
    Write {
        /// Which one.
        to: MemoryElement,
        /// What.
        value: ExprId,
    },
    /// Reads as many adjacent elements of memory as there are variables (kernels): 4, 8 or 16 bytes, at
    /// an index that is a multiple of their number.
    ReadVector {
        /// Get the elements.
        to: Box<[VarId]>,
        /// The first.
        from: MemoryElement,
    },
    /// Writes adjacent elements of memory likewise (kernels).
    WriteVector {
        /// The first.
        to: MemoryElement,
        /// What.
        values: Box<[ExprId]>,
    },
    /// Does something with fragments (kernels).
    Fragment(Box<FragmentOp>),
    /// Copies a multi-dimensional array between blocks.
    Copy(Box<CopyStmt>),
    /// Branches.
    If {
        /// A truth value.
        condition: ExprId,
        /// Where it holds.
        then: StmtBlock,
        /// Where it does not.
        otherwise: StmtBlock,
    },
    /// Counts from 0 to below a bound, which is evaluated once.
    For {
        /// The counter.
        counter: VarId,
        /// The bound, of the counter's type; signed.
        bound: ExprId,
        /// What is repeated.
        body: StmtBlock,
    },
    /// Repeats while a condition holds.
    While {
        /// A truth value.
        condition: ExprId,
        /// What is repeated.
        body: StmtBlock,
    },
    /// Calls a function.
    Call(Box<CallStmt>),
    /// Ends the program with a message where a condition does not hold.
    Assert {
        /// A truth value.
        condition: ExprId,
        /// What is said.
        message: MessageId,
    },
    /// Says something on the way.
    Trace(MessageId),
    /// Launches a kernel (host).
    Launch(KernelId),
    /// Asks where in the launch this invocation is (kernels).
    Where {
        /// Gets the number, an `i32`.
        to: VarId,
        /// What is asked.
        what: LaunchIndex,
        /// In which dimension.
        dimension: u8,
    },
    /// Hands a value of 32 bits to the invocation of the subgroup whose number differs by a mask, and
    /// takes that one's; all invocations of the subgroup get there together (kernels).
    Shuffle {
        /// Gets the other's value.
        to: VarId,
        /// What this invocation hands over.
        value: ExprId,
        /// The bits by which their numbers differ.
        mask: u32,
    },
    /// Synchronises (kernels).
    Sync {
        /// How.
        kind: SyncKind,
        /// What memory is made visible: the workgroup's, or the device's too.
        scope: KernelSyncScope,
    },
    /// Changes an element of memory at once (kernels).
    Atomic(Box<AtomicStmt>),
}

impl StmtKind {
    /// The blocks within; a kernel is none.
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

/// An element of memory or of a private array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryElement {
    /// The block or array.
    pub memory: VarId,
    /// Type of the element.
    pub ty: ScalarType,
    /// Its number, counted in elements of this type from the beginning; an `i64`.
    pub index: ExprId,
    /// Whether other workgroups may change it meanwhile.
    pub volatile: bool,
}

/// Contents of host memory.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticData {
    /// Type of the elements.
    pub ty: ScalarType,
    /// The elements, or the one that is repeated.
    pub values: Vec<ScalarLiteral>,
    /// How often a single element is repeated.
    pub repeat: Option<u64>,
}

/// A strided copy: `to[offset + Σ i·stride] = from[offset + Σ i·stride]`, in elements.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyStmt {
    /// Type of the elements.
    pub ty: ScalarType,
    /// Elements in each dimension, `i64`s; none is one element.
    pub shape: Vec<ExprId>,
    /// Where to.
    pub to: CopyOperand,
    /// Where from.
    pub from: CopyOperand,
}

/// One side of a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyOperand {
    /// The block or array.
    pub memory: VarId,
    /// First element, an `i64`.
    pub offset: ExprId,
    /// Elements from one to the next in each dimension, `i64`s.
    pub strides: Vec<ExprId>,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallStmt {
    /// What is called.
    pub function: FuncId,
    /// Its inputs.
    pub inputs: Vec<FuncArgument>,
    /// Get its outputs.
    pub outputs: Vec<VarId>,
}

/// What is handed to a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FuncArgument {
    /// A scalar.
    Scalar(ExprId),
    /// A reference to memory.
    Memory(VarId),
}

/// A position in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchIndex {
    /// Number of the workgroup.
    Group,
    /// Number of the invocation in its workgroup.
    Local,
    /// Invocations of a workgroup.
    LocalSize,
    /// Invocations that run in lockstep; 1 is always right.
    LockstepWidth,
    /// Number of the subgroup in its workgroup, in any dimension.
    Subgroup,
    /// Number of the invocation in its subgroup, in any dimension.
    Lane,
}

impl LaunchIndex {
    /// All, with their names.
    pub const NAMES: [(&'static str, LaunchIndex); 6] = [
        ("group_id", LaunchIndex::Group),
        ("local_id", LaunchIndex::Local),
        ("local_size", LaunchIndex::LocalSize),
        ("lockstep_width", LaunchIndex::LockstepWidth),
        ("subgroup_id", LaunchIndex::Subgroup),
        ("subgroup_lane", LaunchIndex::Lane),
    ];
}

/// Ways to synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// All invocations of the workgroup wait for each other.
    Barrier,
    /// Accesses before come before accesses after.
    Fence,
    /// A barrier at which the workgroup ends if one of its invocations failed.
    Error,
}

impl SyncKind {
    /// All, with their names.
    pub const NAMES: [(&'static str, SyncKind); 3] = [
        ("barrier", SyncKind::Barrier),
        ("fence", SyncKind::Fence),
        ("error_sync", SyncKind::Error),
    ];
}

/// The memory that a synchronisation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelSyncScope {
    /// The workgroup's.
    Shared,
    /// The workgroup's and the device's.
    Device,
}

/// An atomic operation on memory.
#[derive(Clone, Debug, PartialEq)]
pub struct AtomicStmt {
    /// What is done.
    pub op: AtomicOp,
    /// Where.
    pub element: MemoryElement,
    /// What with; the new value of a compare and exchange.
    pub value: ExprId,
    /// The value expected by a compare and exchange.
    pub expected: Option<ExprId>,
    /// Gets the value from before; none for [`AtomicOp::Write`].
    pub old: Option<VarId>,
}

/// What an atomic operation does.
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
    /// Puts a value in the place of another.
    Exchange,
    /// Puts a value in the place of an expected one.
    CompareExchange,
    /// Writes, then fences the memory.
    Write,
}

impl AtomicOp {
    /// All, with their names.
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

    /// Whether there is such an operation on elements of a type.
    pub fn can_apply_to(self, ty: ScalarType) -> bool {
        match self {
            AtomicOp::FAdd => ty.is_float(),
            AtomicOp::Write | AtomicOp::Exchange => ty != ScalarType::Unit,
            _ => ty.is_int(),
        }
    }
}
