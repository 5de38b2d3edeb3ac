//! Sub-group function families, whose names are composed of parts: reductions, scans, and Intel's
//! block accesses and shuffles.

use crate::translate::call_rules::ExternalCall;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{GroupOperation, Scope};

/// The items that participate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParticipatingItems {
    /// All of the group.
    All,
    /// Those of a sub-group that get here.
    Present,
    /// Those in the same cluster of a sub-group.
    Cluster,
}

/// Prefixes of the names of reductions and scans.
const PREFIXES: &[(&str, ParticipatingItems, Scope, GroupOperation)] = &[
    (
        "sub_group_non_uniform_reduce_",
        ParticipatingItems::Present,
        Scope::Subgroup,
        GroupOperation::Reduce,
    ),
    (
        "sub_group_non_uniform_scan_inclusive_",
        ParticipatingItems::Present,
        Scope::Subgroup,
        GroupOperation::InclusiveScan,
    ),
    (
        "sub_group_non_uniform_scan_exclusive_",
        ParticipatingItems::Present,
        Scope::Subgroup,
        GroupOperation::ExclusiveScan,
    ),
    (
        "sub_group_clustered_reduce_",
        ParticipatingItems::Cluster,
        Scope::Subgroup,
        GroupOperation::ClusteredReduce,
    ),
    (
        "sub_group_reduce_",
        ParticipatingItems::All,
        Scope::Subgroup,
        GroupOperation::Reduce,
    ),
    (
        "sub_group_scan_inclusive_",
        ParticipatingItems::All,
        Scope::Subgroup,
        GroupOperation::InclusiveScan,
    ),
    (
        "sub_group_scan_exclusive_",
        ParticipatingItems::All,
        Scope::Subgroup,
        GroupOperation::ExclusiveScan,
    ),
    (
        "work_group_reduce_",
        ParticipatingItems::All,
        Scope::Workgroup,
        GroupOperation::Reduce,
    ),
    (
        "work_group_scan_inclusive_",
        ParticipatingItems::All,
        Scope::Workgroup,
        GroupOperation::InclusiveScan,
    ),
    (
        "work_group_scan_exclusive_",
        ParticipatingItems::All,
        Scope::Workgroup,
        GroupOperation::ExclusiveScan,
    ),
];

