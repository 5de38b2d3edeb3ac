//! Parser of the texts of Shardy's attributes.

use super::layout::TensorSharding;
use super::mesh::{AxisReference, DeviceMesh, MeshAxis};
use crate::mlir::{AttributeKind, DialectBody, MlirAttr, MlirModule};

/// The rest of a text. Every function returns `None` where something else stands.
struct ShardingText<'m> {
    module: &'m MlirModule,
    rest: &'m str,
}

/// A sharding as it is written.
struct WrittenSharding {
    layout: TensorSharding,
    extremes: Option<DeviceExtremes>,
}

/// The axes along which a tensor is the maximum or minimum of those that devices have. A tensor that all devices have is
/// such a one, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceExtremes {
    /// The devices.
    pub mesh: DeviceMesh,
    /// The axes.
    pub axes: Vec<AxisReference>,
    /// Whether it is the maximum.
    pub is_maximum: bool,
}

/// Reads `<@mesh, [{"x"}, {?}], replicated={"y"}>`.
pub fn read_sharding(module: &MlirModule, attr: MlirAttr) -> Option<TensorSharding> {
    let written = ShardingText::of_attribute(module, attr)?.read_whole(ShardingText::read_sharding);
    written.map(|written| written.layout)
}

/// The maxima and minima of each value in a list of shardings.
pub fn read_extremes(module: &MlirModule, attr: MlirAttr) -> Option<Vec<Option<DeviceExtremes>>> {
    let written = read_written_list(module, attr)?.into_iter();
    Some(written.map(|written| written.extremes).collect())
}

/// Reads `<[<@mesh, [{"x"}]>, …]>`: a sharding for each value.
pub fn read_sharding_list(module: &MlirModule, attr: MlirAttr) -> Option<Vec<TensorSharding>> {
    let written = read_written_list(module, attr)?.into_iter();
    Some(written.map(|written| written.layout).collect())
}

fn read_written_list(module: &MlirModule, attr: MlirAttr) -> Option<Vec<WrittenSharding>> {
    ShardingText::of_attribute(module, attr)?.read_whole(|text| {
        text.expect("<")?;
        let list = text.read_list("[", "]", ShardingText::read_sharding)?;
        text.expect(">")?;
        Some(list)
    })
}

/// Reads `<manual_axes{"x", "y"}>`.
pub fn read_manual_axes(module: &MlirModule, attr: MlirAttr) -> Option<Vec<String>> {
    ShardingText::of_attribute(module, attr)?.read_whole(|text| {
        text.expect("<")?;
        text.eat("manual_axes");
        let list = text.read_list("{", "}", ShardingText::read_string)?;
        text.expect(">")?;
        Some(list)
    })
}

impl<'m> ShardingText<'m> {
    fn of_attribute(module: &'m MlirModule, attr: MlirAttr) -> Option<ShardingText<'m>> {
        match module.attributes.kind(attr) {
            AttributeKind::Dialect {
                body: DialectBody::Text(text),
                ..
            } => Some(ShardingText {
                module,
                rest: module.symbol_text(*text),
            }),
            _ => None,
        }
    }

    fn read_whole<T>(mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let value = read(&mut self)?;
        self.rest.trim_start().is_empty().then_some(value)
    }

    fn eat(&mut self, sign: &str) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str) -> Option<()> {
        self.eat(sign).then_some(())
    }

