//! Sharding of a module: the parts of its arguments and results that each device of its program has.

use crate::compile_options::ProgramOptions;
use crate::element::ArrayType;
use crate::error::{PluginError, PluginResult};
use crate::module::ENTRY;
use crate::plugin::MOST_DEVICES;
use serde::{Deserialize, Serialize};
use spirula_stablehlo::mlir::{AttributeKind, MlirModule, MlirType, MlirTypeKind};
use spirula_stablehlo::sharding::{EntryShardings, TensorSharding};
use std::sync::Arc;

/// The shards of an array over the devices of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArraySharding {
    /// The number of shards along each dimension; empty where every device has the whole array.
    counts: Vec<u64>,
    /// The position along each dimension of the shard of each device.
    positions: Vec<Vec<u64>>,
    /// The number of the summand of each device: devices with the same shard and other numbers have summands of it.
    summands: Vec<u64>,
    /// The sharding as XLA writes it.
    pub text: String,
}

/// The shardings of the arguments and results of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleSharding {
    /// Number of devices.
    pub devices: usize,
    /// Whether the program is that of one device, which runs with those of others.
    #[serde(default)]
    pub is_of_one_device: bool,
    /// Whether the program takes and gives the parts of arrays.
    pub is_partitioned: bool,
    parameters: Vec<ArraySharding>,
    results: Vec<ArraySharding>,
}

/// The place of the part of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardPlace {
    /// The first index along each dimension.
    pub starts: Vec<u64>,
    /// The number of the summand. The part is the sum of all summands.
    pub summand: u64,
}

/// The part of an array that each device has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayShards {
    /// The part's type, equal on all devices.
    pub array: Arc<ArrayType>,
    /// The place of the part of each device; `None` where every device has the whole array.
    pub places: Option<Vec<ShardPlace>>,
    /// The sharding as XLA writes it.
    pub text: String,
}

/// The parts of all arguments and results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleShards {
    pub parameters: Vec<ArrayShards>,
    pub results: Vec<ArrayShards>,
}

impl ArraySharding {
    fn new(sharding: Option<&TensorSharding>, devices: u64) -> ArraySharding {
        let Some(sharding) = sharding.filter(|sharding| !sharding.is_replicated()) else {
            return ArraySharding {
                text: "{replicated}".to_owned(),
                ..ArraySharding::default()
            };
        };
        let position = |device| sharding.shard_position(&sharding.mesh.device_coordinates(device));
        let summand = |device| {
            let coordinates = sharding.mesh.device_coordinates(device);
            sharding.summand_position(&coordinates).0
        };
        ArraySharding {
            summands: (0..devices).map(summand).collect(),
            counts: sharding.shard_counts(),
            positions: (0..devices).map(position).collect(),
            text: sharding.to_xla_text(devices),
        }
    }

    fn resolve(&self, array: &ArrayType, name: &str, at: usize) -> PluginResult<ArrayShards> {
        if self.positions.is_empty() {
            return Ok(ArrayShards {
                array: Arc::new(array.clone()),
                places: None,
                text: self.text.clone(),
            });
        }
        let pairs = array.sizes.iter().zip(&self.counts);
        let mut sizes = Vec::new();
        for (size, count) in pairs {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            if size % count != 0 {
                let message = format!(
                    "{name} {at} has a dimension of {size}, which {count} devices do not divide"
                );
                return Err(PluginError::invalid(message));
            }
            sizes.push(size / count);
        }
        if sizes.len() != array.sizes.len() || self.counts.len() != sizes.len() {
            let message =
                format!("the sharding of {name} {at} is for another number of dimensions");
            return Err(PluginError::invalid(message));
        }
        let devices = self.positions.iter().zip(&self.summands);
        let places = devices.map(|(position, summand)| {
            let pairs = position.iter().zip(&sizes);
            ShardPlace {
                starts: pairs.map(|(at, size)| at * size.unsigned_abs()).collect(),
                summand: *summand,
            }
        });
        let places = places.collect();
        Ok(ArrayShards {
            array: Arc::new(array.with_sizes(sizes)?),
            places: Some(places),
            text: self.text.clone(),
        })
    }
}

