//! The modules that are measured: the corpus.

use spirula_spirv::verify::VerifyOptions;
use spirula_spirv::{binary, text};
use std::path::Path;

/// A module in all forms that the measured work starts from.
pub struct Sample {
    pub name: String,
    pub bytes: Vec<u8>,
    pub words: Vec<u32>,
    pub text: String,
    /// Target environment, by the name that `spirv-val` uses.
    pub environment: String,
    pub options: VerifyOptions,
}

/// The binary modules of a corpus.
pub struct Corpus {
    pub samples: Vec<Sample>,
}

impl Corpus {
    /// The modules of the manifest below `SPIRULA_CORPUS`.
    pub fn read() -> Option<Corpus> {
        let folder = Path::new(&std::env::var_os("SPIRULA_CORPUS")?).join("spirv");
        let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).ok()?;
        let lines = manifest.lines().skip(1);
        let samples = lines
            .map(|line| line.split('\t').collect())
            .filter(|columns: &Vec<&str>| columns[0].ends_with(".spv"))
            .map(|columns| Sample::read(&folder, columns[0], columns[5]));
        Some(Corpus {
            samples: samples.collect::<Option<_>>()?,
        })
    }

    pub fn bytes(&self) -> usize {
        self.samples.iter().map(|s| s.bytes.len()).sum()
    }
}

impl Sample {
    fn read(folder: &Path, name: &str, environment: &str) -> Option<Sample> {
        let bytes = std::fs::read(folder.join(name)).ok()?;
        let words = binary::words_from_bytes(&bytes).ok()?;
        let target = environment.trim_end_matches("+scalar");
        Some(Sample {
            name: name.to_owned(),
            text: text::print_assembly(&words, &text::PrintOptions::default()).ok()?,
            bytes,
            words,
            environment: target.to_owned(),
            options: VerifyOptions {
                target: target.parse().ok()?,
                scalar_block_layout: environment.ends_with("+scalar"),
            },
        })
    }
}
