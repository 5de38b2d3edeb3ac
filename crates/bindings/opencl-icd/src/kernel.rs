//! Kernels: their parameters and arguments.

use crate::device::ClDevice;
use crate::error::{CallError, CallResult};
use crate::handle::{ObjectHandle, declare_object};
use crate::kernel_facts::KernelFacts;
use crate::memory::ClMemory;
use crate::memory_store::StoreAccess;
use crate::program::ClProgram;
use crate::program_image::ProgramImage;
use crate::sampler::ClSampler;
use crate::scheduler::DeviceScheduler;
use opencl_sys::{
    CL_INVALID_ARG_INDEX, CL_INVALID_KERNEL_ARGS, CL_INVALID_PROGRAM_EXECUTABLE, CL_MEM_READ_ONLY,
};
use spirula_runtime::KernelArgument;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{AccessQualifier, StorageClass};
use spirula_spirv::reflect::{EntryInterface, InterfaceParam, ParamKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A kernel.
pub struct ClKernel {
    pub(crate) handle: ObjectHandle<ClKernel>,
    /// Its program.
    pub program: Arc<ClProgram>,
    /// Its name.
    pub name: String,
    /// The images that it is in, by device of the program.
    pub images: Vec<(usize, Arc<ProgramImage>)>,
    /// Its interface.
    pub interface: EntryInterface,
    /// Its workgroup memory and attributes.
    pub facts: KernelFacts,
    /// Facts of its parameters that callers may ask for.
    pub parameters: Vec<ArgumentSlot>,
    arguments: Mutex<Vec<Option<StoredArgument>>>,
    count: Arc<AtomicUsize>,
}

declare_object!(ClKernel, "kernel", CL_INVALID_KERNEL);

/// Kinds of parameters, as `clSetKernelArg` takes their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A pointer to global or constant memory.
    Buffer,
    /// A pointer to workgroup memory.
    Workgroup,
    /// A value of a given number of bytes.
    Value(u64),
    /// An image.
    Image {
        /// Whether its texels are depths.
        is_depth: bool,
    },
    /// A sampler.
    Sampler,
    /// A pipe.
    Pipe,
    /// A queue on the device.
    Queue,
    /// Another opaque object.
    Other,
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub struct ArgumentSlot {
    /// Its kind.
    pub kind: ParameterKind,
    /// Its name in the source.
    pub name: String,
    /// The name of its type.
    pub type_name: String,
    /// Qualifiers of its type: `const` and so on.
    pub qualifiers: String,
    /// The storage class of what a pointer points to.
    pub class: Option<StorageClass>,
    /// The access of an image or a pipe.
    pub access: Option<AccessQualifier>,
}

/// The value of an argument.
#[derive(Clone)]
pub enum ArgumentValue {
    /// A memory object.
    Memory(Arc<ClMemory>),
    /// A sampler.
    Sampler(Arc<ClSampler>),
    /// An address in shared virtual memory.
    Address(u64),
    /// A null pointer.
    Null,
    /// A given number of bytes of workgroup memory.
    Workgroup(u64),
    /// A value.
    Bytes(Vec<u8>),
}

/// An argument of a kernel, which keeps no memory alive.
///
/// A sampler never changes and is small. Programs release it as soon as it is an argument.
#[derive(Clone)]
enum StoredArgument {
    Memory(Weak<ClMemory>),
    Other(ArgumentValue),
}

impl StoredArgument {
    fn from_value(value: ArgumentValue) -> StoredArgument {
        match value {
            ArgumentValue::Memory(memory) => StoredArgument::Memory(Arc::downgrade(&memory)),
            other => StoredArgument::Other(other),
        }
    }

    /// The value, unless its memory is gone.
    fn to_value(&self) -> Option<ArgumentValue> {
        match self {
            StoredArgument::Memory(memory) => memory.upgrade().map(ArgumentValue::Memory),
            StoredArgument::Other(other) => Some(other.clone()),
        }
    }
}

impl ClKernel {
    /// Invocations of a sub-group of the kernel on a device.
    pub fn subgroup_width(&self, device: &ClDevice) -> usize {
        let own = self.facts.subgroup_size;
        own.unwrap_or(device.info.subgroup_size.max(1)) as usize
    }

    /// Whether the program was built so that workgroups must divide the size of a launch on a device.
    pub fn has_uniform_groups(&self, device: &ClDevice) -> bool {
        let index = self.program.device_index(device);
        index.is_ok_and(|index| self.program.build_of(index).has_uniform_groups)
    }

    /// A kernel of a program that was built.
    ///
    /// # Errors
    /// When no device has it.
    pub fn new(
        handle: ObjectHandle<ClKernel>,
        program: &Arc<ClProgram>,
        name: &str,
    ) -> CallResult<ClKernel> {
        let images = program.executables();
        let (_, first) = images.first().ok_or_else(|| {
            let message = "the program was not built for any device";
            CallError::new(CL_INVALID_PROGRAM_EXECUTABLE, message)
        })?;
        let interface = first.find_interface(name)?;
        let parameters = describe_parameters(first, &interface);
        let arguments = vec![None; parameters.len()];
        program.kernel_count.fetch_add(1, Ordering::AcqRel);
        Ok(ClKernel {
            handle,
            program: program.clone(),
            name: name.to_owned(),
            count: program.kernel_count.clone(),
            facts: KernelFacts::from_image(first, name),
            images,
            interface,
            parameters,
            arguments: Mutex::new(arguments),
        })
    }

    fn lock_arguments(&self) -> MutexGuard<'_, Vec<Option<StoredArgument>>> {
        self.arguments
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the arguments of another object of the same kernel.
    pub fn copy_arguments(&self, other: &ClKernel) {
        let arguments = other.lock_arguments().clone();
        *self.lock_arguments() = arguments;
    }

    /// The parameter at a position.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`.
    pub fn find_parameter(&self, index: u32) -> CallResult<&ArgumentSlot> {
        let found = self.parameters.get(index as usize);
        found.ok_or_else(|| {
            let count = self.parameters.len();
            let message = format!(
                "{} has {count} parameters, none is number {index}",
                self.name
            );
            CallError::new(CL_INVALID_ARG_INDEX, message)
        })
    }

    /// Sets an argument, whose position was checked.
    pub fn set_argument(&self, index: u32, value: ArgumentValue) {
        if let Some(slot) = self.lock_arguments().get_mut(index as usize) {
            *slot = Some(StoredArgument::from_value(value));
        }
    }

    /// The arguments of a launch.
    ///
    /// # Errors
    /// `CL_INVALID_KERNEL_ARGS` where one is not set, or its memory was released.
    pub fn take_arguments(&self) -> CallResult<Vec<ArgumentValue>> {
        let arguments = self.lock_arguments();
        let mut values = Vec::with_capacity(arguments.len());
        for (number, argument) in arguments.iter().enumerate() {
            let value = argument.as_ref().and_then(StoredArgument::to_value);
            let value = value.ok_or_else(|| {
                let message = format!("argument {number} of {} is not set", self.name);
                CallError::new(CL_INVALID_KERNEL_ARGS, message)
            })?;
            values.push(value);
        }
        Ok(values)
    }

    /// Bytes of workgroup memory that it declares, and that its arguments take.
    pub fn workgroup_bytes(&self) -> u64 {
        let arguments = self.lock_arguments();
        let sizes = arguments.iter().flatten().map(|argument| match argument {
            StoredArgument::Other(ArgumentValue::Workgroup(bytes)) => *bytes,
            _ => 0,
        });
        sizes.fold(self.facts.workgroup_bytes, u64::saturating_add)
    }

    /// The image for a device. A sub-device also takes that of the device which it is a part of.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE`.
    pub fn image_for(&self, device: &ClDevice) -> CallResult<&Arc<ProgramImage>> {
        let mut next = Some(device);
        while let Some(device) = next {
            let position = self.program.device_index(device).ok();
            let of_device = |(own, _): &&(usize, Arc<ProgramImage>)| Some(*own) == position;
            if let Some((_, image)) = self.images.iter().find(of_device) {
                return Ok(image);
            }
            next = device.share.as_ref().map(|share| &*share.parent);
        }
        let message = "the program was not built for the device";
        Err(CallError::new(CL_INVALID_PROGRAM_EXECUTABLE, message))
    }
}

impl Drop for ClKernel {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
    }
}

