//! Arrays of NumPy as arguments and results: their elements in dense rows.

#![allow(unsafe_code)] // NumPy's arrays are read and written by address, while other threads of Python run.

use crate::failure::PythonFailure;
use crate::numpy_element::{NumpyElement, import_numpy};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

/// An array of NumPy with its elements as programs store them.
pub struct HostArray {
    pub element: &'static NumpyElement,
    pub shape: Vec<u64>,
    buffer: PyUntypedBuffer,
}

impl HostArray {
    /// The array of an object that NumPy can make an array of. Numbers without a dtype get the wanted type where they fit it.
    ///
    /// # Errors
    /// When NumPy refuses it, or it has another type than wanted.
    pub fn from_object(
        object: &Bound<'_, PyAny>,
        wanted: Option<&'static NumpyElement>,
    ) -> PyResult<HostArray> {
        if let Some(dense) = DenseBuffer::from_array(object)? {
            let shape = dense.buffer.shape().iter().map(|size| *size as u64);
            return Ok(HostArray {
                element: dense.element,
                shape: shape.collect(),
                buffer: dense.buffer,
            });
        }
        let array = match wanted {
            Some(wanted) if !object.hasattr("dtype")? => convert_numbers(object, wanted)?,
            _ => import_numpy(object.py())?.call_method1("asarray", (object,))?,
        };
        let element = NumpyElement::from_dtype(&array.getattr("dtype")?)?;
        HostArray::from_array(&array, element)
    }

    fn from_array(array: &Bound<'_, PyAny>, element: &'static NumpyElement) -> PyResult<HostArray> {
        let numpy = import_numpy(array.py())?;
        let order = pyo3::types::PyDict::new(array.py());
        order.set_item("order", "C")?;
        let dense = numpy.call_method("asarray", (element.to_stored(array)?,), Some(&order))?;
        let is_native: bool = dense.getattr("dtype")?.getattr("isnative")?.extract()?;
        let dense = if is_native {
            dense
        } else {
            dense.call_method1("astype", (element.stored_name(),))?
        };
        let shape = array.getattr("shape")?.extract()?;
        Ok(HostArray {
            element,
            shape,
            buffer: open_buffer(&dense)?,
        })
    }

    /// The bytes of all elements. A thread that changes the array meanwhile makes them meaningless, as in NumPy itself.
    pub fn bytes(&self) -> &[u8] {
        let length = self.buffer.len_bytes();
        if length == 0 {
            return &[];
        }
        // SAFETY: the buffer has that number of bytes, one after the other, and is kept until this array is dropped.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast(), length) }
    }
}

/// The memory of an array whose elements programs have as they are.
struct DenseBuffer {
    element: &'static NumpyElement,
    buffer: PyUntypedBuffer,
}

impl DenseBuffer {
    /// The memory of an array of NumPy in dense rows. Others, and arrays without dimensions, need NumPy's help.
    fn from_array(object: &Bound<'_, PyAny>) -> PyResult<Option<DenseBuffer>> {
        static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = object.py();
        let class = CLASS.get_or_try_init(py, || {
            Ok::<_, PyErr>(import_numpy(py)?.getattr("ndarray")?.unbind())
        });
        if !object.get_type().is(class?.bind(py)) {
            return Ok(None);
        }
        let Ok(buffer) = PyUntypedBuffer::get(object) else {
            return Ok(None);
        };
        let element = NumpyElement::from_format(buffer.format(), buffer.item_size());
        let dense = element.map(|element| DenseBuffer { element, buffer });
        Ok(dense.filter(|dense| dense.buffer.is_c_contiguous()))
    }
}

/// The memory of a dense array. Arrays without dimensions have one, as views need one.
fn open_buffer(dense: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    PyUntypedBuffer::get(&dense.call_method1("reshape", (-1,))?)
}

/// An array of NumPy whose memory a kernel reads and changes.
pub struct MutableHostArray {
    pub element: &'static NumpyElement,
    buffer: PyUntypedBuffer,
}

