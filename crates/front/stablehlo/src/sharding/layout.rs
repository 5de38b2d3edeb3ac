//! Layouts of tensors over a mesh: the part of a tensor that each device has.

use super::mesh::{AxisReference, DeviceMesh};

/// The layout of a tensor over the devices of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorSharding {
    /// The devices.
    pub mesh: DeviceMesh,
    /// The axes that split each dimension, the outermost first.
    pub dimensions: Vec<Vec<AxisReference>>,
    /// Whether more axes may split each dimension.
    pub open: Vec<bool>,
    /// The axes along which devices have summands: the tensor is their sum.
    pub unreduced: Vec<AxisReference>,
    /// The axes along which the tensor is the maximum or minimum of those of the devices. Each device has the whole.
    pub extremes: Vec<AxisReference>,
}

/// The part of a tensor that a device has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardSlice {
    /// The first index along each dimension.
    pub starts: Vec<u64>,
    /// The number of indices along each dimension.
    pub sizes: Vec<u64>,
}

impl TensorSharding {
    /// Whether all axes are of the mesh, and there are no more parts than devices.
    pub(super) fn is_consistent(&self) -> bool {
        let origin = vec![0; self.mesh.axes.len()];
        let partial = self.unreduced.iter().chain(&self.extremes);
        let mut axes = self.dimensions.iter().flatten().chain(partial);
        let parts = axes.try_fold(1u64, |parts, axis| {
            let (size, _) = self.mesh.locate_along(axis, &origin)?;
            parts.checked_mul(size)
        });
        parts.is_some_and(|parts| parts <= self.mesh.device_count())
    }

    /// The number of shards of each dimension.
    pub fn shard_counts(&self) -> Vec<u64> {
        let origin = vec![0; self.mesh.axes.len()];
        let count = |axes: &Vec<AxisReference>| {
            let sizes = axes
                .iter()
                .map(|axis| match self.mesh.locate_along(axis, &origin) {
                    Some((size, _)) => size,
                    None => 1,
                });
            sizes.product()
        };
        self.dimensions.iter().map(count).collect()
    }

    /// Whether every device has the whole tensor.
    pub fn is_replicated(&self) -> bool {
        self.unreduced.is_empty() && self.shard_counts().iter().all(|count| *count == 1)
    }

    /// The position along each dimension of the shard at a point of the mesh.
    pub fn shard_position(&self, coordinates: &[u64]) -> Vec<u64> {
        let locate = |axes: &Vec<AxisReference>| {
            axes.iter().fold(0, |position, axis| {
                let (size, at) = self.mesh.locate_along(axis, coordinates).unwrap_or((1, 0));
                position * size + at
            })
        };
        self.dimensions.iter().map(locate).collect()
    }

    /// The sizes of a shard of a tensor of these sizes; `None` unless all shards have equal sizes.
    pub fn shard_sizes(&self, sizes: &[u64]) -> Option<Vec<u64>> {
        let counts = self.shard_counts();
        if counts.len() != sizes.len() {
            return None;
        }
        let pairs = sizes.iter().zip(&counts);
        pairs
            .map(|(size, count)| (size % count == 0).then(|| size / count))
            .collect()
    }

    /// The part of a tensor of these sizes that a device has, by the number of the device.
    pub fn slice_of_device(&self, device: u64, sizes: &[u64]) -> Option<ShardSlice> {
        let sizes = self.shard_sizes(sizes)?;
        let position = self.shard_position(&self.mesh.device_coordinates(device));
        let pairs = position.iter().zip(&sizes);
        Some(ShardSlice {
            starts: pairs.map(|(at, size)| at * size).collect(),
            sizes,
        })
    }

    /// The number of a point along the axes whose devices have summands, and how many such points there are.
    pub fn summand_position(&self, coordinates: &[u64]) -> (u64, u64) {
        let axes = self.unreduced.iter();
        axes.fold((0, 1), |(position, count), axis| {
            let along = self.mesh.locate_along(axis, coordinates);
            let (size, at) = along.unwrap_or((1, 0));
            (position * size + at, count * size)
        })
    }

