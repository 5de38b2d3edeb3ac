//! Calls of entry points.

use crate::context::SpirulaFutharkContext;
use crate::failure::{CallFailure, run_guarded};
use crate::handle::{get_slice, get_text};
use crate::value::GivenArgument;
use std::ffi::{c_char, c_int, c_void};
use std::time::Instant;

/// Calls an entry point. `input_words` has a word for each input, with blanks between them: the type word of a scalar, or `*`
/// for a value. `inputs` are pointers to scalars, and values. `output_word` says the same of the result. A scalar is written
/// to `output`; otherwise a new value is, which the caller frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_futhark_call(
    context: *mut SpirulaFutharkContext,
    entry: *const c_char,
    input_words: *const c_char,
    inputs: *const *const c_void,
    output_word: *const c_char,
    output: *mut c_void,
) -> c_int {
    let body = |state: &mut crate::context::ContextState| -> Result<(), CallFailure> {
        // SAFETY: the crate's contract.
        let (entry, words, output_word) = unsafe {
            (
                get_text(entry)?,
                get_text(input_words)?,
                get_text(output_word)?,
            )
        };
        let words: Vec<&str> = words.split_whitespace().collect();
        // SAFETY: there is a pointer for each word.
        let inputs = unsafe { get_slice(inputs, words.len()) }?;
        let given = words.iter().zip(inputs);
        // SAFETY: the crate's contract.
        let given = given.map(|(word, pointer)| unsafe { state.read_argument(word, *pointer) });
        let given = given.collect::<Result<Vec<GivenArgument<'_>>, CallFailure>>()?;
        let parts: Vec<_> = given.iter().flat_map(GivenArgument::parts).collect();
        let start = Instant::now();
        let called = state.session()?.call_resident(&entry, &parts);
        let time = start.elapsed();
        state.write_traced();
        state.profile.record_call(&entry, time);
        if state.is_logging {
            let outcome = if called.is_ok() { "ended" } else { "failed" };
            state.write_log(&format!("{entry} {outcome} after {time:?}"));
        }
        // SAFETY: the crate's contract.
        unsafe { state.write_output(&output_word, called?, output) }
    };
    // SAFETY: the crate's contract.
    unsafe { run_guarded(context, body) }
}
