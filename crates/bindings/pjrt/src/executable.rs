//! Executables: compiled modules, with their facts in the form that C reads.

use crate::boundary::{PluginCall, make_cleared, read_struct, write_struct};
use crate::client::Client;
use crate::compile_options::ProgramOptions;
use crate::device::Device;
use crate::element::ArrayType;
use crate::error::{PluginError, PluginResult};
use crate::generated::*;
use crate::handle::{ApiObject, PointerList, allocate, free, get_ref, get_slice};
use crate::layouts::LayoutList;
use crate::module::{CompiledModule, compute_fingerprint};
use crate::named_value::{NamedValue, NamedValueList, OptionValue};
use crate::process_run::{ProcessShare, span_queues};
use crate::serialized::SerializedBytes;
use crate::topology::Topology;
use spirula_runtime::DeviceInfo;
use std::ffi::c_char;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The format of programs: MLIR.
const FORMAT: &str = "mlir";

/// A compiled module with its facts.
pub struct Executable {
    pub module: Arc<CompiledModule>,
    /// The numbers of its devices, where they are named. Equal programs on other devices share the module.
    device_ids: Vec<i64>,
    result_codes: Vec<PjrtBufferType>,
    /// The sizes of all results, one after the other.
    result_sizes: Vec<i64>,
    result_ranks: Vec<usize>,
    memory_kinds: PointerList<c_char>,
    memory_kind_sizes: Vec<usize>,
    properties: NamedValueList,
    /// The program that callers see.
    optimized: Vec<u8>,
    /// Arguments and results as a device has them.
    parameters: Vec<ArrayType>,
    results: Vec<ArrayType>,
    pub parameter_layouts: LayoutList,
    pub result_layouts: LayoutList,
}

/// A holder of an executable: an object of C.
pub struct ExecutableHandle(pub Arc<Executable>);

impl ApiObject for ExecutableHandle {
    type Opaque = PjrtExecutable;
    const NAME: &'static str = "executable";
}

/// An executable on devices.
pub struct LoadedExecutable {
    pub executable: Arc<Executable>,
    /// The devices of this process that the program runs on, in the order of its partitions.
    pub devices: Vec<Arc<Device>>,
    /// Its share in a program for devices with queues of their own.
    pub share: Option<ProcessShare>,
    /// The numbers of all devices, in the order of the partitions.
    assignment: Vec<i64>,
    device_pointers: PointerList<PjrtDevice>,
    is_deleted: AtomicBool,
}

impl ApiObject for LoadedExecutable {
    type Opaque = PjrtLoadedExecutable;
    const NAME: &'static str = "loaded executable";
}

impl Executable {
    fn new(module: Arc<CompiledModule>, device_ids: &[i64]) -> Executable {
        let shards = module.shards.results.iter();
        let results: Vec<ArrayType> = shards
            .map(|shards| ArrayType::clone(&shards.array))
            .collect();
        let shards = module.shards.parameters.iter();
        let parameters: Vec<ArrayType> = shards
            .map(|shards| ArrayType::clone(&shards.array))
            .collect();
        let memories = (0..results.len()).map(|at| module.facts.result_memory(at).name());
        let memories: Vec<&'static str> = memories.collect();
        let [operations, transcendentals, bytes] = module.facts.cost;
        let property = |name, value| NamedValue::new(name, OptionValue::Number(value as f32));
        Executable {
            device_ids: device_ids.to_vec(),
            result_codes: results.iter().map(|array| array.format.code).collect(),
            result_sizes: results
                .iter()
                .flat_map(|array| array.sizes.clone())
                .collect(),
            result_ranks: results.iter().map(|array| array.sizes.len()).collect(),
            memory_kind_sizes: memories.iter().map(|name| name.len()).collect(),
            memory_kinds: PointerList::from_texts(memories),
            properties: NamedValueList::new(vec![
                property("flops", operations),
                property("transcendentals", transcendentals),
                property("bytes accessed", bytes),
            ]),
            parameter_layouts: LayoutList::of_arrays(&parameters),
            result_layouts: LayoutList::of_arrays(&results),
            optimized: describe_program(&module),
            parameters,
            results,
            module,
        }
    }
}

/// The program that callers see: the source, or only its interface, which has facts that JAX reads from there: the part of each
/// of several devices, and layouts of arguments.
fn describe_program(module: &CompiledModule) -> Vec<u8> {
    let (facts, shards) = (&module.facts, &module.shards);
    if facts.shardings.devices <= 1 && !facts.layouts.has_orders() {
        return module.source.clone();
    }
    let devices = facts.shardings.devices.max(1);
    let text = shards.to_interface_module(&facts.name, devices);
    text.into_bytes()
}

