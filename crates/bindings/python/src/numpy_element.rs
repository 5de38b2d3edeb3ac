//! Types of elements: their names in programs and in NumPy, and how they are stored.

use crate::failure::{FailureKind, PythonFailure};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use spirula_program::ScalarType;
use std::ffi::CStr;

/// The package that defines a type in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DefiningPackage {
    NumPy,
    MlDtypes,
}

impl DefiningPackage {
    fn name(self) -> &'static str {
        match self {
            DefiningPackage::NumPy => "numpy",
            DefiningPackage::MlDtypes => "ml_dtypes",
        }
    }
}

/// A type of elements.
#[derive(Debug, PartialEq, Eq)]
pub struct NumpyElement {
    /// The name in StableHLO.
    pub name: &'static str,
    /// The name of the dtype.
    pub dtype_name: &'static str,
    package: DefiningPackage,
    /// The type of a component in programs.
    pub scalar: ScalarType,
    /// Whether programs have it as an integer without a sign.
    pub unsigned: bool,
    /// Number of components: 2 for complex numbers.
    pub components: u64,
    /// The code of the buffer protocol. Types of other packages than NumPy have none.
    pub format: Option<&'static CStr>,
}

/// A type of NumPy.
const fn plain(
    name: &'static str,
    dtype_name: &'static str,
    scalar: ScalarType,
    format: &'static CStr,
) -> NumpyElement {
    NumpyElement {
        name,
        dtype_name,
        package: DefiningPackage::NumPy,
        scalar,
        unsigned: matches!(name.as_bytes(), [b'u', ..]),
        components: if matches!(name.as_bytes(), [b'c', ..]) {
            2
        } else {
            1
        },
        format: Some(format),
    }
}

/// A type of the package `ml_dtypes`.
const fn extended(
    name: &'static str,
    dtype_name: &'static str,
    scalar: ScalarType,
) -> NumpyElement {
    NumpyElement {
        name,
        dtype_name,
        package: DefiningPackage::MlDtypes,
        scalar,
        unsigned: matches!(name.as_bytes(), [b'u', ..]),
        components: 1,
        format: None,
    }
}

/// All types. Elements that are narrower than a byte take one.
static ELEMENTS: &[NumpyElement] = &[
    plain("i1", "bool", ScalarType::Bool, c"?"),
    plain("i8", "int8", ScalarType::I8, c"b"),
    plain("i16", "int16", ScalarType::I16, c"h"),
    plain("i32", "int32", ScalarType::I32, c"i"),
    plain("i64", "int64", ScalarType::I64, c"q"),
    plain("ui8", "uint8", ScalarType::I8, c"B"),
    plain("ui16", "uint16", ScalarType::I16, c"H"),
    plain("ui32", "uint32", ScalarType::I32, c"I"),
    plain("ui64", "uint64", ScalarType::I64, c"Q"),
    plain("f16", "float16", ScalarType::F16, c"e"),
    plain("f32", "float32", ScalarType::F32, c"f"),
    plain("f64", "float64", ScalarType::F64, c"d"),
    plain("complex<f32>", "complex64", ScalarType::F32, c"Zf"),
    plain("complex<f64>", "complex128", ScalarType::F64, c"Zd"),
    extended("bf16", "bfloat16", ScalarType::I16),
    extended("i2", "int2", ScalarType::I8),
    extended("i4", "int4", ScalarType::I8),
    extended("ui2", "uint2", ScalarType::I8),
    extended("ui4", "uint4", ScalarType::I8),
    extended("f8E5M2", "float8_e5m2", ScalarType::I8),
    extended("f8E4M3", "float8_e4m3", ScalarType::I8),
    extended("f8E4M3FN", "float8_e4m3fn", ScalarType::I8),
    extended("f8E4M3B11FNUZ", "float8_e4m3b11fnuz", ScalarType::I8),
    extended("f8E5M2FNUZ", "float8_e5m2fnuz", ScalarType::I8),
    extended("f8E4M3FNUZ", "float8_e4m3fnuz", ScalarType::I8),
    extended("f8E3M4", "float8_e3m4", ScalarType::I8),
    extended("f8E8M0FNU", "float8_e8m0fnu", ScalarType::I8),
    extended("f6E2M3FN", "float6_e2m3fn", ScalarType::I8),
    extended("f6E3M2FN", "float6_e3m2fn", ScalarType::I8),
    extended("f4E2M1FN", "float4_e2m1fn", ScalarType::I8),
];

/// The module `numpy`.
///
/// # Errors
/// When it is not installed.
pub fn import_numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static NUMPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = NUMPY.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("numpy")?.into_any().unbind())
    });
    Ok(found?.bind(py))
}

