//! Indices that select along a dimension of which devices have parts.
//!
//! Each device makes of an index the position in its own part. A gather or slice looks up what the device has and masks the
//! rest, so that the sum over devices is the result. A scatter leaves out windows that are not in the device's part, since they
//! are out of bounds there. An update writes back the old element where the device has not the one that changes.

use super::emitter::LocalEmitter;
use crate::PartitionResult;
use crate::graph::GraphNode;
use crate::plan::OperationPlan;
use crate::rule::{NeutralElement, SelectedFactor, ShardingRule};
use spirula_stablehlo::MlirOpcode as Op;
use spirula_stablehlo::mlir::{
    DenseElements, IntegerSignedness, MlirType, MlirTypeKind, MlirValue, NamedAttribute,
};

/// The part of a dimension that a device has.
#[derive(Clone, Copy, Debug)]
struct OwnPart {
    /// The component of indices that selects along the dimension.
    component: usize,
    /// Position of its first element, a number of 32 bits.
    start: MlirValue,
    /// Number of its elements.
    size: u64,
}

/// Indices with their components along a dimension.
#[derive(Clone, Copy, Debug)]
struct IndexTensor {
    indices: MlirValue,
    /// The dimension of the components, which may be behind the last one.
    vector: usize,
}

impl LocalEmitter<'_> {
    /// Makes indices those of the device's parts. Returns where the device has the element that an index selects, for
    /// operations whose other results are masked.
    pub(super) fn select_parts(
        &mut self,
        node: &GraphNode,
        rule: &ShardingRule,
        plan: &OperationPlan,
        operands: &mut [MlirValue],
        properties: &mut Vec<NamedAttribute>,
    ) -> PartitionResult<Option<MlirValue>> {
        let mut parts = Vec::new();
        for selected in &rule.selected {
            let atoms = plan.assignment.get(selected.factor);
            let Some(atoms) = atoms.filter(|atoms| !atoms.is_empty()) else {
                continue;
            };
            let size = self.builder.sizes_of(operands[0])[selected.dimension];
            let coordinate = self.device_coordinate(atoms)?;
            let start = self.index_operation("stablehlo.multiply", coordinate, size)?;
            let part = OwnPart {
                component: selected.component,
                start,
                size,
            };
            parts.push((*selected, part));
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let source = self.source;
        properties.retain(|(name, _)| source.symbol_text(*name) != "indices_are_sorted");
        match source.opcode(node.op) {
            Some(Op::Gather) => self.select_gathered(node, &parts, operands),
            Some(Op::Scatter) => {
                self.shift_scattered(node, &parts, operands)?;
                Ok(None)
            }
            Some(Op::DynamicSlice) => self.select_slices(node, &parts, operands),
            Some(Op::DynamicUpdateSlice) => {
                if let Some(own) = self.select_slices(node, &parts, operands)? {
                    self.keep_old_elements(own, operands)?;
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// The dimension of the components of indices.
    fn find_vector(&self, node: &GraphNode, name: &str) -> usize {
        let numbers = self.source.find_attribute(node.op, name);
        let vector = numbers.map(|numbers| self.source.field_integer(numbers, "index_vector_dim"));
        vector
            .and_then(|vector| usize::try_from(vector).ok())
            .unwrap_or(0)
    }

    /// The greatest value of an integer type, as far as indices can be.
    fn greatest_index(&self, ty: MlirType) -> u64 {
        let types = &self.builder.module().types;
        match types.kind(types.element_type(ty)) {
            MlirTypeKind::Integer { width, sign } => {
                let is_unsigned = *sign == IntegerSignedness::Unsigned;
                let bits = if is_unsigned { *width } else { *width - 1 };
                u64::MAX >> (64 - bits.clamp(1, 31))
            }
            _ => i32::MAX as u64,
        }
    }

    /// Whole numbers as elements of a tensor without dimensions, of the type of another's elements.
    fn number_like(&mut self, like: MlirValue, number: u64) -> PartitionResult<MlirValue> {
        let ty = self.builder.resized_type(like, &[]);
        let types = &self.builder.module().types;
        let width = types.element_bytes(types.element_type(ty)).unwrap_or(4);
        let bytes = number.to_le_bytes();
        let bytes = &bytes[..width.min(8)];
        self.emit_constant(DenseElements::from_splat(ty, bytes))
    }

    /// Values without dimensions as the components of indices of this shape.
    fn spread_components(
        &mut self,
        components: &[MlirValue],
        like: IndexTensor,
    ) -> PartitionResult<MlirValue> {
        let sizes = self.builder.sizes_of(like.indices);
        let ty = self.builder.resized_type(components[0], &sizes);
        if like.vector >= sizes.len() {
            return self.broadcast_value(components[0], &[], ty);
        }
        let mut rows = Vec::new();
        for component in components {
            rows.push(self.reshape_value(*component, &[1])?);
        }
        let row = self.concatenate_values(&rows, 0)?;
        self.broadcast_value(row, &[like.vector as i64], ty)
    }

    /// Indices as signed numbers of at least 32 bits.
    fn widen_indices(&mut self, indices: MlirValue, width: u32) -> PartitionResult<MlirValue> {
        let sizes = self.builder.sizes_of(indices);
        let types = &mut self.builder.module_mut().types;
        let element = types.integer_type(width);
        let ty = types.tensor_type(&sizes, element);
        if self.type_of(indices) == ty {
            return Ok(indices);
        }
        self.append_one("stablehlo.convert", &[indices], ty, &[])
    }

    /// Indices less than their bounds, as numbers of 32 bits, less the beginnings of parts. Components without a part begin at
    /// zero.
    fn clamp_indices(
        &mut self,
        tensor: IndexTensor,
        greatest: &[u64],
        parts: &[(SelectedFactor, OwnPart)],
    ) -> PartitionResult<MlirValue> {
        let most = self.greatest_index(self.type_of(tensor.indices));
        let mut limits = Vec::new();
        for limit in greatest {
            limits.push(self.number_like(tensor.indices, (*limit).min(most))?);
        }
        let limits = self.spread_components(&limits, tensor)?;
        let zero = self.number_like(tensor.indices, 0)?;
        let ty = self.type_of(tensor.indices);
        let operands = [zero, tensor.indices, limits];
        let clamped = self.append_one("stablehlo.clamp", &operands, ty, &[])?;
        let clamped = self.widen_indices(clamped, 32)?;
        let tensor = IndexTensor {
            indices: clamped,
            ..tensor
        };
        self.subtract_starts(tensor, greatest.len(), parts)
    }

    fn subtract_starts(
        &mut self,
        tensor: IndexTensor,
        components: usize,
        parts: &[(SelectedFactor, OwnPart)],
    ) -> PartitionResult<MlirValue> {
        let zero = self.number_like(tensor.indices, 0)?;
        let mut starts = vec![zero; components];
        let scalar = self.type_of(zero);
        for (_, part) in parts {
            let start = if self.type_of(part.start) == scalar {
                part.start
            } else {
                self.append_one("stablehlo.convert", &[part.start], scalar, &[])?
            };
            if let Some(own) = starts.get_mut(part.component) {
                *own = start;
            }
        }
        let starts = self.spread_components(&starts, tensor)?;
        let ty = self.type_of(tensor.indices);
        self.append_one("stablehlo.subtract", &[tensor.indices, starts], ty, &[])
    }

    /// Where a component of indices is inside of a part.
    fn find_inside(&mut self, tensor: IndexTensor, part: OwnPart) -> PartitionResult<MlirValue> {
        let mut sizes = self.builder.sizes_of(tensor.indices);
        let mut own = tensor.indices;
        if tensor.vector < sizes.len() {
            let at = part.component as u64;
            own = self.slice_dimension(own, tensor.vector, at, at + 1)?;
            sizes.remove(tensor.vector);
            own = self.reshape_value(own, &sizes)?;
        }
        let ty = self.type_of(own);
        let mut bounds = Vec::new();
        for number in [0, part.size] {
            let number = self.number_like(own, number)?;
            bounds.push(self.broadcast_value(number, &[], ty)?);
        }
        let above = self.compare_values("GE", own, bounds[0])?;
        let below = self.compare_values("LT", own, bounds[1])?;
        let ty = self.type_of(above);
        self.append_one("stablehlo.and", &[above, below], ty, &[])
    }

    /// Where all components of indices are inside of parts.
    fn find_all_inside(
        &mut self,
        tensors: &[(IndexTensor, OwnPart)],
    ) -> PartitionResult<Option<MlirValue>> {
        let mut all: Option<MlirValue> = None;
        for (tensor, part) in tensors {
            let inside = self.find_inside(*tensor, *part)?;
            all = Some(match all {
                Some(before) => {
                    let ty = self.type_of(before);
                    self.append_one("stablehlo.and", &[before, inside], ty, &[])?
                }
                None => inside,
            });
        }
        Ok(all)
    }

    fn select_gathered(
        &mut self,
        node: &GraphNode,
        parts: &[(SelectedFactor, OwnPart)],
        operands: &mut [MlirValue],
    ) -> PartitionResult<Option<MlirValue>> {
        let source = self.source;
        let numbers = source.find_attribute(node.op, "dimension_numbers");
        let map = numbers.map(|numbers| source.field_integers(numbers, "start_index_map"));
        let sizes = source
            .find_integers(node.op, "slice_sizes")
            .unwrap_or_default();
        let shape = &self.graph.value(node.operands[0]).shape;
        let greatest = map.unwrap_or_default().into_iter().map(|dimension| {
            let at = usize::try_from(dimension).unwrap_or(usize::MAX);
            let size = sizes.get(at).copied().unwrap_or(0);
            let whole = shape.get(at).copied().unwrap_or(0);
            whole.saturating_sub(u64::try_from(size).unwrap_or(0))
        });
        let greatest: Vec<u64> = greatest.collect();
        let tensor = IndexTensor {
            indices: operands[1],
            vector: self.find_vector(node, "dimension_numbers"),
        };
        let indices = self.clamp_indices(tensor, &greatest, parts)?;
        operands[1] = indices;
        let tensor = IndexTensor { indices, ..tensor };
        let tensors: Vec<(IndexTensor, OwnPart)> =
            parts.iter().map(|(_, part)| (tensor, *part)).collect();
        self.find_all_inside(&tensors)
    }

    fn shift_scattered(
        &mut self,
        node: &GraphNode,
        parts: &[(SelectedFactor, OwnPart)],
        operands: &mut [MlirValue],
    ) -> PartitionResult<()> {
        let at = parts[0].0.indices;
        let vector = self.find_vector(node, "scatter_dimension_numbers");
        let module = self.builder.module();
        let element = module.types.element_type(module.type_of(operands[at]));
        let width = match module.types.kind(element) {
            MlirTypeKind::Integer { width: 32, sign } if *sign != IntegerSignedness::Unsigned => 32,
            _ => 64,
        };
        let indices = self.widen_indices(operands[at], width)?;
        let components = self
            .builder
            .sizes_of(indices)
            .get(vector)
            .copied()
            .unwrap_or(1);
        let tensor = IndexTensor { indices, vector };
        operands[at] = self.subtract_starts(tensor, components as usize, parts)?;
        Ok(())
    }

    /// Indices of slices are tensors without dimensions.
    fn select_slices(
        &mut self,
        node: &GraphNode,
        parts: &[(SelectedFactor, OwnPart)],
        operands: &mut [MlirValue],
    ) -> PartitionResult<Option<MlirValue>> {
        // All indices have one type.
        let first = parts[0].0.indices - parts[0].0.dimension;
        let mut tensors = Vec::new();
        for (selected, part) in parts {
            let whole = self.graph.value(node.operands[0]).shape[selected.dimension];
            let tensor = IndexTensor {
                indices: operands[selected.indices],
                vector: 0,
            };
            let own = [(*selected, *part)];
            let indices = self.clamp_indices(tensor, &[whole - 1], &own)?;
            operands[selected.indices] = indices;
            tensors.push((IndexTensor { indices, vector: 0 }, *part));
        }
        for operand in &mut operands[first..] {
            *operand = self.narrow_index(*operand)?;
        }
        self.find_all_inside(&tensors)
    }

    /// An index that is a whole dimension's start as a number of 32 bits.
    fn narrow_index(&mut self, index: MlirValue) -> PartitionResult<MlirValue> {
        let wanted = self.index_type();
        if self.type_of(index) == wanted {
            return Ok(index);
        }
        let most = self.greatest_index(self.type_of(index));
        let (zero, most) = (self.number_like(index, 0)?, self.number_like(index, most)?);
        let ty = self.type_of(index);
        let clamped = self.append_one("stablehlo.clamp", &[zero, index, most], ty, &[])?;
        self.append_one("stablehlo.convert", &[clamped], wanted, &[])
    }

    /// Replaces an update by the old elements where the device has not the ones that change.
    fn keep_old_elements(
        &mut self,
        own: MlirValue,
        operands: &mut [MlirValue],
    ) -> PartitionResult<()> {
        let sizes = self.builder.sizes_of(operands[1]);
        let sizes: Vec<i64> = sizes.iter().map(|size| size.cast_signed()).collect();
        let sizes = self.builder.module_mut().integers_attribute(&sizes);
        let mut sliced = operands.to_vec();
        sliced.remove(1);
        let ty = self.type_of(operands[1]);
        let properties = [("slice_sizes", sizes)];
        let old = self.append_one("stablehlo.dynamic_slice", &sliced, ty, &properties)?;
        operands[1] = self.select_values(own, operands[1], old)?;
        Ok(())
    }

    /// A result whose elements are neutral where the device has not what they are.
    pub(super) fn mask_result(
        &mut self,
        node: &GraphNode,
        local: MlirValue,
        own: MlirValue,
    ) -> PartitionResult<MlirValue> {
        let ty = self.type_of(local);
        let others = self.neutral_constant(node, ty, NeutralElement::Zero)?;
        let mut condition = own;
        if !self.builder.sizes_of(own).is_empty() {
            let numbers = self.source.find_attribute(node.op, "dimension_numbers");
            let offsets = numbers.map(|numbers| self.source.field_integers(numbers, "offset_dims"));
            let offsets = offsets.unwrap_or_default();
            let rank = self.builder.sizes_of(local).len() as i64;
            let outer: Vec<i64> = (0..rank).filter(|at| !offsets.contains(at)).collect();
            let sizes = self.builder.sizes_of(local);
            let whole = self.builder.resized_type(own, &sizes);
            condition = self.broadcast_value(own, &outer, whole)?;
        }
        self.select_values(condition, local, others)
    }
}
