//! Linking of whole modules.

use super::symbols::{LinkSymbols, SymbolMention};
use super::{
    GlobalValueTable, LinkError, SpirvImporter, global_order, pointee_casts, workgroup_size,
};
use crate::Id;
use crate::analysis::IdDefinitions;
use crate::build::string_words;
use crate::convert;
use crate::grammar::enumerants::{
    AddressingModel, Capability, Decoration, ExecutionModel, LinkageType, MemoryModel,
};
use crate::grammar::{Op, SpirvVersion};
use crate::ir::{Inst, InstRef, ModuleSection, SpirvModule};

use rustc_hash::{FxHashMap, FxHashSet};

/// How modules are linked.
#[derive(Clone, Debug)]
pub struct LinkOptions {
    /// The latest version that the result may be of.
    pub ceiling: SpirvVersion,
    /// Whether symbols that nothing exports stay imports of the result.
    pub allow_partial: bool,
    /// Whether symbols that are exported stay exports of the result.
    pub library: bool,
    /// The treatment of entry points of the same name.
    pub entry_names: EntryNames,
}

impl Default for LinkOptions {
    fn default() -> Self {
        LinkOptions {
            ceiling: SpirvVersion::NEWEST,
            allow_partial: false,
            library: false,
            entry_names: EntryNames::Refuse,
        }
    }
}

/// The treatment of entry points of the same name and execution model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryNames {
    /// They are an error.
    Refuse,
    /// The second `main` becomes `main.1`, the third `main.2`.
    Number,
}

/// Most ids that a module may have (specification, section 2.17 "Universal Limits").
const MOST_IDS: u32 = 1 << 30;

/// Links modules into one: the versions' highest, everything that is equal by value once, imports
/// resolved to exports. Ids are dense.
///
/// Specialisation constants stay as they are: where two modules use the same `SpecId`, it sets both.
///
/// # Errors
/// The reasons that keep the modules apart; see [`LinkError`].
pub fn link_modules(
    mut modules: Vec<SpirvModule>,
    options: &LinkOptions,
) -> Result<SpirvModule, LinkError> {
    let version = choose_version(&modules, options)?;
    let (addressing, memory) = find_common_models(&modules)?;
    let with_entries = modules.iter().filter(|m| has_entries(m)).count();
    for (number, module) in modules.iter_mut().enumerate() {
        convert::raise_version(module, version).map_err(|error| LinkError::Convert {
            module: number,
            error: Box::new(error),
        })?;
        if with_entries > 1 {
            workgroup_size::localise_workgroup_size(module);
        }
    }
    let symbols = LinkSymbols::from_modules(&modules)?;
    symbols.same_kind()?;
    if !options.allow_partial {
        symbols.all_resolved()?;
    }
    let mut out = SpirvModule::new(version);
    let inst = out.create_inst(Op::MemoryModel, &[addressing.0, memory.0]);
    out.append_inst(ModuleSection::MemoryModel.list(), inst);
    let mut linker = SpirvLinker {
        values: GlobalValueTable::from_module(&out),
        out,
        ids: vec![None; symbols.all.len()],
        types: vec![None; symbols.all.len()],
        conflicts: Vec::new(),
        entries: FxHashMap::default(),
    };
    for (number, module) in modules.into_iter().enumerate() {
        linker.add_module(number, &module, &symbols)?;
        let added = module.section_insts(ModuleSection::EntryPoints).count();
        linker.entry_points(number, added, options.entry_names)?;
    }
    linker.settle_conflicts(&symbols)?;
    if linker.out.bound() >= MOST_IDS {
        return Err(LinkError::TooLarge);
    }
    Ok(linker.finish_module(&symbols, options))
}

