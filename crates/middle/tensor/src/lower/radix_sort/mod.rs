//! Radix sorts: stable sorts of words, digit after digit from the lowest.
//!
//! A pass counts the digits of each chunk of a row. The sum of the counts before a chunk's digit, in the order of digits and
//! then of chunks, is the place of its first element with that digit. Elements are then moved to their places. On a processor
//! a chunk is the work of one invocation ([`serial`]), on a graphics card that of a workgroup ([`workgroup`]). Rows that are
//! one chunk are sorted by one launch.
//! Source: Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs" (2009).

pub(super) mod kernel_code;
mod pass_buffers;
mod radix_rows;
mod serial;
mod tile_ranking;
mod workgroup;

use super::host_program::HostProgramLowering;
use super::node_emitter::TensorStorage;
use crate::ir::{DimExtent, RadixSort, TensorValue};
use crate::schedule::ScheduleProfile;
use kernel_code::RadixPass;
use pass_buffers::{ChunkPass, PassBuffers, PassSource, PassTarget};
use radix_rows::{HostSize, RadixRows};
use spirula_kernel::ir::{KernelData, MemorySpace, StmtKind, VarId, VariableType};
use spirula_program::{ScalarOp, ScalarType};
use workgroup::WorkgroupTile;

/// The sizes of a radix sort for a kind of device.
struct RadixShape {
    /// Most bits of a digit.
    digit_bits: u32,
    /// Elements of the smallest chunk.
    least_chunk: u64,
    /// Most chunks of a row.
    most_chunks: u64,
    /// The tile of a workgroup; none where an invocation has a chunk.
    tile: Option<WorkgroupTile>,
}

impl RadixShape {
    fn for_profile(profile: ScheduleProfile) -> RadixShape {
        let Some(tile) = WorkgroupTile::for_profile(profile) else {
            return RadixShape {
                digit_bits: 8,
                least_chunk: 1 << 14,
                most_chunks: 64,
                tile: None,
            };
        };
        RadixShape {
            digit_bits: 5,
            least_chunk: tile.elements(),
            most_chunks: 1 << 10,
            tile: Some(tile),
        }
    }
}

