//! Memory that the library passes to the caller: texts and words.

use std::ffi::c_char;
use std::ptr;

/// A text that belongs to the caller, who frees it with `spirula_text_free`. Its bytes are UTF-8 and followed by
/// NUL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaText {
    /// The bytes; null if there is no text.
    pub data: *mut c_char,
    /// Number of bytes without the NUL.
    pub length: usize,
}

/// A text that belongs to the library, without a final NUL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaName {
    /// The bytes.
    pub data: *const c_char,
    /// Number of bytes.
    pub length: usize,
}

/// Words that belong to the caller, who frees them with `spirula_words_free`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaWords {
    /// The words; null if there are none.
    pub data: *mut u32,
    /// Number of words.
    pub count: usize,
}

impl SpirulaText {
    /// No text.
    pub(crate) const NONE: SpirulaText = SpirulaText {
        data: ptr::null_mut(),
        length: 0,
    };

    pub(crate) fn new(text: String) -> SpirulaText {
        let mut bytes = text.into_bytes();
        let length = bytes.len();
        bytes.push(0);
        let data = Box::into_raw(bytes.into_boxed_slice()).cast::<c_char>();
        SpirulaText { data, length }
    }
}

impl SpirulaName {
    pub(crate) fn from_static(text: &'static str) -> SpirulaName {
        SpirulaName {
            data: text.as_ptr().cast(),
            length: text.len(),
        }
    }
}

impl SpirulaWords {
    pub(crate) fn new(words: Vec<u32>) -> SpirulaWords {
        let count = words.len();
        let data = Box::into_raw(words.into_boxed_slice()).cast::<u32>();
        SpirulaWords { data, count }
    }
}

/// Frees a text; a text without data is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_text_free(text: SpirulaText) {
    if !text.data.is_null() {
        let bytes = ptr::slice_from_raw_parts_mut(text.data.cast::<u8>(), text.length + 1);
        // SAFETY: created by `SpirulaText::new`, and by the contract not freed yet.
        drop(unsafe { Box::from_raw(bytes) });
    }
}

/// Frees words; an empty array is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_words_free(words: SpirulaWords) {
    if !words.data.is_null() {
        let words = ptr::slice_from_raw_parts_mut(words.data, words.count);
        // SAFETY: created by `SpirulaWords::new`, and by the contract not freed yet.
        drop(unsafe { Box::from_raw(words) });
    }
}
