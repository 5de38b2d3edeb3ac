//! The arena IR for LLVM modules.
//!
//! A [`Module`] owns everything: strings, types, constants, attributes and metadata are interned
//! or kept in arenas and referred to by dense `u32` ids; globals and functions are vectors. Each
//! [`Function`] owns its instructions as one vector in program order, of which a block is a
//! range, and pools into which instructions point with [`Span`]s.
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
mod infer;
mod instruction;
mod layout;
mod metadata;
mod module;
mod opcode;
mod places;
mod predecessors;
mod strings;
mod types;

pub use attribute::{AttrForm, AttrKind, AttrList, AttrListData, AttrSet, Attribute, Attributes};
pub(crate) use constant::data_element_size;
pub use constant::{ConstData, ConstKind, Constants, Expr, ExprExtra, LlvmConst};
pub use function::{Attachment, BlockData, DebugRecord, DebugRecordKind, Function};
pub use global::{
    Aliasee, CallingConvention, Comdat, GlobalData, GlobalKind, Linkage, LlvmGlobal, Selection,
    ThreadLocal, UnnamedAddr, Variable, Visibility,
};
pub use id::{LlvmBlock, LlvmFunc, LlvmInst, Span, Value, ValueKind};
pub(crate) use infer::{
    address_type, compare_type, expression_type, member_type, shuffle_mask, shuffle_type,
};
pub use instruction::{
    Align, Bundle, CallInfo, Extra, Flags, Instruction, Ordering, Predicate, RmwOp,
};
pub use layout::{DataLayout, StructLayout};
pub use metadata::{Field, LlvmMetadata, MetadataArena, MetadataKind, NamedMetadata};
pub use module::{InlineAsm, Module};
pub use opcode::Opcode;
pub use places::Places;
pub(crate) use predecessors::Predecessors;
pub use strings::{LlvmSymbol, Strings};
pub use types::{LlvmType, TypeKind, Types};
