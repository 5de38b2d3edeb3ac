//! Global parser: variables, aliases and comdats, and the properties they share with functions.

use super::body_state::LlvmName;
use super::lexer::LlvmTokenKind;
use super::parser::LlvmParser;
use crate::auto_upgrade;
use crate::ir::{
    AttrSet, ComdatGroup, GlobalAliasee, GlobalData, GlobalKind, Linkage, LlvmAlign, LlvmGlobal,
    LlvmGlobalVariable, LlvmSymbol, LlvmType, Selection, ThreadLocal, UnnamedAddr, Visibility,
};
use crate::{LlvmResult, error_at};
impl LlvmParser<'_> {
    pub(super) fn parse_comdat_definition(&mut self) -> LlvmResult<()> {
        let token = self.take_token();
        let name = self.name_of(token)?;
        let name = self.symbol_of(name);
        self.expect_punct(b'=')?;
        self.expect_word("comdat")?;
        let Some(selection) = self.eat_named(Selection::from_name) else {
            return self.fail_expected("a comdat selection kind");
        };
        self.comdats.insert(name, self.module.comdats.len() as u32);
        self.module.comdats.push(ComdatGroup { name, selection });
        Ok(())
    }

    /// Parses linkage and the other keywords before a global or function. Returns whether linkage
    /// was stated.
    pub(super) fn parse_linkage_words(&mut self, data: &mut GlobalData) -> LlvmResult<bool> {
        let linkage = self.eat_named(Linkage::from_name);
        data.linkage = linkage.unwrap_or(Linkage::External);
        if self.eat_word("dso_local") {
            data.dso_local = true;
        } else {
            self.eat_word("dso_preemptable");
        }
        data.visibility = self
            .eat_named(Visibility::from_name)
            .unwrap_or(Visibility::Default);
        if self.eat_word("dllimport") {
            data.dll_storage = 1;
        } else if self.eat_word("dllexport") {
            data.dll_storage = 2;
        }
        if self.eat_word("thread_local") {
            data.thread_local = ThreadLocal::GeneralDynamic;
            if self.eat_punct(b'(') {
                match self.eat_named(ThreadLocal::from_name) {
                    Some(model) => data.thread_local = model,
                    None => return self.fail_expected("a thread-local storage model"),
                }
                self.expect_punct(b')')?;
            }
        }
        Ok(linkage.is_some())
    }

    pub(super) fn parse_unnamed_addr(&mut self, data: &mut GlobalData) {
        if let Some(word) = self.eat_named(UnnamedAddr::from_name) {
            data.unnamed_addr = word;
        }
    }

    pub(super) fn new_global(
        &mut self,
        name: LlvmName,
        place: spirula_diagnostics::SourceLocation,
    ) -> LlvmResult<LlvmGlobal> {
        let global = LlvmGlobal::new(self.module.globals.len());
        if self.globals.insert(name, global).is_some() {
            return Err(error_at(place, "a global of this name is already defined"));
        }
        Ok(global)
    }

    pub(super) fn push_global(&mut self, mut data: GlobalData, name: LlvmName) {
        auto_upgrade::infer_dso_local(&mut data);
        data.name = match name {
            LlvmName::Symbol(symbol) => symbol,
            LlvmName::Number(_) => LlvmSymbol::EMPTY,
        };
        self.module.globals.push(data);
    }

    /// Parses a variable, alias or ifunc up to its type. Returns the position of the rest.
    pub(super) fn parse_global(&mut self) -> LlvmResult<(LlvmGlobal, usize)> {
        let token = self.take_token();
        let name = self.name_of(token)?;
        self.expect_punct(b'=')?;
        let variable = LlvmGlobalVariable {
            initializer: None,
            constant: false,
            externally_initialized: false,
            attributes: AttrSet::EMPTY,
        };
        let kind = GlobalKind::Variable(variable);
        let mut data = GlobalData::new(LlvmType::VOID, LlvmType::PTR, 0, kind, token.place());
        let has_linkage = self.parse_linkage_words(&mut data)?;
        self.parse_unnamed_addr(&mut data);
        let global = self.new_global(name, token.place())?;
        let start;
        if self.at_word("alias") || self.at_word("ifunc") {
            data.kind = if self.at_word("alias") {
                GlobalKind::Alias(GlobalAliasee(None))
            } else {
                GlobalKind::Ifunc(GlobalAliasee(None))
            };
            self.take_token();
            data.value_type = self.parse_type()?;
            self.expect_punct(b',')?;
            start = self.token.start;
            data.space = self.peek_address_space()?;
        } else {
            data.space = self.parse_address_space()?.unwrap_or(0);
            let externally_initialized = self.eat_word("externally_initialized");
            let constant = self.eat_word("constant");
            if !constant && !self.eat_word("global") {
                return self.fail_expected("`global` or `constant`");
            }
            data.kind = GlobalKind::Variable(LlvmGlobalVariable {
                constant,
                externally_initialized,
                ..variable
            });
            data.value_type = self.parse_type()?;
            start = self.token.start;
        }
        // Whether an initializer follows depends on the linkage, which a declaration must state.
        let declared = matches!(data.linkage, Linkage::External | Linkage::ExternWeak);
        self.declared.push(has_linkage && declared);
        if data.value_type == LlvmType::VOID {
            return Err(error_at(token.place(), "a global of type `void`"));
        }
        data.ty = self.pointer_to(data.value_type, data.space);
        self.push_global(data, name);
        Ok((global, start))
    }

    /// The address space of the aliasee's pointer, found without parsing its value.
    fn peek_address_space(&mut self) -> LlvmResult<u32> {
        if !self.at_type() {
            return Ok(0);
        }
        let ty = self.parse_type()?;
        Ok(self.module.types.address_space(ty).unwrap_or(0))
    }

    /// Parses the rest of a variable or alias: its initializer or aliasee, and its properties.
    pub(super) fn finish_global(&mut self, global: LlvmGlobal) -> LlvmResult<()> {
        let mut data = self.module.global(global).clone();
        match &mut data.kind {
            GlobalKind::Variable(variable) => {
                if !self.declared[global.index()] {
                    variable.initializer = Some(self.parse_constant(data.value_type)?);
                }
            }
            GlobalKind::Alias(aliasee) | GlobalKind::Ifunc(aliasee) => {
                let constant = if self.at_type() {
                    self.typed_constant()?
                } else {
                    self.parse_constant(data.ty)?
                };
                *aliasee = GlobalAliasee(Some(constant));
            }
            GlobalKind::Function(_) => {}
        }
        while self.eat_punct(b',') {
            self.parse_global_property(&mut data)?;
        }
        let attributes = self.parse_function_attributes()?;
        if let GlobalKind::Variable(variable) = &mut data.kind {
            variable.attributes = self.module.attributes.intern_set(attributes);
        }
        self.module.globals[global.index()] = data;
        Ok(())
    }

    fn parse_global_property(&mut self, data: &mut GlobalData) -> LlvmResult<()> {
        if let Some(attachment) = self.parse_attachment()? {
            data.metadata.push(attachment);
            return Ok(());
        }
        if self.parse_property(data)? {
            return Ok(());
        }
        match self.peek_word() {
            "code_model" => {
                self.take_token();
                self.parse_string()?;
            }
            "no_sanitize_address"
            | "no_sanitize_hwaddress"
            | "sanitize_memtag"
            | "sanitize_address_dyninit" => {
                self.take_token();
            }
            _ => return self.fail_expected("a property of a global"),
        }
        Ok(())
    }

    /// Parses a section, partition, comdat or alignment if one follows.
    pub(super) fn parse_property(&mut self, data: &mut GlobalData) -> LlvmResult<bool> {
        match self.peek_word() {
            "section" => {
                self.take_token();
                data.section = self.symbol_string()?;
            }
            "partition" => {
                self.take_token();
                data.partition = self.symbol_string()?;
            }
            "comdat" => {
                self.take_token();
                data.comdat = Some(self.parse_comdat_use(data)?);
            }
            "align" => {
                self.take_token();
                data.align = LlvmAlign::from_bytes(self.align_number()?).unwrap_or(LlvmAlign::NONE);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn parse_comdat_use(&mut self, data: &GlobalData) -> LlvmResult<u32> {
        let mut name = data.name;
        let place = self.token.place();
        if self.eat_punct(b'(') {
            if self.token.kind != LlvmTokenKind::Comdat {
                return self.fail_expected("a comdat");
            }
            let token = self.take_token();
            let written = self.name_of(token)?;
            name = self.symbol_of(written);
            self.expect_punct(b')')?;
        }
        match self.comdats.get(&name) {
            Some(&comdat) => Ok(comdat),
            None => Err(error_at(place, "a comdat that is not defined")),
        }
    }
}
