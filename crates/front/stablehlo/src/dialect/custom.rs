//! Parsers of custom forms that no format describes.

use crate::mlir::text::{BlockArgument, MlirParseResult, MlirParser, OperationState};
use crate::mlir::{
    AttributeKind, DenseElements, DialectBody, MlirAttr, MlirBlock, MlirLoc, MlirType, MlirTypeKind,
};

/// `module @name attributes {…} {…}`
pub(crate) fn parse_module<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    if parser.cursor.peek_byte() == b'@' {
        let name = parser.symbol_name()?;
        parser.add_property(draft, "sym_name", AttributeKind::String(name));
    }
    parser.attributes_with_word(draft)?;
    draft.regions.push(parser.parse_region(Some(&[]), true)?);
    Ok(())
}

/// `func.func private @name(%a: type {…}) -> (type {…}) attributes {…} {…}`
pub(crate) fn parse_function<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    let word = parser.cursor.peek_word();
    if matches!(word, "public" | "private" | "nested") {
        parser.cursor.read_word();
        let word = parser.module.intern_text(word);
        parser.add_property(draft, "sym_visibility", AttributeKind::String(word));
    }
    let name = parser.symbol_name()?;
    parser.add_property(draft, "sym_name", AttributeKind::String(name));
    parser.cursor.expect_punctuation("(")?;
    let mut arguments = Vec::new();
    let inputs = parser.parse_list(")", |parser| {
        if parser.cursor.peek_byte() == b'%' {
            let mut argument = parser.parse_argument()?;
            let input = parser.with_attributes(argument.ty)?;
            argument.loc = parser.optional_location()?;
            arguments.push(argument);
            return Ok(input);
        }
        let ty = parser.parse_type()?;
        parser.with_attributes_and_location(ty)
    })?;
    if !arguments.is_empty() && arguments.len() != inputs.len() {
        return parser
            .cursor
            .report_error("either all parameters have names or none");
    }
    let results = function_results(parser)?;
    parser.argument_attributes(draft, "arg_attrs", &inputs);
    parser.argument_attributes(draft, "res_attrs", &results);
    let types = |all: &[(MlirType, MlirAttr)]| all.iter().map(|&(ty, _)| ty).collect();
    let ty = parser.module.types.intern(MlirTypeKind::Function {
        inputs: types(&inputs),
        results: types(&results),
    });
    parser.add_property(draft, "function_type", AttributeKind::Type(ty));
    parser.attributes_with_word(draft)?;
    let blocks = match parser.cursor.peek_byte() {
        b'{' if arguments.len() == inputs.len() => parser.parse_region(Some(&arguments), true)?,
        b'{' => {
            return parser
                .cursor
                .report_error("the parameters of a defined function have names");
        }
        _ => Vec::new(),
    };
    draft.regions.push(blocks);
    Ok(())
}

fn function_results(parser: &mut MlirParser<'_>) -> MlirParseResult<Vec<(MlirType, MlirAttr)>> {
    if !parser.cursor.eat_punctuation("->") {
        return Ok(Vec::new());
    }
    if parser.cursor.eat_punctuation("(") {
        return parser.parse_list(")", |parser| {
            let ty = parser.parse_type()?;
            parser.with_attributes_and_location(ty)
        });
    }
    // Without parentheses, the body follows the type.
    let ty = parser.parse_type()?;
    let kind = AttributeKind::Dictionary(Box::default());
    Ok(vec![(ty, parser.module.attributes.intern(kind))])
}