impl ModuleSharding {
    /// Reads the shardings of a module.
    ///
    /// # Errors
    /// When one is malformed, or the program has several replicas.
    pub fn read(module: &MlirModule, options: &ProgramOptions) -> PluginResult<ModuleSharding> {
        if options.replicas != 1 {
            let message = format!(
                "a program of {} replicas; programs for several devices have partitions",
                options.replicas
            );
            return Err(PluginError::unimplemented(message));
        }
        let devices = usize::try_from(options.partitions)
            .ok()
            .filter(|count| (1..=MOST_DEVICES as usize).contains(count));
        let devices = devices.ok_or_else(|| {
            let message = format!("a program for {} devices", options.partitions);
            PluginError::invalid(message)
        })?;
        if devices == 1 {
            return Ok(ModuleSharding {
                devices,
                ..ModuleSharding::default()
            });
        }
        let entry = EntryShardings::read(module, ENTRY);
        let entry = entry.map_err(|error| PluginError::invalid(error.to_string()))?;
        let read = |shardings: &[Option<TensorSharding>]| {
            let shardings = shardings.iter();
            shardings
                .map(|sharding| ArraySharding::new(sharding.as_ref(), devices as u64))
                .collect()
        };
        Ok(ModuleSharding {
            devices,
            is_of_one_device: false,
            is_partitioned: false,
            parameters: read(&entry.parameters),
            results: read(&entry.results),
        })
    }

    /// The shardings by which a module is partitioned, which leave nothing open.
    ///
    /// # Errors
    /// When one is malformed.
    pub fn read_partition(module: &MlirModule) -> PluginResult<EntryShardings> {
        let entry = EntryShardings::read(module, ENTRY);
        let entry = entry.map_err(|error| PluginError::invalid(error.to_string()))?;
        let close = |shardings: Vec<Option<TensorSharding>>, shapes: &[usize]| {
            let pairs = shardings.into_iter().zip(shapes);
            let closed = pairs.map(|(sharding, rank)| {
                let mut sharding = sharding.unwrap_or_default();
                sharding.dimensions.resize(*rank, Vec::new());
                sharding.open = vec![false; *rank];
                Some(sharding)
            });
            closed.collect()
        };
        let [parameters, results] = count_dimensions(module);
        Ok(EntryShardings {
            parameters: close(entry.parameters, &parameters),
            results: close(entry.results, &results),
        })
    }

    /// Drops the parameter of the program of one device that has the number of the device.
    pub fn drop_device_number(&self, parameters: &mut Vec<ArrayType>) {
        if self.is_of_one_device && !parameters.is_empty() {
            parameters.remove(0);
        }
    }

    /// The whole arrays of which a partitioned program takes, or gives, parts of these types.
    ///
    /// # Errors
    /// When there are too few.
    pub fn join_parameters(&self, parts: &[ArrayType]) -> PluginResult<Vec<ArrayType>> {
        self.join_parts(&self.parameters, parts)
    }

    /// The same for results.
    ///
    /// # Errors
    /// When there are too few.
    pub fn join_results(&self, parts: &[ArrayType]) -> PluginResult<Vec<ArrayType>> {
        self.join_parts(&self.results, parts)
    }

    fn join_parts(
        &self,
        shardings: &[ArraySharding],
        parts: &[ArrayType],
    ) -> PluginResult<Vec<ArrayType>> {
        if !self.is_partitioned {
            return Ok(parts.to_vec());
        }
        let mut rest = parts.iter();
        let mut whole = Vec::new();
        for sharding in shardings {
            let missing = || PluginError::internal("a partitioned program lacks a part");
            let part = rest.next().ok_or_else(missing)?;
            if sharding.positions.is_empty() {
                whole.push(part.clone());
                continue;
            }
            let pairs = part.sizes.iter().zip(&sharding.counts);
            let sizes = pairs.map(|(size, count)| {
                let count = i64::try_from(*count).unwrap_or(i64::MAX);
                size.saturating_mul(count)
            });
            whole.push(part.with_sizes(sizes.collect())?);
            if !self.is_of_one_device {
                // One part for each device.
                rest.by_ref().take(self.devices - 1).for_each(drop);
            }
        }
        Ok(whole)
    }

