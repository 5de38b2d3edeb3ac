//! Operations of tensors: the plan of each, and its local form.

use super::emitter::LocalEmitter;
use super::partial::PartialResults;
use crate::PartitionResult;
use crate::graph::{GraphNode, GraphValue};
use crate::layout::ShardLayout;
use crate::plan::{OperationPlan, PlanContext, PlannedTensor};
use crate::rule::{PartialCombination, ShardingRule};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_stablehlo::MlirOpcode;
use spirula_stablehlo::mlir::{
    AttributeKind, DenseElements, MlirOp, MlirType, MlirValue, NamedAttribute, OperationDraft,
};
use spirula_stablehlo::sharding::{read_replica_groups, read_sharding_list};

/// The attribute that names the device which alone computes an operation.
pub(crate) const ONLY_DEVICE: &str = "spirula.only_device";

impl LocalEmitter<'_> {
    pub(super) fn emit_operation(&mut self, node: &GraphNode) -> PartitionResult<()> {
        let opcode = self.source.opcode(node.op);
        match opcode {
            Some(MlirOpcode::Constant) if self.emit_splat(node)? => return Ok(()),
            Some(MlirOpcode::Iota) => return self.emit_iota(node),
            Some(MlirOpcode::Constant) => return self.emit_copy(node),
            _ => {}
        }
        let Some(rule) = node.rule else {
            self.note_gathered(node);
            self.note_effects(node);
            return self.emit_copy(node);
        };
        let graph = self.graph;
        let rule = graph.rule(rule);
        let plan = self.plan_operation(node, rule);
        self.note_joined(node, rule);
        self.emit_planned(node, rule, &plan)
    }

    /// The layouts in which an operand is there, at least one.
    fn known_layouts(&self, value: GraphValue) -> Vec<ShardLayout> {
        let known = self.values.get(&value).map(Vec::as_slice);
        let known = known.unwrap_or_default().iter();
        let mut layouts: Vec<ShardLayout> = known.map(|(layout, _)| layout.clone()).collect();
        if layouts.is_empty() {
            layouts.push(self.whole_layout(value));
        }
        layouts
    }

    pub(super) fn plan_operation(&self, node: &GraphNode, rule: &ShardingRule) -> OperationPlan {
        let operands = node.operands.iter().map(|value| PlannedTensor {
            layouts: self.known_layouts(*value),
            bytes: self.whole_bytes(*value),
        });
        let results = node.results.iter().map(|value| PlannedTensor {
            layouts: vec![self.layouts.layout(*value).clone()],
            bytes: self.whole_bytes(*value),
        });
        let tensors: Vec<PlannedTensor> = operands.chain(results).collect();
        let context = PlanContext {
            rule,
            mesh: self.mesh,
            tensors: &tensors,
            operands: node.operands.len(),
        };
        context.choose_plan()
    }

    /// Counts an operation without a rule if it has an operand of which devices have parts.
    fn note_gathered(&mut self, node: &GraphNode) {
        let is_whole = |value: &GraphValue| {
            let layouts = self.known_layouts(*value);
            layouts.iter().any(ShardLayout::is_replicated)
        };
        if node.operands.iter().all(is_whole) {
            return;
        }
        let name = self.source.op_name(node.op);
        let name = match self.source.find_text(node.op, "call_target_name") {
            Some(target) => format!("{name} @{target}"),
            None => name.to_owned(),
        };
        if !self.report.gathered.contains_key(&name) {
            let place = self.source.source_location(node.op);
            let message =
                format!("`{name}` has no sharding rule, so each device computes all of it");
            self.report
                .warnings
                .push(SourceDiagnostic::warning(place, message));
        }
        *self.report.gathered.entry(name).or_default() += 1;
    }

    /// Counts an operation that needs a dimension as a whole of which devices have parts.
    fn note_joined(&mut self, node: &GraphNode, rule: &ShardingRule) {
        let is_joined = |(tensor, value): (usize, &GraphValue)| {
            let layouts = self.known_layouts(*value);
            let mut dimensions = rule.tensors[tensor].iter().enumerate();
            dimensions.any(|(at, factors)| {
                factors.is_empty() && layouts.iter().all(|layout| !layout.dims[at].is_empty())
            })
        };
        if !node.operands.iter().enumerate().any(is_joined) {
            return;
        }
        let name = self.source.op_name(node.op).to_owned();
        if !self.report.joined.contains_key(&name) {
            let place = self.source.source_location(node.op);
            let message = format!("`{name}` needs a whole dimension, of which devices have parts");
            self.report
                .warnings
                .push(SourceDiagnostic::warning(place, message));
        }
        *self.report.joined.entry(name).or_default() += 1;
    }

    /// Warns of an operation with effects, which was to run once.
    fn note_effects(&mut self, node: &GraphNode) {
        let source = self.source;
        let flag = source.find_attribute(node.op, "has_side_effect");
        let has_effect = match source.opcode(node.op) {
            Some(MlirOpcode::CustomCall) => {
                flag.and_then(|flag| source.as_integer(flag)) == Some(1)
            }
            Some(
                MlirOpcode::Infeed | MlirOpcode::Outfeed | MlirOpcode::Send | MlirOpcode::Recv,
            ) => true,
            _ => false,
        };
        if has_effect && !node.is_manual && self.mesh.device_count() > 1 {
            let name = source.op_name(node.op);
            let message = format!("`{name}` has an effect, which each device has");
            let place = source.source_location(node.op);
            self.report
                .warnings
                .push(SourceDiagnostic::warning(place, message));
        }
    }

    /// An operation on whole tensors.
    fn emit_copy(&mut self, node: &GraphNode) -> PartitionResult<()> {
        let tensors = node.operands.iter().chain(&node.results);
        let shapes: Vec<Vec<u64>> = tensors
            .map(|value| self.graph.value(*value).shape.clone())
            .collect();
        let rule = ShardingRule::new_whole(&shapes);
        self.emit_planned(node, &rule, &OperationPlan::default())
    }

    fn emit_planned(
        &mut self,
        node: &GraphNode,
        rule: &ShardingRule,
        plan: &OperationPlan,
    ) -> PartitionResult<()> {
        let mut operands = Vec::new();
        let mut first = None;
        for (at, value) in node.operands.iter().enumerate() {
            let layout = plan.layout(rule, at, self.mesh);
            operands.push(self.require_layout(node.op, *value, &layout)?);
            first.get_or_insert((*value, layout));
        }
        let mut known = FxHashMap::default();
        for (inside, value) in &node.captures {
            let layout = self.whole_layout(*value);
            known.insert(*inside, self.require_layout(node.op, *value, &layout)?);
        }
        let layouts: Vec<ShardLayout> = (0..node.results.len())
            .map(|at| plan.layout(rule, node.operands.len() + at, self.mesh))
            .collect();
        let pairs = node.results.iter().zip(&layouts);
        let types: Vec<MlirType> = pairs
            .map(|(value, layout)| self.local_type(*value, layout))
            .collect();
        let mut properties = self.source.properties(node.op).to_vec();
        if let (Some(list), Some((value, layout))) = (rule.size_list, &first) {
            self.localise_sizes(&mut properties, list, *value, layout);
        }
        self.localise_count(&mut properties, rule, plan);
        self.extend_windows(rule, plan, &mut operands, &mut properties)?;
        let partial = plan.partial_atoms(rule);
        self.replace_initial(node, rule, &partial, &mut operands)?;
        let own = self.select_parts(node, rule, plan, &mut operands, &mut properties)?;
        let copy = self.append_copy(node, &operands, &types, properties, &mut known);
        let mut results: Vec<MlirValue> = self.builder.module().results(copy).collect();
        if let Some(own) = own {
            results[0] = self.mask_result(node, results[0], own)?;
        }
        if rule.combination == PartialCombination::Again && !partial.is_empty() {
            let partial = PartialResults {
                atoms: &partial,
                operands: &operands,
                results: std::mem::take(&mut results),
                known,
            };
            results = self.repeat_reduction(node, partial)?;
        }
        for ((value, layout), local) in node.results.iter().zip(layouts).zip(results) {
            let is_whole = partial.is_empty() || rule.combination == PartialCombination::Again;
            let (local, layout) = if is_whole {
                (local, layout)
            } else {
                let atoms = partial.clone();
                self.combine_partial(node, rule.combination, local, layout, atoms)?
            };
            self.add_layout(*value, layout, local);
        }
        Ok(())
    }

    /// Lists the devices of replica groups that name axes of a mesh. The local program does not have the mesh.
    fn list_replica_groups(&mut self, properties: &mut [NamedAttribute]) {
        let source = self.source;
        for (name, attr) in properties {
            let names_axes = source.symbol_text(*name) == "replica_groups"
                && source.find_field(*attr, "mesh").is_some();
            if names_axes && let Some(groups) = read_replica_groups(source, *attr) {
                let width = groups.first().map_or(0, Vec::len);
                let devices: Vec<i64> = groups.concat().iter().map(|id| id.cast_signed()).collect();
                *attr = self.integer_matrix(groups.len() as u64, width as u64, &devices);
            }
        }
    }

    /// Appends an operation like that of a node, with its regions.
    pub(super) fn append_copy(
        &mut self,
        node: &GraphNode,
        operands: &[MlirValue],
        types: &[MlirType],
        mut properties: Vec<NamedAttribute>,
        known: &mut FxHashMap<MlirValue, MlirValue>,
    ) -> MlirOp {
        let source = self.source;
        self.list_replica_groups(&mut properties);
        let attributes = source.discardable_attributes(node.op).iter();
        let attributes = attributes.filter(|(name, _)| {
            !matches!(source.symbol_text(*name), "sdy.sharding" | "mhlo.sharding")
        });
        let mut attributes: Vec<NamedAttribute> = attributes.copied().collect();
        if let Some(device) = self.find_only_device(node.op) {
            let module = self.builder.module_mut();
            let device = module.integer_attribute(device, 64);
            attributes.push((module.intern_text(ONLY_DEVICE), device));
        }
        self.note_calls(node.op);
        let copy = self.builder.append_operation(OperationDraft {
            properties,
            attributes,
            regions: source.regions(node.op).len(),
            place: source.source_location(node.op),
            loc: source.location(node.op),
            ..OperationDraft::new(source.op_name(node.op), operands, types)
        });
        self.builder.copy_regions(source, node.op, copy, known);
        copy
    }

    /// The device that alone computes an operation, according to its sharding.
    fn find_only_device(&self, op: MlirOp) -> Option<i64> {
        let attr = self.source.find_attribute(op, "sdy.sharding")?;
        let shardings = read_sharding_list(self.source, attr)?;
        let mesh = &shardings.first()?.mesh;
        match mesh.device_ids.as_deref() {
            Some([device]) if mesh.axes.is_empty() => i64::try_from(*device).ok(),
            _ => None,
        }
    }

    /// Notes the functions that an operation and its regions name.
    pub(super) fn note_calls(&mut self, op: MlirOp) {
        let source = self.source;
        let mut open = vec![op];
        while let Some(op) = open.pop() {
            let all = source.properties(op).iter();
            for (_, attr) in all.chain(source.discardable_attributes(op)) {
                let list = match source.attributes.kind(*attr) {
                    AttributeKind::Array(list) => list.to_vec(),
                    _ => vec![*attr],
                };
                for attr in list {
                    if let AttributeKind::SymbolRef(path) = source.attributes.kind(attr)
                        && let Some(symbol) = path.last()
                    {
                        self.kept.push(source.symbol_text(*symbol).to_owned());
                    }
                }
            }
            let regions = source.regions(op);
            for block in regions.flat_map(|region| source.blocks(region)) {
                open.extend_from_slice(source.ops(*block));
            }
        }
    }

    /// Replaces sizes of whole dimensions by those of the parts.
    fn localise_sizes(
        &mut self,
        properties: &mut [NamedAttribute],
        list: &str,
        value: GraphValue,
        layout: &ShardLayout,
    ) {
        let shape = &self.graph.value(value).shape;
        let local = layout.local_sizes(self.mesh, shape);
        let source = self.source;
        let at = properties
            .iter()
            .position(|(name, _)| source.symbol_text(*name) == list);
        let sizes = at.and_then(|at| source.as_integers(properties[at].1));
        let (Some(at), Some(sizes)) = (at, sizes) else {
            return;
        };
        let pairs = sizes.iter().zip(shape.iter().zip(&local));
        let sizes: Vec<i64> = pairs
            .map(|(size, (whole, part))| {
                if u64::try_from(*size) == Ok(*whole) {
                    part.cast_signed()
                } else {
                    *size
                }
            })
            .collect();
        properties[at].1 = self.builder.module_mut().integers_attribute(&sizes);
    }

    /// Replaces the size of a factor by that of its parts.
    fn localise_count(
        &mut self,
        properties: &mut [NamedAttribute],
        rule: &ShardingRule,
        plan: &OperationPlan,
    ) {
        let Some(counted) = rule.counted else { return };
        let atoms = plan.assignment.get(counted.factor).map(Vec::as_slice);
        let parts = self.mesh.count(atoms.unwrap_or_default());
        let size = rule.factors[counted.factor].size / parts;
        let source = self.source;
        let mut own = properties.iter_mut();
        let own = own.find(|(name, _)| source.symbol_text(*name) == counted.property);
        if let Some((_, attr)) = own {
            *attr = self.integer(size);
        }
    }

    /// A constant whose elements are equal, in the layout of its result. Returns whether it is one.
    fn emit_splat(&mut self, node: &GraphNode) -> PartitionResult<bool> {
        let value = node.results[0];
        let layout = self.layouts.layout(value).clone();
        let Some(elements) = self.source.find_elements(node.op, "value") else {
            return Ok(false);
        };
        if !elements.splat || layout.is_replicated() {
            return Ok(false);
        }
        let data = elements.data.to_vec();
        let ty = self.local_type(value, &layout);
        let local = self.emit_constant(DenseElements::from_splat(ty, &data))?;
        self.add_layout(value, layout, local);
        Ok(true)
    }

    /// `iota` in the layout of its result: the positions of the part.
    fn emit_iota(&mut self, node: &GraphNode) -> PartitionResult<()> {
        let value = node.results[0];
        let layout = self.layouts.layout(value).clone();
        let attr = self.source.find_attribute(node.op, "iota_dimension");
        let dimension = attr.and_then(|attr| self.source.as_integer(attr));
        let dimension = dimension.and_then(|dimension| usize::try_from(dimension).ok());
        let ty = self.local_type(value, &layout);
        let (Some(attr), Some(dimension)) = (attr, dimension) else {
            return self.emit_copy(node);
        };
        let property = [("iota_dimension", attr)];
        let atoms = layout.dims.get(dimension).cloned().unwrap_or_default();
        if atoms.is_empty() {
            let local = self.append_one("stablehlo.iota", &[], ty, &property)?;
            self.add_layout(value, layout, local);
            return Ok(());
        }
        // Positions are added as integers, so that each is rounded once.
        let sizes = layout.local_sizes(self.mesh, &self.graph.value(value).shape);
        let types = &mut self.builder.module_mut().types;
        let index = types.integer_type(32);
        let indices = types.tensor_type(&sizes, index);
        let local = self.append_one("stablehlo.iota", &[], indices, &property)?;
        let coordinate = self.device_coordinate(&atoms)?;
        let start = self.index_operation("stablehlo.multiply", coordinate, sizes[dimension])?;
        let none = self.builder.module_mut().integers_attribute(&[]);
        let start = self.append_one(
            "stablehlo.broadcast_in_dim",
            &[start],
            indices,
            &[("broadcast_dimensions", none)],
        )?;
        let mut local = self.append_one("stablehlo.add", &[local, start], indices, &[])?;
        if indices != ty {
            local = self.append_one("stablehlo.convert", &[local], ty, &[])?;
        }
        self.add_layout(value, layout, local);
        Ok(())
    }
}
