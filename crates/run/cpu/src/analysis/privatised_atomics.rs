//! Memory that a kernel only counts in.
//!
//! An atomic change waits until all that the thread stored before is seen by others, and takes its line from the
//! processor that has it. Where a kernel uses memory for nothing but such changes of one kind, whose results it
//! does not ask for and which order nothing, nobody can tell when they are made: each thread counts in memory of its own, and
//! what it has is added at the end. Compilers for processors with few threads know this as the privatization of
//! reductions.

use super::pointer_roots::{PointerRoots, find_parameter_positions};
use super::promoted_variables::operand_ids;
use super::provenance::PointerProvenance;
use crate::exec::arguments::MarshalledArguments;
use crate::exec::compile::JitKernel;
use crate::exec::launch::{JitArgument, JitLaunch};
use crate::exec::run::LaunchGrid;
use crate::layout::globals::ReachedGlobals;
use crate::memory::guarded_pages::GuardedPages;
use crate::module::program::AnalysedModule;
use crate::module::types::{LoweredTypeKind, ScalarRepr};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Invocations for each element of each thread's own memory that are worth adding it at the end.
const WORTH: u64 = 4;

/// Most bytes that a thread counts in.
const MOST: u64 = 4 << 20;

/// Fewest invocations that are worth mapping memory for.
const FEWEST: u64 = 1 << 14;

/// How numbers are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrivatisedOperator {
    Add,
    And,
    Or,
    Xor,
    SMin,
    UMin,
    SMax,
    UMax,
}

/// Numbers of 32 or 64 bits, and how they are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PrivatisedUpdate {
    change: PrivatisedOperator,
    bytes: u64,
}

/// Where such memory is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParameterIndex {
    Argument(usize),
    Binding(usize),
}

/// Memory that a kernel only counts in.
#[derive(Default)]
pub(crate) struct PrivatisedAtomics {
    /// The pointers of changes.
    pub pointers: FxHashSet<Id>,
    all: Vec<(ParameterIndex, PrivatisedUpdate)>,
}

/// Memory of a launch that threads count in by themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrivatisedMemory {
    given: ParameterIndex,
    tally: PrivatisedUpdate,
    /// Address and bytes.
    memory: [u64; 2],
}

/// A thread's own.
pub(crate) struct PrivatisedCopy {
    counted: PrivatisedMemory,
    /// Between guards, as what is given is: a kernel that goes past its end is to be ended.
    numbers: GuardedPages,
}

impl PrivatisedAtomics {
    /// Finds it.
    pub fn from_program(
        program: &AnalysedModule<'_>,
        globals: &ReachedGlobals,
    ) -> PrivatisedAtomics {
        let functions = program.functions.bottom_up.iter();
        let insts = functions.flat_map(|func| program.module.function_insts(*func));
        let is_change = |inst: InstRef<'_>| classify_operator(inst.op()).is_some();
        if !insts.clone().any(is_change) {
            return PrivatisedAtomics::default();
        }
        let mut uses = AtomicMemoryUses {
            roots: PointerRoots::new(program, globals),
            ..AtomicMemoryUses::default()
        };
        let used = insts.clone().flat_map(operand_ids).collect();
        for inst in insts {
            if matches!(inst.op(), Op::EnqueueKernel) {
                return PrivatisedAtomics::default();
            }
            uses.add_instruction(program, inst, &used);
        }
        let tally = |id: Id| uses.tallies.get(&id).copied().flatten();
        let counts = |id: Id| tally(id).is_some() && !uses.others.contains(&id);
        let [arguments, bindings] = find_parameter_positions(program, globals, counts);
        let params = &program.functions.get(program.entry.func).params;
        let arguments = arguments
            .into_iter()
            .filter_map(|at| Some((ParameterIndex::Argument(at), tally(params[at])?)));
        let bindings = bindings.into_iter().filter_map(|row| {
            let mut same = globals.bound.iter().filter(|(_, r)| *r as usize == row);
            // Several variables may be the same memory.
            match (same.next(), same.next()) {
                (Some((id, _)), None) => Some((ParameterIndex::Binding(row), tally(*id)?)),
                _ => None,
            }
        });
        let all: Vec<(ParameterIndex, PrivatisedUpdate)> = arguments.chain(bindings).collect();
        // What is reached by an address alone may be what is counted in.
        if all.is_empty() || PointerProvenance::from_program(program).has_unknown() {
            return PrivatisedAtomics::default();
        }
        let is_given = |root: Id| {
            let argument = params.iter().position(|p| *p == root);
            let bound = globals.bound.iter().find(|(id, _)| *id == root);
            let given = argument.map(ParameterIndex::Argument);
            let given = given.or(bound.map(|(_, row)| ParameterIndex::Binding(*row as usize)));
            all.iter().any(|(known, _)| Some(*known) == given)
        };
        let pointers = uses.pointers.iter();
        PrivatisedAtomics {
            pointers: pointers
                .filter(|(_, root)| is_given(*root))
                .map(|(pointer, _)| *pointer)
                .collect(),
            all,
        }
    }
}

