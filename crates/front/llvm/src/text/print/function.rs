//! Function printer: signatures, blocks and instructions.

use super::LlvmPrinter;
use crate::ir::{
    CallInfo, DebugRecordKind, InstructionExtra, LlvmAlign, LlvmBlock, LlvmFunc, LlvmFunction,
    LlvmInst, LlvmInstFlags, LlvmInstruction, LlvmOpcode, LlvmSymbol, LlvmType, LlvmTypeKind,
    LlvmValue, Ordering, UnnamedAddr,
};

impl<'m> LlvmPrinter<'m> {
    pub(super) fn print_function(&mut self, func: LlvmFunc) {
        let function = self.module.function(func);
        self.number_locals(function);
        self.func = Some(function);
        self.print_signature(function);
        if !function.is_declaration() {
            self.put_text(" {\n");
            for block in function.block_ids() {
                self.print_block(function, block);
            }
            self.put_text("}");
        }
        self.put_text("\n");
        self.func = None;
    }

    fn number_locals(&mut self, function: &LlvmFunction) {
        let mut next = 0;
        let mut number = |unnamed: bool| {
            let number = next;
            next += u32::from(unnamed);
            number
        };
        self.numbers.clear();
        self.block_numbers.clear();
        for local in 0..function.params.len() {
            self.numbers
                .push(number(function.local_name(local).is_empty()));
        }
        for block in &function.blocks {
            self.block_numbers.push(number(block.name.is_empty()));
            for inst in block.insts.to_range() {
                let has_result = function.insts[inst].ty != LlvmType::VOID;
                let unnamed = function.local_name(function.params.len() + inst).is_empty();
                self.numbers.push(number(has_result && unnamed));
            }
        }
    }

    fn print_signature(&mut self, function: &LlvmFunction) {
        let data = self.module.global(function.global);
        self.put_text(if function.is_declaration() {
            "declare"
        } else {
            "define"
        });
        if function.is_declaration() {
            for &(kind, node) in &data.metadata {
                self.print_attachment(" ", kind, node);
            }
        }
        self.put_text(" ");
        self.print_linkage_words(data);
        self.print_convention(function.convention);
        self.print_result_attributes(function.attributes);
        let (result, _, variadic) = self
            .module
            .types
            .function_signature(function.ty)
            .unwrap_or((LlvmType::VOID, &[], false));
        self.print_type(result);
        self.put_text(" ");
        self.print_global_name(function.global);
        self.put_text("(");
        self.print_list(0..function.params.len(), |printer, index| {
            printer.print_type(function.params[index]);
            let set = printer
                .module
                .attributes
                .param_set(function.attributes, index);
            printer.print_value_attributes(set);
            if !function.is_declaration() {
                printer.put_text(" ");
                printer.print_local(index);
            }
        });
        if variadic {
            self.put_text(if function.params.is_empty() {
                "..."
            } else {
                ", ..."
            });
        }
        self.put_text(")");
        if data.unnamed_addr != UnnamedAddr::None {
            self.put_text(" ");
            self.put_text(data.unnamed_addr.name());
        }
        if data.space != self.module.layout.program_space() {
            self.put_args(format_args!(" addrspace({})", data.space));
        }
        self.print_group_number(self.module.attributes.function_set(function.attributes));
        self.print_properties(data, " ");
        self.print_function_parts(function);
        if !function.is_declaration() {
            for &(kind, node) in &data.metadata {
                self.print_attachment(" ", kind, node);
            }
        }
    }

    fn print_function_parts(&mut self, function: &LlvmFunction) {
        if !function.gc.is_empty() {
            self.put_text(" gc ");
            self.print_quoted_symbol(function.gc);
        }
        for (word, constant) in [
            (" prefix ", function.prefix),
            (" prologue ", function.prologue),
            (" personality ", function.personality),
        ] {
            if let Some(constant) = constant {
                self.put_text(word);
                self.print_typed_constant(constant);
            }
        }
    }

