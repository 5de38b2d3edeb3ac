//! Rule 2 on the words of a module: sections are in order, and declarations of functions precede definitions.

use super::context::make_fault;
use super::rules::VerifyRule;
use crate::binary::{InstructionStream, RawInst};
use crate::grammar::{InstructionClass, Op};
use crate::ir::ModuleSection;
use spirula_diagnostics::SourceDiagnostic;

/// Checks all instructions in one pass.
///
/// # Errors
/// The first instruction that is out of order, or that is not allowed outside of functions.
pub(super) fn verify_order(words: &[u32]) -> Result<(), SourceDiagnostic> {
    let mut reached = ModuleSection::Capabilities;
    let mut walk = FunctionOrderState::default();
    let mut models = 0;
    for inst in InstructionStream::new(words) {
        let inst = inst?;
        if walk.inside || inst.op == Op::Function {
            walk.track_inst(&inst)?;
            continue;
        }
        if inst.op == Op::MemoryModel {
            models += 1;
            if models > 1 {
                return Err(report_misplaced(
                    &inst,
                    "occurs twice; a module has one memory model",
                ));
            }
        }
        if walk.seen {
            if !matches!(inst.op, Op::Line | Op::NoLine | Op::ExtInst) {
                return Err(report_misplaced(&inst, "follows the first function"));
            }
            continue;
        }
        let section = ModuleSection::from_op(inst.op);
        if !section.can_hold(inst.op) {
            return Err(report_misplaced(&inst, "is outside of a function"));
        }
        if section < reached {
            let message = format!("follows an instruction of the section {reached:?}");
            return Err(report_misplaced(&inst, &message));
        }
        reached = section;
    }
    if models == 0 {
        let message = "the module has no OpMemoryModel";
        return Err(
            SourceDiagnostic::error(spirula_diagnostics::SourceLocation::Unknown, message)
                .with_note(VerifyRule::Order.to_string()),
        );
    }
    Ok(())
}

/// Where the walk is among functions.
#[derive(Default)]
struct FunctionOrderState {
    seen: bool,
    inside: bool,
    /// Whether the current function has a block.
    has_block: bool,
    /// Whether a function with blocks came.
    defined: bool,
}

impl FunctionOrderState {
    fn track_inst(&mut self, inst: &RawInst<'_>) -> Result<(), SourceDiagnostic> {
        match inst.op {
            Op::Function => {
                self.seen = true;
                self.inside = true;
                self.has_block = false;
            }
            Op::FunctionEnd => {
                self.inside = false;
                if !self.has_block && self.defined {
                    let message = "ends a function without blocks after one with blocks; declarations come first";
                    return Err(report_misplaced(inst, message));
                }
                self.defined |= self.has_block;
            }
            Op::Label => self.has_block = true,
            op if ModuleSection::from_op(op) < ModuleSection::Globals || is_declaration(op) => {
                return Err(report_misplaced(inst, "is within a function"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Types and constants, which are outside of functions.
fn is_declaration(op: Op) -> bool {
    let class = op.info().map(|i| i.class);
    matches!(
        class,
        Some(InstructionClass::TypeDeclaration | InstructionClass::ConstantCreation)
    ) || op == Op::ConstantFunctionPointerINTEL
}

fn report_misplaced(inst: &RawInst<'_>, message: &str) -> SourceDiagnostic {
    let fault = make_fault(VerifyRule::Order, message);
    SourceDiagnostic::error(inst.place(), format!("{} {}", inst.op, fault.message))
        .with_note(VerifyRule::Order.to_string())
        .with_hint("the specification's section 2.4 lists the order")
}
