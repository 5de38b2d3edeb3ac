//! Functions, regions and blocks.

use super::cursor::TextCursor;
use super::location::{self, LocationTable};
use super::{MAX_DEPTH, attribute, fail, types};
use crate::TritonResult;
use crate::ir::{TileBlock, TileFunction, TileOperation, TileRegion, TileType, ValueId};
use std::collections::HashMap;

/// Most values of a function.
const MAX_VALUES: usize = 1 << 20;

/// Reader of the body of a function.
pub(super) struct FunctionReader<'r, 'a> {
    pub cursor: &'r mut TextCursor<'a>,
    pub places: &'r LocationTable,
    types: Vec<TileType>,
    names: HashMap<String, (ValueId, u32)>,
    depth: usize,
}

/// Labels of the blocks of a region, by their names.
#[derive(Debug, Default)]
pub(super) struct BlockLabels {
    numbers: HashMap<String, usize>,
}

impl BlockLabels {
    /// Number of a label. Numbers follow the order of first mention.
    pub fn number(&mut self, name: &str) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(name.to_owned()).or_insert(next)
    }
}

/// Reads `tt.func`.
pub(super) fn read_function(
    cursor: &mut TextCursor<'_>,
    places: &LocationTable,
) -> TritonResult<TileFunction> {
    let start = cursor.offset();
    if !cursor.eat_word("tt.func") {
        return fail(cursor, "expected a function: `tt.func`");
    }
    let is_public = cursor.eat_word("public") || !cursor.eat_word("private");
    let name = cursor.read_symbol()?;
    let mut reader = FunctionReader {
        cursor,
        places,
        types: Vec::new(),
        names: HashMap::new(),
        depth: 0,
    };
    let arguments = reader.read_arguments()?;
    let mut results = Vec::new();
    if reader.cursor.eat("->") {
        results = reader.read_type_list()?;
    }
    if reader.cursor.eat_word("attributes") {
        attribute::read_dictionary(reader.cursor)?;
    }
    let body = reader.read_region(arguments)?;
    let types = std::mem::take(&mut reader.types);
    Ok(TileFunction {
        name,
        is_public,
        results,
        body,
        types,
        place: cursor.read_place(start, places)?,
    })
}

impl FunctionReader<'_, '_> {
    /// Defines a value.
    pub fn define(&mut self, name: &str, ty: TileType) -> TritonResult<ValueId> {
        Ok(self.define_group(name, vec![ty])?[0])
    }

    /// Defines the results of an operation, which share a name.
    pub fn define_group(&mut self, name: &str, group: Vec<TileType>) -> TritonResult<Vec<ValueId>> {
        if self.types.len() + group.len() > MAX_VALUES {
            return fail(self.cursor, "a function has too many values");
        }
        let first = self.types.len() as u32;
        let count = group.len() as u32;
        self.types.extend(group);
        self.names.insert(name.to_owned(), (ValueId(first), count));
        Ok((first..first + count).map(ValueId).collect())
    }

    /// Type of a value.
    pub fn type_of(&self, value: ValueId) -> &TileType {
        &self.types[value.0 as usize]
    }

    /// Reads a use of a value: `%name`, or `%name#1` for one of several results.
    pub fn read_value(&mut self) -> TritonResult<ValueId> {
        self.cursor.skip_blanks();
        let start = self.cursor.clone();
        let name = self.cursor.read_marked("%")?;
        let Some((first, count)) = self.names.get(name).copied() else {
            return fail(&start, format!("%{name} is not defined"));
        };
        let mut number = 0;
        if self.cursor.rest().starts_with('#') {
            let digits = self.cursor.read_marked("#")?;
            number = digits.parse().unwrap_or(u32::MAX);
        }
        if number >= count {
            return fail(&start, format!("%{name} has {count} values"));
        }
        Ok(ValueId(first.0 + number))
    }

