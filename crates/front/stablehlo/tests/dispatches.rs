//! Number of dispatches of models, for a processor and for a graphics card, compared to IREE's
//! 3.13.
//!
//! `BLESS=1` writes the numbers to `tests/dispatches.tsv`; a greater number than there is an error.

use spirula_stablehlo::{mlir, translate::translate_entry};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use spirula_testing::find_corpus;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const TABLE: &str = "tests/dispatches.tsv";
const HEADER: &str = "model\tprocessor\tgraphics\tiree\n";

/// Dispatches of a model for a kind of device.
fn dispatches(model: &Path, profile: ScheduleProfile) -> usize {
    let bytes = fs::read(model).expect("the model can be read");
    let module = mlir::parse_text(&bytes).expect("the model is well formed");
    let function = translate_entry(&module, "main").expect("the model is translated");
    let (_, dispatches) = spirula_tensor::schedule_function(
        function.function,
        profile,
        &DispatchTuning::default(),
        &mut |_, _| {},
    )
    .expect("the model is scheduled");
    dispatches.len()
}

#[test]
fn models_take_no_more_dispatches_than_they_did() {
    let Some(folder) = find_corpus("stablehlo/models") else {
        return;
    };
    let table = fs::read_to_string(TABLE).expect("the table is there");
    let (mut found, mut more) = (HEADER.to_owned(), Vec::new());
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, most @ .., iree] = &fields[..] else {
            panic!("no row: {line}");
        };
        let model = folder.join(name).with_extension("mlir");
        let counts =
            [ScheduleProfile::CPU, ScheduleProfile::GPU].map(|profile| dispatches(&model, profile));
        for (count, most) in counts.iter().zip(most) {
            if !most.parse::<usize>().is_ok_and(|most| *count <= most) {
                more.push(format!("{name}: {count}, not at most {most}"));
            }
        }
        let _ = writeln!(found, "{name}\t{}\t{}\t{iree}", counts[0], counts[1]);
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(TABLE, found).expect("the table can be written");
        return;
    }
    assert!(more.is_empty(), "{}", more.join("\n"));
}
