//! Suspension points: instructions at which an invocation waits for others.
//!
//! An invocation that reaches a suspension point stores its operands into its frame and returns to the scheduler. The
//! scheduler computes the result for all invocations that take part and resumes them.

use crate::matrix::cooperative_product::CooperativeProduct;
use crate::module::typed_module::TypedModule;
use crate::module::types::ScalarRepr;
use crate::pipe::PipeUse;
use spirula_diagnostics::SourceLocation;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::Scope;
use spirula_spirv::grammar::{Op, ReductionOperator, list_group_reductions};
use spirula_spirv::ir::InstRef;

/// Slots of 8 bytes for the operands and results of an exchange: two vectors of 16 and two more. Products of matrices
/// take more.
const EXCHANGE_SLOTS: u32 = 34;

/// The invocations that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncGroup {
    /// All invocations of the workgroup.
    Workgroup,
    /// The invocations of the subgroup that are at the same point.
    Subgroup,
}

/// The exchange at a suspension point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupExchange {
    /// Nothing is exchanged: the invocations only wait.
    Barrier,
    /// Whether the invocation is the first one.
    Elect,
    All,
    Any,
    AllEqual,
    /// The value of the invocation with a given number within the group.
    Broadcast,
    BroadcastFirst,
    Ballot,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// A reduction or a scan; the group operation is the first literal.
    Reduce(ReductionOperator),
    QuadBroadcast,
    QuadSwap,
    QuadAll,
    QuadAny,
    Rotate,
    /// Two values and a number: Intel's shuffles between two registers.
    ShufflePairUp,
    ShufflePairDown,
    /// A copy that the invocations do together.
    AsyncCopy,
    /// A product of cooperative matrices.
    Product,
    /// Something with a pipe that the invocations do together.
    Pipe(PipeUse),
}

/// The order of a suspension point's operands in its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeOperandForm {
    /// Scope first.
    Scoped,
    /// Scope, then a literal group operation.
    Operation,
    /// No scope: subgroups.
    Subgroup,
}

struct ExchangeRow(Op, ExchangeOperandForm, GroupExchange);

