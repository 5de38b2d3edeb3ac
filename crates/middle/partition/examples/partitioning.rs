//! Partitions a program and writes what each device runs, or the same as one manual computation.
//!
//! `cargo run -p spirula-partition --example partitioning -- FILE [wrapped]` takes the shardings of the program.
//! `SPIRULA_BATCH=4` shards the first dimension of each argument over that number of devices, where they divide it.

use spirula_partition::{PartitionOptions, partition_module, wrap_as_manual};
use spirula_stablehlo::mlir::{MlirModule, SsaNumbering};
use spirula_stablehlo::sharding::{
    AxisReference, DeviceMesh, EntryShardings, MeshAxis, TensorSharding,
};

/// Shardings of the first dimensions of all arguments.
fn shard_batches(module: &MlirModule, devices: u64) -> Option<EntryShardings> {
    let axis = MeshAxis {
        name: "batch".to_owned(),
        size: devices,
    };
    let mesh = DeviceMesh::new(vec![axis], None)?;
    let region = module.regions(module.find_function("main")?).next()?;
    let block = *module.blocks(region).first()?;
    let shard = |shape: Vec<u64>| {
        let is_divided = shape.first().is_some_and(|size| size % devices == 0);
        let mut dimensions = vec![Vec::new(); shape.len()];
        is_divided.then(|| {
            dimensions[0].push(AxisReference {
                name: "batch".to_owned(),
                part: None,
            });
            TensorSharding {
                mesh: mesh.clone(),
                open: vec![false; shape.len()],
                dimensions,
                unreduced: Vec::new(),
                extremes: Vec::new(),
            }
        })
    };
    let shapes = module
        .arguments(block)
        .map(|argument| module.types.static_shape(module.type_of(argument)));
    Some(EntryShardings {
        parameters: shapes.map(|shape| shape.and_then(shard)).collect(),
        results: Vec::new(),
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rest @ ..] = arguments.as_slice() else {
        return Err("a file is needed".into());
    };
    let module = spirula_stablehlo::read_module(&std::fs::read(path)?)?;
    let batch = std::env::var("SPIRULA_BATCH").ok();
    let devices = batch.map(|text| text.parse::<u64>()).transpose()?;
    let options = PartitionOptions {
        shardings: devices.and_then(|devices| shard_batches(&module, devices)),
        ..PartitionOptions::default()
    };
    let start = std::time::Instant::now();
    let partitioned = partition_module(&module, "main", &options)?;
    eprint!("{:?}: {}", start.elapsed(), partitioned.report);
    for warning in &partitioned.report.warnings {
        eprintln!("{warning}");
    }
    let shown = if rest.is_empty() {
        partitioned.module
    } else {
        wrap_as_manual(&partitioned, &module)
    };
    print!("{}", shown.to_generic_text(SsaNumbering::Unique));
    Ok(())
}
