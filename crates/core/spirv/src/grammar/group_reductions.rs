//! Reductions and scans of groups: the instructions by which the invocations of a workgroup or subgroup combine their
//! values, with the operator of each.

use super::Op;

/// The operator that combines two values in reductions and scans of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionOperator {
    /// Sum of integers.
    IAdd,
    /// Sum of floating-point numbers.
    FAdd,
    /// Product of integers.
    IMul,
    /// Product of floating-point numbers.
    FMul,
    /// Minimum of signed integers.
    SMin,
    /// Minimum of unsigned integers.
    UMin,
    /// Minimum of floating-point numbers.
    FMin,
    /// Maximum of signed integers.
    SMax,
    /// Maximum of unsigned integers.
    UMax,
    /// Maximum of floating-point numbers.
    FMax,
    /// Conjunction of truth values, or of the bits of integers.
    And,
    /// Disjunction of truth values, or of the bits of integers.
    Or,
    /// Exclusive disjunction of truth values, or of the bits of integers.
    Xor,
}

/// The instructions. Their operands are a scope, a literal group operation and the value.
const ROWS: &[(Op, ReductionOperator)] = &[
    (Op::GroupIAdd, ReductionOperator::IAdd),
    (Op::GroupFAdd, ReductionOperator::FAdd),
    (Op::GroupFMin, ReductionOperator::FMin),
    (Op::GroupUMin, ReductionOperator::UMin),
    (Op::GroupSMin, ReductionOperator::SMin),
    (Op::GroupFMax, ReductionOperator::FMax),
    (Op::GroupUMax, ReductionOperator::UMax),
    (Op::GroupSMax, ReductionOperator::SMax),
    (Op::GroupIMulKHR, ReductionOperator::IMul),
    (Op::GroupFMulKHR, ReductionOperator::FMul),
    (Op::GroupBitwiseAndKHR, ReductionOperator::And),
    (Op::GroupBitwiseOrKHR, ReductionOperator::Or),
    (Op::GroupBitwiseXorKHR, ReductionOperator::Xor),
    (Op::GroupLogicalAndKHR, ReductionOperator::And),
    (Op::GroupLogicalOrKHR, ReductionOperator::Or),
    (Op::GroupLogicalXorKHR, ReductionOperator::Xor),
    (Op::GroupIAddNonUniformAMD, ReductionOperator::IAdd),
    (Op::GroupFAddNonUniformAMD, ReductionOperator::FAdd),
    (Op::GroupFMinNonUniformAMD, ReductionOperator::FMin),
    (Op::GroupUMinNonUniformAMD, ReductionOperator::UMin),
    (Op::GroupSMinNonUniformAMD, ReductionOperator::SMin),
    (Op::GroupFMaxNonUniformAMD, ReductionOperator::FMax),
    (Op::GroupUMaxNonUniformAMD, ReductionOperator::UMax),
    (Op::GroupSMaxNonUniformAMD, ReductionOperator::SMax),
    (Op::GroupNonUniformIAdd, ReductionOperator::IAdd),
    (Op::GroupNonUniformFAdd, ReductionOperator::FAdd),
    (Op::GroupNonUniformIMul, ReductionOperator::IMul),
    (Op::GroupNonUniformFMul, ReductionOperator::FMul),
    (Op::GroupNonUniformSMin, ReductionOperator::SMin),
    (Op::GroupNonUniformUMin, ReductionOperator::UMin),
    (Op::GroupNonUniformFMin, ReductionOperator::FMin),
    (Op::GroupNonUniformSMax, ReductionOperator::SMax),
    (Op::GroupNonUniformUMax, ReductionOperator::UMax),
    (Op::GroupNonUniformFMax, ReductionOperator::FMax),
    (Op::GroupNonUniformBitwiseAnd, ReductionOperator::And),
    (Op::GroupNonUniformBitwiseOr, ReductionOperator::Or),
    (Op::GroupNonUniformBitwiseXor, ReductionOperator::Xor),
    (Op::GroupNonUniformLogicalAnd, ReductionOperator::And),
    (Op::GroupNonUniformLogicalOr, ReductionOperator::Or),
    (Op::GroupNonUniformLogicalXor, ReductionOperator::Xor),
];

/// The instructions that reduce or scan values of a group.
pub fn list_group_reductions() -> impl Iterator<Item = Op> {
    ROWS.iter().map(|row| row.0)
}

impl Op {
    /// The operator of an instruction that reduces or scans values of a group.
    pub fn reduction_operator(self) -> Option<ReductionOperator> {
        let row = ROWS.iter().find(|row| row.0 == self)?;
        Some(row.1)
    }

    /// The group reductions that the extension `SPV_AMD_shader_ballot` provides without a capability.
    pub const fn is_amd_group_reduction(self) -> bool {
        Op::GroupIAddNonUniformAMD.0 <= self.0 && self.0 <= Op::GroupSMaxNonUniformAMD.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Op, list_group_reductions};
    use crate::grammar::{Kind, all_instructions};

    /// Reductions are the instructions with a literal group operation, but for the count of a ballot.
    #[test]
    fn reductions_have_a_group_operation() {
        for row in all_instructions() {
            let mut operands = row.operands.iter();
            let has_operation = operands.any(|operand| operand.kind == Kind::GroupOperation);
            let is_reduction = has_operation && row.op != Op::GroupNonUniformBallotBitCount;
            assert_eq!(
                row.op.reduction_operator().is_some(),
                is_reduction,
                "{}",
                row.name
            );
            let is_amd = row.name.starts_with("OpGroup") && row.name.ends_with("NonUniformAMD");
            assert_eq!(row.op.is_amd_group_reduction(), is_amd, "{}", row.name);
        }
    }

    #[test]
    fn operators_agree_with_names() {
        for op in list_group_reductions() {
            let name = op.info().map_or("", |info| info.name);
            let operator = op
                .reduction_operator()
                .map(|operator| format!("{operator:?}"));
            assert!(
                operator.is_some_and(|operator| name.contains(&operator)),
                "{name}"
            );
        }
    }
}
