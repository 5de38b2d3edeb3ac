//! Function signature parser: everything of a function except its body.

use super::body_state::LlvmName;
use super::lexer::LlvmTokenKind;
use super::parser::LlvmParser;
use crate::ir::{
    AttrKind, AttrSet, CallingConvention, GlobalData, GlobalKind, LlvmAlign, LlvmAttribute,
    LlvmFunc, LlvmFunction, LlvmSymbol, LlvmType,
};
use crate::{LlvmResult, error_at};
/// The parameters of a function.
struct ParsedParameters {
    types: Vec<LlvmType>,
    attributes: Vec<AttrSet>,
    names: Vec<Option<LlvmName>>,
    function_type: LlvmType,
}

impl LlvmParser<'_> {
    /// `define` or `declare` up to the body.
    pub(super) fn parse_function_header(&mut self) -> LlvmResult<()> {
        let is_definition =
            self.take_token().kind == LlvmTokenKind::Word && self.last_word_was(b"define");
        let kind = GlobalKind::Function(LlvmFunc::new(self.module.functions.len()));
        let mut data = GlobalData::new(LlvmType::VOID, LlvmType::PTR, 0, kind, self.token.place());
        while let Some(attachment) = self.parse_attachment()? {
            data.metadata.push(attachment);
        }
        self.parse_linkage_words(&mut data)?;
        let convention = self.parse_convention()?.unwrap_or(CallingConvention::C);
        let result_attributes = self.value_attributes()?;
        let result = self.parse_type()?;
        if self.token.kind != LlvmTokenKind::Global {
            return self.fail_expected("the name of a function");
        }
        let token = self.take_token();
        let name = self.name_of(token)?;
        data.place = token.place();
        let global = self.new_global(name, token.place())?;
        data.name = if let LlvmName::Symbol(symbol) = name {
            symbol
        } else {
            LlvmSymbol::EMPTY
        };
        let params = self.parse_parameters(result)?;
        let ty = params.function_type;
        data.value_type = ty;
        self.parse_unnamed_addr(&mut data);
        data.space = self
            .parse_address_space()?
            .unwrap_or(self.module.layout.program_space());
        data.ty = self.pointer_to(ty, data.space);
        let mut function = LlvmFunction::new(global, ty, params.types);
        function.convention = convention;
        let attributes = self.parse_function_tail(&mut data, &mut function, is_definition)?;
        let attributes = self.module.attributes.intern_set(attributes);
        function.attributes =
            self.module
                .attributes
                .intern_list(attributes, result_attributes, params.attributes);
        self.declared.push(true);
        self.push_global(data, name);
        self.module.functions.push(function);
        self.find_function_end(is_definition, params.names)
    }

    pub(super) fn find_function_end(
        &mut self,
        is_definition: bool,
        params: Vec<Option<LlvmName>>,
    ) -> LlvmResult<()> {
        if !is_definition {
            self.bodies.push(None);
            return Ok(());
        }
        if !self.is_at(b'{') {
            return self.fail_expected("a body");
        }
        self.bodies.push(Some((self.token.end, params)));
        Ok(())
    }

    /// Parses a calling convention if one follows.
    pub fn parse_convention(&mut self) -> LlvmResult<Option<CallingConvention>> {
        if self.eat_word("cc") {
            return Ok(Some(CallingConvention(self.unsigned_32()?)));
        }
        Ok(self.eat_named(CallingConvention::from_name))
    }

    /// Parses the parameters of a function: types, attributes, names, and the resulting function
    /// type.
    fn parse_parameters(&mut self, result: LlvmType) -> LlvmResult<ParsedParameters> {
        self.expect_punct(b'(')?;
        let (mut types, mut attributes, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut variadic = false;
        self.parse_list(b')', |parser| {
            if parser.parse_ellipsis()? {
                variadic = true;
                return Ok(());
            }
            let place = parser.token.place();
            let ty = parser.parse_type()?;
            if ty == LlvmType::VOID {
                return Err(error_at(place, "a parameter of type `void`"));
            }
            types.push(ty);
            attributes.push(parser.value_attributes()?);
            let mut name = None;
            if parser.token.kind == LlvmTokenKind::Local {
                let token = parser.take_token();
                name = Some(parser.name_of(token)?);
            }
            names.push(name);
            Ok(())
        })?;
        let params = types.clone().into();
        let kind = crate::ir::LlvmTypeKind::Function {
            result,
            params,
            variadic,
        };
        let function_type = self.module.types.intern_type(kind);
        Ok(ParsedParameters {
            types,
            attributes,
            names,
            function_type,
        })
    }

    /// Parses the properties between the parameters of a function and its body.
    fn parse_function_tail(
        &mut self,
        data: &mut GlobalData,
        function: &mut LlvmFunction,
        is_definition: bool,
    ) -> LlvmResult<Vec<LlvmAttribute>> {
        let mut attributes = Vec::new();
        loop {
            // After a declaration, a metadata name begins the next definition.
            if is_definition && let Some(attachment) = self.parse_attachment()? {
                data.metadata.push(attachment);
                continue;
            }
            let before = self.token.start;
            attributes.extend(self.parse_function_attributes()?);
            if self.token.start != before || self.parse_property(data)? {
                continue;
            }
            match self.peek_word() {
                "unnamed_addr" | "local_unnamed_addr" => self.parse_unnamed_addr(data),
                "gc" => {
                    self.take_token();
                    function.gc = self.symbol_string()?;
                }
                word @ ("prefix" | "prologue" | "personality") => {
                    self.take_token();
                    let start = self.token.start;
                    self.parts
                        .push((LlvmFunc::new(self.module.functions.len()), word, start));
                    self.skip_typed_constant()?;
                }
                _ => break,
            }
        }
        // A function's alignment is written like an attribute.
        attributes.retain(|attribute| match *attribute {
            LlvmAttribute::Number(AttrKind::Align, bytes) => {
                data.align = LlvmAlign::from_bytes(bytes).unwrap_or(LlvmAlign::NONE);
                false
            }
            _ => true,
        });
        Ok(attributes)
    }
}
