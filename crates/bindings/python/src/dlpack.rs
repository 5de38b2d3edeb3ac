//! Arrays for other libraries by DLPack, the interface of the array API.

#![allow(unsafe_code)] // Tensors are structs of C with addresses of elements.

use crate::array::DeviceArray;
use crate::array_view::VisibleElements;
use crate::failure::PythonFailure;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// The device of memory that the process reads, and its number.
const PROCESSOR: (i32, i32) = (1, 0);

/// The version of the structs.
const VERSION: DlpackVersion = DlpackVersion { major: 1, minor: 0 };

/// Nobody may write the elements.
const READ_ONLY: u64 = 1;
/// The elements are a copy.
const IS_COPIED: u64 = 2;

/// Names of capsules that have a tensor, without and with a version.
const PLAIN_NAME: &CStr = c"dltensor";
const VERSIONED_NAME: &CStr = c"dltensor_versioned";

#[repr(C)]
#[derive(Clone, Copy)]
struct DlpackVersion {
    major: u32,
    minor: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DlpackType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DlpackTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    dtype: DlpackType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// A tensor with its owner, without a version.
#[repr(C)]
struct PlainTensor {
    tensor: DlpackTensor,
    owner: *mut c_void,
    delete: Option<unsafe extern "C" fn(*mut PlainTensor)>,
}

/// A tensor with its owner.
#[repr(C)]
struct VersionedTensor {
    version: DlpackVersion,
    owner: *mut c_void,
    delete: Option<unsafe extern "C" fn(*mut VersionedTensor)>,
    flags: u64,
    tensor: DlpackTensor,
}

/// The owner of a tensor's memory.
struct TensorOwner {
    shape: Vec<i64>,
    strides: Vec<i64>,
    /// The array, where the tensor refers to its elements.
    _array: Option<Arc<DeviceArray>>,
    /// The elements, where they are a copy. Words are aligned for all types.
    copy: Vec<u64>,
}

impl TensorOwner {
    /// A tensor, and its owner on the heap.
    fn make_tensor(
        array: &Arc<DeviceArray>,
        dtype: DlpackType,
        elements: Option<usize>,
    ) -> Result<(DlpackTensor, *mut c_void), PythonFailure> {
        let shape: Vec<i64> = array.shape.iter().map(|size| *size as i64).collect();
        let mut strides = vec![1; shape.len()];
        for at in (1..shape.len()).rev() {
            strides[at - 1] = strides[at] * shape[at].max(1);
        }
        let mut copy = Vec::new();
        if elements.is_none() {
            let length = array.byte_count() as usize;
            let mut bytes = vec![0; length];
            array.read(&mut bytes)?;
            copy = bytes
                .chunks(8)
                .map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_ne_bytes(word)
                })
                .collect();
        }
        let mut owner = Box::new(TensorOwner {
            shape,
            strides,
            _array: elements.is_some().then(|| array.clone()),
            copy,
        });
        let tensor = DlpackTensor {
            data: match elements {
                Some(address) => std::ptr::with_exposed_provenance_mut(address),
                None => owner.copy.as_mut_ptr().cast(),
            },
            device_type: PROCESSOR.0,
            device_id: PROCESSOR.1,
            ndim: owner.shape.len() as i32,
            dtype,
            shape: owner.shape.as_mut_ptr(),
            strides: owner.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        Ok((tensor, Box::into_raw(owner).cast()))
    }

    /// Frees an owner.
    ///
    /// # Safety
    /// It came from `make_tensor`, and nobody uses its tensor any more.
    unsafe fn free(owner: *mut c_void) {
        // SAFETY: the caller's.
        unsafe { drop(Box::from_raw(owner.cast::<TensorOwner>())) };
    }
}

unsafe extern "C" fn delete_plain(tensor: *mut PlainTensor) {
    // SAFETY: the user of a tensor deletes it once.
    unsafe {
        let tensor = Box::from_raw(tensor);
        TensorOwner::free(tensor.owner);
    }
}

unsafe extern "C" fn delete_versioned(tensor: *mut VersionedTensor) {
    // SAFETY: the user of a tensor deletes it once.
    unsafe {
        let tensor = Box::from_raw(tensor);
        TensorOwner::free(tensor.owner);
    }
}

/// Ends a capsule: a tensor that nobody has taken out of it is deleted. Users rename a capsule whose tensor they take.
unsafe extern "C" fn end_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls it with a capsule of `make_capsule`.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN_NAME.as_ptr()) == 1 {
            delete_plain(ffi::PyCapsule_GetPointer(capsule, PLAIN_NAME.as_ptr()).cast());
        } else if ffi::PyCapsule_IsValid(capsule, VERSIONED_NAME.as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED_NAME.as_ptr()).cast());
        }
    }
}

