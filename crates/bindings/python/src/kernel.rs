//! Kernels and shaders that were compiled for a device, and their launches.

use crate::call_arguments::order_arguments;
use crate::device::{DeviceChoice, PythonDevice};
use crate::failure::PythonFailure;
use crate::kernel_values::{KernelParameter, KernelValue, encode_value, list_parameters};
use crate::launch_size::{LaunchSizes, SizeArgument};
use crate::module::PythonModule;
use crate::open_device::{OpenDevice, ReleasedObject};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use spirula_runtime::type_names::{TypeNames, ValueElements};
use spirula_runtime::{
    BufferHandle, ComputeDevice, DeviceError, IndexSpace, KernelArgument, KernelHandle,
    KernelLaunch, LaunchBinding, LaunchInputs,
};
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{EntryDetails, EntryInterface, entry_points, spec_constants};
use std::collections::HashMap;
use std::sync::Arc;

/// An entry point that was compiled for a device.
///
/// A call launches it and waits for its end: `kernel(size, *args, local=None, groups=None, offset=None, push=None)`.
///
/// `size` is the number of invocations, an int or a tuple of up to three. `local` is the size of a
/// workgroup, which the device chooses otherwise. `offset` is added to the ids of a kernel. Shaders
/// have workgroups of their own, of which `size` is a multiple. With a size of None, `groups` is
/// the number of workgroups. `args` are the arguments of a kernel in order, or the resources of a
/// shader by set and binding. Those with names may be given by name. A buffer is a numpy.ndarray,
/// contiguous and of the dtype of the elements, which is changed in place unless it is read-only.
/// It may also be an `Array` on the device, which is changed there. An int is an address that the
/// device can access; the processor accesses all memory of the process, and a wrong address may
/// destroy it. A value is a number, an array of numbers, or bytes. Workgroup memory is a
/// `LocalMemory`. `push` are the push constants of a shader: a sequence with a value for each
/// member, or bytes.
///
/// Raises ArgumentError for arguments that do not fit, FaultError if the sanitizer finds a fault, and DeviceError if the
/// device fails.
#[pyclass(name = "Kernel", module = "spirula", frozen)]
pub struct PythonKernel {
    interface: EntryInterface,
    parameters: Vec<KernelParameter>,
    push_members: Vec<PushMember>,
    device: Arc<OpenDevice>,
    handle: KernelHandle,
}

/// A member of the push constants.
struct PushMember {
    offset: u64,
    size: u64,
    elements: Option<ValueElements>,
    type_name: String,
}

impl Drop for PythonKernel {
    fn drop(&mut self) {
        self.device.release(ReleasedObject::Kernel(self.handle));
    }
}

impl PythonKernel {
    /// Compiles an entry point of a module.
    pub fn create(
        py: Python<'_>,
        module: &PythonModule,
        name: Option<String>,
        device: Option<&DeviceChoice<'_>>,
        constants: HashMap<u32, Bound<'_, PyAny>>,
    ) -> PyResult<PythonKernel> {
        let device = PythonDevice::choose(py, device)?;
        let name = choose_entry(&module.module, name)?;
        let constants = encode_constants(&module.module, constants)?;
        let source = &module.source;
        let created = py.detach(|| {
            let split = spirula::split_rare_types(module.module.clone());
            let split = split.map_err(|error| PythonFailure::from_compilation(error, source))?;
            let refuse = |error| PythonFailure::from_module_refusal(error, source);
            let to_refusal = |fault| refuse(DeviceError::Module(Box::new(fault)));
            let interface = EntryInterface::from_module(&split, &name).map_err(to_refusal)?;
            let types = TypeNames::from_module(&split);
            let details = EntryDetails::from_module(&split, &name).map_err(to_refusal)?;
            let device = device.open()?;
            let mut state = device.lock();
            let opened = state.heap.machine().device();
            let handle = opened.create_kernel(&split, &name, &constants);
            let handle = handle.map_err(refuse)?;
            drop(state);
            let members = details.push_constants.iter().map(|member| PushMember {
                offset: member.offset,
                size: member.size,
                elements: types.parse_value_type(member.ty),
                type_name: types.format_type(member.ty),
            });
            Ok::<_, PythonFailure>(PythonKernel {
                parameters: list_parameters(&interface, &types),
                push_members: members.collect(),
                interface,
                device,
                handle,
            })
        });
        Ok(created?)
    }

