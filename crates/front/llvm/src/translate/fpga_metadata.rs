//! FPGA metadata: metadata and annotations of Intel's compilers for FPGAs, which become
//! decorations.
//!
//! All of them are hints. A hint is ignored if no allowed extension has it.

use super::translator::LlvmTranslator;
use crate::ir::{LlvmFunc, LlvmMetadata};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::Decoration;

/// The operands that a function's metadata becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FpgaOperandForm {
    /// A decoration without operands, if the number is not zero.
    Flag,
    /// The operands of a decoration.
    Operands,
    /// One operand for each parameter; a negative number means no decoration.
    Parameters,
}

/// A row: the metadata, the decoration, the form of its numbers, and the extension without its
/// vendor prefix, as it has two names.
type FpgaDecorationRow = (&'static str, Decoration, FpgaOperandForm, &'static str);

const FUNCTIONS: &[FpgaDecorationRow] = &[
    (
        "stall_enable",
        Decoration::StallEnableALTERA,
        FpgaOperandForm::Flag,
        CLUSTERS,
    ),
    (
        "stall_free",
        Decoration::StallFreeALTERA,
        FpgaOperandForm::Flag,
        CLUSTERS,
    ),
    (
        "initiation_interval",
        Decoration::InitiationIntervalALTERA,
        FpgaOperandForm::Operands,
        PIPELINES,
    ),
    (
        "max_concurrency",
        Decoration::MaxConcurrencyALTERA,
        FpgaOperandForm::Operands,
        PIPELINES,
    ),
    (
        "pipeline_kernel",
        Decoration::PipelineEnableALTERA,
        FpgaOperandForm::Operands,
        PIPELINES,
    ),
    (
        "kernel_arg_buffer_location",
        Decoration::BufferLocationALTERA,
        FpgaOperandForm::Parameters,
        "fpga_buffer_location",
    ),
];

const CLUSTERS: &str = "fpga_cluster_attributes";
const PIPELINES: &str = "fpga_invocation_pipelining_attributes";
const DSPS: &str = "fpga_dsp_control";
const ACCESSES: &str = "fpga_memory_accesses";

/// Bits of `{params:BITS}` with their decorations.
const PARAMS: &[(u32, Decoration)] = &[
    (1, Decoration::BurstCoalesceALTERA),
    (4, Decoration::DontStaticallyCoalesceALTERA),
];

/// The bit of `{params:BITS}` that goes with `{cache-size:BYTES}`.
const CACHE: u32 = 2;

impl LlvmTranslator<'_> {
    /// Applies the decorations that a function's metadata requests for itself and its parameters.
    pub(super) fn apply_fpga_function(&mut self, func: LlvmFunc, id: Id, params: &[Id]) {
        for &(name, decoration, form, extension) in FUNCTIONS {
            let Some(node) = self.fpga_metadata(func, name, extension) else {
                continue;
            };
            let numbers = self.read_numbers(node);
            match form {
                FpgaOperandForm::Flag if numbers.first().is_some_and(|n| *n != 0) => {
                    self.decorate_by_row(id, decoration, Vec::new());
                }
                FpgaOperandForm::Flag => {}
                FpgaOperandForm::Operands => self.decorate_by_row(id, decoration, numbers),
                FpgaOperandForm::Parameters => {
                    for (&param, &number) in params.iter().zip(&numbers) {
                        if number as i32 >= 0 {
                            self.decorate_by_row(param, decoration, vec![number]);
                        }
                    }
                }
            }
        }
        if let Some(node) = self.fpga_metadata(func, "prefer_dsp", DSPS)
            && let [mode, ..] = self.read_numbers(node)[..]
        {
            let passed_on = self.fpga_metadata(func, "propagate_dsp_preference", DSPS);
            let words = vec![mode, u32::from(passed_on.is_some())];
            self.decorate_by_row(id, Decoration::MathOpDSPModeALTERA, words);
        }
    }

    /// Applies the decorations that the annotation `{params:BITS}{cache-size:BYTES}` requests for a
    /// pointer. Returns whether the annotation has this form.
    pub(super) fn apply_fpga_accesses(&mut self, id: Id, text: &str) -> bool {
        let number = |name: &str| -> Option<u32> {
            let (_, rest) = text.split_once(name)?;
            rest.split('}').next()?.parse().ok()
        };
        let Some(bits) = number("{params:") else {
            return false;
        };
        if !self.has_fpga(ACCESSES) {
            return true;
        }
        for &(bit, decoration) in PARAMS {
            if bits & bit != 0 {
                self.decorate_by_row(id, decoration, Vec::new());
            }
        }
        if bits & CACHE != 0
            && let Some(bytes) = number("{cache-size:")
        {
            self.decorate_by_row(id, Decoration::CacheSizeALTERA, vec![bytes]);
        }
        true
    }

    /// Metadata of a function, if the extension that it needs is allowed.
    fn fpga_metadata(&self, func: LlvmFunc, name: &str, extension: &str) -> Option<LlvmMetadata> {
        let node = self.module.function_metadata(func, name)?;
        self.has_fpga(extension).then_some(node)
    }

    /// Whether an extension is allowed under one of its names.
    fn has_fpga(&self, extension: &str) -> bool {
        ["SPV_ALTERA_", "SPV_INTEL_"]
            .iter()
            .any(|vendor| self.may_use(&format!("{vendor}{extension}")))
    }
}
