//! Values of the graph, and their given layouts.

use super::builder::GraphBuilder;
use crate::PartitionResult;
use crate::graph::{GraphValue, GraphValueData, LayoutPin};
use crate::layout::ShardLayout;
use crate::mesh::MeshAtom;
use spirula_stablehlo::mlir::{MlirOp, MlirType, MlirTypeKind, QuantizationGranularity};
use spirula_stablehlo::sharding::{AxisReference, TensorSharding};

impl GraphBuilder<'_> {
    /// Bytes of an element, and whether devices may have parts of a tensor of a type.
    pub(super) fn describe_element(&self, ty: MlirType) -> (u64, bool) {
        let types = &self.module.types;
        let element = types.element_type(ty);
        match types.kind(element) {
            MlirTypeKind::Quantized(quantized) => {
                let bytes = types.element_bytes(quantized.storage).unwrap_or(1);
                let is_whole = matches!(quantized.axis, QuantizationGranularity::Tensor);
                (bytes as u64, is_whole)
            }
            _ => match types.element_bytes(element) {
                Some(bytes) => (bytes as u64, true),
                None => (0, false),
            },
        }
    }

    /// Whether the elements of a value stand for real numbers by a scale.
    pub(super) fn is_quantized(&self, value: GraphValue) -> bool {
        let types = &self.module.types;
        let element = types.element_type(self.graph.value(value).ty);
        matches!(types.kind(element), MlirTypeKind::Quantized(_))
    }

    pub(super) fn add_value(&mut self, op: MlirOp, ty: MlirType) -> PartitionResult<GraphValue> {
        let (element_bytes, has_parts) = self.describe_element(ty);
        let kind = self.module.types.kind(ty);
        let (shape, is_divisible) = match kind {
            MlirTypeKind::Tensor {
                shape, encoding, ..
            } => {
                let sizes: Option<Vec<u64>> = shape.iter().copied().collect();
                let Some(sizes) = sizes else {
                    let message = "a tensor of unknown size cannot be partitioned";
                    return self.error(op, message);
                };
                // Positions are computed as numbers of 32 bits.
                let is_small = sizes.iter().all(|size| i32::try_from(*size).is_ok());
                let has_parts = has_parts && is_small && encoding.is_none();
                (sizes, has_parts)
            }
            MlirTypeKind::UnrankedTensor(_) => {
                return self.error(op, "a tensor of unknown rank cannot be partitioned");
            }
            _ => (Vec::new(), false),
        };
        self.graph.values.push(GraphValueData {
            ty,
            shape,
            element_bytes,
            is_divisible,
            manual: self.manual,
        });
        Ok(GraphValue::new(self.graph.values.len() - 1))
    }

    /// Gives a value the layout of a sharding. Returns the atoms along which it is a sum.
    pub(super) fn pin_value(
        &mut self,
        op: MlirOp,
        value: GraphValue,
        sharding: Option<&TensorSharding>,
    ) -> PartitionResult<Vec<MeshAtom>> {
        let Some(sharding) = sharding else {
            return Ok(Vec::new());
        };
        let layout = self.find_layout(op, value, sharding)?;
        let rank = layout.dims.len();
        let mut open = sharding.open.clone();
        open.resize(rank, false);
        self.graph.pins.push(LayoutPin {
            value,
            dims: layout.dims,
            open,
        });
        Ok(layout.sums)
    }

    /// A sharding without the axes whose devices would have unequal parts of a tensor. It stays whole along them.
    pub(super) fn drop_uneven_axes(
        &self,
        value: GraphValue,
        mut sharding: TensorSharding,
    ) -> TensorSharding {
        let mesh = sharding.mesh.clone();
        let count_devices = |axes: &[AxisReference]| {
            let atoms = axes
                .iter()
                .flat_map(|axis| self.mesh.split_axis(&mesh, axis));
            let atoms = atoms.filter(|atom| self.manual & atom.bit() == 0);
            self.mesh.count(&atoms.collect::<Vec<_>>())
        };
        let sizes = &self.graph.value(value).shape;
        for (axes, size) in sharding.dimensions.iter_mut().zip(sizes) {
            while !axes.is_empty() && !size.is_multiple_of(count_devices(axes)) {
                axes.pop();
            }
        }
        sharding
    }

    /// Notes the atoms along which an argument or result of the program is a sum.
    pub(super) fn note_sum(&mut self, value: GraphValue, atoms: Vec<MeshAtom>) {
        if !atoms.is_empty() {
            self.graph.sums.insert(value, atoms);
        }
    }

    pub(super) fn pin_replicated(&mut self, value: GraphValue) {
        let rank = self.graph.value(value).shape.len();
        self.graph.pins.push(LayoutPin {
            value,
            dims: vec![Vec::new(); rank],
            open: vec![false; rank],
        });
    }

    /// The layout of a sharding for a value, once it is clear that it fits.
    pub(super) fn find_layout(
        &self,
        op: MlirOp,
        value: GraphValue,
        sharding: &TensorSharding,
    ) -> PartitionResult<ShardLayout> {
        let data = self.graph.value(value);
        if sharding.mesh.axes.is_empty() {
            return Ok(ShardLayout::new_replicated(data.shape.len()));
        }
        let mut dims = self.mesh.split_dimensions(sharding);
        // Axes of manual computations around have split the tensor already.
        for own in &mut dims {
            own.retain(|atom| self.manual & atom.bit() == 0);
        }
        if dims.len() != data.shape.len() {
            let message = format!(
                "a sharding of {} dimensions is for a tensor of {}",
                dims.len(),
                data.shape.len()
            );
            return self.error(op, message);
        }
        let sums = sharding.unreduced.iter();
        let sums = sums.flat_map(|axis| self.mesh.split_axis(&sharding.mesh, axis));
        let sums = sums.filter(|atom| self.manual & atom.bit() == 0).collect();
        let layout = ShardLayout { dims, sums };
        let atoms = layout.sums.len() + layout.dims.iter().map(Vec::len).sum::<usize>();
        let used = layout.sums.iter().map(|atom| atom.bit());
        let used = used.fold(layout.used_atoms(), |all, bit| all | bit);
        if used.count_ones() as usize != atoms {
            return self.error(op, "a sharding splits a tensor by one axis twice");
        }
        if !data.is_divisible && !layout.is_replicated() {
            return self.error(op, "a sharding splits a value that has no parts");
        }
        let pairs = data.shape.iter().zip(&layout.dims);
        for (at, (size, atoms)) in pairs.enumerate() {
            let count = self.mesh.count(atoms);
            if !size.is_multiple_of(count) {
                let message = format!("{count} devices do not divide dimension {at} of {size}");
                return self.error(op, message);
            }
        }
        Ok(layout)
    }
}