    /// Binds arguments by position, and by name.
    fn bind_values(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<KernelValue>> {
        let parameters = self.parameters.iter();
        let names: Vec<Option<&str>> = parameters.map(|p| p.name.as_deref()).collect();
        let objects = order_arguments(&self.interface.name, &names, args, kwargs)?;
        let values = objects.iter().zip(&self.parameters).enumerate();
        values
            .map(|(number, (object, parameter))| parameter.bind_value(number, object))
            .collect()
    }

    /// The bytes of push constants.
    fn encode_push(&self, push: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
        let Some(push) = push else {
            return Ok(Vec::new());
        };
        if let Ok(bytes) = push.cast::<PyBytes>() {
            return Ok(bytes.as_bytes().to_vec());
        }
        let values: Vec<Bound<'_, PyAny>> = push.extract()?;
        if values.len() != self.push_members.len() {
            let (takes, given) = (self.push_members.len(), values.len());
            let message = format!("there are {takes} push constants, {given} are given");
            return Err(PythonFailure::argument(message).into());
        }
        let mut bytes = vec![0; self.interface.push_constant_bytes as usize];
        for (value, member) in values.iter().zip(&self.push_members) {
            let encoded = encode_value(value, member.elements, member.size, &member.type_name)?;
            let start = member.offset as usize;
            let place = bytes.get_mut(start..start.saturating_add(encoded.len()));
            let place = place.ok_or_else(|| {
                PythonFailure::argument("a push constant is beyond the end of its block")
            })?;
            place.copy_from_slice(&encoded);
        }
        Ok(bytes)
    }
}

/// The requested entry point, or the only one.
fn choose_entry(module: &SpirvModule, asked: Option<String>) -> Result<String, PythonFailure> {
    let names = entry_points(module).into_iter().map(|(name, _)| name);
    let mut names: Vec<String> = names.collect();
    let listed = names.join(", ");
    match asked {
        Some(name) if names.contains(&name) => Ok(name),
        Some(name) => {
            let message = format!("the module has no entry point {name}; it has: {listed}");
            Err(PythonFailure::argument(message))
        }
        None if names.len() == 1 => Ok(names.remove(0)),
        None => {
            let message = format!("choose one entry point of the module: {listed}");
            Err(PythonFailure::argument(message))
        }
    }
}

/// The bits of specialisation constants.
fn encode_constants(
    module: &SpirvModule,
    constants: HashMap<u32, Bound<'_, PyAny>>,
) -> PyResult<Vec<(u32, u64)>> {
    let definitions = IdDefinitions::from_module(module);
    let known = spec_constants(module, &definitions, &IdDecorations::from_module(module));
    let types = TypeNames::from_module(module);
    let mut encoded = Vec::new();
    for (id, value) in constants {
        let constant = known.iter().find(|constant| constant.spec_id == id);
        let elements = constant.and_then(|constant| types.parse_value_type(constant.ty));
        let elements = elements.ok_or_else(|| {
            let ids: Vec<String> = known.iter().map(|c| c.spec_id.to_string()).collect();
            let ids = ids.join(", ");
            let message = format!("there is no specialisation constant {id}; there are: {ids}");
            PythonFailure::argument(message)
        })?;
        let size = elements.element.size() as u64;
        let bytes = encode_value(&value, Some(elements), size, elements.element.name())?;
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(&bytes);
        encoded.push((id, u64::from_le_bytes(word)));
    }
    Ok(encoded)
}

/// A launch with its values.
struct ValueLaunch<'a> {
    kernel: &'a PythonKernel,
    size: IndexSpace,
    push: Vec<u8>,
    values: Vec<KernelValue>,
}

/// The buffer of a value.
struct ValueBuffer {
    handle: BufferHandle,
    /// The value whose elements were uploaded to it; none for an array on the device.
    uploaded: Option<usize>,
}

