//! Blocks: the translation of their operations in order, and inlining of calls.

use super::error::{TranslateError, TranslateResult};
use super::table;
use super::translator::{StablehloTranslator, TranslatedValue};
use crate::mlir::{MlirBlock, MlirOp};
use spirula_diagnostics::SourceLocation;

/// Maximum number of operations that are translated, those of inlined calls included.
const OPERATIONS: usize = 1 << 22;
/// Deepest nesting of calls and regions.
const DEPTH: usize = 200;

impl StablehloTranslator<'_> {
    /// Translates the operations of a block whose arguments are bound, up to its terminator.
    /// Returns the operands of the terminator.
    pub fn translate_block(&mut self, block: MlirBlock) -> TranslateResult<Vec<TranslatedValue>> {
        let module = self.module;
        self.progress.depth += 1;
        for op in module.ops(block) {
            self.count_operation(*op)?;
            if module.is_return(*op) {
                self.progress.depth -= 1;
                let operands = module.operands(*op).iter();
                return operands
                    .map(|value| self.resolve_value(*op, *value))
                    .collect();
            }
            table::translate_operation(self, *op)?;
            self.track_results(*op);
        }
        let place = module
            .ops(block)
            .last()
            .map_or(SourceLocation::Unknown, |op| module.source_location(*op));
        Err(TranslateError::new_invalid(
            place,
            "a block does not end in a return",
        ))
    }

    /// Begins an operation, unless there are too many.
    pub fn count_operation(&mut self, op: MlirOp) -> TranslateResult<()> {
        let place = self.module.source_location(op);
        self.builder.set_place(place);
        self.progress.operations += 1;
        if self.progress.operations > OPERATIONS || self.progress.depth > DEPTH {
            let what = "program of this size";
            return Err(TranslateError::new_unsupported(place, what));
        }
        Ok(())
    }

    /// Whether the operation is nested in control flow.
    pub fn is_nested(&self) -> bool {
        self.progress.nesting > 0
    }

    /// Translates a block of control flow, whose arguments are bound, into one of the IR.
    pub fn nested_block(&mut self, block: MlirBlock) -> TranslateResult<Vec<TranslatedValue>> {
        self.progress.nesting += 1;
        let mark = self.dims.tensor_count();
        let results = self.translate_block(block);
        self.dims.forget_tensors(mark);
        self.progress.nesting -= 1;
        results
    }

    /// The function that a call inlines, which is not being inlined already, and its body.
    pub fn find_callee(&self, op: MlirOp, name: &str) -> TranslateResult<(MlirOp, MlirBlock)> {
        let callee = self.module.find_function(name);
        let callee =
            callee.ok_or_else(|| self.invalid_error(op, format!("no function @{name}")))?;
        if self.progress.calls.contains(&callee) {
            return Err(self.unsupported_error(op, "recursion"));
        }
        Ok((callee, self.region_block(callee, 0)?))
    }

    /// Inlines a function in place of a call.
    pub fn inline_call(
        &mut self,
        op: MlirOp,
        name: &str,
        arguments: Vec<TranslatedValue>,
    ) -> TranslateResult<Vec<TranslatedValue>> {
        let (callee, body) = self.find_callee(op, name)?;
        let parameters = self.module.arguments(body);
        self.ensure_holds(
            op,
            parameters.len() == arguments.len(),
            "has too few or many arguments",
        )?;
        for (parameter, argument) in parameters.zip(arguments) {
            self.check_value_type(op, self.module.type_of(parameter), &argument)?;
            self.bind_value(parameter, argument);
        }
        self.progress.calls.push(callee);
        let results = self.translate_block(body)?;
        self.progress.calls.pop();
        Ok(results)
    }
}
