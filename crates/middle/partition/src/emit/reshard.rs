//! Collectives that change layouts.

use super::emitter::LocalEmitter;
use crate::PartitionResult;
use crate::graph::GraphValue;
use crate::layout::ShardLayout;
use crate::mesh::MeshAtom;
use crate::reshard::{ReshardPlan, ReshardStep, permutation_sources, plan_reshard};
use spirula_diagnostics::SourceDiagnostic;
use spirula_stablehlo::mlir::{
    AttributeKind, MlirAttr, MlirOp, MlirType, MlirValue, NamedAttribute, OperationDraft,
};

impl LocalEmitter<'_> {
    /// The local tensor of a value in a layout.
    pub(super) fn require_layout(
        &mut self,
        op: MlirOp,
        value: GraphValue,
        layout: &ShardLayout,
    ) -> PartitionResult<MlirValue> {
        let bytes = self.whole_bytes(value);
        let known = self.values.get(&value).map(Vec::as_slice);
        let known = known.unwrap_or_default().iter();
        let plans = known.map(|(from, local)| {
            let plan = plan_reshard(self.mesh, from, layout, bytes);
            (plan, from, *local)
        });
        let best = plans.min_by(|a, b| {
            let key = |plan: &ReshardPlan| (plan.bytes, plan.steps.len());
            let (a, b) = (key(&a.0), key(&b.0));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        let Some((plan, from, mut local)) = best else {
            let place = self.source.source_location(op);
            let message = "a value is used where it is not defined";
            return Err(SourceDiagnostic::error(place, message));
        };
        let mut before = from.clone();
        if plan.steps.is_empty() {
            return Ok(local);
        }
        for (step, after) in plan.steps {
            local = self.emit_step(value, local, &step, &before, &after)?;
            before = after;
        }
        self.add_layout(value, layout.clone(), local);
        Ok(local)
    }

    fn emit_step(
        &mut self,
        value: GraphValue,
        local: MlirValue,
        step: &ReshardStep,
        before: &ShardLayout,
        after: &ShardLayout,
    ) -> PartitionResult<MlirValue> {
        let ty = self.local_type(value, after);
        let parts = |layout: &ShardLayout| self.mesh.count(&layout.dims.concat()) as f64;
        let own = self.whole_bytes(value) / parts(before);
        match step {
            ReshardStep::Slice { dimension, atoms } => {
                self.emit_slice(value, local, after, *dimension, atoms)
            }
            ReshardStep::Gather { dimension, atoms } => {
                let count = self.mesh.count(atoms) as f64;
                self.report
                    .count_collective("all_gather", own * (count - 1.0));
                let dimension = self.integer(*dimension as u64);
                let mut properties = self.collective_properties(atoms, true);
                let name = self.builder.module_mut().intern_text("all_gather_dim");
                properties.push((name, dimension));
                self.append_collective("stablehlo.all_gather", local, ty, properties)
            }
            ReshardStep::Exchange { from, to, atoms } => {
                let count = self.mesh.count(atoms);
                let share = 1.0 - 1.0 / count as f64;
                self.report.count_collective("all_to_all", own * share);
                let mut properties = self.collective_properties(atoms, false);
                let numbers = [
                    ("concat_dimension", *from as u64),
                    ("split_dimension", *to as u64),
                    ("split_count", count),
                ];
                for (name, number) in numbers {
                    let attr = self.integer(number);
                    properties.push((self.builder.module_mut().intern_text(name), attr));
                }
                self.append_collective("stablehlo.all_to_all", local, ty, properties)
            }
            ReshardStep::Permute { replaced } => {
                self.report.count_collective("collective_permute", own);
                let sources = permutation_sources(self.mesh, replaced);
                let pairs = self.device_pairs(&sources);
                let handle = self.channel_handle();
                let module = self.builder.module_mut();
                let properties = vec![
                    (module.intern_text("source_target_pairs"), pairs),
                    (module.intern_text("channel_handle"), handle),
                ];
                self.append_collective("stablehlo.collective_permute", local, ty, properties)
            }
        }
    }

    pub(super) fn integer(&mut self, number: u64) -> MlirAttr {
        let module = self.builder.module_mut();
        module.integer_attribute(i64::try_from(number).unwrap_or(i64::MAX), 64)
    }

    /// The part of a tensor along atoms that a device keeps.
    fn emit_slice(
        &mut self,
        value: GraphValue,
        local: MlirValue,
        after: &ShardLayout,
        dimension: usize,
        atoms: &[MeshAtom],
    ) -> PartitionResult<MlirValue> {
        let sizes = after.local_sizes(self.mesh, &self.graph.value(value).shape);
        let ty = self.local_type(value, after);
        let coordinate = self.device_coordinate(atoms)?;
        let start = self.index_operation("stablehlo.multiply", coordinate, sizes[dimension])?;
        let mut operands = vec![local];
        let zero = self.constant_index(0)?;
        operands.resize(1 + sizes.len(), zero);
        operands[1 + dimension] = start;
        let sizes: Vec<i64> = sizes.iter().map(|size| size.cast_signed()).collect();
        let sizes = self.builder.module_mut().integers_attribute(&sizes);
        self.append_one(
            "stablehlo.dynamic_slice",
            &operands,
            ty,
            &[("slice_sizes", sizes)],
        )
    }

    /// The properties that say which devices take part in a collective.
    pub(super) fn collective_properties(
        &mut self,
        atoms: &[MeshAtom],
        has_ids: bool,
    ) -> Vec<NamedAttribute> {
        let groups = self.device_groups(atoms);
        let handle = self.channel_handle();
        let module = self.builder.module_mut();
        let mut properties = vec![
            (module.intern_text("replica_groups"), groups),
            (module.intern_text("channel_handle"), handle),
        ];
        if has_ids {
            let unit = module.attributes.intern(AttributeKind::Unit);
            properties.push((module.intern_text("use_global_device_ids"), unit));
        }
        properties
    }

    pub(super) fn append_collective(
        &mut self,
        name: &str,
        local: MlirValue,
        ty: MlirType,
        properties: Vec<NamedAttribute>,
    ) -> PartitionResult<MlirValue> {
        let op = self.builder.append_operation(OperationDraft {
            properties,
            ..OperationDraft::new(name, &[local], &[ty])
        });
        self.only_result(op)
    }
}
