//! Locations: origins in the author's program.

use super::attribute::MlirAttr;
use super::interner::MlirSymbol;
use spirula_entity::{ValueInterner, define_ids};

define_ids! {
    /// A location. Equal locations of a module have equal ids.
    pub struct MlirLoc: "loc";
}

impl MlirLoc {
    /// `loc(unknown)`
    pub const UNKNOWN: MlirLoc = MlirLoc::new(0);
}

/// Kind of a location, with its contents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LocationKind {
    /// `unknown`
    Unknown,
    /// `"file":line:column` or `"file":line:column to line:column`
    File {
        /// Name of the file.
        file: MlirSymbol,
        /// Line and column, counted from 1.
        start: (u32, u32),
        /// Line and column of the end; those of the start if only a point is given.
        end: (u32, u32),
    },
    /// `"name"` or `"name"(child)`
    Name {
        /// The name.
        name: MlirSymbol,
        /// Location of what is named.
        child: MlirLoc,
    },
    /// `callsite(callee at caller)`
    CallSite {
        /// Location of the callee.
        callee: MlirLoc,
        /// Location of the caller.
        caller: MlirLoc,
    },
    /// `fused<metadata>[…]`
    Fused {
        /// The locations that were merged.
        parts: Box<[MlirLoc]>,
        /// Reason for the merge.
        metadata: Option<MlirAttr>,
    },
}

/// All locations of a module.
#[derive(Clone, Debug)]
pub struct MlirLocations(ValueInterner<MlirLoc, LocationKind>);

impl Default for MlirLocations {
    fn default() -> Self {
        let mut all = ValueInterner::default();
        all.intern(LocationKind::Unknown);
        MlirLocations(all)
    }
}

impl MlirLocations {
    /// The location of this kind.
    pub fn intern(&mut self, kind: LocationKind) -> MlirLoc {
        self.0.intern(kind)
    }

    /// Kind of a location, with its contents.
    pub fn kind(&self, loc: MlirLoc) -> &LocationKind {
        self.0.get(loc)
    }
}
