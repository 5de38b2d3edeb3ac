//! Arrays as memory that other libraries read without a copy: the buffer protocol.

#![allow(unsafe_code)] // Views are structs of C with addresses of elements.

use crate::array::{DeviceArray, PythonArray};
use crate::failure::PythonFailure;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// The elements of an array in the memory of this process.
pub enum VisibleElements {
    /// The address of the first one.
    Address(usize),
    /// The bits of a number that has no memory of its own.
    Bits(u64),
}

impl VisibleElements {
    /// The elements of an array, after all launches so far.
    ///
    /// # Errors
    /// When the device has memory of its own, or fails.
    pub fn find(array: &DeviceArray) -> Result<VisibleElements, PythonFailure> {
        if !array.device.is_visible {
            let message = format!(
                "the elements are in the memory of {}: numpy() copies them",
                array.device.info.id
            );
            return Err(PythonFailure::argument(message));
        }
        let value = array.value()?;
        if let Some(bits) = value.scalar_bits() {
            return Ok(VisibleElements::Bits(bits));
        }
        let mut state = array.device.lock();
        let block = state.heap.resident_block(value);
        let block = block.ok_or_else(|| PythonFailure::argument("the array has no memory"))?;
        let device = state.heap.machine().device();
        device.wait_idle()?;
        let address = usize::try_from(device.buffer_address(block)?);
        let address =
            address.map_err(|_| PythonFailure::argument("the address is out of range"))?;
        Ok(VisibleElements::Address(address))
    }
}

/// The sizes that a view of an array refers to. It lives as long as the view.
struct ViewLayout {
    shape: Vec<isize>,
    strides: Vec<isize>,
    bits: u64,
}

impl ViewLayout {
    fn new(array: &DeviceArray, bits: u64) -> Box<ViewLayout> {
        let mut step = array.element.size() as isize;
        let mut strides = vec![0; array.shape.len()];
        for (stride, size) in strides.iter_mut().zip(&array.shape).rev() {
            *stride = step;
            step *= (*size).max(1) as isize;
        }
        Box::new(ViewLayout {
            shape: array.shape.iter().map(|size| *size as isize).collect(),
            strides,
            bits,
        })
    }
}

/// Fills a view of the elements, which nobody may write.
///
/// # Errors
/// When the elements are not in the memory of this process, or the view is to be written.
///
/// # Safety
/// The view is the caller's, to be filled.
pub unsafe fn fill_view(
    slf: Bound<'_, PythonArray>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    let py = slf.py();
    let array = slf.get().content.clone();
    if flags & ffi::PyBUF_WRITABLE != 0 {
        let message = "views of arrays of a device are read-only";
        return Err(PyBufferError::new_err(message));
    }
    let format = array.element.format.ok_or_else(|| {
        let name = array.element.dtype_name;
        PyBufferError::new_err(format!("views have no {name}: numpy() copies the elements"))
    })?;
    let found = py.detach(|| VisibleElements::find(&array));
    let elements = found
        .map_err(|failure| PyBufferError::new_err(PyErr::from(failure).value(py).to_string()))?;
    let bits = match elements {
        VisibleElements::Bits(bits) => bits,
        VisibleElements::Address(_) => 0,
    };
    let layout = Box::into_raw(ViewLayout::new(&array, bits));
    let wants = |flag: c_int| flags & flag == flag;
    // SAFETY: the view is Python's to be filled. The layout and the array live until `end_view`.
    unsafe {
        (*view).buf = match elements {
            VisibleElements::Address(address) => std::ptr::with_exposed_provenance_mut(address),
            VisibleElements::Bits(_) => (&raw mut (*layout).bits).cast::<c_void>(),
        };
        (*view).len = array.byte_count() as isize;
        (*view).itemsize = array.element.size() as isize;
        (*view).readonly = 1;
        (*view).ndim = array.shape.len() as c_int;
        (*view).format = if wants(ffi::PyBUF_FORMAT) {
            format.as_ptr().cast_mut()
        } else {
            null_mut()
        };
        (*view).shape = if wants(ffi::PyBUF_ND) {
            (*layout).shape.as_mut_ptr()
        } else {
            null_mut()
        };
        (*view).strides = if wants(ffi::PyBUF_STRIDES) {
            (*layout).strides.as_mut_ptr()
        } else {
            null_mut()
        };
        (*view).suboffsets = null_mut();
        (*view).internal = layout.cast();
        (*view).obj = slf.into_any().into_ptr();
    }
    Ok(())
}

/// Ends a view.
///
/// # Safety
/// [`fill_view`] filled it, and it has not ended yet.
pub unsafe fn end_view(view: *mut ffi::Py_buffer) {
    // SAFETY: it came from `Box::into_raw`.
    unsafe { drop(Box::from_raw((*view).internal.cast::<ViewLayout>())) };
}
