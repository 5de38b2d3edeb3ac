//! Operations between devices as simpler ones, so that the stages after this know fewer.
//!
//! - `async_regions`: asynchronous operations with regions.
//! - `async_calls`: asynchronous collectives that are custom calls.
//! - `extremes`: results that are maxima or minima over devices.
//! - `ragged_exchange`: exchanges of slices of different sizes.
//! - `emitter`: operations in the place of another.

mod async_calls;
mod async_regions;
mod emitter;
mod extremes;
mod ragged_exchange;

use crate::mlir::MlirModule;
use std::borrow::Cow;

/// A verified module without asynchronous operations and ragged exchanges. Types and attributes keep their ids. An operation of a
/// form that is not supported stays.
pub fn expand_operations(module: &MlirModule) -> Cow<'_, MlirModule> {
    let exchanges = ragged_exchange::list_exchanges(module);
    let starts = async_regions::list_starts(module);
    let calls = async_calls::list_calls(module);
    let extremes = extremes::list_results(module);
    if exchanges.is_empty() && starts.is_empty() && calls.is_empty() && extremes.is_empty() {
        return Cow::Borrowed(module);
    }
    let mut expanded = module.clone();
    for exchange in exchanges {
        ragged_exchange::expand_exchange(&mut expanded, exchange);
    }
    for results in &extremes {
        extremes::reduce_results(&mut expanded, results);
    }
    for call in calls {
        async_calls::expand_call(&mut expanded, call);
    }
    async_regions::inline_regions(&mut expanded, &starts);
    Cow::Owned(expanded)
}
