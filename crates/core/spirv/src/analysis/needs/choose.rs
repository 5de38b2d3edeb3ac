//! Choice of capabilities: which capabilities and extensions meet all needs, within those that are allowed.

use super::tables::{KINDS, VENDORS};
use super::{AllowedExtensions, ModuleRequirements, RequirementReason};
use crate::grammar::enumerants::Capability;
use crate::grammar::{Kind, SpirvVersion, extension_version};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// An upper bound of what a module may declare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequirementCeiling {
    /// The capabilities that may be declared, with those that they imply; `None` allows all.
    pub capabilities: Option<Vec<Capability>>,
    /// The extensions that may be declared.
    pub extensions: AllowedExtensions,
}

/// The minimal declarations of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementChoice {
    /// Capabilities by increasing number, without those that others imply.
    pub capabilities: Vec<Capability>,
    /// Extensions by name.
    pub extensions: Vec<String>,
    /// The reason of each capability.
    pub reasons: Vec<RequirementReason>,
}

/// A need that the ceiling or the version does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceededRequirement {
    /// The reason of the need.
    pub reason: RequirementReason,
    /// The need, such as `the capability Float64`.
    pub needed: String,
}

impl ExceededRequirement {
    fn new(reason: &RequirementReason, needed: String) -> ExceededRequirement {
        let reason = reason.clone();
        ExceededRequirement { reason, needed }
    }

    /// The error with the position of the instruction in its module.
    pub fn to_diagnostic(&self, module: &crate::ir::SpirvModule) -> SourceDiagnostic {
        let inst = self.reason.inst.map(|inst| module.inst(inst));
        let place = inst.map_or(SourceLocation::Unknown, |inst| inst.place());
        SourceDiagnostic::error(place, self.to_string())
    }
}

impl fmt::Display for ExceededRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} needs {}, which is not allowed",
            self.reason.what, self.needed
        )
    }
}

impl std::error::Error for ExceededRequirement {}

impl ModuleRequirements {
    /// Capabilities that meet all needs, by increasing number. Declared capabilities that are used are
    /// preferred; for needs without one, the first that meets the need.
    pub fn minimal_capabilities(&self) -> Vec<Capability> {
        let mut exceeded = Vec::new();
        let chosen = self.choose_capabilities(None, &mut exceeded);
        let chosen = if exceeded.is_empty() {
            chosen
        } else {
            BTreeMap::new()
        };
        chosen.into_keys().map(Capability).collect()
    }

    /// The minimal declarations that meet all needs within a ceiling. Existing declarations are preferred.
    ///
    /// # Errors
    /// The first need that cannot be met.
    pub fn choose_within(
        &self,
        ceiling: &RequirementCeiling,
    ) -> Result<RequirementChoice, ExceededRequirement> {
        let (choice, exceeded) = self.choose_all_within(ceiling);
        exceeded.into_iter().next().map_or(Ok(choice), Err)
    }

    /// The minimal declarations that meet the needs within a ceiling, and all needs that cannot be met.
    pub fn choose_all_within(
        &self,
        ceiling: &RequirementCeiling,
    ) -> (RequirementChoice, Vec<ExceededRequirement>) {
        let newer = self.newer.iter().map(|(version, reason)| {
            let needed = format!("SPIR-V {version}");
            ExceededRequirement::new(reason, needed)
        });
        let mut exceeded: Vec<ExceededRequirement> = newer.collect();
        let allowed = ceiling.capabilities.as_ref();
        let allowed = allowed.map(|list| collect_implied_capabilities(list.iter().map(|c| c.0)));
        let chosen = self.choose_capabilities(allowed.as_ref(), &mut exceeded);
        let extensions = self.choose_extensions(&chosen, &ceiling.extensions, &mut exceeded);
        let choice = RequirementChoice {
            capabilities: chosen.keys().map(|c| Capability(*c)).collect(),
            extensions,
            reasons: chosen.into_values().collect(),
        };
        (choice, exceeded)
    }

