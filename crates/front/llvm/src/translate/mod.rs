//! From LLVM IR to SPIR-V.
//!
//! [`translate_module`] takes a module as Clang makes it for OpenCL C and SYCL (triples `spir`, `spir64`,
//! `spirv32`, `spirv64`) to a module of SPIR-V for OpenCL environments: one inference of pointee
//! types ([`crate::infer`]), then one pass that writes.
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

mod addresses;
mod aliasing;
mod assembly;
mod body;
mod builtins;
mod capabilities;
mod constants;
mod debug;
mod decorations;
mod extensions;
mod fpga;
mod functions;
mod globals;
mod handles;
mod hosted;
mod initialisers;
mod instructions;
mod intrinsics;
mod legalise;
mod lengths;
mod loops;
mod merged;
mod metadata;
mod offsets;
mod opaque;
mod order;
mod parts;
mod reference;
mod refusal;
mod row_major;
mod shader;
mod translator;
mod types;
mod untyped;
mod vector_compute;
mod wide;

pub(crate) use builtins::CALLABLE;
pub use debug::DebugInfo;
pub use extensions::AllowedExtensions;
pub use reference::print_reference;
pub use shader::is_shader;
pub use translator::{TranslationOptions, translate_module};
pub use untyped::PointerTyping;
