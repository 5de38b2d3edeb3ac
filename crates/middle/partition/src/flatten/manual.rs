//! Manual computations: bodies for the devices along some axes, in which the program is for all devices along the others.

use super::builder::GraphBuilder;
use crate::PartitionResult;
use crate::graph::{GraphNode, GraphNodeKind, GraphValue, LayoutPin, PropagationEdge};
use crate::layout::ShardLayout;
use crate::mesh::MeshAtom;
use crate::rule::{PropagationStage, ShardingRule};
use spirula_stablehlo::mlir::MlirOp;
use spirula_stablehlo::sharding::{
    AxisReference, TensorSharding, read_manual_axes, read_sharding_list,
};

/// The shardings of a manual computation.
#[derive(Debug)]
struct ManualShardings {
    inputs: Vec<TensorSharding>,
    outputs: Vec<TensorSharding>,
    /// The set of its manual atoms.
    atoms: u64,
}

/// A tensor of a manual computation as it is outside.
#[derive(Debug)]
struct ManualBoundary {
    /// The manual atoms of each dimension, which are the outermost ones, and those along which the tensor is a sum inside.
    manual: ShardLayout,
    /// A value that has them, and the atoms that the sharding gives beside them.
    outside: GraphValue,
    /// The layout inside.
    inside: Vec<Vec<MeshAtom>>,
    /// Whether more atoms may split each dimension.
    open: Vec<bool>,
}

