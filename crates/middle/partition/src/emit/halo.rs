//! Halo exchange: the elements that windows need of neighbours' parts.

use super::emitter::LocalEmitter;
use crate::PartitionResult;
use crate::graph::GraphNode;
use crate::mesh::MeshAtom;
use crate::plan::OperationPlan;
use crate::rule::{ShardingRule, WindowHalo, WindowProperty};
use spirula_stablehlo::mlir::{MlirValue, NamedAttribute};

/// The elements that neighbours give to each other.
#[derive(Clone, Copy)]
struct HaloPiece<'a> {
    dimension: usize,
    atoms: &'a [MeshAtom],
    /// Whether they come from the part before.
    is_before: bool,
    count: u64,
    /// The element of the padding, where it is not zero.
    fill: Option<MlirValue>,
    /// Whether the first part is the neighbour of the last.
    is_cyclic: bool,
}

impl LocalEmitter<'_> {
    /// Extends the operands that have windows along shared dimensions, and changes the padding.
    pub(super) fn extend_windows(
        &mut self,
        rule: &ShardingRule,
        plan: &OperationPlan,
        operands: &mut [MlirValue],
        properties: &mut Vec<NamedAttribute>,
    ) -> PartitionResult<()> {
        for halo in &rule.halos {
            let atoms = plan.assignment.get(halo.factor);
            let Some(atoms) = atoms.filter(|atoms| !atoms.is_empty()) else {
                continue;
            };
            for input in 0..halo.inputs {
                let fill = halo.has_fill.then(|| operands[halo.inputs + input]);
                operands[input] = self.extend_part(operands[input], halo, atoms, fill)?;
            }
            self.set_window(halo, operands[0], properties);
        }
        Ok(())
    }

    /// A rotation: neighbours exchange elements where devices have parts of the dimension.
    pub(super) fn emit_rotation(
        &mut self,
        node: &GraphNode,
        dimension: usize,
        by: u64,
    ) -> PartitionResult<()> {
        let (source, result) = (node.operands[0], node.results[0]);
        let graph = self.graph;
        let rule = node.rule.map(|rule| graph.rule(rule));
        let plan = rule.map(|rule| self.plan_operation(node, rule));
        let layout = match (rule, &plan) {
            (Some(rule), Some(plan)) => plan.layout(rule, 0, self.mesh),
            _ => self.whole_layout(source),
        };
        let local = self.require_layout(node.op, source, &layout)?;
        let atoms = layout.dims[dimension].clone();
        let rotated = match rule.and_then(|rule| rule.find_halo(dimension)) {
            Some(halo) if !atoms.is_empty() => self.extend_part(local, halo, &atoms, None)?,
            _ => {
                let size = self.builder.sizes_of(local)[dimension];
                let first = self.slice_dimension(local, dimension, by, size)?;
                let last = self.slice_dimension(local, dimension, 0, by)?;
                self.concatenate_values(&[first, last], dimension)?
            }
        };
        self.add_layout(result, layout, rotated);
        Ok(())
    }

    fn extend_part(
        &mut self,
        local: MlirValue,
        halo: &WindowHalo,
        atoms: &[MeshAtom],
        fill: Option<MlirValue>,
    ) -> PartitionResult<MlirValue> {
        let size = self.builder.sizes_of(local)[halo.dimension];
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let mut pieces = Vec::new();
        for is_before in [true, false] {
            let wanted = if is_before { halo.before } else { halo.after };
            if !is_before {
                let (first, unused) = (count(-halo.before), count(-halo.after));
                if first + unused < size {
                    let limit = size - unused;
                    pieces.push(self.slice_dimension(local, halo.dimension, first, limit)?);
                }
            }
            if wanted > 0 {
                let piece = HaloPiece {
                    dimension: halo.dimension,
                    atoms,
                    is_before,
                    count: count(wanted),
                    fill,
                    is_cyclic: halo.property == WindowProperty::Cyclic,
                };
                pieces.push(self.receive_piece(local, piece)?);
            }
        }
        self.concatenate_values(&pieces, halo.dimension)
    }

    /// The elements that a neighbour gives. The outermost devices have padding in their place.
    fn receive_piece(
        &mut self,
        local: MlirValue,
        piece: HaloPiece<'_>,
    ) -> PartitionResult<MlirValue> {
        let size = self.builder.sizes_of(local)[piece.dimension];
        let (start, limit) = if piece.is_before {
            (size - piece.count, size)
        } else {
            (0, piece.count)
        };
        let sent = self.slice_dimension(local, piece.dimension, start, limit)?;
        let ty = self.type_of(sent);
        let elements: u64 = self.builder.sizes_of(sent).iter().product();
        let types = &self.builder.module().types;
        let width = types.element_bytes(types.element_type(ty)).unwrap_or(0);
        let bytes = elements as f64 * width as f64;
        self.report.count_collective("collective_permute", bytes);
        let pairs = self.neighbour_pairs(piece.atoms, piece.is_before, piece.is_cyclic);
        let handle = self.channel_handle();
        let properties = [("source_target_pairs", pairs), ("channel_handle", handle)];
        let received = self.append_one("stablehlo.collective_permute", &[sent], ty, &properties)?;
        let Some(fill) = piece.fill else {
            return Ok(received);
        };
        let last = if piece.is_before {
            0
        } else {
            self.mesh.count(piece.atoms) - 1
        };
        let coordinate = self.device_coordinate(piece.atoms)?;
        let last = self.constant_index(last)?;
        let is_outermost = self.compare_values("EQ", coordinate, last)?;
        let fill = self.broadcast_value(fill, &[], ty)?;
        self.select_values(is_outermost, fill, received)
    }

    /// Sets the row of the properties that say where windows of an extended operand begin.
    fn set_window(
        &mut self,
        halo: &WindowHalo,
        extended: MlirValue,
        properties: &mut Vec<NamedAttribute>,
    ) {
        let [low, high] = halo.padding;
        match halo.property {
            WindowProperty::Cyclic => {}
            WindowProperty::Padding => self.set_padding(halo, properties),
            WindowProperty::Edges => {
                self.set_integer(halo.row, "edge_padding_low", low, properties);
                self.set_integer(halo.row, "edge_padding_high", high, properties);
            }
            WindowProperty::Bounds => {
                let size = self.builder.sizes_of(extended)[halo.dimension].cast_signed();
                self.set_integer(halo.row, "start_indices", 0, properties);
                self.set_integer(halo.row, "limit_indices", size, properties);
            }
        }
    }

    /// Sets one of the integers of a property.
    fn set_integer(
        &mut self,
        row: usize,
        name: &str,
        number: i64,
        properties: &mut [NamedAttribute],
    ) {
        let name = self.builder.module_mut().intern_text(name);
        let known = properties.iter_mut().find(|(key, _)| *key == name);
        let Some((_, attr)) = known else { return };
        let Some(mut list) = self.builder.module().as_integers(*attr) else {
            return;
        };
        if let Some(own) = list.get_mut(row) {
            *own = number;
        }
        *attr = self.builder.module_mut().integers_attribute(&list);
    }

    /// Sets a row of the property `padding`.
    fn set_padding(&mut self, halo: &WindowHalo, properties: &mut Vec<NamedAttribute>) {
        let name = self.builder.module_mut().intern_text("padding");
        let at = properties.iter().position(|(key, _)| *key == name);
        if at.is_none() && halo.padding == [0, 0] {
            return;
        }
        let module = self.builder.module();
        let known = at.and_then(|at| module.as_integers(properties[at].1));
        let mut list = known.unwrap_or_else(|| vec![0; 2 * halo.rows]);
        if let Some(row) = list.get_mut(2 * halo.row..2 * halo.row + 2) {
            row.copy_from_slice(&halo.padding);
        }
        let attr = self.integer_matrix(halo.rows as u64, 2, &list);
        match at {
            Some(at) => properties[at].1 = attr,
            None => properties.push((name, attr)),
        }
    }
}
