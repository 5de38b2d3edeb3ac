//! Report of a partitioning: what moves between devices, and what no rule covers.

use spirula_diagnostics::SourceDiagnostic;
use std::collections::BTreeMap;
use std::fmt;

/// Collectives of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CollectiveCount {
    /// Their number in the program. One in a loop counts once.
    pub count: u64,
    /// Bytes that a device receives by all of them.
    pub bytes: f64,
}

/// The report of a partitioning.
#[derive(Clone, Debug, Default)]
pub struct PartitionReport {
    /// Operations of the program with its calls inlined.
    pub operations: u64,
    /// Operations whose operands were gathered for lack of a rule, by name.
    pub gathered: BTreeMap<String, u64>,
    /// Operations that needed a dimension as a whole which devices shared, by name.
    pub joined: BTreeMap<String, u64>,
    /// Collectives by name.
    pub collectives: BTreeMap<&'static str, CollectiveCount>,
    /// A warning for each kind of operation that was gathered or needed a dimension as a whole, at the first of them.
    pub warnings: Vec<SourceDiagnostic>,
}

impl PartitionReport {
    /// Number of operations whose operands were gathered for lack of a rule.
    pub fn gathered_count(&self) -> u64 {
        self.gathered.values().sum()
    }

    /// Bytes that a device receives by all collectives.
    pub fn moved_bytes(&self) -> f64 {
        let bytes = self.collectives.values().map(|own| own.bytes);
        bytes.fold(0.0, |sum, own| sum + own)
    }

    /// Counts a collective.
    pub(crate) fn count_collective(&mut self, name: &'static str, bytes: f64) {
        let own = self.collectives.entry(name).or_default();
        own.count += 1;
        own.bytes += bytes;
    }
}

impl fmt::Display for PartitionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} operations, {} gathered for lack of a rule, {:.0} bytes received by each device",
            self.operations,
            self.gathered_count(),
            self.moved_bytes()
        )?;
        for (name, own) in &self.collectives {
            writeln!(f, "{name}: {}, {:.0} bytes", own.count, own.bytes)?;
        }
        for (name, count) in &self.gathered {
            writeln!(f, "no rule: {name}, {count}")?;
        }
        for (name, count) in &self.joined {
            writeln!(f, "needs a whole dimension: {name}, {count}")?;
        }
        Ok(())
    }
}
