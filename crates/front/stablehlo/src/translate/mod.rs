//! Translation into the tensor IR.
//!
//! [`translate_entry()`] makes one function of the entry point, what it calls put in place. An operation
//! is a row of a table: those that compute element by element are functions of scalars
//! (`scalar/`), which serve maps and the regions of reductions alike; the others (`table`) make
//! structured operations. Types that the tensor IR lacks are taken apart here ([`TensorElement`]):
//! a complex tensor is two tensors, which parameters and results have interleaved in a last
//! dimension of 2; floats of other formats are stored as their bits and computed with as `f32`.
//!
//! What a module asks for that is not known is an [`TranslateError::Unsupported`] with its name.

mod assertion;
mod bitcast;
mod block;
mod constant;
mod contraction;
mod control;
mod counted_loop;
mod dims;
mod element;
mod elementwise;
mod entry;
mod error;
mod expectation;
mod fourier;
mod gather;
mod lapack;
mod linear;
mod movement;
mod normalization;
mod product;
mod quantized;
mod ragged;
mod random;
mod reduction;
mod region_scalars;
mod result_check;
mod scalar;
mod scalar_region;
mod scan;
mod scatter;
mod select_and_scatter;
mod slice;
mod sort;
mod symbolic_dims;
mod table;
mod translator;
mod window;
mod window_scan;

pub use element::TensorElement;
pub use entry::{InterfaceTensor, KnownArguments, TranslatedEntry, translate_entry, translate_for};
pub use error::{TranslateError, TranslateResult};
pub use result_check::{ResultCheck, ResultTolerance};
