//! Symbol resolution: the symbols that modules export and import.

use super::LinkError;
use super::decorations::TargetAnnotations;
use crate::Id;
use crate::analysis::IdDefinitions;
use crate::grammar::enumerants::{Decoration, LinkageType};
use crate::grammar::{Op, literal_string};
use crate::ir::{InstRef, SpirvModule};
use rustc_hash::FxHashMap;

/// An occurrence of a symbol.
#[derive(Clone, Copy, Debug)]
pub(super) struct SymbolMention {
    pub module: usize,
    /// The function or variable.
    pub id: Id,
    /// `OpFunction` or `OpVariable`.
    op: Op,
    /// Type of the function or variable.
    pub ty: Id,
    /// Whether it is a built-in variable, which the environment defines.
    is_builtin: bool,
}

/// A name that modules link by.
#[derive(Clone, Debug)]
pub(super) struct LinkSymbol {
    pub name: String,
    /// The definition that counts, where there is one.
    definition: Option<(SymbolMention, LinkageType)>,
    /// The first import.
    import: Option<SymbolMention>,
}

impl LinkSymbol {
    /// The mention that is copied: the definition, or else the first import.
    pub fn kept_mention(&self) -> Option<SymbolMention> {
        self.definition.map(|d| d.0).or(self.import)
    }

    pub fn is_resolved(&self) -> bool {
        self.definition.is_some() && self.import.is_some()
    }
}

/// The symbols of all modules, in the order in which they are met.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkSymbols {
    pub all: Vec<LinkSymbol>,
    by_name: FxHashMap<String, usize>,
    /// For each module its mentions with the number of the symbol.
    pub mentions: Vec<Vec<(usize, SymbolMention)>>,
}

impl LinkSymbols {
    /// The symbols that a list of modules mentions.
    ///
    /// # Errors
    /// When two modules export the same symbol.
    pub fn from_modules(modules: &[SpirvModule]) -> Result<LinkSymbols, LinkError> {
        let mut symbols = LinkSymbols::default();
        for (number, module) in modules.iter().enumerate() {
            symbols.mentions.push(Vec::new());
            symbols.add_module(number, module)?;
        }
        Ok(symbols)
    }

    fn add_module(&mut self, number: usize, module: &SpirvModule) -> Result<(), LinkError> {
        let annotations = TargetAnnotations::from_module(module);
        let mut definitions = None;
        let mut words = Vec::new();
        for row in annotations.all_rows() {
            row.write_instruction(module, &mut words);
            let [what, name @ .., linkage] = words.as_slice() else {
                continue;
            };
            if *what != Decoration::LinkageAttributes.0 || name.is_empty() {
                continue;
            }
            let definitions = definitions.get_or_insert_with(|| IdDefinitions::from_module(module));
            let inst = definitions.get(module, row.target);
            let Some(mut mention) = inst.and_then(|inst| make_mention(number, inst)) else {
                continue;
            };
            let mut decorations = annotations.decorations_of(row.target).iter();
            mention.is_builtin = decorations.any(|decoration| {
                let mut words = Vec::new();
                decoration.write_instruction(module, &mut words);
                words.first() == Some(&Decoration::BuiltIn.0)
            });
            let name = literal_string(name).into_owned();
            self.add_mention(name, LinkageType(*linkage), mention)?;
        }
        Ok(())
    }

    fn add_mention(
        &mut self,
        name: String,
        linkage: LinkageType,
        mention: SymbolMention,
    ) -> Result<(), LinkError> {
        let next = self.all.len();
        let at = *self.by_name.entry(name.clone()).or_insert(next);
        if at == next {
            self.all.push(LinkSymbol {
                name,
                definition: None,
                import: None,
            });
        }
        self.mentions[mention.module].push((at, mention));
        let symbol = &mut self.all[at];
        if linkage == LinkageType::Import {
            symbol.import.get_or_insert(mention);
            return Ok(());
        }
        match symbol.definition {
            // Any definition will do, one that is exported before others.
            Some((_, _)) if linkage == LinkageType::LinkOnceODR => {}
            Some((first, LinkageType::Export)) => {
                return Err(LinkError::Duplicate {
                    modules: [first.module, mention.module],
                    symbol: symbol.name.clone(),
                });
            }
            _ => symbol.definition = Some((mention, linkage)),
        }
        Ok(())
    }

    /// Demands that every import has a definition, here or in the environment.
    ///
    /// # Errors
    /// The first that has none.
    pub fn all_resolved(&self) -> Result<(), LinkError> {
        let open = self.all.iter().filter(|s| s.definition.is_none());
        let mut open = open.filter_map(|s| Some((s, s.import?)));
        match open.find(|(_, import)| !import.is_builtin) {
            Some((symbol, import)) => Err(LinkError::Unresolved {
                module: import.module,
                symbol: symbol.name.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Demands that a symbol is a function or a variable everywhere.
    ///
    /// # Errors
    /// The first that is not.
    pub fn same_kind(&self) -> Result<(), LinkError> {
        for (at, mention) in self.mentions.iter().flatten() {
            let symbol = &self.all[*at];
            if let Some(kept) = symbol.kept_mention().filter(|kept| kept.op != mention.op) {
                return Err(LinkError::Type {
                    modules: [kept.module, mention.module],
                    symbol: symbol.name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Whether a variable may be used before the place where it is defined.
    pub fn has_variables(&self) -> bool {
        let resolved = self.all.iter().filter(|s| s.is_resolved());
        resolved
            .filter_map(LinkSymbol::kept_mention)
            .any(|kept| kept.op != Op::Function)
    }
}

fn make_mention(module: usize, inst: InstRef<'_>) -> Option<SymbolMention> {
    let ty = match inst.op() {
        Op::Function => inst.get_id(1)?,
        Op::Variable | Op::UntypedVariableKHR => inst.result_type()?,
        _ => return None,
    };
    Some(SymbolMention {
        module,
        id: inst.result()?,
        op: inst.op(),
        ty,
        is_builtin: false,
    })
}
