//! Lifting: SPIR-V back to LLVM IR.
//!
//! [`lift_module`] turns a SPIR-V module into LLVM IR that LLVM accepts. [`crate::translate()`]
//! brings it back to a module with the same interface and meaning. An instruction that LLVM has
//! becomes that instruction. Every other instruction becomes a call of a function that is named
//! after it (`__spirv_NAME`, `__spirv_ocl_NAME`), with the operands in the order of the grammar's
//! row. So no instruction needs code of its own.
//!
//! | file | contents |
//! | --- | --- |
//! | `lifter` | module-level state and order of the lifting |
//! | `types`, `struct_layouts`, `specialised_lengths`, `constants`, `global_variables` | module-scope declarations |
//! | `lifted_entities` | counterparts of types, lengths and source locations |
//! | `metadata` | nodes, and decorations that LLVM cannot express otherwise |
//! | `functions`, `entry_points` | signatures, attributes, entry points, execution modes |
//! | `body` | blocks, phis, values and their names within one function |
//! | `source_lines` | source locations |
//! | `instruction_table` | the lifting of each instruction |
//! | `arithmetic`, `matrices`, `composite`, `conversions`, `memory`, `control_flow` | instructions by class |
//! | `spirv_friendly_calls`, `mangle` | calls of functions that are named after instructions |
//!
//! Compute shaders have the triple `spirv-unknown-vulkan-compute`. Their resources are external
//! globals in address spaces that stand for storage classes. The numbers are those of LLVM's
//! backend: 10 private, 11 storage buffers, 12 uniform buffers, 13 push constants; 14 stands for
//! device addresses. Bindings are in `!spirv.Decorations`. Layouts of structures are in
//! `!spirv.Layouts`, as LLVM's types cannot express them. Pointees of parameters are in
//! `!spirv.ParameterTypes`, because address computations must keep their form in terms of members.
//! `!spirv.MemoryModel` states addressing and memory model if the latter is Vulkan's.
//!
//! Invariants: the blocks are those of the SPIR-V module, one for one, in the same order. A value
//! has one local, or is a constant. Specialisation constants are calls at the beginning of each
//! function that uses them. The result obeys the rules of the crate's own verifier.
//!
//! Types are created in the order of their definitions, which precede their uses, so nothing here
//! recurses. Cost: linear in the size of the module; each specialisation constant costs one call
//! per function that uses it.

mod arithmetic;
mod body;
mod composite;
mod constants;
mod control_flow;
mod conversions;
mod entry_points;
mod functions;
mod global_variables;
mod instruction_table;
mod lifted_entities;
mod lifter;
mod mangle;
mod matrices;
mod memory;
mod metadata;
mod source_lines;
mod specialised_lengths;
mod spirv_friendly_calls;
mod struct_layouts;
mod types;

pub use lifter::lift_module;
