//! Groups of devices that take part in a collective: listed, or the devices along axes of a mesh.

use super::mesh::{AxisReference, DeviceMesh, MeshAxis};
use super::text::find_mesh;
use crate::mlir::{AttributeKind, MlirAttr, MlirModule};
use std::collections::BTreeMap;

/// The devices of each group. `attr` lists them as a matrix, in which -1 is no device, or names axes of a mesh. `None` for
/// other attributes.
pub fn read_replica_groups(module: &MlirModule, attr: MlirAttr) -> Option<Vec<Vec<u64>>> {
    if let Some(mesh) = module.find_field(attr, "mesh") {
        let axes = read_axes(module, module.find_field(attr, "axes")?)?;
        return group_devices(&read_mesh(module, mesh)?, &axes);
    }
    let elements = module.as_elements(attr)?;
    let shape = module.types.static_shape(elements.ty)?;
    let &[_, width] = shape.as_slice() else {
        return None;
    };
    let width = usize::try_from(width).ok()?.max(1);
    let ids = module.as_integers(attr)?;
    let groups = ids.chunks(width).map(|group| {
        let devices = group.iter().filter_map(|id| u64::try_from(*id).ok());
        devices.collect()
    });
    Some(groups.collect())
}

/// A mesh that stands in the attribute, or one of the module by its name.
fn read_mesh(module: &MlirModule, attr: MlirAttr) -> Option<DeviceMesh> {
    match module.attributes.kind(attr) {
        AttributeKind::SymbolRef(path) => find_mesh(module, module.symbol_text(*path.last()?)),
        AttributeKind::String(name) => find_mesh(module, module.symbol_text(*name)),
        _ => {
            let AttributeKind::Array(axes) =
                module.attributes.kind(module.find_field(attr, "axes")?)
            else {
                return None;
            };
            let axes = axes.iter().map(|axis| {
                let size = module.as_integer(module.find_field(*axis, "size")?)?;
                Some(MeshAxis {
                    name: read_name(module, *axis)?,
                    size: u64::try_from(size).ok()?,
                })
            });
            let ids = module.find_field(attr, "device_ids");
            let ids = match ids {
                Some(ids) => {
                    let ids = module.as_integers(ids)?.into_iter();
                    Some(
                        ids.map(|id| u64::try_from(id).ok())
                            .collect::<Option<_>>()?,
                    )
                }
                None => None,
            };
            DeviceMesh::new(axes.collect::<Option<_>>()?, ids)
        }
    }
}

/// The axes of a list of references.
fn read_axes(module: &MlirModule, attr: MlirAttr) -> Option<Vec<AxisReference>> {
    let AttributeKind::Array(axes) = module.attributes.kind(attr) else {
        return None;
    };
    let axes = axes.iter().map(|axis| {
        let part = module.find_field(*axis, "sub_axis_info");
        let part = part.map(|part| {
            let number = |name: &str| {
                let number = module.as_integer(module.find_field(part, name)?)?;
                u64::try_from(number).ok().filter(|number| *number > 0)
            };
            Some((number("pre_size")?, number("size")?))
        });
        Some(AxisReference {
            name: read_name(module, *axis)?,
            part: match part {
                Some(part) => Some(part?),
                None => None,
            },
        })
    });
    axes.collect()
}

fn read_name(module: &MlirModule, attr: MlirAttr) -> Option<String> {
    match module.attributes.kind(module.find_field(attr, "name")?) {
        AttributeKind::String(name) => Some(module.symbol_text(*name).to_owned()),
        _ => None,
    }
}

/// Groups devices that differ only along some axes. The last axis changes fastest in a group.
pub(crate) fn group_devices(mesh: &DeviceMesh, axes: &[AxisReference]) -> Option<Vec<Vec<u64>>> {
    let mut groups: BTreeMap<Vec<u64>, BTreeMap<u64, u64>> = BTreeMap::new();
    for index in 0..mesh.device_count() {
        let coordinates = mesh.coordinates_at(index);
        let mut others = coordinates.clone();
        let mut position = 0;
        for axis in axes {
            let (size, coordinate) = mesh.locate_along(axis, &coordinates)?;
            position = position * size + coordinate;
            let at = mesh.find_axis(&axis.name)?;
            let step = match axis.part {
                Some((before, size)) => mesh.axes[at].size / before.checked_mul(size)?,
                None => 1,
            };
            others[at] = others[at].checked_sub(coordinate * step)?;
        }
        let device = mesh.device_at(&coordinates);
        groups.entry(others).or_default().insert(position, device);
    }
    let groups = groups.into_values();
    Some(groups.map(|group| group.into_values().collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_mesh(device_ids: Option<Vec<u64>>) -> DeviceMesh {
        let axes = [("x", 2), ("y", 4)].map(|(name, size)| MeshAxis {
            name: name.to_owned(),
            size,
        });
        DeviceMesh::new(axes.to_vec(), device_ids).unwrap()
    }

    fn make_axis(name: &str, part: Option<(u64, u64)>) -> AxisReference {
        AxisReference {
            name: name.to_owned(),
            part,
        }
    }

    #[test]
    fn devices_along_axes_are_groups() {
        let mesh = make_mesh(None);
        let group = |axes: &[AxisReference]| group_devices(&mesh, axes).unwrap();
        let rows = [vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
        assert_eq!(group(&[make_axis("y", None)]), rows);
        let columns = [[0, 4], [1, 5], [2, 6], [3, 7]];
        assert_eq!(group(&[make_axis("x", None)]), columns);
        let turned = [[0, 4, 1, 5, 2, 6, 3, 7]];
        assert_eq!(group(&[make_axis("y", None), make_axis("x", None)]), turned);
        let outer = [[0, 2], [1, 3], [4, 6], [5, 7]];
        assert_eq!(group(&[make_axis("y", Some((1, 2)))]), outer);
        let inner = [[0, 1], [2, 3], [4, 5], [6, 7]];
        assert_eq!(group(&[make_axis("y", Some((2, 2)))]), inner);
        assert_eq!(group(&[]).len(), 8);
        assert_eq!(group_devices(&mesh, &[make_axis("z", None)]), None);
    }

    #[test]
    fn groups_have_the_numbers_of_the_mesh() {
        let mesh = make_mesh(Some(vec![7, 6, 5, 4, 3, 2, 1, 0]));
        let columns = [[7, 3], [6, 2], [5, 1], [4, 0]];
        assert_eq!(
            group_devices(&mesh, &[make_axis("x", None)]).unwrap(),
            columns
        );
    }
}
