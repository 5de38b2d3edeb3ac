//! Function body parser.
//!
//! A local that is used before its definition is represented by a placeholder until the body ends.
//! All blocks are, because they are numbered in the order of their definitions, and uses come
//! first.

use super::body_state::{BodyParseState, FORWARD, ForwardLocal, LlvmName};
use super::lexer::{LlvmToken, LlvmTokenKind};
use super::parser::LlvmParser;
use super::print::print_type;
use crate::ir::{
    DebugRecord, DebugRecordKind, LlvmBlock, LlvmBlockData, LlvmFunc, LlvmFunction, LlvmInst,
    LlvmInstruction, LlvmPoolRange, LlvmSymbol, LlvmType, LlvmValue, MetadataAttachment,
    MetadataKind,
};
use crate::{LlvmError, LlvmResult, error_at};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;

const RECORDS: &[(&str, DebugRecordKind)] = &[
    ("#dbg_value", DebugRecordKind::Value),
    ("#dbg_declare", DebugRecordKind::Declare),
    ("#dbg_assign", DebugRecordKind::Assign),
    ("#dbg_label", DebugRecordKind::Label),
    ("#dbg_declare_value", DebugRecordKind::DeclareValue),
];

impl LlvmParser<'_> {
    /// The body that is being parsed. It must exist.
    pub fn current_body(&mut self) -> LlvmResult<&mut BodyParseState> {
        match &mut self.body {
            Some(body) => Ok(body),
            None => Err(error_at(
                self.token.place(),
                "a local value outside of a function",
            )),
        }
    }

    /// The local that `token` names, of the stated type.
    pub fn find_local(
        &mut self,
        name: LlvmName,
        ty: LlvmType,
        token: LlvmToken,
    ) -> LlvmResult<LlvmValue> {
        let place = token.place();
        if self.body.is_none() {
            return Err(error_at(place, "a local value outside of a function"));
        }
        let body = self.current_body()?;
        if let Some(&local) = body.locals.get(&name) {
            let found = body.func.local_type(local);
            if !self.module.types.is_compatible(found, ty) {
                return Err(self.other_type(place, ty, found));
            }
            return Ok(LlvmValue::from_local(local));
        }
        let forwards = &mut body.forwards;
        let index = *body.forward_of.entry(name).or_insert_with(|| {
            forwards.push(ForwardLocal { name, ty, place });
            forwards.len() - 1
        });
        let stated = body.forwards[index].ty;
        if !self.module.types.is_compatible(stated, ty) {
            return Err(self.other_type(place, ty, stated));
        }
        Ok(LlvmValue::from_local(FORWARD + index))
    }

    /// The local of a name. If it is defined, it may have any type; otherwise it gets the type
    /// `fallback`.
    pub fn local_of_any_type(&mut self, fallback: LlvmType) -> LlvmResult<LlvmValue> {
        let token = self.take_token();
        let name = self.name_of(token)?;
        let known = self.current_body()?.locals.get(&name).copied();
        match known {
            Some(local) => Ok(LlvmValue::from_local(local)),
            None => self.find_local(name, fallback, token),
        }
    }

    /// `label %name`
    pub fn parse_target(&mut self) -> LlvmResult<LlvmBlock> {
        self.expect_word("label")?;
        self.parse_block_name()
    }

    /// Parses the `%name` of a block. The result is a placeholder until the body ends.
    pub fn parse_block_name(&mut self) -> LlvmResult<LlvmBlock> {
        if self.token.kind != LlvmTokenKind::Local {
            return self.fail_expected("a block");
        }
        let token = self.take_token();
        let name = self.name_of(token)?;
        let place = token.place();
        Ok(LlvmBlock::new(
            self.current_body()?.intern_label(name, place),
        ))
    }

    /// Parses the body of a function after its opening brace.
    pub fn parse_function_body(
        &mut self,
        func: LlvmFunc,
        params: Vec<Option<LlvmName>>,
    ) -> LlvmResult<()> {
        let slot = &mut self.module.functions[func.index()];
        let empty = LlvmFunction::new(slot.global, slot.ty, Vec::new());
        let function = std::mem::replace(slot, empty);
        let place = self.module.global(function.global).place;
        self.body = Some(Box::new(BodyParseState::new(function, &params, place)?));
        while !self.eat_punct(b'}') {
            self.parse_statement()?;
        }
        let end = self.place_from(self.last_end.saturating_sub(1));
        let Some(mut body) = self.body.take() else {
            return Ok(());
        };
        let open = body.block_name.is_some() || body.block_start != body.func.insts.len();
        if open || body.func.blocks.is_empty() {
            return Err(error_at(end, "the last block has no terminator"));
        }
        self.resolve_placeholders(&mut body)?;
        self.module.functions[func.index()] = body.func;
        Ok(())
    }

    fn parse_statement(&mut self) -> LlvmResult<()> {
        match self.token.kind {
            LlvmTokenKind::Label => return self.define_label(),
            LlvmTokenKind::HashWord => return self.parse_debug_record(),
            LlvmTokenKind::End => return self.fail_with("the body is never closed"),
            _ => {}
        }
        if self.at_word("uselistorder") || self.at_word("uselistorder_bb") {
            while !self.is_at(b'{') && !self.at_end() {
                self.take_token();
            }
            return self.skip_group();
        }
        self.open_block()?;
        let start = self.token;
        let mut name = None;
        if self.token.kind == LlvmTokenKind::Local {
            let token = self.take_token();
            name = Some(self.name_of(token)?);
            self.expect_punct(b'=')?;
        }
        self.parse_instruction(start.start)?;
        self.define_local(name, start)?;
        self.close_block()
    }

    fn define_label(&mut self) -> LlvmResult<()> {
        let token = self.take_token();
        let name = self.name_of(token)?;
        let body = self.current_body()?;
        if body.block_name.is_some() || body.block_start != body.func.insts.len() {
            return Err(error_at(
                token.place(),
                "the block before has no terminator",
            ));
        }
        let symbol = match name {
            LlvmName::Symbol(symbol) => symbol,
            LlvmName::Number(number) => {
                body.next_number = number.saturating_add(1);
                LlvmSymbol::EMPTY
            }
        };
        body.block_name = Some(symbol);
        self.begin_block(name, token.place())
    }

    /// Begins a block without a label if an instruction follows outside of a block.
    fn open_block(&mut self) -> LlvmResult<()> {
        let place = self.token.place();
        let body = self.current_body()?;
        if body.block_start != body.func.insts.len() || body.block_name.is_some() {
            return Ok(());
        }
        let name = LlvmName::Number(body.next_number);
        body.next_number += 1;
        body.block_name = Some(LlvmSymbol::EMPTY);
        self.begin_block(name, place)
    }

    fn begin_block(&mut self, name: LlvmName, place: SourceLocation) -> LlvmResult<()> {
        let body = self.current_body()?;
        let block = LlvmBlock::new(body.func.blocks.len());
        let label = body.intern_label(name, place);
        if body.labels[label].block.is_some() || body.locals.contains_key(&name) {
            return Err(error_at(place, "this name is already defined"));
        }
        body.labels[label].block = Some(block);
        Ok(())
    }

    /// Names the result of the last instruction.
    fn define_local(&mut self, name: Option<LlvmName>, start: LlvmToken) -> LlvmResult<()> {
        let place = start.place();
        let body = self.current_body()?;
        let Some(inst) = body.func.insts.len().checked_sub(1) else {
            return Ok(());
        };
        let local = body.func.params.len() + inst;
        let ty = body.func.insts[inst].ty;
        if ty == LlvmType::VOID {
            return match name {
                Some(_) => Err(error_at(
                    place,
                    "an instruction without a result has no name",
                )),
                None => Ok(()),
            };
        }
        let name = name.unwrap_or(LlvmName::Number(body.next_number));
        match name {
            LlvmName::Number(number) if number < body.next_number => {
                let expected = body.next_number;
                return Err(error_at(
                    place,
                    format!("expected a number of {expected} or above"),
                ));
            }
            LlvmName::Number(number) => body.next_number = number.saturating_add(1),
            LlvmName::Symbol(symbol) => {
                body.func.names.resize(local, LlvmSymbol::EMPTY);
                body.func.names.push(symbol);
            }
        }
        if body.locals.insert(name, local).is_some() || body.label_is_defined(name) {
            return Err(error_at(place, "this name is already defined"));
        }
        match body.forward_of.get(&name) {
            Some(&forward) if body.forwards[forward].ty != ty => {
                let place = body.forwards[forward].place;
                Err(error_at(
                    place,
                    "a value of another type than it is defined with",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Ends the block if the last instruction does.
    fn close_block(&mut self) -> LlvmResult<()> {
        let body = self.current_body()?;
        if body
            .func
            .insts
            .last()
            .is_some_and(|inst| inst.opcode.is_terminator())
        {
            let insts = LlvmPoolRange::from_start(body.block_start, &body.func.insts);
            let name = body.block_name.take().unwrap_or(LlvmSymbol::EMPTY);
            body.func.blocks.push(LlvmBlockData { name, insts });
            body.block_start = body.func.insts.len();
        }
        Ok(())
    }

    /// Adds an instruction, then parses its attachments.
    pub fn push_instruction(&mut self, inst: LlvmInstruction, start: usize) -> LlvmResult<()> {
        let mut attachments = Vec::new();
        while self.is_at(b',') {
            self.take_token();
            match self.parse_attachment()? {
                Some(attachment) => attachments.push(attachment),
                None => return self.fail_expected("metadata"),
            }
        }
        let place = self.place_from(start);
        let body = self.current_body()?;
        let id = LlvmInst::new(body.func.insts.len());
        body.func.insts.push(inst);
        body.func.places.push(place);
        let attach = |(kind, node)| MetadataAttachment {
            inst: id,
            kind,
            node,
        };
        body.func
            .attachments
            .extend(attachments.into_iter().map(attach));
        Ok(())
    }

    /// `#dbg_value(…)` and the like.
    fn parse_debug_record(&mut self) -> LlvmResult<()> {
        let text = self.peek_text();
        let Some(&(_, kind)) = RECORDS.iter().find(|row| row.0 == text) else {
            return self.fail_expected("an instruction");
        };
        self.take_token();
        self.expect_punct(b'(')?;
        let mut arguments = Vec::new();
        self.parse_list(b')', |parser| {
            arguments.push(Some(parser.parse_metadata_value()?));
            Ok(())
        })?;
        let body = self.current_body()?;
        let before = LlvmInst::new(body.func.insts.len());
        body.func.debug_records.push(DebugRecord {
            before,
            kind,
            arguments,
        });
        Ok(())
    }

    /// Replaces all placeholders.
    fn resolve_placeholders(&mut self, body: &mut BodyParseState) -> LlvmResult<()> {
        let mut found = Vec::with_capacity(body.forwards.len());
        for forward in &body.forwards {
            match body.locals.get(&forward.name) {
                Some(&local) => found.push(LlvmValue::from_local(local)),
                None => return Err(self.never_defined(forward.place)),
            }
        }
        let resolve =
            |value: LlvmValue| match value.as_local().and_then(|at| at.checked_sub(FORWARD)) {
                Some(forward) => found[forward],
                None => value,
            };
        if !found.is_empty() {
            for value in &mut body.func.value_pool {
                *value = resolve(*value);
            }
        }
        for &id in &body.local_metadata {
            if let MetadataKind::Local(value) = self.module.metadata.kind(id) {
                self.module
                    .metadata
                    .replace_metadata(id, MetadataKind::Local(resolve(value)));
            }
        }
        let mut blocks = Vec::with_capacity(body.labels.len());
        for label in &body.labels {
            match label.block {
                Some(block) => blocks.push(block),
                None => return Err(self.never_defined(label.place)),
            }
        }
        for block in &mut body.func.block_pool {
            *block = blocks[block.index()];
        }
        Ok(())
    }

    fn never_defined(&self, place: SourceLocation) -> Box<LlvmError> {
        let name = match place {
            SourceLocation::Text { start, end } => self.text.get(start as usize..end as usize),
            _ => None,
        };
        let name = String::from_utf8_lossy(name.unwrap_or_default());
        error_at(place, format!("`{name}` is never defined"))
    }

    /// The error about a local whose type is not the stated one.
    fn other_type(
        &self,
        place: SourceLocation,
        stated: LlvmType,
        found: LlvmType,
    ) -> Box<LlvmError> {
        let [stated, found] = [stated, found].map(|ty| print_type(&self.module, ty));
        error_at(
            place,
            format!("a value of type `{found}` where one of type `{stated}` is stated"),
        )
    }

    /// The number of a function's block, looked up by its label.
    pub fn find_label(&mut self, func: LlvmFunc, label: LlvmToken) -> LlvmResult<Option<u32>> {
        let name = self.name_of(label)?;
        if !self.labels.contains_key(&func) {
            let labels = self.scan_labels(func)?;
            self.labels.insert(func, labels);
        }
        Ok(self
            .labels
            .get(&func)
            .and_then(|labels| labels.get(&name))
            .copied())
    }

    fn scan_labels(&mut self, func: LlvmFunc) -> LlvmResult<FxHashMap<LlvmName, u32>> {
        let mut labels = FxHashMap::default();
        let Some((start, _)) = self.bodies[func.index()] else {
            return Ok(labels);
        };
        let mut lexer = super::lexer::LlvmLexer::new(self.text, start);
        let mut depth = 0_usize;
        let mut count = 0;
        loop {
            let token = lexer.next_token();
            match token.kind {
                LlvmTokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
                LlvmTokenKind::Punct(b'}') if depth == 0 => return Ok(labels),
                LlvmTokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                LlvmTokenKind::End => return Ok(labels),
                LlvmTokenKind::Label if depth == 0 => {
                    let name = self.name_of(token)?;
                    labels.insert(name, count);
                    count += 1;
                }
                // The entry may have no label.
                _ if count == 0 && depth == 0 => count = 1,
                _ => {}
            }
        }
    }
}
