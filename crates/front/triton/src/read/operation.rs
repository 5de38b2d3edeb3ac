//! Operations without regions, and the generic form of operations.

use super::function::{BlockLabels, FunctionReader};
use super::{attribute, fail, types};
use crate::TritonResult;
use crate::ir::{OperationPlace, TileAttribute, TileElement, TileOperation, TileType};
use std::collections::BTreeMap;

/// An operation of a name, with nothing else.
pub(super) fn make_operation(name: &str) -> TileOperation {
    TileOperation {
        name: name.to_owned(),
        operands: Vec::new(),
        results: Vec::new(),
        words: Vec::new(),
        attributes: BTreeMap::new(),
        regions: Vec::new(),
        successors: Vec::new(),
        place: OperationPlace::default(),
    }
}

impl FunctionReader<'_, '_> {
    /// Reads an operation after its results, and returns the types of its results.
    pub fn read_body(
        &mut self,
        labels: &mut BlockLabels,
        count: usize,
    ) -> TritonResult<(TileOperation, Vec<TileType>)> {
        if self.cursor.peek("\"") {
            return self.read_generic(labels);
        }
        let name = self.cursor.expect_word()?;
        match name.as_str() {
            "scf.for" => self.read_for(),
            "scf.if" => self.read_if(),
            "scf.while" => self.read_while(),
            _ => self.read_plain(&name, labels, count),
        }
    }

    /// Reads the generic form: `"name"(operands) <{properties}> ({regions}) {attributes} : (types) -> types`.
    fn read_generic(
        &mut self,
        labels: &mut BlockLabels,
    ) -> TritonResult<(TileOperation, Vec<TileType>)> {
        let mut operation = make_operation(&self.cursor.read_string()?);
        self.cursor.expect("(")?;
        while !self.cursor.eat(")") {
            operation.operands.push(self.read_value()?);
            self.cursor.eat(",");
        }
        if self.cursor.eat("[") {
            while !self.cursor.eat("]") {
                self.read_successor(&mut operation, labels)?;
                self.cursor.eat(",");
            }
        }
        if self.cursor.eat("<") {
            operation.attributes = attribute::read_dictionary(self.cursor)?;
            self.cursor.expect(">")?;
        }
        if self.cursor.eat("(") {
            while !self.cursor.eat(")") {
                operation.regions.push(self.read_region(Vec::new())?);
                self.cursor.eat(",");
            }
        }
        if self.cursor.peek("{") {
            let more = attribute::read_dictionary(self.cursor)?;
            operation.attributes.extend(more);
        }
        self.cursor.expect(":")?;
        self.read_type_list()?;
        self.cursor.expect("->")?;
        let results = self.read_type_list()?;
        Ok((operation, results))
    }

    /// Reads an operation that is written on one line: operands and words, attributes, and types after a colon.
    fn read_plain(
        &mut self,
        name: &str,
        labels: &mut BlockLabels,
        count: usize,
    ) -> TritonResult<(TileOperation, Vec<TileType>)> {
        let mut operation = make_operation(name);
        let mut listed = TypeSignature::default();
        loop {
            self.cursor
                .take_while(|c| c == ' ' || c == '\t' || c == ',');
            let rest = self.cursor.rest();
            let Some(next) = rest.chars().next() else {
                break;
            };
            match next {
                '\n' | '\r' | '}' => break,
                _ if rest.starts_with("loc(") || rest.starts_with("//") => break,
                '%' => operation.operands.push(self.read_value()?),
                '^' => self.read_successor(&mut operation, labels)?,
                '{' => operation
                    .attributes
                    .extend(attribute::read_dictionary(self.cursor)?),
                '[' | ']' | '(' | ')' => self.cursor.expect(&next.to_string())?,
                ':' => {
                    self.cursor.expect(":")?;
                    if !self.cursor.peek("%") {
                        listed = self.read_signature()?;
                    }
                }
                '<' => {
                    self.cursor.take_while(|c| c != '>');
                    self.cursor.expect(">")?;
                }
                '=' => self.read_named(&mut operation)?,
                _ if name == "tt.dot_scaled" && self.cursor.eat_word("scale") => {
                    // The scale follows the operand that it belongs to.
                    let is_first = operation.operands.len() == 1;
                    let side = if is_first { "lhs_scale" } else { "rhs_scale" };
                    let unit = TileAttribute::Word("unit".to_owned());
                    operation.attributes.insert(side.to_owned(), unit);
                }
                _ => operation.words.push(attribute::read_value(self.cursor, 0)?),
            }
        }
        let results = if count == 0 {
            Vec::new()
        } else {
            self.infer_results(&operation, listed)?
        };
        Ok((operation, results))
    }