/// A capsule with a pointer.
fn make_capsule<'py>(
    py: Python<'py>,
    pointer: *mut c_void,
    name: &'static CStr,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the pointer is not null, and the name lives as long as the process.
    unsafe {
        let capsule = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(end_capsule));
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// The type of an array's elements.
fn find_type(array: &DeviceArray) -> PyResult<DlpackType> {
    let element = array.element;
    let code = match element.dtype_name {
        "bool" => 6,
        "bfloat16" => 4,
        name if !element.is_plain() => {
            let message = format!("views have no {name}: numpy() copies the elements");
            return Err(PyBufferError::new_err(message));
        }
        name if name.starts_with("int") => 0,
        name if name.starts_with("uint") => 1,
        name if name.starts_with("complex") => 5,
        _ => 2,
    };
    Ok(DlpackType {
        code,
        bits: (element.size() * 8) as u8,
        lanes: 1,
    })
}

/// The demands of a consumer of a tensor.
pub struct DlpackRequest {
    /// Whether it names a stream.
    pub has_stream: bool,
    /// The newest version that it supports.
    pub max_version: Option<(u32, u32)>,
    /// The device that it wants the elements on.
    pub device: Option<(i32, i32)>,
    /// Whether the elements have to be a copy, or must not be one.
    pub copy: Option<bool>,
}

/// The kind and the number of the device of an array.
///
/// # Errors
/// When the device has memory of its own.
pub fn find_dlpack_device(array: &DeviceArray) -> PyResult<(i32, i32)> {
    if array.device.is_visible {
        Ok(PROCESSOR)
    } else {
        let message = format!(
            "the elements are in the memory of {}: numpy() copies them",
            array.device.info.id
        );
        Err(PyBufferError::new_err(message))
    }
}

/// A capsule with an array.
///
/// # Errors
/// When the request cannot be met.
pub fn make_dlpack<'py>(
    py: Python<'py>,
    array: &Arc<DeviceArray>,
    request: &DlpackRequest,
) -> PyResult<Bound<'py, PyAny>> {
    if request.has_stream || request.device.is_some_and(|device| device != PROCESSOR) {
        let message = "the elements are on the processor, which has no streams";
        return Err(PyBufferError::new_err(message));
    }
    find_dlpack_device(array)?;
    let dtype = find_type(array)?;
    let newest = request.max_version;
    let is_versioned = newest.is_some_and(|(major, _)| major >= VERSION.major);
    // A tensor without a version cannot say that nobody may write it.
    let is_copied = request.copy == Some(true) || !is_versioned;
    if request.copy == Some(false) && is_copied {
        let message = "without a copy, the consumer has to support version 1.0";
        return Err(PyBufferError::new_err(message));
    }
    let made = py.detach(|| {
        let elements = if is_copied {
            None
        } else {
            match VisibleElements::find(array)? {
                VisibleElements::Address(address) => Some(address),
                VisibleElements::Bits(_) => None,
            }
        };
        let is_copied = elements.is_none();
        let (tensor, owner) = TensorOwner::make_tensor(array, dtype, elements)?;
        Ok::<_, PythonFailure>(RawTensor {
            tensor,
            owner,
            is_copied,
        })
    })?;
    made.into_capsule(py, is_versioned)
}

/// A tensor that no capsule has yet.
struct RawTensor {
    tensor: DlpackTensor,
    owner: *mut c_void,
    is_copied: bool,
}

// SAFETY: the pointers are to memory that the tensor's owner has, and that no thread but the holder uses.
unsafe impl Send for RawTensor {}

impl RawTensor {
    fn into_capsule(self, py: Python<'_>, is_versioned: bool) -> PyResult<Bound<'_, PyAny>> {
        let (tensor, owner) = (self.tensor, self.owner);
        if is_versioned {
            let flags = if self.is_copied { IS_COPIED } else { READ_ONLY };
            let tensor = Box::into_raw(Box::new(VersionedTensor {
                version: VERSION,
                owner,
                delete: Some(delete_versioned),
                flags,
                tensor,
            }));
            return make_capsule(py, tensor.cast(), VERSIONED_NAME);
        }
        let tensor = Box::into_raw(Box::new(PlainTensor {
            tensor,
            owner,
            delete: Some(delete_plain),
        }));
        make_capsule(py, tensor.cast(), PLAIN_NAME)
    }
}
