//! Module reader: words to IR in one pass.

use super::id_words::IdWords;
use super::inst_arena::MOST_LISTS;
use super::module::{Func, Inst, List, ModuleSection, SpirvModule};
use super::word_pool::WordPool;
use crate::binary::{self, InstructionStream, RawInst, SpirvHeader};
use crate::grammar::{
    DecodeError, ExtInstSet, Kind, Op, OperandCategory, OperandInfo, OperandIter,
};
use crate::grammar::{
    IdPositions, OpcodeRole, OperandQuantifier, TrailingOperands, literal_string,
};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Largest bound that is accepted for modules of any size: the universal limit of the
/// specification (section 2.17). Above it a module needs a word for each of its ids.
const UNIVERSAL_BOUND: u32 = 0x3f_ffff;

impl SpirvModule {
    /// Reads a module from its bytes, in either byte order.
    ///
    /// # Errors
    /// If the bytes are no module, or an instruction is malformed or misplaced.
    pub fn from_bytes(bytes: &[u8]) -> Result<SpirvModule, SourceDiagnostic> {
        SpirvModule::from_words(binary::words_from_bytes(bytes)?)
    }

    /// Reads a module from its words, header included.
    ///
    /// # Errors
    /// As [`SpirvModule::from_bytes`].
    pub fn from_words(words: Vec<u32>) -> Result<SpirvModule, SourceDiagnostic> {
        let header = SpirvHeader::from_words(&words)?;
        let limit = UNIVERSAL_BOUND.max(words.len() as u32);
        if header.bound == 0 || header.bound > limit {
            let message = format!("a bound of {} ids is out of the possible", header.bound);
            return Err(SourceDiagnostic::error(SourceLocation::Word(3), message));
        }
        if words.len() > MOST_LISTS {
            let message = format!("a module of {} words is too large", words.len());
            return Err(SourceDiagnostic::error(SourceLocation::Unknown, message));
        }
        let mut module = SpirvModule::new(header.version);
        module.generator = header.generator;
        module.schema = header.schema;
        module.bound = header.bound;
        module.nodes.reserve_exact(words.len() / WORDS_PER_NODE);
        let mut reader = SpirvReader {
            module,
            state: SpirvReadState::Module,
            lines: None,
            section: ModuleSection::Capabilities,
            in_order: true,
            sets: Vec::new(),
        };
        let mut stream = InstructionStream::new(&words);
        while let Some(inst) = stream.next_valid() {
            reader.check_operands(inst, &words)?;
            reader.reserve_nodes(inst.at, words.len());
            reader.place_instruction(inst, words.len())?;
        }
        if let Some(fault) = stream.diagnose_fault() {
            return Err(fault);
        }
        let mut module = reader.finish_module(words.len())?;
        module.words = WordPool::from_words(words);
        check_switches(&module)?;
        Ok(module)
    }
}

/// Checks the first invariant of the IR for the labels of switches. The width of their literals, and so the
/// positions of their labels, is known only when the whole module is read.
fn check_switches(module: &SpirvModule) -> Result<(), SourceDiagnostic> {
    let blocks = module.functions().iter();
    let blocks = blocks.flat_map(|func| &module.function(*func).blocks);
    let mut ids = None;
    for switch in blocks.map(|block| module.terminator(*block)) {
        if switch.op() != Op::Switch {
            continue;
        }
        let ids = ids.get_or_insert_with(|| IdWords::new(module));
        let mut outside = None;
        ids.visit_uses(switch, |_, id| {
            if id.word() >= module.bound {
                outside = Some(id);
            }
        });
        if let Some(id) = outside {
            let message = format!("{}: {}", switch.op(), not_below(id.word(), module.bound));
            return Err(SourceDiagnostic::error(switch.place(), message));
        }
    }
    Ok(())
}

fn not_below(id: u32, bound: u32) -> String {
    format!("the id {id} is not below the bound {bound}")
}

/// An estimate of the number of further items, from the words read so far.
fn estimate_remaining(so_far: usize, at: usize, whole: usize) -> usize {
    let more = so_far as u64 * (whole - at) as u64 / at as u64;
    more as usize + so_far / 16 + 16
}

/// Words that an instruction is expected to have.
const WORDS_PER_NODE: usize = 4;

/// The enclosing part that the reader is in.
#[derive(Clone, Copy)]
enum SpirvReadState {
    /// Outside of functions.
    Module,
    /// After `OpFunction`, before the first label, or between two blocks.
    Function(Func),
    /// After a label, before its terminator: the function, the block's body and whether it is still empty.
    Block(Func, List, bool),
}

