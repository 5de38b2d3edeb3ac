//! Statements.

use super::{Block, Expr, FragmentOp, Func, Kernel, Message, Var};
use spirula_diagnostics::Place;
use spirula_program::{Literal, Scalar};

/// A statement with its place in the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it was written.
    pub place: Place,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Begins the life of a variable, without a value. A private array is there from here on.
    Declare(Var),
    /// Gives a scalar a value.
    Assign {
        /// The scalar.
        to: Var,
        /// Its new value.
        value: Expr,
    },
    /// Makes a memory variable refer to what another refers to; copies the elements of private
    /// arrays.
    Alias {
        /// The variable.
        to: Var,
        /// What it takes over.
        from: Var,
    },
    /// Makes a block of device memory (host) or of the workgroup's memory (kernels, once for each
    /// statement).
    Alloc {
        /// Refers to it.
        to: Var,
        /// Its size, an `i64`.
        bytes: Expr,
    },
    /// A variable is not used any more; the block stays while others refer to it.
    Free(Var),
    /// Makes host memory of fixed contents.
    Static {
        /// Refers to it.
        to: Var,
        /// Its contents.
        data: Box<StaticData>,
    },
    /// Reads an element of memory or of a private array.
    Read {
        /// Gets the element.
        to: Var,
        /// Which one.
        from: Element,
    },
    /// Writes an element of memory or of a private array.
    Write {
        /// Which one.
        to: Element,
        /// What.
        value: Expr,
    },
    /// Reads as many adjacent elements of memory as there are variables (kernels): 4, 8 or 16 bytes, at
    /// an index that is a multiple of their number.
    ReadVector {
        /// Get the elements.
        to: Box<[Var]>,
        /// The first.
        from: Element,
    },
    /// Writes adjacent elements of memory likewise (kernels).
    WriteVector {
        /// The first.
        to: Element,
        /// What.
        values: Box<[Expr]>,
    },
    /// Does something with fragments (kernels).
    Fragment(Box<FragmentOp>),
    /// Copies a multi-dimensional array between blocks.
    Copy(Box<Copy>),
    /// Branches.
    If {
        /// A truth value.
        condition: Expr,
        /// Where it holds.
        then: Block,
        /// Where it does not.
        otherwise: Block,
    },
    /// Counts from 0 to below a bound, which is evaluated once.
    For {
        /// The counter.
        counter: Var,
        /// The bound, of the counter's type; signed.
        bound: Expr,
        /// What is repeated.
        body: Block,
    },
    /// Repeats while a condition holds.
    While {
        /// A truth value.
        condition: Expr,
        /// What is repeated.
        body: Block,
    },
    /// Calls a function.
    Call(Box<Call>),
    /// Ends the program with a message where a condition does not hold.
    Assert {
        /// A truth value.
        condition: Expr,
        /// What is said.
        message: Message,
    },
    /// Says something on the way.
    Trace(Message),
    /// Launches a kernel (host).
    Launch(Kernel),
    /// Asks where in the launch this invocation is (kernels).
    Where {
        /// Gets the number, an `i32`.
        to: Var,
        /// What is asked.
        what: Index,
        /// In which dimension.
        dimension: u8,
    },
    /// Hands a value of 32 bits to the invocation of the subgroup whose number differs by a mask, and
    /// takes that one's; all invocations of the subgroup get there together (kernels).
    Shuffle {
        /// Gets the other's value.
        to: Var,
        /// What this invocation hands over.
        value: Expr,
        /// The bits by which their numbers differ.
        mask: u32,
    },
    /// Synchronises (kernels).
    Sync {
        /// How.
        kind: Sync,
        /// What memory is made visible: the workgroup's, or the device's too.
        scope: Scope,
    },
    /// Changes an element of memory at once (kernels).
    Atomic(Box<Atomic>),
}

impl StmtKind {
    /// The blocks within; a kernel is none.
    pub fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
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
pub struct Element {
    /// The block or array.
    pub memory: Var,
    /// Type of the element.
    pub ty: Scalar,
    /// Its number, counted in elements of this type from the beginning; an `i64`.
    pub index: Expr,
    /// Whether other workgroups may change it meanwhile.
    pub volatile: bool,
}

/// Contents of host memory.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticData {
    /// Type of the elements.
    pub ty: Scalar,
    /// The elements, or the one that is repeated.
    pub values: Vec<Literal>,
    /// How often a single element is repeated.
    pub repeat: Option<u64>,
}

/// A strided copy: `to[offset + Σ i·stride] = from[offset + Σ i·stride]`, in elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// Type of the elements.
    pub ty: Scalar,
    /// Elements in each dimension, `i64`s; none is one element.
    pub shape: Vec<Expr>,
    /// Where to.
    pub to: Side,
    /// Where from.
    pub from: Side,
}

/// One side of a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The block or array.
    pub memory: Var,
    /// First element, an `i64`.
    pub offset: Expr,
    /// Elements from one to the next in each dimension, `i64`s.
    pub strides: Vec<Expr>,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is called.
    pub function: Func,
    /// Its inputs.
    pub inputs: Vec<Argument>,
    /// Get its outputs.
    pub outputs: Vec<Var>,
}

/// What is handed to a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// A scalar.
    Scalar(Expr),
    /// A reference to memory.
    Memory(Var),
}

/// A position in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
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

impl Index {
    /// All, with their names.
    pub const NAMES: [(&'static str, Index); 6] = [
        ("group_id", Index::Group),
        ("local_id", Index::Local),
        ("local_size", Index::LocalSize),
        ("lockstep_width", Index::LockstepWidth),
        ("subgroup_id", Index::Subgroup),
        ("subgroup_lane", Index::Lane),
    ];
}

/// Ways to synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// All invocations of the workgroup wait for each other.
    Barrier,
    /// Accesses before come before accesses after.
    Fence,
    /// A barrier at which the workgroup ends if one of its invocations failed.
    Error,
}

impl Sync {
    /// All, with their names.
    pub const NAMES: [(&'static str, Sync); 3] = [
        ("barrier", Sync::Barrier),
        ("fence", Sync::Fence),
        ("error_sync", Sync::Error),
    ];
}

/// The memory that a synchronisation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The workgroup's.
    Shared,
    /// The workgroup's and the device's.
    Device,
}

/// An atomic operation on memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Atomic {
    /// What is done.
    pub op: AtomicOp,
    /// Where.
    pub element: Element,
    /// What with; the new value of a compare and exchange.
    pub value: Expr,
    /// The value expected by a compare and exchange.
    pub expected: Option<Expr>,
    /// Gets the value from before; none for [`AtomicOp::Write`].
    pub old: Option<Var>,
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
    pub fn takes(self, ty: Scalar) -> bool {
        match self {
            AtomicOp::FAdd => ty.is_float(),
            AtomicOp::Write | AtomicOp::Exchange => ty != Scalar::Unit,
            _ => ty.is_int(),
        }
    }
}
