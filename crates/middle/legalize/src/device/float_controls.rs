//! Float controls: execution modes that preserve signed zeros, infinities and NaNs.
//!
//! The lowerings to shaders request these modes for each width of floats that they use. A device that cannot promise a mode for a
//! width runs the module without it. Modules from elsewhere keep their modes.

use spirula_spirv::grammar::enumerants::{Capability, ExecutionMode};
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// Drops the float controls of widths that a device does not support. `had` has a bit for each supported width.
pub fn drop_missing_float_controls(module: &mut SpirvModule, had: u32) {
    let modes = module.section_insts(ModuleSection::ExecutionModes);
    let asks = modes.filter(|m| m.operand_word(1) == ExecutionMode::SignedZeroInfNanPreserve.0);
    let asks: Vec<_> = asks.map(|m| (m.handle(), m.operand_word(2))).collect();
    let lacking = asks.iter().filter(|(_, width)| width & had == 0);
    let lacking: Vec<_> = lacking.map(|(inst, _)| *inst).collect();
    if !lacking.is_empty() && lacking.len() == asks.len() {
        let capability = Capability::SignedZeroInfNanPreserve.0;
        let declared = module.section_insts(ModuleSection::Capabilities);
        let declared = declared.filter(|c| c.operand_word(0) == capability);
        let declared: Vec<_> = declared.map(|c| c.handle()).collect();
        declared.iter().for_each(|inst| module.remove_inst(*inst));
    }
    lacking.iter().for_each(|inst| module.remove_inst(*inst));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_float_controls(had: u32) -> (usize, usize) {
        let text = "OpCapability Shader\nOpCapability SignedZeroInfNanPreserve\n\
            OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %1 \"main\"\n\
            OpExecutionMode %1 LocalSize 1 1 1\n\
            OpExecutionMode %1 SignedZeroInfNanPreserve 32\n\
            OpExecutionMode %1 SignedZeroInfNanPreserve 64\n\
            %2 = OpTypeVoid\n%3 = OpTypeFunction %2\n%1 = OpFunction %2 None %3\n\
            %4 = OpLabel\nOpReturn\nOpFunctionEnd\n";
        let words = spirula_spirv::text::parse_assembly(text, &Default::default()).unwrap();
        let mut module = SpirvModule::from_words(words).unwrap();
        drop_missing_float_controls(&mut module, had);
        let count = |section| module.section_insts(section).count();
        (
            count(ModuleSection::Capabilities),
            count(ModuleSection::ExecutionModes),
        )
    }

    #[test]
    fn wishes_that_a_device_lacks_are_dropped() {
        assert_eq!(count_float_controls(16 | 32 | 64), (2, 3));
        assert_eq!(count_float_controls(32), (2, 2));
        assert_eq!(count_float_controls(0), (1, 1));
    }
}
