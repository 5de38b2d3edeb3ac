//! Privatised memory: the copies that the threads of a launch update instead of shared memory, and their merge.
//!
//! [`crate::analysis::privatised_atomics`] finds the memory for which this is allowed.

use super::jit_kernel::JitKernel;
use super::launch::{JitArgument, JitLaunch};
use super::launch_crew::share_work;
use super::launch_grid::{LaunchGrid, checked_product};
use crate::analysis::pointer_roots::ParameterIndex;
use crate::analysis::privatised_atomics::{PrivatisedOperator, PrivatisedUpdate};
use crate::layout::parameters::SlotKind;
use crate::memory::guarded_pages::GuardedPages;
use std::sync::Mutex;

/// Fewest invocations for each element of each thread's copy. With fewer, merging costs more than it saves.
const LEAST_UPDATES: u64 = 1;

/// Fewest bytes of a thread's part of a merge.
const SHARED_MERGE: usize = 1 << 15;

/// Bytes of a cache line, which threads do not share.
const LINE: usize = 128;

/// Most bytes of a copy.
const MAX_BYTES: u64 = 4 << 20;

/// Fewest invocations for which mapping memory pays.
const LEAST_INVOCATIONS: u64 = 1 << 14;

/// Memory of a launch that each thread has a copy of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrivatisedMemory {
    index: ParameterIndex,
    update: PrivatisedUpdate,
    /// Address and bytes.
    memory: [u64; 2],
}

/// One thread's copy.
pub(crate) struct PrivatisedCopy {
    source: PrivatisedMemory,
    /// The numbers lie between guard pages, as the memory of the launch does: an access past the end must end the
    /// launch.
    numbers: GuardedPages,
}

impl JitKernel {
    /// The memory of a launch that threads count in by themselves; none where they do not. A single thread updates
    /// the memory itself: the list is empty then.
    pub(crate) fn plan_privatised_memory(
        &self,
        launch: &JitLaunch<'_>,
        grid: &LaunchGrid,
        threads: usize,
        bindings: &[[u64; 2]],
    ) -> Option<Vec<PrivatisedMemory>> {
        if self.privatised.parameters.is_empty() {
            return None;
        }
        if threads <= 1 {
            return Some(Vec::new());
        }
        if self.takes_numbers_as_pointers(launch) {
            return None;
        }
        let arguments = launch.arguments.iter().filter_map(JitArgument::memory);
        let all_memory = arguments.chain(bindings.iter().copied());
        let overlaps = |memory: [u64; 2]| {
            let meets = |other: &[u64; 2]| {
                memory[0] < other[0].saturating_add(other[1])
                    && other[0] < memory[0].saturating_add(memory[1])
            };
            // One of them is the memory itself.
            all_memory.clone().filter(meets).count() > 1
        };
        let invocations = checked_product(grid.global)?;
        let mut elements = 0;
        let mut all = Vec::new();
        for (index, update) in &self.privatised.parameters {
            let memory = launch.find_memory(*index, bindings)?;
            let is_whole = memory.iter().all(|n| n.is_multiple_of(update.bytes));
            if !is_whole || memory[1] > MAX_BYTES || overlaps(memory) {
                return None;
            }
            elements += memory[1] / update.bytes;
            all.push(PrivatisedMemory {
                index: *index,
                update: *update,
                memory,
            });
        }
        let least = elements.saturating_mul(LEAST_UPDATES * threads as u64);
        (invocations >= least.max(LEAST_INVOCATIONS)).then_some(all)
    }

    /// Whether a launch passes a pointer as a number. It may point into memory of another argument.
    fn takes_numbers_as_pointers(&self, launch: &JitLaunch<'_>) -> bool {
        let mut passed = self.slots.iter().zip(launch.arguments);
        passed.any(|(slot, argument)| {
            let is_address = |bytes: &[u8]| bytes.iter().any(|byte| *byte != 0);
            slot.kind == SlotKind::Buffer
                && matches!(argument, JitArgument::Bytes(bytes) if is_address(bytes))
        })
    }
}

impl PrivatisedMemory {
    /// A copy for one thread, filled with the neutral element. None where memory cannot be allocated.
    pub fn allocate_copy(self) -> Option<PrivatisedCopy> {
        let mut numbers = GuardedPages::new_zeroed(self.memory[1] as usize)?;
        let neutral = self.update.neutral_element().to_ne_bytes();
        if neutral != [0; 8] {
            let number = &neutral[..self.update.bytes as usize];
            let each = numbers.bytes_mut().chunks_exact_mut(number.len());
            each.for_each(|bytes| bytes.copy_from_slice(number));
        }
        Some(PrivatisedCopy {
            source: self,
            numbers,
        })
    }
}

