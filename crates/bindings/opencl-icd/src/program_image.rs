//! Program images: modules of programs that were built, and their kernels on devices.

use crate::error::{CallError, CallResult};
use crate::scheduler::{DeviceScheduler, RetiredObject};
use opencl_sys::{
    CL_INVALID_BINARY, CL_INVALID_KERNEL_NAME, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
    CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_LIBRARY, cl_program_binary_type,
};
use rustc_hash::FxHashMap;
use spirula_runtime::{KernelHandle, KernelModuleScope};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::reflect::{EntryInterface, entry_points};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The first bytes of a binary of a program.
const BINARY_MAGIC: &[u8; 8] = b"SPRLCL01";

/// A module of a program.
pub struct ProgramImage {
    /// The module.
    pub module: SpirvModule,
    /// `CL_PROGRAM_BINARY_TYPE_…`.
    pub binary_type: cl_program_binary_type,
    /// Values of specialisation constants by their ids.
    pub specialization: Vec<(u32, u64)>,
    /// Keeps the variables apart from those of other programs with the same module.
    scope: KernelModuleScope,
    /// Kernels by the number of their device.
    kernels: Mutex<FxHashMap<usize, DeviceKernels>>,
}

/// The kernels of an image on a device.
struct DeviceKernels {
    scheduler: Weak<DeviceScheduler>,
    by_name: FxHashMap<String, KernelHandle>,
}

impl ProgramImage {
    /// An image of a module.
    pub fn new(
        module: SpirvModule,
        binary_type: cl_program_binary_type,
        specialization: Vec<(u32, u64)>,
    ) -> ProgramImage {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        ProgramImage {
            module,
            binary_type,
            specialization,
            scope: KernelModuleScope(NEXT.fetch_add(1, Ordering::Relaxed)),
            kernels: Mutex::default(),
        }
    }

    /// The names of the kernels, in order.
    pub fn kernel_names(&self) -> Vec<String> {
        let points = entry_points(&self.module).into_iter();
        let kernels = points.filter(|(_, model)| *model == ExecutionModel::Kernel);
        kernels.map(|(name, _)| name).collect()
    }

    /// The interface of a kernel.
    ///
    /// # Errors
    /// `CL_INVALID_KERNEL_NAME`.
    pub fn find_interface(&self, name: &str) -> CallResult<EntryInterface> {
        let found = EntryInterface::from_module(&self.module, name);
        found.map_err(|error| CallError::new(CL_INVALID_KERNEL_NAME, error.to_string()))
    }

    /// The text that Clang and Khronos' translator leave about a kernel's arguments: `kernel_arg_type`, for example.
    pub fn find_argument_texts(&self, kind: &str, kernel: &str) -> Vec<String> {
        let prefix = format!("{kind}.{kernel}.");
        let sources = self.module.section_insts(ModuleSection::Sources);
        let strings = sources.filter(|inst| inst.op() == Op::String);
        let mut texts = strings.map(|inst| inst.string_operand(0));
        let found = texts.find_map(|text| text.strip_prefix(&prefix).map(str::to_owned));
        let found = found.unwrap_or_default();
        let words = found.trim_end_matches(',').split(',');
        words.map(str::to_owned).collect()
    }

    /// A kernel on a device, compiled if it is not yet.
    ///
    /// # Errors
    /// When the device cannot run it.
    pub fn compile_kernel(
        &self,
        scheduler: &Arc<DeviceScheduler>,
        name: &str,
    ) -> CallResult<KernelHandle> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let kernels = kernels
            .entry(scheduler.number())
            .or_insert_with(|| DeviceKernels {
                scheduler: Arc::downgrade(scheduler),
                by_name: FxHashMap::default(),
            });
        if let Some(known) = kernels.by_name.get(name) {
            return Ok(*known);
        }
        let mut device = scheduler.lock_device();
        let (module, constants) = (&self.module, &self.specialization);
        let made = device.create_scoped_kernel(self.scope, module, name, constants)?;
        kernels.by_name.insert(name.to_owned(), made);
        Ok(made)
    }

    /// The image as a binary, which [`ProgramImage::from_binary`] reads.
    pub fn to_binary(&self) -> Vec<u8> {
        let mut bytes = BINARY_MAGIC.to_vec();
        bytes.extend_from_slice(&self.binary_type.to_le_bytes());
        bytes.extend_from_slice(&(self.specialization.len() as u32).to_le_bytes());
        for (id, value) in &self.specialization {
            bytes.extend_from_slice(&id.to_le_bytes());
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes.extend_from_slice(&self.module.to_bytes());
        bytes
    }

    /// Reads a binary, or a module of SPIR-V.
    ///
    /// # Errors
    /// When it is none.
    pub fn from_binary(bytes: &[u8]) -> CallResult<ProgramImage> {
        let Some(rest) = bytes.strip_prefix(BINARY_MAGIC) else {
            return ProgramImage::from_module_bytes(bytes);
        };
        let invalid = || CallError::new(CL_INVALID_BINARY, "the binary is cut off");
        let (binary_type, rest) = rest.split_first_chunk().ok_or_else(invalid)?;
        let (count, mut rest) = rest.split_first_chunk().ok_or_else(invalid)?;
        let mut specialization = Vec::new();
        for _ in 0..u32::from_le_bytes(*count) {
            let (id, after) = rest.split_first_chunk().ok_or_else(invalid)?;
            let (value, after) = after.split_first_chunk().ok_or_else(invalid)?;
            specialization.push((u32::from_le_bytes(*id), u64::from_le_bytes(*value)));
            rest = after;
        }
        let mut image = ProgramImage::from_module_bytes(rest)?;
        image.binary_type = u32::from_le_bytes(*binary_type);
        image.specialization = specialization;
        Ok(image)
    }

    /// Reads a module of SPIR-V: an executable, or an object where it has no kernels.
    ///
    /// # Errors
    /// When it is none.
    pub fn from_module_bytes(bytes: &[u8]) -> CallResult<ProgramImage> {
        let read = SpirvModule::from_bytes(bytes);
        let module = read.map_err(|error| CallError::new(CL_INVALID_BINARY, error.to_string()))?;
        let binary_type = if entry_points(&module).is_empty() {
            CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
        } else {
            CL_PROGRAM_BINARY_TYPE_EXECUTABLE
        };
        Ok(ProgramImage::new(module, binary_type, Vec::new()))
    }

    /// Whether it can be linked with others.
    pub fn is_linkable(&self) -> bool {
        [
            CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
            CL_PROGRAM_BINARY_TYPE_LIBRARY,
        ]
        .contains(&self.binary_type)
    }
}

impl Drop for ProgramImage {
    /// Commands keep the images whose kernels they run.
    fn drop(&mut self) {
        let kernels = self.kernels.get_mut();
        for (_, kernels) in kernels.unwrap_or_else(PoisonError::into_inner).drain() {
            if let Some(scheduler) = kernels.scheduler.upgrade() {
                scheduler.retire_object(RetiredObject::Program(self.scope));
            }
        }
    }
}

/// The image of a module, with the kind that its users asked for.
pub fn share_image(
    module: SpirvModule,
    binary_type: cl_program_binary_type,
    specialization: Vec<(u32, u64)>,
) -> Arc<ProgramImage> {
    Arc::new(ProgramImage::new(module, binary_type, specialization))
}