    /// The capabilities with the reason for each.
    fn choose_capabilities(
        &self,
        allowed: Option<&BTreeSet<u32>>,
        exceeded: &mut Vec<ExceededRequirement>,
    ) -> BTreeMap<u32, RequirementReason> {
        let is_allowed = |c: &u32| allowed.is_none_or(|all| all.contains(c));
        let describe = |any: &[u32]| {
            let names: Vec<String> = any.iter().map(|c| Capability(*c).to_string()).collect();
            format!("the capability {}", names.join(" or "))
        };
        let mut chosen = self.kept.clone();
        for (capability, reason) in self.kept.iter().filter(|(c, _)| !is_allowed(c)) {
            exceeded.push(ExceededRequirement::new(reason, describe(&[*capability])));
        }
        let declared = collect_implied_capabilities(self.declared.iter().copied());
        // Needs with a single solution come first, because it may meet other needs as well.
        let (single, several): (Vec<_>, Vec<_>) = self
            .capabilities
            .iter()
            .partition(|(any, _)| any.len() == 1);
        let mut met = collect_implied_capabilities(chosen.keys().copied());
        for (any, reason) in single.into_iter().chain(several) {
            if any.iter().any(|c| met.contains(c)) {
                continue;
            }
            let possible = any.iter().filter(|c| is_allowed(c));
            let first = possible.clone().min_by_key(|c| self.rank_capability(**c));
            let own = possible.clone().find(|c| self.declared.contains(c));
            let implied = possible.clone().find(|c| declared.contains(c));
            let Some(pick) = own.or(implied).or(first) else {
                exceeded.push(ExceededRequirement::new(reason, describe(any)));
                continue;
            };
            chosen.insert(*pick, reason.clone());
            met.extend(collect_implied_capabilities([*pick].into_iter()));
        }
        // Implied capabilities need not be declared, but stay if they state the kind of the module.
        let all: Vec<u32> = chosen.keys().copied().collect();
        chosen.retain(|c, _| {
            let others = all.iter().copied().filter(|other| other != c);
            !collect_implied_capabilities(others).contains(c)
        });
        for kind in KINDS {
            if self.declared.contains(&kind.0) && met.contains(&kind.0) && is_allowed(&kind.0) {
                let what = "the module's kind".to_owned();
                let reason = || RequirementReason { inst: None, what };
                chosen.entry(kind.0).or_insert_with(reason);
            }
        }
        for (c, reason) in chosen.iter().filter(|(c, _)| self.is_later(**c)) {
            let row = Kind::Capability.info().enumerant_by_value(*c);
            let version = row.map_or(SpirvVersion::NEVER, |row| row.version);
            let needed = format!("SPIR-V {version}");
            exceeded.push(ExceededRequirement::new(reason, needed));
        }
        chosen
    }

    /// The order of choice: capabilities of this version before those of a later one, none that make a shader a kernel,
    /// and those that vendors agreed upon before those of one.
    fn rank_capability(&self, capability: u32) -> (bool, bool, bool) {
        let row = Kind::Capability.info().enumerant_by_value(capability);
        let is_vendor = row.is_some_and(|row| VENDORS.iter().any(|v| row.name.ends_with(v)));
        let is_other_kind = KINDS.iter().any(|kind| kind.0 == capability);
        (self.is_later(capability), is_other_kind, is_vendor)
    }

    /// Whether a capability belongs to a later version, and to no extension.
    fn is_later(&self, capability: u32) -> bool {
        let row = Kind::Capability.info().enumerant_by_value(capability);
        row.is_some_and(|row| {
            row.version > self.version
                && row.version != SpirvVersion::NEVER
                && row.extensions.is_empty()
        })
    }

    /// The first version that an extension supports, if that is later.
    fn first_version(&self, extension: &str) -> Option<SpirvVersion> {
        Some(extension_version(extension)).filter(|first| self.version < *first)
    }

    fn choose_extensions(
        &self,
        capabilities: &BTreeMap<u32, RequirementReason>,
        allowed: &AllowedExtensions,
        exceeded: &mut Vec<ExceededRequirement>,
    ) -> Vec<String> {
        let describe = |any: &[&str]| format!("the extension {}", any.join(" or "));
        let mut chosen = self.kept_extensions.clone();
        for over in chosen.iter().filter(|e| !allowed.is_allowed(e)) {
            let what = "the module".to_owned();
            let reason = RequirementReason { inst: None, what };
            exceeded.push(ExceededRequirement::new(&reason, describe(&[over])));
        }
        let rows = capabilities.iter().filter_map(|(c, reason)| {
            let row = Kind::Capability.info().enumerant_by_value(*c)?;
            let needed = self.version < row.version && !row.extensions.is_empty();
            needed.then(|| (row.extensions.to_vec(), reason))
        });
        let listed = self.extensions.iter().map(|(any, r)| (any.clone(), r));
        for (any, reason) in listed.chain(rows) {
            let possible = any.iter().copied().filter(|e| allowed.is_allowed(e));
            let possible: Vec<&str> = possible.collect();
            let declared = possible.iter().filter(|e| self.has_extension(e));
            let declared: Vec<&str> = declared.copied().collect();
            let is_met = any.iter().any(|e| chosen.contains(*e));
            // Extensions that all vendors agreed upon come first. Consumers have known Intel's names for longer than
            // Altera's.
            let rank = |e: &&&str| (!e.starts_with("SPV_KHR_"), e.starts_with("SPV_ALTERA_"));
            let pick = possible.iter().min_by_key(rank).copied();
            let picks = match (declared.is_empty(), is_met, pick) {
                (false, ..) => declared,
                (true, true, _) => continue,
                (true, false, Some(pick)) => vec![pick],
                (true, false, None) => {
                    exceeded.push(ExceededRequirement::new(reason, describe(&any)));
                    continue;
                }
            };
            if let Some(first) = picks.iter().find_map(|e| self.first_version(e)) {
                exceeded.push(ExceededRequirement::new(reason, format!("SPIR-V {first}")));
            }
            chosen.extend(picks.into_iter().map(str::to_owned));
        }
        chosen.into_iter().collect()
    }

    /// The version of SPIR-V that the needs are about.
    pub fn version(&self) -> SpirvVersion {
        self.version
    }
}

/// Capabilities with those that they imply.
pub(super) fn collect_implied_capabilities(from: impl Iterator<Item = u32>) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    let mut stack: Vec<u32> = from.collect();
    while let Some(value) = stack.pop() {
        if all.insert(value)
            && let Some(row) = Kind::Capability.info().enumerant_by_value(value)
        {
            stack.extend(row.capabilities.iter().map(|c| c.0));
        }
    }
    all
}
