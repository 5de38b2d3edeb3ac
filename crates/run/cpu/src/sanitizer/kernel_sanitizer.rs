//! Kernel sanitizer: memory, options and reports that last over launches.

use super::shadow_memory::ShadowMemory;
use crate::memory::memory_span::MemorySpan;
use rustc_hash::FxHashMap;
use spirula_resource::{FaultKind, FaultReport, SanitizerOptions};

/// Most different faults that are reported.
const MAX_REPORTS: usize = 1000;

/// The state of the sanitizer between launches, and its reports.
#[derive(Default)]
pub struct KernelSanitizer {
    pub(crate) options: SanitizerOptions,
    pub(crate) regions: ShadowMemory,
    reports: Vec<FaultReport>,
    /// Reports by kernel, kind and sites.
    known: FxHashMap<FaultKey, Option<usize>>,
}

/// The properties by which two faults count as the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FaultKey {
    /// The kernel's number.
    pub kernel: u64,
    pub kind: FaultKind,
    pub site: u16,
    pub other: u16,
}

impl KernelSanitizer {
    /// A sanitizer without reports.
    pub fn new(options: SanitizerOptions) -> KernelSanitizer {
        KernelSanitizer {
            options,
            ..KernelSanitizer::default()
        }
    }

    /// Says that kernels may use memory, also by addresses that they compute.
    pub fn add_memory(&mut self, memory: MemorySpan) {
        self.regions
            .add_region(memory.address as u64, memory.length);
    }

    /// Says that they may not any more.
    pub fn remove_memory(&mut self, address: *const u8) {
        self.regions.remove_region(address as u64);
    }

    /// All faults so far, in the order in which they were found.
    pub fn reports(&self) -> &[FaultReport] {
        &self.reports
    }

    /// Takes the reports out.
    pub fn take_reports(&mut self) -> Vec<FaultReport> {
        self.known.clear();
        std::mem::take(&mut self.reports)
    }

    pub(super) fn record_fault(&mut self, fault: FaultKey, make: impl FnOnce() -> FaultReport) {
        if let Some(known) = self.known.get(&fault) {
            if let Some(at) = *known {
                self.reports[at].times += 1;
            }
            return;
        }
        let report = make();
        let wanted = self.reports.len() < MAX_REPORTS && !self.is_suppressed(&report);
        self.known
            .insert(fault, wanted.then_some(self.reports.len()));
        if wanted {
            self.reports.push(report);
        }
    }

    fn is_suppressed(&self, report: &FaultReport) -> bool {
        let has = |text: &str| {
            let other = report.other.as_ref().map(|o| o.0.to_string());
            report.kernel.contains(text)
                || report.site.to_string().contains(text)
                || other.is_some_and(|o| o.contains(text))
        };
        self.options.suppressed.iter().any(|rule| {
            let (kind, text) = rule.split_once(':').unwrap_or((rule, ""));
            (kind == "*" || kind == report.kind.name()) && has(text)
        })
    }
}
