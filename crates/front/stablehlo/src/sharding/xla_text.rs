//! Shardings as XLA writes them, which programs have where Shardy is off.

use super::layout::TensorSharding;
use super::mesh::{AxisReference, DeviceMesh, MeshAxis};

/// Reads the sharding of a tensor: `{replicated}`, `{devices=[2,1,4]<=[8]}` with any order of devices, or with a list of them.
pub(super) fn read_xla_sharding(text: &str) -> Option<TensorSharding> {
    let text = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    if text == "replicated" || text.starts_with("maximal") {
        return Some(TensorSharding::default());
    }
    let rest = text.strip_prefix("devices=[")?;
    let (tiles, rest) = rest.split_once(']')?;
    let tiles = read_numbers(tiles)?;
    let (order, kinds) = rest.split_once(' ').unwrap_or((rest, ""));
    let kinds: Vec<&str> = match kinds {
        "" => Vec::new(),
        "last_tile_dim_replicate" => vec!["replicated"],
        kinds => {
            let kinds = kinds.strip_prefix("last_tile_dims={")?.strip_suffix('}')?;
            kinds.split(',').map(str::trim).collect()
        }
    };
    let rank = tiles.len().checked_sub(kinds.len())?;
    let count = tiles
        .iter()
        .try_fold(1u64, |count, size| count.checked_mul(*size))?;
    let devices = read_devices(order, count)?;
    let axes = tiles.iter().enumerate().map(|(at, size)| MeshAxis {
        name: at.to_string(),
        size: *size,
    });
    let axis = |at: usize| AxisReference {
        name: at.to_string(),
        part: None,
    };
    let unreduced = kinds
        .iter()
        .enumerate()
        .filter(|(_, kind)| **kind == "unreduced");
    Some(TensorSharding {
        mesh: DeviceMesh::new(axes.collect(), Some(devices))?,
        dimensions: (0..rank).map(|at| vec![axis(at)]).collect(),
        open: vec![false; rank],
        unreduced: unreduced.map(|(at, _)| axis(rank + at)).collect(),
        extremes: Vec::new(),
    })
}

fn read_numbers(text: &str) -> Option<Vec<u64>> {
    text.split(',')
        .map(|number| number.trim().parse().ok())
        .collect()
}

/// The devices in their order: `0,2,1,3`, or `<=[2,2]T(1,0)` for the transposition of a grid that counts them.
fn read_devices(text: &str, count: u64) -> Option<Vec<u64>> {
    let Some(grid) = text.strip_prefix("<=[") else {
        return read_numbers(text).filter(|devices| devices.len() as u64 == count);
    };
    let (sizes, order) = grid.split_once(']')?;
    let sizes = read_numbers(sizes)?;
    let order = match order {
        "" => (0..sizes.len() as u64).collect(),
        order => read_numbers(order.strip_prefix("T(")?.strip_suffix(')')?)?,
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let product = sizes
        .iter()
        .try_fold(1u64, |product, size| product.checked_mul(*size));
    if !sorted.into_iter().eq(0..sizes.len() as u64) || product != Some(count) || count > 1 << 16 {
        return None;
    }
    let mut steps = vec![1; sizes.len()];
    for at in (1..sizes.len()).rev() {
        steps[at - 1] = steps[at] * sizes[at];
    }
    let mut devices = vec![0];
    for at in order {
        let (size, step) = (sizes[at as usize], steps[at as usize]);
        let along = devices
            .iter()
            .flat_map(|first| (0..size).map(move |index| first + index * step));
        devices = along.collect();
    }
    Some(devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str, sizes: &[u64]) -> Vec<Vec<u64>> {
        let sharding = read_xla_sharding(text).expect("it is a sharding");
        let devices = 0..sharding.mesh.device_count();
        let slices =
            devices.map(|device| sharding.slice_of_device(device, sizes).expect("it divides"));
        slices.map(|slice| slice.starts).collect()
    }

    #[test]
    fn texts_of_xla_are_read() {
        let rows = [[0, 0], [2, 0], [4, 0], [6, 0]];
        assert_eq!(starts("{devices=[4,1]<=[4]}", &[8, 8]), rows);
        assert_eq!(starts("{devices=[4,1]0,1,2,3}", &[8, 8]), rows);
        let turned = [[0, 0], [0, 4], [4, 0], [4, 4]];
        assert_eq!(starts("{devices=[2,2]<=[2,2]}", &[8, 8]), turned);
        let columns = [[0, 0], [4, 0], [0, 4], [4, 4]];
        assert_eq!(starts("{devices=[2,2]<=[2,2]T(1,0)}", &[8, 8]), columns);
        let copies = [[0], [0], [4], [4]];
        assert_eq!(
            starts("{devices=[2,2]<=[4] last_tile_dim_replicate}", &[8]),
            copies
        );
        assert!(
            read_xla_sharding("{replicated}")
                .expect("it is")
                .is_replicated()
        );
        for wrong in [
            "",
            "{devices=[2]<=[3]}",
            "{devices=[2,2]<=[2,2]T(1,1)}",
            "{devices=[2]0}",
            "{manual}",
        ] {
            assert_eq!(read_xla_sharding(wrong), None, "{wrong}");
        }
    }
}