impl LoadedExecutable {
    /// Loads a module on devices of these numbers, or the first ones where none is named.
    fn new(
        module: Arc<CompiledModule>,
        ids: &[i64],
        client: &Client,
    ) -> PluginResult<LoadedExecutable> {
        let wanted = module.facts.shardings.devices;
        let there = client.devices.len();
        if wanted > there {
            let message = format!("a program for {wanted} devices; the client has {there}");
            return Err(PluginError::invalid(message));
        }
        let mut all = Vec::new();
        for at in 0..wanted {
            let id = if ids.is_empty() {
                Some(at as i64)
            } else {
                ids.get(at).copied()
            };
            let id = id.and_then(|id| i32::try_from(id).ok());
            all.push(client.find_device(id.unwrap_or(-1))?.clone());
        }
        let assignment: Vec<i64> = all.iter().map(|own| own.description.id.into()).collect();
        let share = ProcessShare::new(&module, &all, client)?;
        let devices: Vec<_> = all.into_iter().filter(|own| own.local.is_some()).collect();
        Ok(LoadedExecutable {
            share,
            assignment,
            device_pointers: PointerList::from_objects(devices.iter().map(|device| &**device)),
            devices,
            executable: Arc::new(Executable::new(module, ids)),
            is_deleted: AtomicBool::new(false),
        })
    }

    /// Refuses an executable that was deleted.
    ///
    /// # Errors
    /// When it was.
    pub fn check_alive(&self) -> PluginResult<()> {
        if self.is_deleted.load(Ordering::Relaxed) {
            return Err(PluginError::invalid("the executable was deleted"));
        }
        Ok(())
    }
}

/// A program of a caller with its options.
struct GivenProgram<'a> {
    code: &'a [u8],
    options: ProgramOptions,
}

impl<'a> GivenProgram<'a> {
    unsafe fn read(
        program: *const PjrtProgram,
        options: *const c_char,
        options_size: usize,
    ) -> PluginResult<GivenProgram<'a>> {
        let program = read_struct(program)?;
        let format = crate::handle::get_text(program.format, program.format_size)?;
        if format != FORMAT {
            let message = format!("programs of the format {format:?} are not supported");
            return Err(PluginError::unimplemented(message));
        }
        let option_bytes = get_slice(options.cast::<u8>(), options_size)?;
        Ok(GivenProgram {
            code: get_slice(program.code.cast_const().cast(), program.code_size)?,
            options: ProgramOptions::read(option_bytes)?,
        })
    }

    fn fingerprint(&self, device: &DeviceInfo) -> String {
        compute_fingerprint(self.code, &self.options, device)
    }

    fn compile(&self, device: &DeviceInfo, fingerprint: String) -> PluginResult<CompiledModule> {
        CompiledModule::compile(self.code, &self.options, device, fingerprint)
    }
}

/// Whether a program is for several devices with queues of their own, here or in other processes.
fn spans_queues(options: &ProgramOptions, client: &Client) -> PluginResult<bool> {
    let count = usize::try_from(options.partitions).unwrap_or(0);
    if options.devices.is_empty() {
        return Ok(span_queues(
            &client.devices[..count.min(client.devices.len())],
        ));
    }
    let ids = options.devices.iter();
    let devices = ids.map(|id| {
        client
            .find_device(i32::try_from(*id).unwrap_or(-1))
            .cloned()
    });
    Ok(count > 1 && span_queues(&devices.collect::<PluginResult<Vec<_>>>()?))
}

impl PluginCall for PjrtClientCompileArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        let (options, size) = (self.compile_options, self.compile_options_size);
        let mut program = GivenProgram::read(self.program, options, size)?;
        program.options.is_partitioned = client.is_partitioning;
        program.options.spans_queues = spans_queues(&program.options, client)?;
        let info = &client.devices[0].info;
        let fingerprint = program.fingerprint(info);
        let compile = || program.compile(info, fingerprint.clone());
        let module = client.modules.find_or_compile(&fingerprint, compile)?;
        let ids = &program.options.devices;
        self.executable = allocate(LoadedExecutable::new(module, ids, client)?);
        Ok(())
    }
}

