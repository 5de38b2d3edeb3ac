//! Streamed scans: scans within kernels whose results only one reduction reads. The loop of the reduction computes each element of
//! the scan before it uses it, so that the results take no memory.
//!
//! A scan is streamed into a reduction of the same width in the same body. The reduction may be a scan that is streamed itself. The
//! statements between the two change no array.

use crate::ir::{HostOperation, SegmentBody};
use crate::scope::{find_width, for_each_used_in};
use rustc_hash::FxHashMap;
use spirula_entity::EntitySet;
use spirula_soac::ir::{
    FusedSink, SoacBody, SoacFunction, SoacOperand, SoacOperation, SoacStatement, SoacVariableId,
};

/// The results of streamed scans.
#[derive(Debug, Default)]
pub(crate) struct StreamedScans {
    results: EntitySet<SoacVariableId>,
}

/// Finds streamed scans in the bodies of kernels.
struct ScanFinder<'f> {
    signature: &'f SoacFunction,
    /// The number of uses of each variable in kernels.
    uses: FxHashMap<SoacVariableId, usize>,
    results: EntitySet<SoacVariableId>,
}

impl StreamedScans {
    /// Finds the streamed scans of a function.
    pub(crate) fn find_in_host(signature: &SoacFunction, body: &SegmentBody) -> StreamedScans {
        let mut finder = ScanFinder {
            signature,
            uses: FxHashMap::default(),
            results: EntitySet::default(),
        };
        body.for_each_kernel_body(&mut |body| {
            for_each_used_in(signature, body, &mut |id| {
                *finder.uses.entry(id).or_default() += 1;
            });
        });
        finder.add_host_body(body);
        StreamedScans {
            results: finder.results,
        }
    }

    /// Whether the statement of a kernel is a streamed scan.
    pub(crate) fn contains(&self, statement: &SoacStatement) -> bool {
        let first = statement.results.first();
        first.is_some_and(|&id| self.results.contains(id))
    }
}

impl ScanFinder<'_> {
    fn add_host_body(&mut self, body: &SegmentBody) {
        for statement in &body.statements {
            match &statement.operation {
                HostOperation::Plain(_) => {}
                HostOperation::If(_, accept, reject) => {
                    self.add_host_body(accept);
                    self.add_host_body(reject);
                }
                HostOperation::Loop(_, _, body) => self.add_host_body(body),
                HostOperation::WithAccumulators(_, body) => self.add_host_body(body),
                HostOperation::Grouped(operation, otherwise) => {
                    // The invocations of a workgroup share the combinators of such a body.
                    operation.for_each_body(&mut |body| self.add_nested(body));
                    self.add_host_body(otherwise);
                }
                HostOperation::Parallel(operation) => {
                    operation.for_each_body(&mut |body| self.add_body(body));
                }
            }
        }
    }

    fn add_nested(&mut self, body: &SoacBody) {
        for statement in &body.statements {
            for body in statement.operation.bodies() {
                self.add_body(body);
            }
        }
    }

    fn add_body(&mut self, body: &SoacBody) {
        self.add_nested(body);
        // The statement that may read elements one by one, from the end to the beginning.
        let mut reader: Option<&SoacStatement> = None;
        for statement in body.statements.iter().rev() {
            let is_streamed = reader.is_some_and(|reader| self.is_read_by(statement, reader));
            if is_streamed {
                for &id in &statement.results {
                    self.results.insert(id);
                }
            }
            if is_streamed || is_reduction(&statement.operation) {
                reader = Some(statement);
            } else if !keeps_arrays(&statement.operation) {
                reader = None;
            }
        }
    }

    /// Whether a statement is a scan of scalars whose results a reduction takes as arrays, and nothing else uses.
    fn is_read_by(&self, statement: &SoacStatement, reader: &SoacStatement) -> bool {
        let results = &statement.results;
        let is_scan = match &statement.operation {
            SoacOperation::Scan(..) => true,
            SoacOperation::Fused(fused) => {
                matches!(fused.sink, FusedSink::Scan(_))
                    && results.len() == fused.sink.count_results()
            }
            _ => false,
        };
        let is_vector = |&id: &SoacVariableId| {
            let variable_type = &self.signature.variables[id].variable_type;
            variable_type.shape().len() == 1
        };
        let widths = [&statement.operation, &reader.operation]
            .map(|operation| find_width(self.signature, operation));
        let is_result = |operand: &SoacOperand| matches!(operand, SoacOperand::Variable(id) if results.contains(id));
        let reads = arrays_of(&reader.operation);
        let reads = reads.iter().filter(|array| is_result(array)).count();
        let uses = results.iter().filter_map(|id| self.uses.get(id));
        is_scan
            && widths[0] == widths[1]
            && results.iter().all(is_vector)
            && reads > 0
            && uses.sum::<usize>() == reads
    }
}

/// The arrays whose elements a combinator takes one by one.
fn arrays_of(operation: &SoacOperation) -> &[SoacOperand] {
    match operation {
        SoacOperation::Reduce(_, arrays, ..) | SoacOperation::Scan(_, arrays, ..) => arrays,
        SoacOperation::Fused(fused) => &fused.arrays,
        _ => &[],
    }
}

/// Whether an operation is a reduction that makes no array of its elements.
fn is_reduction(operation: &SoacOperation) -> bool {
    match operation {
        SoacOperation::Reduce(..) => true,
        SoacOperation::Fused(fused) => {
            matches!(fused.sink, FusedSink::Reduce(..))
                && fused.function.body.results.len() == fused.sink.count_inputs()
        }
        _ => false,
    }
}

/// Whether an operation computes a scalar or a view, and changes no array.
fn keeps_arrays(operation: &SoacOperation) -> bool {
    matches!(
        operation,
        SoacOperation::Scalar(..) | SoacOperation::Slice(..) | SoacOperation::Rearrange(..)
    )
}
