//! Debug functions and variables: subprograms, locals, globals, and expressions.

use super::DebugInfoEmitter;
use super::DebugInfoOperand;
use super::dwarf_encodings::{OPERATIONS, SUBPROGRAM_FLAGS, operand_count};
use crate::ir::{GlobalKind, LlvmFunc, LlvmMetadata, MetadataField};
use crate::translate::translated_entities::GlobalState;
use spirula_spirv::Id;

use DebugInfoOperand::{Id as I, Number as N};

impl DebugInfoEmitter<'_, '_> {
    /// The operands that functions and declarations share, up to the flags.
    pub(super) fn emit_prototype(&mut self, node: LlvmMetadata) -> Vec<DebugInfoOperand> {
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
    pub(super) fn emit_subprogram(&mut self, node: LlvmMetadata) -> Id {
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

    pub(super) fn emit_local_variable(&mut self, node: LlvmMetadata) -> Id {
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

    pub(super) fn emit_defined_globals(&mut self) {
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

    pub(super) fn emit_global_variable(&mut self, node: LlvmMetadata, id: Id) {
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
    pub(super) fn emit_static_member(&mut self, node: LlvmMetadata) -> Option<Id> {
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