impl HostProgramLowering<'_> {
    /// Launches the kernels of a radix sort.
    pub(super) fn lower_radix_sort(&mut self, sort: &RadixSort, result: TensorValue) {
        let to = self.allocate_value(result);
        let words = self.as_memory(sort.words);
        let carried = sort.carried.map(|value| self.as_memory(value));
        let shape = &self.function.ty(result).shape;
        let Some((length, outer)) = shape.split_last() else {
            return;
        };
        if shape.iter().any(|dim| dim.as_static() == Some(0)) {
            return;
        }
        let outer: Vec<HostSize> = outer.iter().map(|dim| self.read_extent(*dim)).collect();
        let count = HostSize::compute(
            &mut self.b,
            &outer,
            |sizes| sizes.iter().product(),
            |b, sizes| {
                let one = b.make_i64(1);
                sizes
                    .iter()
                    .fold(one, |all, size| b.apply_op(ScalarOp::Mul, &[all, *size]))
            },
        );
        let length = self.read_extent(*length);
        if let HostSize::Variable(size) = length {
            self.assert_countable(size);
        }
        let shape = RadixShape::for_profile(self.profile);
        let limits = [shape.least_chunk, shape.most_chunks];
        let rows = RadixRows::new(&mut self.b, count, length, limits);
        let passes = RadixPass::list_passes(sort.bits, shape.digit_bits);
        let given = PassBuffers {
            from: PassSource::Operands(words, carried),
            to: PassTarget::Result(to),
        };
        if let (true, Some(tile)) = (rows.is_single_chunk(), &shape.tile) {
            let b = &mut self.b;
            let kernel = workgroup::sort_rows(b, &rows, tile, &passes, &given);
            return self.launch_extra_kernel(kernel);
        }
        let mut temporary = Vec::new();
        let buffers = self.allocate_buffers(result, given, passes.len(), &mut temporary);
        let passes: Vec<(RadixPass, PassBuffers)> = passes.into_iter().zip(buffers).collect();
        if rows.is_single_chunk() {
            let kernel = serial::sort_rows(&mut self.b, &rows, &passes);
            self.launch_extra_kernel(kernel);
        } else {
            for (pass, buffers) in &passes {
                self.launch_pass(&rows, &shape, *pass, *buffers);
            }
        }
        for var in temporary {
            self.b.push_statement(StmtKind::Free(var));
        }
    }

    /// Asserts that a row is not too long for a radix sort.
    fn assert_countable(&mut self, length: VarId) {
        let length = self.b.read_var(length);
        let most = self.b.make_i64(RadixSort::MOST_ELEMENTS as i64);
        let condition = self.b.apply_op(ScalarOp::SLe, &[length, most]);
        let texts = ["a sort along a dimension of ", ", where the most is "];
        self.emit_assertion(condition, texts, [length, most]);
    }

    /// A size, as a variable where it is known only at run time.
    fn read_extent(&mut self, dim: DimExtent) -> HostSize {
        let value = match dim {
            DimExtent::Static(size) => return HostSize::Known(size),
            DimExtent::Value(value) => value,
        };
        if let Some(TensorStorage::Scalar(var)) = self.sources.get(&value) {
            return HostSize::Variable(*var);
        }
        let size = self.as_scalar(value);
        let ty = VariableType::Scalar(ScalarType::I64);
        let var = self.b.declare_var("n", ty, false);
        self.b.push_assignment(var, size);
        HostSize::Variable(var)
    }

    /// The memory of each pass. Passes write to two blocks in turns, and the last one to the result.
    fn allocate_buffers(
        &mut self,
        result: TensorValue,
        given: PassBuffers,
        count: usize,
        temporary: &mut Vec<VarId>,
    ) -> Vec<PassBuffers> {
        for _ in 1..count.min(3) {
            let ty = VariableType::Memory(MemorySpace::Device);
            let pairs = self.b.declare_var("pairs", ty, false);
            let bytes = self.emit_byte_count(result);
            let two = self.b.make_i64(2);
            let bytes = self.b.apply_op(ScalarOp::Mul, &[bytes, two]);
            self.b.push_statement(StmtKind::Alloc { to: pairs, bytes });
            temporary.push(pairs);
        }
        let mut from = given.from;
        let mut buffers = Vec::new();
        for pass in 1..count {
            let pairs = temporary[(pass - 1) % 2];
            let to = PassTarget::Pairs(pairs);
            buffers.push(PassBuffers { from, to });
            from = PassSource::Pairs(pairs);
        }
        let to = given.to;
        buffers.push(PassBuffers { from, to });
        buffers
    }

    /// Launches the kernels of a pass: they count digits, add up the counts, and move elements.
    fn launch_pass(
        &mut self,
        rows: &RadixRows,
        shape: &RadixShape,
        pass: RadixPass,
        buffers: PassBuffers,
    ) {
        let ty = VariableType::Memory(MemorySpace::Device);
        let totals = self.b.declare_var("totals", ty, false);
        let bytes = rows.total_bytes(&mut self.b, pass);
        self.b.push_statement(StmtKind::Alloc { to: totals, bytes });
        let chunks = ChunkPass {
            rows,
            pass,
            buffers,
            totals,
        };
        let b = &mut self.b;
        let kernels: [KernelData; 3] = match &shape.tile {
            Some(tile) => [
                workgroup::count_chunks(b, tile, &chunks),
                workgroup::scan_totals(b, tile, &chunks),
                workgroup::scatter_chunks(b, tile, &chunks),
            ],
            None => [
                serial::count_chunks(b, &chunks),
                serial::scan_totals(b, &chunks),
                serial::scatter_chunks(b, &chunks),
            ],
        };
        for kernel in kernels {
            self.launch_extra_kernel(kernel);
        }
        self.b.push_statement(StmtKind::Free(totals));
    }
}
