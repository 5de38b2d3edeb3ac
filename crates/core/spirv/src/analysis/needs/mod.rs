//! Needs analysis: the capabilities, extensions and versions that a module requires, derived from what it uses.
//!
//! The rows of the grammar give the needs of each instruction and enumerant. Needs that the grammar lacks (widths
//! of numbers, storage classes, variable pointers, images) are in `rules`. A capability or extension that neither
//! mentions cannot be derived. A declaration of it is therefore kept.

mod choose;
mod collect;
mod rules;
mod tables;

pub use choose::{ExceededRequirement, RequirementCeiling, RequirementChoice};
pub(crate) use collect::ROUNDING;

use crate::grammar::SpirvVersion;
use crate::grammar::enumerants::Capability;
use crate::ir::{Inst, ModuleSection, SpirvModule};
use std::collections::{BTreeMap, BTreeSet};

/// Why something is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementReason {
    /// The first instruction that needs it; none where it is the module as a whole.
    pub inst: Option<Inst>,
    /// What of it does: an instruction, or an enumerant with its kind.
    pub what: String,
}

/// What a module's instructions and enumerants ask for in a version of SPIR-V.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRequirements {
    version: SpirvVersion,
    /// Each need as the capabilities of which one is enough.
    capabilities: BTreeMap<Vec<u32>, RequirementReason>,
    /// Each need as the extensions of which one is enough.
    extensions: BTreeMap<Vec<&'static str>, RequirementReason>,
    /// What the version does not have, with or without extensions, and the version that does.
    newer: Vec<(SpirvVersion, RequirementReason)>,
    /// Declared capabilities that are to be kept: they cannot be derived, or only allow more.
    kept: BTreeMap<u32, RequirementReason>,
    /// Declared extensions that are to be kept in the same way.
    kept_extensions: BTreeSet<String>,
    declared: Vec<u32>,
    declared_extensions: Vec<String>,
}

impl ModuleRequirements {
    /// What the module needs in its own version. One pass over the module.
    pub fn from_module(module: &SpirvModule) -> Self {
        Self::in_version(module, module.version)
    }

    /// What the module would need in another version: what that has not is needed as an extension
    /// where there is one.
    pub fn in_version(module: &SpirvModule, version: SpirvVersion) -> Self {
        let capabilities = module.section_insts(ModuleSection::Capabilities);
        let extensions = module.section_insts(ModuleSection::Extensions);
        let mut needs = ModuleRequirements {
            version,
            capabilities: BTreeMap::new(),
            extensions: BTreeMap::new(),
            newer: Vec::new(),
            kept: BTreeMap::new(),
            kept_extensions: BTreeSet::new(),
            declared: capabilities.map(|i| i.operand_word(0)).collect(),
            declared_extensions: extensions.map(|i| i.string_operand(0)).collect(),
        };
        collect::collect_requirements(module, &mut needs);
        rules::apply_requirement_rules(module, &mut needs);
        needs
    }

    /// The needs that a set of capabilities, with those that they imply, does not meet: each as the
    /// capabilities of which one would be enough.
    pub fn find_unmet(&self, declared: &[Capability]) -> Vec<Vec<Capability>> {
        let all = choose::collect_implied_capabilities(declared.iter().map(|c| c.0));
        let missing = self.capabilities.keys();
        let missing = missing.filter(|any| !any.iter().any(|c| all.contains(c)));
        missing
            .map(|any| any.iter().map(|c| Capability(*c)).collect())
            .collect()
    }

    /// What the version lacks, with the version that has it and the instruction that uses it.
    pub fn newer_versions(&self) -> &[(SpirvVersion, RequirementReason)] {
        &self.newer
    }

    /// The capabilities that the module declares, in its order.
    pub fn declared_capabilities(&self) -> impl Iterator<Item = Capability> {
        self.declared.iter().map(|c| Capability(*c))
    }

    /// The extensions that the module declares, in its order.
    pub fn declared_extensions(&self) -> &[String] {
        &self.declared_extensions
    }

    fn has_extension(&self, name: &str) -> bool {
        self.declared_extensions.iter().any(|e| e == name)
    }

    /// One of these capabilities is needed.
    fn require_any(
        &mut self,
        any: &[Capability],
        inst: Option<Inst>,
        what: impl FnOnce() -> String,
    ) {
        if any.is_empty() {
            return;
        }
        let any: Vec<u32> = any.iter().map(|c| c.0).collect();
        self.capabilities
            .entry(any)
            .or_insert_with(|| RequirementReason { inst, what: what() });
    }

    /// What is declared of these capabilities is kept.
    fn keep_declared(&mut self, any: &[Capability], inst: Option<Inst>, what: impl Fn() -> String) {
        for capability in any.iter().filter(|c| self.declared.contains(&c.0)) {
            let reason = || RequirementReason { inst, what: what() };
            self.kept.entry(capability.0).or_insert_with(reason);
        }
    }
}