/// The version of the result.
fn choose_version(
    modules: &[SpirvModule],
    options: &LinkOptions,
) -> Result<SpirvVersion, LinkError> {
    let mut highest = None;
    let with_entries = modules.iter().filter(|m| has_entries(m)).count();
    for (module, m) in modules.iter().enumerate() {
        let mut version = m.version;
        if with_entries > 1 && workgroup_size::is_specialised(m) {
            version = version.max(workgroup_size::SIZE_BY_ID);
        }
        if version > options.ceiling {
            return Err(LinkError::Version {
                module,
                version,
                ceiling: options.ceiling,
            });
        }
        highest = highest.max(Some(version));
    }
    highest.ok_or(LinkError::Nothing)
}

fn has_entries(module: &SpirvModule) -> bool {
    module
        .section_insts(ModuleSection::EntryPoints)
        .next()
        .is_some()
}

/// The addressing and memory model that all modules have.
fn find_common_models(
    modules: &[SpirvModule],
) -> Result<(AddressingModel, MemoryModel), LinkError> {
    let mut first = None;
    for (number, module) in modules.iter().enumerate() {
        let own = module.section_insts(ModuleSection::MemoryModel).next();
        let own = own.ok_or(LinkError::NoMemoryModel { module: number })?;
        let (addressing, memory) = (
            AddressingModel(own.operand_word(0)),
            MemoryModel(own.operand_word(1)),
        );
        let (a, m) = *first.get_or_insert((addressing, memory));
        let modules = [0, number];
        if a != addressing {
            let models = [a, addressing];
            return Err(LinkError::Addressing { modules, models });
        }
        if m != memory {
            let models = [m, memory];
            return Err(LinkError::Memory { modules, models });
        }
    }
    first.ok_or(LinkError::Nothing)
}

struct SpirvLinker {
    out: SpirvModule,
    values: GlobalValueTable,
    /// The id of each symbol in the result.
    ids: Vec<Option<Id>>,
    /// The type of each symbol in the result, and the module that declares it.
    types: Vec<Option<(usize, Id)>>,
    /// Declarations of symbols whose types differ.
    conflicts: Vec<TypeConflict>,
    /// Module and number of each entry point's model and name.
    entries: FxHashMap<(u32, String), (usize, u32)>,
}

/// Two types of a symbol.
struct TypeConflict {
    symbol: usize,
    modules: [usize; 2],
    types: [Id; 2],
}

impl SpirvLinker {
    fn add_module(
        &mut self,
        number: usize,
        module: &SpirvModule,
        symbols: &LinkSymbols,
    ) -> Result<(), LinkError> {
        let mut importer = SpirvImporter::new(module);
        let mentions = &symbols.mentions[number];
        for (at, mention) in mentions {
            let out = &mut self.out;
            let id = *self.ids[*at].get_or_insert_with(|| out.fresh_id());
            let kept = symbols.all[*at].kept_mention();
            let is_kept = |kept: SymbolMention| kept.module == number && kept.id == mention.id;
            if kept.is_some_and(is_kept) {
                importer.reserve_id(mention.id, id);
            } else {
                importer.assign_id(mention.id, id);
            }
        }
        importer
            .import_all(&mut self.out, &mut self.values)
            .map_err(|error| LinkError::Import {
                module: number,
                error,
            })?;
        for (at, mention) in mentions {
            let Some(ty) = importer.get(mention.ty) else {
                continue;
            };
            let (first, known) = *self.types[*at].get_or_insert((number, ty));
            if known != ty {
                self.conflicts.push(TypeConflict {
                    symbol: *at,
                    modules: [first, number],
                    types: [known, ty],
                });
            }
        }
        Ok(())
    }

    /// Accepts functions whose types differ in pointee types alone, and casts the arguments of their calls.
    ///
    /// # Errors
    /// The first symbol whose types differ otherwise.
    fn settle_conflicts(&mut self, symbols: &LinkSymbols) -> Result<(), LinkError> {
        if self.conflicts.is_empty() {
            return Ok(());
        }
        let definitions = IdDefinitions::from_module(&self.out);
        for conflict in &self.conflicts {
            if !pointee_casts::differ_in_pointees(&self.out, &definitions, conflict.types) {
                return Err(LinkError::Type {
                    modules: conflict.modules,
                    symbol: symbols.all[conflict.symbol].name.clone(),
                });
            }
        }
        let functions = self.conflicts.iter().filter_map(|c| self.ids[c.symbol]);
        let functions: FxHashSet<Id> = functions.collect();
        pointee_casts::cast_arguments(&mut self.out, &definitions, &functions);
        Ok(())
    }