impl NumpyElement {
    /// The type of a name in StableHLO.
    pub fn from_name(name: &str) -> Option<&'static NumpyElement> {
        ELEMENTS.iter().find(|element| element.name == name)
    }

    /// The type of a scalar of programs.
    pub fn from_scalar(scalar: ScalarType, unsigned: bool) -> Option<&'static NumpyElement> {
        let is_same = |element: &&NumpyElement| {
            let is_integer = element.dtype_name.contains("int");
            element.package == DefiningPackage::NumPy
                && element.components == 1
                && element.scalar == scalar
                && (element.unsigned == unsigned || !is_integer)
        };
        ELEMENTS.iter().find(is_same)
    }

    /// The type of a code of the buffer protocol, with the size of an element. Another byte order has no type.
    pub fn from_format(format: &CStr, size: usize) -> Option<&'static NumpyElement> {
        // The sizes of C's types differ between systems.
        let format = match (format.to_bytes(), size) {
            (b"l", 4) => c"i",
            (b"l", _) => c"q",
            (b"L", 4) => c"I",
            (b"L", _) => c"Q",
            _ => format,
        };
        let mut elements = ELEMENTS.iter();
        elements.find(|element| element.format == Some(format) && element.size() == size as u64)
    }

    /// The type of a dtype of NumPy.
    ///
    /// # Errors
    /// When arrays have no such elements.
    pub fn from_dtype(dtype: &Bound<'_, PyAny>) -> PyResult<&'static NumpyElement> {
        let name: String = dtype.getattr("name")?.extract()?;
        let found = ELEMENTS.iter().find(|element| element.dtype_name == name);
        found.ok_or_else(|| {
            let message = format!("arrays of {name} are not supported");
            PythonFailure::new(FailureKind::Argument, message).into()
        })
    }

    /// The dtype.
    ///
    /// # Errors
    /// When its package is not installed.
    pub fn to_dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = import_numpy(py)?;
        let package = match py.import(self.package.name()) {
            Ok(package) => package,
            Err(error) => {
                let message = format!(
                    "{} is a type of the package {}, which cannot be imported: {}",
                    self.dtype_name,
                    self.package.name(),
                    error.value(py)
                );
                return Err(PythonFailure::new(FailureKind::Argument, message).into());
            }
        };
        let name = match self.dtype_name {
            "bool" => "bool_",
            name => name,
        };
        numpy.call_method1("dtype", (package.getattr(name)?,))
    }

    /// Whether an element takes fewer bits than its byte, which then has its value as an integer.
    pub fn is_narrow_integer(&self) -> bool {
        self.package == DefiningPackage::MlDtypes && self.dtype_name.contains("int")
    }

    /// The array of NumPy that has the elements as they are stored in programs.
    ///
    /// # Errors
    /// When NumPy refuses it.
    pub fn to_stored<'py>(&self, array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match (self.package, self.is_narrow_integer()) {
            (DefiningPackage::NumPy, _) => Ok(array.clone()),
            (_, true) => array.call_method1("astype", (self.stored_name(),)),
            (_, false) => array.call_method1("view", (self.stored_name(),)),
        }
    }

    /// The array with elements of this type, from those that programs store.
    ///
    /// # Errors
    /// When NumPy refuses it.
    pub fn adopt_stored<'py>(&self, array: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        match (self.package, self.is_narrow_integer()) {
            (DefiningPackage::NumPy, _) => Ok(array),
            (_, true) => array.call_method1("astype", (self.to_dtype(py)?,)),
            (_, false) => array.call_method1("view", (self.to_dtype(py)?,)),
        }
    }

    /// The name of the dtype that programs store.
    pub fn stored_name(&self) -> &'static str {
        match self.package {
            DefiningPackage::NumPy => self.dtype_name,
            DefiningPackage::MlDtypes if self.scalar == ScalarType::I16 => "uint16",
            DefiningPackage::MlDtypes if self.is_narrow_integer() && !self.unsigned => "int8",
            DefiningPackage::MlDtypes => "uint8",
        }
    }

    /// Bytes of an element.
    pub fn size(&self) -> u64 {
        self.scalar.size() * self.components
    }

    /// Whether Python converts numbers to this type by NumPy's own rules.
    pub fn is_plain(&self) -> bool {
        self.package == DefiningPackage::NumPy
    }

    /// The sizes of an array as programs have them: complex numbers have a last dimension for their components.
    pub fn program_sizes(&self, shape: &[u64]) -> Vec<u64> {
        let pair = (self.components > 1).then_some(self.components);
        shape.iter().copied().chain(pair).collect()
    }
}
