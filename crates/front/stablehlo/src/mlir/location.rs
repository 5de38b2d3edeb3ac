//! Locations: where in the program of its author something came from.

use super::attribute::Attr;
use super::id::dense_id;
use super::interner::{Interner, Symbol};

dense_id! {
    /// A location. Equal locations of a module have equal ids.
    Loc, "loc"
}

impl Loc {
    /// `loc(unknown)`
    pub const UNKNOWN: Loc = Loc::new(0);
}

/// What a location is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LocationKind {
    /// `unknown`
    Unknown,
    /// `"file":line:column` or `"file":line:column to line:column`
    File {
        /// Name of the file.
        file: Symbol,
        /// Line and column, counted from 1.
        start: (u32, u32),
        /// Line and column of the end; the same where only a point is given.
        end: (u32, u32),
    },
    /// `"name"` or `"name"(child)`
    Name {
        /// The name.
        name: Symbol,
        /// Where it is.
        child: Loc,
    },
    /// `callsite(callee at caller)`
    CallSite {
        /// What was called.
        callee: Loc,
        /// From where.
        caller: Loc,
    },
    /// `fused<metadata>[…]`
    Fused {
        /// What was brought together.
        parts: Box<[Loc]>,
        /// Why.
        metadata: Option<Attr>,
    },
}

/// All locations of a module.
#[derive(Clone, Debug)]
pub struct Locations(Interner<LocationKind>);

impl Default for Locations {
    fn default() -> Self {
        let mut all = Interner::default();
        all.intern(LocationKind::Unknown);
        Locations(all)
    }
}

impl Locations {
    /// The location of this kind.
    pub fn intern(&mut self, kind: LocationKind) -> Loc {
        Loc::new(self.0.intern(kind))
    }

    /// What a location is.
    pub fn kind(&self, loc: Loc) -> &LocationKind {
        self.0.get(loc.index())
    }
}
