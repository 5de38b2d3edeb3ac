//! Asynchronous collectives that are custom calls, such as `all-reduce-start` and `all-reduce-done`.
//!
//! The attribute `async_collective_config` of a beginning has the properties of the collective in JSON.

use super::emitter::ReplacementEmitter;
use crate::dialect::MlirOpcode;
use crate::mlir::{AttributeKind, MlirAttr, MlirBlock, MlirModule, MlirOp};

/// The collectives by the beginnings of their targets.
const COLLECTIVES: [(&str, MlirOpcode); 5] = [
    ("all-gather", MlirOpcode::AllGather),
    ("all-reduce", MlirOpcode::AllReduce),
    ("all-to-all", MlirOpcode::AllToAll),
    ("collective-permute", MlirOpcode::CollectivePermute),
    ("reduce-scatter", MlirOpcode::ReduceScatter),
];

/// Integers of a property: the name in the configuration, and that of the attribute.
const INTEGERS: [(&str, &str); 5] = [
    ("all_gather_dimension", "all_gather_dim"),
    ("scatter_dimension", "scatter_dimension"),
    ("split_dimension", "split_dimension"),
    ("concat_dimension", "concat_dimension"),
    ("split_count", "split_count"),
];

/// Matrices of devices: the name in the configuration, and that of the attribute.
const MATRICES: [(&str, &str); 2] = [
    ("replica_groups", "replica_groups"),
    ("permutation", "source_target_pairs"),
];

/// A call whose form is known.
pub(super) struct AsyncCall {
    op: MlirOp,
    kind: AsyncCallKind,
}

enum AsyncCallKind {
    /// The collective itself.
    Start(AsyncCollective),
    /// Its results are there.
    Done,
}

struct AsyncCollective {
    opcode: MlirOpcode,
    config: String,
    /// The block that combines elements.
    combiner: Option<MlirBlock>,
}

/// All calls of a module.
pub(super) fn list_calls(module: &MlirModule) -> Vec<AsyncCall> {
    let ops = module.all_ops();
    ops.filter(|op| module.opcode(*op) == Some(MlirOpcode::CustomCall))
        .filter_map(|op| read_call(module, op))
        .collect()
}

fn read_call(module: &MlirModule, op: MlirOp) -> Option<AsyncCall> {
    let target = module.find_text(op, "call_target_name")?;
    let mut rows = COLLECTIVES.iter();
    let (name, opcode) = rows.find(|(name, _)| target.starts_with(name))?;
    let has_form = module.operands(op).len() == 1 && module.results(op).len() == 1;
    let kind = match target.strip_prefix(name)? {
        "-start" => AsyncCallKind::Start(read_collective(module, op, *opcode)?),
        "-done" => AsyncCallKind::Done,
        _ => return None,
    };
    has_form.then_some(AsyncCall { op, kind })
}

fn read_collective(module: &MlirModule, op: MlirOp, opcode: MlirOpcode) -> Option<AsyncCollective> {
    let attributes = module.find_attribute(op, "mhlo.frontend_attributes")?;
    let config = module.field_text(attributes, "async_collective_config")?;
    let reduces = matches!(opcode, MlirOpcode::AllReduce | MlirOpcode::ReduceScatter);
    let combiner = find_combiner(module, op);
    let mut matrices = MATRICES.iter();
    let is_known = matrices.any(|(name, _)| read_matrix(config, name).is_some())
        && reduces == combiner.is_some();
    is_known.then(|| AsyncCollective {
        opcode,
        config: config.to_owned(),
        combiner,
    })
}

/// The block of the function that combines elements. It has no regions inside.
fn find_combiner(module: &MlirModule, op: MlirOp) -> Option<MlirBlock> {
    let callee = module.find_list(op, "called_computations").first()?;
    let AttributeKind::SymbolRef(path) = module.attributes.kind(*callee) else {
        return None;
    };
    let function = module.find_function(module.symbol_text(*path.last()?))?;
    let region = module.regions(function).next()?;
    let [block] = module.blocks(region) else {
        return None;
    };
    let mut ops = module.ops(*block).iter();
    ops.all(|op| module.regions(*op).len() == 0)
        .then_some(*block)
}