/// Operations by the suffix of their names: instructions for floats, signed and unsigned integers;
/// first among active items, then among all.
type SubgroupOperationRow = (&'static str, [Option<Op>; 3], [Option<Op>; 3]);

const fn numeric_ops(float: Op, signed: Op, unsigned: Op) -> [Option<Op>; 3] {
    [Some(float), Some(signed), Some(unsigned)]
}

const fn integer_ops(op: Op) -> [Option<Op>; 3] {
    [None, Some(op), Some(op)]
}

const OPERATIONS: &[SubgroupOperationRow] = &[
    (
        "add",
        numeric_ops(
            Op::GroupNonUniformFAdd,
            Op::GroupNonUniformIAdd,
            Op::GroupNonUniformIAdd,
        ),
        numeric_ops(Op::GroupFAdd, Op::GroupIAdd, Op::GroupIAdd),
    ),
    (
        "mul",
        numeric_ops(
            Op::GroupNonUniformFMul,
            Op::GroupNonUniformIMul,
            Op::GroupNonUniformIMul,
        ),
        numeric_ops(Op::GroupFMulKHR, Op::GroupIMulKHR, Op::GroupIMulKHR),
    ),
    (
        "min",
        numeric_ops(
            Op::GroupNonUniformFMin,
            Op::GroupNonUniformSMin,
            Op::GroupNonUniformUMin,
        ),
        numeric_ops(Op::GroupFMin, Op::GroupSMin, Op::GroupUMin),
    ),
    (
        "max",
        numeric_ops(
            Op::GroupNonUniformFMax,
            Op::GroupNonUniformSMax,
            Op::GroupNonUniformUMax,
        ),
        numeric_ops(Op::GroupFMax, Op::GroupSMax, Op::GroupUMax),
    ),
    (
        "and",
        integer_ops(Op::GroupNonUniformBitwiseAnd),
        integer_ops(Op::GroupBitwiseAndKHR),
    ),
    (
        "or",
        integer_ops(Op::GroupNonUniformBitwiseOr),
        integer_ops(Op::GroupBitwiseOrKHR),
    ),
    (
        "xor",
        integer_ops(Op::GroupNonUniformBitwiseXor),
        integer_ops(Op::GroupBitwiseXorKHR),
    ),
    (
        "logical_and",
        integer_ops(Op::GroupNonUniformLogicalAnd),
        integer_ops(Op::GroupLogicalAndKHR),
    ),
    (
        "logical_or",
        integer_ops(Op::GroupNonUniformLogicalOr),
        integer_ops(Op::GroupLogicalOrKHR),
    ),
    (
        "logical_xor",
        integer_ops(Op::GroupNonUniformLogicalXor),
        integer_ops(Op::GroupLogicalXorKHR),
    ),
];

/// Reductions and scans.
pub(super) fn lower_reduction(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let found = PREFIXES.iter().find_map(|row| {
        let operation = call.name.strip_prefix(row.0)?;
        let operation = OPERATIONS.iter().find(|row| row.0 == operation)?;
        Some((row, operation))
    });
    let Some((&(_, items, scope, kind), &(name, present, all))) = found else {
        return Err(make_refusal("there is no such group operation"));
    };
    let ops = if items == ParticipatingItems::All {
        all
    } else {
        present
    };
    let Some(op) = call.select_by_type(ops) else {
        return Err(make_refusal("there is no such group operation on floats"));
    };
    let logical = name.starts_with("logical");
    let value = if logical {
        body.lower_predicate_argument(call, 0)?
    } else {
        body.lower_value(call.arg(0)?)?
    };
    let scope = body.t.make_u32(scope.0);
    let mut words = vec![scope.word(), kind.0, value.word()];
    if items == ParticipatingItems::Cluster {
        words.push(body.lower_value(call.arg(1)?)?.word());
    }
    if logical {
        let bool = body.t.b.bool_type();
        let truth = body.t.b.append_value(op, bool, &words);
        return body.as_result(truth, call).map(Some);
    }
    let ty = body.call_type(call)?;
    Ok(Some(body.t.b.append_value(op, ty, &words)))
}

/// `sub_group_non_uniform_all_equal(x)`
pub(super) fn lower_all_equal(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let scope = body.t.make_u32(Scope::Subgroup.0);
    let value = body.lower_value(call.arg(0)?)?;
    let bool = body.t.b.bool_type();
    let vote = body.emit_op(Op::GroupNonUniformAllEqual, bool, [scope, value]);
    body.as_result(vote, call).map(Some)
}

/// Functions on the bits of a ballot: the instruction and, for counts, the group operation.
const BALLOTS: &[(&str, Op, Option<GroupOperation>)] = &[
    (
        "bit_count",
        Op::GroupNonUniformBallotBitCount,
        Some(GroupOperation::Reduce),
    ),
    (
        "inclusive_scan",
        Op::GroupNonUniformBallotBitCount,
        Some(GroupOperation::InclusiveScan),
    ),
    (
        "exclusive_scan",
        Op::GroupNonUniformBallotBitCount,
        Some(GroupOperation::ExclusiveScan),
    ),
    ("find_lsb", Op::GroupNonUniformBallotFindLSB, None),
    ("find_msb", Op::GroupNonUniformBallotFindMSB, None),
];

/// `sub_group_ballot_NAME(ballot)`
pub(super) fn lower_ballot_operation(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let name = call.name.strip_prefix("sub_group_ballot_").unwrap_or("");
    let scope = body.t.make_u32(Scope::Subgroup.0);
    if name == "bit_extract" {
        let ballot = body.lower_value(call.arg(0)?)?;
        let index = body.lower_value(call.arg(1)?)?;
        let bool = body.t.b.bool_type();
        let op = Op::GroupNonUniformBallotBitExtract;
        let bit = body.emit_op(op, bool, [scope, ballot, index]);
        return body.as_result(bit, call).map(Some);
    }
    let Some(&(_, op, kind)) = BALLOTS.iter().find(|row| row.0 == name) else {
        return Err(make_refusal("there is no such function on ballots"));
    };
    let ballot = body.lower_value(call.arg(0)?)?;
    let mut words = vec![scope.word()];
    words.extend(kind.map(|kind| kind.0));
    words.push(ballot.word());
    let ty = body.call_type(call)?;
    Ok(Some(body.t.b.append_value(op, ty, &words)))
}

/// `intel_sub_group_block_read[_us|_uc|_ul|_ui][N](pointer)` or `(image, coordinate)`
pub(super) fn lower_block_read(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.result_shape(call.inst)?;
    let ty = body.call_type(call)?;
    if call.args.len() == 1 {
        let element = body.t.shape_type(shape.to_scalar());
        let pointer = body.lower_pointer(call.arg(0)?, element)?;
        return Ok(Some(body.emit_op(
            Op::SubgroupBlockReadINTEL,
            ty,
            [pointer],
        )));
    }
    let image = body.lower_value(call.arg(0)?)?;
    let coordinate = body.lower_value(call.arg(1)?)?;
    let op = Op::SubgroupImageBlockReadINTEL;
    Ok(Some(body.emit_op(op, ty, [image, coordinate])))
}

/// `intel_sub_group_block_write…(pointer, data)` or `(image, coordinate, data)`
pub(super) fn lower_block_write(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let last = call.args.len().saturating_sub(1);
    let data = call.arg(last)?;
    let shape = body.shape_of(data)?;
    let data = body.lower_value(data)?;
    if last == 1 {
        let element = body.t.shape_type(shape.to_scalar());
        let pointer = body.lower_pointer(call.arg(0)?, element)?;
        let words = [pointer, data].map(Id::word);
        body.t.b.append_effect(Op::SubgroupBlockWriteINTEL, &words);
        return Ok(None);
    }
    let image = body.lower_value(call.arg(0)?)?;
    let coordinate = body.lower_value(call.arg(1)?)?;
    let words = [image, coordinate, data].map(Id::word);
    body.t
        .b
        .append_effect(Op::SubgroupImageBlockWriteINTEL, &words);
    Ok(None)
}

/// `intel_sub_group_media_block_read_…(coordinate, width, height, image)`
pub(super) fn lower_media_read(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let operands = body.lower_media_block_access(call)?;
    let ty = body.call_type(call)?;
    let op = Op::SubgroupImageMediaBlockReadINTEL;
    Ok(Some(body.emit_op(op, ty, operands)))
}

/// `intel_sub_group_media_block_write_…(coordinate, width, height, data, image)`
pub(super) fn lower_media_write(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let operands = body.lower_media_block_access(call)?;
    let data = body.lower_value(call.arg(3)?)?;
    let mut words = operands.map(Id::word).to_vec();
    words.push(data.word());
    body.t
        .b
        .append_effect(Op::SubgroupImageMediaBlockWriteINTEL, &words);
    Ok(None)
}

/// `intel_convert_bfloat16_as_ushort(x)`, `intel_convert_as_bfloat16_float(x)`: neither form has
/// the type bfloat.
pub(super) fn lower_bfloat_bits(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let to_bits = body.result_shape(call.inst)?.elem == NumericElement::Int;
    let op = if to_bits {
        Op::ConvertFToBF16INTEL
    } else {
        Op::ConvertBF16ToFINTEL
    };
    let value = body.lower_value(call.arg(0)?)?;
    let ty = body.call_type(call)?;
    Ok(Some(body.emit_op(op, ty, [value])))
}

/// `intel_round_as_tensor_float32N_floatN(x)`
pub(super) fn lower_tensor_float(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let value = body.lower_value(call.arg(0)?)?;
    let ty = body.call_type(call)?;
    Ok(Some(body.emit_op(Op::RoundFToTF32INTEL, ty, [value])))
}

impl FunctionTranslator<'_, '_> {
    /// Image, coordinate, width and height of a media block access.
    fn lower_media_block_access(&mut self, call: &ExternalCall<'_>) -> LlvmResult<[Id; 4]> {
        let image = self.lower_value(call.arg(call.args.len().saturating_sub(1))?)?;
        let coordinate = self.lower_value(call.arg(0)?)?;
        let width = self.lower_value(call.arg(1)?)?;
        let height = self.lower_value(call.arg(2)?)?;
        Ok([image, coordinate, width, height])
    }

    /// Bits of integers: an instruction on the arguments.
    pub(super) fn lower_bit_field(
        &mut self,
        op: Op,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        let shape: NumericShape = self.result_shape(call.inst)?;
        if shape.elem != NumericElement::Int || shape.is_odd() {
            return Err(make_refusal(
                "bit fields need integers of a width that SPIR-V has",
            ));
        }
        let mut words = Vec::with_capacity(call.args.len());
        for &argument in call.args {
            words.push(self.lower_value(argument)?.word());
        }
        let ty = self.call_type(call)?;
        Ok(Some(self.t.b.append_value(op, ty, &words)))
    }
}
