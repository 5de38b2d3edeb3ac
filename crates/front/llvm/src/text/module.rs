//! Module parser: top-level entities of LLVM assembly.
//!
//! A first scan finds the start of each entity. Then the entities are parsed by kind, in an order
//! in which all references are known: types, attribute groups, globals by name and type, metadata,
//! bodies, and finally initializers and aliasees.

use super::body_state::LlvmName;
use super::lexer::{LlvmLexer, LlvmToken, LlvmTokenKind};
use super::parser::LlvmParser;
use crate::ir::{
    ConstKind, DataLayout, GlobalData, GlobalKind, LlvmFunc, LlvmFunction, LlvmGlobal, LlvmModule,
    LlvmType, LlvmValue,
};
use crate::{LlvmResult, error_at};

/// Kinds of entities, in the order in which they are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TopLevelEntityKind {
    Header,
    Type,
    Group,
    Global,
    Metadata,
    Ignored,
}

/// A variable or alias whose initializer or aliasee is not parsed yet.
struct DeferredInitializer {
    global: LlvmGlobal,
    start: usize,
    /// Start of the next entity.
    end: usize,
}

/// Parses LLVM assembly.
///
/// # Errors
/// The first fault found, with its place.
pub fn parse_assembly(text: &[u8]) -> LlvmResult<LlvmModule> {
    let mut parser = LlvmParser::new(text);
    let entities = scan_entities(text, &mut parser.typed_pointers);
    let mut unfinished = Vec::new();
    for sort in [
        TopLevelEntityKind::Header,
        TopLevelEntityKind::Type,
        TopLevelEntityKind::Group,
        TopLevelEntityKind::Global,
        TopLevelEntityKind::Metadata,
    ] {
        for (index, &(found, start)) in entities.iter().enumerate() {
            if found == sort {
                parser.seek_to(start);
                let end = entities.get(index + 1).map_or(text.len(), |next| next.1);
                parser.parse_entity(sort, end, &mut unfinished)?;
                if sort != TopLevelEntityKind::Global {
                    parser.check_end(end)?;
                }
            }
        }
    }
    parser.check_types()?;
    for func in parser.module.function_ids() {
        if let Some((start, params)) = parser.bodies[func.index()].clone() {
            parser.seek_to(start);
            parser.parse_function_body(func, params)?;
            let next = entities.partition_point(|entity| entity.1 <= start);
            parser.check_end(entities.get(next).map_or(text.len(), |entity| entity.1))?;
        }
    }
    parser.finish_functions()?;
    for DeferredInitializer { global, start, end } in unfinished {
        parser.seek_to(start);
        parser.finish_global(global)?;
        parser.check_end(end)?;
    }
    parser.check_metadata()?;
    Ok(parser.module)
}

/// Finds the start of each entity, and whether pointers are typed. Typed pointers are written with
/// stars, and `ptr` does not occur. If both occur, LLVM treats them as the same.
fn scan_entities(text: &[u8], typed_pointers: &mut bool) -> Vec<(TopLevelEntityKind, usize)> {
    let mut lexer = LlvmLexer::new(text, 0);
    let mut entities = Vec::new();
    let mut depth = 0_usize;
    let mut token = lexer.next_token();
    let mut first = true;
    let (mut stars, mut opaque) = (false, false);
    loop {
        let next = lexer.next_token();
        let equals = next.kind == LlvmTokenKind::Punct(b'=');
        let sort = match token.kind {
            LlvmTokenKind::End => {
                *typed_pointers = stars && !opaque;
                return entities;
            }
            LlvmTokenKind::Punct(b'{' | b'(' | b'[') => {
                depth += 1;
                None
            }
            LlvmTokenKind::Punct(b'}' | b')' | b']') => {
                depth = depth.saturating_sub(1);
                None
            }
            LlvmTokenKind::Punct(b'*') => {
                stars = true;
                None
            }
            LlvmTokenKind::Word if lexer.bytes_of(token) == b"ptr" => {
                opaque = true;
                None
            }
            _ if depth > 0 => None,
            LlvmTokenKind::Local if equals => Some(TopLevelEntityKind::Type),
            LlvmTokenKind::Global if equals => Some(TopLevelEntityKind::Global),
            LlvmTokenKind::Comdat if equals => Some(TopLevelEntityKind::Header),
            LlvmTokenKind::MetadataName | LlvmTokenKind::MetadataNumber if equals => {
                Some(TopLevelEntityKind::Metadata)
            }
            LlvmTokenKind::Punct(b'^') => Some(TopLevelEntityKind::Ignored),
            LlvmTokenKind::Word => match lexer.bytes_of(token) {
                b"define" | b"declare" => Some(TopLevelEntityKind::Global),
                b"attributes" if next.kind == LlvmTokenKind::AttributeGroup => {
                    Some(TopLevelEntityKind::Group)
                }
                b"source_filename" if equals => Some(TopLevelEntityKind::Header),
                b"target" | b"module" if next.kind == LlvmTokenKind::Word => {
                    Some(TopLevelEntityKind::Header)
                }
                b"uselistorder" | b"uselistorder_bb" => Some(TopLevelEntityKind::Ignored),
                _ => None,
            },
            _ => None,
        };
        // Text outside of any entity is parsed as a header, which reports the error.
        let sort = sort.or(first.then_some(TopLevelEntityKind::Header));
        if let Some(sort) = sort {
            entities.push((sort, token.start));
        }
        first = false;
        token = next;
    }
}