    fn print_block(&mut self, function: &'m LlvmFunction, block: LlvmBlock) {
        let name = function.blocks[block.index()].name;
        if name.is_empty() {
            let number = self.block_numbers[block.index()];
            self.put_args(format_args!("{number}:\n"));
        } else {
            self.print_name("", name);
            self.put_text(":\n");
        }
        for inst in function.block_insts(block) {
            self.print_debug_records(function, inst);
            self.put_text("  ");
            if function.inst(inst).ty != LlvmType::VOID {
                self.print_local(function.params.len() + inst.index());
                self.put_text(" = ");
            }
            self.print_instruction(function, inst);
            for attachment in function.attachments(inst) {
                self.print_attachment(", ", attachment.kind, attachment.node);
            }
            self.put_text("\n");
        }
    }

    fn print_debug_records(&mut self, function: &LlvmFunction, inst: LlvmInst) {
        let records = &function.debug_records;
        let from = records.partition_point(|record| record.before < inst);
        for record in records[from..]
            .iter()
            .take_while(|record| record.before == inst)
        {
            self.put_text(match record.kind {
                DebugRecordKind::Value => "    #dbg_value(",
                DebugRecordKind::Declare => "    #dbg_declare(",
                DebugRecordKind::Assign => "    #dbg_assign(",
                DebugRecordKind::Label => "    #dbg_label(",
                DebugRecordKind::DeclareValue => "    #dbg_declare_value(",
            });
            self.print_list(record.arguments.iter().flatten(), |printer, &id| {
                printer.print_metadata_ref(id)
            });
            self.put_text(")\n");
        }
    }

    fn print_block_ref(&mut self, block: LlvmBlock) {
        let name = self
            .func
            .map_or(LlvmSymbol::EMPTY, |func| func.blocks[block.index()].name);
        if name.is_empty() {
            let number = self.block_numbers[block.index()];
            self.put_args(format_args!("%{number}"));
        } else {
            self.print_name("%", name);
        }
    }

    /// The name of a block of any function.
    pub(super) fn block_of(&mut self, func: LlvmFunc, block: u32) {
        let function = self.module.function(func);
        let index = block as usize;
        match function.blocks.get(index) {
            Some(block) if !block.name.is_empty() => self.print_name("%", block.name),
            _ => {
                let kept = (
                    std::mem::take(&mut self.numbers),
                    std::mem::take(&mut self.block_numbers),
                );
                self.number_locals(function);
                let number = self.block_numbers.get(index).copied().unwrap_or(0);
                (self.numbers, self.block_numbers) = kept;
                self.put_args(format_args!("%{number}"));
            }
        }
    }

    fn print_label(&mut self, block: LlvmBlock) {
        self.put_text("label ");
        self.print_block_ref(block);
    }

    fn print_labels(&mut self, blocks: &[LlvmBlock]) {
        self.print_list(blocks, |printer, &block| printer.print_label(block));
    }

    fn print_operands(&mut self, operands: &[LlvmValue]) {
        self.print_list(operands, |printer, &operand| {
            printer.print_typed_value(operand)
        });
    }

    /// Prints operands that all have the type of the first.
    fn print_same_type_operands(&mut self, operands: &[LlvmValue]) {
        if let Some((&first, rest)) = operands.split_first() {
            self.print_typed_value(first);
            for &operand in rest {
                self.put_text(", ");
                self.print_value(operand);
            }
        }
    }

