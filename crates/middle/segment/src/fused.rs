//! Fused maps: as one operation, and as a map with an operation on its results.

use crate::ir::{SegmentBody, SegmentFold, SegmentHistogram, SegmentKind, SegmentStatement};
use crate::nest::{MapNest, add_variable, make_parallel};
use crate::translate::SegmentTranslation;
use spirula_program::ScalarType;
use spirula_soac::ir::{
    FusedSink, ReductionOrder, SoacFold, SoacFusedMap, SoacHistogram, SoacOperand, SoacOperation,
    SoacStatement, SoacType, SoacVariableId,
};

impl SegmentTranslation {
    /// Makes operations of a fused map within a nest. Each result gets the sizes of the nest in front. Returns whether it is possible.
    ///
    /// A map with combinators in its body has two versions. If its own width is not enough parallelism, it is
    /// distributed, and the operation takes its results as arrays.
    pub(crate) fn distribute_fused(
        &mut self,
        nest: &MapNest,
        statement: &SoacStatement,
        fused: &SoacFusedMap,
        results: &[SoacVariableId],
        out: &mut Vec<SegmentStatement>,
    ) -> bool {
        let certificates = nest.outer_certificates(statement);
        let Some(kind) = self.find_kind(nest, &fused.sink) else {
            return false;
        };
        let mut inner = nest.clone();
        inner.add_dimension(&mut self.signature, fused.width);
        self.define_elements(&mut inner, &fused.function.parameters, &fused.arrays);
        let body = &fused.function.body;
        let mut split = Vec::new();
        let twins: Vec<_> = results.iter().map(|&id| self.add_twin(id)).collect();
        let is_split = self.has_parallelism(body)
            && self.distribute_parts(nest, statement, fused, &twins, &mut split);
        if !is_split {
            let operation = inner.make_operation(&mut self.signature, body, &kind);
            out.push(make_parallel(results.to_vec(), certificates, operation));
            return true;
        }
        let accepted: Vec<_> = results.iter().map(|&id| self.add_twin(id)).collect();
        let operation = inner.make_operation(&mut self.signature, body, &kind);
        let whole = vec![make_parallel(accepted.clone(), certificates, operation)];
        let accept = SegmentBody::from_variables(whole, accepted);
        let reject = SegmentBody::from_variables(split, twins);
        self.push_choice(&inner, results, [accept, reject], out);
        true
    }

    /// The use of the results of a fused map within a nest.
    fn find_kind(&self, nest: &MapNest, sink: &FusedSink) -> Option<SegmentKind> {
        let with_order = |fold: &SoacFold, is_commutative| {
            SegmentFold::new(&fold.function, &fold.neutral, is_commutative)
        };
        Some(match sink {
            FusedSink::Reduce(fold, order) => {
                SegmentKind::Reduce(with_order(fold, *order == ReductionOrder::Commutative))
            }
            FusedSink::Scan(fold) => SegmentKind::Scan(with_order(fold, false)),
            FusedSink::Scatter(targets) => SegmentKind::Scatter(nest.expanded_arrays(targets)?),
            FusedSink::Histogram(targets, fold) => SegmentKind::Histogram(SegmentHistogram {
                targets: nest.expanded_arrays(targets)?,
                fold: with_order(fold, true),
            }),
        })
    }

    /// Makes operations of the map, and of the operation on its results, within a nest.
    fn distribute_parts(
        &mut self,
        nest: &MapNest,
        statement: &SoacStatement,
        fused: &SoacFusedMap,
        results: &[SoacVariableId],
        out: &mut Vec<SegmentStatement>,
    ) -> bool {
        let heads = fused.sink.count_results();
        let mut parts = self.split_fused(statement.results.clone(), fused.clone());
        for part in &mut parts {
            part.certificates.clone_from(&statement.certificates);
        }
        let map = parts.remove(0);
        let taken = &map.results[..fused.sink.count_inputs()];
        let expanded = taken.iter().map(|&id| self.expand_variable(nest, id));
        let Some(mut made) = expanded.collect::<Option<Vec<_>>>() else {
            return false;
        };
        let mut nest_of_sink = nest.clone();
        for (&id, &array) in taken.iter().zip(&made) {
            nest_of_sink.made.insert(array);
            nest_of_sink.define_element(id, SoacOperand::Variable(array), nest.point());
        }
        made.extend(&results[heads..]);
        let mut results = &results[..heads];
        self.distribute_statement(nest, &map, &made, out)
            && parts.iter().all(|part| {
                let own;
                (own, results) = results.split_at(part.results.len());
                self.distribute_statement(&nest_of_sink, part, own, out)
            })
    }