impl PrivatisedCopy {
    /// Replaces the memory by the copy in a thread's arguments and bindings. `offsets` maps the position of an argument
    /// to its word.
    pub fn redirect_arguments(
        &mut self,
        offsets: impl Fn(usize) -> usize,
        args: &mut [u64],
        bindings: &mut [[u64; 2]],
    ) {
        let address = self.numbers.bytes_mut().as_ptr() as u64;
        match self.source.index {
            ParameterIndex::Argument(at) => args[offsets(at)] = address,
            ParameterIndex::Binding(row) => bindings[row][0] = address,
        }
    }
}

/// Merges the copies of all threads into the memory of their launch.
///
/// # Safety
/// The memory of the launch is valid, and nothing else uses it any more.
#[allow(unsafe_code)]
pub(super) unsafe fn merge_copies(copies: Vec<PrivatisedCopy>, threads: usize) {
    let mut rest = copies;
    while let Some(PrivatisedCopy { source, .. }) = rest.first() {
        let PrivatisedMemory { update, memory, .. } = *source;
        let is_same = |copy: &PrivatisedCopy| copy.source.memory == memory;
        let (mut same, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_same);
        rest = others;
        let copies = same.iter_mut().map(|copy| &*copy.numbers.bytes_mut());
        let copies: Vec<&[u8]> = copies.collect();
        // SAFETY: the caller's promise. Different memories of a launch do not overlap.
        let all =
            unsafe { std::slice::from_raw_parts_mut(memory[0] as *mut u8, memory[1] as usize) };
        let part = all.len().div_ceil(threads.max(1)).max(1);
        let part = part.next_multiple_of(LINE).max(SHARED_MERGE);
        let merge = |(n, to): (usize, &mut [u8])| {
            for copy in &copies {
                update.merge_numbers(to, &copy[n * part..][..to.len()]);
            }
        };
        let parts = Mutex::new(all.chunks_mut(part).enumerate());
        let take_part = || parts.lock().ok()?.next();
        let merge_parts = || std::iter::from_fn(take_part).for_each(merge);
        share_work(&merge_parts, |invite| {
            invite(memory[1].div_ceil(part as u64).saturating_sub(1) as usize);
            merge_parts();
        });
    }
}

impl PrivatisedUpdate {
    /// Combines numbers with those of a copy.
    fn merge_numbers(self, to: &mut [u8], own: &[u8]) {
        match self.bytes {
            4 => self.operator.merge_words(to, own),
            _ => self.operator.merge_pairs(to, own),
        }
    }

