//! Compiled modules: programs of StableHLO that were compiled for a kind of device.

use crate::compile_options::ProgramOptions;
use crate::cost::ProgramCost;
use crate::element::{ArrayType, ElementFormat};
use crate::error::{PluginError, PluginResult};
use crate::exchange_site::hash_exchanges;
use crate::ffi::{HostCallSites, list_targets};
use crate::host_call::{calls_host, has_host_targets};
use crate::inspection::report_layouts;
use crate::memory::MemoryKind;
use crate::module_layout::ModuleLayouts;
use crate::module_sharding::{ModuleSharding, ModuleShards};
use crate::run_time::RunTimeRecord;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use spirula::{
    CompileOptions, CompileOutput, EXCHANGE_TARGET, ForeignTargets, NamedTargets, ScatterWindows,
    ShardProgram, TensorSignature,
};
use spirula_program::CompiledProgram;
use spirula_program::program::SourceTensorType;
use spirula_runtime::DeviceInfo;
use spirula_schedule::choose_device_profile;
use spirula_stablehlo::memory_layout::EntryLayouts;
use spirula_stablehlo::mlir::{MlirAttr, MlirModule};
use spirula_text::hex::write_hex;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The function that is the entry point of a module.
pub const ENTRY: &str = "main";

/// Attributes of arguments that may be donated: the result that takes the memory, and any use.
const DONATIONS: [&str; 2] = ["tf.aliasing_output", "jax.buffer_donor"];

/// Attribute of a result that names the memory in which it is wanted.
const MEMORY_KIND: &str = "mhlo.memory_kind";

/// A compiled module.
pub struct CompiledModule {
    /// A number that no other module of this process has.
    pub number: u64,
    pub program: CompiledProgram,
    pub parameters: Vec<ArrayType>,
    pub results: Vec<ArrayType>,
    /// Arguments and results as each device has them.
    pub shards: ModuleShards,
    pub facts: ModuleFacts,
    /// The source: text or bytecode of StableHLO.
    pub source: Vec<u8>,
    /// Whether it calls functions of the host.
    pub calls_host: bool,
    /// A number of its exchanges with other devices, equal in all processes that compile the same program.
    pub exchange_number: u64,
    /// The state of these calls.
    pub host_calls: HostCallSites,
    /// The time of the last execution.
    pub run_time: RunTimeRecord,
}

/// Facts of a module that its program does not have.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModuleFacts {
    pub name: String,
    /// A number of 128 bits for the source, the options and the device, in hexadecimal.
    pub fingerprint: String,
    /// Whether each argument may be donated.
    pub is_donated: Vec<bool>,
    pub options: ProgramOptions,
    pub shardings: ModuleSharding,
    pub layouts: ModuleLayouts,
    /// The memories of the first results; others are in that of the device.
    memories: Vec<MemoryKind>,
    /// Operations, transcendental functions and bytes of an execution.
    pub cost: [f64; 3],
    /// Whether an execution is known to take less time than to wake a thread.
    pub is_light: bool,
}

impl ModuleFacts {
    /// The memory of a result.
    pub fn result_memory(&self, at: usize) -> MemoryKind {
        self.memories.get(at).copied().unwrap_or(MemoryKind::Device)
    }
}

