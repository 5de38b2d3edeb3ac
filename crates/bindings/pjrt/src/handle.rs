//! Handles: the objects that C refers to, and arrays and texts of C.

use crate::error::{PluginError, PluginResult};
use std::ffi::c_char;
use std::sync::Arc;

/// An object that C refers to by a pointer to an opaque type.
pub trait ApiObject: Sized {
    /// The opaque type.
    type Opaque;
    /// The name in messages.
    const NAME: &'static str;
}

/// Hands an object to C, which frees it.
pub fn allocate<T: ApiObject>(object: T) -> *mut T::Opaque {
    Box::into_raw(Box::new(object)).cast()
}

/// Frees an object that [`allocate`] handed to C; null is allowed.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn free<T: ApiObject>(pointer: *mut T::Opaque) {
    if !pointer.is_null() {
        drop(Box::from_raw(pointer.cast::<T>()));
    }
}

/// The object of a pointer.
///
/// # Errors
/// When there is none.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn get_ref<'a, T: ApiObject>(pointer: *const T::Opaque) -> PluginResult<&'a T> {
    let object = pointer.cast::<T>().as_ref();
    object.ok_or_else(|| PluginError::invalid(format!("there is no {}", T::NAME)))
}

/// The pointer of an object that others own, too.
pub fn as_pointer<T: ApiObject>(object: &T) -> *mut T::Opaque {
    std::ptr::from_ref(object).cast_mut().cast()
}

/// The owner of an object whose pointer came from [`as_pointer`] on the content of an [`Arc`].
///
/// # Errors
/// When there is none.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn get_shared<T: ApiObject>(pointer: *const T::Opaque) -> PluginResult<Arc<T>> {
    let object = get_ref::<T>(pointer)?;
    Arc::increment_strong_count(object);
    Ok(Arc::from_raw(object))
}

/// Pointers to objects that live as long as the list.
#[derive(Debug)]
pub struct PointerList<T>(Vec<*mut T>);

// SAFETY: the pointers are only handed to C; the objects may be used by any thread.
unsafe impl<T> Send for PointerList<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for PointerList<T> {}

impl<T> PointerList<T> {
    /// The pointers of objects.
    pub fn from_objects<'a, O: ApiObject<Opaque = T> + 'a>(
        objects: impl IntoIterator<Item = &'a O>,
    ) -> PointerList<T> {
        PointerList(objects.into_iter().map(as_pointer).collect())
    }

    /// The first pointer.
    pub fn as_ptr(&self) -> *const *mut T {
        self.0.as_ptr()
    }

    /// Number of pointers.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl PointerList<c_char> {
    /// The pointers of texts that live as long as the process.
    pub fn from_texts(texts: impl IntoIterator<Item = &'static str>) -> PointerList<c_char> {
        let pointers = texts
            .into_iter()
            .map(|text| text.as_ptr().cast_mut().cast());
        PointerList(pointers.collect())
    }
}

/// The elements of an array of C; null is an array without elements.
///
/// # Errors
/// When there should be elements, and there is no array.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn get_slice<'a, T>(pointer: *const T, count: usize) -> PluginResult<&'a [T]> {
    match (count, pointer.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(PluginError::invalid("an array is missing")),
        (_, false) => Ok(std::slice::from_raw_parts(pointer, count)),
    }
}

/// A text of C. Bytes that are not UTF-8 are replaced.
///
/// # Errors
/// As [`get_slice`].
///
/// # Safety
/// The contract of the crate.
pub unsafe fn get_text(pointer: *const c_char, size: usize) -> PluginResult<String> {
    let bytes = get_slice(pointer.cast::<u8>(), size)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// The shape of an array.
///
/// # Errors
/// When a size is negative, or as [`get_slice`].
///
/// # Safety
/// The contract of the crate.
pub unsafe fn get_sizes(pointer: *const i64, count: usize) -> PluginResult<Vec<i64>> {
    let sizes = get_slice(pointer, count)?;
    match sizes.iter().find(|size| **size < 0) {
        None => Ok(sizes.to_vec()),
        Some(size) => Err(PluginError::invalid(format!(
            "a dimension has the size {size}"
        ))),
    }
}