    /// Reads arguments in parentheses, each with its type, and defines them.
    pub fn read_arguments(&mut self) -> TritonResult<Vec<ValueId>> {
        self.cursor.expect("(")?;
        let mut arguments = Vec::new();
        while !self.cursor.eat(")") {
            let name = self.cursor.read_marked("%")?;
            self.cursor.expect(":")?;
            let ty = types::read_type(self.cursor)?;
            if self.cursor.peek("{") {
                attribute::read_dictionary(self.cursor)?;
            }
            location::skip_location(self.cursor)?;
            arguments.push(self.define(name, ty)?);
            if !self.cursor.eat(",") && !self.cursor.peek(")") {
                return fail(self.cursor, "expected `,` or `)` after an argument");
            }
        }
        Ok(arguments)
    }

    /// Reads one type, or several in parentheses.
    pub fn read_type_list(&mut self) -> TritonResult<Vec<TileType>> {
        if !self.cursor.eat("(") {
            return Ok(vec![types::read_type(self.cursor)?]);
        }
        let mut list = Vec::new();
        while !self.cursor.eat(")") {
            list.push(types::read_type(self.cursor)?);
            if !self.cursor.eat(",") && !self.cursor.peek(")") {
                return fail(self.cursor, "expected `,` or `)` after a type");
            }
        }
        Ok(list)
    }

    /// Reads a region in braces. The first block has the given arguments, unless it has a label with arguments of its own.
    pub fn read_region(&mut self, arguments: Vec<ValueId>) -> TritonResult<TileRegion> {
        if self.depth >= MAX_DEPTH {
            return fail(self.cursor, "regions are nested too deeply");
        }
        self.depth += 1;
        self.cursor.expect("{")?;
        let mut labels = BlockLabels::default();
        let mut blocks = vec![TileBlock {
            arguments,
            operations: Vec::new(),
        }];
        let mut current = 0;
        while !self.cursor.eat("}") {
            if self.cursor.peek("^") {
                let is_first = current == 0 && blocks[0].operations.is_empty();
                current = self.read_label(&mut labels, &mut blocks, is_first)?;
                continue;
            }
            let operation = self.read_operation(&mut labels)?;
            blocks[current].operations.push(operation);
        }
        self.depth -= 1;
        if blocks.len() <= labels.numbers.len() {
            return fail(self.cursor, "a block that is branched to is missing");
        }
        Ok(TileRegion { blocks })
    }

    /// Reads the label of a block, and returns the number of the block.
    fn read_label(
        &mut self,
        labels: &mut BlockLabels,
        blocks: &mut Vec<TileBlock>,
        is_first: bool,
    ) -> TritonResult<usize> {
        let name = self.cursor.read_marked("^")?;
        let number = if is_first { 0 } else { labels.number(name) };
        if self.cursor.peek("(") {
            let arguments = self.read_arguments()?;
            while blocks.len() <= number {
                blocks.push(TileBlock::default());
            }
            blocks[number].arguments = arguments;
        }
        while blocks.len() <= number {
            blocks.push(TileBlock::default());
        }
        self.cursor.expect(":")?;
        Ok(number)
    }

    /// Reads an operation with its results and its place.
    fn read_operation(&mut self, labels: &mut BlockLabels) -> TritonResult<TileOperation> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let mut names = Vec::new();
        if self.cursor.peek("%") {
            loop {
                let name = self.cursor.read_marked("%")?.to_owned();
                let mut count = 1;
                if self.cursor.eat(":") {
                    let digits = self.cursor.take_while(|c| c.is_ascii_digit());
                    count = digits.parse().unwrap_or(0);
                }
                names.push((name, count));
                if !self.cursor.eat(",") {
                    break;
                }
            }
            self.cursor.expect("=")?;
        }
        let count: usize = names.iter().map(|name| name.1).sum();
        let (mut operation, mut results) = self.read_body(labels, count)?;
        if results.len() < count
            && let Some(last) = results.last().cloned()
        {
            results.resize(count, last);
        }
        if results.len() != count && count > 0 {
            let message = format!("{} has {} results", operation.name, results.len());
            return fail(self.cursor, message);
        }
        let mut results = results.into_iter();
        for (name, count) in names {
            let group = results.by_ref().take(count).collect();
            operation.results.extend(self.define_group(&name, group)?);
        }
        operation.place = self.cursor.read_place(start, self.places)?;
        Ok(operation)
    }
}
