//! Tuning parameters and limits of devices.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The quantity of a tuning parameter or a limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SizeClass {
    /// Number of invocations of a workgroup.
    ThreadBlockSize,
    /// Number of workgroups of a launch.
    GridSize,
    /// Side of a tile.
    TileSize,
    /// Side of a tile kept in registers.
    RegTileSize,
    /// Bytes of workgroup memory.
    SharedMemory,
    /// Registers of a workgroup.
    Registers,
    /// Bytes of cache.
    Cache,
    /// The smallest size with enough parallelism. It has a default, and the comparisons on the path to this one.
    Threshold(Option<i64>, String),
    /// Another quantity by its name, with a default.
    Bespoke(String, i64),
}

/// Names of the classes without fields.
const PLAIN: &[(&str, SizeClass)] = &[
    ("thread_block_size", SizeClass::ThreadBlockSize),
    ("grid_size", SizeClass::GridSize),
    ("tile_size", SizeClass::TileSize),
    ("reg_tile_size", SizeClass::RegTileSize),
    ("shared_memory", SizeClass::SharedMemory),
    ("registers", SizeClass::Registers),
    ("cache", SizeClass::Cache),
];

impl SizeClass {
    /// The class with this name, of those without fields.
    pub fn from_name(name: &str) -> Option<SizeClass> {
        let row = PLAIN.iter().find(|(n, _)| *n == name);
        row.map(|(_, class)| class.clone())
    }

    /// The name that sets all of a class at once; thresholds with a default have none.
    pub fn name(&self) -> Option<&str> {
        match self {
            SizeClass::Threshold(None, _) => Some("threshold"),
            SizeClass::Threshold(Some(_), _) => None,
            SizeClass::Bespoke(name, _) => Some(name),
            plain => PLAIN.iter().find(|(_, c)| c == plain).map(|(n, _)| *n),
        }
    }
}

/// The form in the text form of kernels.
impl fmt::Display for SizeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeClass::Threshold(Some(default), path) => {
                write!(f, "threshold({default}, {path:?})")
            }
            SizeClass::Threshold(None, path) => write!(f, "threshold(none, {path:?})"),
            SizeClass::Bespoke(name, default) => write!(f, "bespoke({name:?}, {default})"),
            plain => f.write_str(plain.name().unwrap_or_default()),
        }
    }
}

/// A tuning parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProgramParameter {
    /// The name that users set it by.
    pub name: String,
    /// The quantity.
    pub class: SizeClass,
}
