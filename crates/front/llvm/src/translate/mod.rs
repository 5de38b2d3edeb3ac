//! From LLVM IR to SPIR-V.
//!
//! [`translate_module`] takes a module as Clang makes it for OpenCL C and SYCL (triples `spir`, `spir64`,
//! `spirv32`, `spirv64`) to a module of SPIR-V for OpenCL environments: one inference of pointee
//! types ([`crate::pointee_inference`]), then one pass that writes.
//!
//! | file | what |
//! | --- | --- |
//! | `translator` | the state of a translation, and its order |
//! | `types`, `opaque`, `constants`, `globals` | what stands at module level |
//! | `debug` | debug information |
//! | `assembly` | inline assembly |
//! | `aliasing` | what does not alias |
//! | `vector_compute` | attributes of Intel's vector compiler |
//! | `handles` | opaque types of OpenCL as today's IR has them |
//! | `hosted` | modules for a host: kernels by name, address spaces |
//! | `functions`, `metadata`, `decorations` | signatures, entry points, execution modes, attributes |
//! | `fpga` | metadata of compilers for FPGAs |
//! | `initialisers` | what runs before and after all kernels |
//! | `offsets` | constants that are sums of addresses and numbers |
//! | `merged` | variables whose addresses are subtracted, as members of one |
//! | `body` | blocks, phis and access to values within one function |
//! | `instructions` | one file for each class of instructions |
//! | `loops` | hints for loops |
//! | `parts` | vectors of pointers, and those that are too long |
//! | `legalise` | integers of odd widths, vectors of odd lengths, bit casts |
//! | `wide` | integers of more than 64 bits, where those of any width may not be used |
//! | `intrinsics` | LLVM's intrinsics by table |
//! | `builtins` | OpenCL's and SPIR-V's functions by table |
//! | `shader` | compute shaders |
//! | `addresses` | device addresses in shaders |
//! | `lengths` | lengths of arrays that can be specialised |
//! | `reference` | the page of what is translated |
//! | `untyped` | pointers without pointee types |
//! | `order` | the order of what stands at module level |
//! | `capabilities`, `extensions` | what the finished module has to declare, and may |
//!
//! Invariants: every local is translated before its uses, as blocks are taken behind
//! those that dominate them; a pointer has the type that its class has, from its definition on; constants stand
//! at module level. What cannot be translated is reported with its place, and the translation
//! goes on, so that all such places are found at once; then there is no module.
//!
//! Cost: linear in the size of the module, and for entry points in the functions that they reach.

mod address_expressions;
mod alias_scopes;
mod allowed_extensions;
mod builtins;
mod capabilities;
mod compute_shaders;
mod constants;
mod debug_info;
mod declaration_order;
mod decorations;
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
mod loop_hints;
mod merge_globals;
mod opencl_opaque_types;
mod physical_storage;
mod reference_page;
mod refusal;
mod row_major_matrices;
mod scalarise_vectors;
mod specialised_lengths;
mod target_types;
mod translator;
mod types;
mod untyped_pointers;
mod vector_compute;
mod wide_integers;

pub use allowed_extensions::AllowedExtensions;
pub(crate) use builtins::CALLABLE;
pub use compute_shaders::is_shader;
pub use debug_info::DebugInfo;
pub use reference_page::print_reference;
pub use translator::{TranslationOptions, translate_module};
pub use untyped_pointers::PointerTyping;
