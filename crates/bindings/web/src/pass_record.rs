//! Records of the passes that ran over a module, with the text after each that changed it.

use serde::Serialize;
use spirula_opt::{PassObserver, PassOutcome, SpirvPass};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{PrintOptions, print_assembly};

/// Most bytes of all texts of a compilation. Texts beyond are left out.
const MOST_TEXT: usize = 24 << 20;

/// A pass that ran.
#[derive(Serialize)]
pub(crate) struct PassRecord {
    name: &'static str,
    changed: bool,
    /// The counts of the pass that are not 0.
    statistics: Vec<String>,
    /// The module after it, where it changed and there was room for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// An observer that records passes.
pub(crate) struct PassRecorder {
    records: Vec<PassRecord>,
    /// Bytes of text that may be added.
    room: usize,
}

impl PassRecorder {
    /// A recorder without records.
    pub(crate) fn new() -> PassRecorder {
        PassRecorder {
            records: Vec::new(),
            room: MOST_TEXT,
        }
    }

    /// Takes the records since the last call.
    pub(crate) fn take_records(&mut self) -> Vec<PassRecord> {
        std::mem::take(&mut self.records)
    }
}

impl PassObserver for PassRecorder {
    fn after_pass(&mut self, pass: &SpirvPass, module: &SpirvModule, outcome: &PassOutcome) {
        let changed = outcome.has_changed();
        let text = changed.then(|| print_module(module));
        let text = text.filter(|text| text.len() <= self.room);
        self.room -= text.as_ref().map_or(0, String::len);
        let counts = outcome.statistics.iter().filter(|(_, count)| *count > 0);
        self.records.push(PassRecord {
            name: pass.name,
            changed,
            statistics: counts
                .map(|(what, count)| format!("{count} {what}"))
                .collect(),
            text,
        });
    }
}

/// The assembly of a module with names; an instruction that has none is a message.
pub(crate) fn print_module(module: &SpirvModule) -> String {
    let options = PrintOptions {
        friendly_names: true,
        ..PrintOptions::default()
    };
    let printed = print_assembly(&module.to_words(), &options);
    printed.unwrap_or_else(|error| format!("; {error}\n"))
}