    /// A fused map as a map, and operations on its first results. None has certificates.
    pub(crate) fn split_fused(
        &mut self,
        results: Vec<SoacVariableId>,
        fused: SoacFusedMap,
    ) -> Vec<SoacStatement> {
        let SoacFusedMap {
            width,
            arrays,
            function,
            sink,
        } = fused;
        let mut heads = results;
        let mapped = heads.split_off(sink.count_results().min(heads.len()));
        let mut made: Vec<_> = self
            .element_types(&sink)
            .into_iter()
            .map(|element| {
                let shape = std::iter::once(width).chain(element.shape().iter().copied());
                let array = SoacType::Array(element.element(), shape.collect());
                add_variable(&mut self.signature, "xs", array)
            })
            .collect();
        let taken: Vec<_> = made.iter().map(|&id| SoacOperand::Variable(id)).collect();
        made.extend(mapped);
        let mut parts = vec![make_statement(
            made,
            SoacOperation::Map(width, arrays, function),
        )];
        parts.extend(apply_sink(width, taken, sink, heads));
        parts
    }

    /// The types of the elements that an operation takes.
    fn element_types(&self, sink: &FusedSink) -> Vec<SoacType> {
        let position = SoacType::Scalar(ScalarType::I64);
        let neutral = sink.fold().map(|fold| &fold.neutral).into_iter().flatten();
        let values = neutral.map(|&value| self.signature.type_of(value));
        match sink {
            FusedSink::Reduce(..) | FusedSink::Scan(_) => values.collect(),
            FusedSink::Histogram(..) => std::iter::once(position).chain(values).collect(),
            FusedSink::Scatter(targets) => {
                let pairs = targets.iter().map(|&target| {
                    let target = self.signature.type_of(target);
                    let shape = target.shape().iter().skip(1).copied().collect();
                    [
                        position.clone(),
                        SoacType::from_shape(target.element(), shape),
                    ]
                });
                pairs.flatten().collect()
            }
        }
    }

    /// Whether a fused map is a reduction or scan whose body has no parallelism, and cannot change arrays.
    pub(crate) fn is_perfect_fold(&self, fused: &SoacFusedMap) -> bool {
        matches!(fused.sink, FusedSink::Reduce(..) | FusedSink::Scan(_))
            && !self.has_parallelism(&fused.function.body)
    }
}

/// The operations of a fused map on arrays: one for each array of a scatter.
fn apply_sink(
    width: SoacOperand,
    mut arrays: Vec<SoacOperand>,
    sink: FusedSink,
    results: Vec<SoacVariableId>,
) -> Vec<SoacStatement> {
    let operation = match sink {
        FusedSink::Reduce(SoacFold { neutral, function }, order) => {
            SoacOperation::Reduce(width, arrays, neutral, function, order)
        }
        FusedSink::Scan(SoacFold { neutral, function }) => {
            SoacOperation::Scan(width, arrays, neutral, function)
        }
        FusedSink::Scatter(targets) => {
            let pairs = arrays.chunks_exact(2).zip(results);
            let scatters = targets.into_iter().zip(pairs);
            return scatters
                .map(|(target, (pair, result))| {
                    make_statement(
                        vec![result],
                        SoacOperation::Scatter(target, pair[0], pair[1]),
                    )
                })
                .collect();
        }
        FusedSink::Histogram(targets, SoacFold { neutral, function }) => {
            let positions = arrays.remove(0);
            SoacOperation::Histogram(Box::new(SoacHistogram {
                targets,
                neutral,
                function,
                positions,
                values: arrays,
            }))
        }
    };
    vec![make_statement(results, operation)]
}

/// A statement without certificates.
fn make_statement(results: Vec<SoacVariableId>, operation: SoacOperation) -> SoacStatement {
    SoacStatement {
        results,
        certificates: Vec::new(),
        operation,
    }
}
