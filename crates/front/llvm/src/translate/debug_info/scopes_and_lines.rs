//! Scopes and lines: source locations of instructions, and locations of variables within functions.

use crate::LlvmResult;
use crate::ir::{
    DebugRecordKind, LlvmInst, LlvmMetadata, LlvmOpcode, LlvmValue, MetadataKind, ValueKind,
};
use crate::translate::function_body::FunctionTranslator;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

impl FunctionTranslator<'_, '_> {
    /// Emits the source location of an instruction if it differs from the previous one, and the
    /// locations of variables that its debug records state.
    pub(in crate::translate) fn emit_debug_location(&mut self, inst: LlvmInst) {
        if !self.debug.enabled || matches!(self.opcode(inst), LlvmOpcode::Phi | LlvmOpcode::Alloca)
        {
            return;
        }
        self.emit_debug_records(inst);
        let kind = self.t.module.strings.find_symbol("dbg");
        let node = kind.and_then(|kind| self.function.find_attachment(inst, kind));
        self.locate_at(node);
    }

    /// Emits which function's body begins here.
    pub(in crate::translate) fn emit_function_definition(&mut self) {
        if !self.debug.enabled || !self.t.is_non_semantic() {
            return;
        }
        if let Some(node) = self.t.module.function_metadata(self.func, "dbg") {
            let function = self.t.debug_info().emit_node(Some(node));
            let arguments = [function, self.signature.id].map(super::DebugInfoOperand::Id);
            self.emit_debug_effect("DebugFunctionDefinition", &arguments);
        }
    }

    fn opcode(&self, inst: LlvmInst) -> LlvmOpcode {
        self.function.inst(inst).opcode
    }

    fn locate_at(&mut self, node: Option<LlvmMetadata>) {
        let Some(node) = node else {
            self.emit_no_line();
            if self.debug.last_location.scope.take().is_some() {
                self.emit_debug_effect("DebugNoScope", &[]);
            }
            return;
        };
        let scope = self.t.debug_info().node_field(node, "scope");
        let inlined = self.t.debug_info().node_field(node, "inlinedAt");
        let id = self.t.debug_info().emit_scope(scope);
        let inlined = inlined.map(|node| self.t.debug_info().emit_node(Some(node)));
        let known = self.t.debug.none != Some(id);
        if known && self.debug.last_location.scope != Some((id, inlined)) {
            self.debug.last_location.scope = Some((id, inlined));
            let mut arguments = vec![super::DebugInfoOperand::Id(id)];
            arguments.extend(inlined.map(super::DebugInfoOperand::Id));
            self.emit_debug_effect("DebugScope", &arguments);
        }
        let source = match (scope, self.t.is_non_semantic()) {
            (Some(scope), true) => self.t.debug_info().emit_file(scope),
            _ => {
                let path = self.t.debug_info().source_path(scope);
                self.t.debug_info().emit_string(&path)
            }
        };
        let line = self.t.debug_info().number_field(node, "line");
        let column = self.t.debug_info().number_field(node, "column");
        if self.debug.last_location.line == Some((source, line, column)) {
            return;
        }
        if line == 0 && self.t.is_non_semantic() {
            // Lines are counted from 1 there.
            return self.emit_no_line();
        }
        self.debug.last_location.line = Some((source, line, column));
        if self.t.is_non_semantic() {
            let [line, column] = [line, column].map(super::DebugInfoOperand::Number);
            let arguments = [
                super::DebugInfoOperand::Id(source),
                line,
                line,
                column,
                column,
            ];
            self.emit_debug_effect("DebugLine", &arguments);
        } else {
            self.t
                .b
                .append_effect(Op::Line, &[source.word(), line, column]);
        }
    }

    /// Emits that the source location of the following instructions is unknown.
    fn emit_no_line(&mut self) {
        if self.debug.last_location.line.take().is_none() {
            return;
        }
        if self.t.is_non_semantic() {
            self.emit_debug_effect("DebugNoLine", &[])
        } else {
            self.t.b.append_effect(Op::NoLine, &[])
        }
    }

    fn emit_debug_effect(&mut self, name: &str, arguments: &[super::DebugInfoOperand]) {
        let words = self.t.debug_info().encode_instruction(name, arguments);
        let void = self.t.b.void_type();
        self.t.b.append_value(Op::ExtInst, void, &words);
    }

    /// The debug records that precede an instruction.
    fn emit_debug_records(&mut self, inst: LlvmInst) {
        let records = &self.function.debug_records;
        while let Some(record) = records.get(self.debug.next_record)
            && record.before <= inst
        {
            self.debug.next_record += 1;
            let declares = match record.kind {
                DebugRecordKind::Declare => true,
                DebugRecordKind::Value | DebugRecordKind::Assign => false,
                _ => continue,
            };
            if let [Some(value), Some(variable), Some(expression), ..] = record.arguments[..] {
                self.emit_variable_location(declares, value, variable, expression);
            }
        }
    }

    /// `llvm.dbg.declare` and `llvm.dbg.value`, the older form of debug records.
    pub(in crate::translate) fn lower_debug_call(
        &mut self,
        declares: bool,
        arguments: &[LlvmValue],
    ) -> LlvmResult<Option<Id>> {
        let node = |value: LlvmValue| match value.kind() {
            ValueKind::Metadata(node) => Some(node),
            _ => None,
        };
        let nodes: Vec<LlvmMetadata> = arguments.iter().filter_map(|v| node(*v)).collect();
        if self.debug.enabled
            && let [value, variable, expression, ..] = &nodes[..]
        {
            self.emit_variable_location(declares, *value, *variable, *expression);
        }
        Ok(None)
    }

    fn emit_variable_location(
        &mut self,
        declares: bool,
        value: LlvmMetadata,
        variable: LlvmMetadata,
        expression: LlvmMetadata,
    ) {
        let metadata = &self.t.module.metadata;
        let value = match metadata.kind(value) {
            MetadataKind::Local(value) => value,
            MetadataKind::Constant(constant) => LlvmValue::from_constant(constant),
            _ => return,
        };
        let is_variable = self.t.debug_info().class_of(variable) == "DILocalVariable";
        if !is_variable || (declares && !self.is_variable_or_parameter(value)) {
            return;
        }
        let known = match value.as_local() {
            Some(local) => self.find_translated(local),
            None => self.lower_value(value).ok(),
        };
        let (Some(id), Some(expression)) = (known, self.find_debug_expression(expression)) else {
            return;
        };
        let variable = self.t.debug_info().emit_node(Some(variable));
        let name = if declares {
            "DebugDeclare"
        } else {
            "DebugValue"
        };
        let arguments = [variable, id, expression].map(super::DebugInfoOperand::Id);
        self.emit_debug_effect(name, &arguments);
    }

    /// Whether a value became a variable of the function, or is a parameter.
    fn is_variable_or_parameter(&self, value: LlvmValue) -> bool {
        let Some(inst) = value.as_local().map(|local| self.function.inst_of(local)) else {
            return false;
        };
        let Some(inst) = inst.map(|inst| self.function.inst(inst)) else {
            return true;
        };
        let count = self.function.value_pool[inst.operands.to_range()].first();
        let fixed = count.is_some_and(|count| self.t.module.as_u64(*count).is_some());
        inst.opcode == LlvmOpcode::Alloca
            && fixed
            && self.t.module.types.address_space(inst.ty) == Some(0)
    }

    fn find_debug_expression(&mut self, node: LlvmMetadata) -> Option<Id> {
        let id = self.t.debug_info().emit_node(Some(node));
        (self.t.debug.none != Some(id)).then_some(id)
    }
}
