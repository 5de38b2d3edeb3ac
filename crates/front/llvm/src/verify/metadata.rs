//! Inline metadata rule: metadata that is written where it is used, without a number (rule 9).

use super::ensure_holds;
use crate::LlvmResult;
use crate::ir::{LlvmModule, MetadataField, MetadataKind};

/// Checks that argument lists hold values and that expressions hold no nodes. So neither can refer
/// back to itself.
pub(super) fn verify_metadata(module: &LlvmModule) -> LlvmResult<()> {
    let metadata = &module.metadata;
    let expression = module.strings.find_symbol("DIExpression");
    for id in metadata.iter_ids() {
        match metadata.kind(id) {
            MetadataKind::ArgList(_) => {
                let is_value =
                    |kind| matches!(kind, MetadataKind::Constant(_) | MetadataKind::Local(_));
                let operands = metadata.operands(id);
                let all = operands
                    .iter()
                    .all(|operand| operand.is_some_and(|id| is_value(metadata.kind(id))));
                ensure_holds(all, "an argument list with an operand that is not a value")?;
            }
            MetadataKind::Specialised { class, .. } if Some(class) == expression => {
                let fields = metadata.fields(id);
                let node = fields
                    .iter()
                    .any(|(_, field)| matches!(field, MetadataField::Node(_)));
                ensure_holds(
                    !node,
                    "an expression of debug information that holds metadata",
                )?;
            }
            _ => {}
        }
    }
    Ok(())
}
