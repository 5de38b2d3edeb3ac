//! Arrays that stay on a device.

#![allow(unsafe_code)] // Python passes views to be filled.

use crate::array_view::{end_view, fill_view};
use crate::device::PythonDevice;
use crate::dlpack::{DlpackRequest, find_dlpack_device, make_dlpack};
use crate::failure::PythonFailure;
use crate::host_array::{HostArray, make_numpy_array};
use crate::numpy_element::{NumpyElement, import_numpy};
use crate::open_device::{OpenDevice, ReleasedObject};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use spirula_program::ResidentValue;
use std::ffi::c_int;
use std::sync::Arc;

/// The content of an array: its memory, which is released with its last owner.
pub struct DeviceArray {
    pub device: Arc<OpenDevice>,
    pub element: &'static NumpyElement,
    pub shape: Vec<u64>,
    /// There until the array is dropped.
    value: Option<ResidentValue>,
}

impl Drop for DeviceArray {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            self.device.release(ReleasedObject::Value(value));
        }
    }
}

impl DeviceArray {
    /// An array with a value of a device.
    pub fn new(
        device: &Arc<OpenDevice>,
        element: &'static NumpyElement,
        shape: Vec<u64>,
        value: ResidentValue,
    ) -> DeviceArray {
        DeviceArray {
            device: device.clone(),
            element,
            shape,
            value: Some(value),
        }
    }

    /// Copies an array to a device.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn upload(
        device: &Arc<OpenDevice>,
        array: &HostArray,
    ) -> Result<DeviceArray, PythonFailure> {
        let element = array.element;
        let sizes = element.program_sizes(&array.shape);
        let mut state = device.lock();
        let uploaded =
            state
                .heap
                .upload_array(element.scalar, element.unsigned, sizes, array.bytes());
        Ok(DeviceArray::new(
            device,
            element,
            array.shape.clone(),
            uploaded?,
        ))
    }

    /// The value on the device.
    ///
    /// # Errors
    /// Never before the array is dropped.
    pub fn value(&self) -> Result<&ResidentValue, PythonFailure> {
        let value = self.value.as_ref();
        value.ok_or_else(|| PythonFailure::argument("the array was dropped"))
    }

    /// Copies all elements to the host.
    ///
    /// # Errors
    /// When the device fails.
    pub fn read(&self, out: &mut [u8]) -> Result<(), PythonFailure> {
        let mut state = self.device.lock();
        Ok(state.heap.read_resident(self.value()?, 0, out)?)
    }

    /// The number of elements.
    pub fn element_count(&self) -> u64 {
        self.shape.iter().product()
    }

    /// The number of bytes of all elements.
    pub fn byte_count(&self) -> u64 {
        self.element_count() * self.element.size()
    }
}

/// An array on a device. Its elements stay there until `numpy()`, or another library that asks for them.
///
/// `Device.array` and calls of programs make arrays.
#[pyclass(name = "Array", module = "spirula", frozen)]
pub struct PythonArray {
    pub content: Arc<DeviceArray>,
}

impl PythonArray {
    /// The array of a content.
    pub fn new(content: DeviceArray) -> PythonArray {
        PythonArray {
            content: Arc::new(content),
        }
    }
}

#[pymethods]
impl PythonArray {
    /// Sizes of the dimensions: a tuple of int.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.content.shape)
    }

    /// Type of the elements: a numpy.dtype.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.content.element.to_dtype(py)
    }

    /// The device that has the elements.
    #[getter]
    fn device(&self) -> PythonDevice {
        PythonDevice::from_open(&self.content.device)
    }

    /// Number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.content.shape.len()
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> u64 {
        self.content.element_count()
    }

    /// Bytes of all elements on the device.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.content.byte_count()
    }

    /// Copies the elements to a new numpy.ndarray of the same shape and dtype.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let content = &*self.content;
        make_numpy_array(py, content.element, &content.shape, |out| content.read(out))
    }

    /// The only element as a number of Python.
    ///
    /// Raises ValueError if there is not exactly one.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.numpy(py)?.call_method0("item")
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            let message = "the elements are on a device, and have to be copied";
            return Err(pyo3::exceptions::PyValueError::new_err(message));
        }
        let array = self.numpy(py)?;
        match dtype {
            Some(dtype) => import_numpy(py)?.call_method1("asarray", (array, dtype)),
            None => Ok(array),
        }
    }

    fn __len__(&self) -> PyResult<usize> {
        let first = self.content.shape.first();
        let first = first.ok_or_else(|| {
            let message = "len() of an array without dimensions";
            pyo3::exceptions::PyTypeError::new_err(message)
        });
        Ok(usize::try_from(*first?)?)
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.item(py)?.call_method0("__float__")
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.item(py)?.call_method0("__int__")
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.item(py)?.is_truthy()
    }

    /// Fills a view of the elements, which nobody may write.
    ///
    /// # Safety
    /// Python gives a view to be filled.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python's contract.
        unsafe { fill_view(slf, view, flags) }
    }

    /// Ends a view.
    ///
    /// # Safety
    /// Python gives a view that `__getbuffer__` filled, once.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: Python's contract.
        unsafe { end_view(view) };
    }

    /// The kind and the number of the device for DLPack: (1, 0), the processor. Raises BufferError for a device with memory
    /// of its own.
    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        find_dlpack_device(&self.content)
    }

    /// A capsule of DLPack. Since version 1.0 it refers to the elements, which nobody may write; before, it has a copy.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = DlpackRequest {
            has_stream: stream.is_some(),
            max_version,
            device: dl_device,
            copy,
        };
        make_dlpack(py, &self.content, &request)
    }

    fn __repr__(&self) -> String {
        let content = &*self.content;
        let sizes: Vec<String> = content.shape.iter().map(u64::to_string).collect();
        let (dtype, device) = (content.element.dtype_name, &content.device.info.id);
        format!(
            "<spirula.Array shape=({}) dtype={dtype} device={device}>",
            sizes.join(", ")
        )
    }
}
