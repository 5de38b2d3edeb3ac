//! Halo exchange: the elements that windows need of neighbours' parts.

use super::emitter::LocalEmitter;
use crate::PartitionResult;
use crate::mesh::MeshAtom;
use crate::plan::OperationPlan;
use crate::rule::{ShardingRule, WindowHalo};
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
            self.set_padding(halo, properties);
        }
        Ok(())
    }

    fn extend_part(
        &mut self,
        local: MlirValue,
        halo: &WindowHalo,
        atoms: &[MeshAtom],
        fill: Option<MlirValue>,
    ) -> PartitionResult<MlirValue> {
        let size = self.sizes_of(local)[halo.dimension];
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let mut pieces = Vec::new();
        for is_before in [true, false] {
            let wanted = if is_before { halo.before } else { halo.after };
            if !is_before {
                let (first, unused) = (count(-halo.before), count(-halo.after));
                pieces.push(self.slice_dimension(local, halo.dimension, first, size - unused)?);
            }
            if wanted > 0 {
                let piece = HaloPiece {
                    dimension: halo.dimension,
                    atoms,
                    is_before,
                    count: count(wanted),
                    fill,
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
        let size = self.sizes_of(local)[piece.dimension];
        let (start, limit) = if piece.is_before {
            (size - piece.count, size)
        } else {
            (0, piece.count)
        };
        let sent = self.slice_dimension(local, piece.dimension, start, limit)?;
        let ty = self.type_of(sent);
        let elements: u64 = self.sizes_of(sent).iter().product();
        let types = &self.builder.module().types;
        let width = types.element_bytes(types.element_type(ty)).unwrap_or(0);
        let bytes = elements as f64 * width as f64;
        self.report.count_collective("collective_permute", bytes);
        let pairs = self.neighbour_pairs(piece.atoms, piece.is_before);
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
