//! Debug nodes: sources, units, scopes, types and variables.

use super::DebugInfoEmitter;
use super::dwarf_encodings::{
    ACCESS, ARRAY, COMPOSITES, ENCODINGS, ENUMERATION, FLAGS, INHERITANCE, LANGUAGES, MEMBER,
    MEMBER_POINTER, OPERATIONS, POINTERS, QUALIFIERS, SUBPROGRAM_FLAGS, TYPEDEF, operand_count,
};
use super::{DebugInfoOperand, MAX_DEPTH};
use crate::ir::{GlobalKind, LlvmFunc, LlvmMetadata, MetadataField, MetadataKind};
use crate::translate::translated_entities::GlobalState;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::StorageClass;

/// Version of the debug information that a unit states.
const VERSION: u32 = 0x10000;

/// Members that a composite may list.
const MAX_MEMBERS: usize = 16_000;

use DebugInfoOperand::{Id as I, Number as N};

/// The flag of a static member, which may have a value.
const STATIC_MEMBER: u32 = 1 << 9;

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
            MetadataKind::Special { class, .. } => self.t.module.symbol_text(class),
            _ => "",
        }
    }

    fn emit_by_class(&mut self, node: LlvmMetadata) -> Option<Id> {
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

    fn emit_unit(&mut self, node: LlvmMetadata) -> Id {
        let source = self.emit_file(node);
        let language = self.row_field(node, "language", LANGUAGES).unwrap_or(0);
        let dwarf = self.dwarf_version();
        let arguments = [N(VERSION), N(dwarf), I(source), N(language)];
        self.emit_instruction("DebugCompilationUnit", &arguments)
    }

    /// The version of DWARF that a module flag states.
    fn dwarf_version(&self) -> u32 {
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

    fn emit_source(&mut self, node: LlvmMetadata) -> Id {
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
    fn emit_source_position(&mut self, node: LlvmMetadata) -> [DebugInfoOperand; 3] {
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

    fn find_emitted(&self, node: LlvmMetadata) -> Option<Id> {
        self.t.debug.nodes[node.index()]
    }

    fn read_access_and_flags(&self, node: LlvmMetadata) -> u32 {
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

    fn emit_derived(&mut self, node: LlvmMetadata) -> Option<Id> {
        if let Some(flags) = self.row_field(node, "tag", POINTERS) {
            let base = self.emit_type_of(node, "baseType");
            let space = self.number_field(node, "dwarfAddressSpace");
            let class = self
                .t
                .storage_class(space)
                .unwrap_or(StorageClass::Function);
            let arguments = [I(base), N(class.0), N(flags)];
            return Some(self.emit_instruction("DebugTypePointer", &arguments));
        }
        if let Some(qualifier) = self.row_field(node, "tag", QUALIFIERS) {
            let base = self.emit_type_of(node, "baseType");
            let arguments = [I(base), N(qualifier)];
            return Some(self.emit_instruction("DebugTypeQualifier", &arguments));
        }
        if self.row_field(node, "tag", MEMBER_POINTER).is_some() {
            let member = self.emit_type_of(node, "baseType");
            let class = self.node_field(node, "extraData");
            let class = self.emit_node(class);
            return Some(self.emit_instruction("DebugTypePtrToMember", &[I(member), I(class)]));
        }
        if self.row_field(node, "tag", TYPEDEF).is_some() {
            let name = self.emit_name(node, "name");
            // `void` cannot have another name.
            let named = self.node_field(node, "baseType")?;
            let base = self.emit_type(Some(named));
            // The validator accepts names of basic types only; typedefs of other types are replaced
            // by the type.
            if self.class_of(named) != "DIBasicType" {
                return Some(base);
            }
            let [source, line, column] = self.emit_source_position(node);
            let parent = self.emit_scope_of(node);
            let arguments = [I(name), I(base), source, line, column, I(parent)];
            return Some(self.emit_instruction("DebugTypedef", &arguments));
        }
        None
    }

    fn emit_composite(&mut self, node: LlvmMetadata) -> Option<Id> {
        if self.row_field(node, "tag", ARRAY).is_some() {
            return Some(self.emit_array(node));
        }
        if self.row_field(node, "tag", ENUMERATION).is_some() {
            return Some(self.emit_enumeration(node));
        }
        let tag = self.row_field(node, "tag", COMPOSITES)?;
        let name = self.emit_name(node, "name");
        let [source, line, column] = self.emit_source_position(node);
        let parent = self.emit_scope_of(node);
        // Translating the enclosing scope may have translated this node too.
        if let Some(id) = self.find_emitted(node) {
            return Some(id);
        }
        let linkage = self.emit_name(node, "identifier");
        let size = self.number_field(node, "size");
        let flags = self.read_access_and_flags(node);
        let elements = self.node_field(node, "elements");
        let elements = elements.map_or(Vec::new(), |list| {
            self.t.module.metadata.operands(list).to_vec()
        });
        let members: Vec<LlvmMetadata> = elements
            .into_iter()
            .flatten()
            .filter(|m| self.row_field(*m, "tag", MEMBER).is_some())
            .take(MAX_MEMBERS)
            .collect();
        let id = self.t.b.fresh_id();
        let mut arguments = vec![I(name), N(tag), source, line, column, I(parent), I(linkage)];
        arguments.extend([N(size), N(flags)]);
        if self.t.is_non_semantic() {
            self.emit_composite_after_members(node, id, arguments, &members);
            return Some(id);
        }
        self.t.debug.nodes[node.index()] = Some(id);
        let ids: Vec<Id> = members.iter().map(|_| self.t.b.fresh_id()).collect();
        arguments.extend(ids.iter().map(|id| I(*id)));
        self.define_instruction(id, "DebugTypeComposite", &arguments);
        for (&member, &own) in members.iter().zip(&ids) {
            self.t.debug.nodes[member.index()] = Some(own);
            self.emit_member(member, own, Some(id));
        }
        self.emit_bases(node, id);
        Some(id)
    }

    /// A composite that follows its members. The members do not reference it, because instructions
    /// of non-semantic sets must not reference later ones.
    fn emit_composite_after_members(
        &mut self,
        node: LlvmMetadata,
        id: Id,
        mut arguments: Vec<DebugInfoOperand>,
        members: &[LlvmMetadata],
    ) {
        let none = self.emit_none();
        self.t.debug.nodes[node.index()] = Some(none);
        for &member in members {
            let own = self.t.b.fresh_id();
            self.emit_member(member, own, None);
            self.t.debug.nodes[member.index()] = Some(own);
            arguments.push(I(own));
        }
        // Base classes are omitted: the Khronos validator takes the tags of composites for literals
        // there.
        self.define_instruction(id, "DebugTypeComposite", &arguments);
        self.t.debug.nodes[node.index()] = Some(id);
    }

    fn emit_member(&mut self, node: LlvmMetadata, id: Id, parent: Option<Id>) {
        let name = self.emit_name(node, "name");
        let ty = self.emit_type_of(node, "baseType");
        let [source, line, column] = self.emit_source_position(node);
        let offset = self.number_field(node, "offset");
        let size = self.number_field(node, "size");
        let flags = self.read_access_and_flags(node);
        let mut arguments = vec![I(name), I(ty), source, line, column];
        arguments.extend(parent.map(I));
        arguments.extend([N(offset), N(size), N(flags)]);
        if flags & STATIC_MEMBER != 0 && self.find_field(node, "extraData").is_some() {
            let value = self.number_field(node, "extraData");
            arguments.push(I(self.t.make_u32(value)));
        }
        self.define_instruction(id, "DebugTypeMember", &arguments);
    }

    /// The classes that a class is derived from.
    fn emit_bases(&mut self, node: LlvmMetadata, id: Id) {
        let elements = self.node_field(node, "elements");
        let elements = elements.map_or(Vec::new(), |list| {
            self.t.module.metadata.operands(list).to_vec()
        });
        for element in elements.into_iter().flatten() {
            if self.row_field(element, "tag", INHERITANCE).is_none() {
                continue;
            }
            let base = self.node_field(element, "baseType");
            let base = self.emit_node(base);
            let offset = self.number_field(element, "offset");
            let size = self.number_field(element, "size");
            let flags = self.read_access_and_flags(element);
            let arguments = [I(id), I(base), N(offset), N(size), N(flags)];
            self.emit_instruction("DebugTypeInheritance", &arguments);
        }
    }

    fn emit_enumeration(&mut self, node: LlvmMetadata) -> Id {
        let name = self.emit_name(node, "name");
        let base = self.emit_type_of(node, "baseType");
        let [source, line, column] = self.emit_source_position(node);
        let parent = self.emit_scope_of(node);
        let size = self.number_field(node, "size");
        let flags = self.read_access_and_flags(node);
        let mut arguments = vec![I(name), I(base), source, line, column, I(parent)];
        arguments.extend([N(size), N(flags)]);
        let elements = self.node_field(node, "elements");
        let elements = elements.map_or(Vec::new(), |list| {
            self.t.module.metadata.operands(list).to_vec()
        });
        for element in elements.into_iter().flatten().take(MAX_MEMBERS / 2) {
            let value = match self.find_field(element, "value") {
                Some(MetadataField::Int(value)) => value as u32,
                _ => 0,
            };
            let name = self.emit_name(element, "name");
            arguments.extend([N(value), I(name)]);
        }
        self.emit_instruction("DebugTypeEnum", &arguments)
    }

    fn emit_function_type(&mut self, node: LlvmMetadata) -> Id {
        let flags = self.read_access_and_flags(node);
        let types = self.node_field(node, "types");
        let types = types.map_or(Vec::new(), |list| {
            self.t.module.metadata.operands(list).to_vec()
        });
        let mut arguments = vec![N(flags)];
        let mut types = types.into_iter();
        let result = match types.next() {
            Some(Some(ty)) => self.emit_type(Some(ty)),
            _ => self.t.b.void_type(),
        };
        arguments.push(I(result));
        for ty in types {
            let ty = self.emit_type(ty);
            arguments.push(I(ty));
        }
        self.emit_instruction("DebugTypeFunction", &arguments)
    }

    /// The operands that functions and declarations share, up to the flags.
    fn emit_prototype(&mut self, node: LlvmMetadata) -> Vec<DebugInfoOperand> {
        let name = self.emit_name(node, "name");
        let ty = self.emit_type_of(node, "type");
        let [source, line, column] = self.emit_source_position(node);
        let parent = self.emit_scope_of(node);
        let linkage = self.emit_name(node, "linkageName");
        let flags = self.read_access_and_flags(node)
            | self.flag_field(node, "spFlags", SUBPROGRAM_FLAGS)
            | match self.number_field(node, "isDefinition") {
                1 => 1 << 3,
                _ => 0,
            };
        let mut arguments = vec![I(name), I(ty), source, line, column, I(parent)];
        arguments.extend([I(linkage), N(flags)]);
        arguments
    }

    /// A function, whether its body is here, was inlined, or is missing.
    fn emit_subprogram(&mut self, node: LlvmMetadata) -> Id {
        let mut arguments = self.emit_prototype(node);
        if let Some(id) = self.find_emitted(node) {
            return id;
        }
        let func = self.t.debug.functions[node.index()];
        let defined = func.is_some() || self.flag_field(node, "spFlags", SUBPROGRAM_FLAGS) & 8 != 0;
        if !defined && self.number_field(node, "isDefinition") == 0 {
            return self.emit_instruction("DebugFunctionDeclaration", &arguments);
        }
        let line = self.number_field(node, "scopeLine");
        arguments.push(N(line));
        if !self.t.is_non_semantic() {
            let body = func.and_then(|func| self.t.intern_signature(func).ok());
            arguments.push(I(match body {
                Some(signature) => signature.id,
                None => self.emit_none(),
            }));
        }
        let declaration = self.node_field(node, "declaration");
        let declaration = declaration.map(|node| self.emit_node(Some(node)));
        arguments.extend(declaration.map(I));
        self.emit_instruction("DebugFunction", &arguments)
    }

    /// The function of a subprogram that the module defines.
    pub(in crate::translate) fn emit_defined_function(&mut self, func: LlvmFunc) {
        if self.t.has_debug()
            && let Some(node) = self.t.module.function_metadata(func, "dbg")
        {
            let function = self.emit_node(Some(node));
            self.emit_entry_point(func, node, function);
        }
    }

    fn emit_local_variable(&mut self, node: LlvmMetadata) -> Id {
        let name = self.emit_name(node, "name");
        let ty = self.emit_type_of(node, "type");
        let [source, line, column] = self.emit_source_position(node);
        let parent = self.emit_scope_of(node);
        let flags = self.read_access_and_flags(node);
        let mut arguments = vec![I(name), I(ty), source, line, column, I(parent), N(flags)];
        let number = self.number_field(node, "arg");
        arguments.extend((number > 0).then_some(N(number)));
        self.emit_instruction("DebugLocalVariable", &arguments)
    }

    /// The global variables of the module, then those that only the units list.
    pub(super) fn emit_globals(&mut self) {
        self.emit_defined_globals();
        for &unit in self.t.module.named_metadata("llvm.dbg.cu") {
            let Some(list) = self.node_field(unit, "globals") else {
                continue;
            };
            for expression in self.t.module.metadata.operands(list).iter().flatten() {
                if let Some(variable) = self.node_field(*expression, "var") {
                    let none = self.emit_none();
                    self.emit_global_variable(variable, none);
                }
            }
        }
    }

    fn emit_defined_globals(&mut self) {
        for global in self.t.module.global_ids() {
            let data = self.t.module.global(global);
            let Some(kind) = self.t.module.strings.find_symbol("dbg") else {
                return;
            };
            let variable = matches!(data.kind, GlobalKind::Variable(_));
            let node = data.metadata.iter().find(|m| m.0 == kind).map(|m| m.1);
            let GlobalState::Done(id) = self.t.globals[global.index()] else {
                continue;
            };
            let variable = node
                .filter(|_| variable)
                .and_then(|n| self.node_field(n, "var"));
            if let Some(variable) = variable {
                self.emit_global_variable(variable, id);
            }
        }
    }

    fn emit_global_variable(&mut self, node: LlvmMetadata, id: Id) {
        if self.find_emitted(node).is_some() {
            return;
        }
        let name = self.emit_name(node, "name");
        let ty = self.emit_type_of(node, "type");
        let [source, line, column] = self.emit_source_position(node);
        let parent = self.emit_scope_of(node);
        let linkage = self.emit_name(node, "linkageName");
        let local = self.number_field(node, "isLocal") << 2;
        let definition = self.number_field(node, "isDefinition") << 3;
        let mut arguments = vec![I(name), I(ty), source, line, column, I(parent), I(linkage)];
        arguments.extend([I(id), N(local | definition)]);
        if let Some(member) = self.emit_static_member(node) {
            arguments.push(I(member));
        }
        let made = self.emit_instruction("DebugGlobalVariable", &arguments);
        self.t.debug.nodes[node.index()] = Some(made);
    }

    /// The member of a class that a variable defines.
    fn emit_static_member(&mut self, node: LlvmMetadata) -> Option<Id> {
        let declaration = self.node_field(node, "declaration")?;
        let class = self.node_field(declaration, "scope")?;
        self.emit_node(Some(class));
        self.find_emitted(declaration)
    }

    /// An expression; `None` if it has an operation that SPIR-V lacks.
    pub(super) fn emit_expression(&mut self, node: LlvmMetadata) -> Option<Id> {
        let fields: Vec<MetadataField> = self
            .t
            .module
            .metadata
            .fields(node)
            .iter()
            .map(|f| f.1)
            .collect();
        let mut operations = Vec::new();
        let mut fields = fields.into_iter();
        while let Some(field) = fields.next() {
            let row = match field {
                MetadataField::Word(word) => {
                    let word = self.t.module.symbol_text(word);
                    OPERATIONS.iter().find(|row| row.0 == word)
                }
                MetadataField::Int(number) => {
                    OPERATIONS.iter().find(|row| i128::from(row.1) == number)
                }
                MetadataField::Node(_) => None,
            };
            let operation = row?.2;
            let mut arguments = vec![N(operation)];
            for _ in 0..operand_count(operation) {
                let Some(MetadataField::Int(number)) = fields.next() else {
                    return None;
                };
                arguments.push(N(u32::try_from(number).ok()?));
            }
            operations.push(I(self.emit_instruction("DebugOperation", &arguments)));
        }
        Some(self.emit_instruction("DebugExpression", &operations))
    }
}
