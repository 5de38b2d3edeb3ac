//! Conformance run: translates every file of a conformance table and reports the outcome of each.
//!
//! `conformance FOLDER OUTPUT` reads `FOLDER/index.tsv`. Its columns are the file, its expected
//! outcome, options of the test, target triple and more. Each translated module is written to
//! OUTPUT. Standard output has one line per file: the file, the expected outcome, `translated` or
//! `refused`, and the first reason. The SPIR-V validator can then judge the modules.

use spirula_diagnostics::SourceDiagnostic;
use spirula_llvm::{TranslationOptions, read_module, translate_module};
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: conformance FOLDER OUTPUT".into());
    };
    let (folder, output) = (Path::new(&folder), Path::new(&output));
    fs::create_dir_all(output)?;
    for line in fs::read_to_string(folder.join("index.tsv"))?
        .lines()
        .skip(1)
    {
        let columns: Vec<&str> = line.split('\t').collect();
        let [file, expected, flags, triple, ..] = columns[..] else {
            return Err(format!("the line {line} has too few columns").into());
        };
        let to = output.join(file.replace('/', "__")).with_extension("spv");
        if to.exists() {
            fs::remove_file(&to)?;
        }
        let said = match translate_input(&fs::read(folder.join(file))?, triple, flags) {
            Ok(module) => {
                fs::write(to, module)?;
                "translated\t".to_owned()
            }
            Err(diagnostics) => {
                let reasons: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
                format!("refused\t{}", reasons.join("; ").replace(['\t', '\n'], " "))
            }
        };
        println!("{file}\t{expected}\t{said}");
    }
    Ok(())
}

fn translate_input(
    bytes: &[u8],
    triple: &str,
    flags: &str,
) -> Result<Vec<u8>, Vec<SourceDiagnostic>> {
    let module = read_module(bytes).map_err(|fault| vec![fault])?;
    let triple = (!triple.is_empty()).then(|| triple.to_owned());
    // The tests of both tools permit unknown functions by an option.
    let imported = flags
        .split(' ')
        .filter(|flag| flag.contains("allow-unknown-intrinsics"));
    let imported = imported.map(|flag| flag.split_once('=').map_or("llvm.", |(_, names)| names));
    let options = TranslationOptions {
        triple,
        imported: imported.map(str::to_owned).collect(),
        ..TranslationOptions::default()
    };
    Ok(translate_module(&module, &options)?.to_bytes())
}