    fn print_instruction(&mut self, function: &LlvmFunction, id: LlvmInst) {
        let inst = function.inst(id);
        let operands = function.operands(id);
        let blocks = function.blocks_of(id);
        let tail = inst
            .flags
            .intersection(LlvmInstFlags::TAIL | LlvmInstFlags::MUSTTAIL | LlvmInstFlags::NOTAIL);
        self.print_flags(tail);
        self.put_text(inst.opcode.name());
        if !matches!(inst.opcode, LlvmOpcode::Fence | LlvmOpcode::Unreachable) {
            self.put_text(" ");
        }
        match inst.opcode {
            LlvmOpcode::Load | LlvmOpcode::Store => self.print_access(inst, operands),
            LlvmOpcode::CmpXchg | LlvmOpcode::AtomicRmw | LlvmOpcode::Fence => {
                self.print_atomic(inst, operands)
            }
            opcode => {
                let hidden = tail.0
                    | if opcode == LlvmOpcode::CatchSwitch {
                        LlvmInstFlags::CLEANUP.0
                    } else {
                        0
                    }
                    | if opcode == LlvmOpcode::LandingPad {
                        LlvmInstFlags::CLEANUP.0
                    } else {
                        0
                    };
                self.print_flags(LlvmInstFlags(inst.flags.0 & !hidden));
                self.print_operation(function, id, inst, operands, blocks);
            }
        }
    }

    fn print_operation(
        &mut self,
        function: &LlvmFunction,
        id: LlvmInst,
        inst: &LlvmInstruction,
        operands: &[LlvmValue],
        blocks: &[LlvmBlock],
    ) {
        match inst.opcode {
            opcode if opcode.is_binary() => self.print_same_type_operands(operands),
            opcode if opcode.is_cast() => {
                self.print_operands(operands);
                self.put_text(" to ");
                self.print_type(inst.ty);
            }
            LlvmOpcode::ICmp | LlvmOpcode::FCmp => {
                if let InstructionExtra::Compare(predicate) = inst.extra {
                    self.put_text(predicate.name());
                    self.put_text(" ");
                }
                self.print_same_type_operands(operands);
            }
            LlvmOpcode::Ret if operands.is_empty() => self.put_text("void"),
            LlvmOpcode::Br => {
                self.print_operands(operands);
                if !operands.is_empty() {
                    self.put_text(", ");
                }
                self.print_labels(blocks);
            }
            LlvmOpcode::Switch => self.print_switch(operands, blocks),
            LlvmOpcode::IndirectBr => {
                self.print_operands(operands);
                self.put_text(", [");
                self.print_labels(blocks);
                self.put_text("]");
            }
            LlvmOpcode::Phi => self.print_phi(inst, operands, blocks),
            LlvmOpcode::Alloca => self.print_alloca(inst, operands),
            LlvmOpcode::GetElementPtr => {
                if let InstructionExtra::SourceType(source) = inst.extra {
                    self.print_type(source);
                    self.put_text(", ");
                }
                self.print_operands(operands);
            }
            LlvmOpcode::ShuffleVector => {
                self.print_operands(operands);
                self.put_text(", ");
                let scalable = matches!(
                    self.module.types.kind(inst.ty),
                    LlvmTypeKind::Vector { scalable: true, .. }
                );
                self.print_mask(function.numbers_of(id), scalable);
            }
            LlvmOpcode::ExtractValue | LlvmOpcode::InsertValue => {
                self.print_operands(operands);
                for index in function.numbers_of(id) {
                    self.put_args(format_args!(", {index}"));
                }
            }
            LlvmOpcode::VaArg => {
                self.print_operands(operands);
                self.put_text(", ");
                self.print_type(inst.ty);
            }
            opcode if opcode.is_call() => {
                if let Some(call) = function.call_info(id) {
                    self.print_call(function, id, call, blocks);
                }
            }
            opcode if is_exception(opcode) => self.print_exception_handling(inst, operands, blocks),
            _ => self.print_operands(operands),
        }
    }

    fn print_phi(&mut self, inst: &LlvmInstruction, operands: &[LlvmValue], blocks: &[LlvmBlock]) {
        self.print_type(inst.ty);
        self.put_text(" ");
        self.print_list(operands.iter().zip(blocks), |printer, (&value, &block)| {
            printer.put_text("[ ");
            printer.print_value(value);
            printer.put_text(", ");
            printer.print_block_ref(block);
            printer.put_text(" ]");
        });
    }

