//! Needs analysis: the capabilities, extensions and versions that a module requires, derived from what it uses.
//!
//! The rows of the grammar give the needs of each instruction and enumerant. Needs that the grammar lacks (widths
//! of numbers, storage classes, variable pointers, images) are in `rules`. A capability or extension that neither
//! mentions cannot be derived. A declaration of it is therefore kept.

mod allowed_extensions;
mod choose;
mod collect;
mod emission_rules;
mod narrow_rules;
mod pointer_rules;
mod rules;
mod tables;

pub use allowed_extensions::AllowedExtensions;
pub use choose::{ExceededRequirement, RequirementCeiling, RequirementChoice};
pub(crate) use collect::ROUNDING;

use crate::grammar::SpirvVersion;
use crate::grammar::enumerants::Capability;
use crate::ir::{Inst, ModuleSection, SpirvModule};
use collect::RowCollector;
use rules::RequirementRules;
use std::collections::{BTreeMap, BTreeSet};

/// The reason of a need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementReason {
    /// The first instruction with the need; `None` for the module as a whole.
    pub inst: Option<Inst>,
    /// The part of the instruction: its opcode, or an enumerant with its kind.
    pub what: String,
}

/// The needs of a module's instructions and enumerants in a version of SPIR-V.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRequirements {
    version: SpirvVersion,
    /// Each need: a set of capabilities of which one suffices.
    capabilities: BTreeMap<Vec<u32>, RequirementReason>,
    /// Each need: a set of extensions of which one suffices.
    extensions: BTreeMap<Vec<&'static str>, RequirementReason>,
    /// Features that the version lacks even with extensions, and the version that has them.
    newer: Vec<(SpirvVersion, RequirementReason)>,
    /// Declared capabilities to keep: they cannot be derived, or only permit more.
    kept: BTreeMap<u32, RequirementReason>,
    /// Declared extensions to keep, likewise.
    kept_extensions: BTreeSet<String>,
    declared: Vec<u32>,
    declared_extensions: Vec<String>,
    /// Whether the module was just emitted, so that its declarations state no permissions.
    is_emitted: bool,
}

impl ModuleRequirements {
    /// The needs of the module in its own version. One pass over the module.
    pub fn from_module(module: &SpirvModule) -> Self {
        Self::in_version(module, module.version)
    }

    /// The needs of a module that its emitter has just finished, and that declares no capabilities. `kind` has those
    /// that state its kind, such as `Shader`. Permissions that depend on the use of a value are needs as well: storage
    /// of narrow numbers, and accesses of images without a format. One pass over the module.
    pub fn from_emitted(module: &SpirvModule, version: SpirvVersion, kind: &[Capability]) -> Self {
        let mut needs = Self::without_instructions(module, version);
        needs.is_emitted = true;
        needs.declared.extend(kind.iter().map(|c| c.0));
        needs.derive_from(module)
    }

    /// The needs of the module in another version. Features that this version lacks become needs of extensions,
    /// if there are any.
    pub fn in_version(module: &SpirvModule, version: SpirvVersion) -> Self {
        Self::without_instructions(module, version).derive_from(module)
    }

    fn without_instructions(module: &SpirvModule, version: SpirvVersion) -> Self {
        let capabilities = module.section_insts(ModuleSection::Capabilities);
        let extensions = module.section_insts(ModuleSection::Extensions);
        ModuleRequirements {
            version,
            capabilities: BTreeMap::new(),
            extensions: BTreeMap::new(),
            newer: Vec::new(),
            kept: BTreeMap::new(),
            kept_extensions: BTreeSet::new(),
            declared: capabilities.map(|i| i.operand_word(0)).collect(),
            declared_extensions: extensions.map(|i| i.string_operand(0)).collect(),
            is_emitted: false,
        }
    }

    fn derive_from(mut self, module: &SpirvModule) -> Self {
        let mut rows = RowCollector::new(module);
        let mut rules = RequirementRules::new(module, &mut self);
        for handle in module.all_handles() {
            let Some(row) = module.opcode(handle).row_index() else {
                rules.inspect_inst(module.inst(handle));
                continue;
            };
            // Most instructions have an opcode without operands or types to look at.
            if !rows.is_done(row) {
                rows.collect_from_inst(rules.needs, row, module.inst(handle));
            }
            if rules.is_concerned(row) {
                rules.inspect_inst(module.inst(handle));
            }
        }
        rules.finish_requirements();
        collect::keep_what_no_row_mentions(module, &mut self);
        self
    }

    /// The needs that a set of capabilities, with those that they imply, does not meet. For each need the
    /// capabilities of which one would suffice.
    pub fn find_unmet(&self, declared: &[Capability]) -> Vec<Vec<Capability>> {
        let all = choose::collect_implied_capabilities(declared.iter().map(|c| c.0));
        let missing = self.capabilities.keys();
        let missing = missing.filter(|any| !any.iter().any(|c| all.contains(c)));
        missing
            .map(|any| any.iter().map(|c| Capability(*c)).collect())
            .collect()
    }

    /// Features that the version lacks, with the version that has them and the instruction that uses them.
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

    /// Records the need of one of these capabilities.
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

    /// Keeps the declarations of these capabilities.
    fn keep_declared(&mut self, any: &[Capability], inst: Option<Inst>, what: impl Fn() -> String) {
        for capability in any.iter().filter(|c| self.declared.contains(&c.0)) {
            let reason = || RequirementReason { inst, what: what() };
            self.kept.entry(capability.0).or_insert_with(reason);
        }
    }
}