/// `{…} dense<…> : type`, or `() {value = dense<…> : type} : () -> type` for elements whose type
/// is not that of the result.
pub(crate) fn parse_constant<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    if parser.cursor.eat_punctuation("(") {
        parser.cursor.expect_punctuation(")")?;
        if parser.cursor.eat_punctuation("<") {
            draft.properties = parser.parse_dictionary()?;
            parser.cursor.expect_punctuation(">")?;
        }
        if parser.cursor.peek_byte() == b'{' {
            draft.attributes = parser.parse_dictionary()?;
        }
        parser.cursor.expect_punctuation(":")?;
        (draft.operand_types, draft.result_types) = parser.parse_signature()?;
        return Ok(());
    }
    if parser.cursor.peek_byte() == b'{' {
        draft.attributes = parser.parse_dictionary()?;
    }
    let value = parser.parse_attribute()?;
    let ty = match *parser.module.attributes.kind(value) {
        AttributeKind::Elements(DenseElements { ty, .. }) | AttributeKind::Resource { ty, .. } => {
            ty
        }
        _ => {
            return parser
                .cursor
                .report_error("a constant has elements: `dense<…> : tensor<…>`");
        }
    };
    let name = parser.module.intern_text("value");
    draft.add_property(name, value);
    draft.result_types.push(ty);
    Ok(())
}

/// `%value, dense<…> {…} : type`, the type that of both
pub(crate) fn expect_const<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.parse_format(draft, "%, ")?;
    let kind = if parser.cursor.eat_word("dense_resource") {
        parser.parse_resource()?
    } else {
        parser.cursor.expect_word("dense")?;
        let body = parser.skip_dense_body()?;
        parser.parse_format(
            draft,
            "{, tolerance = <tolerance:f64>} {, max_ulp_difference = <max_ulp_difference:i64>}",
        )?;
        if parser.cursor.peek_byte() == b'{' {
            draft.attributes = parser.parse_dictionary()?;
        }
        parser.cursor.expect_punctuation(":")?;
        let ty = parser.parse_type()?;
        parser.dense_of(body, ty)?
    };
    match kind {
        AttributeKind::Elements(DenseElements { ty, .. }) | AttributeKind::Resource { ty, .. } => {
            draft.operand_types.push(ty);
        }
        _ => return parser.cursor.report_error("expected elements"),
    }
    parser.add_property(draft, "value", kind);
    Ok(())
}

/// `%x [0:4:2, 1:3] : …`: start, limit, optional stride
pub(crate) fn parse_slice<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.parse_format(draft, "% [")?;
    let ranges = parser.parse_list("]", |parser| {
        let start = parser.cursor.read_signed_number()?;
        parser.cursor.expect_punctuation(":")?;
        let limit = parser.cursor.read_signed_number()?;
        let stride = if parser.cursor.eat_punctuation(":") {
            parser.cursor.read_signed_number()?
        } else {
            1
        };
        Ok([start, limit, stride])
    })?;
    for (at, name) in ["start_indices", "limit_indices", "strides"]
        .into_iter()
        .enumerate()
    {
        let values: Vec<i64> = ranges.iter().map(|range| range[at]).collect();
        let attr = parser.integers_attribute(&values);
        let name = parser.module.intern_text(name);
        draft.add_property(name, attr);
    }
    parser.parse_formatted_operation(draft, "", super::TrailingTypes::Functional)
}

/// `%x, format = e5m10 : type`
pub(crate) fn reduce_precision<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.parse_format(draft, "%, format = ")?;
    let word = parser.cursor.peek_word();
    let bits = word
        .strip_prefix('e')
        .and_then(|rest| rest.split_once('m'))
        .and_then(|(e, m)| Some((e.parse::<i32>().ok()?, m.parse::<i32>().ok()?)));
    let Some((exponent, mantissa)) = bits else {
        return parser.cursor.report_expected("a format such as `e5m10`");
    };
    parser.cursor.read_word();
    for (name, value) in [("exponent_bits", exponent), ("mantissa_bits", mantissa)] {
        let attr = parser.integer_attribute(value.into(), 32);
        let name = parser.module.intern_text(name);
        draft.add_property(name, attr);
    }
    parser.parse_formatted_operation(draft, "", super::TrailingTypes::Same)
}

