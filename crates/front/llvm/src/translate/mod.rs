//! Translation: LLVM IR to SPIR-V.
//!
//! [`translate_module`] translates modules in the form that Clang produces for OpenCL C and SYCL
//! (triples `spir`, `spir64`, `spirv32`, `spirv64`). The result is for OpenCL environments. The
//! translation consists of a few rewriting passes over the LLVM IR, the inference of pointee types
//! ([`crate::pointee_inference`]), and one pass that emits SPIR-V.
//!
//! | file | contents |
//! | --- | --- |
//! | `options` | options of the translation |
//! | `translate_module` | the driver: order of the passes and of the translation |
//! | `translator` | module-level state |
//! | `type_table`, `translated_entities`, `shader_state` | parts of the module-level state |
//! | `refusal` | reasons why a construct cannot be translated |
//! | `shapes`, `storage_classes`, `words` | shapes of numbers, storage classes, operand words |
//! | `merge_globals`, `host_modules`, `opencl_opaque_types` | rewriting passes over LLVM IR before the translation |
//! | `types`, `target_types`, `constants`, `globals` | module-scope declarations |
//! | `address_expressions` | constants that are sums of addresses and numbers |
//! | `debug_info` | debug information |
//! | `inline_assembly` | inline assembly |
//! | `alias_scopes` | aliasing metadata |
//! | `vector_compute` | attributes of Intel's vector compiler |
//! | `functions`, `kernel_metadata`, `decorations` | signatures, entry points, execution modes, attributes |
//! | `fpga_metadata` | metadata of compilers for FPGAs |
//! | `global_constructors` | functions that run before and after all kernels |
//! | `function_body`, `phis`, `pointer_casts`, `local_uses` | blocks, phis and access to values within one function |
//! | `instructions` | one file for each class of instructions |
//! | `loop_hints` | loop metadata |
//! | `scalarise_vectors` | vectors of pointers, and vectors that are too long |
//! | `legalise_types` | integers of odd widths, vectors of odd lengths, bit casts |
//! | `wide_integers` | integers of more than 64 bits without the extension for arbitrary widths |
//! | `intrinsics` | LLVM's intrinsics as a table |
//! | `builtins` | OpenCL's and SPIR-V's functions as tables |
//! | `call_rules`, `demangle`, `extended_instructions` | rules, names and rows that both use |
//! | `compute_shaders`, `row_major_matrices` | compute shaders |
//! | `physical_storage` | device addresses in shaders |
//! | `specialised_lengths` | array lengths that can be specialised |
//! | `untyped_pointers` | pointers without pointee types |
//! | `declaration_order` | order of module-scope declarations |
//! | `capabilities` | capabilities and extensions that the module declares |
//! | `reference_page` | the reference page of supported constructs |
//!
//! Invariants: every local is translated before its uses, because each block is translated after
//! those that dominate it. From its definition on, a pointer has the type of its class. Constants
//! are at module scope. A construct that cannot be translated is reported with its place, and the
//! translation continues, so that all such places are found at once. In that case there is no
//! output module.
//!
//! Cost: linear in the size of the module, and for each entry point in the functions that it
//! reaches.

mod address_expressions;
mod alias_scopes;
mod builtins;
mod call_rules;
mod capabilities;
mod compute_shaders;
mod constants;
mod debug_info;
mod declaration_order;
mod decorations;
mod demangle;
mod extended_instructions;
mod fpga_metadata;
mod function_body;
mod functions;
mod global_constructors;
mod globals;
mod host_modules;
mod inline_assembly;
mod instructions;
mod intrinsics;
mod kernel_metadata;
mod legalise_types;
mod local_uses;
mod loop_hints;
mod merge_globals;
mod opencl_opaque_types;
mod options;
mod phis;
mod physical_storage;
mod pointer_casts;
mod reference_page;
mod refusal;
mod row_major_matrices;
mod scalarise_vectors;
mod shader_state;
mod shapes;
mod specialised_lengths;
mod storage_classes;
mod target_types;
mod translate_module;
mod translated_entities;
mod translator;
mod type_table;
mod types;
mod untyped_pointers;
mod vector_compute;
mod wide_integers;
mod words;

pub(crate) use builtins::CALLABLE;
pub use options::{DebugInfo, PointerTyping, TranslationOptions, is_shader};
pub use reference_page::print_reference;
pub use spirula_spirv::analysis::AllowedExtensions;
pub use translate_module::translate_module;
