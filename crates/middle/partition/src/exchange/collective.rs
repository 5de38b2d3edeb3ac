//! Collectives as calls that move elements, and operations of the device.

use super::ElementMovement;
use super::operation::DeviceGroups;
use super::rewrite::ExchangeRewriter;
use crate::PartitionResult;
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{MlirOp, MlirValue};
use spirula_stablehlo::sharding::read_replica_groups;

/// Bytes of a tensor from which on devices reduce a part each, instead of all of it.
const MANY_BYTES: u64 = 64 << 10;

impl ExchangeRewriter<'_> {
    /// Rewrites a collective. Each of its operands is moved by itself.
    pub(super) fn rewrite_collective(
        &mut self,
        op: MlirOp,
        opcode: MlirOpcode,
    ) -> PartitionResult<()> {
        let source = self.source;
        let operands: Vec<MlirValue> = source.operands(op).to_vec();
        let results: Vec<MlirValue> = source.results(op).collect();
        if operands.len() != results.len() {
            return self.error(op, "has another number of results");
        }
        if source.find_attribute(op, "channel_handle").is_none() {
            return self.pass_replicas(op, &operands, &results);
        }
        let groups = match opcode {
            MlirOpcode::CollectivePermute => self.read_pairs(op)?,
            _ => self.read_groups(op)?,
        };
        for (at, operand) in operands.iter().enumerate() {
            let value = self.copied_value(*operand);
            let wanted = source.types.static_shape(source.type_of(results[at]));
            let Some(wanted) = wanted else {
                return self.error(op, "a tensor of unknown size");
            };
            let moved = match opcode {
                MlirOpcode::AllGather => self.gather_value(op, value, &wanted, &groups)?,
                MlirOpcode::AllReduce => self.reduce_value(op, value, &groups)?,
                MlirOpcode::ReduceScatter => self.scatter_sums(op, value, &wanted, &groups)?,
                MlirOpcode::AllToAll => self.exchange_parts(op, value, &wanted, &groups)?,
                MlirOpcode::CollectiveBroadcast => {
                    self.call_exchange(op, ElementMovement::Broadcast, value, &wanted, &groups)?
                }
                MlirOpcode::CollectivePermute => {
                    self.call_exchange(op, ElementMovement::Permute, value, &wanted, &groups)?
                }
                _ => return self.error(op, "is not supported between processes"),
            };
            self.bind_result(op, at, moved);
        }
        Ok(())
    }

    /// A collective between replicas, of which there is one.
    fn pass_replicas(
        &mut self,
        op: MlirOp,
        operands: &[MlirValue],
        results: &[MlirValue],
    ) -> PartitionResult<()> {
        for (at, (operand, result)) in operands.iter().zip(results).enumerate() {
            if self.source.type_of(*operand) != self.source.type_of(*result) {
                return self.error(op, "works between several replicas");
            }
            let value = self.copied_value(*operand);
            self.bind_result(op, at, value);
        }
        Ok(())
    }

    fn read_groups(&self, op: MlirOp) -> PartitionResult<DeviceGroups> {
        let attr = self.source.find_attribute(op, "replica_groups");
        let groups = attr.and_then(|attr| read_replica_groups(self.source, attr));
        let Some(groups) = groups else {
            return self.error(op, "a form of replica groups that is not supported");
        };
        let width = groups.first().map_or(0, Vec::len);
        if width == 0 || groups.iter().any(|group| group.len() != width) {
            return self.error(op, "groups of different sizes");
        }
        let devices = groups.concat();
        Ok(DeviceGroups {
            devices: devices.into_iter().map(u64::cast_signed).collect(),
            width,
        })
    }

    fn read_pairs(&self, op: MlirOp) -> PartitionResult<DeviceGroups> {
        let attr = self.source.find_attribute(op, "source_target_pairs");
        let devices = attr.and_then(|attr| self.source.as_integers(attr));
        match devices {
            Some(devices) => Ok(DeviceGroups { devices, width: 2 }),
            None => self.error(op, "a form of pairs that is not supported"),
        }
    }

    /// The number of a dimension, which is below the rank.
    fn read_dimension(&self, op: MlirOp, name: &str, rank: usize) -> PartitionResult<usize> {
        let attr = self.source.find_attribute(op, name);
        let number = attr.and_then(|attr| self.source.as_integer(attr));
        let number = number.and_then(|number| usize::try_from(number).ok());
        match number.filter(|number| *number < rank) {
            Some(number) => Ok(number),
            None => self.error(op, "has no such dimension"),
        }
    }

    /// The tensors of all devices of the group along a new first dimension.
    fn gather_rows(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        groups: &DeviceGroups,
    ) -> PartitionResult<MlirValue> {
        let mut sizes = self.builder.sizes_of(value);
        sizes.insert(0, groups.width as u64);
        self.call_exchange(op, ElementMovement::Gather, value, &sizes, groups)
    }

    /// `all_gather`
    fn gather_value(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        wanted: &[u64],
        groups: &DeviceGroups,
    ) -> PartitionResult<MlirValue> {
        let dimension = self.read_dimension(op, "all_gather_dim", wanted.len())?;
        let rows = self.gather_rows(op, value, groups)?;
        let moved = self.move_dimension(op, rows, 0, dimension)?;
        self.reshape_value(op, moved, wanted)
    }

    /// `all_reduce`
    fn reduce_value(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        groups: &DeviceGroups,
    ) -> PartitionResult<MlirValue> {
        let count = groups.width as u64;
        let sizes = self.builder.sizes_of(value);
        // Two devices receive as many bytes in both ways.
        if count <= 2 || self.bytes_of(value) < MANY_BYTES {
            let rows = self.gather_rows(op, value, groups)?;
            return self.combine_rows(op, rows, &sizes);
        }
        let total: u64 = sizes.iter().product();
        let part = total.div_ceil(count);
        let flat = self.reshape_value(op, value, &[total])?;
        let padded = self.pad_row(op, flat, part * count)?;
        let parts = self.reshape_value(op, padded, &[count, part])?;
        let own =
            self.call_exchange(op, ElementMovement::AllToAll, parts, &[count, part], groups)?;
        let sum = self.combine_rows(op, own, &[part])?;
        let sums = self.gather_rows(op, sum, groups)?;
        let flat = self.reshape_value(op, sums, &[part * count])?;
        let whole = self.slice_rows(op, flat, 0, total)?;
        self.reshape_value(op, whole, &sizes)
    }

    /// Combines the rows of a tensor to a tensor of these sizes.
    fn combine_rows(
        &mut self,
        op: MlirOp,
        rows: MlirValue,
        sizes: &[u64],
    ) -> PartitionResult<MlirValue> {
        let count = self.builder.sizes_of(rows)[0];
        let mut values = Vec::new();
        for at in 0..count {
            let row = self.slice_rows(op, rows, at, at + 1)?;
            values.push(self.reshape_value(op, row, sizes)?);
        }
        self.combine_values(op, &values)
    }

    /// Splits a dimension into a part for each device, and moves the parts. Those of all devices are along a new first
    /// dimension.
    fn exchange_dimension(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        dimension: usize,
        groups: &DeviceGroups,
    ) -> PartitionResult<MlirValue> {
        let mut sizes = self.builder.sizes_of(value);
        let count = groups.width as u64;
        if !sizes[dimension].is_multiple_of(count) {
            return self.error(op, "splits a dimension that its group does not divide");
        }
        sizes[dimension] /= count;
        sizes.insert(dimension, count);
        let split = self.reshape_value(op, value, &sizes)?;
        let parts = self.move_dimension(op, split, dimension, 0)?;
        let sizes = self.builder.sizes_of(parts);
        self.call_exchange(op, ElementMovement::AllToAll, parts, &sizes, groups)
    }

    /// `reduce_scatter`
    fn scatter_sums(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        wanted: &[u64],
        groups: &DeviceGroups,
    ) -> PartitionResult<MlirValue> {
        let dimension = self.read_dimension(op, "scatter_dimension", wanted.len())?;
        let rows = self.exchange_dimension(op, value, dimension, groups)?;
        self.combine_rows(op, rows, wanted)
    }

    /// `all_to_all`
    fn exchange_parts(
        &mut self,
        op: MlirOp,
        value: MlirValue,
        wanted: &[u64],
        groups: &DeviceGroups,
    ) -> PartitionResult<MlirValue> {
        let split = self.read_dimension(op, "split_dimension", wanted.len())?;
        let joined = self.read_dimension(op, "concat_dimension", wanted.len())?;
        let rows = self.exchange_dimension(op, value, split, groups)?;
        let moved = self.move_dimension(op, rows, 0, joined)?;
        self.reshape_value(op, moved, wanted)
    }
}