    fn print_switch(&mut self, operands: &[LlvmValue], blocks: &[LlvmBlock]) {
        self.print_typed_value(operands[0]);
        self.put_text(", ");
        self.print_label(blocks[0]);
        self.put_text(" [");
        for (&case, &block) in operands[1..].iter().zip(&blocks[1..]) {
            self.put_text(" ");
            self.print_typed_value(case);
            self.put_text(", ");
            self.print_label(block);
        }
        self.put_text(" ]");
    }

    fn print_alloca(&mut self, inst: &LlvmInstruction, operands: &[LlvmValue]) {
        let InstructionExtra::Alloca { ty, align } = inst.extra else {
            return;
        };
        self.print_type(ty);
        let one = operands[0].as_const().is_some_and(|count| {
            self.module.consts.ty(count) == LlvmType::I32
                && self.module.consts.as_u64(count) == Some(1)
        });
        if !one {
            self.put_text(", ");
            self.print_typed_value(operands[0]);
        }
        self.print_alignment(align);
        match self.module.types.address_space(inst.ty) {
            None | Some(0) => {}
            Some(space) => self.put_args(format_args!(", addrspace({space})")),
        }
    }

    fn print_alignment(&mut self, align: LlvmAlign) {
        if let Some(bytes) = align.to_bytes() {
            self.put_args(format_args!(", align {bytes}"));
        }
    }

    fn print_ordering(&mut self, scope: LlvmSymbol, ordering: Ordering) {
        if !scope.is_empty() {
            self.put_text(" syncscope(");
            self.print_quoted_symbol(scope);
            self.put_text(")");
        }
        self.put_text(" ");
        self.put_text(ordering.name());
    }

    fn print_access(&mut self, inst: &LlvmInstruction, operands: &[LlvmValue]) {
        let InstructionExtra::Access {
            align,
            ordering,
            scope,
        } = inst.extra
        else {
            return;
        };
        if ordering != Ordering::NotAtomic {
            self.put_text("atomic ");
        }
        self.print_flags(inst.flags);
        if inst.opcode == LlvmOpcode::Load {
            self.print_type(inst.ty);
            self.put_text(", ");
        }
        self.print_operands(operands);
        if ordering != Ordering::NotAtomic {
            self.print_ordering(scope, ordering);
        }
        self.print_alignment(align);
    }

    fn print_atomic(&mut self, inst: &LlvmInstruction, operands: &[LlvmValue]) {
        self.print_flags(inst.flags.intersection(LlvmInstFlags::WEAK));
        self.print_flags(inst.flags.intersection(LlvmInstFlags::VOLATILE));
        if let InstructionExtra::Rmw { op, .. } = inst.extra {
            self.put_text(op.name());
            self.put_text(" ");
        }
        self.print_operands(operands);
        match inst.extra {
            InstructionExtra::Rmw {
                align,
                ordering,
                scope,
                ..
            } => {
                self.print_ordering(scope, ordering);
                self.print_alignment(align);
            }
            InstructionExtra::CmpXchg {
                align,
                success,
                failure,
                scope,
            } => {
                self.print_ordering(scope, success);
                self.put_text(" ");
                self.put_text(failure.name());
                self.print_alignment(align);
            }
            InstructionExtra::Fence { ordering, scope } => self.print_ordering(scope, ordering),
            _ => {}
        }
    }

