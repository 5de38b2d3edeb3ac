//! Alias scopes: `!alias.scope` and `!noalias` metadata becomes SPV_INTEL_memory_access_aliasing.
//!
//! Nearly every optimised module has such metadata, and few consumers know the extension. So it is
//! used only if it was requested by name.
//!
//! Domains, scopes and lists of scopes become instructions in the annotations section, one for each
//! node.

use super::words::TranslationWords;
use crate::ir::{LlvmFunction, LlvmInst, LlvmMetadata, LlvmModule};
use spirula_spirv::Id;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;
use spirula_spirv::ir::ModuleSection;

/// The extension's name.
pub(super) const EXTENSION: &str = "SPV_INTEL_memory_access_aliasing";

/// Number of scopes in a list beyond which its instruction would be too long.
const MAX_SCOPES: usize = 60_000;

/// The instructions of metadata nodes: domains, scopes and lists of scopes.
pub(super) struct AliasScopeTable {
    declared: Vec<Option<Id>>,
}

impl AliasScopeTable {
    pub(super) fn new(module: &LlvmModule) -> Self {
        let used = module.strings.find_symbol("alias.scope").is_some();
        let count = if used { module.metadata.len() } else { 0 };
        AliasScopeTable {
            declared: vec![None; count],
        }
    }
}

/// The list of scopes that an access belongs to, and the list that it does not alias.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AccessAliasScopes {
    of: Option<Id>,
    not: Option<Id>,
}

impl AccessAliasScopes {
    /// Adds the memory operands to the words. Returns the bits of their mask.
    pub(super) fn add_to(self, words: &mut TranslationWords) -> MemoryAccess {
        let mut mask = MemoryAccess::default();
        let rows = [
            (self.of, MemoryAccess::AliasScopeINTELMask),
            (self.not, MemoryAccess::NoAliasINTELMask),
        ];
        for (list, bit) in rows {
            if let Some(list) = list {
                mask |= bit;
                words.push(list.word());
            }
        }
        mask
    }
}

/// Declares scopes and their lists in the module being built.
pub(super) struct AliasScopeEmitter<'t, 'm> {
    pub(super) module: &'m LlvmModule,
    pub(super) table: &'t mut AliasScopeTable,
    pub(super) b: &'t mut SpirvBuilder,
}

impl AliasScopeEmitter<'_, '_> {
    /// The scopes of an access.
    pub(super) fn access_scopes(
        &mut self,
        function: &LlvmFunction,
        inst: LlvmInst,
    ) -> AccessAliasScopes {
        let mut list = |name| {
            let kind = self.module.strings.find_symbol(name)?;
            let node = function.find_attachment(inst, kind)?;
            self.scope_list(node)
        };
        AccessAliasScopes {
            of: list("alias.scope"),
            not: list("noalias"),
        }
    }

    /// A list of scopes; an empty list becomes `None`.
    fn scope_list(&mut self, list: LlvmMetadata) -> Option<Id> {
        if let Some(Some(id)) = self.table.declared.get(list.index()) {
            return Some(*id);
        }
        let metadata = &self.module.metadata;
        let scopes: Vec<LlvmMetadata> = metadata.operands(list).iter().flatten().copied().collect();
        if scopes.is_empty() || scopes.len() > MAX_SCOPES {
            return None;
        }
        let mut words = Vec::with_capacity(scopes.len());
        for scope in scopes {
            words.push(self.alias_scope(scope)?);
        }
        self.declare_aliasing(list, Op::AliasScopeListDeclINTEL, &words)
    }

    /// A scope: `!{itself or name, domain[, text]}`.
    fn alias_scope(&mut self, scope: LlvmMetadata) -> Option<Id> {
        if let Some(Some(id)) = self.table.declared.get(scope.index()) {
            return Some(*id);
        }
        let domain = *self.module.metadata.operands(scope).get(1)?;
        let domain = domain?;
        let known = self.table.declared.get(domain.index()).copied().flatten();
        let domain = match known {
            Some(id) => id,
            None => self.declare_aliasing(domain, Op::AliasDomainDeclINTEL, &[])?,
        };
        self.declare_aliasing(scope, Op::AliasScopeDeclINTEL, &[domain])
    }

    fn declare_aliasing(&mut self, node: LlvmMetadata, op: Op, operands: &[Id]) -> Option<Id> {
        let id = self.b.fresh_id();
        let mut words = vec![id.word()];
        words.extend(operands.iter().map(|id| id.word()));
        self.b.push_inst(ModuleSection::Annotations, op, &words);
        *self.table.declared.get_mut(node.index())? = Some(id);
        Some(id)
    }
}
