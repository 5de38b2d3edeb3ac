//! Choice of capabilities: which capabilities and extensions meet all needs, within those that are allowed.

use super::tables::KINDS;
use super::{ModuleRequirements, RequirementReason};
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
    /// The extensions that may be declared; `None` allows all.
    pub extensions: Option<Vec<String>>,
}

/// The minimal declarations of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementChoice {
    /// Capabilities by increasing number, without those that others imply.
    pub capabilities: Vec<Capability>,
    /// Extensions by name.
    pub extensions: Vec<String>,
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
        let chosen = self.choose_capabilities(None);
        chosen.map_or_else(|_| Vec::new(), |c| c.into_keys().map(Capability).collect())
    }

    /// The minimal declarations that meet all needs within a ceiling. Existing declarations are preferred.
    ///
    /// # Errors
    /// The first need that cannot be met.
    pub fn choose_within(
        &self,
        ceiling: &RequirementCeiling,
    ) -> Result<RequirementChoice, ExceededRequirement> {
        if let Some((version, reason)) = self.newer.first() {
            return Err(ExceededRequirement {
                reason: reason.clone(),
                needed: format!("SPIR-V {version}"),
            });
        }
        let allowed = ceiling.capabilities.as_ref();
        let allowed = allowed.map(|list| collect_implied_capabilities(list.iter().map(|c| c.0)));
        let chosen = self.choose_capabilities(allowed.as_ref())?;
        let extensions = self.choose_extensions(&chosen, ceiling.extensions.as_deref())?;
        let capabilities = chosen.into_keys().map(Capability).collect();
        Ok(RequirementChoice {
            capabilities,
            extensions,
        })
    }

    /// The capabilities with the reason for each.
    fn choose_capabilities(
        &self,
        allowed: Option<&BTreeSet<u32>>,
    ) -> Result<BTreeMap<u32, RequirementReason>, ExceededRequirement> {
        let is_allowed = |c: &u32| allowed.is_none_or(|all| all.contains(c));
        let exceeded = |reason: &RequirementReason, any: &[u32]| {
            let names: Vec<String> = any.iter().map(|c| Capability(*c).to_string()).collect();
            ExceededRequirement {
                reason: reason.clone(),
                needed: format!("the capability {}", names.join(" or ")),
            }
        };
        let mut chosen = self.kept.clone();
        if let Some((over, reason)) = self.kept.iter().find(|(c, _)| !is_allowed(c)) {
            return Err(exceeded(reason, &[*over]));
        }
        let declared = collect_implied_capabilities(self.declared.iter().copied());
        // Needs with a single solution come first, because it may meet other needs as well.
        let (single, several): (Vec<_>, Vec<_>) = self
            .capabilities
            .iter()
            .partition(|(any, _)| any.len() == 1);
        for (any, reason) in single.into_iter().chain(several) {
            let met = collect_implied_capabilities(chosen.keys().copied());
            if any.iter().any(|c| met.contains(c)) {
                continue;
            }
            let possible = any.iter().filter(|c| is_allowed(c));
            // Capabilities of this version before those of a later one, and none that make a shader a kernel.
            let is_other_kind = |c: &u32| KINDS.iter().any(|kind| kind.0 == *c);
            let rank = |c: &&u32| (self.is_later(**c), is_other_kind(c));
            let first = possible.clone().min_by_key(rank);
            let own = possible.clone().find(|c| self.declared.contains(c));
            let implied = possible.clone().find(|c| declared.contains(c));
            let pick = own.or(implied).or(first);
            let pick = pick.ok_or_else(|| exceeded(reason, any))?;
            chosen.insert(*pick, reason.clone());
        }
        // Implied capabilities need not be declared, but stay if they state the kind of the module.
        let all: Vec<u32> = chosen.keys().copied().collect();
        chosen.retain(|c, _| {
            let others = all.iter().copied().filter(|other| other != c);
            !collect_implied_capabilities(others).contains(c)
        });
        let met = collect_implied_capabilities(all.iter().copied());
        for kind in KINDS {
            if self.declared.contains(&kind.0) && met.contains(&kind.0) && is_allowed(&kind.0) {
                let what = "the module's kind".to_owned();
                let reason = || RequirementReason { inst: None, what };
                chosen.entry(kind.0).or_insert_with(reason);
            }
        }
        match chosen.iter().find(|(c, _)| self.is_later(**c)) {
            Some((c, reason)) => {
                let row = Kind::Capability.info().enumerant_by_value(*c);
                Err(ExceededRequirement {
                    reason: reason.clone(),
                    needed: format!(
                        "SPIR-V {}",
                        row.map_or(SpirvVersion::NEVER, |row| row.version)
                    ),
                })
            }
            None => Ok(chosen),
        }
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
        allowed: Option<&[String]>,
    ) -> Result<Vec<String>, ExceededRequirement> {
        let is_allowed = |e: &str| allowed.is_none_or(|all| all.iter().any(|a| a == e));
        let exceeded = |reason: &RequirementReason, any: &[&str]| ExceededRequirement {
            reason: reason.clone(),
            needed: format!("the extension {}", any.join(" or ")),
        };
        let mut chosen = self.kept_extensions.clone();
        if let Some(over) = chosen.iter().find(|e| !is_allowed(e)) {
            let what = "the module".to_owned();
            return Err(exceeded(&RequirementReason { inst: None, what }, &[over]));
        }
        let rows = capabilities.iter().filter_map(|(c, reason)| {
            let row = Kind::Capability.info().enumerant_by_value(*c)?;
            let needed = self.version < row.version && !row.extensions.is_empty();
            needed.then(|| (row.extensions.to_vec(), reason))
        });
        let listed = self.extensions.iter().map(|(any, r)| (any.clone(), r));
        for (any, reason) in listed.chain(rows) {
            let possible: Vec<&str> = any.iter().copied().filter(|e| is_allowed(e)).collect();
            let declared = possible.iter().filter(|e| self.has_extension(e));
            let declared: Vec<&str> = declared.copied().collect();
            if let Some(first) = declared.iter().find_map(|e| self.first_version(e)) {
                let needed = format!("SPIR-V {first}");
                let reason = reason.clone();
                return Err(ExceededRequirement { reason, needed });
            }
            chosen.extend(declared.into_iter().map(str::to_owned));
            if any.iter().any(|e| chosen.contains(*e)) {
                continue;
            }
            // Extensions that all vendors agreed upon come first.
            let pick = possible.iter().min_by_key(|e| !e.starts_with("SPV_KHR_"));
            let pick = pick.ok_or_else(|| exceeded(reason, &any))?;
            if let Some(first) = self.first_version(pick) {
                let needed = format!("SPIR-V {first}");
                let reason = reason.clone();
                return Err(ExceededRequirement { reason, needed });
            }
            chosen.insert((*pick).to_owned());
        }
        Ok(chosen.into_iter().collect())
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
