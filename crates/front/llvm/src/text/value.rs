//! Value parser: locals, globals, constants and constant expressions.

use super::lexer::{LlvmTokenKind, unescape_string};
use super::parser::LlvmParser;
use crate::ir::{
    ConstKind, ExprExtra, GlobalKind, InlineAsm, LlvmConst, LlvmConstantExpr, LlvmFunc,
    LlvmInstFlags, LlvmOpcode, LlvmType, LlvmTypeKind, LlvmValue, Predicate, expression_type,
    shuffle_mask,
};
use crate::{LlvmResult, error_at};

impl LlvmParser<'_> {
    /// A type, then a value of it.
    pub fn typed_value(&mut self) -> LlvmResult<(LlvmType, LlvmValue)> {
        let ty = self.parse_type()?;
        Ok((ty, self.parse_value(ty)?))
    }

    /// A value of a type.
    pub fn parse_value(&mut self, ty: LlvmType) -> LlvmResult<LlvmValue> {
        match self.token.kind {
            LlvmTokenKind::Local => {
                let token = self.take_token();
                let name = self.name_of(token)?;
                self.find_local(name, ty, token)
            }
            _ if ty == LlvmType::METADATA => {
                Ok(LlvmValue::from_metadata(self.parse_metadata_value()?))
            }
            _ => Ok(LlvmValue::from_constant(self.parse_constant(ty)?)),
        }
    }

    /// A type, then a constant of it.
    pub fn typed_constant(&mut self) -> LlvmResult<LlvmConst> {
        let ty = self.parse_type()?;
        self.parse_constant(ty)
    }

    /// A constant of a type.
    pub fn parse_constant(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        self.parse_nested(|parser| parser.constant_here(ty))
    }

    fn constant_here(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        match self.token.kind {
            LlvmTokenKind::Integer => self.parse_integer(ty),
            LlvmTokenKind::Number => self.parse_number(ty),
            LlvmTokenKind::Global => self.parse_global_constant(ty),
            LlvmTokenKind::Data => self.parse_data_string(ty),
            LlvmTokenKind::Word => self.parse_word_constant(ty),
            LlvmTokenKind::Punct(b'[') => self.parse_elements(ty, b"[", b"]"),
            LlvmTokenKind::Punct(b'{') => self.parse_elements(ty, b"{", b"}"),
            LlvmTokenKind::Punct(b'<') => {
                let packed = matches!(self.module.types.kind(ty), LlvmTypeKind::Struct { .. });
                let (open, close): (&[u8], &[u8]) =
                    if packed { (b"<{", b"}>") } else { (b"<", b">") };
                self.parse_elements(ty, open, close)
            }
            _ => self.fail_expected("a value"),
        }
    }

    fn parse_global_constant(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        let start = self.token.start;
        let id = self.parse_global_reference()?;
        if !self
            .module
            .types
            .is_compatible(self.module.consts.ty(id), ty)
        {
            let place = self.place_from(start);
            return Err(error_at(
                place,
                "a global where a value of another type is expected",
            ));
        }
        Ok(id)
    }

    /// `@name`, of any type.
    pub fn parse_global_reference(&mut self) -> LlvmResult<LlvmConst> {
        if self.token.kind != LlvmTokenKind::Global {
            return self.fail_expected("a global");
        }
        let token = self.take_token();
        let name = self.name_of(token)?;
        let Some(&global) = self.globals.get(&name) else {
            let name = String::from_utf8_lossy(self.token_bytes(token)).into_owned();
            return Err(error_at(token.place(), format!("`{name}` is not defined")));
        };
        let ty = self.module.global(global).ty;
        Ok(self
            .module
            .consts
            .intern_constant(ty, ConstKind::Global(global)))
    }

    fn parse_data_string(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        let token = self.take_token();
        let bytes = self.token_bytes(token);
        let data = unescape_string(&bytes[2..bytes.len() - 1]).into_owned();
        match *self.module.types.kind(ty) {
            LlvmTypeKind::Array {
                element: LlvmType::I8,
                len,
            } if len == data.len() as u64 => Ok(self.module.consts.make_data(ty, data)),
            _ => Err(error_at(
                token.place(),
                "a string where a value of another type is expected",
            )),
        }
    }

    fn parse_elements(&mut self, ty: LlvmType, open: &[u8], close: &[u8]) -> LlvmResult<LlvmConst> {
        let start = self.token.start;
        for &punct in open {
            self.expect_punct(punct)?;
        }
        let mut elements = Vec::new();
        self.parse_list(close[0], |parser| {
            elements.push(parser.typed_constant()?);
            Ok(())
        })?;
        for &punct in &close[1..] {
            self.expect_punct(punct)?;
        }
        let types = &self.module.types;
        let fits = types.element_count(ty) == Some(elements.len() as u64)
            && elements.iter().enumerate().all(|(index, &element)| {
                let expected = types.element_type(ty, index as u64);
                expected.is_some_and(|ty| types.is_compatible(ty, self.module.consts.ty(element)))
            });
        let shape_fits = match types.kind(ty) {
            LlvmTypeKind::Array { .. } => open == b"[",
            LlvmTypeKind::Struct { packed, .. } => {
                open.ends_with(b"{") && *packed == (open.len() == 2)
            }
            LlvmTypeKind::Vector { scalable, .. } => open == b"<" && !scalable,
            _ => false,
        };
        if !fits || !shape_fits {
            return Err(error_at(
                self.place_from(start),
                "elements that do not match their type",
            ));
        }
        Ok(self.module.consts.make_aggregate(types, ty, &elements))
    }

    fn parse_word_constant(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        let word = self.peek_word();
        let types = &self.module.types;
        let consts = &mut self.module.consts;
        let constant = match word {
            "true" if ty == LlvmType::I1 => consts.make_int(types, ty, 1),
            "false" if ty == LlvmType::I1 => consts.make_int(types, ty, 0),
            "null" if matches!(types.kind(ty), LlvmTypeKind::Pointer { .. }) => {
                consts.make_zero(types, ty)
            }
            "none" if ty == LlvmType::TOKEN => consts.make_zero(types, ty),
            "undef" => consts.intern_constant(ty, ConstKind::Undef),
            "poison" => consts.intern_constant(ty, ConstKind::Poison),
            "zeroinitializer" => consts.make_zero(types, ty),
            "true" | "false" | "null" | "none" => {
                return self.fail_with("a constant where a value of another type is expected");
            }
            _ => return self.named_constant(ty),
        };
        self.take_token();
        Ok(constant)
    }

    fn named_constant(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        let start = self.token.start;
        match self.peek_word() {
            "splat" => {
                self.take_token();
                self.expect_punct(b'(')?;
                let element = self.typed_constant()?;
                self.expect_punct(b')')?;
                let scalar = self.module.types.scalar_type(ty);
                if scalar == ty || self.module.consts.ty(element) != scalar {
                    let place = self.place_from(start);
                    return Err(error_at(place, "a splat of another element type"));
                }
                Ok(self.module.make_splat(ty, element))
            }
            "blockaddress" => self.parse_block_address(ty),
            word @ ("dso_local_equivalent" | "no_cfi") => {
                self.take_token();
                let id = self.parse_global_reference()?;
                let Some(global) = self.module.as_global(id) else {
                    return self.fail_expected("a global");
                };
                let kind = match word {
                    "no_cfi" => ConstKind::NoCfi(global),
                    _ => ConstKind::DsoLocalEquivalent(global),
                };
                Ok(self.module.consts.intern_constant(ty, kind))
            }
            "ptrauth" => {
                self.take_token();
                self.expect_punct(b'(')?;
                let mut parts = Vec::new();
                self.parse_list(b')', |parser| {
                    parts.push(parser.typed_constant()?);
                    Ok(())
                })?;
                Ok(self
                    .module
                    .consts
                    .intern_constant(ty, ConstKind::PtrAuth(parts.into())))
            }
            "asm" => self.fail_with("inline assembly can only be called"),
            _ => self.parse_expression(ty),
        }
    }

    /// `blockaddress(@function, %block)`
    fn parse_block_address(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        self.take_token();
        self.expect_punct(b'(')?;
        let place = self.token.place();
        let function = self.parse_global_reference()?;
        let func: Option<LlvmFunc> =
            self.module.as_global(function).and_then(|global| {
                match self.module.global(global).kind {
                    GlobalKind::Function(func) => Some(func),
                    _ => None,
                }
            });
        let Some(func) = func else {
            return Err(error_at(place, "expected a function"));
        };
        self.expect_punct(b',')?;
        if self.token.kind != LlvmTokenKind::Local {
            return self.fail_expected("a block");
        }
        let token = self.take_token();
        self.expect_punct(b')')?;
        let Some(block) = self.find_label(func, token)? else {
            return Err(error_at(token.place(), "the function has no such block"));
        };
        Ok(self
            .module
            .consts
            .intern_constant(ty, ConstKind::BlockAddress(func, block)))
    }

    /// Parses `asm "…", "…"` as a callee of a function type.
    pub fn inline_asm(&mut self, function_type: LlvmType) -> LlvmResult<LlvmConst> {
        self.expect_word("asm")?;
        let mut marks = [false; 4];
        let words = ["sideeffect", "alignstack", "inteldialect", "unwind"];
        for (mark, word) in marks.iter_mut().zip(words) {
            *mark = self.eat_word(word);
        }
        let text = self.parse_text_string()?;
        self.expect_punct(b',')?;
        let constraints = self.parse_text_string()?;
        let [side_effect, align_stack, intel_dialect, unwind] = marks;
        let asm = InlineAsm {
            text,
            constraints,
            function_type,
            side_effect,
            align_stack,
            intel_dialect,
            unwind,
        };
        let ty = self.pointer_to(function_type, 0);
        let module = &mut self.module;
        Ok(module.consts.inline_asm(&mut module.inline_asm, ty, asm))
    }

    /// A constant expression.
    fn parse_expression(&mut self, ty: LlvmType) -> LlvmResult<LlvmConst> {
        let start = self.token.start;
        let Some(opcode) = self.eat_named(LlvmOpcode::from_name) else {
            return self.fail_expected("a value");
        };
        let flags = self.parse_flags(LlvmInstFlags(u32::MAX));
        let mut extra = match opcode {
            LlvmOpcode::ICmp | LlvmOpcode::FCmp => {
                let integer = opcode == LlvmOpcode::ICmp;
                match self.eat_named(|name| Predicate::from_name_for(name, integer)) {
                    Some(predicate) => ExprExtra::Compare(predicate),
                    None => return self.fail_expected("a comparison"),
                }
            }
            _ => ExprExtra::None,
        };
        let flags = flags | self.in_range()?;
        self.expect_punct(b'(')?;
        if opcode == LlvmOpcode::GetElementPtr {
            extra = ExprExtra::SourceType(self.parse_type()?);
            self.expect_punct(b',')?;
        }
        let operands = self.parse_expression_operands(opcode, ty, &mut extra)?;
        let place = self.place_from(start);
        if !opcode.is_cast() {
            let module = &mut self.module;
            match expression_type(&mut module.types, &module.consts, opcode, &operands, &extra) {
                Ok(inferred) if module.types.is_compatible(inferred, ty) => {}
                Ok(_) => return Err(error_at(place, "a constant expression of another type")),
                Err(error) => return Err(error.locate(place)),
            }
        }
        let expr = LlvmConstantExpr {
            opcode,
            flags,
            operands: operands.into(),
            extra,
        };
        Ok(self
            .module
            .consts
            .intern_constant(ty, ConstKind::Expr(Box::new(expr))))
    }

    /// Parses `inrange` and its bounds, which are dropped.
    fn in_range(&mut self) -> LlvmResult<LlvmInstFlags> {
        if self.eat_word("inrange") {
            if self.is_at(b'(') {
                self.skip_group()?;
            }
            return Ok(self.parse_flags(LlvmInstFlags(u32::MAX)));
        }
        Ok(LlvmInstFlags::NONE)
    }

    /// Parses the operands of a constant expression up to and including its closing parenthesis.
    fn parse_expression_operands(
        &mut self,
        opcode: LlvmOpcode,
        ty: LlvmType,
        extra: &mut ExprExtra,
    ) -> LlvmResult<Vec<LlvmConst>> {
        let mut operands = Vec::new();
        let mut indices = Vec::new();
        loop {
            if matches!(opcode, LlvmOpcode::ExtractValue | LlvmOpcode::InsertValue)
                && self.token.kind == LlvmTokenKind::Integer
            {
                indices.push(self.unsigned_32()?);
            } else {
                self.eat_word("inrange");
                operands.push(self.typed_constant()?);
            }
            if self.eat_punct(b',') {
                continue;
            }
            break;
        }
        if opcode.is_cast() {
            self.expect_word("to")?;
            let place = self.token.place();
            if self.parse_type()? != ty {
                return Err(error_at(place, "a conversion to another type"));
            }
        }
        let arity = match opcode {
            _ if opcode.is_cast() => 1,
            _ if opcode.is_binary() => 2,
            LlvmOpcode::FNeg | LlvmOpcode::ExtractValue => 1,
            LlvmOpcode::ICmp
            | LlvmOpcode::FCmp
            | LlvmOpcode::ExtractElement
            | LlvmOpcode::InsertValue => 2,
            LlvmOpcode::Select | LlvmOpcode::InsertElement | LlvmOpcode::ShuffleVector => 3,
            LlvmOpcode::GetElementPtr => operands.len(),
            _ => {
                return self.fail_with(format!("`{}` is not a constant expression", opcode.name()));
            }
        };
        if operands.len() != arity {
            return self.fail_with("a constant expression with a wrong number of operands");
        }
        if opcode == LlvmOpcode::ShuffleVector {
            let mask = operands
                .pop()
                .and_then(|mask| shuffle_mask(&self.module.types, &self.module.consts, mask));
            match mask {
                Some(mask) => *extra = ExprExtra::Mask(mask.into()),
                None => return self.fail_with("a shuffle without a mask"),
            }
        }
        if matches!(opcode, LlvmOpcode::ExtractValue | LlvmOpcode::InsertValue) {
            *extra = ExprExtra::Indices(indices.into());
        }
        self.expect_punct(b')')?;
        Ok(operands)
    }

    /// Parses the flags that follow, restricted to `allowed`.
    pub fn parse_flags(&mut self, allowed: LlvmInstFlags) -> LlvmInstFlags {
        let mut flags = LlvmInstFlags::NONE;
        loop {
            let word = self.peek_word();
            let found = match word {
                "fast" => Some(LlvmInstFlags::FAST),
                word => LlvmInstFlags::NAMES
                    .iter()
                    .find(|row| row.1 == word)
                    .map(|row| row.0),
            };
            match found {
                Some(flag) if allowed.contains_all(flag) => flags |= flag,
                _ => return flags,
            }
            self.take_token();
        }
    }
}