impl ArgumentSlot {
    /// Whether a kernel may write what the argument points to.
    fn access_of(&self, memory: &ClMemory) -> StoreAccess {
        let is_read = self.class == Some(StorageClass::UniformConstant)
            || self.access == Some(AccessQualifier::ReadOnly)
            || memory.flags & CL_MEM_READ_ONLY != 0;
        if is_read {
            StoreAccess::Read
        } else {
            StoreAccess::ReadWrite
        }
    }

    /// The argument of the runtime for a value, which becomes valid on the device.
    ///
    /// # Errors
    /// When a device has no memory for it, or fails.
    pub fn pass_value(
        &self,
        value: &ArgumentValue,
        scheduler: &Arc<DeviceScheduler>,
    ) -> CallResult<KernelArgument> {
        Ok(match value {
            ArgumentValue::Memory(memory) => {
                let resource = memory.store.acquire(scheduler, self.access_of(memory))?;
                match resource {
                    spirula_runtime::ResourceHandle::Buffer(buffer) if memory.offset > 0 => {
                        KernelArgument::Part {
                            buffer,
                            offset: memory.offset,
                        }
                    }
                    resource => KernelArgument::Resource(resource),
                }
            }
            ArgumentValue::Sampler(sampler) => {
                KernelArgument::Resource(sampler.acquire(scheduler)?.into())
            }
            ArgumentValue::Address(address) => KernelArgument::Address(*address),
            ArgumentValue::Null => KernelArgument::Null,
            ArgumentValue::Workgroup(bytes) => KernelArgument::Local(*bytes),
            ArgumentValue::Bytes(bytes) => KernelArgument::Bytes(bytes.clone()),
        })
    }
}

