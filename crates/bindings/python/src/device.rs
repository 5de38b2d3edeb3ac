//! Devices as objects of Python.

use crate::array::{DeviceArray, PythonArray};
use crate::failure::PythonFailure;
use crate::host_array::HostArray;
use crate::numpy_element::import_numpy;
use crate::open_device::OpenDevice;
use pyo3::prelude::*;
use spirula_runtime::{ComputeDevice, DeviceInfo, DeviceKind, list_devices};
use std::sync::Arc;

/// The variable of the environment that names the default device.
const VARIABLE: &str = "SPIRULA_DEVICE";

/// A device that runs kernels and programs: the processor ("cpu"), or one with a driver ("vulkan:0").
///
/// Without a name it is the device that the environment variable SPIRULA_DEVICE names, or the processor. Raises DeviceError
/// if there is none of the name.
#[pyclass(name = "Device", module = "spirula", frozen)]
pub struct PythonDevice {
    info: DeviceInfo,
}

impl PythonDevice {
    /// The device of a name, or the default one.
    pub fn find(name: Option<&str>) -> Result<PythonDevice, PythonFailure> {
        let named = std::env::var(VARIABLE).ok();
        let name = name.or(named.as_deref()).filter(|name| !name.is_empty());
        let info = ComputeDevice::find_info(name.unwrap_or("cpu"))?;
        Ok(PythonDevice { info })
    }

    /// The object of an open device.
    pub fn from_open(device: &OpenDevice) -> PythonDevice {
        PythonDevice {
            info: device.info.clone(),
        }
    }

    /// Facts of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The device, opened.
    pub fn open(&self) -> Result<Arc<OpenDevice>, PythonFailure> {
        OpenDevice::find_or_open(&self.info.id)
    }
}

/// The device of an argument: a device, its name, or nothing for the default one.
#[derive(FromPyObject)]
pub enum DeviceChoice<'py> {
    Object(Bound<'py, PythonDevice>),
    Name(String),
}

impl PythonDevice {
    /// The chosen device.
    pub fn choose(py: Python<'_>, choice: Option<&DeviceChoice<'_>>) -> PyResult<PythonDevice> {
        let name = match choice {
            Some(DeviceChoice::Object(device)) => {
                let info = device.get().info.clone();
                return Ok(PythonDevice { info });
            }
            Some(DeviceChoice::Name(name)) => Some(name.as_str()),
            None => None,
        };
        Ok(py.detach(|| PythonDevice::find(name))?)
    }
}

#[pymethods]
impl PythonDevice {
    #[new]
    #[pyo3(signature = (name=None))]
    fn new(py: Python<'_>, name: Option<&str>) -> PyResult<PythonDevice> {
        Ok(py.detach(|| PythonDevice::find(name))?)
    }

    /// The name that `Device` takes: "cpu", "cpu+san", "vulkan:0".
    #[getter(name)]
    fn id(&self) -> &str {
        &self.info.id
    }

    /// The name of the hardware.
    #[getter(description)]
    fn hardware_name(&self) -> &str {
        &self.info.name
    }

    /// Name and version of the driver.
    #[getter]
    fn driver(&self) -> &str {
        &self.info.driver
    }

    /// "cpu", "gpu" or "other".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.info.kind {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Gpu => "gpu",
            DeviceKind::Other => "other",
        }
    }

    /// The most bytes of an array.
    #[getter]
    fn max_buffer_size(&self) -> u64 {
        self.info.limits.buffer_size
    }

    /// The most invocations of a workgroup.
    #[getter]
    fn max_workgroup_size(&self) -> u32 {
        self.info.limits.workgroup_invocations
    }

    /// Copies an array to the device.
    ///
    /// `object` is a numpy.ndarray, or anything that numpy.asarray takes, of any shape. `dtype` converts it before.
    /// Raises ArgumentError for a dtype without numbers, and DeviceMemoryError if there is no memory.
    #[pyo3(signature = (object, dtype=None))]
    fn array(
        &self,
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        dtype: Option<Bound<'_, PyAny>>,
    ) -> PyResult<PythonArray> {
        let array = match dtype {
            Some(dtype) => import_numpy(py)?.call_method1("asarray", (object, dtype))?,
            None => object.clone(),
        };
        let array = HostArray::from_object(&array, None)?;
        let uploaded = py.detach(|| DeviceArray::upload(&self.open()?, &array))?;
        Ok(PythonArray::new(uploaded))
    }

    /// An array of zeros with a shape and a dtype, by default of float32.
    #[pyo3(signature = (shape, dtype=None))]
    fn zeros(
        &self,
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        dtype: Option<Bound<'_, PyAny>>,
    ) -> PyResult<PythonArray> {
        let numpy = import_numpy(py)?;
        let zeros = match dtype {
            Some(dtype) => numpy.call_method1("zeros", (shape, dtype))?,
            None => numpy.call_method1("zeros", (shape, "float32"))?,
        };
        self.array(py, &zeros, None)
    }

    fn __repr__(&self) -> String {
        format!("spirula.Device('{}')", self.info.id)
    }

    fn __eq__(&self, other: &PythonDevice) -> bool {
        self.info.id == other.info.id
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.info.id.hash(&mut hasher);
        hasher.finish()
    }
}

/// All devices that are present: the processor first, then those with drivers.
#[pyfunction]
pub fn devices(py: Python<'_>) -> Vec<PythonDevice> {
    let found = py.detach(list_devices);
    found
        .into_iter()
        .map(|info| PythonDevice { info })
        .collect()
}
