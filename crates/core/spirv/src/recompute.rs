//! Recomputation of declarations: makes a module declare exactly the capabilities and extensions that it uses.

use crate::analysis::{ModuleRequirements, RequirementCeiling, RequirementChoice};
use crate::build::string_words;
use crate::grammar::Op;
use crate::grammar::enumerants::Capability;
use crate::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use spirula_diagnostics::SourceDiagnostic;

/// Has a module declare the capabilities and extensions that it needs: what it declares and does not
/// use goes, what is missing comes. Declarations that cannot be derived from its instructions stay. Returns whether
/// anything changed.
///
/// ```
/// use spirula_spirv::analysis::RequirementCeiling;
/// use spirula_spirv::ir::{SpirvModule, ModuleSection};
/// use spirula_spirv::recompute::recompute_capabilities;
/// use spirula_spirv::text::{ParseOptions, parse_assembly};
///
/// let source = "OpCapability Shader\nOpCapability Geometry\nOpCapability Linkage\n\
///     OpMemoryModel Logical GLSL450\n%1 = OpTypeFloat 64";
/// let words = parse_assembly(source, &ParseOptions::default()).unwrap();
/// let mut module = SpirvModule::from_words(words).unwrap();
/// assert_eq!(recompute_capabilities(&mut module, &RequirementCeiling::default()), Ok(true));
/// let declared: Vec<String> = module.section_insts(ModuleSection::Capabilities)
///     .map(|c| spirula_spirv::grammar::enumerants::Capability(c.operand_word(0)).to_string())
///     .collect();
/// assert_eq!(declared, ["Shader", "Linkage", "Float64"]);
/// ```
///
/// # Errors
/// When the ceiling does not allow what an instruction needs; nothing is changed then.
pub fn recompute_capabilities(
    module: &mut SpirvModule,
    ceiling: &RequirementCeiling,
) -> Result<bool, Box<SourceDiagnostic>> {
    let needs = ModuleRequirements::from_module(module);
    let choice = needs.choose_within(ceiling);
    let choice = choice.map_err(|error| Box::new(error.to_diagnostic(module)))?;
    Ok(declare_chosen(module, &choice, true))
}

/// Declares the capabilities and extensions of a module that its emitter has just finished. `kind` has the capabilities
/// that state the module's kind, such as `Shader`. Extensions that no instruction shows stay declared.
///
/// # Errors
/// When the module's version lacks a feature that it uses; nothing is changed then.
pub fn declare_requirements(
    module: &mut SpirvModule,
    kind: &[Capability],
) -> Result<(), Box<SourceDiagnostic>> {
    let needs = ModuleRequirements::from_emitted(module, module.version, kind);
    let choice = needs.choose_within(&RequirementCeiling::default());
    let choice = choice.map_err(|error| Box::new(error.to_diagnostic(module)))?;
    declare_chosen(module, &choice, false);
    Ok(())
}

/// Makes a module declare a choice. With `only`, other declarations are deleted. Returns whether anything
/// changed.
pub fn declare_chosen(module: &mut SpirvModule, choice: &RequirementChoice, only: bool) -> bool {
    let capabilities: Vec<Vec<u32>> = choice.capabilities.iter().map(|c| vec![c.0]).collect();
    let extensions: Vec<Vec<u32>> = choice.extensions.iter().map(|e| string_words(e)).collect();
    let mut changed = update_declarations(module, ModuleSection::Capabilities, &capabilities, only);
    changed |= update_declarations(module, ModuleSection::Extensions, &extensions, only);
    changed
}

/// Adds the missing instructions with these words to a section. With `only`, instructions with other words are
/// deleted.
fn update_declarations(
    module: &mut SpirvModule,
    section: ModuleSection,
    wanted: &[Vec<u32>],
    only: bool,
) -> bool {
    let op = match section {
        ModuleSection::Capabilities => Op::Capability,
        _ => Op::Extension,
    };
    let mut present = vec![false; wanted.len()];
    let mut changed = false;
    let old: Vec<Inst> = module.section_insts(section).map(InstRef::handle).collect();
    for inst in old {
        let i = module.inst(inst);
        let at = wanted.iter().position(|words| i.words() == words);
        match at.filter(|at| i.op() == op && !present[*at]) {
            Some(at) => present[at] = true,
            None if i.op() == op && only => {
                module.remove_inst(inst);
                changed = true;
            }
            None => {}
        }
    }
    for (words, present) in wanted.iter().zip(present) {
        if !present {
            let inst = module.create_inst(op, words);
            module.append_inst(section.list(), inst);
            changed = true;
        }
    }
    changed
}
