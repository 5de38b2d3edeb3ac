//! The module IR: a module's instructions in their logical order, ready to be analysed and edited.
//!
//! Data is flat. All words are in a pool. An instruction is a position in the pool, where its first word has its
//! opcode and length. Sections, parameters and block bodies are doubly linked lists of instructions.
//!
//! Reading a module takes its words as the pool and eight bytes for each instruction, without an allocation per
//! instruction. Insertion, deletion and moves of instructions take constant time and keep every handle valid. Writing
//! copies the longest runs that are consecutive both in the pool and in the module: a single one if nothing was edited.
//!
//! Invariants, which the reader and the editing interface preserve:
//! - every instruction that the grammar knows has the operands that the grammar demands, with ids
//!   that are not 0 and are below [`SpirvModule::bound`];
//! - every basic block ends in a terminator, and has no other;
//! - an instruction is in one list at most.
//!
//! Edits of blocks and edges preserve them in all cases. Edits of single instructions come in two kinds. Unchecked
//! ones leave the second invariant to the caller. Those named `try_…` refuse edits that would break an invariant, or
//! that would place an instruction in a section or position where it is not allowed.
//!
//! It is no invariant that ids are defined, dominate their uses and have fitting types. The verifier checks this.

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
mod sampled_images;
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