impl CompiledModule {
    /// Compiles a module of StableHLO.
    ///
    /// # Errors
    /// When it is malformed, or needs something that is missing.
    pub fn compile(
        code: &[u8],
        options: &ProgramOptions,
        device: &DeviceInfo,
        fingerprint: String,
    ) -> PluginResult<CompiledModule> {
        let source = spirula_stablehlo::read_module(code);
        let source = source.map_err(|error| PluginError::invalid(error.to_string()))?;
        let cost = ProgramCost::from_module(&source);
        let shardings = ModuleSharding::read(&source, options)?;
        let layouts = EntryLayouts::read(&source, ENTRY);
        let layouts = layouts.map_err(|error| PluginError::unimplemented(error.to_string()))?;
        let partition = choose_partition(&source, options, &shardings, &layouts)?;
        report_layouts(&source)?;
        let mut facts = ModuleFacts {
            name: source
                .symbol_name(source.root())
                .unwrap_or(ENTRY)
                .to_owned(),
            fingerprint,
            is_donated: read_donations(&source),
            options: options.clone(),
            shardings,
            layouts: ModuleLayouts::from_entry(&layouts),
            memories: read_memories(&source),
            cost: [cost.operations, cost.transcendentals, cost.bytes],
            is_light: cost.is_light(),
        };
        drop(source);
        dump_source(code, &facts);
        let compile_options = CompileOptions {
            profile: choose_device_profile(device),
            windows: ScatterWindows::Whole,
            foreign: ForeignTargets::Named(Arc::new(list_foreign_targets(options, device))),
            layouts,
            shards: partition,
            ..CompileOptions::default()
        };
        let (program, tensors, is_partitioned) = compile_program(code, compile_options)?;
        facts.shardings.is_partitioned = is_partitioned;
        facts.shardings.is_of_one_device = options.spans_queues;
        let (mut parameters, results) = read_signature(&tensors)?;
        facts.shardings.drop_device_number(&mut parameters);
        let parameters = facts.shardings.join_parameters(&parameters)?;
        let results = facts.shardings.join_results(&results)?;
        let parameters = facts.layouts.apply_to_parameters(parameters)?;
        let results = facts.layouts.apply_to_results(results)?;
        facts.is_donated.resize(parameters.len(), false);
        let shards = facts.shardings.resolve(&parameters, &results)?;
        Ok(CompiledModule {
            number: next_number(),
            calls_host: calls_host(&program),
            exchange_number: hash_exchanges(&program),
            program,
            parameters,
            results,
            shards,
            facts,
            source: code.to_vec(),
            host_calls: HostCallSites::default(),
            run_time: RunTimeRecord::default(),
        })
    }

    /// The module as bytes: its facts, its source, and the archive of its program. It is stored for the devices of these numbers.
    ///
    /// # Errors
    /// When the program cannot be stored.
    pub fn serialize(&self, devices: &[i64]) -> PluginResult<Vec<u8>> {
        let mut facts = self.facts.clone();
        facts.options.devices = devices.to_vec();
        let facts = serde_json::to_vec(&facts);
        let facts = facts.map_err(|error| PluginError::internal(error.to_string()))?;
        let archive = spirula_program::archive::write_archive(&self.program);
        let archive = archive.map_err(|error| PluginError::internal(error.to_string()))?;
        let mut bytes = MAGIC.to_vec();
        for part in [&facts, &self.source, &archive] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        }
        Ok(bytes)
    }

    /// Reads what [`CompiledModule::serialize`] writes.
    ///
    /// # Errors
    /// When it is something else.
    pub fn deserialize(bytes: &[u8]) -> PluginResult<CompiledModule> {
        let foreign = || PluginError::invalid("the bytes are no executable of this plugin");
        let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(foreign)?;
        let facts = take_part(&mut rest).ok_or_else(foreign)?;
        let source = take_part(&mut rest).ok_or_else(foreign)?;
        let archive = take_part(&mut rest).ok_or_else(foreign)?;
        let facts: ModuleFacts = serde_json::from_slice(facts).map_err(|_| foreign())?;
        let program = spirula_program::archive::read_archive(archive);
        let program = program.map_err(|error| PluginError::invalid(error.to_string()))?;
        let entry = program.entries.iter().find(|entry| entry.name == ENTRY);
        let entry = entry.ok_or_else(foreign)?;
        let read = |tensor: &Option<SourceTensorType>| {
            let tensor = tensor.as_ref().ok_or_else(foreign)?;
            make_array_type(&tensor.element, &tensor.shape)
        };
        let parameters = entry
            .parameters
            .iter()
            .map(|parameter| read(&parameter.tensor));
        let mut parameters = parameters.collect::<PluginResult<Vec<_>>>()?;
        facts.shardings.drop_device_number(&mut parameters);
        // Results that only checks compare have no type.
        let results = entry
            .results
            .iter()
            .take_while(|result| result.tensor.is_some());
        let results = results.map(|result| read(&result.tensor));
        let results = results.collect::<PluginResult<Vec<_>>>()?;
        let parameters = facts.shardings.join_parameters(&parameters)?;
        let results = facts.shardings.join_results(&results)?;
        let parameters = facts.layouts.apply_to_parameters(parameters)?;
        let results = facts.layouts.apply_to_results(results)?;
        if facts.is_donated.len() != parameters.len() {
            return Err(foreign());
        }
        let shards = facts.shardings.resolve(&parameters, &results)?;
        Ok(CompiledModule {
            number: next_number(),
            calls_host: calls_host(&program),
            exchange_number: hash_exchanges(&program),
            program,
            parameters,
            results,
            shards,
            facts,
            source: source.to_vec(),
            host_calls: HostCallSites::default(),
            run_time: RunTimeRecord::default(),
        })
    }

    /// The module, compiled again if it calls functions that are missing here: the process that stored it may have had others. A
    /// program that needs them stays as it is, and its execution fails with their names.
    pub fn adapt_to_targets(self, device: &DeviceInfo) -> CompiledModule {
        if has_host_targets(&self.program) {
            return self;
        }
        let ModuleFacts {
            options,
            fingerprint,
            ..
        } = &self.facts;
        let compiled = CompiledModule::compile(&self.source, options, device, fingerprint.clone());
        compiled.unwrap_or(self)
    }

    /// Whether the next execution will take about as little time as to wake a thread: by its operations, or as the last one did.
    /// Functions of the host, and other devices, may take any time.
    pub fn is_light(&self) -> bool {
        !self.calls_host
            && !self.facts.shardings.is_of_one_device
            && (self.facts.is_light || self.run_time.is_short())
    }

    /// Bytes of the code of all kernels.
    pub fn code_bytes(&self) -> u64 {
        let kernels = self.program.kernels.iter();
        let modules = kernels.flat_map(|kernel| &kernel.module);
        modules.map(|module| module.word_count() as u64 * 4).sum()
    }
}

