//! Import of functions and globals from another module.

use super::decorations::{TargetAnnotations, map_ids};
use super::global_values::{GlobalValueTable, ValueKeyBuilder, is_continuation, is_value};
use super::recursive_types;
use crate::analysis::IdDefinitions;
use crate::grammar::Op;
use crate::ir::{Func, IdWords, Inst, InstRef, List, ModuleSection, SpirvModule};
use crate::{Id, IdMap};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::fmt;

/// Why something cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportError {
    /// The source defines no such type, constant, global variable or function.
    NotGlobal(Id),
    /// The tables do not know an instruction, so that its ids are unknown.
    Unknown {
        /// Its location in the source.
        place: SourceLocation,
        /// Its opcode.
        op: Op,
    },
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImportError::NotGlobal(id) => {
                write!(
                    f,
                    "{id} is no type, constant, global variable or function of the module"
                )
            }
            ImportError::Unknown { op, .. } => write!(
                f,
                "the tables do not know {op} or an operand of it, so its ids cannot be renamed"
            ),
        }
    }
}

impl std::error::Error for ImportError {}

impl From<ImportError> for SourceDiagnostic {
    fn from(error: ImportError) -> Self {
        let place = match &error {
            ImportError::NotGlobal(_) => SourceLocation::Unknown,
            ImportError::Unknown { place, .. } => *place,
        };
        SourceDiagnostic::error(place, error.to_string())
    }
}

/// The state of an id of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdImportState {
    /// Nothing, or it has an id in the destination that is not defined yet.
    Open,
    /// Its instruction was copied, in this round.
    Copied(u32),
    /// The destination had something equal.
    Merged,
    /// The caller assigned an id.
    Assigned,
}

/// Imports from one module into others' ids: one importer for each pair of source and destination.
///
/// ```
/// use spirula_spirv::grammar::Op;
/// use spirula_spirv::ir::SpirvModule;
/// use spirula_spirv::link::{SpirvImporter, GlobalValueTable};
/// use spirula_spirv::text::{ParseOptions, parse_assembly};
///
/// let read = |text| SpirvModule::from_words(parse_assembly(text, &ParseOptions::default()).unwrap()).unwrap();
/// let source = read("%1 = OpTypeFloat 32\n%2 = OpTypeVector %1 4");
/// let mut destination = read("%1 = OpTypeInt 32 0\n%2 = OpTypeFloat 32");
/// let vector = source.all_insts().find(|i| i.op() == Op::TypeVector).unwrap().result().unwrap();
///
/// let mut values = GlobalValueTable::from_module(&destination);
/// let mut importer = SpirvImporter::new(&source);
/// let ids = importer.import_ids(&mut destination, &mut values, &[vector]).unwrap();
/// // The float type is there already: only the vector is new.
/// assert_eq!(ids[0].word(), 3);
/// assert_eq!(destination.all_insts().count(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct SpirvImporter<'s> {
    source: &'s SpirvModule,
    ids: IdWords,
    definitions: IdDefinitions,
    annotations: TargetAnnotations,
    new: IdMap<Option<Id>>,
    states: IdMap<IdImportState>,
    keys: ValueKeyBuilder,
    scratch: Vec<u32>,
    /// Number of this call: names and decorations are carried in the one that copies.
    round: u32,
}

impl<'s> SpirvImporter<'s> {
    /// Reads the source's definitions and decorations.
    pub fn new(source: &'s SpirvModule) -> Self {
        SpirvImporter {
            source,
            ids: IdWords::new(source),
            definitions: IdDefinitions::from_module(source),
            annotations: TargetAnnotations::from_module(source),
            new: IdMap::new(source.bound(), None),
            states: IdMap::new(source.bound(), IdImportState::Open),
            keys: ValueKeyBuilder::default(),
            scratch: Vec::new(),
            round: 0,
        }
    }

    /// Assigns an id of the destination to an id of the source, which is then not imported.
    pub fn assign_id(&mut self, id: Id, stands_for_it: Id) {
        self.new.set(id, Some(stands_for_it));
        self.states.set(id, IdImportState::Assigned);
    }

    /// Says which id an id of the source gets when it is imported: one that the destination does
    /// not define.
    pub fn reserve_id(&mut self, id: Id, becomes: Id) {
        self.new.set(id, Some(becomes));
    }

    /// The id in the destination of an imported or assigned id of the source.
    pub fn get(&self, id: Id) -> Option<Id> {
        self.new[id]
    }

