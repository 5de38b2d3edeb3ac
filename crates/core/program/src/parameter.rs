//! Tuning parameters and limits of devices.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a tuning parameter or a limit is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SizeClass {
    /// Invocations of a workgroup.
    ThreadBlockSize,
    /// Workgroups of a launch.
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
    /// From which size on there is enough parallelism; with a default, and with the comparisons
    /// on the way to this one.
    Threshold(Option<i64>, String),
    /// Something else by its name, with a default.
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

    /// The name by which all of a class are set at once; thresholds with a default of their own
    /// have none.
    pub fn name(&self) -> Option<&str> {
        match self {
            SizeClass::Threshold(None, _) => Some("threshold"),
            SizeClass::Threshold(Some(_), _) => None,
            SizeClass::Bespoke(name, _) => Some(name),
            plain => PLAIN.iter().find(|(_, c)| c == plain).map(|(n, _)| *n),
        }
    }
}

/// As the text form of kernels writes it.
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
    /// The name by which users set it.
    pub name: String,
    /// What it is of.
    pub class: SizeClass,
}
