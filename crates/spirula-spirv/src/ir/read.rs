//! From words to the IR, in one pass.

use super::list::List;
use super::module::{Block, Func, Inst, Module, Node, Section};
use crate::binary::{self, Header, RawInst, Stream};
use crate::grammar::{Category, DecodeError, ExtInstSet, Kind, Op, Operands, literal_string};
use spirula_source::{Diagnostic, Place};

/// Largest bound that is accepted for modules of any size: the universal limit of the
/// specification (section 2.17). Above it a module needs a word for each of its ids.
const UNIVERSAL_BOUND: u32 = 0x3f_ffff;

impl Module {
    /// Reads a module from its bytes, in either byte order.
    ///
    /// # Errors
    /// When the bytes are no module, or an instruction is malformed or stands where it may not.
    pub fn from_bytes(bytes: &[u8]) -> Result<Module, Diagnostic> {
        Module::from_words(binary::words(bytes)?)
    }

    /// Reads a module from its words, header included.
    ///
    /// # Errors
    /// As [`Module::from_bytes`].
    pub fn from_words(words: Vec<u32>) -> Result<Module, Diagnostic> {
        let header = Header::read(&words)?;
        let limit = UNIVERSAL_BOUND.max(words.len() as u32);
        if header.bound == 0 || header.bound > limit {
            let message = format!("a bound of {} ids is out of the possible", header.bound);
            return Err(Diagnostic::error(Place::Word(3), message));
        }
        let mut module = Module::new(header.version);
        module.generator = header.generator;
        module.schema = header.schema;
        module.bound = header.bound;
        module.original = words.len() as u32;
        let mut reader = Reader {
            module,
            state: State::Module,
            lines: None,
            sets: Vec::new(),
        };
        for inst in Stream::new(&words) {
            let inst = inst?;
            reader.check(&inst)?;
            reader.place(&inst)?;
        }
        let mut module = reader.finish(words.len())?;
        module.words = words;
        Ok(module)
    }
}

/// What the reader is within.
#[derive(Clone, Copy)]
enum State {
    /// Outside of functions.
    Module,
    /// Behind `OpFunction`, before the first label, or between two blocks.
    Function(Func),
    /// Behind a label, before its terminator.
    Block(Func, Block),
}

struct Reader {
    module: Module,
    state: State,
    /// Lines and non-semantic instructions whose owner has not come yet.
    lines: Option<List>,
    /// Extended instruction sets imported so far.
    sets: Vec<(u32, Option<&'static ExtInstSet>)>,
}

impl Reader {
    /// Holds the first invariant of the IR: operands as the grammar demands, ids within the bound.
    fn check(&mut self, inst: &RawInst<'_>) -> Result<(), Diagnostic> {
        if super::simple::is_well_formed(inst.op, inst.words, self.module.bound) {
            return Ok(());
        }
        let fault = |at: usize, message: String| {
            let place = Place::Word((inst.at + 1 + at) as u32);
            Diagnostic::error(place, format!("{}: {message}", inst.op))
        };
        let set = match (inst.op, inst.words) {
            (Op::ExtInst, [_, _, set, ..]) => self
                .sets
                .iter()
                .find(|(id, _)| id == set)
                .and_then(|(_, set)| *set),
            _ => None,
        };
        let bound = self.module.bound;
        // How wide a switch's literals are depends on its selector's type: its labels are checked by
        // the control-flow graph.
        let checked = if inst.op == Op::Switch { 2 } else { usize::MAX };
        for operand in Operands::new(inst.op, inst.words)
            .with_ext(set)
            .take(checked)
        {
            match operand {
                Ok(o) if o.kind.info().category == Category::Id => {
                    let id = o.words[0];
                    if id == 0 || id >= bound {
                        let message = format!("the id {id} is not below the bound {bound}");
                        return Err(fault(o.at, message));
                    }
                }
                // What an unknown set's operands are cannot be told.
                Ok(o) if o.kind == Kind::LiteralExtInstInteger && set.is_none() => break,
                Ok(_) => {}
                // Kept word for word: they come from a newer grammar than ours.
                Err(DecodeError::UnknownOpcode | DecodeError::UnknownValue(..)) => break,
                Err(DecodeError::Surplus(at)) => {
                    return Err(fault(at, DecodeError::Surplus(at).to_string()));
                }
                Err(error) => return Err(fault(inst.words.len(), error.to_string())),
            }
        }
        if let (Op::ExtInstImport, [id, name @ ..]) = (inst.op, inst.words) {
            self.sets
                .push((*id, ExtInstSet::by_name(&literal_string(name))));
        }
        Ok(())
    }