    /// The layout in XLA's text form, for a program on a number of devices. It has the devices of each shard in
    /// row-major order, first those with copies, then those with summands.
    pub fn to_xla_text(&self, devices: u64) -> String {
        let counts = self.shard_counts();
        let shards: u64 = counts.iter().product();
        let (_, summands) = self.summand_position(&vec![0; self.mesh.axes.len()]);
        let groups = shards * summands;
        if groups <= 1 || !devices.is_multiple_of(groups) {
            return "{replicated}".to_owned();
        }
        let copies = devices / groups;
        let mut owners = vec![Vec::new(); groups as usize];
        for device in 0..devices {
            let coordinates = self.mesh.device_coordinates(device);
            let position = self.shard_position(&coordinates);
            let pairs = position.iter().zip(&counts);
            let index = pairs.fold(0, |index, (at, count)| index * count + at);
            let (summand, _) = self.summand_position(&coordinates);
            owners[(index * summands + summand) as usize].push(device.to_string());
        }
        let mut ordered = Vec::new();
        for shard in owners.chunks(summands as usize) {
            let copy = |at: usize| shard.iter().filter_map(move |own| own.get(at).cloned());
            ordered.extend((0..copies as usize).flat_map(copy));
        }
        let mut tiles: Vec<String> = counts.iter().map(ToString::to_string).collect();
        let mut kinds = Vec::new();
        for (count, kind) in [(copies, "replicated"), (summands, "unreduced")] {
            if count > 1 {
                tiles.push(count.to_string());
                kinds.push(kind);
            }
        }
        let suffix = match kinds.as_slice() {
            [] => String::new(),
            ["replicated"] => " last_tile_dim_replicate".to_owned(),
            kinds => format!(" last_tile_dims={{{}}}", kinds.join(", ")),
        };
        let (tiles, owners) = (tiles.join(","), ordered.join(","));
        format!("{{devices=[{tiles}]{owners}{suffix}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::MeshAxis;
    use super::*;

    fn make_axis(name: &str, part: Option<(u64, u64)>) -> AxisReference {
        AxisReference {
            name: name.to_owned(),
            part,
        }
    }

    fn make_sharding(dimensions: Vec<Vec<AxisReference>>, ids: Option<Vec<u64>>) -> TensorSharding {
        let axis = |(name, size): (&str, u64)| MeshAxis {
            name: name.to_owned(),
            size,
        };
        let axes = [("x", 4), ("y", 2)].map(axis).to_vec();
        TensorSharding {
            mesh: DeviceMesh::new(axes, ids).expect("the mesh is right"),
            open: vec![false; dimensions.len()],
            unreduced: Vec::new(),
            extremes: Vec::new(),
            dimensions,
        }
    }

    #[test]
    fn devices_have_slices() {
        let both = make_sharding(
            vec![vec![], vec![make_axis("y", None), make_axis("x", None)]],
            None,
        );
        let slice = both.slice_of_device(3, &[5, 16]).expect("it divides");
        // Device 3 is at x = 1, y = 1.
        assert_eq!((slice.starts, slice.sizes), (vec![0, 10], vec![5, 2]));
        assert_eq!(both.slice_of_device(3, &[5, 12]), None);
        let reversed = make_sharding(
            vec![vec![make_axis("y", None)]],
            Some((0..8).rev().collect()),
        );
        assert_eq!(
            reversed
                .slice_of_device(7, &[4])
                .expect("it divides")
                .starts,
            [0]
        );
        assert_eq!(
            reversed
                .slice_of_device(0, &[4])
                .expect("it divides")
                .starts,
            [2]
        );
    }

    #[test]
    fn parts_of_axes_split_dimensions() {
        let inner = make_sharding(vec![vec![make_axis("x", Some((2, 2)))]], None);
        let starts = (0..4).map(|x| {
            inner
                .slice_of_device(2 * x, &[6])
                .expect("it divides")
                .starts[0]
        });
        assert_eq!(starts.collect::<Vec<_>>(), [0, 3, 0, 3]);
        let outer = make_sharding(vec![vec![make_axis("x", Some((1, 2)))]], None);
        let starts = (0..4).map(|x| {
            outer
                .slice_of_device(2 * x, &[6])
                .expect("it divides")
                .starts[0]
        });
        assert_eq!(starts.collect::<Vec<_>>(), [0, 0, 3, 3]);
    }

    #[test]
    fn texts_of_xla_list_the_devices_of_shards() {
        let replicated = make_sharding(vec![vec![]], None);
        assert_eq!(replicated.to_xla_text(8), "{replicated}");
        let rows = make_sharding(vec![vec![make_axis("y", None)], vec![]], None);
        let wanted = "{devices=[2,1,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}";
        assert_eq!(rows.to_xla_text(8), wanted);
        let all = make_sharding(
            vec![vec![make_axis("x", None)], vec![make_axis("y", None)]],
            None,
        );
        assert_eq!(all.to_xla_text(8), "{devices=[4,2]0,1,2,3,4,5,6,7}");
        let mut sums = make_sharding(vec![vec![]], None);
        sums.unreduced = vec![make_axis("y", None)];
        let wanted = "{devices=[1,4,2]0,1,2,3,4,5,6,7 last_tile_dims={replicated, unreduced}}";
        assert_eq!(sums.to_xla_text(8), wanted);
        // Each device has the whole of a maximum.
        std::mem::swap(&mut sums.unreduced, &mut sums.extremes);
        assert_eq!(sums.to_xla_text(8), "{replicated}");
    }
}