    fn read_list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(read(self)?);
        }
        Some(items)
    }

    fn read_number(&mut self) -> Option<u64> {
        let rest = self.rest.trim_start();
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (digits, rest) = rest.split_at(end);
        self.rest = rest;
        digits.parse().ok()
    }

    fn read_string(&mut self) -> Option<String> {
        self.expect("\"")?;
        let (text, rest) = self.rest.split_once('"')?;
        self.rest = rest;
        Some(text.to_owned())
    }

    /// `"x"` or `"x":(2)4`
    fn read_axis(&mut self) -> Option<AxisReference> {
        let name = self.read_string()?;
        let mut part = None;
        if self.eat(":") {
            self.expect("(")?;
            let before = self.read_number()?;
            self.expect(")")?;
            let size = self.read_number().filter(|size| *size > 0)?;
            part = Some((before, size));
        }
        Some(AxisReference { name, part })
    }

    /// `{"x", "y", ?}p1`
    fn read_dimension(&mut self) -> Option<(Vec<AxisReference>, bool)> {
        let items = self.read_list("{", "}", |text| {
            // More axes may split an open dimension.
            if text.eat("?") {
                return Some(None);
            }
            text.read_axis().map(Some)
        })?;
        if self.eat("p") {
            self.read_number()?;
        }
        let is_open = items.contains(&None);
        Some((items.into_iter().flatten().collect(), is_open))
    }

    /// `<["x"=4, "y"=2], device_ids=[0, 1]>`
    fn read_mesh(&mut self) -> Option<DeviceMesh> {
        self.expect("<")?;
        let axes = self.read_list("[", "]", |text| {
            let name = text.read_string()?;
            text.expect("=")?;
            let size = text.read_number()?;
            Some(MeshAxis { name, size })
        })?;
        let mut device_ids = None;
        if self.eat(",") {
            self.expect("device_ids")?;
            self.expect("=")?;
            device_ids = Some(self.read_list("[", "]", Self::read_number)?);
        }
        self.expect(">")?;
        DeviceMesh::new(axes, device_ids)
    }

    /// `@mesh`, or `mesh<…>`
    fn read_mesh_or_name(&mut self) -> Option<DeviceMesh> {
        if self.eat("mesh") {
            return self.read_mesh();
        }
        self.expect("@")?;
        let name = if self.rest.starts_with('"') {
            self.read_string()?
        } else {
            let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-'));
            let end = self.rest.find(is_end)?;
            let (name, rest) = self.rest.split_at(end);
            self.rest = rest;
            name.to_owned()
        };
        find_mesh(self.module, &name)
    }

    fn read_sharding(&mut self) -> Option<WrittenSharding> {
        self.expect("<")?;
        let mesh = self.read_mesh_or_name()?;
        self.expect(",")?;
        let dimensions = self.read_list("[", "]", Self::read_dimension)?;
        let (dimensions, open): (Vec<Vec<AxisReference>>, Vec<bool>) =
            dimensions.into_iter().unzip();
        let mut unreduced = Vec::new();
        let mut extremes = None;
        while self.eat(",") {
            let is_unreduced = self.eat("unreduced");
            if !is_unreduced {
                self.expect("replicated")?;
            }
            self.expect("=")?;
            let is_maximum = is_unreduced && self.eat("max");
            let is_extreme = is_maximum || is_unreduced && self.eat("min");
            let axes = self.read_list("{", "}", Self::read_axis)?;
            if is_extreme {
                let mesh = mesh.clone();
                extremes = Some(DeviceExtremes {
                    mesh,
                    axes,
                    is_maximum,
                });
            } else if is_unreduced {
                unreduced = axes;
            }
        }
        self.expect(">")?;
        let layout = TensorSharding {
            mesh,
            dimensions,
            open,
            unreduced,
            extremes: extremes
                .as_ref()
                .map_or_else(Vec::new, |own| own.axes.clone()),
        };
        layout
            .is_consistent()
            .then_some(WrittenSharding { layout, extremes })
    }
}

/// The mesh of a name.
pub(super) fn find_mesh(module: &MlirModule, name: &str) -> Option<DeviceMesh> {
    let blocks = module
        .regions(module.root())
        .flat_map(|region| module.blocks(region));
    let mut ops = blocks.flat_map(|block| module.ops(*block));
    let op = ops
        .find(|op| module.op_name(**op) == "sdy.mesh" && module.symbol_name(**op) == Some(name))?;
    let attr = module.find_attribute(*op, "mesh")?;
    ShardingText::of_attribute(module, attr)?.read_whole(ShardingText::read_mesh)
}