    /// Reads the value after the last word, which is the name of an attribute.
    fn read_named(&mut self, operation: &mut TileOperation) -> TritonResult<()> {
        self.cursor.expect("=")?;
        let Some(TileAttribute::Word(name)) = operation.words.pop() else {
            return fail(self.cursor, "expected a name before `=`");
        };
        let value = attribute::read_value(self.cursor, 0)?;
        operation.attributes.insert(name, value);
        Ok(())
    }

    /// Reads a block that control continues in, with its arguments.
    fn read_successor(
        &mut self,
        operation: &mut TileOperation,
        labels: &mut BlockLabels,
    ) -> TritonResult<()> {
        let number = labels.number(self.cursor.read_marked("^")?);
        let mut arguments = Vec::new();
        if self.cursor.rest().starts_with('(') {
            self.cursor.expect("(")?;
            while !self.cursor.eat(":") {
                arguments.push(self.read_value()?);
                self.cursor.eat(",");
            }
            while !self.cursor.eat(")") {
                types::read_type(self.cursor)?;
                self.cursor.eat(",");
            }
        }
        operation.successors.push((number, arguments));
        Ok(())
    }

    /// Reads the types after the colon.
    fn read_signature(&mut self) -> TritonResult<TypeSignature> {
        let mut signature = TypeSignature::default();
        loop {
            self.cursor
                .take_while(|c| matches!(c, ' ' | ',' | '(' | ')' | '*'));
            let rest = self.cursor.rest();
            if rest.starts_with("->") || rest.starts_with("to ") {
                let mark = if rest.starts_with("->") { "->" } else { "to" };
                self.cursor.expect(mark)?;
                signature.results = Some(Vec::new());
                continue;
            }
            let is_type = rest.starts_with(['!', 'i', 'f', 'b']) || rest.starts_with("tensor<");
            if !is_type {
                return Ok(signature);
            }
            let ty = types::read_type(self.cursor)?;
            match &mut signature.results {
                Some(results) => results.push(ty),
                None => signature.operands.push(ty),
            }
        }
    }

    /// The types of the results, where the signature does not list them: they follow from the operation.
    fn infer_results(
        &self,
        operation: &TileOperation,
        listed: TypeSignature,
    ) -> TritonResult<Vec<TileType>> {
        if let Some(results) = listed.results {
            return Ok(results);
        }
        let boolean = TileElement::Integer(1);
        let mut types = listed.operands;
        let first = types.first().cloned();
        let Some(mut first) = first else {
            return match operation.name.as_str() {
                "arith.constant" => Ok(vec![TileType::scalar(boolean)]),
                _ => fail(self.cursor, format!("{} has no type", operation.name)),
            };
        };
        match operation.name.as_str() {
            "arith.cmpi" | "arith.cmpf" => {
                first.element = boolean;
                Ok(vec![first])
            }
            "tt.load" => match first.element {
                TileElement::Pointer(pointee) => {
                    first.element = *pointee;
                    Ok(vec![first])
                }
                _ => fail(self.cursor, "a load needs a pointer"),
            },
            "tt.addptr" => Ok(vec![first]),
            _ => Ok(types.split_off(types.len() - 1)),
        }
    }
}

/// Types that an operation lists: those of operands, and those of results after an arrow.
#[derive(Debug, Default)]
struct TypeSignature {
    operands: Vec<TileType>,
    results: Option<Vec<TileType>>,
}
