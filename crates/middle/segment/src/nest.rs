//! Nests of maps that are distributed over the statements of their body.

use crate::ir::{
    HostOperation, ParallelOperation, SegmentFold, SegmentHistogram, SegmentKind, SegmentStatement,
    SpaceDimension,
};
use crate::scope::{for_each_used, for_each_used_in};
use rustc_hash::FxHashSet;
use spirula_entity::EntitySet;
use spirula_program::{ScalarLiteral, ScalarType};
use spirula_soac::ir::{
    SliceSelector, SoacBody, SoacFunction, SoacLambda, SoacOperand, SoacOperation, SoacStatement,
    SoacType, SoacVariable, SoacVariableId,
};
use spirula_soac::rename::CodeCopier;

/// Maps around a statement.
#[derive(Clone, Debug, Default)]
pub(crate) struct MapNest {
    /// The dimensions, outermost first.
    pub(crate) space: Vec<SpaceDimension>,
    /// Cheap statements that each operation of the nest repeats if it uses them: elements of arrays at the indices, and scalars.
    pub(crate) definitions: Vec<SoacStatement>,
    /// The variables that are bound within the nest.
    pub(crate) bound: EntitySet<SoacVariableId>,
    /// Certificates of checks that an earlier operation of the nest made.
    pub(crate) checked: FxHashSet<SoacVariableId>,
    /// Arrays that were made for the nest. Nothing else refers to them.
    pub(crate) made: EntitySet<SoacVariableId>,
}

impl MapNest {
    /// The sizes of the dimensions.
    pub(crate) fn sizes(&self) -> Vec<SoacOperand> {
        self.space.iter().map(|dimension| dimension.size).collect()
    }

    /// The selectors of a point.
    pub(crate) fn point(&self) -> Vec<SliceSelector> {
        let indices = self.space.iter();
        indices
            .map(|dimension| SliceSelector::Point(SoacOperand::Variable(dimension.index)))
            .collect()
    }

    /// Adds a dimension.
    pub(crate) fn add_dimension(&mut self, signature: &mut SoacFunction, size: SoacOperand) {
        let index = add_variable(signature, "i", SoacType::Scalar(ScalarType::I64));
        self.bound.insert(index);
        self.space.push(SpaceDimension { index, size });
    }

    /// The certificates of a statement that are no part of the nest.
    pub(crate) fn outer_certificates(&self, statement: &SoacStatement) -> Vec<SoacVariableId> {
        let certificates = statement.certificates.iter().copied();
        certificates
            .filter(|&id| !self.bound.contains(id))
            .collect()
    }

    /// Adds a statement that each operation may repeat.
    pub(crate) fn define(&mut self, statement: &SoacStatement) {
        self.definitions.push(statement.clone());
    }

    /// Defines a variable as the element of an array at some selectors.
    pub(crate) fn define_element(
        &mut self,
        id: SoacVariableId,
        array: SoacOperand,
        selectors: Vec<SliceSelector>,
    ) {
        self.bound.insert(id);
        self.definitions.push(SoacStatement {
            results: vec![id],
            certificates: Vec::new(),
            operation: SoacOperation::Slice(array, selectors),
        });
    }

    /// The arrays of which variables are the parts that belong to the point.
    pub(crate) fn expanded_arrays(&self, operands: &[SoacOperand]) -> Option<Vec<SoacOperand>> {
        let arrays = operands.iter();
        arrays.map(|&array| self.expanded_array(array)).collect()
    }

    /// The array of which a variable is the part that belongs to the point.
    pub(crate) fn expanded_array(&self, operand: SoacOperand) -> Option<SoacOperand> {
        let point = self.point();
        let (mut operand, mut depth) = (operand, point.len());
        while depth > 0 {
            let SoacOperand::Variable(id) = operand else {
                return None;
            };
            let mut definitions = self.definitions.iter().rev();
            let definition = definitions.find(|statement| statement.results == [id])?;
            let SoacOperation::Slice(array, selectors) = &definition.operation else {
                return None;
            };
            let start = depth.checked_sub(selectors.len())?;
            if selectors.is_empty() || *selectors != point[start..depth] {
                return None;
            }
            (operand, depth) = (*array, start);
        }
        Some(operand)
    }

