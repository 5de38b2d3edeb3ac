//! Loops and conditions of the dialect `scf`.

use super::function::FunctionReader;
use super::operation::make_operation;
use super::{attribute, types};
use crate::TritonResult;
use crate::ir::{TileElement, TileOperation, TileType, ValueId};

impl FunctionReader<'_, '_> {
    /// Reads `scf.for %i = %a to %b step %c iter_args(%x = %y) -> (types) : type { … }`.
    pub fn read_for(&mut self) -> TritonResult<(TileOperation, Vec<TileType>)> {
        let mut operation = make_operation("scf.for");
        if self.cursor.eat_word("unsigned") {
            operation
                .words
                .push(crate::ir::TileAttribute::Word("unsigned".to_owned()));
        }
        let counter = self.cursor.read_marked("%")?.to_owned();
        for mark in ["=", "to", "step"] {
            self.cursor.expect(mark)?;
            operation.operands.push(self.read_value()?);
        }
        let mut carried = Vec::new();
        let mut results = Vec::new();
        if self.cursor.eat_word("iter_args") {
            carried = self.read_initial_values(&mut operation)?;
            self.cursor.expect("->")?;
            results = self.read_type_list()?;
        }
        let mut counter_type = TileType::scalar(TileElement::Integer(64));
        if self.cursor.eat(":") {
            counter_type = types::read_type(self.cursor)?;
        }
        let mut arguments = vec![self.define(&counter, counter_type)?];
        for (name, initial) in carried {
            let ty = self.type_of(initial).clone();
            arguments.push(self.define(&name, ty)?);
        }
        operation.regions.push(self.read_region(arguments)?);
        if self.cursor.peek("{") {
            operation.attributes = attribute::read_dictionary(self.cursor)?;
        }
        Ok((operation, results))
    }

    /// Reads `(%x = %y, …)`: the names in the region, and the values at the beginning, which become operands.
    fn read_initial_values(
        &mut self,
        operation: &mut TileOperation,
    ) -> TritonResult<Vec<(String, ValueId)>> {
        self.cursor.expect("(")?;
        let mut carried = Vec::new();
        while !self.cursor.eat(")") {
            let name = self.cursor.read_marked("%")?.to_owned();
            self.cursor.expect("=")?;
            let initial = self.read_value()?;
            operation.operands.push(initial);
            carried.push((name, initial));
            self.cursor.eat(",");
        }
        Ok(carried)
    }

    /// Reads `scf.if %c -> (types) { … } else { … }`.
    pub fn read_if(&mut self) -> TritonResult<(TileOperation, Vec<TileType>)> {
        let mut operation = make_operation("scf.if");
        operation.operands.push(self.read_value()?);
        let mut results = Vec::new();
        if self.cursor.eat("->") {
            results = self.read_type_list()?;
        }
        operation.regions.push(self.read_region(Vec::new())?);
        if self.cursor.eat_word("else") {
            operation.regions.push(self.read_region(Vec::new())?);
        }
        if self.cursor.peek("{") {
            operation.attributes = attribute::read_dictionary(self.cursor)?;
        }
        Ok((operation, results))
    }

    /// Reads `scf.while (%x = %y) : (types) -> types { … } do { … }`.
    pub fn read_while(&mut self) -> TritonResult<(TileOperation, Vec<TileType>)> {
        let mut operation = make_operation("scf.while");
        let mut carried = Vec::new();
        if self.cursor.peek("(") {
            carried = self.read_initial_values(&mut operation)?;
        }
        self.cursor.expect(":")?;
        self.read_type_list()?;
        self.cursor.expect("->")?;
        let results = self.read_type_list()?;
        let mut arguments = Vec::new();
        for (name, initial) in carried {
            let ty = self.type_of(initial).clone();
            arguments.push(self.define(&name, ty)?);
        }
        operation.regions.push(self.read_region(arguments)?);
        self.cursor.expect("do")?;
        operation.regions.push(self.read_region(Vec::new())?);
        if self.cursor.eat_word("attributes") {
            operation.attributes = attribute::read_dictionary(self.cursor)?;
        }
        Ok((operation, results))
    }
}
