//! The module IR: a module's instructions in their logical order, ready to be analysed and edited.
//!
//! Data lies flat. All words stand in a pool; an instruction is a place in the pool, where its first
//! word says its opcode and length; sections, parameters and block bodies are doubly linked lists of
//! instructions. Reading a module takes its words as the pool and eight bytes for each instruction, and
//! allocates nothing per instruction; inserting, deleting and moving instructions takes constant time
//! and leaves every handle valid. Writing copies as long runs as stand in the pool as they do in the
//! module: one, where nothing was edited.
//!
//! Invariants, held by the reader and the editing interface:
//! - every instruction that the grammar knows has the operands that the grammar demands, with ids
//!   that are not 0 and are below [`SpirvModule::bound`];
//! - every basic block ends in a terminator, and has no other;
//! - an instruction is in one list at most.
//!
//! Edits of blocks and edges hold them whatever is asked for. Edits of single instructions come in two kinds: those
//! that do as they are told, and leave the second to the caller, and those named `try_…`, which refuse what would
//! break them, or put an instruction into a section or a place of a block where it may not stand.
//!
//! That ids are defined, dominate their uses and have fitting types is not an invariant: ask the
//! verifier.

mod block_order;
mod blocks;
mod checked_handles;
mod checked_insert;
mod clone;
mod edit;
mod erase;
mod id_words;
mod index;
mod inst;
mod inst_arena;
mod join_blocks;
mod labels;
mod list;
mod loops;
mod module;
mod read;
mod redundant_edges;
mod switch;
mod unreachable;
mod walk;
mod word_pool;
mod write;

pub use blocks::EditError;
pub use checked_insert::InsertPosition;
pub use clone::CloneMap;
pub use erase::ErasedIds;
pub use id_words::IdWords;
pub use index::{BlockWords, FunctionWords, SectionWords, SpirvIndex};
pub use inst::InstRef;
pub(crate) use labels::LabelPositions;
pub use list::InstIter;
pub use module::{BasicBlock, Block, Func, Inst, List, ModuleSection, SpirvFunction, SpirvModule};
pub use switch::switch_cases;