/// How memory is used.
#[derive(Default)]
struct AtomicMemoryUses {
    roots: PointerRoots,
    /// Pointers of changes, with what they point into.
    pointers: Vec<(Id, Id)>,
    /// By root: what is counted; none where changes are of several kinds.
    tallies: FxHashMap<Id, Option<PrivatisedUpdate>>,
    /// What is used otherwise.
    others: FxHashSet<Id>,
}

impl AtomicMemoryUses {
    fn add_instruction(
        &mut self,
        program: &AnalysedModule<'_>,
        inst: InstRef<'_>,
        used: &FxHashSet<Id>,
    ) {
        if self.roots.follow_pointer(inst) || inst.op() == Op::FunctionParameter {
            return;
        }
        let root = classify_operator(inst.op()).and_then(|_| self.roots.get(inst.id_operand(0)));
        let Some(root) = root else {
            let roots = operand_ids(inst).filter_map(|id| self.roots.get(id));
            return self.others.extend(roots);
        };
        self.pointers.push((inst.id_operand(0), root));
        let tally = match_privatised_update(program, inst, used);
        let known = self.tallies.entry(root).or_insert(tally);
        if *known != tally {
            *known = None;
        }
    }
}

/// The kind of change that an instruction makes.
fn classify_operator(op: Op) -> Option<PrivatisedOperator> {
    Some(match op {
        Op::AtomicIIncrement | Op::AtomicIDecrement | Op::AtomicIAdd | Op::AtomicISub => {
            PrivatisedOperator::Add
        }
        Op::AtomicAnd => PrivatisedOperator::And,
        Op::AtomicOr => PrivatisedOperator::Or,
        Op::AtomicXor => PrivatisedOperator::Xor,
        Op::AtomicSMin => PrivatisedOperator::SMin,
        Op::AtomicUMin => PrivatisedOperator::UMin,
        Op::AtomicSMax => PrivatisedOperator::SMax,
        Op::AtomicUMax => PrivatisedOperator::UMax,
        _ => return None,
    })
}

/// What is counted by a change that orders nothing, and whose result nobody uses.
fn match_privatised_update(
    program: &AnalysedModule<'_>,
    inst: InstRef<'_>,
    used: &FxHashSet<Id>,
) -> Option<PrivatisedUpdate> {
    const ORDERS: u64 = 0x1e;
    const VOLATILE: u64 = 0x8000;
    let semantics = program.constants.get_u64(inst.id_operand(2))?;
    let is_asked = inst.result().is_none_or(|id| used.contains(&id));
    if is_asked || semantics & (ORDERS | VOLATILE) != 0 {
        return None;
    }
    let LoweredTypeKind::Scalar(ScalarRepr::Int(bits @ (32 | 64))) =
        program.types.kind(inst.result_type()?)
    else {
        return None;
    };
    Some(PrivatisedUpdate {
        change: classify_operator(inst.op())?,
        bytes: u64::from(bits) / 8,
    })
}

impl JitKernel {
    /// What threads of a launch count in by themselves; none where they do not. One thread alone counts where it is.
    pub(crate) fn plan_privatised_memory(
        &self,
        launch: &JitLaunch<'_>,
        (grid, threads): (&LaunchGrid, usize),
        shared: &MarshalledArguments,
    ) -> Option<Vec<PrivatisedMemory>> {
        if self.tallies.all.is_empty() {
            return None;
        }
        if threads <= 1 {
            return Some(Vec::new());
        }
        let arguments = launch.arguments.iter().map(|argument| match argument {
            JitArgument::Memory(memory) => Some([memory.address as u64, memory.length]),
            _ => None,
        });
        let arguments: Vec<Option<[u64; 2]>> = arguments.collect();
        let given = arguments.iter().flatten().chain(&shared.bindings);
        let overlaps = |memory: [u64; 2]| {
            let meets = |other: &&[u64; 2]| {
                memory[0] < other[0].saturating_add(other[1])
                    && other[0] < memory[0].saturating_add(memory[1])
            };
            // It is one of them itself.
            given.clone().filter(meets).count() > 1
        };
        let invocations = crate::exec::run::checked_product(grid.global)?;
        let mut elements = 0;
        let mut all = Vec::new();
        for (given, tally) in &self.tallies.all {
            let memory = match given {
                ParameterIndex::Argument(at) => (*arguments.get(*at)?)?,
                ParameterIndex::Binding(row) => *shared.bindings.get(*row)?,
            };
            let is_whole = memory.iter().all(|n| n.is_multiple_of(tally.bytes));
            if !is_whole || memory[1] > MOST || overlaps(memory) {
                return None;
            }
            elements += memory[1] / tally.bytes;
            all.push(PrivatisedMemory {
                given: *given,
                tally: *tally,
                memory,
            });
        }
        let worth = elements.saturating_mul(WORTH * threads as u64);
        (invocations >= worth.max(FEWEST)).then_some(all)
    }
}

