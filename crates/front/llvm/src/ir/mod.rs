//! The arena IR for LLVM modules.
//!
//! A [`LlvmModule`] owns everything: strings, types, constants, attributes and metadata are interned
//! or kept in arenas and referred to by dense `u32` ids; globals and functions are vectors. Each
//! [`LlvmFunction`] owns its instructions as one vector in program order, of which a block is a
//! range, and pools into which instructions point with [`LlvmPoolRange`]s.
//!
//! Invariants a reader establishes:
//! - every id is in range for its arena (or for its function);
//! - an integer constant is truncated to its width, zero-extended in its word;
//! - constants are canonical: an aggregate of zeros is [`ConstKind::Zero`], an array or vector of
//!   plain numbers is [`ConstKind::Data`], so the same value has one id whatever was written;
//! - every block ends in exactly one terminator, which is its last instruction.
//!
//! Cost: an instruction is about 36 bytes, an operand 4; nothing is allocated per instruction.

mod attribute;
mod constant;
mod function;
mod global;
mod id;
mod instruction;
mod layout;
mod metadata;
mod module;
mod opcode;
mod predecessors;
mod result_types;
mod source_locations;
mod strings;
mod types;

pub use attribute::{
    AttrForm, AttrKind, AttrList, AttrListData, AttrSet, LlvmAttribute, LlvmAttributes,
};
pub(crate) use constant::data_element_size;
pub use constant::{ConstData, ConstKind, ExprExtra, LlvmConst, LlvmConstantExpr, LlvmConstants};
pub use function::{DebugRecord, DebugRecordKind, LlvmBlockData, LlvmFunction, MetadataAttachment};
pub use global::{
    CallingConvention, ComdatGroup, GlobalAliasee, GlobalData, GlobalKind, Linkage, LlvmGlobal,
    LlvmGlobalVariable, Selection, ThreadLocal, UnnamedAddr, Visibility,
};
pub use id::{LlvmBlock, LlvmFunc, LlvmInst, LlvmPoolRange, LlvmValue, ValueKind};
pub use instruction::{
    CallInfo, InstructionExtra, LlvmAlign, LlvmInstFlags, LlvmInstruction, OperandBundle, Ordering,
    Predicate, RmwOp,
};
pub use layout::{DataLayout, StructLayout};
pub use metadata::{LlvmMetadata, MetadataArena, MetadataField, MetadataKind, NamedMetadata};
pub use module::{InlineAsm, LlvmModule};
pub use opcode::LlvmOpcode;
pub(crate) use predecessors::LlvmPredecessors;
pub(crate) use result_types::{
    address_type, compare_type, expression_type, member_type, shuffle_mask, shuffle_type,
};
pub use source_locations::LlvmLocations;
pub use strings::{LlvmStrings, LlvmSymbol};
pub use types::{LlvmType, LlvmTypeKind, LlvmTypes};
