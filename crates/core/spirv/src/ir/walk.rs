//! A module's instructions in their logical order.

use super::InstRef;
use super::module::{BasicBlock, Func, Function, Inst, List, Module, Section};

/// What comes next.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// The section at this position, functions not begun.
    Section(usize),
    Lead(&'a Function),
    Def(&'a Function),
    Params(&'a Function),
    /// The block at this position, or the end where there is none.
    Block(&'a Function, usize),
    Label(&'a Function, usize, &'a BasicBlock),
    Body(&'a Function, usize, &'a BasicBlock),
    End(&'a Function),
    Trailer,
    Done,
}

/// Iterator over the instructions of a function or a whole module. It goes from part to part; within
/// one it only follows links.
#[derive(Clone)]
pub(super) struct Walk<'a> {
    module: &'a Module,
    /// The next instruction of the part that was begun.
    at: Option<Inst>,
    part: Part<'a>,
    functions: std::slice::Iter<'a, Func>,
    /// What stands behind the last function.
    last: Part<'a>,
}

impl<'a> Walk<'a> {
    pub fn of_module(module: &'a Module) -> Self {
        Walk {
            module,
            at: None,
            part: Part::Section(0),
            functions: module.order.iter(),
            last: Part::Trailer,
        }
    }

    pub fn of_function(module: &'a Module, func: Func) -> Self {
        Walk {
            module,
            at: None,
            part: Part::Lead(module.function(func)),
            functions: [].iter(),
            last: Part::Done,
        }
    }

    /// The next instruction.
    #[inline]
    pub fn handle(&mut self) -> Option<Inst> {
        let inst = match self.at {
            Some(inst) => inst,
            None => self.advance()?,
        };
        self.at = self.module.next(inst);
        Some(inst)
    }

    /// The first instruction of the next part that has any.
    fn advance(&mut self) -> Option<Inst> {
        let module = self.module;
        let head = |list: List| module.ends(list).head;
        loop {
            let (found, next) = match self.part {
                Part::Section(at) => match Section::ALL[at] {
                    Section::Trailer => (None, self.function()),
                    section => (head(section.list()), Part::Section(at + 1)),
                },
                Part::Lead(f) => (head(f.lead), Part::Def(f)),
                Part::Def(f) => (Some(f.def), Part::Params(f)),
                Part::Params(f) => (head(f.params), Part::Block(f, 0)),
                Part::Block(f, at) => match f.blocks.get(at) {
                    Some(block) => {
                        let block = module.block(*block);
                        match head(block.lead) {
                            None => (Some(block.label), Part::Body(f, at, block)),
                            lead => (lead, Part::Label(f, at, block)),
                        }
                    }
                    None => (head(f.tail), Part::End(f)),
                },
                Part::Label(f, at, block) => (Some(block.label), Part::Body(f, at, block)),
                Part::Body(f, at, block) => (head(block.body), Part::Block(f, at + 1)),
                Part::End(f) => (Some(f.end), self.function()),
                Part::Trailer => (head(Section::Trailer.list()), Part::Done),
                Part::Done => return None,
            };
            self.part = next;
            if found.is_some() {
                return found;
            }
        }
    }

    fn function(&mut self) -> Part<'a> {
        match self.functions.next() {
            Some(func) => Part::Lead(self.module.function(*func)),
            None => self.last,
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = InstRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<InstRef<'a>> {
        let inst = self.handle()?;
        Some(self.module.inst(inst))
    }
}
