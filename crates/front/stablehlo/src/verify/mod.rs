//! Verifier: rules of MLIR and of StableHLO's specification that modules have to satisfy.
//!
//! Rules of structure, for every operation:
//! 1. an operand is defined before its use: in the same block, in a block that dominates it, or in
//!    an enclosing region that is visible;
//! 2. a block of a function ends with `func.return`, a block of a StableHLO operation with
//!    `stablehlo.return`, and these occur nowhere else;
//! 3. the names of the functions of a module are unique;
//! 4. a function has the parameters and results of its type;
//! 5. a call names a function and has its types.
//!
//! Rules of known operations (the rows of `dialect::table`):
//! 6. numbers of operands, results and regions;
//! 7. required attributes are present, and attributes satisfy their constraints;
//! 8. constraints of the specification on types, shapes and attributes of the operation: the
//!    functions of `rules`, which name the section.
//!
//! Dimensions that are not known are compatible with every size, as they are found at run time.
//! Cost: linear in the module, except for dominators of regions with several blocks.

pub(crate) mod checked_operation;
mod dominance;
pub(crate) mod rules;
mod signature;
mod structure;

use checked_operation::CheckedOperation;

use crate::mlir::MlirModule;
use spirula_diagnostics::SourceDiagnostic;

/// Maximum number of faults that are reported for one module.
const MAX_FAULTS: usize = 50;

/// All faults of a module, in the order of its operations; empty if it is valid. At most 50 faults
/// are reported.
pub fn verify_module(module: &MlirModule) -> Vec<SourceDiagnostic> {
    let mut faults = Vec::new();
    structure::verify_structure(module, &mut faults);
    let mut open = vec![module.root()];
    while let Some(op) = open.pop() {
        if faults.len() >= MAX_FAULTS {
            break;
        }
        if let Some(known) = module.op_definition(op) {
            let check = CheckedOperation::new(module, op);
            let outcome = signature::verify_signature(&check, known)
                .and_then(|()| known.rule.verify_operation(&check));
            if let Err(fault) = outcome {
                faults.push(fault.into_diagnostic(module, op));
            }
        }
        for region in module.regions(op).rev() {
            for &block in module.blocks(region).iter().rev() {
                open.extend(module.ops(block).iter().rev());
            }
        }
    }
    faults.truncate(MAX_FAULTS);
    faults
}