    /// The parts of arrays of these types.
    ///
    /// # Errors
    /// When the devices do not divide an array.
    pub fn resolve(
        &self,
        parameters: &[ArrayType],
        results: &[ArrayType],
    ) -> PluginResult<ModuleShards> {
        let whole = ArraySharding::new(None, 1);
        let resolve = |shardings: &[ArraySharding], arrays: &[ArrayType], name: &str| {
            let arrays = arrays.iter().enumerate();
            let shards = arrays.map(|(at, array)| {
                let sharding = shardings.get(at).unwrap_or(&whole);
                sharding.resolve(array, name, at)
            });
            shards.collect::<PluginResult<Vec<_>>>()
        };
        Ok(ModuleShards {
            parameters: resolve(&self.parameters, parameters, "argument")?,
            results: resolve(&self.results, results, "result")?,
        })
    }
}

/// Number of dimensions of the parameters and of the results of the entry point.
fn count_dimensions(module: &MlirModule) -> [Vec<usize>; 2] {
    let function = module.find_function(ENTRY);
    let attr = function.and_then(|function| module.find_attribute(function, "function_type"));
    let count = |types: &[MlirType]| {
        let ranks = types
            .iter()
            .map(|ty| module.types.shape(*ty).map_or(0, <[_]>::len));
        ranks.collect()
    };
    if let Some(AttributeKind::Type(ty)) = attr.map(|attr| module.attributes.kind(attr))
        && let MlirTypeKind::Function { inputs, results } = module.types.kind(*ty)
    {
        return [count(inputs), count(results)];
    }
    [Vec::new(), Vec::new()]
}

/// The shardings of arrays as XLA writes them.
fn list_texts(shards: &[ArrayShards]) -> Vec<&str> {
    shards.iter().map(|shards| shards.text.as_str()).collect()
}

/// The order of the dimensions in memory as an attribute of MLIR, from the minor one to the major one.
fn write_order(shards: &ArrayShards) -> String {
    let order = shards.array.minor_to_major();
    let numbers: Vec<String> = order.iter().map(ToString::to_string).collect();
    format!(
        "dense<[{}]> : tensor<{}xindex>",
        numbers.join(", "),
        order.len()
    )
}

impl ModuleShards {
    /// A module of MLIR with the interface of the program on one device, and the shardings as XLA states them. Its only
    /// operation calls the program.
    pub fn to_interface_module(&self, name: &str, devices: usize) -> String {
        let types = |shards: &[ArrayShards]| {
            let types = shards.iter().map(|shards| shards.array.to_mlir_text());
            types.collect::<Vec<_>>().join(", ")
        };
        let output = list_texts(&self.results).join(",");
        // A single result is no tuple.
        let output = match self.results.len() {
            // The empty tuple has one.
            0 => "{{replicated}}".to_owned(),
            1 => output,
            _ => format!("{{{output}}}"),
        };
        let inputs = list_texts(&self.parameters)
            .iter()
            .map(|text| format!("{text:?}"))
            .collect::<Vec<_>>();
        let arguments: Vec<String> = (0..self.parameters.len())
            .map(|at| format!("%arg{at}"))
            .collect();
        let arrays = self.parameters.iter().enumerate();
        let declared: Vec<String> = arrays
            .map(|(at, shards)| format!("%arg{at}: {}", shards.array.to_mlir_text()))
            .collect();
        let (taken, given) = (types(&self.parameters), types(&self.results));
        let bound = match self.results.len() {
            0 => String::new(),
            count => format!("%0:{count} = "),
        };
        let returned: Vec<String> = (0..self.results.len())
            .map(|at| format!("%0#{at}"))
            .collect();
        let returned = match self.results.len() {
            0 => "return".to_owned(),
            _ => format!("return {} : {given}", returned.join(", ")),
        };
        let orders: Vec<String> = self.parameters.iter().map(write_order).collect();
        format!(
            "module @{name:?} attributes {{mhlo.num_partitions = {devices} : i32, mhlo.num_replicas = 1 : i32, \
             mhlo.spmd_output_sharding = {output:?}, mhlo.spmd_parameters_shardings = [{}], \
             mhlo.xla_entry_computation_parameter_layouts = [{}]}} {{\n  \
             func.func @main({}) -> ({given}) {{\n    \
             {bound}stablehlo.custom_call @spirula_program({}) {{has_side_effect = true}} : ({taken}) -> ({given})\n    \
             {returned}\n  }}\n}}\n",
            inputs.join(", "),
            orders.join(", "),
            declared.join(", "),
            arguments.join(", "),
        )
    }
}
