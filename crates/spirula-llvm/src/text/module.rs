//! What stands in LLVM assembly outside of functions.
//!
//! A first scan finds where each entity begins; then they are parsed by sort, so that whatever
//! is referred to is known: types, attribute groups, globals by name and type, metadata, bodies,
//! and last what variables and aliases are made of.

use super::lexer::{Kind, Lexer, Token};
use super::parser::{Name, Parser};
use crate::ir::{
    Aliasee, Align, AttrKind, AttrSet, Attribute, CallingConvention, Comdat, ConstKind, DataLayout,
    Func, Function, Global, GlobalData, GlobalKind, Linkage, Module, Selection, Symbol,
    ThreadLocal, Type, UnnamedAddr, Value, Variable, Visibility,
};
use crate::upgrade;
use crate::{Error, fault};

/// Sorts of entities, in the order in which they are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Header,
    Type,
    Group,
    Global,
    Metadata,
    Ignored,
}

/// The parameters of a function.
struct Parameters {
    types: Vec<Type>,
    attributes: Vec<AttrSet>,
    names: Vec<Option<Name>>,
    function_type: Type,
}

/// A variable or alias whose contents are still to be parsed.
struct Unfinished {
    global: Global,
    start: usize,
    /// Where the next entity begins.
    end: usize,
}

/// Parses LLVM assembly.
///
/// # Errors
/// The first thing found wrong, with its place.
pub fn read(text: &[u8]) -> Result<Module, Error> {
    let mut parser = Parser::new(text);
    let entities = scan(text, &mut parser.typed_pointers);
    let mut unfinished = Vec::new();
    for sort in [
        Sort::Header,
        Sort::Type,
        Sort::Group,
        Sort::Global,
        Sort::Metadata,
    ] {
        for (index, &(found, start)) in entities.iter().enumerate() {
            if found == sort {
                parser.seek(start);
                let end = entities.get(index + 1).map_or(text.len(), |next| next.1);
                parser.entity(sort, end, &mut unfinished)?;
                if sort != Sort::Global {
                    parser.check_end(end)?;
                }
            }
        }
    }
    parser.check_types()?;
    for func in parser.module.function_ids() {
        if let Some((start, params)) = parser.bodies[func.index()].clone() {
            parser.seek(start);
            parser.function_body(func, params)?;
            let next = entities.partition_point(|entity| entity.1 <= start);
            parser.check_end(entities.get(next).map_or(text.len(), |entity| entity.1))?;
        }
    }
    parser.finish_functions()?;
    for Unfinished { global, start, end } in unfinished {
        parser.seek(start);
        parser.finish_global(global)?;
        parser.check_end(end)?;
    }
    parser.check_metadata()?;
    Ok(parser.module)
}

/// Finds where each entity begins, and whether pointers are typed: then types have stars, and
/// there is no `ptr`. Where both are found, LLVM takes one for the other.
fn scan(text: &[u8], typed_pointers: &mut bool) -> Vec<(Sort, usize)> {
    let mut lexer = Lexer::new(text, 0);
    let mut entities = Vec::new();
    let mut depth = 0_usize;
    let mut token = lexer.next();
    let mut first = true;
    let (mut stars, mut opaque) = (false, false);
    loop {
        let next = lexer.next();
        let equals = next.kind == Kind::Punct(b'=');
        let sort = match token.kind {
            Kind::End => {
                *typed_pointers = stars && !opaque;
                return entities;
            }
            Kind::Punct(b'{' | b'(' | b'[') => {
                depth += 1;
                None
            }
            Kind::Punct(b'}' | b')' | b']') => {
                depth = depth.saturating_sub(1);
                None
            }
            Kind::Punct(b'*') => {
                stars = true;
                None
            }
            Kind::Word if lexer.bytes_of(token) == b"ptr" => {
                opaque = true;
                None
            }
            _ if depth > 0 => None,
            Kind::Local if equals => Some(Sort::Type),
            Kind::Global if equals => Some(Sort::Global),
            Kind::Comdat if equals => Some(Sort::Header),
            Kind::MetadataName | Kind::MetadataNumber if equals => Some(Sort::Metadata),
            Kind::Punct(b'^') => Some(Sort::Ignored),
            Kind::Word => match lexer.bytes_of(token) {
                b"define" | b"declare" => Some(Sort::Global),
                b"attributes" if next.kind == Kind::AttributeGroup => Some(Sort::Group),
                b"source_filename" if equals => Some(Sort::Header),
                b"target" | b"module" if next.kind == Kind::Word => Some(Sort::Header),
                b"uselistorder" | b"uselistorder_bb" => Some(Sort::Ignored),
                _ => None,
            },
            _ => None,
        };
        // Text that belongs to nothing is parsed, and found wrong, as a header.
        let sort = sort.or(first.then_some(Sort::Header));
        if let Some(sort) = sort {
            entities.push((sort, token.start));
        }
        first = false;
        token = next;
    }
}

