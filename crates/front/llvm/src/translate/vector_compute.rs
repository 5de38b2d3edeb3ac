//! Vector compute: attributes of Intel's vector compiler.
//!
//! They state the roles of functions, parameters and variables (SPV_INTEL_vector_compute), and the
//! floating-point modes of functions (SPV_INTEL_float_controls2).

use super::translator::LlvmTranslator;
use crate::ir::{AttrSet, LlvmFunc};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{Decoration, ExecutionMode};

/// Attributes with their decorations. If the attribute has a number, it is the decoration's
/// operand.
type VectorComputeDecorations = &'static [(&'static str, Decoration)];

const OF_FUNCTIONS: VectorComputeDecorations = &[
    ("VCFunction", Decoration::VectorComputeFunctionINTEL),
    ("VCStackCall", Decoration::StackCallINTEL),
    ("VCCallable", Decoration::VectorComputeCallableFunctionINTEL),
    ("VCSIMTCall", Decoration::SIMTCallINTEL),
];

const OF_PARAMETERS: VectorComputeDecorations = &[
    ("VCArgumentIOKind", Decoration::FuncParamIOKindINTEL),
    (
        "VCSingleElementVector",
        Decoration::SingleElementVectorINTEL,
    ),
    ("VCMediaBlockIO", Decoration::MediaBlockIOINTEL),
];

const OF_VARIABLES: VectorComputeDecorations = &[
    ("VCGlobalVariable", Decoration::VectorComputeVariableINTEL),
    ("VCByteOffset", Decoration::GlobalVariableOffsetINTEL),
    ("VCVolatile", Decoration::Volatile),
    (
        "VCSingleElementVector",
        Decoration::SingleElementVectorINTEL,
    ),
];

/// Attribute with bits of how floats are computed with.
const FLOAT_CONTROL: &str = "VCFloatControl";

/// Widths of floats, with the bit that preserves denormal numbers of that width.
const WIDTHS: &[(u32, u64)] = &[(64, 0x40), (32, 0x80), (16, 0x400)];

/// Rounding modes by bits 4 and 5.
const ROUNDING: [ExecutionMode; 4] = [
    ExecutionMode::RoundingModeRTE,
    ExecutionMode::RoundingModeRTPINTEL,
    ExecutionMode::RoundingModeRTNINTEL,
    ExecutionMode::RoundingModeRTZ,
];

impl LlvmTranslator<'_> {
    /// The decorations of a function and its parameters.
    pub(super) fn apply_vector_compute_function(&mut self, func: LlvmFunc, id: Id, params: &[Id]) {
        if !self.may_use("SPV_INTEL_vector_compute") {
            return;
        }
        let module = self.module;
        let list = module.function(func).attributes;
        let set = module.attributes.function_set(list);
        self.by_attributes(id, set, OF_FUNCTIONS);
        for (index, &param) in params.iter().enumerate() {
            let set = module.attributes.param_set(list, index);
            self.by_attributes(param, set, OF_PARAMETERS);
        }
    }

    /// The execution modes of a kernel. Other functions get none: as decorations they would be
    /// repeated on one id, once for each width, which the Khronos validator refuses.
    pub(super) fn declare_vector_compute_modes(&mut self, func: LlvmFunc, entry: Id) {
        let module = self.module;
        let set = module
            .attributes
            .function_set(module.function(func).attributes);
        let Some(bits) = self.number_of(set, FLOAT_CONTROL) else {
            return;
        };
        if !self.may_use("SPV_INTEL_float_controls2") {
            return;
        }
        for &(width, denormals) in WIDTHS {
            let modes = [
                ROUNDING[(bits >> 4 & 3) as usize],
                if bits & denormals != 0 {
                    ExecutionMode::DenormPreserve
                } else {
                    ExecutionMode::DenormFlushToZero
                },
                if bits & 1 != 0 {
                    ExecutionMode::FloatingPointModeALTINTEL
                } else {
                    ExecutionMode::FloatingPointModeIEEEINTEL
                },
            ];
            for mode in modes {
                self.b.execution_mode(entry, mode, &[width]);
            }
        }
    }

    /// The decorations of a variable.
    pub(super) fn apply_vector_compute_variable(&mut self, id: Id, set: AttrSet) {
        if self.may_use("SPV_INTEL_vector_compute") {
            self.by_attributes(id, set, OF_VARIABLES);
        }
    }

    fn by_attributes(&mut self, id: Id, set: AttrSet, rows: VectorComputeDecorations) {
        for (name, decoration) in rows {
            let module = self.module;
            let key = module.strings.find_symbol(name);
            let Some(value) = key.and_then(|key| module.attributes.find_string(set, key)) else {
                continue;
            };
            let number = module.symbol_text(value).parse().ok();
            self.decorate_by_row(id, *decoration, number.into_iter().collect());
        }
    }

    /// The number that an attribute states.
    fn number_of(&self, set: AttrSet, name: &str) -> Option<u64> {
        let key = self.module.strings.find_symbol(name)?;
        let value = self.module.attributes.find_string(set, key)?;
        self.module.symbol_text(value).parse().ok()
    }
}
