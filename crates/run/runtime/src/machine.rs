//! Program execution: a device as the machine that runs whole programs.

use crate::{
    BufferHandle, ComputeDevice, DeviceError, DeviceKind, IndexSpace, KernelHandle, KernelLaunch,
    LaunchBinding, LaunchInputs,
};
use spirula_cpu::CpuMode;
use spirula_program::{
    BlockRead, KernelMachine, LaunchRequest, OwnedOrLent, ProgramParameter, SizeClass,
};
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::spec_constants;
use std::collections::HashMap;

/// Bytes of workgroup memory that kernels reserve for themselves.
const RESERVED: u64 = 16;

/// A device that runs programs, with the kernels compiled so far.
///
/// Kernels are compiled when they are first launched with a set of specialisation values.
pub struct DeviceMachine<'d> {
    device: OwnedOrLent<'d, ComputeDevice>,
    /// For each program and each of its kernels, the compiled kernels.
    kernels: Vec<Vec<Vec<SpecialisedKernel>>>,
    /// Lists of a launch, which the next one reuses.
    bindings: Vec<LaunchBinding>,
    push: Vec<u8>,
    sizes: HashMap<String, u64>,
}

/// A kernel that was compiled with values of its specialisation constants.
#[derive(Clone)]
struct SpecialisedKernel {
    constants: Vec<u64>,
    kernel: KernelHandle,
}

impl<'d> DeviceMachine<'d> {
    /// A machine on a device that is lent to it.
    pub fn new(device: &'d mut ComputeDevice) -> Self {
        DeviceMachine::with_device(OwnedOrLent::Lent(device))
    }

    /// A machine that owns its device.
    pub fn from_device(device: ComputeDevice) -> DeviceMachine<'static> {
        DeviceMachine::with_device(OwnedOrLent::Owned(Box::new(device)))
    }

    fn with_device(device: OwnedOrLent<'d, ComputeDevice>) -> Self {
        DeviceMachine {
            device,
            kernels: Vec::new(),
            bindings: Vec::new(),
            push: Vec::new(),
            sizes: HashMap::new(),
        }
    }

    /// The device.
    pub fn device(&mut self) -> &mut ComputeDevice {
        &mut self.device
    }

    /// Sets a tuning parameter by its name, or all parameters of a class by the name of the class.
    pub fn set_parameter(&mut self, name: &str, value: u64) {
        self.sizes.insert(name.to_owned(), value);
    }

    fn find_or_create_kernel(
        &mut self,
        request: &LaunchRequest<'_, BufferHandle>,
    ) -> Result<KernelHandle, DeviceError> {
        let program = self.kernels.get(request.program);
        let mut known = program
            .and_then(|kernels| kernels.get(request.kernel))
            .into_iter()
            .flatten();
        if let Some(known) = known.find(|known| known.constants == request.constants) {
            return Ok(known.kernel);
        }
        // A driver may lack explicit layouts, or fail to compile them.
        let laid_out = request
            .laid_out
            .and_then(|module| self.create_kernel(module, request).ok());
        let made = match laid_out {
            Some(made) => made,
            None => self
                .create_kernel(request.module, request)
                .map_err(|e| blame_kernel(e, request))?,
        };
        if self.kernels.len() <= request.program {
            self.kernels.resize(request.program + 1, Vec::new());
        }
        let program = &mut self.kernels[request.program];
        if program.len() <= request.kernel {
            program.resize(request.kernel + 1, Vec::new());
        }
        program[request.kernel].push(SpecialisedKernel {
            constants: request.constants.to_vec(),
            kernel: made,
        });
        Ok(made)
    }

    /// The kernel of a module.
    fn create_kernel(
        &mut self,
        module: &SpirvModule,
        request: &LaunchRequest<'_, BufferHandle>,
    ) -> Result<KernelHandle, DeviceError> {
        let definitions = IdDefinitions::from_module(module);
        let used = spec_constants(module, &definitions, &IdDecorations::from_module(module));
        // Constants that a kernel does not use may have been optimised away.
        let value = |id: u32| Some((id, *request.constants.get(id as usize)?));
        let spec: Vec<(u32, u64)> = used.iter().filter_map(|c| value(c.spec_id)).collect();
        self.device
            .create_own_kernel(module.clone(), "main", &spec, request.kernel)
    }

    /// Default sizes for this kind of device.
    fn default_size(&self, class: &SizeClass) -> u64 {
        let is_cpu = self.device.info().kind == DeviceKind::Cpu;
        match class {
            SizeClass::ThreadBlockSize if is_cpu => 64,
            SizeClass::ThreadBlockSize => 256,
            SizeClass::GridSize if is_cpu => 16,
            SizeClass::GridSize => 1024,
            SizeClass::TileSize if is_cpu => 16,
            SizeClass::TileSize => 32,
            SizeClass::RegTileSize if is_cpu => 4,
            SizeClass::RegTileSize => 2,
            SizeClass::Threshold(default, _) => default.map_or(32_768, |d| d.max(0) as u64),
            SizeClass::Bespoke(_, default) => (*default).max(0) as u64,
            class => self.limit_value(class),
        }
    }
}