impl Parser<'_> {
    fn entity(
        &mut self,
        sort: Sort,
        end: usize,
        unfinished: &mut Vec<Unfinished>,
    ) -> Result<(), Error> {
        match sort {
            Sort::Header => self.header(),
            Sort::Type => self.type_definition(),
            Sort::Group => {
                self.bump();
                self.attribute_group()
            }
            Sort::Global if self.token.kind == Kind::Global => {
                let (global, start) = self.global()?;
                unfinished.push(Unfinished { global, start, end });
                Ok(())
            }
            Sort::Global => self.function_header(),
            _ if self.token.kind == Kind::MetadataNumber => self.metadata_definition(),
            _ => self.named_metadata(),
        }
    }

    /// An entity ends where the next begins.
    fn check_end(&self, end: usize) -> Result<(), Error> {
        if self.token.start < end && !self.at_end() {
            return self.expected("a definition");
        }
        Ok(())
    }

    fn check_types(&self) -> Result<(), Error> {
        let undefined = self.types.iter().filter(|(_, found)| !found.defined);
        match undefined.min_by_key(|(name, _)| **name) {
            Some((&name, found)) => {
                let name = self.module.str(name);
                Err(fault(found.place, format!("type `%{name}` is not defined")))
            }
            None => Ok(()),
        }
    }

    fn header(&mut self) -> Result<(), Error> {
        if self.token.kind == Kind::Comdat {
            return self.comdat_definition();
        }
        match self.peek_word() {
            "target" => {
                self.bump();
                let word = self.peek_word();
                if !matches!(word, "triple" | "datalayout") {
                    return self.expected("`triple` or `datalayout`");
                }
                self.bump();
                self.expect(b'=')?;
                let place = self.token.place();
                let text = self.text_string()?;
                if word == "triple" {
                    self.module.triple = text;
                    return Ok(());
                }
                match DataLayout::parse(&text) {
                    Ok(layout) => self.module.layout = layout,
                    Err(part) => {
                        let message = format!("data layout part `{part}` is not known");
                        return Err(fault(place, message));
                    }
                }
                Ok(())
            }
            "source_filename" => {
                self.bump();
                self.expect(b'=')?;
                self.module.source_filename = self.text_string()?;
                Ok(())
            }
            "module" => {
                self.bump();
                self.expect_word("asm")?;
                let line = self.text_string()?;
                self.module.module_asm.push_str(&line);
                self.module.module_asm.push('\n');
                Ok(())
            }
            _ => self.expected("a definition"),
        }
    }

    fn comdat_definition(&mut self) -> Result<(), Error> {
        let token = self.bump();
        let name = self.name_of(token)?;
        let name = self.symbol_of(name);
        self.expect(b'=')?;
        self.expect_word("comdat")?;
        let Some(selection) = self.eat_named(Selection::from_name) else {
            return self.expected("how duplicates are resolved");
        };
        self.comdats.insert(name, self.module.comdats.len() as u32);
        self.module.comdats.push(Comdat { name, selection });
        Ok(())
    }

    /// Linkage and what else stands before a global or function; whether linkage was given.
    fn linkage_words(&mut self, data: &mut GlobalData) -> Result<bool, Error> {
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
            if self.eat(b'(') {
                match self.eat_named(ThreadLocal::from_name) {
                    Some(model) => data.thread_local = model,
                    None => return self.expected("a model of thread-local storage"),
                }
                self.expect(b')')?;
            }
        }
        Ok(linkage.is_some())
    }

    fn unnamed_addr(&mut self, data: &mut GlobalData) {
        if let Some(word) = self.eat_named(UnnamedAddr::from_name) {
            data.unnamed_addr = word;
        }
    }

    fn new_global(&mut self, name: Name, place: spirula_source::Place) -> Result<Global, Error> {
        let global = Global::new(self.module.globals.len());
        if self.globals.insert(name, global).is_some() {
            return Err(fault(place, "a global of this name is defined already"));
        }
        Ok(global)
    }

    fn push_global(&mut self, mut data: GlobalData, name: Name) {
        upgrade::infer_dso_local(&mut data);
        data.name = match name {
            Name::Symbol(symbol) => symbol,
            Name::Number(_) => Symbol::EMPTY,
        };
        self.module.globals.push(data);
    }

    /// A variable, alias or ifunc up to its type; where the rest begins.
    fn global(&mut self) -> Result<(Global, usize), Error> {
        let token = self.bump();
        let name = self.name_of(token)?;
        self.expect(b'=')?;
        let variable = Variable {
            initializer: None,
            constant: false,
            externally_initialized: false,
            attributes: AttrSet::EMPTY,
        };
        let kind = GlobalKind::Variable(variable);
        let mut data = GlobalData::new(Type::VOID, Type::PTR, 0, kind, token.place());
        let has_linkage = self.linkage_words(&mut data)?;
        self.unnamed_addr(&mut data);
        let global = self.new_global(name, token.place())?;
        let start;
        if self.at_word("alias") || self.at_word("ifunc") {
            data.kind = if self.at_word("alias") {
                GlobalKind::Alias(Aliasee(None))
            } else {
                GlobalKind::Ifunc(Aliasee(None))
            };
            self.bump();
            data.value_type = self.ty()?;
            self.expect(b',')?;
            start = self.token.start;
            data.space = self.space_ahead()?;
        } else {
            data.space = self.address_space()?.unwrap_or(0);
            let externally_initialized = self.eat_word("externally_initialized");
            let constant = self.eat_word("constant");
            if !constant && !self.eat_word("global") {
                return self.expected("`global` or `constant`");
            }
            data.kind = GlobalKind::Variable(Variable {
                constant,
                externally_initialized,
                ..variable
            });
            data.value_type = self.ty()?;
            start = self.token.start;
        }
        // Whether contents follow depends on the linkage, which is written for that.
        let declared = matches!(data.linkage, Linkage::External | Linkage::ExternWeak);
        self.declared.push(has_linkage && declared);
        if data.value_type == Type::VOID {
            return Err(fault(token.place(), "a global of type `void`"));
        }
        data.ty = self.pointer_to(data.value_type, data.space);
        self.push_global(data, name);
        Ok((global, start))
    }

    /// The address space of the pointer that an alias is made of, found without its value.
    fn space_ahead(&mut self) -> Result<u32, Error> {
        if !self.at_type() {
            return Ok(0);
        }
        let ty = self.ty()?;
        Ok(self.module.types.address_space(ty).unwrap_or(0))
    }

    /// The rest of a variable or alias: what it is made of, and its properties.
    fn finish_global(&mut self, global: Global) -> Result<(), Error> {
        let mut data = self.module.global(global).clone();
        match &mut data.kind {
            GlobalKind::Variable(variable) => {
                if !self.declared[global.index()] {
                    variable.initializer = Some(self.constant(data.value_type)?);
                }
            }
            GlobalKind::Alias(aliasee) | GlobalKind::Ifunc(aliasee) => {
                let constant = if self.at_type() {
                    self.typed_constant()?
                } else {
                    self.constant(data.ty)?
                };
                *aliasee = Aliasee(Some(constant));
            }
            GlobalKind::Function(_) => {}
        }
        while self.eat(b',') {
            self.global_property(&mut data)?;
        }
        let attributes = self.function_attributes()?;
        if let GlobalKind::Variable(variable) = &mut data.kind {
            variable.attributes = self.module.attributes.set(attributes);
        }
        self.module.globals[global.index()] = data;
        Ok(())
    }

    fn global_property(&mut self, data: &mut GlobalData) -> Result<(), Error> {
        if let Some(attachment) = self.attachment()? {
            data.metadata.push(attachment);
            return Ok(());
        }
        if self.property(data)? {
            return Ok(());
        }
        match self.peek_word() {
            "code_model" => {
                self.bump();
                self.string()?;
            }
            "no_sanitize_address"
            | "no_sanitize_hwaddress"
            | "sanitize_memtag"
            | "sanitize_address_dyninit" => {
                self.bump();
            }
            _ => return self.expected("a property of a global"),
        }
        Ok(())
    }

    /// Section, partition, comdat or alignment, if one comes next.
    fn property(&mut self, data: &mut GlobalData) -> Result<bool, Error> {
        match self.peek_word() {
            "section" => {
                self.bump();
                data.section = self.symbol_string()?;
            }
            "partition" => {
                self.bump();
                data.partition = self.symbol_string()?;
            }
            "comdat" => {
                self.bump();
                data.comdat = Some(self.comdat_use(data)?);
            }
            "align" => {
                self.bump();
                data.align = Align::from_bytes(self.align_number()?).unwrap_or(Align::NONE);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn comdat_use(&mut self, data: &GlobalData) -> Result<u32, Error> {
        let mut name = data.name;
        let place = self.token.place();
        if self.eat(b'(') {
            if self.token.kind != Kind::Comdat {
                return self.expected("a comdat");
            }
            let token = self.bump();
            let written = self.name_of(token)?;
            name = self.symbol_of(written);
            self.expect(b')')?;
        }
        match self.comdats.get(&name) {
            Some(&comdat) => Ok(comdat),
            None => Err(fault(place, "a comdat that is not defined")),
        }
    }

    /// Declares a function that is called without a declaration.
    pub fn declare(&mut self, name: Name, ty: Type, token: Token) -> Result<Value, Error> {
        let params = self
            .module
            .types
            .signature(ty)
            .map_or(Vec::new(), |it| it.1.to_vec());
        let kind = GlobalKind::Function(Func::new(self.module.functions.len()));
        let space = self.module.layout.program_space();
        let pointer = self.pointer_to(ty, space);
        let data = GlobalData::new(ty, pointer, space, kind, token.place());
        let global = self.new_global(name, token.place())?;
        self.declared.push(true);
        self.bodies.push(None);
        self.push_global(data, name);
        self.module
            .functions
            .push(Function::new(global, ty, params));
        let constant = self
            .module
            .consts
            .intern(pointer, ConstKind::Global(global));
        Ok(Value::constant(constant))
    }

    /// `define` or `declare` up to the body.
    fn function_header(&mut self) -> Result<(), Error> {
        let is_definition = self.bump().kind == Kind::Word && self.last_word_was(b"define");
        let kind = GlobalKind::Function(Func::new(self.module.functions.len()));
        let mut data = GlobalData::new(Type::VOID, Type::PTR, 0, kind, self.token.place());
        while let Some(attachment) = self.attachment()? {
            data.metadata.push(attachment);
        }
        self.linkage_words(&mut data)?;
        let convention = self.convention()?.unwrap_or(CallingConvention::C);
        let result_attributes = self.value_attributes()?;
        let result = self.ty()?;
        if self.token.kind != Kind::Global {
            return self.expected("the name of a function");
        }
        let token = self.bump();
        let name = self.name_of(token)?;
        data.place = token.place();
        let global = self.new_global(name, token.place())?;
        data.name = if let Name::Symbol(symbol) = name {
            symbol
        } else {
            Symbol::EMPTY
        };
        let params = self.parameters(result)?;
        let ty = params.function_type;
        data.value_type = ty;
        self.unnamed_addr(&mut data);
        data.space = self
            .address_space()?
            .unwrap_or(self.module.layout.program_space());
        data.ty = self.pointer_to(ty, data.space);
        let mut function = Function::new(global, ty, params.types);
        function.convention = convention;
        let attributes = self.function_tail(&mut data, &mut function, is_definition)?;
        let attributes = self.module.attributes.set(attributes);
        function.attributes =
            self.module
                .attributes
                .list(attributes, result_attributes, params.attributes);
        self.declared.push(true);
        self.push_global(data, name);
        self.module.functions.push(function);
        self.function_end(is_definition, params.names)
    }

    fn function_end(
        &mut self,
        is_definition: bool,
        params: Vec<Option<Name>>,
    ) -> Result<(), Error> {
        if !is_definition {
            self.bodies.push(None);
            return Ok(());
        }
        if !self.at(b'{') {
            return self.expected("a body");
        }
        self.bodies.push(Some((self.token.end, params)));
        Ok(())
    }

    /// Prefix, prologue and personality of functions.
    fn finish_functions(&mut self) -> Result<(), Error> {
        for (func, part, start) in std::mem::take(&mut self.parts) {
            self.seek(start);
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

    /// Skips a type and a constant of it, which may name what is not defined yet.
    fn skip_typed_constant(&mut self) -> Result<(), Error> {
        self.ty()?;
        while self.token.kind == Kind::Word
            && !matches!(
                self.peek_word(),
                "null" | "undef" | "poison" | "zeroinitializer"
            )
        {
            self.bump();
        }
        match self.token.kind {
            Kind::Punct(_) => self.skip_group(),
            _ => {
                self.bump();
                Ok(())
            }
        }
    }

    fn last_word_was(&self, word: &[u8]) -> bool {
        self.text[..self.last_end].ends_with(word)
    }

    /// A calling convention if one comes next.
    pub fn convention(&mut self) -> Result<Option<CallingConvention>, Error> {
        if self.eat_word("cc") {
            return Ok(Some(CallingConvention(self.unsigned_32()?)));
        }
        Ok(self.eat_named(CallingConvention::from_name))
    }

    /// The parameters of a function: types, attributes, names, and the function type.
    fn parameters(&mut self, result: Type) -> Result<Parameters, Error> {
        self.expect(b'(')?;
        let (mut types, mut attributes, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut variadic = false;
        self.list(b')', |parser| {
            if parser.token.kind == Kind::Ellipsis {
                parser.bump();
                variadic = true;
                return if parser.at(b')') {
                    Ok(())
                } else {
                    parser.expected("`)`")
                };
            }
            let place = parser.token.place();
            let ty = parser.ty()?;
            if ty == Type::VOID {
                return Err(fault(place, "a parameter of type `void`"));
            }
            types.push(ty);
            attributes.push(parser.value_attributes()?);
            let mut name = None;
            if parser.token.kind == Kind::Local {
                let token = parser.bump();
                name = Some(parser.name_of(token)?);
            }
            names.push(name);
            Ok(())
        })?;
        let params = types.clone().into();
        let kind = crate::ir::TypeKind::Function {
            result,
            params,
            variadic,
        };
        let function_type = self.module.types.intern(kind);
        Ok(Parameters {
            types,
            attributes,
            names,
            function_type,
        })
    }

    /// What stands between the parameters of a function and its body.
    fn function_tail(
        &mut self,
        data: &mut GlobalData,
        function: &mut Function,
        is_definition: bool,
    ) -> Result<Vec<Attribute>, Error> {
        let mut attributes = Vec::new();
        loop {
            // Behind a declaration, a name of metadata begins the next definition.
            if is_definition && let Some(attachment) = self.attachment()? {
                data.metadata.push(attachment);
                continue;
            }
            let before = self.token.start;
            attributes.extend(self.function_attributes()?);
            if self.token.start != before || self.property(data)? {
                continue;
            }
            match self.peek_word() {
                "unnamed_addr" | "local_unnamed_addr" => self.unnamed_addr(data),
                "gc" => {
                    self.bump();
                    function.gc = self.symbol_string()?;
                }
                word @ ("prefix" | "prologue" | "personality") => {
                    self.bump();
                    let start = self.token.start;
                    self.parts
                        .push((Func::new(self.module.functions.len()), word, start));
                    self.skip_typed_constant()?;
                }
                _ => break,
            }
        }
        // The alignment of a function is written like an attribute.
        attributes.retain(|attribute| match *attribute {
            Attribute::Number(AttrKind::Align, bytes) => {
                data.align = Align::from_bytes(bytes).unwrap_or(Align::NONE);
                false
            }
            _ => true,
        });
        Ok(attributes)
    }
}