    fn print_call(
        &mut self,
        function: &LlvmFunction,
        id: LlvmInst,
        call: &CallInfo,
        blocks: &[LlvmBlock],
    ) {
        self.print_convention(call.convention);
        self.print_result_attributes(call.attributes);
        let signature = self.module.types.function_signature(call.function_type);
        let (result, _, variadic) = signature.unwrap_or((LlvmType::VOID, &[], false));
        self.print_type(if variadic { call.function_type } else { result });
        self.put_text(" ");
        self.print_value(function.operands(id)[0]);
        self.put_text("(");
        let arguments = function.arguments(id).iter().enumerate();
        self.print_list(arguments, |printer, (index, &argument)| {
            let set = printer.module.attributes.param_set(call.attributes, index);
            if let crate::ir::ValueKind::Metadata(id) = argument.kind() {
                printer.put_text("metadata ");
                printer.print_metadata_ref(id);
                return;
            }
            printer.print_type(function.type_of(printer.module, argument));
            printer.print_value_attributes(set);
            printer.put_text(" ");
            printer.print_value(argument);
        });
        self.put_text(")");
        self.print_group_number(self.module.attributes.function_set(call.attributes));
        if !call.bundles.is_empty() {
            self.put_text(" [ ");
            self.print_list(&call.bundles, |printer, bundle| {
                printer.print_quoted_symbol(bundle.tag);
                printer.put_text("(");
                printer.print_operands(&function.value_pool[bundle.operands.to_range()]);
                printer.put_text(")");
            });
            self.put_text(" ]");
        }
        match function.inst(id).opcode {
            LlvmOpcode::Invoke => {
                self.put_text(" to ");
                self.print_label(blocks[0]);
                self.put_text(" unwind ");
                self.print_label(blocks[1]);
            }
            LlvmOpcode::CallBr => {
                self.put_text(" to ");
                self.print_label(blocks[0]);
                self.put_text(" [");
                self.print_labels(&blocks[1..]);
                self.put_text("]");
            }
            _ => {}
        }
    }

    fn print_exception_handling(
        &mut self,
        inst: &LlvmInstruction,
        operands: &[LlvmValue],
        blocks: &[LlvmBlock],
    ) {
        match inst.opcode {
            LlvmOpcode::LandingPad => {
                self.print_type(inst.ty);
                if inst.flags.contains_all(LlvmInstFlags::CLEANUP) {
                    self.put_text(" cleanup");
                }
                for &clause in operands {
                    let ty = self
                        .func
                        .map_or(LlvmType::VOID, |func| func.type_of(self.module, clause));
                    let filter = matches!(self.module.types.kind(ty), LlvmTypeKind::Array { .. });
                    self.put_text(if filter { " filter " } else { " catch " });
                    self.print_typed_value(clause);
                }
            }
            LlvmOpcode::CatchSwitch => {
                self.put_text("within ");
                self.print_value(operands[0]);
                self.put_text(" [");
                let unwinds = inst.flags.contains_all(LlvmInstFlags::CLEANUP);
                let (handlers, unwind) = blocks.split_at(blocks.len() - usize::from(unwinds));
                self.print_labels(handlers);
                self.put_text("] unwind ");
                self.print_unwind_target(unwind);
            }
            LlvmOpcode::CatchPad | LlvmOpcode::CleanupPad => {
                self.put_text("within ");
                self.print_value(operands[0]);
                self.put_text(" [");
                self.print_operands(&operands[1..]);
                self.put_text("]");
            }
            _ => {
                self.put_text("from ");
                self.print_value(operands[0]);
                if inst.opcode == LlvmOpcode::CatchRet {
                    self.put_text(" to ");
                    self.print_labels(blocks);
                } else {
                    self.put_text(" unwind ");
                    self.print_unwind_target(blocks);
                }
            }
        }
    }

    fn print_unwind_target(&mut self, blocks: &[LlvmBlock]) {
        match blocks.first() {
            Some(&block) => self.print_label(block),
            None => self.put_text("to caller"),
        }
    }
}

fn is_exception(opcode: LlvmOpcode) -> bool {
    matches!(
        opcode,
        LlvmOpcode::LandingPad
            | LlvmOpcode::CatchSwitch
            | LlvmOpcode::CatchPad
            | LlvmOpcode::CleanupPad
            | LlvmOpcode::CatchRet
            | LlvmOpcode::CleanupRet
    )
}