/// `%a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT,
/// HIGHEST], algorithm = <…> : …`
pub(crate) fn dot_general<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.parse_format(draft, "%, %")?;
    let mut named = Vec::new();
    for (word, field) in [
        ("batching_dims", "batching"),
        ("contracting_dims", "contracting"),
    ] {
        let back = parser.cursor.pos;
        if !parser.cursor.eat_punctuation(",") || !parser.cursor.eat_word(word) {
            parser.cursor.pos = back;
            continue;
        }
        parser.cursor.expect_punctuation("=")?;
        let left = parser.integer_list()?;
        parser.cursor.expect_word("x")?;
        let right = parser.integer_list()?;
        for (side, values) in [("lhs", left), ("rhs", right)] {
            if !values.is_empty() {
                let name = parser
                    .module
                    .intern_text(&format!("{side}_{field}_dimensions"));
                named.push((name, parser.integers_attribute(&values)));
            }
        }
    }
    let name = parser.module.intern_text("stablehlo.dot");
    let kind = AttributeKind::Dialect {
        name,
        body: DialectBody::Fields(named.into()),
    };
    parser.add_property(draft, "dot_dimension_numbers", kind);
    parser.parse_formatted_operation(
        draft,
        "{, precision = <precision_config:precisions>} {, algorithm = <algorithm:algorithm>}",
        super::TrailingTypes::Functional,
    )
}

/// `(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {…} {…} : …`
pub(crate) fn parse_convolution<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.parse_format(draft, "(%*) dim_numbers =")?;
    let name = parser.module.intern_text("stablehlo.conv");
    let body = parser.dimension_numbers()?;
    let kind = AttributeKind::Dialect { name, body };
    parser.add_property(draft, "dimension_numbers", kind);
    parser.parse_format(draft, ", window = ")?;
    parser.cursor.expect_punctuation("{")?;
    parser.parse_list("}", |parser| {
        let word = parser.cursor.read_word();
        parser.cursor.expect_punctuation("=")?;
        let (name, attr) = match word {
            "stride" => ("window_strides", parse_integers(parser)?),
            "lhs_dilate" => ("lhs_dilation", parse_integers(parser)?),
            "rhs_dilate" => ("rhs_dilation", parse_integers(parser)?),
            "reverse" => ("window_reversal", parse_booleans(parser)?),
            "pad" => ("padding", parse_padding(parser)?),
            _ => {
                return parser
                    .cursor
                    .report_expected("`=` after a part of the window");
            }
        };
        let name = parser.module.intern_text(name);
        draft.add_property(name, attr);
        Ok(())
    })?;
    parser.parse_formatted_operation(draft, "", super::TrailingTypes::Functional)
}

fn parse_integers(parser: &mut MlirParser<'_>) -> MlirParseResult<MlirAttr> {
    let values = parser.integer_list()?;
    Ok(parser.integers_attribute(&values))
}

/// `[true, false]`, or `[1, 0]`
fn parse_booleans(parser: &mut MlirParser<'_>) -> MlirParseResult<MlirAttr> {
    parser.cursor.expect_punctuation("[")?;
    let values = parser.parse_list("]", |parser| match parser.cursor.peek_word() {
        word @ ("true" | "false") => {
            parser.cursor.read_word();
            Ok(u8::from(word == "true"))
        }
        _ => Ok(u8::from(parser.cursor.read_signed_number()? != 0)),
    })?;
    let element = parser.module.types.integer_type(1);
    let data = values.into();
    let kind = AttributeKind::DenseArray { element, data };
    Ok(parser.module.attributes.intern(kind))
}

/// `[[0, 1], [1, 0]]`: low and high of each dimension
fn parse_padding(parser: &mut MlirParser<'_>) -> MlirParseResult<MlirAttr> {
    parser.cursor.expect_punctuation("[")?;
    let pairs = parser.parse_list("]", |parser| {
        let pair = parser.integer_list()?;
        match pair.len() {
            2 => Ok(pair),
            _ => parser
                .cursor
                .report_error("padding has two numbers for each dimension"),
        }
    })?;
    let data: Vec<u8> = pairs
        .iter()
        .flatten()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    let element = parser.module.types.integer_type(64);
    let ty = parser
        .module
        .types
        .tensor_type(&[pairs.len() as u64, 2], element);
    let kind = AttributeKind::Elements(DenseElements::new(ty, 8, data));
    Ok(parser.module.attributes.intern(kind))
}