    /// The operator's neutral element. One of 32 bits stands in both halves.
    fn neutral_element(self) -> u64 {
        let number = match self.operator {
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

/// Defines the combination of numbers of one width.
macro_rules! define_merge {
    ($name:ident, $unsigned:ty, $signed:ty) => {
        fn $name(self, to: &mut [u8], own: &[u8]) {
            let unsigned = <$unsigned>::from_ne_bytes;
            let signed = <$signed>::from_ne_bytes;
            match self {
                PrivatisedOperator::Add => combine_numbers(to, own, |a, b| {
                    unsigned(a).wrapping_add(unsigned(b)).to_ne_bytes()
                }),
                PrivatisedOperator::And => {
                    combine_numbers(to, own, |a, b| (unsigned(a) & unsigned(b)).to_ne_bytes())
                }
                PrivatisedOperator::Or => {
                    combine_numbers(to, own, |a, b| (unsigned(a) | unsigned(b)).to_ne_bytes())
                }
                PrivatisedOperator::Xor => {
                    combine_numbers(to, own, |a, b| (unsigned(a) ^ unsigned(b)).to_ne_bytes())
                }
                PrivatisedOperator::UMin => {
                    combine_numbers(to, own, |a, b| unsigned(a).min(unsigned(b)).to_ne_bytes())
                }
                PrivatisedOperator::UMax => {
                    combine_numbers(to, own, |a, b| unsigned(a).max(unsigned(b)).to_ne_bytes())
                }
                PrivatisedOperator::SMin => {
                    combine_numbers(to, own, |a, b| signed(a).min(signed(b)).to_ne_bytes())
                }
                PrivatisedOperator::SMax => {
                    combine_numbers(to, own, |a, b| signed(a).max(signed(b)).to_ne_bytes())
                }
            }
        }
    };
}

impl PrivatisedOperator {
    define_merge!(merge_words, u32, i32);
    define_merge!(merge_pairs, u64, i64);
}

/// Combines each number with the one in the same place.
fn combine_numbers<const BYTES: usize>(
    to: &mut [u8],
    own: &[u8],
    combine: impl Fn([u8; BYTES], [u8; BYTES]) -> [u8; BYTES],
) {
    let (to, _) = to.as_chunks_mut();
    let (own, _) = own.as_chunks();
    for (to, own) in to.iter_mut().zip(own) {
        *to = combine(*to, *own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::invocation_range::InvocationRange;
    use crate::memory::memory_span::MemorySpan;

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
        let kernel = JitKernel::from_assembly(&text);
        assert_eq!(
            kernel.may_wait,
            kernel.privatised.parameters.is_empty(),
            "{body}"
        );
        kernel.privatised.parameters == [(ParameterIndex::Argument(0), ADDED)]
    }

    /// A pointer that is passed as a number may point to the counts.
    #[test]
    fn memory_beside_unknown_addresses_is_shared() {
        let kernel = JitKernel::from_assembly(
            "OpCapability Addresses
            OpCapability Kernel
            OpMemoryModel Physical64 OpenCL
            OpEntryPoint Kernel %main \"main\"
            %void = OpTypeVoid
            %uint = OpTypeInt 32 0
            %global = OpTypePointer CrossWorkgroup %uint
            %type = OpTypeFunction %void %global %global
            %device = OpConstant %uint 1
            %relaxed = OpConstant %uint 0
            %main = OpFunction %void None %type
            %x = OpFunctionParameter %global
            %y = OpFunctionParameter %global
            %entry = OpLabel
            %n = OpLoad %uint %y
            %a = OpAtomicIAdd %uint %x %device %relaxed %n
            OpReturn
            OpFunctionEnd",
        );
        let size = InvocationRange::Items {
            global: [LEAST_INVOCATIONS, 1, 1],
            local: Some([64, 1, 1]),
            offset: [0; 3],
            dimensions: 1,
        };
        let grid = kernel.compute_grid(&size).expect("the size is valid");
        let mut counts = [0_u32; 4];
        let memory = JitArgument::Memory(MemorySpan {
            address: counts.as_mut_ptr().cast(),
            length: 16,
        });
        let is_privatised = |other: &[u8; 8]| {
            let launch = JitLaunch {
                size,
                arguments: &[memory, JitArgument::Bytes(other)],
                bindings: &[],
                push: &[],
                threads: 2,
                timeout: None,
            };
            let plan = kernel.plan_privatised_memory(&launch, &grid, 2, &[]);
            plan.is_some()
        };
        assert!(is_privatised(&[0; 8]));
        assert!(!is_privatised(&(counts.as_ptr() as u64).to_ne_bytes()));
    }

    const ADDED: PrivatisedUpdate = PrivatisedUpdate {
        operator: PrivatisedOperator::Add,
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

    /// The neutral element changes nothing, and each operator combines as its name says.
    #[test]
    fn numbers_of_both_widths_are_added() {
        use PrivatisedOperator::{Add, And, Or, SMax, SMin, UMax, UMin, Xor};
        let numbers = [0, 1, 77, 1 << 31, 1 << 63, u64::MAX, u64::MAX - 5];
        for operator in [Add, And, Or, Xor, SMin, UMin, SMax, UMax] {
            let neutral = |bytes| PrivatisedUpdate { operator, bytes }.neutral_element();
            let merge = |number: u64, own: u64, bytes: u64| {
                let (mut number, own) = (number.to_ne_bytes(), own.to_ne_bytes());
                let update = PrivatisedUpdate { operator, bytes };
                update.merge_numbers(&mut number, &own);
                u64::from_ne_bytes(number)
            };
            for number in numbers {
                assert_eq!(merge(number, neutral(8), 8), number, "{operator:?}");
                // A word stands in both halves.
                assert_eq!(merge(number, neutral(4), 4), number, "{operator:?}");
            }
            let wanted = match operator {
                Add => 82,
                And | SMin | UMin => 5,
                Or => 77 | 5,
                Xor => 77 ^ 5,
                SMax | UMax => 77,
            };
            let pair = |word: u64| word << 32 | word;
            assert_eq!(merge(77, 5, 8), wanted, "{operator:?}");
            assert_eq!(merge(pair(77), pair(5), 4), pair(wanted), "{operator:?}");
        }
    }
}
