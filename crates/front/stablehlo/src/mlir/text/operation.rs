//! Parser of operations, regions and blocks.

use super::cursor::MlirParseResult;
use super::parser::MlirParser;
use super::scope::UnresolvedOperand;
use crate::dialect::{self, AssemblyFormat, OpDefinition};
use crate::mlir::{
    MlirAttr, MlirBlock, MlirLoc, MlirOp, MlirRegion, MlirSymbol, MlirType, MlirValue,
    NamedAttribute,
};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;

/// State of an operation while it is read.
pub(crate) struct OperationState<'a> {
    pub op: MlirOp,
    pub place: SourceLocation,
    pub operands: Vec<UnresolvedOperand<'a>>,
    pub operand_types: Vec<MlirType>,
    pub result_types: Vec<MlirType>,
    pub properties: Vec<NamedAttribute>,
    pub attributes: Vec<NamedAttribute>,
    pub successors: Vec<MlirBlock>,
    /// Blocks of each region.
    pub regions: Vec<Vec<MlirBlock>>,
    /// Number of results that have names; `None` if none does.
    pub named_results: Option<usize>,
}

/// `%name:count` before an operation.
struct ResultName<'a> {
    name: &'a [u8],
    count: usize,
    place: SourceLocation,
}

/// An argument of a block with its name.
pub(crate) struct BlockArgument<'a> {
    pub name: &'a [u8],
    pub place: SourceLocation,
    pub ty: MlirType,
    pub loc: MlirLoc,
}

/// Labels of the blocks of the region that is read.
#[derive(Default)]
pub(crate) struct RegionLabels<'a> {
    /// The block of a label, and whether it was defined.
    all: FxHashMap<&'a [u8], (MlirBlock, bool)>,
    uses: Vec<(&'a [u8], SourceLocation)>,
}

impl<'a> MlirParser<'a> {
    /// Operations up to the end of the region or block, into the block.
    fn parse_operations(&mut self, block: MlirBlock) -> MlirParseResult<()> {
        let mut ops = Vec::new();
        while !matches!(self.cursor.peek_byte(), b'}' | b'^') {
            if self.cursor.at_end() {
                return self.cursor.report_expected("`}`");
            }
            ops.push(self.parse_operation()?);
        }
        self.module.set_ops(block, &ops);
        Ok(())
    }

    /// An operation with the names of its results and its location.
    pub fn parse_operation(&mut self) -> MlirParseResult<MlirOp> {
        self.cursor.enter_nesting()?;
        let names = self.result_names()?;
        let quoted = self.cursor.peek_byte() == b'"';
        let start = self.cursor.skip_to_start();
        let name = if quoted {
            self.quoted_name()?
        } else {
            self.custom_name()?
        };
        let place = self.cursor.location_since(start);
        let op = self.module.reserve_op(name, place);
        let known = self.module.op_definition(op);
        let mut draft = OperationState {
            op,
            place,
            operands: Vec::new(),
            operand_types: Vec::new(),
            result_types: Vec::new(),
            properties: Vec::new(),
            attributes: Vec::new(),
            successors: Vec::new(),
            regions: Vec::new(),
            named_results: (!names.is_empty()).then(|| names.iter().map(|n| n.count).sum()),
        };
        match known {
            _ if quoted => self.generic_form(&mut draft, known)?,
            Some(known) => self.custom_form(&mut draft, known)?,
            None => return self.unknown_form(name, place),
        }
        let loc = self.optional_location()?;
        let op = self.finish_operation(draft, known, loc)?;
        self.define_results(op, &names)?;
        self.cursor.leave_nesting();
        Ok(op)
    }

    fn unknown_form<T>(&self, name: MlirSymbol, place: SourceLocation) -> MlirParseResult<T> {
        let name = self.module.symbol_text(name);
        let message = format!("the operation `{name}` is not known");
        let mut error = self.cursor.error_at(place, message);
        if let Err(diagnostic) = &mut error {
            let hint = format!(
                "operations of other dialects are read in the generic form, `\"{name}\"(…)`"
            );
            diagnostic.hint = Some(hint);
        }
        error
    }