/// `(%a init: %x), (%b init: %y) across dimensions = [1] {…} : … reducer(…) (…) {…}`, or
/// `(%a init: %x) applies name across dimensions = [1] {…} : …`
pub(crate) fn parse_reduce<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    let mut initial = Vec::new();
    loop {
        parser.parse_format(draft, "(% init")?;
        parser.cursor.expect_punctuation(":")?;
        initial.push(parser.parse_operand()?);
        parser.cursor.expect_punctuation(")")?;
        if !parser.cursor.eat_punctuation(",") {
            break;
        }
    }
    draft.operands.extend(&initial);
    let mut applied = None;
    if parser.cursor.eat_word("applies") {
        let start = parser.cursor.skip_to_start();
        let name = super::full_operation_name(parser.cursor.read_word());
        applied = Some((
            parser.module.intern_text(&name),
            parser.cursor.location_since(start),
        ));
    }
    parser.parse_formatted_operation(
        draft,
        "across dimensions = <dimensions:i64s>",
        super::TrailingTypes::Functional,
    )?;
    let blocks = match applied {
        Some((name, place)) => {
            let ty = scalar_of_result(parser, draft)?;
            vec![parser.applied_block(name, place, ty)?]
        }
        None => parse_reducer(parser, initial.len())?,
    };
    draft.regions.push(blocks);
    Ok(())
}

/// Type of a tensor of rank 0 with the elements of the first operand.
fn scalar_of_result(
    parser: &mut MlirParser<'_>,
    draft: &OperationState<'_>,
) -> MlirParseResult<MlirType> {
    match draft.operand_types.first() {
        Some(&ty) => {
            let element = parser.module.types.element_type(ty);
            Ok(parser.module.types.tensor_type(&[], element))
        }
        None => parser
            .cursor
            .error_at(draft.place, "a reduction has operands"),
    }
}

/// `reducer(%a: type, %b: type) (…) {…}`: the block's arguments are all first ones, then all second
/// ones.
fn parse_reducer<'a>(parser: &mut MlirParser<'a>, count: usize) -> MlirParseResult<Vec<MlirBlock>> {
    parser.cursor.expect_word("reducer")?;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..count {
        parser.cursor.expect_punctuation("(")?;
        first.push(parser.block_argument()?);
        parser.cursor.expect_punctuation(",")?;
        second.push(parser.block_argument()?);
        parser.cursor.expect_punctuation(")")?;
    }
    first.append(&mut second);
    parser.parse_region(Some(&first), false)
}

/// `(%i = %a, …) : types attributes {…} cond {…} do {…}`
pub(crate) fn while_loop<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.cursor.expect_punctuation("(")?;
    let mut names = Vec::new();
    draft.operands = parser.parse_list(")", |parser| {
        let start = parser.cursor.skip_to_start();
        let name = parser.value_name()?;
        names.push((name, parser.cursor.location_since(start)));
        parser.cursor.expect_punctuation("=")?;
        parser.parse_operand()
    })?;
    let mut types = Vec::new();
    if parser.cursor.eat_punctuation(":") {
        types = parser.type_list()?;
    }
    if types.len() != names.len() {
        let message = format!(
            "{} values of a loop have {} types",
            names.len(),
            types.len()
        );
        return parser.cursor.error_at(draft.place, message);
    }
    parser.attributes_with_word(draft)?;
    for word in ["cond", "do"] {
        parser.cursor.expect_word(word)?;
        let arguments: Vec<BlockArgument<'_>> = names
            .iter()
            .zip(&types)
            .map(|(&(name, place), &ty)| BlockArgument {
                name,
                place,
                ty,
                loc: MlirLoc::UNKNOWN,
            })
            .collect();
        draft
            .regions
            .push(parser.parse_region(Some(&arguments), false)?);
    }
    draft.operand_types.clone_from(&types);
    draft.result_types = types;
    Ok(())
}