/// The instructions that are suspension points, but for control barriers, reductions and scans.
const ROWS: &[ExchangeRow] = &[
    ExchangeRow(
        Op::GroupAsyncCopy,
        ExchangeOperandForm::Scoped,
        GroupExchange::AsyncCopy,
    ),
    ExchangeRow(
        Op::UntypedGroupAsyncCopyKHR,
        ExchangeOperandForm::Scoped,
        GroupExchange::AsyncCopy,
    ),
    ExchangeRow(
        Op::GroupWaitEvents,
        ExchangeOperandForm::Scoped,
        GroupExchange::Barrier,
    ),
    ExchangeRow(
        Op::GroupReserveReadPipePackets,
        ExchangeOperandForm::Scoped,
        GroupExchange::Pipe(PipeUse::ReserveRead),
    ),
    ExchangeRow(
        Op::GroupReserveWritePipePackets,
        ExchangeOperandForm::Scoped,
        GroupExchange::Pipe(PipeUse::ReserveWrite),
    ),
    ExchangeRow(
        Op::GroupCommitReadPipe,
        ExchangeOperandForm::Scoped,
        GroupExchange::Pipe(PipeUse::CommitRead),
    ),
    ExchangeRow(
        Op::GroupCommitWritePipe,
        ExchangeOperandForm::Scoped,
        GroupExchange::Pipe(PipeUse::CommitWrite),
    ),
    ExchangeRow(
        Op::GroupAll,
        ExchangeOperandForm::Scoped,
        GroupExchange::All,
    ),
    ExchangeRow(
        Op::GroupAny,
        ExchangeOperandForm::Scoped,
        GroupExchange::Any,
    ),
    ExchangeRow(
        Op::GroupBroadcast,
        ExchangeOperandForm::Scoped,
        GroupExchange::Broadcast,
    ),
    ExchangeRow(
        Op::GroupNonUniformElect,
        ExchangeOperandForm::Scoped,
        GroupExchange::Elect,
    ),
    ExchangeRow(
        Op::GroupNonUniformAll,
        ExchangeOperandForm::Scoped,
        GroupExchange::All,
    ),
    ExchangeRow(
        Op::GroupNonUniformAny,
        ExchangeOperandForm::Scoped,
        GroupExchange::Any,
    ),
    ExchangeRow(
        Op::GroupNonUniformAllEqual,
        ExchangeOperandForm::Scoped,
        GroupExchange::AllEqual,
    ),
    ExchangeRow(
        Op::GroupNonUniformBroadcast,
        ExchangeOperandForm::Scoped,
        GroupExchange::Broadcast,
    ),
    ExchangeRow(
        Op::GroupNonUniformBroadcastFirst,
        ExchangeOperandForm::Scoped,
        GroupExchange::BroadcastFirst,
    ),
    ExchangeRow(
        Op::GroupNonUniformBallot,
        ExchangeOperandForm::Scoped,
        GroupExchange::Ballot,
    ),
    ExchangeRow(
        Op::GroupNonUniformShuffle,
        ExchangeOperandForm::Scoped,
        GroupExchange::Broadcast,
    ),
    ExchangeRow(
        Op::GroupNonUniformShuffleXor,
        ExchangeOperandForm::Scoped,
        GroupExchange::ShuffleXor,
    ),
    ExchangeRow(
        Op::GroupNonUniformShuffleUp,
        ExchangeOperandForm::Scoped,
        GroupExchange::ShuffleUp,
    ),
    ExchangeRow(
        Op::GroupNonUniformShuffleDown,
        ExchangeOperandForm::Scoped,
        GroupExchange::ShuffleDown,
    ),
    ExchangeRow(
        Op::GroupNonUniformQuadBroadcast,
        ExchangeOperandForm::Scoped,
        GroupExchange::QuadBroadcast,
    ),
    ExchangeRow(
        Op::GroupNonUniformQuadSwap,
        ExchangeOperandForm::Scoped,
        GroupExchange::QuadSwap,
    ),
    ExchangeRow(
        Op::GroupNonUniformRotateKHR,
        ExchangeOperandForm::Scoped,
        GroupExchange::Rotate,
    ),
    ExchangeRow(
        Op::GroupNonUniformQuadAllKHR,
        ExchangeOperandForm::Subgroup,
        GroupExchange::QuadAll,
    ),
    ExchangeRow(
        Op::GroupNonUniformQuadAnyKHR,
        ExchangeOperandForm::Subgroup,
        GroupExchange::QuadAny,
    ),
    ExchangeRow(
        Op::CooperativeMatrixMulAddKHR,
        ExchangeOperandForm::Subgroup,
        GroupExchange::Product,
    ),
    ExchangeRow(
        Op::SubgroupBallotKHR,
        ExchangeOperandForm::Subgroup,
        GroupExchange::Ballot,
    ),
    ExchangeRow(
        Op::SubgroupFirstInvocationKHR,
        ExchangeOperandForm::Subgroup,
        GroupExchange::BroadcastFirst,
    ),
    ExchangeRow(
        Op::SubgroupAllKHR,
        ExchangeOperandForm::Subgroup,
        GroupExchange::All,
    ),
    ExchangeRow(
        Op::SubgroupAnyKHR,
        ExchangeOperandForm::Subgroup,
        GroupExchange::Any,
    ),
    ExchangeRow(
        Op::SubgroupAllEqualKHR,
        ExchangeOperandForm::Subgroup,
        GroupExchange::AllEqual,
    ),
    ExchangeRow(
        Op::SubgroupReadInvocationKHR,
        ExchangeOperandForm::Subgroup,
        GroupExchange::Broadcast,
    ),
    ExchangeRow(
        Op::SubgroupShuffleINTEL,
        ExchangeOperandForm::Subgroup,
        GroupExchange::Broadcast,
    ),
    ExchangeRow(
        Op::SubgroupShuffleXorINTEL,
        ExchangeOperandForm::Subgroup,
        GroupExchange::ShuffleXor,
    ),
    ExchangeRow(
        Op::SubgroupShuffleDownINTEL,
        ExchangeOperandForm::Subgroup,
        GroupExchange::ShufflePairDown,
    ),
    ExchangeRow(
        Op::SubgroupShuffleUpINTEL,
        ExchangeOperandForm::Subgroup,
        GroupExchange::ShufflePairUp,
    ),
];