/// Puts the collective in the place of a beginning, and its results in that of an end.
pub(super) fn expand_call(module: &mut MlirModule, call: AsyncCall) {
    let operand = module.operands(call.op)[0];
    let types: Vec<_> = module
        .results(call.op)
        .map(|value| module.type_of(value))
        .collect();
    let mut emitter = ReplacementEmitter::new(module, call.op);
    let value = match call.kind {
        AsyncCallKind::Done => operand,
        AsyncCallKind::Start(collective) => {
            let properties = collective.list_properties(&mut emitter);
            let name = collective.opcode.name();
            match collective.combiner {
                Some(combiner) => {
                    emitter.emit_combination(name, operand, types[0], &properties, combiner)
                }
                None => emitter.emit_one(name, &[operand], types[0], &properties),
            }
        }
    };
    emitter.finish(value);
}

impl AsyncCollective {
    /// The properties of the collective.
    fn list_properties(&self, e: &mut ReplacementEmitter<'_>) -> Vec<(&'static str, MlirAttr)> {
        let mut properties = Vec::new();
        for (name, attribute) in INTEGERS {
            if let Some(value) = read_integer(&self.config, name) {
                properties.push((attribute, e.module.integer_attribute(value, 64)));
            }
        }
        for (name, attribute) in MATRICES {
            if let Some(rows) = read_matrix(&self.config, name) {
                let sizes = [rows.len() as u64, rows[0].len() as u64];
                properties.push((attribute, e.make_elements(&rows.concat(), &sizes)));
            }
        }
        if let Some(channel) = read_integer(&self.config, "channel_id") {
            properties.push(("channel_handle", e.make_channel(channel)));
        }
        if find_value(&self.config, "use_global_device_ids").is_some_and(|v| v.starts_with("true"))
        {
            let unit = e.module.attributes.intern(AttributeKind::Unit);
            properties.push(("use_global_device_ids", unit));
        }
        properties
    }
}

/// The text from the value of a name on.
fn find_value<'t>(config: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = config.split_once(&format!("\"{name}\":"))?;
    Some(rest.trim_start())
}

fn read_integer(config: &str, name: &str) -> Option<i64> {
    let rest = find_value(config, name)?;
    let end = rest.find([',', '}'])?;
    rest[..end].trim().parse().ok()
}

/// Rows of equal length, at least one.
fn read_matrix(config: &str, name: &str) -> Option<Vec<Vec<i64>>> {
    let rest = find_value(config, name)?.strip_prefix('[')?;
    let (rows, _) = rest.split_once("]]")?;
    let rows = rows.split(']').map(|row| {
        let row = row.trim_start_matches([',', ' ']).strip_prefix('[')?;
        let numbers = row.split(',').map(|number| number.trim().parse().ok());
        numbers.collect::<Option<Vec<i64>>>()
    });
    let rows = rows.collect::<Option<Vec<Vec<i64>>>>()?;
    let width = rows.first()?.len();
    rows.iter().all(|row| row.len() == width).then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_read() {
        let config = r#"{"split_count": 2, "replica_groups": [[0, 1], [2,3]], "channel_id": -1}"#;
        assert_eq!(read_integer(config, "split_count"), Some(2));
        assert_eq!(read_integer(config, "channel_id"), Some(-1));
        assert_eq!(read_integer(config, "split"), None);
        let groups = read_matrix(config, "replica_groups");
        assert_eq!(groups, Some(vec![vec![0, 1], vec![2, 3]]));
        for text in [
            "",
            "[",
            "[[",
            "[[]]",
            "[[1], [2, 3]]",
            "[[1, x]]",
            "[1, 2]",
            "[[1]",
        ] {
            let config = format!("{{\"replica_groups\": {text}}}");
            assert_eq!(read_matrix(&config, "replica_groups"), None, "{text}");
        }
    }
}
