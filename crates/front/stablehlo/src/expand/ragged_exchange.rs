//! `custom_call @ragged_all_to_all`: exchanges of slices of different sizes between devices.
//!
//! Each device has slices of rows for every device of its group: their first rows, their numbers of rows, and the rows at which the
//! receiver writes them. The exchange gathers the rows of the group, and exchanges the numbers of the slices. A row of the result is
//! then one of the gathered rows, or that of the old output. This moves all rows to every device, as sizes are not known
//! before the program runs.

use super::emitter::ReplacementEmitter;
use crate::dialect::MlirOpcode;
use crate::mlir::{AttributeKind, MlirAttr, MlirModule, MlirOp, MlirValue};
use crate::sharding::read_replica_groups;

/// The target of the call.
const TARGET: &str = "ragged_all_to_all";

/// An exchange whose form is known.
pub(super) struct RaggedExchange {
    op: MlirOp,
    /// The rows to send, and the output before.
    rows: [MlirValue; 2],
    /// For each slice: the first row, the number of rows, and the row at the receiver.
    slices: [MlirValue; 3],
    replica_groups: MlirAttr,
    /// The number of the channel, if the groups are of devices.
    channel: Option<i64>,
    /// Number of devices of a group.
    width: u64,
    /// Number of slices of a device.
    count: u64,
}

/// All exchanges of a module.
pub(super) fn list_exchanges(module: &MlirModule) -> Vec<RaggedExchange> {
    let ops = module.all_ops();
    ops.filter(|op| module.opcode(*op) == Some(MlirOpcode::CustomCall))
        .filter(|op| module.find_text(*op, "call_target_name") == Some(TARGET))
        .filter_map(|op| read_exchange(module, op))
        .collect()
}

fn read_exchange(module: &MlirModule, op: MlirOp) -> Option<RaggedExchange> {
    let &[rows, output, starts, counts, targets, _] = module.operands(op) else {
        return None;
    };
    let config = module
        .find_attribute(op, "mhlo.backend_config")
        .or_else(|| module.find_attribute(op, "backend_config"))?;
    let replica_groups = module.find_field(config, "replica_groups")?;
    let groups = read_replica_groups(module, replica_groups)?;
    let channel = module.find_field(config, "channel_id");
    let width = groups.first()?.len() as u64;
    let sizes_of = |value| module.types.static_shape(module.type_of(value));
    let count = *sizes_of(starts)?.first()?;
    let slices = [starts, counts, targets];
    let (from, to) = (sizes_of(rows)?, sizes_of(output)?);
    let fits = groups.iter().all(|group| group.len() as u64 == width)
        && count.checked_rem(width) == Some(0)
        && slices
            .iter()
            .all(|list| sizes_of(*list) == Some(vec![count]))
        && !from.is_empty()
        && from.get(1..) == to.get(1..)
        && module
            .results(op)
            .map(|value| module.type_of(value))
            .eq([module.type_of(output)]);
    fits.then_some(RaggedExchange {
        op,
        rows: [rows, output],
        slices,
        replica_groups,
        channel: channel.and_then(|channel| module.as_integer(channel)),
        width,
        count,
    })
}

/// Puts simpler operations in the place of an exchange.
pub(super) fn expand_exchange(module: &mut MlirModule, exchange: RaggedExchange) {
    let mut emitter = ReplacementEmitter::new(module, exchange.op);
    let [rows, output] = exchange.rows;
    let sizes = [rows, output].map(|value| emitter.sizes_of(value));
    let has_rows = sizes.iter().flatten().all(|size| *size > 0) && exchange.count > 0;
    let value = if has_rows {
        let sources = exchange.find_sources(&mut emitter, sizes[0][0], sizes[1][0]);
        exchange.choose_rows(&mut emitter, sources)
    } else {
        output
    };
    emitter.finish(value);
}

impl RaggedExchange {
    /// The attributes of collectives.
    fn list_attributes(&self, e: &mut ReplacementEmitter<'_>) -> Vec<(&'static str, MlirAttr)> {
        let mut attributes = vec![("replica_groups", self.replica_groups)];
        if let Some(channel) = self.channel {
            let handle = e.make_channel(channel);
            attributes.push(("channel_handle", handle));
        }
        attributes
    }

