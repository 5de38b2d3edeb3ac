//! The position of the device that runs the program, and groups of devices.

use super::emitter::{LocalEmitter, ScopedEntry};
use crate::PartitionResult;
use crate::mesh::MeshAtom;
use spirula_stablehlo::mlir::{
    AttributeKind, DenseElements, DialectBody, IntegerSignedness, MlirAttr, MlirType, MlirTypeKind,
    MlirValue,
};

impl LocalEmitter<'_> {
    /// The type of indices without dimensions.
    pub(super) fn index_type(&mut self) -> MlirType {
        let types = &mut self.builder.module_mut().types;
        let element = types.integer_type(32);
        types.tensor_type(&[], element)
    }

    /// An index that is known.
    pub(super) fn constant_index(&mut self, number: u64) -> PartitionResult<MlirValue> {
        let ty = self.index_type();
        let bytes = (number as u32).to_le_bytes();
        let elements = DenseElements::from_splat(ty, &bytes);
        self.emit_constant(elements)
    }

    pub(super) fn emit_constant(&mut self, elements: DenseElements) -> PartitionResult<MlirValue> {
        let ty = elements.ty;
        let module = self.builder.module_mut();
        let value = module.attributes.intern(AttributeKind::Elements(elements));
        self.append_one("stablehlo.constant", &[], ty, &[("value", value)])
    }

    /// An operation of an index and a number.
    pub(super) fn index_operation(
        &mut self,
        name: &str,
        index: MlirValue,
        number: u64,
    ) -> PartitionResult<MlirValue> {
        let ty = self.index_type();
        let number = self.constant_index(number)?;
        self.append_one(name, &[index, number], ty, &[])
    }

    /// The position of the device in the mesh.
    fn device_position(&mut self) -> PartitionResult<MlirValue> {
        let types = &mut self.builder.module_mut().types;
        let unsigned = types.intern(MlirTypeKind::Integer {
            width: 32,
            sign: IntegerSignedness::Unsigned,
        });
        let id_type = types.tensor_type(&[], unsigned);
        let id = self.append_one("stablehlo.partition_id", &[], id_type, &[])?;
        let index = self.index_type();
        let id = self.append_one("stablehlo.convert", &[id], index, &[])?;
        let Some(ids) = self.mesh.reference().device_ids.clone() else {
            return Ok(id);
        };
        // The position of each device by its number.
        let mut positions = vec![0u32; ids.len()];
        for (position, id) in ids.iter().enumerate() {
            if let Some(own) = positions.get_mut(*id as usize) {
                *own = position as u32;
            }
        }
        let types = &mut self.builder.module_mut().types;
        let element = types.integer_type(32);
        let table = types.tensor_type(&[ids.len() as u64], element);
        let one = types.tensor_type(&[1], element);
        let bytes = positions.iter().flat_map(|position| position.to_le_bytes());
        let table = DenseElements::new(table, 4, bytes.collect());
        let table = self.emit_constant(table)?;
        let sizes = self.builder.module_mut().integers_attribute(&[1]);
        let found = self.append_one(
            "stablehlo.dynamic_slice",
            &[table, id],
            one,
            &[("slice_sizes", sizes)],
        )?;
        self.append_one("stablehlo.reshape", &[found], index, &[])
    }

    /// The number of the device's part along atoms, of which the first is the outermost.
    pub(super) fn device_coordinate(&mut self, atoms: &[MeshAtom]) -> PartitionResult<MlirValue> {
        if let Some(known) = self.coordinates.get(atoms) {
            return Ok(*known);
        }
        let coordinate = match atoms {
            [] => self.device_position()?,
            [atom] => {
                let mut own = self.device_coordinate(&[])?;
                let (stride, size) = (self.mesh.stride(*atom), self.mesh.size(*atom));
                if stride > 1 {
                    own = self.index_operation("stablehlo.divide", own, stride)?;
                }
                if stride * size < self.mesh.device_count() {
                    own = self.index_operation("stablehlo.remainder", own, size)?;
                }
                own
            }
            [outer @ .., last] => {
                let outer = self.device_coordinate(outer)?;
                let inner = self.device_coordinate(&[*last])?;
                let size = self.mesh.size(*last);
                let outer = self.index_operation("stablehlo.multiply", outer, size)?;
                let ty = self.index_type();
                self.append_one("stablehlo.add", &[outer, inner], ty, &[])?
            }
        };
        self.coordinates.insert(atoms.to_vec(), coordinate);
        self.scope.push(ScopedEntry::Coordinate(atoms.to_vec()));
        Ok(coordinate)
    }

    /// A matrix of integers.
    pub(super) fn integer_matrix(&mut self, rows: u64, columns: u64, numbers: &[i64]) -> MlirAttr {
        let module = self.builder.module_mut();
        let element = module.types.integer_type(64);
        let ty = module.types.tensor_type(&[rows, columns], element);
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        let elements = DenseElements::new(ty, 8, bytes.collect());
        module.attributes.intern(AttributeKind::Elements(elements))
    }

    /// The groups of devices that differ along some atoms only, in the order of these.
    pub(super) fn device_groups(&mut self, atoms: &[MeshAtom]) -> MlirAttr {
        if let Some(known) = self.groups.get(atoms) {
            return *known;
        }
        let mesh = self.mesh;
        let (count, devices) = (mesh.count(atoms), mesh.device_count());
        let mut offsets = vec![0];
        for atom in atoms {
            let steps = offsets.iter().flat_map(|offset| {
                (0..mesh.size(*atom)).map(move |at| offset + at * mesh.stride(*atom))
            });
            offsets = steps.collect();
        }
        let is_first = |position: &u64| {
            atoms
                .iter()
                .all(|atom| mesh.coordinate(*atom, *position) == 0)
        };
        let firsts = (0..devices).filter(is_first);
        let numbers: Vec<i64> = firsts
            .flat_map(|first| {
                let positions = offsets.iter().map(move |offset| first + offset);
                positions.map(|position| mesh.device_at(position).cast_signed())
            })
            .collect();
        let attr = self.integer_matrix(devices / count, count, &numbers);
        self.groups.insert(atoms.to_vec(), attr);
        attr
    }

    /// The pairs of devices that send to each other, by the source of each position.
    pub(super) fn device_pairs(&mut self, sources: &[u64]) -> MlirAttr {
        let pairs = sources
            .iter()
            .zip(0..)
            .map(|(source, target)| (*source, target));
        self.pair_matrix(pairs.collect())
    }

    /// Pairs of positions as pairs of device numbers.
    fn pair_matrix(&mut self, pairs: Vec<(u64, u64)>) -> MlirAttr {
        let mesh = self.mesh;
        let positions = pairs.iter().flat_map(|(source, target)| [*source, *target]);
        let numbers: Vec<i64> = positions
            .map(|position| mesh.device_at(position).cast_signed())
            .collect();
        self.integer_matrix(pairs.len() as u64, 2, &numbers)
    }

    /// The pairs of neighbours along atoms: each device sends to the next one, or to the one before.
    /// In a cycle, the first follows the last.
    pub(super) fn neighbour_pairs(
        &mut self,
        atoms: &[MeshAtom],
        to_next: bool,
        is_cyclic: bool,
    ) -> MlirAttr {
        let key = (atoms.to_vec(), to_next, is_cyclic);
        if let Some(known) = self.neighbours.get(&key) {
            return *known;
        }
        let mesh = self.mesh;
        let mut pairs = Vec::new();
        for position in 0..mesh.device_count() {
            // Adds one to the digits of the position, from the innermost atom on.
            let mut next = position;
            let mut has_next = is_cyclic;
            for atom in atoms.iter().rev() {
                let digit = mesh.coordinate(*atom, position);
                if digit + 1 < mesh.size(*atom) {
                    next += mesh.stride(*atom);
                    has_next = true;
                    break;
                }
                next -= digit * mesh.stride(*atom);
            }
            if has_next && to_next {
                pairs.push((position, next));
            } else if has_next {
                pairs.push((next, position));
            }
        }
        let attr = self.pair_matrix(pairs);
        self.neighbours.insert(key, attr);
        attr
    }

    /// The channel of collectives between partitions.
    pub(super) fn channel_handle(&mut self) -> MlirAttr {
        let module = self.builder.module_mut();
        let one = module.integer_attribute(1, 64);
        let fields = ["handle", "type"].map(|name| (module.intern_text(name), one));
        let name = module.intern_text("stablehlo.channel_handle");
        module.attributes.intern(AttributeKind::Dialect {
            name,
            body: DialectBody::Fields(Box::new(fields)),
        })
    }
}