    /// Imports types, constants, global variables and functions with everything that they use, their names and
    /// their decorations. Returns their ids in the destination. Items of an earlier import are not imported
    /// again. `values` must be those of the destination.
    ///
    /// Capabilities and extensions are not imported: [`ModuleRequirements`](crate::analysis::ModuleRequirements)
    /// gives the required ones. Symbols keep their linkage.
    ///
    /// # Errors
    /// If an id is none of these, or if the tables do not know a required instruction. The destination is then
    /// unchanged.
    pub fn import_ids(
        &mut self,
        destination: &mut SpirvModule,
        values: &mut GlobalValueTable,
        wanted: &[Id],
    ) -> Result<Vec<Id>, ImportError> {
        let needed = self.find_needed(wanted)?;
        self.copy_needed(destination, values, Some(&needed));
        let found = |id: &Id| self.new[*id].ok_or(ImportError::NotGlobal(*id));
        wanted.iter().map(found).collect()
    }

    /// Imports the whole source: everything but its memory model.
    ///
    /// # Errors
    /// When the tables do not know an instruction; the destination is then as it was.
    pub fn import_all(
        &mut self,
        destination: &mut SpirvModule,
        values: &mut GlobalValueTable,
    ) -> Result<(), ImportError> {
        self.source
            .all_insts()
            .try_for_each(|inst| self.require_known(inst))?;
        for section in [ModuleSection::Capabilities, ModuleSection::Extensions] {
            self.copy_once(destination, values, section);
        }
        self.copy_needed(destination, values, None);
        for section in [ModuleSection::EntryPoints, ModuleSection::ExecutionModes] {
            for inst in self.source.section_insts(section) {
                self.copy_inst(destination, inst, section.list());
            }
        }
        self.copy_once(destination, values, ModuleSection::Sources);
        self.copy_once(destination, values, ModuleSection::Processed);
        for inst in self.source.section_insts(ModuleSection::Trailer) {
            self.copy_inst(destination, inst, ModuleSection::Trailer.list());
        }
        Ok(())
    }

    fn require_known(&self, inst: InstRef<'_>) -> Result<(), ImportError> {
        if self.ids.is_certain(inst) {
            return Ok(());
        }
        let (place, op) = (inst.place(), inst.op());
        Err(ImportError::Unknown { place, op })
    }

    /// The transitive closure of the imported ids: those that are defined outside of functions, and functions.
    fn find_needed(&self, wanted: &[Id]) -> Result<IdMap<bool>, ImportError> {
        let mut functions: IdMap<Option<Func>> = IdMap::new(0, None);
        for func in self.source.functions() {
            functions.set(self.source.function_id(*func), Some(*func));
        }
        let mut needed = IdMap::new(self.source.bound(), false);
        for id in wanted {
            let inst = self.definitions.get(self.source, *id);
            let inst = inst.ok_or(ImportError::NotGlobal(*id))?;
            let list = self.source.list_of(inst.handle());
            let is_global = list == Some(ModuleSection::Globals.list()) || functions[*id].is_some();
            if !is_global {
                return Err(ImportError::NotGlobal(*id));
            }
        }
        let mut work = wanted.to_vec();
        while let Some(id) = work.pop() {
            if std::mem::replace(needed.get_mut(id), true) || self.states[id] != IdImportState::Open
            {
                continue;
            }
            if let Some(func) = functions[id] {
                for inst in self.source.function_insts(func) {
                    self.require_known(inst)?;
                    self.ids.visit_uses(inst, |_, used| work.push(used));
                }
            } else if let Some(inst) = self.definitions.get(self.source, id) {
                self.require_known(inst)?;
                self.ids.visit_uses(inst, |_, used| work.push(used));
            }
            let mut words = Vec::new();
            for row in self.annotations.decorations_of(id) {
                let op = row.write_instruction(self.source, &mut words);
                map_ids(op, &mut words, self.source.bound(), |id| {
                    work.push(id);
                    Some(id)
                });
            }
        }
        Ok(needed)
    }

