//! Translation into the tensor IR.
//!
//! [`translate_entry()`] translates an entry point into one function; calls are inlined. An
//! operation is a row of a table. Those that compute element by element are functions of scalars
//! (`scalar/`), which serve maps and the regions of reductions alike. The others (`table`) emit
//! structured operations. Types that the tensor IR lacks are decomposed ([`TensorElement`]). A
//! complex tensor becomes two tensors, which parameters and results interleave in a last dimension
//! of 2. Floats of other formats are stored as their bits and computed as `f32`.
//!
//! Manual computations of several devices are translated for all devices in lock step (`manual/`).
//!
//! An operation or a type that is not known is reported by its name as
//! [`TranslateError::Unsupported`].

mod assertion;
mod bitcast;
mod block;
mod constant;
mod contraction;
mod control;
mod convolved_fourier;
mod counted_loop;
mod dims;
mod element;
mod elementwise;
mod entry;
mod error;
mod expectation;
mod foreign;
mod fourier;
mod fourier_factors;
mod fourier_pass;
mod gather;
mod lapack;
mod linear;
mod manual;
mod mhlo_call;
mod movement;
mod normalization;
mod parameter_names;
mod product;
mod quantized;
mod ragged;
mod random;
mod real_fourier;
mod reduction;
mod region_scalars;
mod result_check;
mod scalar;
mod scalar_region;
mod scan;
mod scatter;
mod select_and_scatter;
mod short_fourier;
mod slice;
mod sort;
mod symbolic_dims;
mod table;
mod translator;
mod unity_root;
mod window;
mod window_scan;

pub use element::TensorElement;
pub use entry::{
    InterfaceTensor, KnownArguments, ScatterWindows, TranslateOptions, TranslatedEntry,
    translate_entry, translate_for,
};
pub use error::{TranslateError, TranslateResult};
pub use foreign::{ForeignTargets, NamedTargets};
pub use result_check::{ResultCheck, ResultTolerance};
pub(crate) use table::has_translation;