/// `(%a, %b) inits(%x) dimension=0 attributes {…} {…} : …`
pub(crate) fn parse_scan<'a>(
    parser: &mut MlirParser<'a>,
    draft: &mut OperationState<'a>,
) -> MlirParseResult<()> {
    parser.parse_format(draft, "(%*)")?;
    let inputs = draft.operands.len();
    parser.parse_format(draft, "inits(%*) dimension = <dimension:i64>")?;
    let carries = draft.operands.len() - inputs;
    parser.attributes_with_word(draft)?;
    draft.regions.push(parser.parse_region(None, false)?);
    parser.parse_formatted_operation(draft, "", super::TrailingTypes::Functional)?;
    let Some(outputs) = draft.result_types.len().checked_sub(carries) else {
        let message = "a scan has a result for each initial value";
        return parser.cursor.error_at(draft.place, message);
    };
    parser.segment_sizes(draft, "operandSegmentSizes", &[inputs, carries]);
    parser.segment_sizes(draft, "resultSegmentSizes", &[outputs, carries]);
    Ok(())
}

/// Functions that several forms share.
impl<'a> MlirParser<'a> {
    /// Adds an attribute that belongs to the operation.
    pub(super) fn add_property(
        &mut self,
        draft: &mut OperationState<'a>,
        name: &str,
        kind: AttributeKind,
    ) {
        let name = self.module.intern_text(name);
        let attr = self.module.attributes.intern(kind);
        draft.add_property(name, attr);
    }

    /// `attributes {…}`, if it is next.
    fn attributes_with_word(&mut self, draft: &mut OperationState<'a>) -> MlirParseResult<()> {
        if self.cursor.eat_word("attributes") {
            draft.attributes = self.parse_dictionary()?;
        }
        Ok(())
    }

    /// A type with the attributes `{…}` and the location after it.
    fn with_attributes_and_location(
        &mut self,
        ty: MlirType,
    ) -> MlirParseResult<(MlirType, MlirAttr)> {
        let described = self.with_attributes(ty)?;
        self.optional_location()?;
        Ok(described)
    }

    /// A type with the attributes `{…}` after it.
    fn with_attributes(&mut self, ty: MlirType) -> MlirParseResult<(MlirType, MlirAttr)> {
        let named = match self.cursor.peek_byte() {
            b'{' => self.parse_dictionary()?,
            _ => Vec::new(),
        };
        let kind = AttributeKind::Dictionary(named.into());
        Ok((ty, self.module.attributes.intern(kind)))
    }

    /// Attributes of parameters or results, if there are any.
    fn argument_attributes(
        &mut self,
        draft: &mut OperationState<'a>,
        name: &str,
        all: &[(MlirType, MlirAttr)],
    ) {
        let empty = AttributeKind::Dictionary(Box::default());
        let attributes = &self.module.attributes;
        if all.iter().any(|&(_, attr)| *attributes.kind(attr) != empty) {
            let list = all.iter().map(|&(_, attr)| attr).collect();
            self.add_property(draft, name, AttributeKind::Array(list));
        }
    }

    fn segment_sizes(&mut self, draft: &mut OperationState<'a>, name: &str, sizes: &[usize]) {
        let element = self.module.types.integer_type(32);
        let bytes = sizes.iter().flat_map(|&size| (size as u32).to_le_bytes());
        let kind = AttributeKind::DenseArray {
            element,
            data: bytes.collect(),
        };
        self.add_property(draft, name, kind);
    }

    /// `[DEFAULT, HIGHEST]`
    pub(crate) fn parse_precisions(&mut self) -> MlirParseResult<MlirAttr> {
        self.cursor.expect_punctuation("[")?;
        let list = self.parse_list("]", |parser| match parser.cursor.read_word() {
            "" => parser.cursor.report_expected("a precision"),
            word => Ok(parser.keyword_attribute("stablehlo.precision", word)),
        })?;
        let kind = AttributeKind::Array(list.into());
        Ok(self.module.attributes.intern(kind))
    }
}
