//! Call graph of a module.

use crate::IdMap;
use crate::grammar::Op;
use crate::ir::{Func, SpirvModule};
use std::fmt;

/// The call graph, with an order in which callees precede callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpirvCallGraph {
    /// Functions called by each, without repetition, by [`Func::index`].
    callees: Vec<Vec<Func>>,
    bottom_up: Vec<Func>,
    recursive: Vec<bool>,
}

impl SpirvCallGraph {
    /// One pass over the module, then strongly connected components by Tarjan's algorithm
    /// ("Depth-First Search and Linear Graph Algorithms", 1972).
    pub fn from_module(module: &SpirvModule) -> Self {
        let mut by_id = IdMap::new(module.bound(), None);
        let size = module.functions().iter().map(|f| f.index() + 1).max();
        let mut callees = vec![Vec::new(); size.unwrap_or(0)];
        for func in module.functions() {
            by_id.set(module.function_id(*func), Some(*func));
        }
        let mut last: Vec<Option<Func>> = vec![None; callees.len()];
        for func in module.functions() {
            for block in &module.function(*func).blocks {
                for call in module.body(*block).filter(|i| i.op() == Op::FunctionCall) {
                    if let Some(callee) = by_id[call.id_operand(0)]
                        && last[callee.index()].replace(*func) != Some(*func)
                    {
                        callees[func.index()].push(callee);
                    }
                }
            }
        }
        let mut search = CallComponents::new(&callees);
        for func in module.functions() {
            search.visit_from(*func);
        }
        let (bottom_up, recursive) = (search.order, search.recursive);
        SpirvCallGraph {
            callees,
            bottom_up,
            recursive,
        }
    }

    /// The functions that a function calls, in the order of their first calls.
    pub fn callees(&self, func: Func) -> &[Func] {
        &self.callees[func.index()]
    }

    /// All functions; callees precede their callers, except within recursion.
    pub fn bottom_up(&self) -> &[Func] {
        &self.bottom_up
    }

    /// Whether a function may call itself, directly or through others.
    pub fn is_recursive(&self, func: Func) -> bool {
        self.recursive[func.index()]
    }
}

impl fmt::Display for SpirvCallGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for func in &self.bottom_up {
            let callees: Vec<_> = self.callees(*func).iter().map(|c| c.index()).collect();
            let mark = if self.is_recursive(*func) {
                ", recursive"
            } else {
                ""
            };
            writeln!(f, "function {} ; calls: {callees:?}{mark}", func.index())?;
        }
        Ok(())
    }
}

struct CallComponents<'a> {
    callees: &'a [Vec<Func>],
    number: Vec<u32>,
    low: Vec<u32>,
    open: Vec<Func>,
    is_open: Vec<bool>,
    next: u32,
    order: Vec<Func>,
    recursive: Vec<bool>,
}

impl<'a> CallComponents<'a> {
    fn new(callees: &'a [Vec<Func>]) -> Self {
        let n = callees.len();
        CallComponents {
            callees,
            number: vec![u32::MAX; n],
            low: vec![u32::MAX; n],
            open: Vec::new(),
            is_open: vec![false; n],
            next: 0,
            order: Vec::with_capacity(n),
            recursive: vec![false; n],
        }
    }

    fn visit_from(&mut self, start: Func) {
        let mut stack = Vec::new();
        self.enter_function(start, &mut stack);
        while let Some((at, next)) = stack.last_mut() {
            let at = *at;
            match self.callees[at.index()].get(*next).copied() {
                Some(callee) => {
                    *next += 1;
                    if self.number[callee.index()] == u32::MAX {
                        self.enter_function(callee, &mut stack);
                    } else if self.is_open[callee.index()] {
                        let seen = self.number[callee.index()];
                        self.low[at.index()] = self.low[at.index()].min(seen);
                    }
                }
                None => {
                    stack.pop();
                    if let Some((caller, _)) = stack.last() {
                        let low = self.low[at.index()];
                        self.low[caller.index()] = self.low[caller.index()].min(low);
                    }
                    if self.low[at.index()] == self.number[at.index()] {
                        self.close_component(at);
                    }
                }
            }
        }
    }

    fn enter_function(&mut self, func: Func, stack: &mut Vec<(Func, usize)>) {
        if self.number[func.index()] != u32::MAX {
            return;
        }
        self.number[func.index()] = self.next;
        self.low[func.index()] = self.next;
        self.next += 1;
        self.open.push(func);
        self.is_open[func.index()] = true;
        stack.push((func, 0));
    }

    fn close_component(&mut self, root: Func) {
        let begin = self.open.iter().rposition(|f| *f == root).unwrap_or(0);
        let members = self.open.split_off(begin);
        let cyclic = members.len() > 1 || self.callees[root.index()].contains(&root);
        for func in members.into_iter().rev() {
            self.is_open[func.index()] = false;
            self.recursive[func.index()] = cyclic;
            self.order.push(func);
        }
    }
}