impl PluginCall for PjrtCompileArgs {
    /// Compiles for a topology, without a client.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let info = get_ref::<Topology>(self.topology)?.device_info()?;
        let (options, size) = (self.compile_options, self.compile_options_size);
        let program = GivenProgram::read(self.program, options, size)?;
        let module = program.compile(&info, program.fingerprint(&info))?;
        let ids = &program.options.devices;
        let executable = Executable::new(Arc::new(module), ids);
        self.executable = allocate(ExecutableHandle(Arc::new(executable)));
        Ok(())
    }
}

impl PluginCall for PjrtExecutableDeserializeAndLoadArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let client = get_ref::<Client>(self.client)?;
        let (first, count) = (self.serialized_executable, self.serialized_executable_size);
        let mut module = CompiledModule::deserialize(get_slice(first.cast::<u8>(), count)?)?;
        if !self.overridden_serialized_compile_options.is_null() {
            let first = self.overridden_serialized_compile_options;
            let count = self.overridden_serialized_compile_options_size;
            module.facts.options = ProgramOptions::read(get_slice(first.cast::<u8>(), count)?)?;
        }
        if let Some(device) = client.devices.first() {
            module = module.adapt_to_targets(&device.info);
        }
        let ids = module.facts.options.devices.clone();
        self.loaded_executable = allocate(LoadedExecutable::new(Arc::new(module), &ids, client)?);
        Ok(())
    }
}

impl PluginCall for PjrtExecutableDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<ExecutableHandle>(self.executable);
        Ok(())
    }
}

impl PluginCall for PjrtExecutableNameArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let name = &get_ref::<ExecutableHandle>(self.executable)?
            .0
            .module
            .facts
            .name;
        self.executable_name = name.as_ptr().cast();
        self.executable_name_size = name.len();
        Ok(())
    }
}

impl PluginCall for PjrtExecutableNumReplicasArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let options = &get_ref::<ExecutableHandle>(self.executable)?
            .0
            .module
            .facts
            .options;
        self.num_replicas = options.replicas as usize;
        Ok(())
    }
}

impl PluginCall for PjrtExecutableNumPartitionsArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let options = &get_ref::<ExecutableHandle>(self.executable)?
            .0
            .module
            .facts
            .options;
        self.num_partitions = options.partitions as usize;
        Ok(())
    }
}

impl PluginCall for PjrtExecutableNumOutputsArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let executable = &get_ref::<ExecutableHandle>(self.executable)?.0;
        self.num_outputs = executable.result_codes.len();
        Ok(())
    }
}

impl PluginCall for PjrtExecutableSizeOfGeneratedCodeInBytesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let module = &get_ref::<ExecutableHandle>(self.executable)?.0.module;
        self.size_in_bytes = module.code_bytes() as i64;
        Ok(())
    }
}

impl PluginCall for PjrtExecutableFingerprintArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let module = &get_ref::<ExecutableHandle>(self.executable)?.0.module;
        self.executable_fingerprint = module.facts.fingerprint.as_ptr().cast();
        self.executable_fingerprint_size = module.facts.fingerprint.len();
        Ok(())
    }
}

impl PluginCall for PjrtExecutableGetCostAnalysisArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let executable = &get_ref::<ExecutableHandle>(self.executable)?.0;
        self.properties = executable.properties.as_ptr();
        self.num_properties = executable.properties.len();
        Ok(())
    }
}

impl PluginCall for PjrtExecutableGetCompiledMemoryStatsArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let executable = &get_ref::<ExecutableHandle>(self.executable)?.0;
        let module = &executable.module;
        let sum = |arrays: &[ArrayType]| arrays.iter().map(ArrayType::byte_count).sum::<u64>();
        let (arguments, results) = (sum(&executable.parameters), sum(&executable.results));
        *self = PjrtExecutableGetCompiledMemoryStatsArgs {
            struct_size: self.struct_size,
            extension_start: self.extension_start,
            executable: self.executable,
            ..make_cleared()
        };
        self.generated_code_size_in_bytes = module.code_bytes() as i64;
        self.argument_size_in_bytes = arguments as i64;
        self.output_size_in_bytes = results as i64;
        self.peak_memory_in_bytes = arguments.saturating_add(results) as i64;
        Ok(())
    }
}

impl PluginCall for PjrtExecutableOutputElementTypesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let executable = &get_ref::<ExecutableHandle>(self.executable)?.0;
        self.output_types = executable.result_codes.as_ptr().cast_mut();
        self.num_output_types = executable.result_codes.len();
        Ok(())
    }
}

