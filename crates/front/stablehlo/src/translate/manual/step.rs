//! Operations of a block in lock step.

use super::value::ShardedValue;
use super::{collective, computation, control};
use crate::dialect::records::{CallAttributes, CompositeAttributes};
use crate::dialect::{AttributeRecord, MlirOpcode, SymbolName};
use crate::mlir::{MlirBlock, MlirOp};
use crate::translate::error::{TranslateError, TranslateResult};
use crate::translate::table;
use crate::translate::translator::StablehloTranslator;

impl StablehloTranslator<'_> {
    /// Translates a block whose arguments are bound, for all shards. Returns the operands of its terminator.
    pub(super) fn translate_in_step(
        &mut self,
        block: MlirBlock,
    ) -> TranslateResult<Vec<ShardedValue>> {
        let module = self.module;
        self.progress.depth += 1;
        for op in module.ops(block) {
            self.count_operation(*op)?;
            if module.is_return(*op) {
                self.progress.depth -= 1;
                return self.sharded_operands(*op);
            }
            self.step_operation(*op)?;
        }
        let last = module.ops(block).last();
        let place = last.map_or(spirula_diagnostics::SourceLocation::Unknown, |op| {
            module.source_location(*op)
        });
        Err(TranslateError::new_invalid(
            place,
            "a block does not end in a return",
        ))
    }

    /// The same for a block of control flow.
    pub(super) fn nested_in_step(
        &mut self,
        block: MlirBlock,
    ) -> TranslateResult<Vec<ShardedValue>> {
        self.progress.nesting += 1;
        let mark = self.dims.tensor_count();
        let results = self.translate_in_step(block);
        self.dims.forget_tensors(mark);
        self.progress.nesting -= 1;
        results
    }

    /// Translates an operation for all shards.
    fn step_operation(&mut self, op: MlirOp) -> TranslateResult<()> {
        use MlirOpcode as Op;
        match self.module.opcode(op) {
            Some(Op::SdyManualComputation) => {
                return computation::translate_manual_computation(self, op);
            }
            Some(opcode) if collective::is_collective(opcode) => {
                return collective::translate_collective(self, op, opcode);
            }
            _ => {}
        }
        if self.is_uniform_operation(op) {
            table::translate_operation(self, op)?;
            self.track_results(op);
            return Ok(());
        }
        let effects = self.shard_effects(op);
        let is_joint = effects.communicates || (effects.loops && self.shards.active.is_some());
        match self.module.opcode(op) {
            Some(Op::FuncCall) => {
                let attributes = CallAttributes::read(self.module, op).ok();
                return self.call_in_step(op, attributes.map(|attributes| attributes.callee));
            }
            Some(Op::Composite) => {
                let attributes = CompositeAttributes::read(self.module, op).ok();
                return self
                    .call_in_step(op, attributes.map(|attributes| attributes.decomposition));
            }
            Some(Op::While) if is_joint => return control::while_in_step(self, op),
            Some(Op::If | Op::Case) if is_joint => return control::branch_in_step(self, op),
            _ => {}
        }
        self.for_each_shard(|t, _| {
            table::translate_operation(t, op)?;
            t.track_results(op);
            Ok(())
        })
    }

    /// Inlines a function for all shards.
    fn call_in_step(&mut self, op: MlirOp, callee: Option<SymbolName<'_>>) -> TranslateResult<()> {
        let name = callee.map_or("", |callee| callee.0);
        let (function, body) = self.find_callee(op, name)?;
        let arguments = self.sharded_operands(op)?;
        self.bind_arguments_in_step(op, body, arguments)?;
        self.progress.calls.push(function);
        let results = self.translate_in_step(body)?;
        self.progress.calls.pop();
        self.bind_sharded_results(op, results)
    }

    /// Binds the arguments of a block for all shards.
    pub(super) fn bind_arguments_in_step(
        &mut self,
        op: MlirOp,
        block: MlirBlock,
        items: Vec<ShardedValue>,
    ) -> TranslateResult<()> {
        let arguments = self.module.arguments(block);
        let fits = arguments.len() == items.len();
        self.ensure_holds(op, fits, "has a region of another type")?;
        for (argument, item) in arguments.zip(items) {
            self.bind_sharded(op, argument, item)?;
        }
        Ok(())
    }
}