impl ValueLaunch<'_> {
    /// Launches the kernel, waits for its end, and returns its output. Arrays of the host are uploaded before, and read back
    /// afterwards.
    fn run(mut self) -> Result<Vec<u8>, PythonFailure> {
        let mut state = self.kernel.device.lock();
        let mut buffers: Vec<Option<ValueBuffer>> = Vec::new();
        let mut prepared = Ok(());
        for number in 0..self.values.len() {
            let resident = match &self.values[number] {
                KernelValue::Device(array) => {
                    let block = state.heap.resident_block(array.value()?);
                    block.ok_or_else(|| PythonFailure::argument("the number has no memory"))
                }
                _ => Err(PythonFailure::argument("no array on the device")),
            };
            let made = self.make_buffer(number, &buffers, resident, state.heap.machine().device());
            match made {
                Ok(buffer) => buffers.push(buffer),
                Err(failure) => {
                    prepared = Err(failure);
                    break;
                }
            }
        }
        let device = state.heap.machine().device();
        let outcome = prepared.and_then(|()| {
            let launch = KernelLaunch {
                kernel: self.kernel.handle,
                size: self.size,
                inputs: self.make_inputs(&buffers),
            };
            device.launch_kernel(&launch)?;
            device.wait_idle()?;
            self.read_buffers(&buffers, device)
        });
        for (number, buffer) in buffers.iter().enumerate() {
            if let Some(buffer) = buffer
                && buffer.uploaded == Some(number)
            {
                device.destroy_buffer(buffer.handle)?;
            }
        }
        outcome.map(|()| device.take_printed())
    }

    /// The buffer of a value. Views of the same elements share one.
    fn make_buffer(
        &self,
        number: usize,
        buffers: &[Option<ValueBuffer>],
        resident: Result<BufferHandle, PythonFailure>,
        device: &mut ComputeDevice,
    ) -> Result<Option<ValueBuffer>, PythonFailure> {
        let array = match &self.values[number] {
            KernelValue::Bytes(_) | KernelValue::Local(_) | KernelValue::Address(_) => {
                return Ok(None);
            }
            KernelValue::Device(_) => {
                return Ok(Some(ValueBuffer {
                    handle: resident?,
                    uploaded: None,
                }));
            }
            KernelValue::Host(array) => array,
        };
        let is_same = |other: &KernelValue| match other {
            KernelValue::Host(other) => {
                other.address() == array.address() && other.bytes().len() == array.bytes().len()
            }
            _ => false,
        };
        let same = self.values[..number].iter().position(is_same);
        if let Some(buffer) = same.and_then(|same| buffers.get(same)?.as_ref()) {
            return Ok(Some(ValueBuffer {
                handle: buffer.handle,
                uploaded: buffer.uploaded,
            }));
        }
        Ok(Some(ValueBuffer {
            handle: device.upload_data(array.bytes())?,
            uploaded: Some(number),
        }))
    }

    /// The inputs of the launch.
    fn make_inputs(&self, buffers: &[Option<ValueBuffer>]) -> LaunchInputs {
        let values = self.values.iter().zip(buffers);
        if self.kernel.interface.takes_arguments() {
            let arguments = values.map(|(value, buffer)| match (value, buffer) {
                (_, Some(buffer)) => KernelArgument::from(buffer.handle),
                (KernelValue::Local(bytes), _) => KernelArgument::Local(*bytes),
                (KernelValue::Address(address), _) => KernelArgument::Address(*address),
                (KernelValue::Bytes(bytes), _) => KernelArgument::Bytes(bytes.clone()),
                (KernelValue::Host(_) | KernelValue::Device(_), None) => {
                    KernelArgument::Bytes(Vec::new())
                }
            });
            return LaunchInputs::Arguments(arguments.collect());
        }
        let bindings = buffers.iter().zip(&self.kernel.parameters);
        let bindings = bindings.filter_map(|(buffer, parameter)| {
            let (set, binding, index) = parameter.place?;
            Some(LaunchBinding {
                set,
                binding,
                index,
                resource: buffer.as_ref()?.handle.into(),
                region: None,
            })
        });
        LaunchInputs::Resources {
            bindings: bindings.collect(),
            push: self.push.clone(),
        }
    }

    /// Copies the elements of buffers back to the host.
    fn read_buffers(
        &mut self,
        buffers: &[Option<ValueBuffer>],
        device: &mut ComputeDevice,
    ) -> Result<(), PythonFailure> {
        let values = self.values.iter_mut().zip(buffers).enumerate();
        for (number, (value, buffer)) in values {
            let (KernelValue::Host(array), Some(buffer)) = (value, buffer) else {
                continue;
            };
            let is_read_only = self.kernel.parameters[number].is_read_only;
            if buffer.uploaded == Some(number) && array.is_writable() && !is_read_only {
                device.read_buffer(buffer.handle, 0, array.bytes_mut())?;
            }
        }
        Ok(())
    }
}

#[pymethods]
impl PythonKernel {
    /// The name of the entry point.
    #[getter]
    fn name(&self) -> &str {
        &self.interface.name
    }

    /// The device that the kernel was compiled for.
    #[getter]
    fn device(&self) -> PythonDevice {
        PythonDevice::from_open(&self.device)
    }

    #[pyo3(signature = (size, *args, local=None, groups=None, offset=None, push=None, **kwargs))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the parameters of a call in Python"
    )]
    fn __call__(
        &self,
        py: Python<'_>,
        size: Option<SizeArgument>,
        args: &Bound<'_, PyTuple>,
        local: Option<SizeArgument>,
        groups: Option<SizeArgument>,
        offset: Option<SizeArgument>,
        push: Option<Bound<'_, PyAny>>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let sizes = LaunchSizes {
            global: size,
            groups,
            local,
            offset,
        };
        let launch = ValueLaunch {
            kernel: self,
            size: sizes.to_index_space(&self.interface)?,
            push: self.encode_push(push.as_ref())?,
            values: self.bind_values(args, kwargs)?,
        };
        for value in &launch.values {
            if let KernelValue::Device(array) = value
                && !Arc::ptr_eq(&array.device, &self.device)
            {
                let message = format!(
                    "an array is on {}, not on the kernel's device",
                    array.device.info.id
                );
                return Err(PythonFailure::argument(message).into());
            }
        }
        let printed = py.detach(|| launch.run())?;
        if !printed.is_empty() {
            let stream = py.import("sys")?.getattr("stdout")?;
            stream.call_method1("write", (String::from_utf8_lossy(&printed),))?;
        }
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!(
            "<spirula.Kernel {} on {}>",
            self.interface.name, self.device.info.id
        )
    }
}
