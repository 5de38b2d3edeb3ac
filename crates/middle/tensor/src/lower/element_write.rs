//! Writes of elements.

use super::node_emitter::NodeEmitter;
use crate::ir::{ScalarCombiner, ScalarNode};
use crate::schedule::match_atomic_op;
use spirula_kernel::ir::{AtomicStmt, ExprId, MemoryElement, StmtKind, VarId, VariableType};
use spirula_program::ScalarType;

/// A write of an element.
pub(super) struct ElementWrite {
    /// The value.
    pub value: ScalarNode,
    /// The memory.
    pub memory: VarId,
    /// Whether the element is written.
    pub inside: ScalarNode,
    /// The element's place in memory.
    pub at: ScalarNode,
    /// Combines the element that is there with the value.
    pub combiner: Option<ScalarCombiner>,
    /// Whether other invocations may write the same element. One of the values stays; it is not specified which.
    pub contended: bool,
    /// Whether a single invocation runs all points, so that combinations need no atomic operation.
    pub alone: bool,
}

impl ElementWrite {
    /// Writes a variable in place of the value.
    pub fn write_held(&self, e: &mut NodeEmitter<'_>, held: VarId) {
        e.emit_if(self.inside, |e| {
            let index = e.emit_nodes(&[self.at])[0];
            let value = e.b.read_var(held);
            let to = MemoryElement {
                memory: self.memory,
                ty: e.body.ty(self.value),
                index,
                volatile: self.contended,
            };
            e.b.push_statement(StmtKind::Write { to, value });
        });
    }

    /// Writes the value, if the element is written.
    pub fn write_guarded(&self, e: &mut NodeEmitter<'_>) {
        e.emit_if(self.inside, |e| {
            let emitted = e.emit_nodes(&[self.at, self.value]);
            let (index, value) = (emitted[0], emitted[1]);
            let ty = e.body.ty(self.value);
            let element = MemoryElement {
                memory: self.memory,
                ty,
                index,
                volatile: self.contended,
            };
            match &self.combiner {
                None => e.b.push_statement(StmtKind::Write { to: element, value }),
                Some(combiner) => combine_element(e, element, combiner, value, self.alone),
            }
        });
    }
}

/// Combines an element with a value: by an atomic operation where there is one and several invocations write, otherwise by
/// a read and a write.
fn combine_element(
    e: &mut NodeEmitter<'_>,
    element: MemoryElement,
    combiner: &ScalarCombiner,
    value: ExprId,
    alone: bool,
) {
    let operator = combiner.as_operator().filter(|_| !alone);
    if let Some(op) = operator.and_then(|op| match_atomic_op(op, element.ty)) {
        let old =
            e.b.declare_var("old", VariableType::Scalar(element.ty), false);
        e.b.push_statement(StmtKind::Atomic(Box::new(AtomicStmt {
            op,
            element,
            value,
            expected: None,
            old: Some(old),
        })));
        return;
    }
    let old =
        e.b.declare_var("old", VariableType::Scalar(element.ty), false);
    e.b.push_statement(StmtKind::Read {
        to: old,
        from: element,
    });
    let old = e.b.read_var(old);
    let results = e.emit_combiner(combiner, &[old, value]);
    e.b.push_statement(StmtKind::Write {
        to: element,
        value: results[0],
    });
}

/// Accumulators in the workgroup's memory, an array for each.
pub(super) struct AccumulatorArrays<'a> {
    types: &'a [ScalarType],
    memory: &'a [VarId],
}

impl<'a> AccumulatorArrays<'a> {
    pub fn new(types: &'a [ScalarType], memory: &'a [VarId]) -> Self {
        AccumulatorArrays { types, memory }
    }

    fn elements_at(&self, index: ExprId) -> impl Iterator<Item = MemoryElement> + '_ {
        let arrays = self.types.iter().zip(self.memory);
        arrays.map(move |(ty, memory)| MemoryElement {
            memory: *memory,
            ty: *ty,
            index,
            volatile: false,
        })
    }

    /// Writes one element of each.
    pub fn write_elements(&self, e: &mut NodeEmitter<'_>, at: ScalarNode, vars: &[VarId]) {
        let index = e.emit_nodes(&[at])[0];
        for (to, var) in self.elements_at(index).zip(vars) {
            let value = e.b.read_var(*var);
            e.b.push_statement(StmtKind::Write { to, value });
        }
    }

    /// Reads one element of each.
    pub fn read_elements(&self, e: &mut NodeEmitter<'_>, at: ScalarNode) -> Vec<ExprId> {
        let index = e.emit_nodes(&[at])[0];
        let mut values = Vec::new();
        for from in self.elements_at(index) {
            let to =
                e.b.declare_var("other", VariableType::Scalar(from.ty), false);
            e.b.push_statement(StmtKind::Read { to, from });
            values.push(e.b.read_var(to));
        }
        values
    }
}