/// Facts of the module about the parameters of a kernel.
fn describe_parameters(image: &ProgramImage, interface: &EntryInterface) -> Vec<ArgumentSlot> {
    let definitions = IdDefinitions::from_module(&image.module);
    let types = image.find_argument_texts("kernel_arg_type", &interface.name);
    let qualifiers = image.find_argument_texts("kernel_arg_type_qual", &interface.name);
    let text = |texts: &[String], number: usize| texts.get(number).cloned().unwrap_or_default();
    let describe = |(number, param): (usize, &InterfaceParam)| {
        let (kind, class, access) = classify_parameter(image, &definitions, &param.kind);
        ArgumentSlot {
            kind,
            class,
            access,
            name: param.name.clone().unwrap_or_default(),
            type_name: text(&types, number),
            qualifiers: text(&qualifiers, number),
        }
    };
    interface.params.iter().enumerate().map(describe).collect()
}

type SlotClass = (ParameterKind, Option<StorageClass>, Option<AccessQualifier>);

fn classify_parameter(
    image: &ProgramImage,
    definitions: &IdDefinitions,
    kind: &ParamKind,
) -> SlotClass {
    match kind {
        ParamKind::Value { size, .. } => (ParameterKind::Value(*size), None, None),
        ParamKind::Buffer { class, .. } => (ParameterKind::Buffer, Some(*class), None),
        ParamKind::Workgroup { .. } => (
            ParameterKind::Workgroup,
            Some(StorageClass::Workgroup),
            None,
        ),
        ParamKind::Opaque { ty } => {
            let Some(definition) = definitions.get(&image.module, *ty) else {
                return (ParameterKind::Other, None, None);
            };
            let operands = definition.operands();
            let access = |at: usize| operands.get(at).map(|word| AccessQualifier(*word));
            match definition.op() {
                Op::TypeImage => {
                    let is_depth = operands.get(2) == Some(&1);
                    (ParameterKind::Image { is_depth }, None, access(7))
                }
                Op::TypeSampler => (ParameterKind::Sampler, None, None),
                Op::TypeQueue => (ParameterKind::Queue, None, None),
                Op::TypePipe => (ParameterKind::Pipe, None, access(0)),
                _ => (ParameterKind::Other, None, None),
            }
        }
    }
}