impl MutableHostArray {
    /// The array of an object with a dtype.
    ///
    /// # Errors
    /// When its elements are not one after the other in the order of the processor.
    pub fn from_object(object: &Bound<'_, PyAny>) -> PyResult<MutableHostArray> {
        if let Some(DenseBuffer { element, buffer }) = DenseBuffer::from_array(object)? {
            return Ok(MutableHostArray { element, buffer });
        }
        let array = import_numpy(object.py())?.call_method1("asarray", (object,))?;
        let dtype = array.getattr("dtype")?;
        let element = NumpyElement::from_dtype(&dtype)?;
        let is_dense: bool = array.getattr("flags")?.getattr("c_contiguous")?.extract()?;
        let is_native: bool = dtype.getattr("isnative")?.extract()?;
        if !is_dense || !is_native {
            let message = "the array is not contiguous, or in another byte order: make a copy";
            return Err(PythonFailure::argument(message).into());
        }
        if element.is_narrow_integer() {
            let message = format!("kernels have no arrays of {}", element.dtype_name);
            return Err(PythonFailure::argument(message).into());
        }
        Ok(MutableHostArray {
            element,
            buffer: open_buffer(&element.to_stored(&array)?)?,
        })
    }

    /// Whether the elements may be changed.
    pub fn is_writable(&self) -> bool {
        !self.buffer.readonly()
    }

    /// The address of the elements, by which two views of the same elements are recognised.
    pub fn address(&self) -> usize {
        self.buffer.buf_ptr() as usize
    }

    /// The bytes of all elements. A thread that changes the array meanwhile makes them meaningless, as in NumPy itself.
    pub fn bytes(&self) -> &[u8] {
        let length = self.buffer.len_bytes();
        if length == 0 {
            return &[];
        }
        // SAFETY: the buffer has that number of bytes, one after the other, and is kept until this array is dropped.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast(), length) }
    }

    /// The same bytes, to be changed; none where the array is read-only.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let length = self.buffer.len_bytes();
        if length == 0 || self.buffer.readonly() {
            return &mut [];
        }
        // SAFETY: as above, and the owner lets the buffer be written.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), length) }
    }
}

/// An array of a type from numbers without a dtype.
fn convert_numbers<'py>(
    object: &Bound<'py, PyAny>,
    wanted: &'static NumpyElement,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let numpy = import_numpy(py)?;
    let dtype = wanted.to_dtype(py)?;
    if wanted.is_plain() {
        let found = numpy.call_method1("asarray", (object,))?.getattr("dtype")?;
        let fits = numpy.call_method1("can_cast", (&found, &dtype, "same_kind"))?;
        let is_integer = found.getattr("kind")?.extract::<&str>()? == "i";
        let takes_integers = matches!(dtype.getattr("kind")?.extract::<&str>()?, "u" | "i");
        if !(fits.is_truthy()? || is_integer && takes_integers) {
            let message = format!("{found} numbers do not convert to {}", wanted.dtype_name);
            return Err(PythonFailure::argument(message).into());
        }
    }
    numpy.call_method1("asarray", (object, dtype))
}

/// A new array of NumPy, whose elements a function writes while other threads may run.
///
/// # Errors
/// When NumPy has no memory for it, or the function fails.
pub fn make_numpy_array<'py>(
    py: Python<'py>,
    element: &'static NumpyElement,
    shape: &[u64],
    write: impl FnOnce(&mut [u8]) -> Result<(), PythonFailure> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = import_numpy(py)?;
    let sizes = PyTuple::new(py, shape)?;
    let array = numpy.call_method1("empty", (sizes, element.stored_name()))?;
    let buffer = open_buffer(&array)?;
    let (address, length) = (buffer.buf_ptr() as usize, buffer.len_bytes());
    if length > 0 {
        py.detach(|| {
            let start = std::ptr::with_exposed_provenance_mut(address);
            // SAFETY: the array has that number of bytes, and no other thread knows it yet.
            write(unsafe { std::slice::from_raw_parts_mut(start, length) })
        })?;
    }
    drop(buffer);
    element.adopt_stored(array)
}
