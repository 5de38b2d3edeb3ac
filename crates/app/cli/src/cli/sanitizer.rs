//! Options of the sanitizer, the device `cpu+san`, and its reports as JSON.

use crate::cli::{CommandFailure, CommandResult, files};
use clap::Args;
use serde_json::{Value, json};
use spirula_runtime::{FaultReport, SanitizerOptions};
use std::path::PathBuf;

/// Options of the sanitizer.
#[derive(Args, Debug, Default)]
pub struct SanitizerArgs {
    /// On cpu+san: run the invocations of a workgroup in an order that depends on N
    #[arg(long, value_name = "N")]
    pub order: Option<u64>,
    /// On cpu+san: loop iterations after which an invocation is taken not to end
    #[arg(long, value_name = "N")]
    pub loops: Option<u64>,
    /// On cpu+san: do not report a kind of fault (out-of-bounds, race, uninitialised, divergence, division, shift,
    /// endless-loop, or *). With :TEXT only where the kernel's name or a place contains the text
    #[arg(long, value_name = "KIND[:TEXT]")]
    pub suppress: Vec<String>,
    /// On cpu+san: report also races that algorithms often have on purpose. These are single reads of memory that
    /// others change by atomics, and searches in a structure that changes meanwhile
    #[arg(long)]
    pub strict: bool,
    /// On cpu+san: write the reports to a file, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

impl SanitizerArgs {
    /// The options as the runtime takes them.
    pub fn device_options(&self) -> SanitizerOptions {
        SanitizerOptions {
            seed: self.order,
            loops: self.loops.unwrap_or(SanitizerOptions::default().loops),
            suppressed: self.suppress.clone(),
            strict: self.strict,
        }
    }

    /// Writes the reports to the requested file, if there is one.
    pub fn write_report_file(&self, reports: &[FaultReport]) -> CommandResult {
        let Some(path) = &self.report else {
            return Ok(());
        };
        let all: Vec<Value> = reports.iter().map(report_to_json).collect();
        let text = serde_json::to_string_pretty(&all);
        let text = text.map_err(|e| CommandFailure::from_message(e.to_string()))?;
        files::write_text(path, &(text + "\n"))
    }
}

fn report_to_json(report: &FaultReport) -> Value {
    let site = |site: &spirula_runtime::InstructionSite| {
        let source = site
            .source
            .as_ref()
            .map(|(file, line, column)| json!({"file": file, "line": line, "column": column}));
        json!({
            "instruction": site.instruction,
            "function": site.function,
            "block": site.block,
            "index": site.index,
            "source": source,
        })
    };
    let invocation =
        |i: &spirula_runtime::InvocationId| json!({"group": i.group, "local": i.local});
    let other = report
        .other
        .as_ref()
        .map(|(place, by)| json!({"site": site(place), "invocation": by.as_ref().map(invocation)}));
    json!({
        "kind": report.kind.name(),
        "message": report.message,
        "kernel": report.kernel,
        "site": site(&report.site),
        "invocation": invocation(&report.invocation),
        "other": other,
        "times": report.times,
    })
}