impl PluginCall for PjrtExecutableOutputDimensionsArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let executable = &get_ref::<ExecutableHandle>(self.executable)?.0;
        self.num_outputs = executable.result_ranks.len();
        self.dims = executable.result_sizes.as_ptr();
        self.dim_sizes = executable.result_ranks.as_ptr();
        Ok(())
    }
}

impl PluginCall for PjrtExecutableOutputMemoryKindsArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let executable = &get_ref::<ExecutableHandle>(self.executable)?.0;
        self.num_outputs = executable.memory_kind_sizes.len();
        self.memory_kinds = executable.memory_kinds.as_ptr().cast();
        self.memory_kind_sizes = executable.memory_kind_sizes.as_ptr();
        Ok(())
    }
}

impl PluginCall for PjrtExecutableOptimizedProgramArgs {
    /// Without memory for the program its size is returned.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let source = &get_ref::<ExecutableHandle>(self.executable)?.0.optimized;
        let mut program = read_struct(self.program)?;
        program.format = FORMAT.as_ptr().cast();
        program.format_size = FORMAT.len();
        if program.code.is_null() {
            program.code_size = source.len();
        } else if program.code_size < source.len() {
            return Err(PluginError::invalid(
                "the memory for the program is too small",
            ));
        } else {
            program
                .code
                .copy_from_nonoverlapping(source.as_ptr().cast(), source.len());
        }
        write_struct(self.program, &program);
        Ok(())
    }
}

impl PluginCall for PjrtExecutableSerializeArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let executable = &get_ref::<ExecutableHandle>(self.executable)?.0;
        let serialized = Box::new(SerializedBytes(
            executable.module.serialize(&executable.device_ids)?,
        ));
        self.serialized_bytes = serialized.0.as_ptr().cast();
        self.serialized_bytes_size = serialized.0.len();
        self.serialized_executable = Box::into_raw(serialized).cast();
        self.serialized_executable_deleter = Some(delete_serialized_executable);
        Ok(())
    }
}

unsafe extern "C" fn delete_serialized_executable(executable: *mut PjrtSerializedExecutable) {
    free::<SerializedBytes>(executable.cast());
}

impl PluginCall for PjrtLoadedExecutableDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<LoadedExecutable>(self.executable);
        Ok(())
    }
}

impl PluginCall for PjrtLoadedExecutableGetExecutableArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let loaded = get_ref::<LoadedExecutable>(self.loaded_executable)?;
        self.executable = allocate(ExecutableHandle(loaded.executable.clone()));
        Ok(())
    }
}

impl PluginCall for PjrtLoadedExecutableAddressableDevicesArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let loaded = get_ref::<LoadedExecutable>(self.executable)?;
        self.addressable_devices = loaded.device_pointers.as_ptr();
        self.num_addressable_devices = loaded.device_pointers.len();
        Ok(())
    }
}

impl PluginCall for PjrtLoadedExecutableDeleteArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let loaded = get_ref::<LoadedExecutable>(self.executable)?;
        loaded.is_deleted.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl PluginCall for PjrtLoadedExecutableIsDeletedArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let loaded = get_ref::<LoadedExecutable>(self.executable)?;
        self.is_deleted = loaded.is_deleted.load(Ordering::Relaxed).into();
        Ok(())
    }
}

impl PluginCall for PjrtLoadedExecutableFingerprintArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let module = &get_ref::<LoadedExecutable>(self.executable)?
            .executable
            .module;
        self.executable_fingerprint = module.facts.fingerprint.as_ptr().cast();
        self.executable_fingerprint_size = module.facts.fingerprint.len();
        Ok(())
    }
}

impl PluginCall for PjrtLoadedExecutableGetDeviceAssignmentArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let loaded = get_ref::<LoadedExecutable>(self.executable)?;
        let options = &loaded.executable.module.facts.options;
        let assignment = options.write_assignment(&loaded.assignment);
        let serialized = Box::new(SerializedBytes(assignment));
        self.serialized_bytes = serialized.0.as_ptr().cast();
        self.serialized_bytes_size = serialized.0.len();
        self.serialized_device_assignment = Box::into_raw(serialized).cast();
        self.serialized_device_assignment_deleter = Some(delete_device_assignment);
        Ok(())
    }
}

unsafe extern "C" fn delete_device_assignment(assignment: *mut PjrtDeviceAssignmentSerialized) {
    free::<SerializedBytes>(assignment.cast());
}
