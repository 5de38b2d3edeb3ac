//! Debug nodes: dispatch by class; sources, units and scopes.

use super::DebugInfoEmitter;
use super::dwarf_encodings::{ACCESS, ENCODINGS, FLAGS, LANGUAGES};
use super::{DebugInfoOperand, MAX_DEPTH};
use crate::ir::{LlvmMetadata, MetadataField, MetadataKind};
use spirula_spirv::Id;

/// Version of the debug information that a unit states.
const VERSION: u32 = 0x10000;

use DebugInfoOperand::{Id as I, Number as N};

impl DebugInfoEmitter<'_, '_> {
    /// The instruction of a node, or `DebugInfoNone` for no node.
    pub(super) fn emit_node(&mut self, node: Option<LlvmMetadata>) -> Id {
        let Some(node) = node else {
            return self.emit_none();
        };
        if let Some(id) = self.t.debug.nodes[node.index()] {
            return id;
        }
        if self.t.debug.depth >= MAX_DEPTH {
            return self.emit_none();
        }
        self.t.debug.depth += 1;
        let id = self.emit_by_class(node);
        self.t.debug.depth -= 1;
        let id = id.unwrap_or_else(|| self.emit_none());
        self.t.debug.nodes[node.index()] = Some(id);
        id
    }

    pub(super) fn class_of(&self, node: LlvmMetadata) -> &str {
        match self.t.module.metadata.kind(node) {
            MetadataKind::Specialised { class, .. } => self.t.module.symbol_text(class),
            _ => "",
        }
    }

    pub(super) fn emit_by_class(&mut self, node: LlvmMetadata) -> Option<Id> {
        match self.class_of(node) {
            "DICompileUnit" => Some(self.emit_unit(node)),
            "DIFile" => Some(self.emit_source(node)),
            "DIBasicType" => {
                let name = self.emit_name(node, "name");
                let size = self.number_field(node, "size");
                let encoding = self.row_field(node, "encoding", ENCODINGS).unwrap_or(0);
                let mut arguments = vec![I(name), N(size), N(encoding)];
                if self.t.is_non_semantic() {
                    arguments.push(N(self.read_access_and_flags(node)));
                }
                Some(self.emit_instruction("DebugTypeBasic", &arguments))
            }
            "DIDerivedType" => self.emit_derived(node),
            "DICompositeType" => {
                let made = self.emit_composite(node);
                if let Some(id) = made {
                    self.t.debug.nodes[node.index()] = Some(id);
                    self.emit_template(node, id);
                }
                made
            }
            "DIStringType" => self.emit_string_type(node),
            "DIModule" => self.emit_module(node),
            "DISubroutineType" => Some(self.emit_function_type(node)),
            "DISubprogram" => {
                let id = self.emit_subprogram(node);
                self.t.debug.nodes[node.index()] = Some(id);
                if self.t.debug.functions[node.index()].is_some() {
                    self.emit_template(node, id);
                }
                Some(id)
            }
            "DILexicalBlock" => {
                let place = self.emit_source_position(node);
                let parent = self.emit_scope_of(node);
                let arguments = [place[0], place[1], place[2], I(parent)];
                Some(self.emit_instruction("DebugLexicalBlock", &arguments))
            }
            // Another file or discriminator is not a scope of its own.
            "DILexicalBlockFile" => Some(self.emit_scope_of(node)),
            "DINamespace" => {
                let name = self.emit_name(node, "name");
                let source = self.emit_file(node);
                let parent = self.emit_scope_of(node);
                let arguments = [I(source), N(0), N(0), I(parent), I(name)];
                Some(self.emit_instruction("DebugLexicalBlock", &arguments))
            }
            "DILocalVariable" => Some(self.emit_local_variable(node)),
            "DIExpression" => self.emit_expression(node),
            "DILocation" => {
                let scope = self.emit_scope_of(node);
                let line = self.number_field(node, "line");
                let mut arguments = vec![N(line), I(scope)];
                if let Some(outer) = self.node_field(node, "inlinedAt") {
                    let outer = self.emit_node(Some(outer));
                    arguments.push(I(outer));
                }
                Some(self.emit_instruction("DebugInlinedAt", &arguments))
            }
            _ => None,
        }
    }

    pub(super) fn emit_name(&mut self, node: LlvmMetadata, field: &str) -> Id {
        let text = self.text_field(node, field);
        self.emit_string(&text)
    }

    pub(super) fn emit_unit(&mut self, node: LlvmMetadata) -> Id {
        let source = self.emit_file(node);
        let language = self.row_field(node, "language", LANGUAGES).unwrap_or(0);
        let dwarf = self.dwarf_version();
        let arguments = [N(VERSION), N(dwarf), I(source), N(language)];
        self.emit_instruction("DebugCompilationUnit", &arguments)
    }

