//! What a module needs of capabilities, extensions and versions, found from what it uses.
//!
//! What the grammar says of each instruction and enumerant is found from its rows; what it does not
//! say (widths of numbers, storage classes, variable pointers, images) stands in `rules`. A capability
//! or extension that neither mentions cannot be derived, so that declaring it is reason enough to keep
//! it.

mod choose;
mod collect;
mod rules;
mod tables;

pub use choose::{Ceiling, Choice, Exceeded};
pub(crate) use collect::ROUNDING;

use crate::grammar::Version;
use crate::grammar::enumerants::Capability;
use crate::ir::{Inst, Module, Section};
use std::collections::{BTreeMap, BTreeSet};

/// Why something is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The first instruction that needs it; none where it is the module as a whole.
    pub inst: Option<Inst>,
    /// What of it does: an instruction, or an enumerant with its kind.
    pub what: String,
}

/// What a module's instructions and enumerants ask for in a version of SPIR-V.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    version: Version,
    /// Each need as the capabilities of which one is enough.
    capabilities: BTreeMap<Vec<u32>, Reason>,
    /// Each need as the extensions of which one is enough.
    extensions: BTreeMap<Vec<&'static str>, Reason>,
    /// What the version does not have, with or without extensions, and the version that does.
    newer: Vec<(Version, Reason)>,
    /// Declared capabilities that are to be kept: they cannot be derived, or only allow more.
    kept: BTreeMap<u32, Reason>,
    /// Declared extensions that are to be kept in the same way.
    kept_extensions: BTreeSet<String>,
    declared: Vec<u32>,
    declared_extensions: Vec<String>,
}

impl Needs {
    /// What the module needs in its own version. One pass over the module.
    pub fn compute(module: &Module) -> Self {
        Self::in_version(module, module.version)
    }

    /// What the module would need in another version: what that has not is needed as an extension
    /// where there is one.
    pub fn in_version(module: &Module, version: Version) -> Self {
        let capabilities = module.section(Section::Capabilities);
        let extensions = module.section(Section::Extensions);
        let mut needs = Needs {
            version,
            capabilities: BTreeMap::new(),
            extensions: BTreeMap::new(),
            newer: Vec::new(),
            kept: BTreeMap::new(),
            kept_extensions: BTreeSet::new(),
            declared: capabilities.map(|i| i.word(0)).collect(),
            declared_extensions: extensions.map(|i| i.string(0)).collect(),
        };
        collect::collect(module, &mut needs);
        rules::apply(module, &mut needs);
        needs
    }

    /// The needs that a set of capabilities, with those that they imply, does not meet: each as the
    /// capabilities of which one would be enough.
    pub fn unmet(&self, declared: &[Capability]) -> Vec<Vec<Capability>> {
        let all = choose::implied(declared.iter().map(|c| c.0));
        let missing = self.capabilities.keys();
        let missing = missing.filter(|any| !any.iter().any(|c| all.contains(c)));
        missing
            .map(|any| any.iter().map(|c| Capability(*c)).collect())
            .collect()
    }

    /// What the version lacks, with the version that has it and the instruction that uses it.
    pub fn newer(&self) -> &[(Version, Reason)] {
        &self.newer
    }

    /// The capabilities that the module declares, in its order.
    pub fn declared(&self) -> impl Iterator<Item = Capability> {
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
    fn ask(&mut self, any: &[Capability], inst: Option<Inst>, what: impl FnOnce() -> String) {
        if any.is_empty() {
            return;
        }
        let any: Vec<u32> = any.iter().map(|c| c.0).collect();
        self.capabilities
            .entry(any)
            .or_insert_with(|| Reason { inst, what: what() });
    }

    /// What is declared of these capabilities is kept.
    fn keep(&mut self, any: &[Capability], inst: Option<Inst>, what: impl Fn() -> String) {
        for capability in any.iter().filter(|c| self.declared.contains(&c.0)) {
            let reason = || Reason { inst, what: what() };
            self.kept.entry(capability.0).or_insert_with(reason);
        }
    }
}
