//! The modules that are measured.

use spirula_spirv::verify::Options;
use spirula_spirv::{binary, text};
use std::path::{Path, PathBuf};

/// A module in all the forms that work starts from.
pub struct Sample {
    pub file: PathBuf,
    pub words: Vec<u32>,
    pub text: String,
    pub options: Options,
}

/// The binary modules of a corpus.
pub struct Corpus {
    pub folder: PathBuf,
    pub samples: Vec<Sample>,
    pub bytes: usize,
}

impl Corpus {
    /// The modules that the manifest below `SPIRULA_CORPUS` names.
    pub fn read() -> Option<Corpus> {
        let folder = Path::new(&std::env::var_os("SPIRULA_CORPUS")?).join("spirv");
        let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).ok()?;
        let mut corpus = Corpus {
            folder: folder.clone(),
            samples: Vec::new(),
            bytes: 0,
        };
        for line in manifest.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            if !columns[0].ends_with(".spv") {
                continue;
            }
            let file = folder.join(columns[0]);
            let bytes = std::fs::read(&file).ok()?;
            let words = binary::words(&bytes).ok()?;
            let options = Options {
                target: columns[5].trim_end_matches("+scalar").parse().ok()?,
                scalar_block_layout: columns[5].ends_with("+scalar"),
            };
            corpus.bytes += bytes.len();
            corpus.samples.push(Sample {
                file,
                text: text::print(&words, &text::PrintOptions::default()).ok()?,
                words,
                options,
            });
        }
        Some(corpus)
    }
}