    /// The definitions that code needs, in order.
    fn definitions_for(
        &self,
        signature: &SoacFunction,
        mut used: EntitySet<SoacVariableId>,
    ) -> Vec<SoacStatement> {
        let mut needed = Vec::new();
        for statement in self.definitions.iter().rev() {
            if statement.results.iter().any(|&id| used.contains(id)) {
                for_each_used(signature, statement, &mut |id| {
                    used.insert(id);
                });
                needed.push(statement.clone());
            }
        }
        needed.reverse();
        needed
    }

    /// The body with the definitions that it needs.
    fn complete_body(&self, signature: &SoacFunction, body: &SoacBody) -> SoacBody {
        let mut used = EntitySet::default();
        for_each_used_in(signature, body, &mut |id| {
            used.insert(id);
        });
        let mut statements = self.definitions_for(signature, used);
        statements.extend(body.statements.iter().cloned());
        SoacBody {
            statements,
            results: body.results.clone(),
        }
    }

    fn complete_fold(&self, signature: &SoacFunction, fold: &SegmentFold) -> SegmentFold {
        SegmentFold {
            function: SoacLambda {
                parameters: fold.function.parameters.clone(),
                body: self.complete_body(signature, &fold.function.body),
            },
            ..fold.clone()
        }
    }

    /// The use of results, with the definitions that its function needs.
    fn complete_kind(&self, signature: &SoacFunction, kind: &SegmentKind) -> SegmentKind {
        match kind {
            SegmentKind::Reduce(fold) => SegmentKind::Reduce(self.complete_fold(signature, fold)),
            SegmentKind::Scan(fold) => SegmentKind::Scan(self.complete_fold(signature, fold)),
            SegmentKind::Histogram(histogram) => SegmentKind::Histogram(SegmentHistogram {
                targets: histogram.targets.clone(),
                fold: self.complete_fold(signature, &histogram.fold),
            }),
            other => other.clone(),
        }
    }

    /// An operation over the space of the nest with variables of its own.
    pub(crate) fn make_operation(
        &self,
        signature: &mut SoacFunction,
        body: &SoacBody,
        kind: &SegmentKind,
    ) -> ParallelOperation {
        let body = self.complete_body(signature, body);
        let mut kind = self.complete_kind(signature, kind);
        let mut copier = CodeCopier::new(&mut signature.variables);
        for &id in &self.checked {
            // The checks were made before: nothing needs their certificates.
            let held = SoacOperand::Constant(ScalarLiteral::new(ScalarType::Bool, 1));
            copier.replace(id, held);
        }
        let rename_dimension = |dimension: &SpaceDimension| SpaceDimension {
            index: copier.bind_variable(dimension.index),
            size: dimension.size,
        };
        let space = self.space.iter().map(rename_dimension).collect();
        let body = copier.copy_body(&body);
        if let SegmentKind::Reduce(fold)
        | SegmentKind::Scan(fold)
        | SegmentKind::Histogram(SegmentHistogram { fold, .. }) = &mut kind
        {
            fold.function = copier.copy_lambda(&fold.function);
        }
        ParallelOperation { space, body, kind }
    }
}

/// Adds a variable to a function.
pub(crate) fn add_variable(
    signature: &mut SoacFunction,
    name: &str,
    variable_type: SoacType,
) -> SoacVariableId {
    signature.variables.push(SoacVariable {
        name: name.to_owned(),
        variable_type,
    })
}

/// Adds a variable with the type and the name of another.
pub(crate) fn add_twin(signature: &mut SoacFunction, id: SoacVariableId) -> SoacVariableId {
    let variable = signature.variables[id].clone();
    signature.variables.push(variable)
}

/// A statement of parallel code.
pub(crate) fn make_parallel(
    results: Vec<SoacVariableId>,
    certificates: Vec<SoacVariableId>,
    operation: ParallelOperation,
) -> SegmentStatement {
    SegmentStatement {
        results,
        certificates,
        operation: HostOperation::Parallel(Box::new(operation)),
    }
}
