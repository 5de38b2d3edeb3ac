//! Functions from text. The text is the one that the printer prints. The parts that are code of the soac form are read by the
//! parser of that form, [`SoacParser`].

use crate::ir::{
    HostOperation, ParallelOperation, SegmentBody, SegmentFold, SegmentFunction, SegmentHistogram,
    SegmentKind, SegmentStatement, SpaceDimension,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_entity::EntityArena;
use spirula_program::ScalarType;
use spirula_soac::ir::{SoacOperand, SoacType};
use spirula_soac::parse::{LoopHead, SoacParser, StatementHead};

/// Reads functions. Those that they call follow them.
///
/// # Errors
///
/// The first fault of the text with its place. The rules of the verifier are not checked.
pub fn parse_functions(text: &str) -> Result<Vec<SegmentFunction>, SourceDiagnostic> {
    let mut parser = SoacParser::from_text(text)?;
    let mut functions = Vec::new();
    while !parser.is_at_end() {
        functions.push(parse_function(&mut parser)?);
    }
    Ok(functions)
}

/// A function with those that it calls.
fn parse_function(parser: &mut SoacParser) -> Result<SegmentFunction, SourceDiagnostic> {
    let mut function = parse_definition(parser)?;
    while parser.take_callee_mark(function.callees.len())? {
        let callee = parse_definition(parser)?;
        function.callees.push(callee);
    }
    Ok(function)
}

fn parse_definition(parser: &mut SoacParser) -> Result<SegmentFunction, SourceDiagnostic> {
    parser.begin_function()?;
    let body = parse_body(parser)?;
    Ok(SegmentFunction {
        signature: parser.finish_function(),
        body,
        callees: EntityArena::default(),
    })
}

fn parse_body(parser: &mut SoacParser) -> Result<SegmentBody, SourceDiagnostic> {
    let mut statements = Vec::new();
    while parser.peek_word("let") {
        let head = parser.parse_statement_head()?;
        let operation = parse_operation(parser)?;
        let StatementHead {
            results,
            certificates,
        } = head;
        statements.push(SegmentStatement {
            results,
            certificates,
            operation,
        });
    }
    parser.expect_word("in")?;
    let results = parser.parse_operands()?;
    Ok(SegmentBody {
        statements,
        results,
    })
}

/// A body in braces.
fn parse_nested(parser: &mut SoacParser) -> Result<SegmentBody, SourceDiagnostic> {
    parser.parse_braces(parse_body)
}

fn parse_operation(parser: &mut SoacParser) -> Result<HostOperation, SourceDiagnostic> {
    if parser.peek_variable() {
        return parser.parse_operation().map(HostOperation::Plain);
    }
    if parser.take_word("if") {
        return parse_choice(parser);
    }
    if parser.take_word("loop") {
        let LoopHead { parameters, form } = parser.parse_loop_head()?;
        let body = parse_nested(parser)?;
        return Ok(HostOperation::Loop(parameters, form, body));
    }
    if parser.take_word("with_accumulators") {
        let accumulators = parser.parse_accumulators()?;
        let body = parse_nested(parser)?;
        return Ok(HostOperation::WithAccumulators(accumulators, body));
    }
    if parser.take_word("by") {
        return parse_grouped(parser);
    }
    if let Some(word) = take_kind_word(parser) {
        let operation = parse_parallel(parser, word)?;
        return Ok(HostOperation::Parallel(Box::new(operation)));
    }
    parser.parse_operation().map(HostOperation::Plain)
}

/// A choice, after its first word.
fn parse_choice(parser: &mut SoacParser) -> Result<HostOperation, SourceDiagnostic> {
    let condition = parser.parse_operand()?;
    parser.expect_word("then")?;
    let accept = parse_nested(parser)?;
    parser.expect_word("else")?;
    let reject = parse_nested(parser)?;
    Ok(HostOperation::If(condition, accept, reject))
}

/// An operation by workgroups, after its first word.
fn parse_grouped(parser: &mut SoacParser) -> Result<HostOperation, SourceDiagnostic> {
    parser.expect_word("workgroups")?;
    let Some(word) = take_kind_word(parser) else {
        return parser.fail("an operation over a space is expected");
    };
    let operation = parse_parallel(parser, word)?;
    parser.expect_word("else")?;
    let otherwise = parse_nested(parser)?;
    Ok(HostOperation::Grouped(Box::new(operation), otherwise))
}

/// The first word of an operation over a space.
#[derive(Clone, Copy)]
enum SegmentWord {
    Map,
    Reduce,
    Scan,
    Histogram,
    Scatter,
}

/// Takes the first word of an operation over a space, if it is next.
fn take_kind_word(parser: &mut SoacParser) -> Option<SegmentWord> {
    let words = [
        ("segmap", SegmentWord::Map),
        ("segred", SegmentWord::Reduce),
        ("segscan", SegmentWord::Scan),
        ("seghist", SegmentWord::Histogram),
        ("segscatter", SegmentWord::Scatter),
    ];
    let found = words.into_iter().find(|(word, _)| parser.take_word(word));
    found.map(|(_, kind)| kind)
}

/// An operation over a space, after its first word.
fn parse_parallel(
    parser: &mut SoacParser,
    word: SegmentWord,
) -> Result<ParallelOperation, SourceDiagnostic> {
    let mut space = Vec::new();
    while parser.take_mark("[") {
        space.push(parse_dimension(parser)?);
    }
    let kind = match word {
        SegmentWord::Map => SegmentKind::Map,
        SegmentWord::Reduce => SegmentKind::Reduce(parse_fold(parser)?),
        SegmentWord::Scan => SegmentKind::Scan(parse_fold(parser)?),
        SegmentWord::Histogram => SegmentKind::Histogram(SegmentHistogram {
            targets: parse_targets(parser)?,
            fold: parse_fold(parser)?,
        }),
        SegmentWord::Scatter => SegmentKind::Scatter(parse_targets(parser)?),
    };
    let body = parser.parse_nested()?;
    Ok(ParallelOperation { space, body, kind })
}

/// A dimension, after its bracket.
fn parse_dimension(parser: &mut SoacParser) -> Result<SpaceDimension, SourceDiagnostic> {
    let index = parser.bind_variable(SoacType::Scalar(ScalarType::I64))?;
    parser.expect_mark("<")?;
    let size = parser.parse_operand()?;
    parser.expect_mark("]")?;
    Ok(SpaceDimension { index, size })
}

/// The arrays that an operation changes in place.
fn parse_targets(parser: &mut SoacParser) -> Result<Vec<SoacOperand>, SourceDiagnostic> {
    parser.expect_word("into")?;
    parser.parse_operands()
}

/// A neutral element and a function.
fn parse_fold(parser: &mut SoacParser) -> Result<SegmentFold, SourceDiagnostic> {
    let is_commutative = parser.take_word("comm");
    let neutral = parser.parse_operands()?;
    let function = parser.parse_lambda()?;
    Ok(SegmentFold {
        function,
        neutral,
        is_commutative,
    })
}
