//! Checking modules against what MLIR and StableHLO's specification demand.
//!
//! Rules of structure, for every operation:
//! 1. an operand is defined where it is used: before, in the same block or one that dominates,
//!    or in a region around that may be seen from inside;
//! 2. a block of a function ends with `func.return`, one of a StableHLO operation with
//!    `stablehlo.return`, and these stand nowhere else;
//! 3. the names of the functions of a module differ;
//! 4. a function has the parameters and results that its type says;
//! 5. a call names a function with the types that it has.
//!
//! Rules of operations that are known (the rows of `dialect::operations`):
//! 6. numbers of operands, results and regions;
//! 7. attributes that must be there are, and have the kind they should;
//! 8. what the specification says of types, shapes and attributes of the operation: the
//!    functions of `rules`, which name the section.
//!
//! Dimensions that are not known agree with every size: what they are is found at run time.
//! Cost: linear in the module but for dominators of regions with several blocks.

pub(crate) mod checked_operation;
mod dominance;
pub(crate) mod rules;
mod signature;
mod structure;

use checked_operation::CheckedOperation;

use crate::mlir::MlirModule;
use spirula_diagnostics::SourceDiagnostic;

/// Most faults that are told of one module.
const MAX_FAULTS: usize = 50;

/// Everything that is wrong with a module, in the order of its operations; empty if it is valid.
/// At most 50 faults are told.
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