/// The operations that are suspension points.
pub(crate) fn list_suspension_ops() -> impl Iterator<Item = Op> {
    let rows = ROWS.iter().map(|row| row.0);
    rows.chain(list_group_reductions())
        .chain([Op::ControlBarrier])
}

/// Shape and exchange of an instruction that is a suspension point, but for control barriers.
pub(crate) fn find_exchange_rule(op: Op) -> Option<(ExchangeOperandForm, GroupExchange)> {
    if let Some(operator) = op.reduction_operator() {
        let exchange = GroupExchange::Reduce(operator);
        return Some((ExchangeOperandForm::Operation, exchange));
    }
    let row = ROWS.iter().find(|row| row.0 == op)?;
    Some((row.1, row.2))
}

/// Whether an instruction suspends the invocation.
pub(crate) fn is_point(program: &TypedModule<'_>, inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::ControlBarrier if program.is_single => false,
        Op::CooperativeMatrixMulAddKHR if is_in_memory_matrix(program, inst) => false,
        Op::ControlBarrier => group_of(program, inst).is_some(),
        op if find_exchange_rule(op).is_some() => group_of(program, inst).is_some(),
        _ => false,
    }
}

/// Whether a product is one of matrices that lie in memory.
fn is_in_memory_matrix(program: &TypedModule<'_>, inst: InstRef<'_>) -> bool {
    inst.result_type()
        .is_some_and(|ty| program.is_in_memory_matrix(ty))
}

/// The group that waits at an instruction; none where an invocation would wait for itself only.
pub(crate) fn group_of(program: &TypedModule<'_>, inst: InstRef<'_>) -> Option<SyncGroup> {
    if let Some((ExchangeOperandForm::Subgroup, _)) = find_exchange_rule(inst.op()) {
        return Some(SyncGroup::Subgroup);
    }
    match program
        .constants
        .get_u64(inst.id_operand(0))
        .map(|s| Scope(s as u32))
    {
        Some(Scope::Invocation) => None,
        Some(Scope::Subgroup) => Some(SyncGroup::Subgroup),
        _ => Some(SyncGroup::Workgroup),
    }
}

/// A suspension point of a compiled kernel.
#[derive(Clone, Debug)]
pub(crate) struct SuspensionPoint {
    /// The instruction.
    pub op: Op,
    /// Its place in the module.
    pub place: SourceLocation,
    /// The group that waits.
    pub group: SyncGroup,
    /// The exchange.
    pub exchange: GroupExchange,
    /// Type of the value's components.
    pub scalar: ScalarRepr,
    /// Components of the value. The operands after it follow in the exchange slots.
    pub components: u32,
    /// Group operation of a reduction; 0 for other exchanges.
    pub operation: u32,
    /// Invocations that exchange among themselves, where the instruction says.
    pub cluster: Option<u32>,
    /// The product, for products of matrices.
    pub product: Option<CooperativeProduct>,
    /// Its site number, for reports of the sanitizer.
    pub site: u16,
}

/// Slots that a point needs at least.
pub(crate) fn count_slots(program: &TypedModule<'_>, inst: InstRef<'_>) -> u32 {
    match find_exchange_rule(inst.op()) {
        Some((_, GroupExchange::Product)) if is_in_memory_matrix(program, inst) => 0,
        Some((_, GroupExchange::Product)) => {
            let types = [0, 1, 2].map(|n| program.type_of(inst.id_operand(n)));
            let scalars = |ty: Option<Id>| ty.map_or(0, |ty| program.types.scalar_count(ty));
            let slots: usize = types
                .into_iter()
                .map(scalars)
                .fold(0, usize::saturating_add);
            u32::try_from(slots).unwrap_or(u32::MAX).max(EXCHANGE_SLOTS)
        }
        Some(_) => EXCHANGE_SLOTS,
        None => 0,
    }
}