/// The parts that a program takes and gives; `None` for whole arrays.
///
/// # Errors
/// When a sharding is malformed, or devices that run the program by themselves need parts that are not possible.
fn choose_partition(
    source: &MlirModule,
    options: &ProgramOptions,
    shardings: &ModuleSharding,
    layouts: &EntryLayouts,
) -> PluginResult<Option<ShardProgram>> {
    // Parts lie in rows.
    let mut orders = layouts.parameters.iter().chain(&layouts.results);
    let is_in_rows = orders.all(Option::is_none);
    if options.spans_queues {
        if !is_in_rows {
            let message = "layouts in memory of a program whose devices run it by themselves";
            return Err(PluginError::unimplemented(message));
        }
        let parts = ModuleSharding::read_partition(source)?;
        return Ok(Some(ShardProgram::EachDevice(parts)));
    }
    let wants_parts = options.is_partitioned && shardings.devices > 1;
    if !wants_parts || !is_in_rows {
        return Ok(None);
    }
    let parts = ModuleSharding::read_partition(source)?;
    Ok(Some(ShardProgram::AllDevices(parts)))
}

/// The environment variable that keeps programs from calling routines of LAPACK that Spirula has itself.
const OWN_ROUTINES: &str = "SPIRULA_OWN_LAPACK";

/// The functions of the host that a program may call. On the processor they do the work of routines of LAPACK.
fn list_foreign_targets(options: &ProgramOptions, device: &DeviceInfo) -> NamedTargets {
    let mut names = list_targets();
    if options.spans_queues {
        names.insert(EXCHANGE_TARGET.to_owned());
    }
    let wants_own = std::env::var_os(OWN_ROUTINES).is_some_and(|value| !value.is_empty());
    // A program that has the parts of all devices makes no calls.
    let has_all_parts = options.is_partitioned && options.partitions > 1 && !options.spans_queues;
    NamedTargets {
        names,
        replace_routines: device.id == "cpu" && !has_all_parts && !wants_own,
    }
}

/// Compiles a program, by parts if there are shardings for these. A program that cannot be partitioned runs on whole arrays. So
/// does one that calls functions of the host, which get whole arrays once. The program of one device has no such way out. Returns
/// whether it is partitioned.
fn compile_program(
    code: &[u8],
    mut options: CompileOptions,
) -> PluginResult<(CompiledProgram, TensorSignature, bool)> {
    loop {
        let is_partitioned = options.shards.is_some();
        let may_be_whole = matches!(options.shards, Some(ShardProgram::AllDevices(_)));
        let compiled = match spirula::compile_input(code, &options) {
            Ok(compiled) => compiled,
            Err(error) if may_be_whole => {
                log_fallback(&PluginError::from_compilation(&error).message);
                options.shards = None;
                continue;
            }
            Err(error) => return Err(PluginError::from_compilation(&error)),
        };
        let (CompileOutput::Program(program), Some(tensors)) = (compiled.output, compiled.tensors)
        else {
            return Err(PluginError::invalid("the program is not StableHLO"));
        };
        if may_be_whole && calls_host(&program) {
            log_fallback("it calls functions of the host");
            options.shards = None;
            continue;
        }
        return Ok((*program, tensors, is_partitioned));
    }
}