    /// Copies the required imports, names and decorations.
    fn copy_needed(
        &mut self,
        destination: &mut SpirvModule,
        values: &mut GlobalValueTable,
        only: Option<&IdMap<bool>>,
    ) {
        let source = self.source;
        self.round += 1;
        let needed = |id: Id| only.is_none_or(|only| only[id]);
        let recursive = self.merge_recursive(values, needed);
        for section in [
            ModuleSection::Imports,
            ModuleSection::Sources,
            ModuleSection::Globals,
        ] {
            let mut lines: Option<Inst> = None;
            let mut last = false;
            let mut insts = source.section_insts(section).peekable();
            while let Some(inst) = insts.next() {
                if inst.op().is_line() {
                    lines = Some(inst.handle());
                    continue;
                }
                let continued = insts.peek().is_some_and(|i| is_continuation(i.op()));
                let wanted = match (inst.result(), inst.op()) {
                    (Some(id), _) => needed(id) && self.states[id] == IdImportState::Open,
                    (None, Op::TypeForwardPointer) => {
                        let pointer = inst.id_operand(0);
                        needed(pointer) && self.states[pointer] == IdImportState::Open
                    }
                    (None, op) if is_continuation(op) => last && section == ModuleSection::Globals,
                    (None, _) => only.is_none() && section == ModuleSection::Globals,
                };
                last = wanted && self.copy_global(destination, values, inst, lines, continued);
                if last {
                    lines = None;
                }
            }
        }
        for func in source.functions() {
            let id = source.function_id(*func);
            if needed(id) && self.states[id] == IdImportState::Open {
                self.copy_function(destination, *func);
            }
        }
        for (key, pointer) in recursive {
            if let Some(new) = self.new[pointer] {
                values.insert_recursive(key, new);
            }
        }
        destination.place_declarations_first();
        self.copy_names(destination, values);
        self.copy_decorations(destination);
    }

    /// Finds pointers with forward declarations in the destination. Returns those that are new to it.
    fn merge_recursive(
        &mut self,
        values: &GlobalValueTable,
        needed: impl Fn(Id) -> bool,
    ) -> Vec<(Box<[u32]>, Id)> {
        let mut new = Vec::new();
        let globals = self.source.section_insts(ModuleSection::Globals);
        for inst in globals.filter(|i| i.op() == Op::TypeForwardPointer) {
            let pointer = inst.id_operand(0);
            if !needed(pointer) || self.states[pointer] != IdImportState::Open {
                continue;
            }
            let SpirvImporter {
                source,
                ids,
                definitions,
                annotations,
                ..
            } = self;
            let key =
                recursive_types::canonicalise_type(source, ids, definitions, annotations, pointer);
            let Some(key) = key else { continue };
            match values.get_recursive(&key) {
                Some(known) => {
                    self.new.set(pointer, Some(known));
                    self.states.set(pointer, IdImportState::Merged);
                }
                None => new.push((key, pointer)),
            }
        }
        new
    }

    /// Copies an instruction outside of functions unless the destination has its like. Returns
    /// whether it did.
    fn copy_global(
        &mut self,
        destination: &mut SpirvModule,
        values: &mut GlobalValueTable,
        inst: InstRef<'_>,
        line: Option<Inst>,
        continued: bool,
    ) -> bool {
        let section = ModuleSection::from_op(inst.op());
        let mut is_keyed = false;
        if let Some(id) = inst.result() {
            // An id that is used before its definition has been assigned already.
            if is_value(inst.op()) && !continued && self.new[id].is_none() {
                let rows = self.annotations.decorations_of(id);
                let new = &self.new;
                is_keyed = self
                    .keys
                    .build_key(self.source, &self.ids, inst, rows, |id| new[id]);
                if let Some(known) = values.get(&self.keys).filter(|_| is_keyed) {
                    self.new.set(id, Some(known));
                    self.states.set(id, IdImportState::Merged);
                    return false;
                }
            }
        }
        if let Some(line) = line {
            self.copy_inst(destination, self.source.inst(line), section.list());
        }
        self.copy_inst(destination, inst, section.list());
        if let Some(new) = inst.result().and_then(|id| self.new[id])
            && is_keyed
        {
            values.insert(&self.keys, new);
        }
        true
    }

    fn copy_function(&mut self, destination: &mut SpirvModule, func: Func) {
        let source = self.source;
        let f = source.function(func);
        let def = self.create_inst(destination, source.inst(f.def));
        let new = destination.create_function(def);
        if !source.is_empty(f.lead) {
            let lead = destination.function_lead(new);
            self.copy_list(destination, f.lead, lead);
        }
        self.copy_list(destination, f.params, destination.function(new).params);
        if !source.is_empty(f.tail) {
            let tail = destination.function_tail(new);
            self.copy_list(destination, f.tail, tail);
        }
        for block in &f.blocks {
            let from = source.block(*block);
            let label = self.map_id(destination, source.label(*block));
            self.states
                .set(source.label(*block), IdImportState::Copied(self.round));
            let block = destination.create_block(new, label);
            if !source.is_empty(from.lead) {
                let lead = destination.block_lead(block);
                self.copy_list(destination, from.lead, lead);
            }
            self.copy_list(destination, from.body, destination.block(block).body);
        }
    }