impl LlvmParser<'_> {
    fn parse_entity(
        &mut self,
        sort: TopLevelEntityKind,
        end: usize,
        unfinished: &mut Vec<DeferredInitializer>,
    ) -> LlvmResult<()> {
        match sort {
            TopLevelEntityKind::Header => self.parse_header(),
            TopLevelEntityKind::Type => self.parse_type_definition(),
            TopLevelEntityKind::Group => {
                self.take_token();
                self.parse_attribute_group()
            }
            TopLevelEntityKind::Global if self.token.kind == LlvmTokenKind::Global => {
                let (global, start) = self.parse_global()?;
                unfinished.push(DeferredInitializer { global, start, end });
                Ok(())
            }
            TopLevelEntityKind::Global => self.parse_function_header(),
            _ if self.token.kind == LlvmTokenKind::MetadataNumber => {
                self.parse_metadata_definition()
            }
            _ => self.named_metadata(),
        }
    }

    /// Checks that an entity ends where the next one begins.
    fn check_end(&self, end: usize) -> LlvmResult<()> {
        if self.token.start < end && !self.at_end() {
            return self.fail_expected("a definition");
        }
        Ok(())
    }

    fn check_types(&self) -> LlvmResult<()> {
        let undefined = self.types.iter().filter(|(_, found)| !found.defined);
        match undefined.min_by_key(|(name, _)| **name) {
            Some((&name, found)) => {
                let name = self.module.symbol_text(name);
                Err(error_at(
                    found.place,
                    format!("type `%{name}` is not defined"),
                ))
            }
            None => Ok(()),
        }
    }

    fn parse_header(&mut self) -> LlvmResult<()> {
        if self.token.kind == LlvmTokenKind::Comdat {
            return self.parse_comdat_definition();
        }
        match self.peek_word() {
            "target" => {
                self.take_token();
                let word = self.peek_word();
                if !matches!(word, "triple" | "datalayout") {
                    return self.fail_expected("`triple` or `datalayout`");
                }
                self.take_token();
                self.expect_punct(b'=')?;
                let place = self.token.place();
                let text = self.parse_text_string()?;
                if word == "triple" {
                    self.module.triple = text;
                    return Ok(());
                }
                match DataLayout::from_text(&text) {
                    Ok(layout) => self.module.layout = layout,
                    Err(part) => {
                        let message = format!("data layout component `{part}` is not supported");
                        return Err(error_at(place, message));
                    }
                }
                Ok(())
            }
            "source_filename" => {
                self.take_token();
                self.expect_punct(b'=')?;
                self.module.source_filename = self.parse_text_string()?;
                Ok(())
            }
            "module" => {
                self.take_token();
                self.expect_word("asm")?;
                let line = self.parse_text_string()?;
                self.module.module_asm.push_str(&line);
                self.module.module_asm.push('\n');
                Ok(())
            }
            _ => self.fail_expected("a definition"),
        }
    }

    /// Declares a function that is called without a declaration.
    pub fn declare_function(
        &mut self,
        name: LlvmName,
        ty: LlvmType,
        token: LlvmToken,
    ) -> LlvmResult<LlvmValue> {
        let params = self
            .module
            .types
            .function_signature(ty)
            .map_or(Vec::new(), |it| it.1.to_vec());
        let kind = GlobalKind::Function(LlvmFunc::new(self.module.functions.len()));
        let space = self.module.layout.program_space();
        let pointer = self.pointer_to(ty, space);
        let data = GlobalData::new(ty, pointer, space, kind, token.place());
        let global = self.new_global(name, token.place())?;
        self.declared.push(true);
        self.bodies.push(None);
        self.push_global(data, name);
        self.module
            .functions
            .push(LlvmFunction::new(global, ty, params));
        let constant = self
            .module
            .consts
            .intern_constant(pointer, ConstKind::Global(global));
        Ok(LlvmValue::from_constant(constant))
    }

    /// Prefix, prologue and personality of functions.
    fn finish_functions(&mut self) -> LlvmResult<()> {
        for (func, part, start) in std::mem::take(&mut self.parts) {
            self.seek_to(start);
            let constant = Some(self.typed_constant()?);
            let function = &mut self.module.functions[func.index()];
            match part {
                "prefix" => function.prefix = constant,
                "prologue" => function.prologue = constant,
                _ => function.personality = constant,
            }
        }
        Ok(())
    }

    /// Skips a type and a constant of that type, which may refer to entities that are not defined
    /// yet.
    pub(super) fn skip_typed_constant(&mut self) -> LlvmResult<()> {
        self.parse_type()?;
        while self.token.kind == LlvmTokenKind::Word
            && !matches!(
                self.peek_word(),
                "null" | "undef" | "poison" | "zeroinitializer"
            )
        {
            self.take_token();
        }
        match self.token.kind {
            LlvmTokenKind::Punct(_) => self.skip_group(),
            _ => {
                self.take_token();
                Ok(())
            }
        }
    }

    pub(super) fn last_word_was(&self, word: &[u8]) -> bool {
        self.text[..self.last_end].ends_with(word)
    }
}
