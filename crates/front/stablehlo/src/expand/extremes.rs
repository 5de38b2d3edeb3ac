//! Results of manual computations that are maxima or minima of those of devices (`unreduced=max{"x"}`).
//!
//! The devices reduce them before the end of the computation, so that all have the whole. No stage after this knows such axes.

use super::emitter::{ReductionDraft, ReplacementEmitter};
use crate::dialect::MlirOpcode;
use crate::mlir::{AttributeKind, MlirModule, MlirOp, MlirValue};
use crate::sharding::{DeviceExtremes, group_devices, read_extremes};

/// The end of a manual computation with such results.
pub(super) struct ExtremeResults {
    end: MlirOp,
    results: Vec<Option<DeviceExtremes>>,
}

/// All manual computations with such results.
pub(super) fn list_results(module: &MlirModule) -> Vec<ExtremeResults> {
    let ops = module.all_ops();
    ops.filter(|op| module.opcode(*op) == Some(MlirOpcode::SdyManualComputation))
        .filter_map(|op| read_results(module, op))
        .collect()
}

fn read_results(module: &MlirModule, op: MlirOp) -> Option<ExtremeResults> {
    let results = read_extremes(module, module.find_attribute(op, "out_shardings")?)?;
    let region = module.regions(op).next()?;
    let [block] = module.blocks(region) else {
        return None;
    };
    let end = *module.ops(*block).last()?;
    let has_extremes = results.iter().any(Option::is_some);
    let fits = has_extremes && module.operands(end).len() == results.len();
    fits.then_some(ExtremeResults { end, results })
}

/// Lets devices reduce the results.
pub(super) fn reduce_results(module: &mut MlirModule, results: &ExtremeResults) {
    let mut values = module.operands(results.end).to_vec();
    let mut emitter = ReplacementEmitter::new(module, results.end);
    for (value, extremes) in values.iter_mut().zip(&results.results) {
        if let Some(extremes) = extremes {
            *value = reduce_value(&mut emitter, *value, extremes);
        }
    }
    emitter.finish_before(&values);
}

fn reduce_value(
    e: &mut ReplacementEmitter<'_>,
    value: MlirValue,
    extremes: &DeviceExtremes,
) -> MlirValue {
    let groups = group_devices(&extremes.mesh, &extremes.axes).unwrap_or_default();
    let Some(width) = groups.first().map(Vec::len) else {
        return value;
    };
    let sizes = [groups.len() as u64, width as u64];
    let devices: Vec<i64> = groups.concat().into_iter().map(u64::cast_signed).collect();
    let properties = [
        ("replica_groups", e.make_elements(&devices, &sizes)),
        ("channel_handle", e.make_channel(1)),
        (
            "use_global_device_ids",
            e.module.attributes.intern(AttributeKind::Unit),
        ),
    ];
    let operation = if extremes.is_maximum {
        "stablehlo.maximum"
    } else {
        "stablehlo.minimum"
    };
    let draft = ReductionDraft {
        name: "stablehlo.all_reduce",
        operation,
        ty: e.module.type_of(value),
        properties: &properties,
    };
    e.emit_reduction(&draft, &[value])
}