impl PrivatisedMemory {
    /// Memory of a thread's own for it, whose numbers change nothing when they are added; none where it cannot be had.
    pub fn allocate_copy(self) -> Option<PrivatisedCopy> {
        let mut numbers = GuardedPages::new_zeroed(self.memory[1] as usize)?;
        let neutral = self.tally.neutral_element().to_ne_bytes();
        if neutral != [0; 8] {
            let number = &neutral[..self.tally.bytes as usize];
            let each = numbers.bytes_mut().chunks_exact_mut(number.len());
            each.for_each(|bytes| bytes.copy_from_slice(number));
        }
        Some(PrivatisedCopy {
            counted: self,
            numbers,
        })
    }
}

impl PrivatisedCopy {
    /// Puts it in the place of what was given, in a thread's arguments and bindings.
    pub fn redirect_arguments(
        &mut self,
        offsets: impl Fn(usize) -> usize,
        args: &mut [u64],
        bindings: &mut [[u64; 2]],
    ) {
        let address = self.numbers.bytes_mut().as_ptr() as u64;
        match self.counted.given {
            ParameterIndex::Argument(at) => args[offsets(at)] = address,
            ParameterIndex::Binding(row) => bindings[row][0] = address,
        }
    }

    /// Adds what was counted.
    ///
    /// # Safety
    /// The memory of the launch is valid, and used by its threads alone.
    #[allow(unsafe_code)]
    pub unsafe fn merge_into_memory(&mut self) {
        let PrivatisedMemory { tally, memory, .. } = self.counted;
        let neutral = tally.neutral_element();
        let size = tally.bytes as usize;
        for (n, bytes) in self.numbers.bytes_mut().chunks_exact(size).enumerate() {
            let at = memory[0] as usize + n * size;
            match *bytes {
                [a, b, c, d] => {
                    let own = u32::from_ne_bytes([a, b, c, d]);
                    if own != neutral as u32 {
                        // SAFETY: there are as many numbers, to which all threads of the launch add by atomics.
                        tally
                            .change
                            .add_32(unsafe { AtomicU32::from_ptr(at as *mut u32) }, own);
                    }
                }
                [a, b, c, d, e, f, g, h] => {
                    let own = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
                    if own != neutral {
                        // SAFETY: as above.
                        tally
                            .change
                            .add_64(unsafe { AtomicU64::from_ptr(at as *mut u64) }, own);
                    }
                }
                _ => {}
            }
        }
    }
}

impl PrivatisedUpdate {
    /// What changes nothing; of 32 bits twice.
    fn neutral_element(self) -> u64 {
        let number = match self.change {
            PrivatisedOperator::Add
            | PrivatisedOperator::Or
            | PrivatisedOperator::Xor
            | PrivatisedOperator::UMax => 0,
            PrivatisedOperator::And | PrivatisedOperator::UMin => u64::MAX,
            PrivatisedOperator::SMin => (u64::MAX >> 1) >> (64 - 8 * self.bytes),
            PrivatisedOperator::SMax => 1 << (8 * self.bytes - 1),
        };
        match self.bytes {
            4 => number & 0xffff_ffff | number << 32,
            _ => number,
        }
    }
}

/// A function of the changes to numbers of a width.
macro_rules! adding {
    ($name:ident, $atomic:ty, $unsigned:ty, $signed:ty) => {
        fn $name(self, to: &$atomic, own: $unsigned) {
            let order = Ordering::Relaxed;
            let signed = |choose: fn($signed, $signed) -> $signed| {
                let change =
                    |old: $unsigned| Some(choose(old as $signed, own as $signed) as $unsigned);
                to.fetch_update(order, order, change).unwrap_or_default()
            };
            match self {
                PrivatisedOperator::Add => to.fetch_add(own, order),
                PrivatisedOperator::And => to.fetch_and(own, order),
                PrivatisedOperator::Or => to.fetch_or(own, order),
                PrivatisedOperator::Xor => to.fetch_xor(own, order),
                PrivatisedOperator::UMin => to.fetch_min(own, order),
                PrivatisedOperator::UMax => to.fetch_max(own, order),
                PrivatisedOperator::SMin => signed(Ord::min),
                PrivatisedOperator::SMax => signed(Ord::max),
            };
        }
    };
}