    fn place(&mut self, raw: &RawInst<'_>) -> Result<(), Diagnostic> {
        let inst = self.node(raw);
        match self.state {
            State::Module => self.outside(raw, inst),
            State::Function(func) => self.in_function(raw, inst, func),
            State::Block(func, block) => self.in_block(raw, inst, func, block),
        }
    }

    fn node(&mut self, raw: &RawInst<'_>) -> Inst {
        let inst = Inst(self.module.nodes.len() as u32);
        self.module.nodes.push(Node {
            start: raw.at as u32 + 1,
            length: raw.words.len() as u16,
            op: raw.op,
            list: None,
            previous: None,
            next: None,
        });
        inst
    }

    fn outside(&mut self, raw: &RawInst<'_>, inst: Inst) -> Result<(), Diagnostic> {
        match raw.op {
            Op::Function => {
                let func = self.module.create_function(inst);
                if let Some(lines) = self.lines.take() {
                    self.module.functions[func.index()].lead = lines;
                }
                self.state = State::Function(func);
            }
            Op::Label | Op::FunctionParameter | Op::FunctionEnd => {
                return Err(misplaced(raw, "outside of a function"));
            }
            op if op.is_terminator() => return Err(misplaced(raw, "outside of a function")),
            op if op.is_line() || !self.module.order.is_empty() => self.wait(inst),
            op => {
                let list = Section::of(op).list();
                if let Some(lines) = self.lines.take() {
                    self.adopt(list, lines);
                }
                self.module.append(list, inst);
            }
        }
        Ok(())
    }

    fn in_function(&mut self, raw: &RawInst<'_>, inst: Inst, func: Func) -> Result<(), Diagnostic> {
        let has_blocks = !self.module.function(func).blocks.is_empty();
        match raw.op {
            Op::FunctionParameter if !has_blocks => {
                let params = self.module.function(func).params;
                if let Some(lines) = self.lines.take() {
                    self.adopt(params, lines);
                }
                self.module.append(params, inst);
            }
            Op::Label => {
                let block = self.module.create_block_at(func, inst);
                if let Some(lines) = self.lines.take() {
                    self.module.blocks[block.index()].lead = lines;
                }
                self.state = State::Block(func, block);
            }
            Op::FunctionEnd => {
                self.module.functions[func.index()].end = inst;
                if let Some(lines) = self.lines.take() {
                    self.module.functions[func.index()].tail = lines;
                }
                self.state = State::Module;
            }
            op if op.is_line() || op == Op::ExtInst => self.wait(inst),
            _ => return Err(misplaced(raw, "outside of a basic block")),
        }
        Ok(())
    }

    fn in_block(
        &mut self,
        raw: &RawInst<'_>,
        inst: Inst,
        func: Func,
        block: Block,
    ) -> Result<(), Diagnostic> {
        if matches!(
            raw.op,
            Op::Label | Op::Function | Op::FunctionEnd | Op::FunctionParameter
        ) {
            return Err(misplaced(raw, "before the end of a basic block")
                .with_hint("a basic block ends in a branch, a return or OpUnreachable"));
        }
        self.module.append(self.module.block(block).body, inst);
        if raw.op.is_terminator() {
            self.state = State::Function(func);
        }
        Ok(())
    }

    fn wait(&mut self, inst: Inst) {
        let list = *self.lines.get_or_insert_with(|| self.module.create_list());
        self.module.append(list, inst);
    }

    /// Moves waiting instructions to the end of a list.
    fn adopt(&mut self, list: List, lines: List) {
        while let Some(inst) = self.module.ends(lines).head {
            self.module.remove(inst);
            self.module.append(list, inst);
        }
    }

    fn finish(mut self, end: usize) -> Result<Module, Diagnostic> {
        if !matches!(self.state, State::Module) {
            let place = Place::Word(end as u32);
            return Err(Diagnostic::error(
                place,
                "the module ends within a function",
            ));
        }
        if let Some(lines) = self.lines.take() {
            let list = if self.module.order.is_empty() {
                Section::Globals.list()
            } else {
                Section::Trailer.list()
            };
            self.adopt(list, lines);
        }
        Ok(self.module)
    }
}

fn misplaced(raw: &RawInst<'_>, where_: &str) -> Diagnostic {
    Diagnostic::error(raw.place(), format!("{} stands {where_}", raw.op))
}
