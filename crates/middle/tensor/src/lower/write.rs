//! Writing elements.

use super::emit::Emitter;
use crate::ir::{Combiner, Node};
use crate::schedule::atomic;
use spirula_kernel::ir::{Atomic, Element, Expr, StmtKind, Type, Var};
use spirula_program::Scalar;

/// An element to be written.
pub(super) struct Place {
    /// What.
    pub value: Node,
    /// Where.
    pub memory: Var,
    /// Whether it is written at all.
    pub inside: Node,
    /// Its place in memory.
    pub at: Node,
    /// How what is there and the value are combined.
    pub combiner: Option<Combiner>,
    /// Whether other invocations may write the same element: one value stays, and which is open.
    pub contended: bool,
}

impl Place {
    /// Writes what was put into a variable before in the place of the value.
    pub fn write_held(&self, e: &mut Emitter<'_>, held: Var) {
        e.when(self.inside, |e| {
            let index = e.emit(&[self.at])[0];
            let value = e.b.value(held);
            let to = Element {
                memory: self.memory,
                ty: e.body.ty(self.value),
                index,
                volatile: self.contended,
            };
            e.b.push(StmtKind::Write { to, value });
        });
    }

    pub fn write(&self, e: &mut Emitter<'_>) {
        e.when(self.inside, |e| {
            let emitted = e.emit(&[self.at, self.value]);
            let (index, value) = (emitted[0], emitted[1]);
            let ty = e.body.ty(self.value);
            let element = Element {
                memory: self.memory,
                ty,
                index,
                volatile: self.contended,
            };
            match &self.combiner {
                None => e.b.push(StmtKind::Write { to: element, value }),
                Some(combiner) => combine(e, element, combiner, value),
            }
        });
    }
}

/// Combines an element with a value: at once where there is an operation for it, else by reading and
/// writing, in a kernel of one invocation.
fn combine(e: &mut Emitter<'_>, element: Element, combiner: &Combiner, value: Expr) {
    if let Some(op) = combiner.operator().and_then(|op| atomic(op, element.ty)) {
        let old = e.b.declare("old", Type::Scalar(element.ty), false);
        e.b.push(StmtKind::Atomic(Box::new(Atomic {
            op,
            element,
            value,
            expected: None,
            old: Some(old),
        })));
        return;
    }
    let old = e.b.declare("old", Type::Scalar(element.ty), false);
    e.b.push(StmtKind::Read {
        to: old,
        from: element,
    });
    let old = e.b.value(old);
    let results = e.combine(combiner, &[old, value]);
    e.b.push(StmtKind::Write {
        to: element,
        value: results[0],
    });
}

/// Accumulators in the workgroup's memory, one array each.
pub(super) struct Writer<'a> {
    types: &'a [Scalar],
    memory: &'a [Var],
}

impl<'a> Writer<'a> {
    pub fn new(types: &'a [Scalar], memory: &'a [Var]) -> Self {
        Writer { types, memory }
    }

    fn elements(&self, index: Expr) -> impl Iterator<Item = Element> + '_ {
        let arrays = self.types.iter().zip(self.memory);
        arrays.map(move |(ty, memory)| Element {
            memory: *memory,
            ty: *ty,
            index,
            volatile: false,
        })
    }

    /// Writes one element of each.
    pub fn all(&self, e: &mut Emitter<'_>, at: Node, vars: &[Var]) {
        let index = e.emit(&[at])[0];
        for (to, var) in self.elements(index).zip(vars) {
            let value = e.b.value(*var);
            e.b.push(StmtKind::Write { to, value });
        }
    }

    /// Reads one element of each.
    pub fn read(&self, e: &mut Emitter<'_>, at: Node) -> Vec<Expr> {
        let index = e.emit(&[at])[0];
        let mut values = Vec::new();
        for from in self.elements(index) {
            let to = e.b.declare("other", Type::Scalar(from.ty), false);
            e.b.push(StmtKind::Read { to, from });
            values.push(e.b.value(to));
        }
        values
    }
}
