//! Macros, imports and templates: debug information besides types, scopes and variables.
//!
//! This includes template parameters, imported entities, macros, entry points, and the build of a
//! unit.

use super::DebugInfoEmitter;
use super::dwarf_encodings::{IMPORTS, MACROS, TEMPLATE_PACK, TEMPLATE_TEMPLATE};
use super::{DebugInfoOperand, MAX_DEPTH};
use crate::ir::{ConstKind, LlvmFunc, LlvmMetadata, MetadataField};
use rustc_hash::FxHashMap;
use spirula_spirv::Id;

use DebugInfoOperand::{Id as I, Number as N};

/// The flag of a program's main subprogram.
const MAIN: &[(&str, u64, u32)] = &[("DISPFlagMainSubprogram", 1 << 8, 1)];

/// Number of template parameters beyond which the rest is omitted.
const MAX_PARAMETERS: usize = 1000;

/// The kind of a macro record that defines a macro; see [`MACROS`].
const DEFINES: u32 = 0;

impl DebugInfoEmitter<'_, '_> {
    /// The items of a metadata list; empty if the node has no such field.
    pub(super) fn read_list(&self, node: LlvmMetadata, field: &str) -> Vec<LlvmMetadata> {
        let list = self.node_field(node, field);
        let all = list.map_or(&[][..], |list| self.t.module.metadata.operands(list));
        all.iter().flatten().copied().collect()
    }

    /// The template arguments of a class or function.
    pub(super) fn emit_template(&mut self, node: LlvmMetadata, target: Id) {
        let parameters = self.read_list(node, "templateParams");
        if parameters.is_empty() || self.t.debug.templates[node.index()].is_some() {
            return;
        }
        let mut arguments = vec![I(target)];
        for parameter in self.without_packs(parameters) {
            let made = self.emit_template_parameter(parameter);
            arguments.push(I(made));
        }
        let template = self.emit_instruction("DebugTypeTemplate", &arguments);
        self.t.debug.templates[node.index()] = Some(template);
    }

    /// Parameters with packs replaced by their members, as the validator does not accept packs as
    /// parameters.
    fn without_packs(&self, parameters: Vec<LlvmMetadata>) -> Vec<LlvmMetadata> {
        let mut flat = Vec::new();
        for parameter in parameters {
            let room = MAX_PARAMETERS - flat.len();
            let pack = self.row_field(parameter, "tag", TEMPLATE_PACK);
            let pack = pack.and_then(|_| self.node_field(parameter, "value"));
            match pack.map(|list| self.t.module.metadata.operands(list)) {
                Some(list) => flat.extend(list.iter().flatten().take(room)),
                None => flat.extend([parameter].iter().take(room)),
            }
        }
        flat
    }

    fn emit_template_parameter(&mut self, node: LlvmMetadata) -> Id {
        if let Some(id) = self.t.debug.nodes[node.index()] {
            return id;
        }
        let name = self.emit_name(node, "name");
        let source = self.emit_file(node);
        let id = if self.row_field(node, "tag", TEMPLATE_TEMPLATE).is_some() {
            let template = self.emit_name(node, "value");
            let arguments = [I(name), I(template), I(source), N(0), N(0)];
            self.emit_instruction("DebugTypeTemplateTemplateParameter", &arguments)
        } else {
            let ty = self.emit_type_of(node, "type");
            let value = self.emit_template_value(node);
            let arguments = [I(name), I(ty), I(value), I(source), N(0), N(0)];
            self.emit_instruction("DebugTypeTemplateParameter", &arguments)
        };
        self.t.debug.nodes[node.index()] = Some(id);
        id
    }

    /// The numeric value of a parameter, or `DebugInfoNone` if its value is not a number.
    fn emit_template_value(&mut self, node: LlvmMetadata) -> Id {
        let constant = self.node_field(node, "value");
        let constant = constant.and_then(|value| self.t.module.metadata.as_constant(value));
        let number = constant.and_then(|constant| match self.t.module.consts.kind(constant) {
            ConstKind::Int(number) => Some((*number, self.t.module.consts.ty(constant))),
            _ => None,
        });
        let Some((number, ty)) = number else {
            return self.emit_none();
        };
        let width = match self.t.module.types.int_width(ty) {
            Some(33..) => 64,
            _ => 32,
        };
        let ty = self.t.b.int_type(width, false);
        self.t.scalar_constant(ty, width, number)
    }

    /// The instruction of a type. For a template instance it is that of the template.
    pub(super) fn emit_type(&mut self, node: Option<LlvmMetadata>) -> Id {
        let id = self.emit_node(node);
        let template = node.and_then(|node| self.t.debug.templates[node.index()]);
        template.unwrap_or(id)
    }