    /// The version of DWARF that a module flag states.
    pub(super) fn dwarf_version(&self) -> u32 {
        let metadata = &self.t.module.metadata;
        for &flag in self.t.module.named_metadata("llvm.module.flags") {
            if let [_, Some(name), Some(value)] = metadata.operands(flag) {
                let named = metadata
                    .as_string(*name)
                    .map(|s| self.t.module.symbol_text(s));
                let number = metadata
                    .as_constant(*value)
                    .and_then(|c| self.t.module.consts.as_u64(c));
                if let (Some("Dwarf Version"), Some(number)) = (named, number) {
                    return number as u32;
                }
            }
        }
        4
    }

    pub(super) fn emit_source(&mut self, node: LlvmMetadata) -> Id {
        let directory = self.text_field(node, "directory");
        let name = self.text_field(node, "filename");
        let path = if name.starts_with('/') || directory.is_empty() {
            name
        } else {
            format!("{directory}/{name}")
        };
        let path = self.emit_string(&path);
        // Checksums are omitted: Khronos' translator would turn them into text that counts as the
        // source.
        self.emit_instruction("DebugSource", &[I(path)])
    }

    /// The source of a node: its file, or that of the enclosing scope, or of the first unit.
    pub(super) fn emit_file(&mut self, node: LlvmMetadata) -> Id {
        let mut at = Some(node);
        for _ in 0..MAX_DEPTH {
            let Some(node) = at else { break };
            if let Some(file) = self.node_field(node, "file") {
                return self.emit_node(Some(file));
            }
            if self.class_of(node) == "DIFile" {
                return self.emit_node(Some(node));
            }
            at = self.node_field(node, "scope");
        }
        let unit = self.t.module.named_metadata("llvm.dbg.cu").first().copied();
        match unit.and_then(|unit| self.node_field(unit, "file")) {
            Some(file) => self.emit_node(Some(file)),
            None => {
                let path = self.emit_string("");
                self.emit_instruction("DebugSource", &[I(path)])
            }
        }
    }

    /// Source, line and column of a node.
    pub(super) fn emit_source_position(&mut self, node: LlvmMetadata) -> [DebugInfoOperand; 3] {
        let source = self.emit_file(node);
        let line = self.number_field(node, "line");
        let column = self.number_field(node, "column");
        [I(source), N(line), N(column)]
    }

    /// The path of a scope's file.
    pub(super) fn source_path(&self, scope: Option<LlvmMetadata>) -> String {
        let mut at = scope;
        for _ in 0..MAX_DEPTH {
            let Some(node) = at else { break };
            if let Some(file) = self.node_field(node, "file") {
                let directory = self.text_field(file, "directory");
                let name = self.text_field(file, "filename");
                return if name.starts_with('/') || directory.is_empty() {
                    name
                } else {
                    format!("{directory}/{name}")
                };
            }
            at = self.node_field(node, "scope");
        }
        String::new()
    }

    /// The scope of a node. If that is a file or missing, it is the node's unit, or the first unit.
    pub(super) fn emit_scope_of(&mut self, node: LlvmMetadata) -> Id {
        let scope = self.node_field(node, "scope");
        match scope.filter(|scope| self.class_of(*scope) != "DIFile") {
            None => {
                let unit = self.node_field(node, "unit");
                self.emit_scope(unit)
            }
            scope => self.emit_scope(scope),
        }
    }

    /// The instruction of a scope.
    pub(super) fn emit_scope(&mut self, scope: Option<LlvmMetadata>) -> Id {
        let unit = self.t.module.named_metadata("llvm.dbg.cu").first().copied();
        let scope = match scope {
            Some(scope) if self.class_of(scope) != "DIFile" => Some(scope),
            _ => unit,
        };
        let id = self.emit_node(scope);
        if self.t.debug.none == Some(id) {
            self.emit_node(unit)
        } else {
            id
        }
    }

    pub(super) fn find_emitted(&self, node: LlvmMetadata) -> Option<Id> {
        self.t.debug.nodes[node.index()]
    }

    pub(super) fn read_access_and_flags(&self, node: LlvmMetadata) -> u32 {
        let flags = self.flag_field(node, "flags", FLAGS);
        let access = match self.find_field(node, "flags") {
            Some(MetadataField::Int(bits)) => ACCESS
                .iter()
                .find(|row| i128::from(row.1) == bits & 3)
                .map_or(0, |row| row.2),
            _ => self.flag_field(node, "flags", ACCESS),
        };
        flags | access
    }

    pub(super) fn emit_type_of(&mut self, node: LlvmMetadata, field: &str) -> Id {
        let ty = self.node_field(node, field);
        self.emit_type(ty)
    }
}