    /// Checks the entry points of a module, which are the last n.
    fn entry_points(
        &mut self,
        number: usize,
        added: usize,
        names: EntryNames,
    ) -> Result<(), LinkError> {
        let points = self
            .out
            .section_insts(ModuleSection::EntryPoints)
            .rev()
            .take(added);
        let mut new: Vec<Inst> = points.map(InstRef::handle).collect();
        new.reverse();
        for inst in new {
            let point = self.out.inst(inst);
            if point.op() != Op::EntryPoint {
                continue;
            }
            let model = point.operand_word(0);
            let name = point.string_operand(2);
            let entry = self.entries.entry((model, name.clone()));
            let (module, count) = entry.or_insert((number, 0));
            *count += 1;
            if *count == 1 {
                continue;
            }
            if names == EntryNames::Refuse {
                return Err(LinkError::EntryPoint {
                    modules: [*module, number],
                    name,
                    model: ExecutionModel(model),
                });
            }
            let mut suffix = *count - 1;
            let mut free = (model, format!("{name}.{suffix}"));
            while self.entries.contains_key(&free) {
                suffix += 1;
                free.1 = format!("{name}.{suffix}");
            }
            rename_entry_point(&mut self.out, inst, &free.1);
            self.entries.insert(free, (number, 1));
        }
        Ok(())
    }

    fn finish_module(self, symbols: &LinkSymbols, options: &LinkOptions) -> SpirvModule {
        let mut out = self.out;
        if symbols.has_variables() {
            global_order::definitions_first(&mut out);
        }
        remove_linkage(&mut out, options);
        if symbols.all.iter().any(|s| s.is_resolved()) {
            convert::complete_interfaces(&mut out);
        }
        out
    }
}

fn rename_entry_point(module: &mut SpirvModule, entry: Inst, name: &str) {
    let point = module.inst(entry);
    let words = point.words();
    let old = words[2..].iter().position(|w| w.to_le_bytes().contains(&0));
    let rest = words.get(3 + old.unwrap_or(words.len())..).unwrap_or(&[]);
    let new: Vec<u32> = words[..2]
        .iter()
        .copied()
        .chain(string_words(name))
        .chain(rest.iter().copied())
        .collect();
    module.replace_words(entry, &new);
}

/// Takes away linkage that has done its work, and the capability for it where none is left.
fn remove_linkage(module: &mut SpirvModule, options: &LinkOptions) {
    let is_linkage =
        |i: &InstRef<'_>| i.operands().get(1) == Some(&Decoration::LinkageAttributes.0);
    let mut left = !has_entries(module);
    let mut removed = Vec::new();
    let annotations = module.section_insts(ModuleSection::Annotations);
    let builtins = annotations.filter(|i| i.operands().get(1) == Some(&Decoration::BuiltIn.0));
    let builtins: FxHashSet<u32> = builtins.map(|i| i.operand_word(0)).collect();
    for inst in module
        .section_insts(ModuleSection::Annotations)
        .filter(is_linkage)
    {
        let is_import = inst.operands().last() == Some(&LinkageType::Import.0);
        // The environment defines built-in variables, which some compilers declare as imports.
        let is_open = is_import && !builtins.contains(&inst.operand_word(0));
        if is_open || options.library {
            left = true;
        } else {
            removed.push(inst.handle());
        }
    }
    if !left {
        let capabilities = module.section_insts(ModuleSection::Capabilities);
        let linkage = capabilities.filter(|c| c.operand_word(0) == Capability::Linkage.0);
        removed.extend(linkage.map(InstRef::handle));
    }
    for inst in removed {
        module.remove_inst(inst);
    }
}
