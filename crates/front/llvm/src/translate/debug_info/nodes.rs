//! Debug nodes: sources, units, scopes, types and variables.

use super::dwarf_encodings::{
    ACCESS, ARRAY, COMPOSITES, ENCODINGS, ENUMERATION, FLAGS, INHERITANCE, LANGUAGES, MEMBER,
    MEMBER_POINTER, OPERATIONS, POINTERS, QUALIFIERS, SUBPROGRAM_FLAGS, TYPEDEF, operand_count,
};
use super::{DebugInfoOperand, MAX_DEPTH};
use crate::ir::{GlobalKind, LlvmFunc, LlvmMetadata, MetadataField, MetadataKind};
use crate::translate::translated_entities::GlobalState;
use crate::translate::translator::LlvmTranslator;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::StorageClass;

/// Version of the debug information that a unit states.
const VERSION: u32 = 0x10000;

/// Members that a composite may list.
const MAX_MEMBERS: usize = 16_000;

use DebugInfoOperand::{Id as I, Number as N};

/// The flag of a static member, which may have a value.
const STATIC_MEMBER: u32 = 1 << 9;

impl LlvmTranslator<'_> {
    /// The instruction of a node, or `DebugInfoNone` for no node.
    pub(super) fn debug_node(&mut self, node: Option<LlvmMetadata>) -> Id {
        let Some(node) = node else {
            return self.debug_none();
        };
        if let Some(id) = self.debug.nodes[node.index()] {
            return id;
        }
        if self.debug.depth >= MAX_DEPTH {
            return self.debug_none();
        }
        self.debug.depth += 1;
        let id = self.debug_make(node);
        self.debug.depth -= 1;
        let id = id.unwrap_or_else(|| self.debug_none());
        self.debug.nodes[node.index()] = Some(id);
        id
    }

    pub(super) fn class_of(&self, node: LlvmMetadata) -> &str {
        match self.module.metadata.kind(node) {
            MetadataKind::Special { class, .. } => self.module.symbol_text(class),
            _ => "",
        }
    }

    fn debug_make(&mut self, node: LlvmMetadata) -> Option<Id> {
        match self.class_of(node) {
            "DICompileUnit" => Some(self.debug_unit(node)),
            "DIFile" => Some(self.debug_source(node)),
            "DIBasicType" => {
                let name = self.debug_name(node, "name");
                let size = self.number_field(node, "size");
                let encoding = self.row_field(node, "encoding", ENCODINGS).unwrap_or(0);
                let mut arguments = vec![I(name), N(size), N(encoding)];
                if self.is_non_semantic() {
                    arguments.push(N(self.debug_flags(node)));
                }
                Some(self.debug_global("DebugTypeBasic", &arguments))
            }
            "DIDerivedType" => self.debug_derived(node),
            "DICompositeType" => {
                let made = self.debug_composite(node);
                if let Some(id) = made {
                    self.debug.nodes[node.index()] = Some(id);
                    self.debug_template(node, id);
                }
                made
            }
            "DIStringType" => self.debug_string_type(node),
            "DIModule" => self.debug_module(node),
            "DISubroutineType" => Some(self.debug_function_type(node)),
            "DISubprogram" => {
                let id = self.debug_subprogram(node);
                self.debug.nodes[node.index()] = Some(id);
                if self.debug.functions[node.index()].is_some() {
                    self.debug_template(node, id);
                }
                Some(id)
            }
            "DILexicalBlock" => {
                let place = self.emit_debug_location_of(node);
                let parent = self.debug_scope_field(node);
                let arguments = [place[0], place[1], place[2], I(parent)];
                Some(self.debug_global("DebugLexicalBlock", &arguments))
            }
            // Another file or discriminator is not a scope of its own.
            "DILexicalBlockFile" => Some(self.debug_scope_field(node)),
            "DINamespace" => {
                let name = self.debug_name(node, "name");
                let source = self.debug_file(node);
                let parent = self.debug_scope_field(node);
                let arguments = [I(source), N(0), N(0), I(parent), I(name)];
                Some(self.debug_global("DebugLexicalBlock", &arguments))
            }
            "DILocalVariable" => Some(self.debug_local(node)),
            "DIExpression" => self.debug_expression(node),
            "DILocation" => {
                let scope = self.debug_scope_field(node);
                let line = self.number_field(node, "line");
                let mut arguments = vec![N(line), I(scope)];
                if let Some(outer) = self.node_field(node, "inlinedAt") {
                    let outer = self.debug_node(Some(outer));
                    arguments.push(I(outer));
                }
                Some(self.debug_global("DebugInlinedAt", &arguments))
            }
            _ => None,
        }
    }

    pub(super) fn debug_name(&mut self, node: LlvmMetadata, field: &str) -> Id {
        let text = self.text_field(node, field);
        self.debug_text(&text)
    }

    fn debug_unit(&mut self, node: LlvmMetadata) -> Id {
        let source = self.debug_file(node);
        let language = self.row_field(node, "language", LANGUAGES).unwrap_or(0);
        let dwarf = self.dwarf_version();
        let arguments = [N(VERSION), N(dwarf), I(source), N(language)];
        self.debug_global("DebugCompilationUnit", &arguments)
    }

    /// The version of DWARF that a module flag states.
    fn dwarf_version(&self) -> u32 {
        let metadata = &self.module.metadata;
        for &flag in self.module.named_metadata("llvm.module.flags") {
            if let [_, Some(name), Some(value)] = metadata.operands(flag) {
                let named = metadata
                    .as_string(*name)
                    .map(|s| self.module.symbol_text(s));
                let number = metadata
                    .as_constant(*value)
                    .and_then(|c| self.module.consts.as_u64(c));
                if let (Some("Dwarf Version"), Some(number)) = (named, number) {
                    return number as u32;
                }
            }
        }
        4
    }

    fn debug_source(&mut self, node: LlvmMetadata) -> Id {
        let directory = self.text_field(node, "directory");
        let name = self.text_field(node, "filename");
        let path = if name.starts_with('/') || directory.is_empty() {
            name
        } else {
            format!("{directory}/{name}")
        };
        let path = self.debug_text(&path);
        // Checksums are omitted: Khronos' translator would turn them into text that counts as the
        // source.
        self.debug_global("DebugSource", &[I(path)])
    }

    /// The source of a node: its file, or that of the enclosing scope, or of the first unit.
    pub(super) fn debug_file(&mut self, node: LlvmMetadata) -> Id {
        let mut at = Some(node);
        for _ in 0..MAX_DEPTH {
            let Some(node) = at else { break };
            if let Some(file) = self.node_field(node, "file") {
                return self.debug_node(Some(file));
            }
            if self.class_of(node) == "DIFile" {
                return self.debug_node(Some(node));
            }
            at = self.node_field(node, "scope");
        }
        let unit = self.module.named_metadata("llvm.dbg.cu").first().copied();
        match unit.and_then(|unit| self.node_field(unit, "file")) {
            Some(file) => self.debug_node(Some(file)),
            None => {
                let path = self.debug_text("");
                self.debug_global("DebugSource", &[I(path)])
            }
        }
    }

    /// Source, line and column of a node.
    fn emit_debug_location_of(&mut self, node: LlvmMetadata) -> [DebugInfoOperand; 3] {
        let source = self.debug_file(node);
        let line = self.number_field(node, "line");
        let column = self.number_field(node, "column");
        [I(source), N(line), N(column)]
    }

    /// The scope of a node. If that is a file or missing, it is the node's unit, or the first unit.
    pub(super) fn debug_scope_field(&mut self, node: LlvmMetadata) -> Id {
        let scope = self.node_field(node, "scope");
        match scope.filter(|scope| self.class_of(*scope) != "DIFile") {
            None => {
                let unit = self.node_field(node, "unit");
                self.debug_scope(unit)
            }
            scope => self.debug_scope(scope),
        }
    }

    /// The instruction of a scope.
    pub(super) fn debug_scope(&mut self, scope: Option<LlvmMetadata>) -> Id {
        let unit = self.module.named_metadata("llvm.dbg.cu").first().copied();
        let scope = match scope {
            Some(scope) if self.class_of(scope) != "DIFile" => Some(scope),
            _ => unit,
        };
        let id = self.debug_node(scope);
        if self.debug.none == Some(id) {
            self.debug_node(unit)
        } else {
            id
        }
    }

    fn debug_nodes_of(&self, node: LlvmMetadata) -> Option<Id> {
        self.debug.nodes[node.index()]
    }

    fn debug_flags(&self, node: LlvmMetadata) -> u32 {
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

    pub(super) fn debug_type_field(&mut self, node: LlvmMetadata, field: &str) -> Id {
        let ty = self.node_field(node, field);
        self.debug_type(ty)
    }

    fn debug_derived(&mut self, node: LlvmMetadata) -> Option<Id> {
        if let Some(flags) = self.row_field(node, "tag", POINTERS) {
            let base = self.debug_type_field(node, "baseType");
            let space = self.number_field(node, "dwarfAddressSpace");
            let class = self.storage_class(space).unwrap_or(StorageClass::Function);
            let arguments = [I(base), N(class.0), N(flags)];
            return Some(self.debug_global("DebugTypePointer", &arguments));
        }
        if let Some(qualifier) = self.row_field(node, "tag", QUALIFIERS) {
            let base = self.debug_type_field(node, "baseType");
            let arguments = [I(base), N(qualifier)];
            return Some(self.debug_global("DebugTypeQualifier", &arguments));
        }
        if self.row_field(node, "tag", MEMBER_POINTER).is_some() {
            let member = self.debug_type_field(node, "baseType");
            let class = self.node_field(node, "extraData");
            let class = self.debug_node(class);
            return Some(self.debug_global("DebugTypePtrToMember", &[I(member), I(class)]));
        }
        if self.row_field(node, "tag", TYPEDEF).is_some() {
            let name = self.debug_name(node, "name");
            // `void` cannot have another name.
            let named = self.node_field(node, "baseType")?;
            let base = self.debug_type(Some(named));
            // The validator accepts names of basic types only; typedefs of other types are replaced
            // by the type.
            if self.class_of(named) != "DIBasicType" {
                return Some(base);
            }
            let [source, line, column] = self.emit_debug_location_of(node);
            let parent = self.debug_scope_field(node);
            let arguments = [I(name), I(base), source, line, column, I(parent)];
            return Some(self.debug_global("DebugTypedef", &arguments));
        }
        None
    }

    fn debug_composite(&mut self, node: LlvmMetadata) -> Option<Id> {
        if self.row_field(node, "tag", ARRAY).is_some() {
            return Some(self.debug_array(node));
        }
        if self.row_field(node, "tag", ENUMERATION).is_some() {
            return Some(self.debug_enumeration(node));
        }
        let tag = self.row_field(node, "tag", COMPOSITES)?;
        let name = self.debug_name(node, "name");
        let [source, line, column] = self.emit_debug_location_of(node);
        let parent = self.debug_scope_field(node);
        // Translating the enclosing scope may have translated this node too.
        if let Some(id) = self.debug_nodes_of(node) {
            return Some(id);
        }
        let linkage = self.debug_name(node, "identifier");
        let size = self.number_field(node, "size");
        let flags = self.debug_flags(node);
        let elements = self.node_field(node, "elements");
        let elements = elements.map_or(Vec::new(), |list| {
            self.module.metadata.operands(list).to_vec()
        });
        let members: Vec<LlvmMetadata> = elements
            .into_iter()
            .flatten()
            .filter(|m| self.row_field(*m, "tag", MEMBER).is_some())
            .take(MAX_MEMBERS)
            .collect();
        let id = self.b.fresh_id();
        let mut arguments = vec![I(name), N(tag), source, line, column, I(parent), I(linkage)];
        arguments.extend([N(size), N(flags)]);
        if self.is_non_semantic() {
            self.emit_composite_after_members(node, id, arguments, &members);
            return Some(id);
        }
        self.debug.nodes[node.index()] = Some(id);
        let ids: Vec<Id> = members.iter().map(|_| self.b.fresh_id()).collect();
        arguments.extend(ids.iter().map(|id| I(*id)));
        self.debug_define(id, "DebugTypeComposite", &arguments);
        for (&member, &own) in members.iter().zip(&ids) {
            self.debug.nodes[member.index()] = Some(own);
            self.debug_member(member, own, Some(id));
        }
        self.debug_bases(node, id);
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
        let none = self.debug_none();
        self.debug.nodes[node.index()] = Some(none);
        for &member in members {
            let own = self.b.fresh_id();
            self.debug_member(member, own, None);
            self.debug.nodes[member.index()] = Some(own);
            arguments.push(I(own));
        }
        // Base classes are omitted: the Khronos validator takes the tags of composites for literals
        // there.
        self.debug_define(id, "DebugTypeComposite", &arguments);
        self.debug.nodes[node.index()] = Some(id);
    }

    fn debug_member(&mut self, node: LlvmMetadata, id: Id, parent: Option<Id>) {
        let name = self.debug_name(node, "name");
        let ty = self.debug_type_field(node, "baseType");
        let [source, line, column] = self.emit_debug_location_of(node);
        let offset = self.number_field(node, "offset");
        let size = self.number_field(node, "size");
        let flags = self.debug_flags(node);
        let mut arguments = vec![I(name), I(ty), source, line, column];
        arguments.extend(parent.map(I));
        arguments.extend([N(offset), N(size), N(flags)]);
        if flags & STATIC_MEMBER != 0 && self.find_field(node, "extraData").is_some() {
            let value = self.number_field(node, "extraData");
            arguments.push(I(self.make_u32(value)));
        }
        self.debug_define(id, "DebugTypeMember", &arguments);
    }

    /// The classes that a class is derived from.
    fn debug_bases(&mut self, node: LlvmMetadata, id: Id) {
        let elements = self.node_field(node, "elements");
        let elements = elements.map_or(Vec::new(), |list| {
            self.module.metadata.operands(list).to_vec()
        });
        for element in elements.into_iter().flatten() {
            if self.row_field(element, "tag", INHERITANCE).is_none() {
                continue;
            }
            let base = self.node_field(element, "baseType");
            let base = self.debug_node(base);
            let offset = self.number_field(element, "offset");
            let size = self.number_field(element, "size");
            let flags = self.debug_flags(element);
            let arguments = [I(id), I(base), N(offset), N(size), N(flags)];
            self.debug_global("DebugTypeInheritance", &arguments);
        }
    }

    fn debug_enumeration(&mut self, node: LlvmMetadata) -> Id {
        let name = self.debug_name(node, "name");
        let base = self.debug_type_field(node, "baseType");
        let [source, line, column] = self.emit_debug_location_of(node);
        let parent = self.debug_scope_field(node);
        let size = self.number_field(node, "size");
        let flags = self.debug_flags(node);
        let mut arguments = vec![I(name), I(base), source, line, column, I(parent)];
        arguments.extend([N(size), N(flags)]);
        let elements = self.node_field(node, "elements");
        let elements = elements.map_or(Vec::new(), |list| {
            self.module.metadata.operands(list).to_vec()
        });
        for element in elements.into_iter().flatten().take(MAX_MEMBERS / 2) {
            let value = match self.find_field(element, "value") {
                Some(MetadataField::Int(value)) => value as u32,
                _ => 0,
            };
            let name = self.debug_name(element, "name");
            arguments.extend([N(value), I(name)]);
        }
        self.debug_global("DebugTypeEnum", &arguments)
    }

    fn debug_function_type(&mut self, node: LlvmMetadata) -> Id {
        let flags = self.debug_flags(node);
        let types = self.node_field(node, "types");
        let types = types.map_or(Vec::new(), |list| {
            self.module.metadata.operands(list).to_vec()
        });
        let mut arguments = vec![N(flags)];
        let mut types = types.into_iter();
        let result = match types.next() {
            Some(Some(ty)) => self.debug_type(Some(ty)),
            _ => self.b.void_type(),
        };
        arguments.push(I(result));
        for ty in types {
            let ty = self.debug_type(ty);
            arguments.push(I(ty));
        }
        self.debug_global("DebugTypeFunction", &arguments)
    }

    /// The operands that functions and declarations share, up to the flags.
    fn debug_prototype(&mut self, node: LlvmMetadata) -> Vec<DebugInfoOperand> {
        let name = self.debug_name(node, "name");
        let ty = self.debug_type_field(node, "type");
        let [source, line, column] = self.emit_debug_location_of(node);
        let parent = self.debug_scope_field(node);
        let linkage = self.debug_name(node, "linkageName");
        let flags = self.debug_flags(node)
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
    fn debug_subprogram(&mut self, node: LlvmMetadata) -> Id {
        let mut arguments = self.debug_prototype(node);
        if let Some(id) = self.debug_nodes_of(node) {
            return id;
        }
        let func = self.debug.functions[node.index()];
        let defined = func.is_some() || self.flag_field(node, "spFlags", SUBPROGRAM_FLAGS) & 8 != 0;
        if !defined && self.number_field(node, "isDefinition") == 0 {
            return self.debug_global("DebugFunctionDeclaration", &arguments);
        }
        let line = self.number_field(node, "scopeLine");
        arguments.push(N(line));
        if !self.is_non_semantic() {
            let body = func.and_then(|func| self.intern_signature(func).ok());
            arguments.push(I(match body {
                Some(signature) => signature.id,
                None => self.debug_none(),
            }));
        }
        let declaration = self.node_field(node, "declaration");
        let declaration = declaration.map(|node| self.debug_node(Some(node)));
        arguments.extend(declaration.map(I));
        self.debug_global("DebugFunction", &arguments)
    }

    /// The function of a subprogram that the module defines.
    pub(in crate::translate) fn debug_function(&mut self, func: LlvmFunc) {
        if self.has_debug()
            && let Some(node) = self.module.function_metadata(func, "dbg")
        {
            let function = self.debug_node(Some(node));
            self.debug_entry(func, node, function);
        }
    }

    fn debug_local(&mut self, node: LlvmMetadata) -> Id {
        let name = self.debug_name(node, "name");
        let ty = self.debug_type_field(node, "type");
        let [source, line, column] = self.emit_debug_location_of(node);
        let parent = self.debug_scope_field(node);
        let flags = self.debug_flags(node);
        let mut arguments = vec![I(name), I(ty), source, line, column, I(parent), N(flags)];
        let number = self.number_field(node, "arg");
        arguments.extend((number > 0).then_some(N(number)));
        self.debug_global("DebugLocalVariable", &arguments)
    }

    /// The global variables of the module, then those that only the units list.
    pub(super) fn debug_globals(&mut self) {
        self.debug_defined_globals();
        for &unit in self.module.named_metadata("llvm.dbg.cu") {
            let Some(list) = self.node_field(unit, "globals") else {
                continue;
            };
            for expression in self.module.metadata.operands(list).iter().flatten() {
                if let Some(variable) = self.node_field(*expression, "var") {
                    let none = self.debug_none();
                    self.debug_variable(variable, none);
                }
            }
        }
    }

    fn debug_defined_globals(&mut self) {
        for global in self.module.global_ids() {
            let data = self.module.global(global);
            let Some(kind) = self.module.strings.find_symbol("dbg") else {
                return;
            };
            let variable = matches!(data.kind, GlobalKind::Variable(_));
            let node = data.metadata.iter().find(|m| m.0 == kind).map(|m| m.1);
            let GlobalState::Done(id) = self.globals[global.index()] else {
                continue;
            };
            let variable = node
                .filter(|_| variable)
                .and_then(|n| self.node_field(n, "var"));
            if let Some(variable) = variable {
                self.debug_variable(variable, id);
            }
        }
    }

    fn debug_variable(&mut self, node: LlvmMetadata, id: Id) {
        if self.debug_nodes_of(node).is_some() {
            return;
        }
        let name = self.debug_name(node, "name");
        let ty = self.debug_type_field(node, "type");
        let [source, line, column] = self.emit_debug_location_of(node);
        let parent = self.debug_scope_field(node);
        let linkage = self.debug_name(node, "linkageName");
        let local = self.number_field(node, "isLocal") << 2;
        let definition = self.number_field(node, "isDefinition") << 3;
        let mut arguments = vec![I(name), I(ty), source, line, column, I(parent), I(linkage)];
        arguments.extend([I(id), N(local | definition)]);
        if let Some(member) = self.static_member(node) {
            arguments.push(I(member));
        }
        let made = self.debug_global("DebugGlobalVariable", &arguments);
        self.debug.nodes[node.index()] = Some(made);
    }

    /// The member of a class that a variable defines.
    fn static_member(&mut self, node: LlvmMetadata) -> Option<Id> {
        let declaration = self.node_field(node, "declaration")?;
        let class = self.node_field(declaration, "scope")?;
        self.debug_node(Some(class));
        self.debug_nodes_of(declaration)
    }

    /// An expression; `None` if it has an operation that SPIR-V lacks.
    pub(super) fn debug_expression(&mut self, node: LlvmMetadata) -> Option<Id> {
        let fields: Vec<MetadataField> = self
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
                    let word = self.module.symbol_text(word);
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
            operations.push(I(self.debug_global("DebugOperation", &arguments)));
        }
        Some(self.debug_global("DebugExpression", &operations))
    }
}
