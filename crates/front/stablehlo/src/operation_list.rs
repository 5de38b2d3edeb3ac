//! List of operations, for documents.

use crate::dialect::{MlirOpcode, list_definitions};
use crate::translate::has_translation;

/// An operation that the reader knows.
#[derive(Clone, Debug)]
pub struct KnownOperation {
    /// Its name with dialect.
    pub name: &'static str,
    /// Names of its attributes.
    pub attributes: Vec<&'static str>,
    /// Numbers of operands, results and regions; a missing one is 0: `2`, `1+` (one or more), `1?` (one or none), `*` (any).
    pub signature: &'static str,
    /// Whether it is translated, and not only read and verified.
    pub is_translated: bool,
}

/// Whether the operation becomes another before translation.
fn is_inlined(opcode: MlirOpcode) -> bool {
    matches!(opcode, MlirOpcode::AsyncStart | MlirOpcode::AsyncDone)
}

/// All operations in the order of their names.
pub fn list_operations() -> Vec<KnownOperation> {
    let mut operations: Vec<KnownOperation> = list_definitions()
        .flat_map(|definition| {
            definition.opcodes.iter().map(|opcode| KnownOperation {
                name: opcode.name(),
                attributes: definition.attributes.iter().map(|a| a.name).collect(),
                signature: definition.signature,
                is_translated: has_translation(*opcode) || is_inlined(*opcode),
            })
        })
        .collect();
    operations.sort_by_key(|operation| operation.name);
    operations
}
