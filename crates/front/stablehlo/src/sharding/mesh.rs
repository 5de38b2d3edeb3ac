//! Device meshes: devices at the points of a grid whose axes have names.

/// An axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshAxis {
    /// The name.
    pub name: String,
    /// Number of devices along it.
    pub size: u64,
}

/// An axis of a mesh, or a part of one, which splits a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisReference {
    /// The name of the axis.
    pub name: String,
    /// The sizes of a part of the axis: of the parts before it together, and its own.
    pub part: Option<(u64, u64)>,
}

/// Devices at the points of a grid, in row-major order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceMesh {
    /// The axes, the outermost first.
    pub axes: Vec<MeshAxis>,
    /// The numbers of the devices, where they are not counted from zero.
    pub device_ids: Option<Vec<u64>>,
}

/// Most devices of a mesh.
const MOST_DEVICES: u64 = 1 << 16;

impl DeviceMesh {
    /// The mesh of these axes; `None` if it has no or too many devices, or other device numbers than devices.
    pub fn new(axes: Vec<MeshAxis>, device_ids: Option<Vec<u64>>) -> Option<DeviceMesh> {
        let sizes = axes.iter().map(|axis| axis.size);
        let count = sizes.fold(1u64, |count, size| count.saturating_mul(size));
        if !(1..=MOST_DEVICES).contains(&count) {
            return None;
        }
        if let Some(ids) = &device_ids
            && ids.len() as u64 != count
        {
            return None;
        }
        Some(DeviceMesh { axes, device_ids })
    }

    /// Number of devices.
    pub fn device_count(&self) -> u64 {
        self.axes.iter().map(|axis| axis.size).product()
    }

    /// The position of an axis.
    pub fn find_axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.name == name)
    }

    /// The coordinates of a device by its number. A device outside of the mesh has those of the first.
    pub fn device_coordinates(&self, device: u64) -> Vec<u64> {
        let index = match &self.device_ids {
            Some(ids) => ids.iter().position(|id| *id == device).unwrap_or(0) as u64,
            None if device < self.device_count() => device,
            None => 0,
        };
        self.coordinates_at(index)
    }

    /// The coordinates of the device at a position in row-major order.
    pub fn coordinates_at(&self, index: u64) -> Vec<u64> {
        let mut rest = index;
        let mut coordinates = vec![0; self.axes.len()];
        for (coordinate, axis) in coordinates.iter_mut().zip(&self.axes).rev() {
            *coordinate = rest % axis.size;
            rest /= axis.size;
        }
        coordinates
    }

    /// The number of the device at these coordinates.
    pub fn device_at(&self, coordinates: &[u64]) -> u64 {
        let pairs = coordinates.iter().zip(&self.axes);
        let index = pairs.fold(0, |index, (coordinate, axis)| {
            index * axis.size + coordinate
        });
        match &self.device_ids {
            Some(ids) => ids[index as usize],
            None => index,
        }
    }

    /// The size of an axis or of a part of one, and the coordinate along it of a point of the mesh.
    pub fn locate_along(&self, axis: &AxisReference, coordinates: &[u64]) -> Option<(u64, u64)> {
        let at = self.find_axis(&axis.name)?;
        let (whole, coordinate) = (self.axes[at].size, coordinates[at]);
        let Some((before, size)) = axis.part else {
            return Some((whole, coordinate));
        };
        let inner = before.checked_mul(size).filter(|outer| *outer > 0)?;
        let after = (whole / inner).max(1);
        Some((size, coordinate / after % size))
    }
}