    /// `%a, %b:2 =`
    fn result_names(&mut self) -> MlirParseResult<Vec<ResultName<'a>>> {
        let mut names = Vec::new();
        if self.cursor.peek_byte() != b'%' {
            return Ok(names);
        }
        loop {
            let start = self.cursor.skip_to_start();
            let name = self.value_name()?;
            let place = self.cursor.location_since(start);
            let count = if self.cursor.eat_punctuation(":") {
                self.cursor.read_number()?
            } else {
                1
            };
            // There cannot be types for more results than bytes are left.
            let left = self.cursor.bytes.len() - self.cursor.pos;
            match usize::try_from(count) {
                Ok(count) if (1..=left).contains(&count) => {
                    names.push(ResultName { name, count, place })
                }
                _ => {
                    return self
                        .cursor
                        .error_at(place, "an impossible number of results");
                }
            }
            if !self.cursor.eat_punctuation(",") {
                break;
            }
        }
        self.cursor.expect_punctuation("=")?;
        Ok(names)
    }

    /// The name of an operation in its generic form.
    fn quoted_name(&mut self) -> MlirParseResult<MlirSymbol> {
        let name = self.parse_text_string()?;
        let text = self.module.symbol_text(name);
        if !text.starts_with("mhlo.") {
            return Ok(name);
        }
        let shared = dialect::full_operation_name(text).into_owned();
        Ok(self.module.intern_text(&shared))
    }

    /// The name of an operation in its custom form; the dialect may be left out where only one
    /// has such an operation.
    fn custom_name(&mut self) -> MlirParseResult<MlirSymbol> {
        let name = match self.cursor.read_word() {
            "" => return self.cursor.report_expected("an operation"),
            word => dialect::full_operation_name(word),
        };
        Ok(self.module.intern_text(&name))
    }

    /// `(operands) [successors] <{properties}> ({regions}) {attributes} : type`
    fn generic_form(
        &mut self,
        draft: &mut OperationState<'a>,
        known: Option<&OpDefinition>,
    ) -> MlirParseResult<()> {
        self.cursor.expect_punctuation("(")?;
        draft.operands = self.parse_list(")", Self::parse_operand)?;
        if self.cursor.eat_punctuation("[") {
            draft.successors = self.parse_list("]", Self::parse_successor)?;
        }
        if self.cursor.eat_punctuation("<") {
            draft.properties = self.parse_dictionary()?;
            self.cursor.expect_punctuation(">")?;
        }
        if self.cursor.eat_punctuation("(") {
            let isolated = known.is_some_and(|known| known.isolated);
            draft.regions = self.parse_list(")", |parser| parser.parse_region(None, isolated))?;
        }
        if self.cursor.peek_byte() == b'{' {
            draft.attributes = self.parse_dictionary()?;
        }
        self.cursor.expect_punctuation(":")?;
        (draft.operand_types, draft.result_types) = self.parse_signature()?;
        Ok(())
    }

    fn custom_form(
        &mut self,
        draft: &mut OperationState<'a>,
        known: &OpDefinition,
    ) -> MlirParseResult<()> {
        match known.form {
            AssemblyFormat::Format(format, types) => {
                self.parse_formatted_operation(draft, format, types)
            }
            AssemblyFormat::Custom(parse) => parse(self, draft),
            AssemblyFormat::Generic => {
                let message = format!("`{}` has no form but the generic one", known.format_names());
                self.cursor.error_at(draft.place, message)
            }
        }
    }

    /// Puts the parts of an operation into the module.
    fn finish_operation(
        &mut self,
        mut draft: OperationState<'a>,
        known: Option<&OpDefinition>,
        loc: MlirLoc,
    ) -> MlirParseResult<MlirOp> {
        let (operands, types) = (draft.operands.len(), draft.operand_types.len());
        if operands != types {
            let message = format!("{operands} operands have {types} types");
            return self.cursor.error_at(draft.place, message);
        }
        if let Some(named) = draft.named_results
            && named != draft.result_types.len()
        {
            let message = format!(
                "{named} results are named, the operation has {}",
                draft.result_types.len()
            );
            return self.cursor.error_at(draft.place, message);
        }
        let mut values = Vec::with_capacity(operands);
        for (written, &ty) in draft.operands.iter().zip(&draft.operand_types) {
            values.push(self.resolve_operand(*written, ty)?);
        }
        let op = draft.op;
        self.module.set_operands(op, &values);
        let regions = self.module.reserve_regions(op, draft.regions.len());
        for (at, blocks) in regions.to_range().zip(&draft.regions) {
            self.module.set_blocks(MlirRegion::new(at), blocks);
        }
        if let Some(known) = known {
            self.sort_out_properties(&mut draft, known);
        }
        let mut all = [draft.properties.as_slice(), &draft.attributes].concat();
        if let Some(name) = self.sort_and_find_twice(&mut all) {
            let message = format!("the attribute `{name}` is given twice");
            return self.cursor.error_at(draft.place, message);
        }
        self.module
            .set_attributes(op, &mut draft.properties, &mut draft.attributes);
        self.module.set_successors(op, &draft.successors);
        self.module.set_results(op, &draft.result_types);
        self.module.set_location(op, loc);
        Ok(op)
    }

    /// Moves attributes that belong to the operation by its definition to its properties, in the
    /// kind that the definition says.
    fn sort_out_properties(&mut self, draft: &mut OperationState<'a>, known: &OpDefinition) {
        let mut at = 0;
        while at < draft.attributes.len() {
            match known.find_attribute(self.module.symbol_text(draft.attributes[at].0)) {
                Some(_) => draft.properties.push(draft.attributes.remove(at)),
                None => at += 1,
            }
        }
        for (name, attr) in &mut draft.properties {
            if let Some(known) = known.find_attribute(self.module.symbol_text(*name)) {
                *attr = dialect::normalise_attribute(&mut self.module, known.constraint, *attr);
            }
        }
    }

    fn define_results(&mut self, op: MlirOp, names: &[ResultName<'a>]) -> MlirParseResult<()> {
        let mut first = self.module.results(op).next().map_or(0, MlirValue::index);
        for name in names {
            self.define_names(name.name, MlirValue::new(first), name.count, name.place)?;
            first += name.count;
        }
        Ok(())
    }

    /// `{…}`; `arguments` are those of an entry block whose names were written before it.
    pub fn parse_region(
        &mut self,
        arguments: Option<&[BlockArgument<'a>]>,
        isolated: bool,
    ) -> MlirParseResult<Vec<MlirBlock>> {
        self.cursor.enter_nesting()?;
        let mark = self.enter_scope(isolated);
        let outer = std::mem::take(&mut self.labels);
        self.cursor.expect_punctuation("{")?;
        let mut blocks = Vec::new();
        let labelled = self.cursor.peek_byte() == b'^';
        if arguments.is_some() || !matches!(self.cursor.peek_byte(), b'^' | b'}') {
            if labelled {
                return self
                    .cursor
                    .report_error("the entry block has its arguments already");
            }
            let block = self.module.reserve_block(MlirRegion::new(0));
            blocks.push(block);
            self.block_arguments(block, arguments.unwrap_or_default())?;
            self.parse_operations(block)?;
        }
        while self.cursor.peek_byte() == b'^' {
            self.labelled_block(&mut blocks)?;
        }
        self.cursor.expect_punctuation("}")?;
        self.check_labels()?;
        self.labels = outer;
        self.leave_scope(mark)?;
        self.cursor.leave_nesting();
        Ok(blocks)
    }

    fn labelled_block(&mut self, blocks: &mut Vec<MlirBlock>) -> MlirParseResult<()> {
        let start = self.cursor.skip_to_start();
        let label = self.parse_label()?;
        let place = self.cursor.location_since(start);
        let block = self.find_or_reserve_block(label);
        if let Some((_, defined)) = self.labels.all.get_mut(label)
            && std::mem::replace(defined, true)
        {
            return self.cursor.error_at(place, "the block is defined twice");
        }
        blocks.push(block);
        let mut arguments = Vec::new();
        if self.cursor.eat_punctuation("(") {
            arguments = self.parse_list(")", Self::block_argument)?;
        }
        self.cursor.expect_punctuation(":")?;
        self.block_arguments(block, &arguments)?;
        self.parse_operations(block)
    }

    /// `^name`, without the sign.
    fn parse_label(&mut self) -> MlirParseResult<&'a [u8]> {
        self.cursor.expect_punctuation("^")?;
        match self.cursor.read_suffix() {
            [] => self.cursor.report_expected("the name of a block"),
            name => Ok(name),
        }
    }

    fn find_or_reserve_block(&mut self, label: &'a [u8]) -> MlirBlock {
        if let Some(&(block, _)) = self.labels.all.get(label) {
            return block;
        }
        let block = self.module.reserve_block(MlirRegion::new(0));
        self.labels.all.insert(label, (block, false));
        block
    }

    fn parse_successor(&mut self) -> MlirParseResult<MlirBlock> {
        let start = self.cursor.skip_to_start();
        let label = self.parse_label()?;
        self.labels
            .uses
            .push((label, self.cursor.location_since(start)));
        Ok(self.find_or_reserve_block(label))
    }

    /// Every block that a terminator names has to exist.
    fn check_labels(&self) -> MlirParseResult<()> {
        let missing = |(label, _): &&(&[u8], SourceLocation)| !self.labels.all[label].1;
        match self.labels.uses.iter().find(missing) {
            Some(&(label, place)) => {
                let label = String::from_utf8_lossy(label);
                self.cursor
                    .error_at(place, format!("the block `^{label}` is not defined"))
            }
            None => Ok(()),
        }
    }

    /// `%name: type loc(…)`
    pub fn block_argument(&mut self) -> MlirParseResult<BlockArgument<'a>> {
        let mut argument = self.parse_argument()?;
        argument.loc = self.optional_location()?;
        Ok(argument)
    }

    /// `%name: type`, without the location that may follow.
    pub fn parse_argument(&mut self) -> MlirParseResult<BlockArgument<'a>> {
        let start = self.cursor.skip_to_start();
        let name = self.value_name()?;
        let place = self.cursor.location_since(start);
        self.cursor.expect_punctuation(":")?;
        let ty = self.parse_type()?;
        Ok(BlockArgument {
            name,
            place,
            ty,
            loc: MlirLoc::UNKNOWN,
        })
    }

    fn block_arguments(
        &mut self,
        block: MlirBlock,
        arguments: &[BlockArgument<'a>],
    ) -> MlirParseResult<()> {
        let types: Vec<MlirType> = arguments.iter().map(|argument| argument.ty).collect();
        self.module.set_arguments(block, &types);
        let values: Vec<MlirValue> = self.module.arguments(block).collect();
        for (argument, value) in arguments.iter().zip(values) {
            self.module.set_argument_location(value, argument.loc);
            self.define_names(argument.name, value, 1, argument.place)?;
        }
        Ok(())
    }
}

/// Parts of custom forms that the generic form writes out.
impl MlirParser<'_> {
    /// A block `^bb(%a: ty, %b: ty): %c = name %a, %b : ty; stablehlo.return %c`.
    pub fn applied_block(
        &mut self,
        name: MlirSymbol,
        place: SourceLocation,
        ty: MlirType,
    ) -> MlirParseResult<MlirBlock> {
        let block = self.module.reserve_block(MlirRegion::new(0));
        self.module.set_arguments(block, &[ty, ty]);
        let arguments: Vec<MlirValue> = self.module.arguments(block).collect();
        let op = self.module.reserve_op(name, place);
        self.module.set_operands(op, &arguments);
        self.module.set_results(op, &[ty]);
        let results: Vec<MlirValue> = self.module.results(op).collect();
        let name = self.module.intern_text("stablehlo.return");
        let end = self.module.reserve_op(name, place);
        self.module.set_operands(end, &results);
        self.module.set_ops(block, &[op, end]);
        Ok(block)
    }
}

impl OperationState<'_> {
    /// Adds an attribute that belongs to the operation.
    pub fn add_property(&mut self, name: MlirSymbol, attr: MlirAttr) {
        self.properties.push((name, attr));
    }
}
