//! Models of the corpus, sharded by data and at random.

use super::compare::{
    ElementBounds, PartitionVerdict, RandomStream, SkipReason, compare_program, make_mesh,
    make_sharding,
};
use serde_json::Value as Json;
use spirula_stablehlo::mlir::{MlirModule, parse_text};
use spirula_stablehlo::sharding::{DeviceMesh, EntryShardings, TensorSharding};
use spirula_testing::{find_corpus, list_files};
use std::collections::BTreeMap;
use std::path::Path;

/// Nodes that a model may evaluate, unless `WORK` sets another number.
const WORK: u64 = 100_000;

/// Models that were equal.
const LEAST_BY_BATCH: usize = 80;
const LEAST_BY_ANY: usize = 170;

fn read_number(name: &str, default: u64) -> u64 {
    let named = std::env::var(name).ok();
    named.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A way to shard the arguments of a model.
#[derive(Clone, Copy, Debug)]
enum ShardingStyle {
    /// The first dimension of each argument that the devices divide.
    Batch(u64),
    /// Any dimensions, on eight devices.
    Random(u64),
}

fn argument_shapes(module: &MlirModule) -> Vec<Option<Vec<u64>>> {
    let function = module.find_function("main").expect("an entry point");
    let region = module.regions(function).next().expect("a body");
    let block = module.blocks(region)[0];
    let arguments = module.arguments(block);
    arguments
        .map(|argument| module.types.static_shape(module.type_of(argument)))
        .collect()
}

fn shard_randomly(
    mesh: &DeviceMesh,
    shape: &[u64],
    stream: &mut RandomStream,
) -> Option<TensorSharding> {
    let mut dimensions = vec![Vec::new(); shape.len()];
    let mut rest = shape.to_vec();
    let first = stream.below(3);
    for step in 0..3 {
        let axis = ((first + step) % 3) as usize;
        let at = stream.below(2 * shape.len() as u64) as usize;
        if let Some(size) = rest.get_mut(at)
            && *size > 0
            && size.is_multiple_of(mesh.axes[axis].size)
        {
            *size /= mesh.axes[axis].size;
            dimensions[at].push(axis);
        }
    }
    (stream.below(4) > 0).then(|| make_sharding(mesh, &dimensions))
}

fn choose_shardings(module: &MlirModule, style: ShardingStyle) -> EntryShardings {
    let shapes = argument_shapes(module);
    let parameters: Vec<Option<TensorSharding>> = match style {
        ShardingStyle::Batch(devices) => {
            let mesh = make_mesh(&[devices]);
            let shard = |shape: &Option<Vec<u64>>| {
                let shape = shape.as_ref()?;
                let size = *shape.first()?;
                let mut dimensions = vec![Vec::new(); shape.len()];
                (size > 0 && size.is_multiple_of(devices)).then(|| {
                    dimensions[0].push(0);
                    make_sharding(&mesh, &dimensions)
                })
            };
            shapes.iter().map(shard).collect()
        }
        ShardingStyle::Random(seed) => {
            let mut stream = RandomStream(seed);
            let mesh = make_mesh(&[2, 2, 2]);
            let shapes = shapes.iter();
            shapes
                .map(|shape| shard_randomly(&mesh, shape.as_ref()?, &mut stream))
                .collect()
        }
    };
    EntryShardings {
        parameters,
        results: Vec::new(),
    }
}

/// Outcome of all models.
#[derive(Default)]
struct ModelTally {
    equal: usize,
    skipped: usize,
    long: usize,
    wrong: Vec<String>,
    operations: u64,
    gathered: BTreeMap<String, u64>,
    collectives: BTreeMap<&'static str, u64>,
    moved: f64,
}

fn run_model(path: &Path, style: ShardingStyle, tally: &mut ModelTally) {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let bytes = std::fs::read(path).expect("the model can be read");
    let module = parse_text(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let manifest = std::fs::read(path.with_extension("json")).expect("a manifest");
    let manifest: Json = serde_json::from_slice(&manifest).expect("a manifest");
    let described = manifest["args"].as_array().map_or(&[][..], Vec::as_slice);
    let bounds: Vec<ElementBounds> = described
        .iter()
        .map(|json| ElementBounds {
            low: json["lo"].as_f64().unwrap_or(0.0),
            high: json["hi"].as_f64().unwrap_or(1.0),
        })
        .collect();
    let shardings = choose_shardings(&module, style);
    if shardings.parameters.iter().all(Option::is_none) {
        return;
    }
    let work = read_number("WORK", WORK);
    match compare_program(&module, Some(shardings), &bounds, work) {
        PartitionVerdict::Equal(report) => {
            tally.equal += 1;
            tally.operations += report.operations;
            tally.moved += report.moved_bytes();
            for (name, count) in &report.gathered {
                *tally.gathered.entry(name.clone()).or_default() += count;
            }
            for (name, own) in &report.collectives {
                *tally.collectives.entry(name).or_default() += own.count;
            }
        }
        PartitionVerdict::Skipped(SkipReason::Unsupported) => tally.skipped += 1,
        PartitionVerdict::Skipped(SkipReason::Work) => tally.long += 1,
        PartitionVerdict::Wrong(message) => {
            tally.wrong.push(format!("{name} {style:?}: {message}"))
        }
    }
}

fn run_models(styles: &[ShardingStyle], least: usize) {
    let Some(path) = find_corpus("stablehlo/models") else {
        return;
    };
    let mut tally = ModelTally::default();
    let only = std::env::var("ONLY").unwrap_or_default();
    let every = std::env::var("EVERY").is_ok();
    for (at, file) in list_files(&path, ".mlir").into_iter().enumerate() {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        // Sizes of these are not known before the arguments.
        if name.contains(&only) && !name.starts_with("dyn_") {
            // Each model has one of the styles, unless `EVERY` asks for all.
            let skipped = if every { 0 } else { at % styles.len() };
            let taken = if every { styles.len() } else { 1 };
            for style in styles.iter().skip(skipped).take(taken) {
                run_model(&file, *style, &mut tally);
            }
        }
    }
    eprintln!(
        "{} equal, {} wrong, {} skipped, {} long; {} operations, {} gathered, {:.0} bytes moved",
        tally.equal,
        tally.wrong.len(),
        tally.skipped,
        tally.long,
        tally.operations,
        tally.gathered.values().sum::<u64>(),
        tally.moved
    );
    eprintln!("{:?} {:?}", tally.collectives, tally.gathered);
    for wrong in &tally.wrong {
        eprintln!("  wrong: {}", wrong.trim_end());
    }
    assert!(tally.wrong.is_empty(), "some models differ");
    assert!(
        tally.equal >= least || !only.is_empty(),
        "fewer are equal than were"
    );
}

#[test]
fn models_are_equal_by_batch() {
    let styles = [2, 4, 8].map(ShardingStyle::Batch);
    run_models(&styles, LEAST_BY_BATCH);
}

#[test]
fn models_are_equal_by_any_sharding() {
    let seed = read_number("SEED", 7);
    let count = read_number("COUNT", 1);
    let styles: Vec<ShardingStyle> = (seed..seed + count).map(ShardingStyle::Random).collect();
    run_models(&styles, LEAST_BY_ANY);
}
