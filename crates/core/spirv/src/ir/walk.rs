//! Module walk: all instructions in their logical order.

use super::InstRef;
use super::module::{BasicBlock, Func, Inst, List, ModuleSection, SpirvFunction, SpirvModule};

/// The next part of the walk.
#[derive(Clone, Copy)]
enum SpirvWalkPart<'a> {
    /// The section at this position, functions not begun.
    Section(usize),
    Lead(&'a SpirvFunction),
    Def(&'a SpirvFunction),
    Params(&'a SpirvFunction),
    /// The block at this position, or the end where there is none.
    Block(&'a SpirvFunction, usize),
    Label(&'a SpirvFunction, usize, &'a BasicBlock),
    Body(&'a SpirvFunction, usize, &'a BasicBlock),
    End(&'a SpirvFunction),
    Trailer,
    Done,
}

/// Iterator over the instructions of a function or a whole module. It advances from part to part; within a part
/// it only follows links.
#[derive(Clone)]
pub(super) struct SpirvWalk<'a> {
    module: &'a SpirvModule,
    /// The next instruction of the part that was begun.
    at: Option<Inst>,
    part: SpirvWalkPart<'a>,
    functions: std::slice::Iter<'a, Func>,
    /// Instructions after the last function.
    last: SpirvWalkPart<'a>,
}

impl<'a> SpirvWalk<'a> {
    pub fn of_module(module: &'a SpirvModule) -> Self {
        SpirvWalk {
            module,
            at: None,
            part: SpirvWalkPart::Section(0),
            functions: module.order.iter(),
            last: SpirvWalkPart::Trailer,
        }
    }

    pub fn of_function(module: &'a SpirvModule, func: Func) -> Self {
        SpirvWalk {
            module,
            at: None,
            part: SpirvWalkPart::Lead(module.function(func)),
            functions: [].iter(),
            last: SpirvWalkPart::Done,
        }
    }

    /// The next instruction.
    #[inline]
    pub fn next_handle(&mut self) -> Option<Inst> {
        let inst = match self.at {
            Some(inst) => inst,
            None => self.advance_part()?,
        };
        self.at = self.module.next(inst);
        Some(inst)
    }

    /// The first instruction of the next part that has any.
    fn advance_part(&mut self) -> Option<Inst> {
        let module = self.module;
        let head = |list: List| module.list_ends(list).head;
        loop {
            let (found, next) = match self.part {
                SpirvWalkPart::Section(at) => match ModuleSection::ALL[at] {
                    ModuleSection::Trailer => (None, self.next_function()),
                    section => (head(section.list()), SpirvWalkPart::Section(at + 1)),
                },
                SpirvWalkPart::Lead(f) => (head(f.lead), SpirvWalkPart::Def(f)),
                SpirvWalkPart::Def(f) => (Some(f.def), SpirvWalkPart::Params(f)),
                SpirvWalkPart::Params(f) => (head(f.params), SpirvWalkPart::Block(f, 0)),
                SpirvWalkPart::Block(f, at) => match f.blocks.get(at) {
                    Some(block) => {
                        let block = module.block(*block);
                        match head(block.lead) {
                            None => (Some(block.label), SpirvWalkPart::Body(f, at, block)),
                            lead => (lead, SpirvWalkPart::Label(f, at, block)),
                        }
                    }
                    None => (head(f.tail), SpirvWalkPart::End(f)),
                },
                SpirvWalkPart::Label(f, at, block) => {
                    (Some(block.label), SpirvWalkPart::Body(f, at, block))
                }
                SpirvWalkPart::Body(f, at, block) => {
                    (head(block.body), SpirvWalkPart::Block(f, at + 1))
                }
                SpirvWalkPart::End(f) => (Some(f.end), self.next_function()),
                SpirvWalkPart::Trailer => {
                    (head(ModuleSection::Trailer.list()), SpirvWalkPart::Done)
                }
                SpirvWalkPart::Done => return None,
            };
            self.part = next;
            if found.is_some() {
                return found;
            }
        }
    }

    fn next_function(&mut self) -> SpirvWalkPart<'a> {
        match self.functions.next() {
            Some(func) => SpirvWalkPart::Lead(self.module.function(*func)),
            None => self.last,
        }
    }
}

impl<'a> Iterator for SpirvWalk<'a> {
    type Item = InstRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<InstRef<'a>> {
        let inst = self.next_handle()?;
        Some(self.module.inst(inst))
    }
}