impl GraphBuilder<'_> {
    /// The body has a tensor for each point along the manual axes. Layouts along the other axes propagate through it.
    pub(super) fn flatten_manual(
        &mut self,
        op: MlirOp,
        operands: Vec<GraphValue>,
        nodes: &mut Vec<GraphNode>,
    ) -> PartitionResult<()> {
        let shardings = self.read_shardings(op)?;
        let results = self.add_results(op)?;
        if shardings.inputs.len() != operands.len() || shardings.outputs.len() != results.len() {
            return self.error(op, "has too few or many shardings");
        }
        let around = self.manual;
        let mut inputs = Vec::new();
        for (operand, sharding) in operands.iter().zip(&shardings.inputs) {
            // The layouts of operands propagate backwards from here.
            let wanted = self.add_value(op, self.graph.value(*operand).ty)?;
            self.graph.add_identity_edge(*operand, wanted);
            inputs.push(self.pin_boundary(op, wanted, sharding, shardings.atoms)?);
        }
        let mut outputs = Vec::new();
        for (result, sharding) in results.iter().zip(&shardings.outputs) {
            outputs.push(self.pin_boundary(op, *result, sharding, shardings.atoms)?);
        }
        self.manual |= shardings.atoms;
        let block = self.region_block(op, 0)?;
        let block = self.flatten_block(block)?;
        self.manual = around;
        if block.arguments.len() != operands.len() || block.returned.len() != results.len() {
            return self.error(op, "a manual computation has a region of another type");
        }
        for (boundary, argument) in inputs.iter().zip(&block.arguments) {
            self.graph.pins.push(LayoutPin {
                value: *argument,
                dims: boundary.inside.clone(),
                open: boundary.open.clone(),
            });
        }
        let sides = [(&inputs, &block.arguments), (&outputs, &block.returned)];
        for (boundaries, values) in sides {
            for (boundary, inside) in boundaries.iter().zip(values) {
                self.join_boundary(op, boundary, *inside)?;
            }
        }
        let manual = |side: Vec<ManualBoundary>| side.into_iter().map(|own| own.manual).collect();
        let kind = GraphNodeKind::Manual {
            inputs: manual(inputs),
            outputs: manual(outputs),
        };
        let mut node = self.make_node(op, kind, operands, results);
        node.blocks = vec![block];
        nodes.push(node);
        Ok(())
    }

    fn read_shardings(&self, op: MlirOp) -> PartitionResult<ManualShardings> {
        let module = self.module;
        let list = |name| {
            let attr = module.find_attribute(op, name);
            attr.and_then(|attr| read_sharding_list(module, attr))
        };
        let axes = module.find_attribute(op, "manual_axes");
        let axes = axes.and_then(|attr| read_manual_axes(module, attr));
        let (Some(inputs), Some(outputs), Some(axes)) =
            (list("in_shardings"), list("out_shardings"), axes)
        else {
            return self.error(op, "the shardings of a manual computation are malformed");
        };
        let mut meshes = inputs.iter().chain(&outputs).map(|sharding| &sharding.mesh);
        let mesh = meshes.find(|mesh| !mesh.axes.is_empty());
        let mesh = mesh.unwrap_or(self.mesh.reference());
        let mut atoms = 0;
        for name in axes {
            let axis = AxisReference { name, part: None };
            for atom in self.mesh.split_axis(mesh, &axis) {
                atoms |= atom.bit();
            }
        }
        if atoms & self.manual != 0 {
            return self.error(
                op,
                "a manual computation has an axis that is manual already",
            );
        }
        Ok(ManualShardings {
            inputs,
            outputs,
            atoms,
        })
    }

    /// Gives a value the layout of a sharding, of which some atoms are manual.
    fn pin_boundary(
        &mut self,
        op: MlirOp,
        value: GraphValue,
        sharding: &TensorSharding,
        atoms: u64,
    ) -> PartitionResult<ManualBoundary> {
        let layout = self.find_layout(op, value, sharding)?;
        let (mut dims, mut inside) = (Vec::new(), Vec::new());
        for own in &layout.dims {
            let is_manual = |atom: &&MeshAtom| atoms & atom.bit() != 0;
            let first: Vec<MeshAtom> = own.iter().take_while(is_manual).copied().collect();
            if own[first.len()..].iter().any(|atom| is_manual(&atom)) {
                return self.error(op, "a manual axis stands after another one in a sharding");
            }
            inside.push(own[first.len()..].to_vec());
            dims.push(first);
        }
        let mut open = sharding.open.clone();
        open.resize(layout.dims.len(), false);
        self.graph.pins.push(LayoutPin {
            value,
            dims: layout.dims,
            open: open.clone(),
        });
        // Along other axes the tensor stays a whole.
        let mut sums = layout.sums;
        sums.retain(|atom| atoms & atom.bit() != 0);
        Ok(ManualBoundary {
            manual: ShardLayout { dims, sums },
            outside: value,
            inside,
            open,
        })
    }

    /// Joins a tensor outside and inside: each dimension outside has the manual parts as its outermost factor.
    fn join_boundary(
        &mut self,
        op: MlirOp,
        boundary: &ManualBoundary,
        inside: GraphValue,
    ) -> PartitionResult<()> {
        let shapes = [boundary.outside, inside].map(|value| self.graph.value(value).shape.clone());
        let mut rule = ShardingRule::new_whole(&shapes);
        rule.is_cheap = true;
        rule.stage = PropagationStage::Mapping;
        if shapes[0].len() != shapes[1].len() {
            return self.error(op, "a manual computation has tensors of another rank");
        }
        for (at, atoms) in boundary.manual.dims.iter().enumerate() {
            let factor = rule.add_factor(self.mesh.count(atoms));
            rule.set_factor(0, at, factor);
            rule.join_dimensions(shapes[1][at], &[(0, at), (1, at)]);
        }
        if !rule.fits(&shapes) {
            return self.error(op, "the parts of a manual computation have other sizes");
        }
        let tensors = vec![boundary.outside, inside];
        let is_divisible = tensors
            .iter()
            .all(|value| self.graph.value(*value).is_divisible);
        if is_divisible {
            let rule = self.graph.add_rule(rule);
            self.graph.edges.push(PropagationEdge { rule, tensors });
        }
        Ok(())
    }
}
