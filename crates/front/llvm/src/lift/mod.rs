//! From SPIR-V back to LLVM IR.
//!
//! [`lift_module`] makes of a SPIR-V module one of LLVM IR that LLVM accepts and that
//! [`crate::translate()`] brings back to a module with the same interface and meaning. What LLVM
//! has an instruction for becomes that instruction; everything else becomes a call of a function
//! named after what SPIR-V calls it (`__spirv_NAME`, `__spirv_ocl_NAME`), with the operands in the
//! order of the grammar's row, so that no instruction needs a line of its own.
//!
//! | file | what |
//! | --- | --- |
//! | `lifter` | the state of a lifting, and its order |
//! | `types`, `layouts`, `lengths`, `constants`, `variables` | what stands at module level |
//! | `metadata` | nodes, decorations that LLVM has no words for |
//! | `functions`, `kernels` | signatures, attributes, entry points, execution modes |
//! | `body` | blocks, phis, values and their names within one function |
//! | `lines` | places in sources |
//! | `table` | what each instruction becomes |
//! | `arithmetic`, `matrix`, `composite`, `convert`, `memory`, `control` | instructions by class |
//! | `friendly`, `mangle` | calls of functions named after instructions |
//!
//! Compute shaders have the triple `spirv-unknown-vulkan-compute`, their resources are external
//! globals in address spaces of their storage classes (those of LLVM's backend: 10 private, 11
//! storage buffers, 12 uniform buffers, 13 push constants; 14 device addresses), with bindings in
//! `!spirv.Decorations`. Layouts of structures stand in `!spirv.Layouts`, as LLVM's types cannot
//! say them, what parameters point to in `!spirv.ParameterTypes`: address computations must be kept as they are, in terms of members.
//! `!spirv.MemoryModel` says addressing and memory model where the latter is Vulkan's.
//!
//! Invariants: blocks are those of the SPIR-V module, one for one, in the same order; a value has
//! one local, or is a constant. Constants that can be specialised are calls at the beginning of
//! each function that uses them. The result obeys the rules of the crate's own verifier.
//!
//! Types are made in the order of their definitions, which come before their uses, so nothing
//! here recurses. Cost: linear in the size of the module; specialisation constants cost their
//! number for each function that uses them.

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