impl KernelMachine for DeviceMachine<'_> {
    type Block = BufferHandle;
    type Error = DeviceError;

    fn allocate_block(&mut self, bytes: u64) -> Result<BufferHandle, DeviceError> {
        self.device.create_scratch(bytes)
    }

    fn free_block(&mut self, block: BufferHandle) {
        let freed = self.device.destroy_buffer(block);
        debug_assert!(freed.is_ok());
    }

    fn write_block(
        &mut self,
        block: BufferHandle,
        at: u64,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.device.write_buffer(block, at, bytes)
    }

    fn read_block(
        &mut self,
        block: BufferHandle,
        at: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.device.read_buffer(block, at, out)
    }

    fn read_all(&mut self, parts: &mut [BlockRead<'_, BufferHandle>]) -> Result<(), DeviceError> {
        let parts = parts.iter_mut();
        let mut parts: Vec<_> = parts.map(|p| (p.block, p.at, &mut *p.out)).collect();
        self.device.read_all(&mut parts)
    }

    fn launch_kernel(
        &mut self,
        request: &LaunchRequest<'_, BufferHandle>,
    ) -> Result<(), DeviceError> {
        let kernel = self.find_or_create_kernel(request)?;
        // Scalars that a kernel does not use may have been optimised away.
        let used = self.device.kernel_interface(kernel)?.push_constant_bytes as usize;
        let push = request.push.get(..used).unwrap_or(request.push);
        let groups = fold_workgroups(request.groups, self.device.info().limits.groups)?;
        let bound = request.blocks.iter().map(|given| LaunchBinding {
            region: given.region,
            ..LaunchBinding::with_whole_buffer(given.binding, given.block)
        });
        let mut bindings = std::mem::take(&mut self.bindings);
        bindings.clear();
        bindings.extend(bound);
        let mut pushed = std::mem::take(&mut self.push);
        pushed.clear();
        pushed.extend_from_slice(push);
        let launch = KernelLaunch {
            kernel,
            size: IndexSpace::Groups(groups),
            inputs: LaunchInputs::Resources {
                bindings,
                push: pushed,
            },
        };
        let launched = self.device.launch_kernel(&launch);
        if let LaunchInputs::Resources { bindings, push } = launch.inputs {
            (self.bindings, self.push) = (bindings, push);
        }
        launched
    }

    fn forget_program(&mut self, program: usize) {
        let forgotten = self.kernels.get_mut(program).map(std::mem::take);
        for forgotten in forgotten.into_iter().flatten().flatten() {
            let destroyed = self.device.destroy_kernel(forgotten.kernel);
            debug_assert!(destroyed.is_ok());
        }
    }

    fn wait_idle(&mut self) -> Result<(), DeviceError> {
        self.device.wait_idle()
    }

    fn is_host(&self) -> bool {
        self.device.info().kind == DeviceKind::Cpu
    }

    /// The sanitizer has to see where each block ends, and which bytes were never written.
    fn reuses_blocks(&self) -> bool {
        let mode = CpuMode::from_device_name(&self.device.info().id);
        mode != Some(CpuMode::Sanitizer)
    }

    fn parameter_value(&self, parameter: &ProgramParameter) -> u64 {
        let class = &parameter.class;
        let named = self.sizes.get(&parameter.name);
        let set = named.or_else(|| self.sizes.get(class.name()?));
        let value = set.copied().unwrap_or_else(|| self.default_size(class));
        let limit = match class {
            SizeClass::ThreadBlockSize | SizeClass::GridSize => self.limit_value(class),
            SizeClass::TileSize => self.limit_value(class),
            _ => u64::MAX,
        };
        value.min(limit)
    }

    fn limit_value(&self, class: &SizeClass) -> u64 {
        let limits = &self.device.info().limits;
        let most = u64::from(limits.workgroup_invocations.min(limits.workgroup_size[0]));
        match class {
            SizeClass::ThreadBlockSize | SizeClass::GridSize => most,
            SizeClass::TileSize => most.isqrt(),
            SizeClass::SharedMemory => limits.workgroup_memory.saturating_sub(RESERVED),
            SizeClass::Cache => 1 << 20,
            SizeClass::Registers => 1 << 16,
            _ => i64::MAX as u64,
        }
    }
}

/// The error of a driver, with the kernel that it was given.
fn blame_kernel(error: DeviceError, request: &LaunchRequest<'_, BufferHandle>) -> DeviceError {
    let DeviceError::Failed(text) = error else {
        return error;
    };
    let constants: Vec<String> = request.constants.iter().map(u64::to_string).collect();
    let (number, constants) = (request.kernel, constants.join(", "));
    DeviceError::Failed(format!(
        "kernel {number}, with the constants [{constants}]: {text}"
    ))
}

/// Workgroups in each dimension within the limits. Workgroups of a single dimension that exceed its limit continue in the
/// second.
fn fold_workgroups(groups: [u64; 3], limits: [u32; 3]) -> Result<[u32; 3], DeviceError> {
    let fits = |n: u64, limit: u32| u32::try_from(n).ok().filter(|n| *n <= limit);
    let refused = || DeviceError::Launch(format!("{groups:?} workgroups are too many"));
    if let [n, 1, 1] = groups
        && n > limits[0].into()
    {
        u32::try_from(n).map_err(|_| refused())?;
        let rows = n.div_ceil(limits[0].into());
        let columns = n.div_ceil(rows);
        let rows = fits(rows, limits[1]).ok_or_else(refused)?;
        return Ok([columns as u32, rows, 1]);
    }
    let mut folded = [0; 3];
    for (to, (n, limit)) in folded.iter_mut().zip(groups.into_iter().zip(limits)) {
        *to = fits(n, limit).ok_or_else(refused)?;
    }
    Ok(folded)
}
