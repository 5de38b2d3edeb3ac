//! Arena IR for LLVM modules.
//!
//! An [`LlvmModule`] owns everything. Strings, types, constants, attributes and metadata are
//! interned or kept in arenas, and dense `u32` ids refer to them; globals and functions are
//! vectors. Each [`LlvmFunction`] owns its instructions as one vector in program order, and a block
//! is a range of it. The function also owns the pools that its instructions refer to by
//! [`LlvmPoolRange`]s.
//!
//! Invariants that a reader establishes:
//! - Every id is in range for its arena or function.
//! - An integer constant is truncated to its width and zero-extended in its word.
//! - Constants are canonical: an aggregate of zeros is [`ConstKind::Zero`], an array or vector of
//!   plain numbers is [`ConstKind::Data`]. So the same value has one id, however it was written.
//! - Every block ends in exactly one terminator, which is its last instruction.
//!
//! Cost: an instruction takes about 36 bytes, an operand 4; there is no allocation per instruction.

mod align;
mod attribute;
mod constant;
mod function;
mod global;
mod id;
mod inline_asm;
mod instruction;
mod layout;
mod metadata;
mod module;
mod named_enum;
mod opcode;
mod predecessors;
mod result_types;
mod source_locations;
mod strings;
mod types;

pub use align::LlvmAlign;
pub use attribute::{
    AttrForm, AttrKind, AttrList, AttrListData, AttrSet, LlvmAttribute, LlvmAttributes,
};
pub(crate) use constant::data_element_size;
pub use constant::{ConstData, ConstKind, ExprExtra, LlvmConstantExpr, LlvmConstants};
pub use function::{DebugRecord, DebugRecordKind, LlvmBlockData, LlvmFunction, MetadataAttachment};
pub use global::{
    CallingConvention, ComdatGroup, GlobalAliasee, GlobalData, GlobalKind, Linkage, LlvmGlobal,
    LlvmGlobalVariable, Selection, ThreadLocal, UnnamedAddr, Visibility,
};
pub use id::{
    LlvmBlock, LlvmConst, LlvmFunc, LlvmInst, LlvmMetadata, LlvmPoolRange, LlvmValue, ValueKind,
};
pub use inline_asm::InlineAsm;
pub use instruction::{
    CallInfo, InstructionExtra, LlvmInstFlags, LlvmInstruction, OperandBundle, Ordering, Predicate,
    RmwOp,
};
pub use layout::{DataLayout, StructLayout};
pub use metadata::{MetadataArena, MetadataField, MetadataKind, NamedMetadata};
pub use module::LlvmModule;
pub use opcode::LlvmOpcode;
pub(crate) use predecessors::LlvmPredecessors;
pub(crate) use result_types::{
    address_type, compare_type, expression_type, member_type, shuffle_mask, shuffle_type,
};
pub use source_locations::LlvmLocations;
pub use strings::{LlvmStrings, LlvmSymbol};
pub use types::{LlvmType, LlvmTypeKind, LlvmTypes};