    /// Names from other scopes.
    pub(super) fn emit_imports(&mut self) {
        for node in self.t.module.metadata.iter_ids() {
            if self.class_of(node) == "DIImportedEntity" {
                self.emit_import(node);
            }
        }
    }

    fn emit_import(&mut self, node: LlvmMetadata) {
        let Some(tag) = self.row_field(node, "tag", IMPORTS) else {
            return;
        };
        let entity = self.node_field(node, "entity");
        let entity = self.emit_node(entity);
        if self.t.debug.none == Some(entity) {
            return;
        }
        let name = self.emit_name(node, "name");
        let source = self.emit_file(node);
        let line = self.number_field(node, "line");
        let parent = self.emit_scope_of(node);
        let arguments = [
            I(name),
            N(tag),
            I(source),
            I(entity),
            N(line),
            N(0),
            I(parent),
        ];
        self.emit_instruction("DebugImportedEntity", &arguments);
    }

    /// The macros of a unit, with included files expanded in place. `seen` marks the file records
    /// that were already visited, as each is emitted once.
    pub(super) fn emit_macros(&mut self, unit: LlvmMetadata, seen: &mut [bool]) {
        let source = self.emit_file(unit);
        let mut known: FxHashMap<String, Id> = FxHashMap::default();
        let mut pending = vec![(source, self.read_list(unit, "macros").into_iter())];
        while let Some((source, records)) = pending.last_mut() {
            let source = *source;
            let Some(record) = records.next() else {
                pending.pop();
                continue;
            };
            if self.class_of(record) != "DIMacroFile" {
                self.emit_macro(record, source, &mut known);
            } else if !std::mem::replace(&mut seen[record.index()], true)
                && pending.len() < MAX_DEPTH as usize
            {
                let file = self.emit_file(record);
                pending.push((file, self.read_list(record, "nodes").into_iter()));
            }
        }
    }

    fn emit_macro(&mut self, node: LlvmMetadata, source: Id, known: &mut FxHashMap<String, Id>) {
        let Some(does) = self.row_field(node, "type", MACROS) else {
            return;
        };
        let name = self.text_field(node, "name");
        let line = self.number_field(node, "line");
        if does != DEFINES {
            let defined = match known.remove(&name) {
                Some(id) => id,
                None => self.emit_none(),
            };
            self.emit_instruction("DebugMacroUndef", &[I(source), N(line), I(defined)]);
            return;
        }
        let text = self.emit_string(&name);
        let mut arguments = vec![I(source), N(line), I(text)];
        if !self.text_field(node, "value").is_empty() {
            arguments.push(I(self.emit_name(node, "value")));
        }
        let id = self.emit_instruction("DebugMacroDef", &arguments);
        known.insert(name, id);
    }

    /// The build identifier of a unit and the path of its split debug file, each from the first unit
    /// that states them. Only the non-semantic sets have them.
    pub(super) fn emit_build(&mut self, units: &[LlvmMetadata]) {
        if !self.t.is_non_semantic() {
            return;
        }
        let number = |unit: &&LlvmMetadata| match self.find_field(**unit, "dwoId") {
            Some(MetadataField::Int(number)) if number != 0 => Some(number),
            _ => None,
        };
        if let Some(number) = units.iter().find_map(|unit| number(&unit)) {
            let number = self.emit_string(&number.to_string());
            self.emit_instruction("DebugBuildIdentifier", &[I(number), N(0)]);
        }
        let paths = units
            .iter()
            .map(|unit| self.text_field(*unit, "splitDebugFilename"));
        if let Some(path) = paths.into_iter().find(|path| !path.is_empty()) {
            let path = self.emit_string(&path);
            self.emit_instruction("DebugStoragePath", &[I(path)]);
        }
    }

    /// The compiler of an entry point and its options. Only the non-semantic sets have them.
    pub(super) fn emit_entry_point(&mut self, func: LlvmFunc, node: LlvmMetadata, function: Id) {
        let main = self.flag_field(node, "spFlags", MAIN) != 0;
        if !self.t.is_non_semantic() || !(self.t.is_kernel(func) || main) {
            return;
        }
        let first = self.t.module.named_metadata("llvm.dbg.cu").first().copied();
        let Some(unit) = self.node_field(node, "unit").or(first) else {
            return;
        };
        let compiler = self.emit_name(unit, "producer");
        let options = self.emit_name(unit, "flags");
        let unit = self.emit_scope(Some(unit));
        let arguments = [function, unit, compiler, options].map(I);
        self.emit_instruction("DebugEntryPoint", &arguments);
    }
}