    fn copy_list(&mut self, destination: &mut SpirvModule, from: List, to: List) {
        for inst in self.source.list_insts(from) {
            self.copy_inst(destination, inst, to);
        }
    }

    fn copy_inst(&mut self, destination: &mut SpirvModule, inst: InstRef<'_>, to: List) {
        let inst = self.create_inst(destination, inst);
        destination.append_inst(to, inst);
    }

    /// The id in the destination for one of the source.
    fn map_id(&mut self, destination: &mut SpirvModule, id: Id) -> Id {
        *self
            .new
            .get_mut(id)
            .get_or_insert_with(|| destination.fresh_id())
    }

    /// The instruction with the destination's ids.
    fn create_inst(&mut self, destination: &mut SpirvModule, inst: InstRef<'_>) -> Inst {
        let mut words = std::mem::take(&mut self.scratch);
        words.clear();
        words.extend_from_slice(inst.words());
        let SpirvImporter { ids, new, .. } = self;
        ids.visit_uses(inst, |at, id| {
            let id = new
                .get_mut(id)
                .get_or_insert_with(|| destination.fresh_id());
            words[at] = id.word();
        });
        let mut op = inst.op();
        if let Some(id) = inst.result() {
            let at = words.len() - inst.operands().len() - 1;
            words[at] = self.map_id(destination, id).word();
            self.states.set(id, IdImportState::Copied(self.round));
        }
        if op == Op::CopyLogical && self.is_plain_copy(inst) {
            op = Op::CopyObject;
        }
        let created = destination.create_inst(op, &words);
        self.scratch = words;
        created
    }

    /// Whether the two types of an `OpCopyLogical` became one.
    fn is_plain_copy(&self, inst: InstRef<'_>) -> bool {
        let operand = self.definitions.get(self.source, inst.id_operand(0));
        let from = operand.and_then(InstRef::result_type);
        let new = |id: Option<Id>| id.and_then(|id| self.new[id]);
        new(from).is_some() && new(from) == new(inst.result_type())
    }

    /// Copies instructions that belong to no id, each once.
    fn copy_once(
        &mut self,
        destination: &mut SpirvModule,
        values: &mut GlobalValueTable,
        section: ModuleSection,
    ) {
        let mut continued = false;
        let mut insts = self.source.section_insts(section).peekable();
        while let Some(inst) = insts.next() {
            if inst.result().is_some() {
                continue;
            }
            let is_begin = insts.peek().is_some_and(|i| is_continuation(i.op()));
            let is_part = continued || is_begin;
            continued = is_begin;
            let new = self.create_inst(destination, inst);
            let words = destination.inst(new).words();
            if is_part || values.is_new(inst.op(), words) {
                destination.append_inst(section.list(), new);
            }
        }
    }

    /// Copies names to new instructions, and to merged ones without a name.
    fn copy_names(&mut self, destination: &mut SpirvModule, values: &mut GlobalValueTable) {
        let mut now_named = Vec::new();
        for inst in self.source.section_insts(ModuleSection::Names) {
            let target = inst.id_operand(0);
            let Some(new) = self.new[target] else {
                continue;
            };
            let carried = match self.states[target] {
                IdImportState::Copied(round) => round == self.round,
                IdImportState::Merged => !values.has_name(new),
                IdImportState::Open | IdImportState::Assigned => false,
            };
            if carried {
                self.copy_inst(destination, inst, ModuleSection::Names.list());
                now_named.push(new);
            }
        }
        for id in now_named {
            values.set_named(id);
        }
    }

    fn copy_decorations(&mut self, destination: &mut SpirvModule) {
        let annotations = std::mem::replace(
            &mut self.annotations,
            TargetAnnotations::from_module(&SpirvModule::new(self.source.version)),
        );
        let mut words = Vec::new();
        for row in annotations.all_rows() {
            let Some(new) = self.new[row.target] else {
                continue;
            };
            if self.states[row.target] != IdImportState::Copied(self.round) {
                continue;
            }
            let op = row.write_instruction(self.source, &mut words);
            map_ids(op, &mut words, self.source.bound(), |id| {
                Some(self.map_id(destination, id))
            });
            words.insert(0, new.word());
            let inst = destination.create_inst(op, &words);
            destination.append_inst(ModuleSection::Annotations.list(), inst);
        }
        self.annotations = annotations;
    }
}