impl PrivatisedOperator {
    adding!(add_32, AtomicU32, u32, i32);
    adding!(add_64, AtomicU64, u64, i64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JitOptions;
    use spirula_spirv::grammar::enumerants::ExecutionModel;
    use spirula_spirv::ir::SpirvModule;
    use spirula_spirv::text::{ParseOptions, parse_assembly};

    /// Whether a kernel only counts in its argument.
    fn is_counted(body: &str) -> bool {
        let text = format!(
            "OpCapability Addresses
            OpCapability Kernel
            OpCapability Int64
            OpMemoryModel Physical64 OpenCL
            OpEntryPoint Kernel %main \"main\"
            %void = OpTypeVoid
            %uint = OpTypeInt 32 0
            %global = OpTypePointer CrossWorkgroup %uint
            %type = OpTypeFunction %void %global %uint
            %device = OpConstant %uint 1
            %relaxed = OpConstant %uint 0
            %release = OpConstant %uint 4
            %ulong = OpTypeInt 64 0
            %address = OpConstant %ulong 4096
            %main = OpFunction %void None %type
            %x = OpFunctionParameter %global
            %n = OpFunctionParameter %uint
            %entry = OpLabel
            %to = OpInBoundsPtrAccessChain %global %x %n
            {body}
            OpReturn
            OpFunctionEnd"
        );
        let words =
            parse_assembly(&text, &ParseOptions::default()).unwrap_or_else(|f| panic!("{}", f[0]));
        let module = SpirvModule::from_words(words).expect("what the assembler writes is a module");
        let options = JitOptions::default();
        let kernel =
            JitKernel::compile_entry_point(&module, "main", ExecutionModel::Kernel, &[], &options);
        let kernel = kernel.unwrap_or_else(|faults| panic!("{}", faults[0]));
        assert_eq!(kernel.may_wait, kernel.tallies.all.is_empty(), "{body}");
        kernel.tallies.all == [(ParameterIndex::Argument(0), ADDED)]
    }

    const ADDED: PrivatisedUpdate = PrivatisedUpdate {
        change: PrivatisedOperator::Add,
        bytes: 4,
    };

    #[test]
    fn memory_that_is_only_counted_in_is_found() {
        let add = "%a = OpAtomicIAdd %uint %to %device %relaxed %n";
        let count = "%b = OpAtomicIIncrement %uint %x %device %relaxed";
        assert!(is_counted(add));
        assert!(is_counted(&format!("{add}\n{count}")));
        for other in [
            "%b = OpLoad %uint %x",
            "OpStore %x %n",
            "%b = OpIAdd %uint %a %n",
            "%b = OpAtomicOr %uint %x %device %relaxed %n",
            "%b = OpAtomicIAdd %uint %x %device %release %n",
            "%b = OpConvertUToPtr %global %address\n%c = OpLoad %uint %b",
        ] {
            assert!(!is_counted(&format!("{add}\n{other}")), "{other}");
        }
    }

    /// What changes nothing changes nothing, and what is counted is added as it says.
    #[test]
    fn numbers_of_both_widths_are_added() {
        use PrivatisedOperator::{Add, And, Or, SMax, SMin, UMax, UMin, Xor};
        let numbers = [0, 1, 77, 1 << 31, 1 << 63, u64::MAX, u64::MAX - 5];
        for change in [Add, And, Or, Xor, SMin, UMin, SMax, UMax] {
            let neutral = |bytes| PrivatisedUpdate { change, bytes }.neutral_element();
            for number in numbers {
                let (narrow, wide) = (AtomicU32::new(number as u32), AtomicU64::new(number));
                change.add_32(&narrow, neutral(4) as u32);
                change.add_64(&wide, neutral(8));
                let found = (narrow.into_inner(), wide.into_inner());
                assert_eq!(found, (number as u32, number), "{change:?}");
            }
            let (narrow, wide) = (AtomicU32::new(77), AtomicU64::new(77));
            change.add_32(&narrow, 5);
            change.add_64(&wide, 5);
            let wanted = match change {
                Add => 82,
                And | SMin | UMin => 5,
                Or => 77 | 5,
                Xor => 77 ^ 5,
                SMax | UMax => 77,
            };
            let found = (narrow.into_inner(), wide.into_inner());
            assert_eq!(found, (wanted, u64::from(wanted)), "{change:?}");
        }
    }
}