    /// The lists of the slices that the other devices send here: first row, number of rows, and row of the result.
    fn exchange_slices(&self, e: &mut ReplacementEmitter<'_>) -> [MlirValue; 3] {
        let element = e.module.types.integer_type(64);
        let list = e.module.types.tensor_type(&[self.count], element);
        let lists = self.slices.map(|value| {
            let value = e.emit_one("stablehlo.convert", &[value], list, &[]);
            e.emit_reshape(value, &[1, self.count])
        });
        let zero = e.module.integer_attribute(0, 64);
        let table = e.module.types.tensor_type(&[3, self.count], element);
        let joined = e.emit_one(
            "stablehlo.concatenate",
            &lists,
            table,
            &[("dimension", zero)],
        );
        let one = e.module.integer_attribute(1, 64);
        let split = e.module.integer_attribute(self.width.cast_signed(), 64);
        let mut attributes = self.list_attributes(e);
        attributes.extend([
            ("split_dimension", one),
            ("concat_dimension", one),
            ("split_count", split),
        ]);
        let received = e.emit_one("stablehlo.all_to_all", &[joined], table, &attributes);
        [0, 1, 2].map(|row| {
            let ty = e.module.types.tensor_type(&[1, self.count], element);
            let bounds = [
                ("start_indices", [row, 0]),
                ("limit_indices", [row + 1, self.count.cast_signed()]),
                ("strides", [1, 1]),
            ];
            let bounds = bounds.map(|(name, list)| (name, e.module.integers_attribute(&list)));
            let own = e.emit_one("stablehlo.slice", &[received], ty, &bounds);
            e.emit_reshape(own, &[self.count])
        })
    }

    /// The row of all gathered ones for each row of the result; -1 where nobody sends one.
    fn find_sources(&self, e: &mut ReplacementEmitter<'_>, own_rows: u64, rows: u64) -> MlirValue {
        let [starts, counts, targets] = self.exchange_slices(e);
        let of_sender = self.count / self.width;
        let bases: Vec<i64> = (0..self.count)
            .map(|slice| (slice / of_sender).saturating_mul(own_rows).cast_signed())
            .collect();
        let bases = e.emit_integers(&bases, &[self.count]);
        let starts = e.emit_alike("stablehlo.add", &[starts, bases]);
        let offsets = e.emit_alike("stablehlo.subtract", &[starts, targets]);
        let ends = e.emit_alike("stablehlo.add", &[targets, counts]);
        let sizes = [rows, self.count];
        let [offsets, targets, ends] =
            [offsets, targets, ends].map(|list| e.emit_broadcast(list, &sizes, &[1]));
        let ty = e.module.type_of(offsets);
        let zero = e.module.integer_attribute(0, 64);
        let row = e.emit_one("stablehlo.iota", &[], ty, &[("iota_dimension", zero)]);
        let is_after = e.emit_compare("GE", &[row, targets]);
        let is_before = e.emit_compare("LT", &[row, ends]);
        let is_inside = e.emit_alike("stablehlo.and", &[is_after, is_before]);
        let source = e.emit_alike("stablehlo.add", &[row, offsets]);
        let none = e.emit_integers(&[-1], &[]);
        let none = e.emit_broadcast(none, &sizes, &[]);
        let source = e.emit_one("stablehlo.select", &[is_inside, source, none], ty, &[]);
        e.emit_maximum(source)
    }

    /// The rows of the result: those at `sources`, and others as they were.
    fn choose_rows(&self, e: &mut ReplacementEmitter<'_>, sources: MlirValue) -> MlirValue {
        let [rows, output] = self.rows;
        let sizes = e.sizes_of(output);
        let element = e.element_of(rows);
        let mut all = e.sizes_of(rows);
        all[0] = all[0].saturating_mul(self.width);
        let mut attributes = self.list_attributes(e);
        attributes.push(("all_gather_dim", e.module.integer_attribute(0, 64)));
        if self.channel.is_some() {
            let unit = e.module.attributes.intern(AttributeKind::Unit);
            attributes.push(("use_global_device_ids", unit));
        }
        let ty = e.module.types.tensor_type(&all, element);
        let gathered = e.emit_one("stablehlo.all_gather", &[rows], ty, &attributes);
        let rank = sizes.len() as i64;
        let offsets: Vec<i64> = (1..rank).collect();
        let fields = [
            ("offset_dims", e.module.integers_attribute(&offsets)),
            ("collapsed_slice_dims", e.module.integers_attribute(&[0])),
            ("start_index_map", e.module.integers_attribute(&[0])),
            ("index_vector_dim", e.module.integer_attribute(1, 64)),
        ];
        let numbers = e.make_structure("stablehlo.gather", &fields);
        let mut slice: Vec<i64> = all.iter().map(|size| size.cast_signed()).collect();
        slice[0] = 1;
        let properties = [
            ("dimension_numbers", numbers),
            ("slice_sizes", e.module.integers_attribute(&slice)),
        ];
        let ty = e.module.types.tensor_type(&sizes, element);
        let operands = [gathered, sources];
        let chosen = e.emit_one("stablehlo.gather", &operands, ty, &properties);
        let zero = e.emit_integers(&[0], &[]);
        let zero = e.emit_broadcast(zero, &sizes[..1], &[]);
        let is_sent = e.emit_compare("GE", &[sources, zero]);
        let is_sent = e.emit_broadcast(is_sent, &sizes, &[0]);
        e.emit_one("stablehlo.select", &[is_sent, chosen, output], ty, &[])
    }
}
