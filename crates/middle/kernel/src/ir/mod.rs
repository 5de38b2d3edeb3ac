//! The program as data: dense ids into arenas, interned names.
//!
//! Expressions have no effects. Statements have effects and carry their source places. A block is a range of one
//! list of statements; nested blocks stand before the block that contains them. The body of a kernel refers to the
//! variables of the host that its captures list.

mod fragment;
mod id;
mod memory;
mod names;
mod program;
mod stmt;

pub use fragment::{
    FragmentAddress, FragmentElement, FragmentOp, FragmentOrder, FragmentRole, FragmentType,
};
pub use id::{
    ArrayId, ExprId, FuncId, KernelId, LimitId, MessageId, NameId, ParamId, StmtBlock, VarId,
};
pub use memory::MemoryElement;
pub use names::ProgramNames;
pub use program::{
    ArrayData, ArrayDimension, BlockSize, EntryDecl, EntryDeclParameter, EntryDeclValue, EntryKind,
    ExprData, FuncData, KernelCapture, KernelData, KernelProgram, MemorySpace, MessageData,
    MessageSegment, PlainValue, VarData, VariableType,
};
pub use stmt::{
    AtomicOp, AtomicStmt, CallStmt, CopyOperand, CopyStmt, ForeignStmt, FuncArgument, KernelStmt,
    KernelSyncScope, LaunchIndex, StaticData, StmtKind, SyncKind,
};