struct SpirvReader {
    module: SpirvModule,
    state: SpirvReadState,
    /// Lines and non-semantic instructions whose owner has not come yet.
    lines: Option<List>,
    /// Section of the last instruction outside of functions, and whether all instructions so far were in order.
    section: ModuleSection,
    in_order: bool,
    /// Extended instruction sets imported so far.
    sets: Vec<(u32, Option<&'static ExtInstSet>)>,
}

impl SpirvReader {
    /// Holds the first invariant of the IR: operands as the grammar demands, ids within the bound.
    #[inline]
    fn check_operands(&self, inst: RawInst<'_>, whole: &[u32]) -> Result<(), SourceDiagnostic> {
        let bound = self.module.bound;
        let shape = inst.op.shape();
        if let Some(spots) = shape.locate_ids(inst.words)
            && are_below(whole, inst, spots, bound)
            && shape.is_whole(inst.words)
        {
            return Ok(());
        }
        self.check_further(inst, whole)
    }

    /// As above, for instructions that have to be split.
    #[inline(never)]
    fn check_further(&self, inst: RawInst<'_>, whole: &[u32]) -> Result<(), SourceDiagnostic> {
        match self.locate_ids(inst) {
            Some(spots) if are_below(whole, inst, spots, self.module.bound) => Ok(()),
            _ => self.check_split(inst),
        }
    }

    /// The id positions of instructions that have to be split.
    fn locate_ids(&self, inst: RawInst<'_>) -> Option<IdPositions> {
        let from = match (inst.op.shape().rest, inst.words) {
            // Its labels are checked at the end.
            (TrailingOperands::Switch, [_, _, ..]) => inst.words.len(),
            (TrailingOperands::Ext, [_, _, _, number, operands @ ..]) => {
                let row = self
                    .find_ext_inst_set(inst)?
                    .instruction_by_number(*number)?;
                let one = |o: &OperandInfo| {
                    o.kind == Kind::IdRef && o.quantifier == OperandQuantifier::One
                };
                if row.operands.len() != operands.len() || !row.operands.iter().all(one) {
                    return None;
                }
                inst.words.len() - operands.len()
            }
            _ => return None,
        };
        let bits = inst.op.shape().fixed_ids();
        Some(IdPositions { bits, from })
    }

