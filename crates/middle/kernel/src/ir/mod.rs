//! The data: dense ids into arenas, interned names.
//!
//! Expressions have no effects; statements do, and carry their places. A block is a range of one
//! list of statements, its own blocks standing before it. The body of a kernel refers to the
//! variables of the host that its uses list.

mod fragment;
mod id;
mod names;
mod program;
mod stmt;

pub use fragment::{Fragment, FragmentOp, Number, Order, Patch, Role};
pub use id::{Array, Block, Expr, Func, Kernel, Limit, Message, Name, Param, Var};
pub use names::Names;
pub use program::{
    ArrayData, BlockSize, Dimension, Entry, EntryKind, EntryParameter, EntryValue, ExprData,
    Function, KernelData, MessageData, Part, PlainValue, Program, Space, Type, Use, VarData,
};
pub use stmt::{
    Argument, Atomic, AtomicOp, Call, Copy, Element, Index, Scope, Side, StaticData, Stmt,
    StmtKind, Sync,
};
