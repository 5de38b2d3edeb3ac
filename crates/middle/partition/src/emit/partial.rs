//! Combination of partial results.

use super::emitter::LocalEmitter;
use crate::PartitionResult;
use crate::graph::{GraphNode, GraphValue};
use crate::layout::ShardLayout;
use crate::mesh::MeshAtom;
use crate::neutral::find_neutral_bytes;
use crate::rule::{NeutralElement, PartialCombination, ShardingRule};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_stablehlo::mlir::{
    DenseElements, MlirOp, MlirType, MlirValue, NamedAttribute, OperationDraft,
};

/// Partial results of an operation with several results.
pub(super) struct PartialResults<'a> {
    /// The atoms along which they are partial.
    pub atoms: &'a [MeshAtom],
    /// The local operands.
    pub operands: &'a [MlirValue],
    /// The local results.
    pub results: Vec<MlirValue>,
    /// The local values of those that regions take from outside.
    pub known: FxHashMap<MlirValue, MlirValue>,
}

impl LocalEmitter<'_> {
    /// A tensor of neutral elements.
    pub(super) fn neutral_constant(
        &mut self,
        node: &GraphNode,
        ty: MlirType,
        neutral: NeutralElement,
    ) -> PartitionResult<MlirValue> {
        let types = &self.builder.module().types;
        let bytes = find_neutral_bytes(types, types.element_type(ty), neutral);
        match bytes {
            Some(bytes) => self.emit_constant(DenseElements::from_splat(ty, &bytes)),
            None => {
                let place = self.source.source_location(node.op);
                let message = "elements of this type cannot be combined over devices";
                Err(SourceDiagnostic::error(place, message))
            }
        }
    }

    /// Leaves the operands that partial results must have once to the first device along atoms. The others get neutral elements.
    pub(super) fn replace_initial(
        &mut self,
        node: &GraphNode,
        rule: &ShardingRule,
        atoms: &[MeshAtom],
        operands: &mut [MlirValue],
    ) -> PartitionResult<()> {
        let Some(initial) = rule.initial.as_ref().filter(|_| !atoms.is_empty()) else {
            return Ok(());
        };
        let coordinate = self.device_coordinate(atoms)?;
        let zero = self.constant_index(0)?;
        let is_first = self.compare_values("EQ", coordinate, zero)?;
        for at in initial.operands.clone() {
            let ty = self.type_of(operands[at]);
            let neutral = self.neutral_constant(node, ty, initial.neutral)?;
            operands[at] = self.select_values(is_first, operands[at], neutral)?;
        }
        Ok(())
    }

    /// Puts partial results of a reduction together along a new dimension, and reduces that.
    pub(super) fn repeat_reduction(
        &mut self,
        node: &GraphNode,
        partial: PartialResults<'_>,
    ) -> PartitionResult<Vec<MlirValue>> {
        let count = partial.results.len();
        let parts = self.mesh.count(partial.atoms);
        let mut operands = Vec::new();
        let mut types = Vec::new();
        for (local, value) in partial.results.into_iter().zip(&node.results) {
            let sizes = self.builder.sizes_of(local);
            types.push(self.type_of(local));
            let elements: u64 = sizes.iter().product();
            let bytes = elements as f64 * self.graph.value(*value).element_bytes as f64;
            self.report
                .count_collective("all_gather", bytes * (parts - 1) as f64);
            let row = self.reshape_value(local, &[&[1], sizes.as_slice()].concat())?;
            let ty = self
                .builder
                .resized_type(local, &[&[parts], sizes.as_slice()].concat());
            let mut properties = self.collective_properties(partial.atoms, true);
            let dimension = self.integer(0);
            let name = self.builder.module_mut().intern_text("all_gather_dim");
            properties.push((name, dimension));
            operands.push(self.append_collective("stablehlo.all_gather", row, ty, properties)?);
        }
        operands.extend(&partial.operands[count..]);
        let module = self.builder.module_mut();
        let dimensions = module.integers_attribute(&[0]);
        let properties = vec![(module.intern_text("dimensions"), dimensions)];
        let mut known = partial.known;
        let copy = self.append_copy(node, &operands, &types, properties, &mut known);
        Ok(self.builder.module().results(copy).collect())
    }

    /// The result of an operation of whose parts along atoms each device has one. Returns its layout, which has those of
    /// the atoms that are wanted there.
    pub(super) fn combine_partial(
        &mut self,
        node: &GraphNode,
        combination: PartialCombination,
        mut local: MlirValue,
        mut layout: ShardLayout,
        mut atoms: Vec<MeshAtom>,
    ) -> PartitionResult<(MlirValue, ShardLayout)> {
        let value = node.results[0];
        let region = match combination {
            PartialCombination::Region | PartialCombination::Again => Some(node.op),
            PartialCombination::Sum => None,
        };
        let wanted = self.layouts.layout(value).clone();
        for (dimension, own) in wanted.dims.iter().enumerate() {
            if !own.starts_with(&layout.dims[dimension]) {
                continue;
            }
            let next = own[layout.dims[dimension].len()..].iter();
            let scattered: Vec<MeshAtom> = next
                .take_while(|atom| atoms.contains(atom))
                .copied()
                .collect();
            if scattered.is_empty() {
                continue;
            }
            atoms.retain(|atom| !scattered.contains(atom));
            let own = self.local_bytes(value, &layout);
            let share = 1.0 - 1.0 / self.mesh.count(&scattered) as f64;
            self.report.count_collective("reduce_scatter", own * share);
            layout.dims[dimension].extend_from_slice(&scattered);
            let mut properties = self.collective_properties(&scattered, true);
            let attr = self.integer(dimension as u64);
            let name = self.builder.module_mut().intern_text("scatter_dimension");
            properties.push((name, attr));
            let ty = self.local_type(value, &layout);
            let name = "stablehlo.reduce_scatter";
            local = self.append_reduction(name, region, local, ty, properties)?;
        }
        let local = self.reduce_all(region, local, &atoms)?;
        Ok((local, layout))
    }

    /// The sum of what devices along atoms have of a tensor.
    pub(super) fn add_summands(
        &mut self,
        local: MlirValue,
        atoms: &[MeshAtom],
    ) -> PartitionResult<MlirValue> {
        self.reduce_all(None, local, atoms)
    }

    /// Combines what devices along atoms have of a tensor, by the region of an operation or by a sum.
    fn reduce_all(
        &mut self,
        region: Option<MlirOp>,
        local: MlirValue,
        atoms: &[MeshAtom],
    ) -> PartitionResult<MlirValue> {
        if atoms.is_empty() {
            return Ok(local);
        }
        let ty = self.type_of(local);
        let types = &self.builder.module().types;
        let element = types.element_bytes(types.element_type(ty)).unwrap_or(0);
        let bytes = self.builder.sizes_of(local).iter().product::<u64>() as f64 * element as f64;
        let share = 1.0 - 1.0 / self.mesh.count(atoms) as f64;
        self.report
            .count_collective("all_reduce", 2.0 * bytes * share);
        let properties = self.collective_properties(atoms, true);
        self.append_reduction("stablehlo.all_reduce", region, local, ty, properties)
    }

    /// A tensor as a sum over the devices along atoms: the first one has it, and the others have zeros.
    pub(super) fn keep_summand(
        &mut self,
        local: MlirValue,
        atoms: &[MeshAtom],
    ) -> PartitionResult<MlirValue> {
        if atoms.is_empty() {
            return Ok(local);
        }
        let ty = self.type_of(local);
        let types = &self.builder.module().types;
        let bytes = types.element_bytes(types.element_type(ty)).unwrap_or(1);
        let zeros = DenseElements::from_splat(ty, &vec![0; bytes]);
        let zeros = self.emit_constant(zeros)?;
        let (coordinate, first) = (self.device_coordinate(atoms)?, self.constant_index(0)?);
        let is_first = self.compare_values("EQ", coordinate, first)?;
        self.select_values(is_first, local, zeros)
    }

    /// The region of a reduction that adds two elements.
    fn emit_sum_region(&mut self, op: MlirOp, ty: MlirType) -> PartitionResult<()> {
        let types = &mut self.builder.module_mut().types;
        let element = types.element_type(ty);
        let scalar = types.tensor_type(&[], element);
        let arguments = self.builder.begin_block(op, 0, &[scalar, scalar]);
        let sum = self.append_one("stablehlo.add", &arguments, scalar, &[])?;
        let draft = OperationDraft::new("stablehlo.return", std::slice::from_ref(&sum), &[]);
        self.builder.append_operation(draft);
        self.builder.end_block();
        Ok(())
    }

    fn local_bytes(&self, value: GraphValue, layout: &ShardLayout) -> f64 {
        self.whole_bytes(value) / self.mesh.count(&layout.dims.concat()) as f64
    }

    /// A collective with a region that combines two elements: that of an operation, or a sum.
    fn append_reduction(
        &mut self,
        name: &str,
        region: Option<MlirOp>,
        local: MlirValue,
        ty: MlirType,
        properties: Vec<NamedAttribute>,
    ) -> PartitionResult<MlirValue> {
        let op = self.builder.append_operation(OperationDraft {
            properties,
            regions: 1,
            ..OperationDraft::new(name, &[local], &[ty])
        });
        match region {
            Some(region) => {
                let mut known = FxHashMap::default();
                self.builder
                    .copy_regions(self.source, region, op, &mut known);
            }
            None => self.emit_sum_region(op, ty)?,
        }
        self.only_result(op)
    }
}