    /// The set of an extended instruction, where it is known.
    fn find_ext_inst_set(&self, inst: RawInst<'_>) -> Option<&'static ExtInstSet> {
        let (TrailingOperands::Ext, [_, _, set, ..]) = (inst.op.shape().rest, inst.words) else {
            return None;
        };
        let found = self.sets.iter().find(|(id, _)| id == set);
        found.and_then(|(_, set)| *set)
    }

    /// As above, operand by operand.
    fn check_split(&self, inst: RawInst<'_>) -> Result<(), SourceDiagnostic> {
        let fault = |at: usize, message: String| {
            let place = SourceLocation::Word((inst.at + 1 + at) as u32);
            SourceDiagnostic::error(place, format!("{}: {message}", inst.op))
        };
        let set = self.find_ext_inst_set(inst);
        let bound = self.module.bound;
        let checked = if inst.op == Op::Switch { 2 } else { usize::MAX };
        for operand in OperandIter::new(inst.op, inst.words)
            .with_ext(set)
            .take(checked)
        {
            match operand {
                Ok(o) if o.kind.info().category == OperandCategory::Id => {
                    let id = o.words[0];
                    if id == 0 || id >= bound {
                        return Err(fault(o.at, not_below(id, bound)));
                    }
                }
                // The operands of an unknown set cannot be interpreted.
                Ok(o) if o.kind == Kind::LiteralExtInstInteger && set.is_none() => break,
                Ok(_) => {}
                // They come from a newer grammar and are kept verbatim. Words before and after a value without
                // parameters are checked as usual.
                Err(DecodeError::UnknownValue(..))
                    if !inst.op.shape().has_fixed(inst.words, bound) =>
                {
                    let message = "an operand is missing, or an id is not below the bound";
                    return Err(fault(0, message.to_owned()));
                }
                Err(DecodeError::UnknownOpcode | DecodeError::UnknownValue(..)) => break,
                Err(DecodeError::Surplus(at)) => {
                    return Err(fault(at, DecodeError::Surplus(at).to_string()));
                }
                Err(error) => return Err(fault(inst.words.len(), error.to_string())),
            }
        }
        Ok(())
    }

    /// Reserves nodes for as many more instructions as the words read so far predict. Doubling would take twice
    /// the memory that is needed.
    #[inline]
    fn reserve_nodes(&mut self, at: usize, whole: usize) {
        let nodes = &mut self.module.nodes;
        if nodes.is_full() {
            nodes.reserve_exact(estimate_remaining(nodes.len(), at, whole));
        }
    }

    /// As above, for a block and its list.
    fn room_for_block(&mut self, at: usize, whole: usize) {
        let (blocks, lists) = (&mut self.module.blocks, &mut self.module.lists);
        if blocks.len() == blocks.capacity() {
            blocks.reserve_exact(estimate_remaining(blocks.len(), at, whole));
        }
        if lists.len() == lists.capacity() {
            lists.reserve_exact(estimate_remaining(lists.len(), at, whole));
        }
    }

    #[inline]
    fn place_instruction(
        &mut self,
        raw: RawInst<'_>,
        whole: usize,
    ) -> Result<(), SourceDiagnostic> {
        match self.state {
            SpirvReadState::Block(func, list, is_empty) => self.in_block(raw, func, list, is_empty),
            SpirvReadState::Function(func) => self.in_function(raw, func, whole),
            SpirvReadState::Module => self.place_outside_functions(raw),
        }
    }

    #[inline(never)]
    fn place_outside_functions(&mut self, raw: RawInst<'_>) -> Result<(), SourceDiagnostic> {
        let goes_on = self.lines.is_none() && self.module.order.is_empty();
        if goes_on
            && matches!(
                raw.op.shape().role,
                OpcodeRole::Plain | OpcodeRole::Annotation
            )
        {
            self.record_import(raw);
            let list = self.enter_section(raw.op);
            self.push_instruction(list, raw);
            return Ok(());
        }
        let inst = self.module.create_at(raw.at as u32);
        match raw.op {
            Op::Function => {
                // Its end is known when it is read.
                let func = self.module.create_function_at(inst, inst);
                if let Some(lines) = self.lines.take() {
                    self.module.functions[func.index()].lead = lines;
                }
                self.state = SpirvReadState::Function(func);
            }
            Op::Label | Op::FunctionParameter | Op::FunctionEnd => {
                return Err(misplaced_error(raw, "outside of a function"));
            }
            op if op.is_terminator() => return Err(misplaced_error(raw, "outside of a function")),
            op if op.is_line() || !self.module.order.is_empty() => self.defer_instruction(inst),
            op => {
                self.record_import(raw);
                let list = self.enter_section(op);
                if let Some(lines) = self.lines.take() {
                    self.adopt_deferred(list, lines);
                }
                self.module.append_inst(list, inst);
            }
        }
        Ok(())
    }

    /// Records a set of extended instructions.
    fn record_import(&mut self, raw: RawInst<'_>) {
        if let (Op::ExtInstImport, [id, name @ ..]) = (raw.op, raw.words) {
            let set = ExtInstSet::by_name(&literal_string(name));
            self.sets.push((*id, set));
        }
    }

    /// Appends an instruction to a list.
    fn push_instruction(&mut self, list: List, raw: RawInst<'_>) {
        let ends = &mut self.module.lists[list.index()];
        let nodes = &mut self.module.nodes;
        let goes_on = ends
            .tail
            .is_some_and(|last| last.index() + 1 == nodes.len());
        if let Some(last) = ends.tail
            && goes_on
        {
            let inst = nodes.push_in(raw.at as u32, list, false, true);
            nodes.set_next(last, Some(inst));
            ends.tail = Some(inst);
        } else {
            let inst = nodes.push_free(raw.at as u32);
            self.module.append_inst(list, inst);
        }
    }

    #[inline(never)]
    fn in_function(
        &mut self,
        raw: RawInst<'_>,
        func: Func,
        whole: usize,
    ) -> Result<(), SourceDiagnostic> {
        let inst = self.module.create_at(raw.at as u32);
        let has_blocks = !self.module.function(func).blocks.is_empty();
        match raw.op {
            Op::FunctionParameter if !has_blocks => {
                let params = self.module.function(func).params;
                if let Some(lines) = self.lines.take() {
                    self.adopt_deferred(params, lines);
                }
                self.module.append_inst(params, inst);
            }
            Op::Label => {
                self.room_for_block(raw.at, whole);
                let block = self.module.create_block_at(func, inst);
                if let Some(lines) = self.lines.take() {
                    self.module.blocks[block.index()].lead = lines;
                }
                self.state = SpirvReadState::Block(func, self.module.block(block).body, true);
            }
            Op::FunctionEnd => {
                self.module.functions[func.index()].end = inst;
                if let Some(lines) = self.lines.take() {
                    self.module.functions[func.index()].tail = lines;
                }
                self.state = SpirvReadState::Module;
            }
            op if op.is_line() || op == Op::ExtInst => self.defer_instruction(inst),
            _ => return Err(misplaced_error(raw, "outside of a basic block")),
        }
        Ok(())
    }

    #[inline]
    fn in_block(
        &mut self,
        raw: RawInst<'_>,
        func: Func,
        list: List,
        is_first: bool,
    ) -> Result<(), SourceDiagnostic> {
        let role = raw.op.shape().role;
        if matches!(
            role,
            OpcodeRole::Label
                | OpcodeRole::Function
                | OpcodeRole::FunctionEnd
                | OpcodeRole::Parameter
        ) {
            return Err(misplaced_error(raw, "before the end of a basic block")
                .with_hint("a basic block ends in a branch, a return or OpUnreachable"));
        }
        let ends = role == OpcodeRole::Terminator;
        let nodes = &mut self.module.nodes;
        let inst = nodes.push_in(raw.at as u32, list, is_first, ends);
        let known = &mut self.module.lists[list.index()];
        if is_first {
            known.head = Some(inst);
        }
        if ends {
            known.tail = Some(inst);
        }
        self.state = if ends {
            SpirvReadState::Function(func)
        } else {
            SpirvReadState::Block(func, list, false)
        };
        Ok(())
    }

    /// The list of the section that an instruction outside of functions belongs in.
    fn enter_section(&mut self, op: Op) -> List {
        let section = ModuleSection::from_op(op);
        self.in_order &= section >= self.section;
        self.section = section;
        section.list()
    }

    fn defer_instruction(&mut self, inst: Inst) {
        let list = *self.lines.get_or_insert_with(|| self.module.create_list());
        self.module.append_inst(list, inst);
    }

    /// Moves waiting instructions to the end of a list.
    fn adopt_deferred(&mut self, list: List, lines: List) {
        while let Some(inst) = self.module.list_ends(lines).head {
            self.module.remove_inst(inst);
            self.module.append_inst(list, inst);
        }
    }

    fn finish_module(mut self, end: usize) -> Result<SpirvModule, SourceDiagnostic> {
        if !matches!(self.state, SpirvReadState::Module) {
            let place = SourceLocation::Word(end as u32);
            return Err(SourceDiagnostic::error(
                place,
                "the module ends within a function",
            ));
        }
        if let Some(lines) = self.lines.take() {
            let list = if self.module.order.is_empty() {
                ModuleSection::Globals.list()
            } else {
                ModuleSection::Trailer.list()
            };
            self.adopt_deferred(list, lines);
        }
        self.module.trim_tables();
        self.module.as_read = self.in_order;
        Ok(self.module)
    }
}

/// Whether the ids of an instruction are neither 0 nor out of the bound.
///
/// Most instructions are short: eight words are compared whatever the instruction has, as that costs
/// less than a loop whose length cannot be foreseen.
#[inline]
fn are_below(whole: &[u32], inst: RawInst<'_>, spots: IdPositions, bound: u32) -> bool {
    const WINDOW: usize = 8;
    let is_id = |word: u32| word.wrapping_sub(1) < bound - 1;
    let words = inst.words;
    let window = whole.get(inst.at + 1..inst.at + 1 + WINDOW);
    if let (Some(window), Some(wanted)) = (window, spots.id_mask(words.len()))
        && words.len() <= WINDOW
    {
        let mut outside = 0;
        for (at, word) in window.iter().enumerate() {
            outside |= u32::from(!is_id(*word)) << at;
        }
        return outside & wanted == 0;
    }
    let first = words.iter().enumerate().take(spots.from.min(32));
    first
        .filter(|(at, _)| spots.bits >> at & 1 == 1)
        .all(|(_, w)| is_id(*w))
        && words[spots.from..].iter().all(|w| is_id(*w))
}

#[cold]
fn misplaced_error(raw: RawInst<'_>, where_: &str) -> SourceDiagnostic {
    SourceDiagnostic::error(raw.place(), format!("{} is {where_}", raw.op))
}
