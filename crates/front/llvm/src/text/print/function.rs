//! Functions and instructions.

use super::LlvmPrinter;
use crate::ir::{
    CallInfo, DebugRecordKind, InstructionExtra, LlvmAlign, LlvmBlock, LlvmFunc, LlvmFunction,
    LlvmInst, LlvmInstFlags, LlvmInstruction, LlvmOpcode, LlvmSymbol, LlvmType, LlvmTypeKind,
    LlvmValue, Ordering, UnnamedAddr,
};

impl<'m> LlvmPrinter<'m> {
    pub(super) fn function(&mut self, func: LlvmFunc) {
        let function = self.module.function(func);
        self.number_locals(function);
        self.func = Some(function);
        self.signature(function);
        if !function.is_declaration() {
            self.put(" {\n");
            for block in function.block_ids() {
                self.block(function, block);
            }
            self.put("}");
        }
        self.put("\n");
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
            self.numbers.push(number(function.name(local).is_empty()));
        }
        for block in &function.blocks {
            self.block_numbers.push(number(block.name.is_empty()));
            for inst in block.insts.range() {
                let has_result = function.insts[inst].ty != LlvmType::VOID;
                let unnamed = function.name(function.params.len() + inst).is_empty();
                self.numbers.push(number(has_result && unnamed));
            }
        }
    }

    fn signature(&mut self, function: &LlvmFunction) {
        let data = self.module.global(function.global);
        self.put(if function.is_declaration() {
            "declare"
        } else {
            "define"
        });
        if function.is_declaration() {
            for &(kind, node) in &data.metadata {
                self.attached(" ", kind, node);
            }
        }
        self.put(" ");
        self.linkage_words(data);
        self.convention(function.convention);
        self.result_attributes(function.attributes);
        let (result, _, variadic) =
            self.module
                .types
                .signature(function.ty)
                .unwrap_or((LlvmType::VOID, &[], false));
        self.ty(result);
        self.put(" ");
        self.global_name(function.global);
        self.put("(");
        self.list(0..function.params.len(), |printer, index| {
            printer.ty(function.params[index]);
            let set = printer.module.attributes.param(function.attributes, index);
            printer.value_attributes(set);
            if !function.is_declaration() {
                printer.put(" ");
                printer.local(index);
            }
        });
        if variadic {
            self.put(if function.params.is_empty() {
                "..."
            } else {
                ", ..."
            });
        }
        self.put(")");
        if data.unnamed_addr != UnnamedAddr::None {
            self.put(" ");
            self.put(data.unnamed_addr.name());
        }
        if data.space != self.module.layout.program_space() {
            self.put_args(format_args!(" addrspace({})", data.space));
        }
        self.group(self.module.attributes.function(function.attributes));
        self.properties(data, " ");
        self.function_parts(function);
        if !function.is_declaration() {
            for &(kind, node) in &data.metadata {
                self.attached(" ", kind, node);
            }
        }
    }

    fn function_parts(&mut self, function: &LlvmFunction) {
        if !function.gc.is_empty() {
            self.put(" gc ");
            self.quoted_symbol(function.gc);
        }
        for (word, constant) in [
            (" prefix ", function.prefix),
            (" prologue ", function.prologue),
            (" personality ", function.personality),
        ] {
            if let Some(constant) = constant {
                self.put(word);
                self.typed_constant(constant);
            }
        }
    }

    fn block(&mut self, function: &'m LlvmFunction, block: LlvmBlock) {
        let name = function.blocks[block.index()].name;
        if name.is_empty() {
            let number = self.block_numbers[block.index()];
            self.put_args(format_args!("{number}:\n"));
        } else {
            self.name("", name);
            self.put(":\n");
        }
        for inst in function.block_insts(block) {
            self.debug_records(function, inst);
            self.put("  ");
            if function.inst(inst).ty != LlvmType::VOID {
                self.local(function.params.len() + inst.index());
                self.put(" = ");
            }
            self.instruction(function, inst);
            for attachment in function.attachments(inst) {
                self.attached(", ", attachment.kind, attachment.node);
            }
            self.put("\n");
        }
    }

    fn debug_records(&mut self, function: &LlvmFunction, inst: LlvmInst) {
        let records = &function.debug_records;
        let from = records.partition_point(|record| record.before < inst);
        for record in records[from..]
            .iter()
            .take_while(|record| record.before == inst)
        {
            self.put(match record.kind {
                DebugRecordKind::Value => "    #dbg_value(",
                DebugRecordKind::Declare => "    #dbg_declare(",
                DebugRecordKind::Assign => "    #dbg_assign(",
                DebugRecordKind::Label => "    #dbg_label(",
                DebugRecordKind::DeclareValue => "    #dbg_declare_value(",
            });
            self.list(record.arguments.iter().flatten(), |printer, &id| {
                printer.metadata_ref(id)
            });
            self.put(")\n");
        }
    }

    fn block_ref(&mut self, block: LlvmBlock) {
        let name = self
            .func
            .map_or(LlvmSymbol::EMPTY, |func| func.blocks[block.index()].name);
        if name.is_empty() {
            let number = self.block_numbers[block.index()];
            self.put_args(format_args!("%{number}"));
        } else {
            self.name("%", name);
        }
    }

    /// The name of a block of any function.
    pub(super) fn block_of(&mut self, func: LlvmFunc, block: u32) {
        let function = self.module.function(func);
        let index = block as usize;
        match function.blocks.get(index) {
            Some(block) if !block.name.is_empty() => self.name("%", block.name),
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

    fn label(&mut self, block: LlvmBlock) {
        self.put("label ");
        self.block_ref(block);
    }

    fn labels(&mut self, blocks: &[LlvmBlock]) {
        self.list(blocks, |printer, &block| printer.label(block));
    }

    fn operands(&mut self, operands: &[LlvmValue]) {
        self.list(operands, |printer, &operand| printer.typed_value(operand));
    }

    /// Operands of which all have the type of the first.
    fn same_type(&mut self, operands: &[LlvmValue]) {
        if let Some((&first, rest)) = operands.split_first() {
            self.typed_value(first);
            for &operand in rest {
                self.put(", ");
                self.value(operand);
            }
        }
    }

    fn instruction(&mut self, function: &LlvmFunction, id: LlvmInst) {
        let inst = function.inst(id);
        let operands = function.operands(id);
        let blocks = function.blocks_of(id);
        let tail = inst
            .flags
            .only(LlvmInstFlags::TAIL | LlvmInstFlags::MUSTTAIL | LlvmInstFlags::NOTAIL);
        self.flags(tail);
        self.put(inst.opcode.name());
        if !matches!(inst.opcode, LlvmOpcode::Fence | LlvmOpcode::Unreachable) {
            self.put(" ");
        }
        match inst.opcode {
            LlvmOpcode::Load | LlvmOpcode::Store => self.access(inst, operands),
            LlvmOpcode::CmpXchg | LlvmOpcode::AtomicRmw | LlvmOpcode::Fence => {
                self.atomic(inst, operands)
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
                self.flags(LlvmInstFlags(inst.flags.0 & !hidden));
                self.rest(function, id, inst, operands, blocks);
            }
        }
    }

    fn rest(
        &mut self,
        function: &LlvmFunction,
        id: LlvmInst,
        inst: &LlvmInstruction,
        operands: &[LlvmValue],
        blocks: &[LlvmBlock],
    ) {
        match inst.opcode {
            opcode if opcode.is_binary() => self.same_type(operands),
            opcode if opcode.is_cast() => {
                self.operands(operands);
                self.put(" to ");
                self.ty(inst.ty);
            }
            LlvmOpcode::ICmp | LlvmOpcode::FCmp => {
                if let InstructionExtra::Compare(predicate) = inst.extra {
                    self.put(predicate.name());
                    self.put(" ");
                }
                self.same_type(operands);
            }
            LlvmOpcode::Ret if operands.is_empty() => self.put("void"),
            LlvmOpcode::Br => {
                self.operands(operands);
                if !operands.is_empty() {
                    self.put(", ");
                }
                self.labels(blocks);
            }
            LlvmOpcode::Switch => self.switch(operands, blocks),
            LlvmOpcode::IndirectBr => {
                self.operands(operands);
                self.put(", [");
                self.labels(blocks);
                self.put("]");
            }
            LlvmOpcode::Phi => self.phi(inst, operands, blocks),
            LlvmOpcode::Alloca => self.alloca(inst, operands),
            LlvmOpcode::GetElementPtr => {
                if let InstructionExtra::SourceType(source) = inst.extra {
                    self.ty(source);
                    self.put(", ");
                }
                self.operands(operands);
            }
            LlvmOpcode::ShuffleVector => {
                self.operands(operands);
                self.put(", ");
                let scalable = matches!(
                    self.module.types.kind(inst.ty),
                    LlvmTypeKind::Vector { scalable: true, .. }
                );
                self.mask(function.numbers_of(id), scalable);
            }
            LlvmOpcode::ExtractValue | LlvmOpcode::InsertValue => {
                self.operands(operands);
                for index in function.numbers_of(id) {
                    self.put_args(format_args!(", {index}"));
                }
            }
            LlvmOpcode::VaArg => {
                self.operands(operands);
                self.put(", ");
                self.ty(inst.ty);
            }
            opcode if opcode.is_call() => {
                if let Some(call) = function.call(id) {
                    self.call(function, id, call, blocks);
                }
            }
            opcode if is_exception(opcode) => self.exception(inst, operands, blocks),
            _ => self.operands(operands),
        }
    }

    fn phi(&mut self, inst: &LlvmInstruction, operands: &[LlvmValue], blocks: &[LlvmBlock]) {
        self.ty(inst.ty);
        self.put(" ");
        self.list(operands.iter().zip(blocks), |printer, (&value, &block)| {
            printer.put("[ ");
            printer.value(value);
            printer.put(", ");
            printer.block_ref(block);
            printer.put(" ]");
        });
    }

    fn switch(&mut self, operands: &[LlvmValue], blocks: &[LlvmBlock]) {
        self.typed_value(operands[0]);
        self.put(", ");
        self.label(blocks[0]);
        self.put(" [");
        for (&case, &block) in operands[1..].iter().zip(&blocks[1..]) {
            self.put(" ");
            self.typed_value(case);
            self.put(", ");
            self.label(block);
        }
        self.put(" ]");
    }

    fn alloca(&mut self, inst: &LlvmInstruction, operands: &[LlvmValue]) {
        let InstructionExtra::Alloca { ty, align } = inst.extra else {
            return;
        };
        self.ty(ty);
        let one = operands[0].as_const().is_some_and(|count| {
            self.module.consts.ty(count) == LlvmType::I32
                && self.module.consts.as_u64(count) == Some(1)
        });
        if !one {
            self.put(", ");
            self.typed_value(operands[0]);
        }
        self.align(align);
        match self.module.types.address_space(inst.ty) {
            None | Some(0) => {}
            Some(space) => self.put_args(format_args!(", addrspace({space})")),
        }
    }

    fn align(&mut self, align: LlvmAlign) {
        if let Some(bytes) = align.bytes() {
            self.put_args(format_args!(", align {bytes}"));
        }
    }

    fn ordering(&mut self, scope: LlvmSymbol, ordering: Ordering) {
        if !scope.is_empty() {
            self.put(" syncscope(");
            self.quoted_symbol(scope);
            self.put(")");
        }
        self.put(" ");
        self.put(ordering.name());
    }

    fn access(&mut self, inst: &LlvmInstruction, operands: &[LlvmValue]) {
        let InstructionExtra::Access {
            align,
            ordering,
            scope,
        } = inst.extra
        else {
            return;
        };
        if ordering != Ordering::NotAtomic {
            self.put("atomic ");
        }
        self.flags(inst.flags);
        if inst.opcode == LlvmOpcode::Load {
            self.ty(inst.ty);
            self.put(", ");
        }
        self.operands(operands);
        if ordering != Ordering::NotAtomic {
            self.ordering(scope, ordering);
        }
        self.align(align);
    }

    fn atomic(&mut self, inst: &LlvmInstruction, operands: &[LlvmValue]) {
        self.flags(inst.flags.only(LlvmInstFlags::WEAK));
        self.flags(inst.flags.only(LlvmInstFlags::VOLATILE));
        if let InstructionExtra::Rmw { op, .. } = inst.extra {
            self.put(op.name());
            self.put(" ");
        }
        self.operands(operands);
        match inst.extra {
            InstructionExtra::Rmw {
                align,
                ordering,
                scope,
                ..
            } => {
                self.ordering(scope, ordering);
                self.align(align);
            }
            InstructionExtra::CmpXchg {
                align,
                success,
                failure,
                scope,
            } => {
                self.ordering(scope, success);
                self.put(" ");
                self.put(failure.name());
                self.align(align);
            }
            InstructionExtra::Fence { ordering, scope } => self.ordering(scope, ordering),
            _ => {}
        }
    }

    fn call(
        &mut self,
        function: &LlvmFunction,
        id: LlvmInst,
        call: &CallInfo,
        blocks: &[LlvmBlock],
    ) {
        self.convention(call.convention);
        self.result_attributes(call.attributes);
        let signature = self.module.types.signature(call.function_type);
        let (result, _, variadic) = signature.unwrap_or((LlvmType::VOID, &[], false));
        self.ty(if variadic { call.function_type } else { result });
        self.put(" ");
        self.value(function.operands(id)[0]);
        self.put("(");
        let arguments = function.arguments(id).iter().enumerate();
        self.list(arguments, |printer, (index, &argument)| {
            let set = printer.module.attributes.param(call.attributes, index);
            if let crate::ir::ValueKind::Metadata(id) = argument.kind() {
                printer.put("metadata ");
                printer.metadata_ref(id);
                return;
            }
            printer.ty(function.type_of(printer.module, argument));
            printer.value_attributes(set);
            printer.put(" ");
            printer.value(argument);
        });
        self.put(")");
        self.group(self.module.attributes.function(call.attributes));
        if !call.bundles.is_empty() {
            self.put(" [ ");
            self.list(&call.bundles, |printer, bundle| {
                printer.quoted_symbol(bundle.tag);
                printer.put("(");
                printer.operands(&function.value_pool[bundle.operands.range()]);
                printer.put(")");
            });
            self.put(" ]");
        }
        match function.inst(id).opcode {
            LlvmOpcode::Invoke => {
                self.put(" to ");
                self.label(blocks[0]);
                self.put(" unwind ");
                self.label(blocks[1]);
            }
            LlvmOpcode::CallBr => {
                self.put(" to ");
                self.label(blocks[0]);
                self.put(" [");
                self.labels(&blocks[1..]);
                self.put("]");
            }
            _ => {}
        }
    }

    fn exception(&mut self, inst: &LlvmInstruction, operands: &[LlvmValue], blocks: &[LlvmBlock]) {
        match inst.opcode {
            LlvmOpcode::LandingPad => {
                self.ty(inst.ty);
                if inst.flags.has(LlvmInstFlags::CLEANUP) {
                    self.put(" cleanup");
                }
                for &clause in operands {
                    let ty = self
                        .func
                        .map_or(LlvmType::VOID, |func| func.type_of(self.module, clause));
                    let filter = matches!(self.module.types.kind(ty), LlvmTypeKind::Array { .. });
                    self.put(if filter { " filter " } else { " catch " });
                    self.typed_value(clause);
                }
            }
            LlvmOpcode::CatchSwitch => {
                self.put("within ");
                self.value(operands[0]);
                self.put(" [");
                let unwinds = inst.flags.has(LlvmInstFlags::CLEANUP);
                let (handlers, unwind) = blocks.split_at(blocks.len() - usize::from(unwinds));
                self.labels(handlers);
                self.put("] unwind ");
                self.unwind(unwind);
            }
            LlvmOpcode::CatchPad | LlvmOpcode::CleanupPad => {
                self.put("within ");
                self.value(operands[0]);
                self.put(" [");
                self.operands(&operands[1..]);
                self.put("]");
            }
            _ => {
                self.put("from ");
                self.value(operands[0]);
                if inst.opcode == LlvmOpcode::CatchRet {
                    self.put(" to ");
                    self.labels(blocks);
                } else {
                    self.put(" unwind ");
                    self.unwind(blocks);
                }
            }
        }
    }

    fn unwind(&mut self, blocks: &[LlvmBlock]) {
        match blocks.first() {
            Some(&block) => self.label(block),
            None => self.put("to caller"),
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