/// The environment variable that asks for messages about decisions of the plugin.
const LOG_VARIABLE: &str = "SPIRULA_PARTITION_LOG";

/// Says, where the environment asks for it, why a program is not partitioned.
fn log_fallback(reason: &str) {
    if std::env::var_os(LOG_VARIABLE).is_some_and(|value| !value.is_empty()) {
        eprintln!("spirula: a program runs on whole arrays, not on parts: {reason}");
    }
}

/// The environment variable with a folder for the sources of all modules that are compiled.
const DUMP_FOLDER: &str = "SPIRULA_DUMP_MODULES";

/// Writes the source of a module to the folder that the environment names. Commands of Spirula read it.
fn dump_source(code: &[u8], facts: &ModuleFacts) {
    let Some(folder) = std::env::var_os(DUMP_FOLDER) else {
        return;
    };
    let path = Path::new(&folder).join(format!("{}.{}.mlir", facts.name, facts.fingerprint));
    if let Err(error) = std::fs::write(&path, code) {
        eprintln!("spirula: {}: {error}", path.display());
    }
}

/// A number that no other module of this process has.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Takes a part of a serialised module, which begins with its length.
fn take_part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (part, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

/// The first bytes of a serialised module.
const MAGIC: &[u8] = b"spirula executable 4\n";

/// The fingerprint of a module before it is compiled. A program is the same on all logical devices.
pub fn compute_fingerprint(code: &[u8], options: &ProgramOptions, device: &DeviceInfo) -> String {
    let mut hash = Md5::new();
    for part in [
        code,
        &options.replicas.to_le_bytes(),
        &options.partitions.to_le_bytes(),
        &[u8::from(options.is_partitioned)],
        &[u8::from(options.spans_queues)],
        device.id.as_bytes(),
        device.driver.as_bytes(),
    ] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    write_hex(&hash.finalize())
}

/// The types of arguments and results.
fn read_signature(tensors: &TensorSignature) -> PluginResult<(Vec<ArrayType>, Vec<ArrayType>)> {
    let read = |interface: &spirula_stablehlo::translate::InterfaceTensor| {
        let element = interface.element.stored_element().to_string();
        make_array_type(&element, &interface.shape)
    };
    let parameters = tensors
        .parameters
        .iter()
        .map(read)
        .collect::<PluginResult<_>>()?;
    let results = tensors
        .results
        .iter()
        .map(read)
        .collect::<PluginResult<_>>()?;
    Ok((parameters, results))
}

fn make_array_type(element: &str, shape: &[Option<u64>]) -> PluginResult<ArrayType> {
    let sizes = shape.iter().map(|size| {
        let size = size.and_then(|size| i64::try_from(size).ok());
        size.ok_or_else(|| {
            let message = "arguments and results of unknown size are not supported";
            PluginError::unimplemented(message)
        })
    });
    ArrayType::new(
        ElementFormat::from_name(element)?,
        sizes.collect::<PluginResult<_>>()?,
    )
}

/// The attributes of all arguments or results of the entry point.
fn list_attributes<'m>(module: &'m MlirModule, name: &str) -> &'m [MlirAttr] {
    let entry = module.find_function(ENTRY);
    entry.map_or(&[], |entry| module.find_list(entry, name))
}

/// Whether each argument of the entry point may be donated.
fn read_donations(module: &MlirModule) -> Vec<bool> {
    let arguments = list_attributes(module, "arg_attrs").iter();
    let is_donated = |argument: &MlirAttr| {
        let mut names = DONATIONS.iter();
        names.any(|name| module.find_field(*argument, name).is_some())
    };
    arguments.map(is_donated).collect()
}

/// The memories of the results of the entry point.
fn read_memories(module: &MlirModule) -> Vec<MemoryKind> {
    let results = list_attributes(module, "res_attrs").iter();
    let read = |result: &MlirAttr| {
        let name = module.field_text(*result, MEMORY_KIND)?;
        MemoryKind::from_name(name)
    };
    results
        .map(|result| read(result).unwrap_or(MemoryKind::Device))
        .collect()
}
