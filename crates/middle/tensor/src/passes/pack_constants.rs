//! Packed constants: large constants whose numbers need few bits.
//!
//! A tensor of integers of 4 or 2 bits has a byte for each, as its arguments and results have. Models with such weights
//! are limited by the memory of the weights and the time to read them. Large constants are therefore stored in words of
//! 32 bits and unpacked where they are read. Tensors that kernels write are not packed, so that no two invocations write
//! to one word.
//!
//! A word has numbers along one dimension: the reduced one, if there is one. Along the last dimension they are [`SIDE`]
//! apart, along others adjacent. Either way neighbouring invocations read adjacent words and shift by the same amount.

use crate::ir::{
    AxisKind, DenseTensorType, DimExtent, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp,
    TensorBlock, TensorConstant, TensorFunction, TensorValue, YieldDestination,
};
use rustc_hash::FxHashMap;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// Fewest elements of a constant that is packed.
const LEAST: u64 = 4096;
/// Number of bits of a word.
const WORD: u32 = 32;
/// Number of neighbours along the last dimension that are in different words.
const SIDE: usize = 8;

/// Numbers of bits that numbers are packed in.
const BITS: [u32; 3] = [1, 2, 4];

/// The form of packed numbers: the difference to the least of them, so that none has a sign.
#[derive(Clone, Copy)]
struct PackingFormat {
    bits: u32,
    least: i8,
}

impl PackingFormat {
    /// Number of numbers in a word.
    fn numbers_per_word(self) -> u32 {
        WORD / self.bits
    }
}

/// The layout of a packed constant.
#[derive(Clone, Copy)]
struct PackingLayout {
    format: PackingFormat,
    /// The dimension along which a word's numbers lie.
    dimension: usize,
    /// Distance between them.
    apart: usize,
}

impl PackingLayout {
    /// The layout along a dimension of a tensor of some rank.
    fn from_dimension(dimension: usize, rank: usize, format: PackingFormat) -> Self {
        let is_last = dimension + 1 == rank;
        PackingLayout {
            format,
            dimension,
            apart: if is_last { SIDE } else { 1 },
        }
    }

    /// Number of numbers in words that are filled together.
    fn period(self) -> usize {
        self.apart * self.format.numbers_per_word() as usize
    }

    /// Number of words for `size` numbers.
    fn word_count(self, size: usize) -> usize {
        size.div_ceil(self.period()) * self.apart
    }
}

/// The words of a packed constant.
type PackedConstant = (TensorValue, PackingLayout);

/// Packs all constants for which it pays.
pub(super) fn pack_constants(function: &mut TensorFunction) {
    let layouts = choose_layouts(function);
    if layouts.is_empty() {
        return;
    }
    let mut packed = FxHashMap::default();
    for block in function.block_ids() {
        for at in 0..function.block(block).ops.len() {
            pack_constant(function, block, at, &layouts, &mut packed);
        }
    }
    for block in function.block_ids() {
        for op in &mut function.block_mut(block).ops {
            if let OpKind::Structured(structured) = &mut op.kind
                && structured
                    .body
                    .values_read()
                    .any(|v| packed.contains_key(&v))
            {
                unpack_reads(structured, &packed);
            }
        }
    }
}

/// The layouts of the constants that are packed.
fn choose_layouts(function: &TensorFunction) -> FxHashMap<TensorValue, PackingLayout> {
    let mut layouts = FxHashMap::default();
    for block in function.block_ids() {
        for op in &function.block(block).ops {
            if let OpKind::Constant(constant) = &op.kind
                && let Some(format) = choose_format(constant)
            {
                let rank = constant.ty.rank();
                let layout = PackingLayout::from_dimension(rank.saturating_sub(2), rank, format);
                layouts.insert(op.results[0], layout);
            }
        }
    }
    for block in function.block_ids() {
        let data = function.block(block);
        for op in &data.ops {
            match &op.kind {
                OpKind::Structured(structured) => note_uses(structured, &mut layouts),
                kind => kind.collect_operands().iter().for_each(|value| {
                    layouts.remove(value);
                }),
            }
        }
        for result in &data.results {
            layouts.remove(result);
        }
    }
    layouts
}

/// The format that has all numbers of a constant.
fn choose_format(constant: &TensorConstant) -> Option<PackingFormat> {
    let is_large = constant
        .ty
        .element_count()
        .is_some_and(|count| count >= LEAST);
    if constant.ty.element != ScalarType::I8 || !is_large {
        return None;
    }
    let numbers = constant.bytes.iter().map(|byte| *byte as i8);
    let (least, greatest) = (numbers.clone().min()?, numbers.max()?);
    let fits = |bits: &&u32| i32::from(greatest) - i32::from(least) < 1 << **bits;
    let bits = BITS.iter().find(fits).copied()?;
    Some(PackingFormat { bits, least })
}

/// Notes along which dimensions constants are reduced, and removes those that are copied whole.
fn note_uses(op: &StructuredOp, layouts: &mut FxHashMap<TensorValue, PackingLayout>) {
    for result in &op.yields {
        if let YieldDestination::Scatter { base, .. } = &result.destination {
            layouts.remove(base);
        }
    }
    let is_folded = |node: &ScalarNode| {
        let axis = op.body.as_index(*node);
        axis.is_some_and(|axis| op.axes[axis as usize].kind == AxisKind::Reduction)
    };
    for node in op.body.node_ids() {
        if let NodeData::Element(value, position) = op.body.node(node)
            && let Some(layout) = layouts.get_mut(value)
            && let Some(folded) = position.iter().position(is_folded)
        {
            *layout = PackingLayout::from_dimension(folded, position.len(), layout.format);
        }
    }
}

/// Replaces a constant by words, unless they take as much memory.
fn pack_constant(
    function: &mut TensorFunction,
    block: TensorBlock,
    at: usize,
    layouts: &FxHashMap<TensorValue, PackingLayout>,
    packed: &mut FxHashMap<TensorValue, PackedConstant>,
) {
    let op = &function.block(block).ops[at];
    let (OpKind::Constant(constant), [result]) = (&op.kind, &op.results[..]) else {
        return;
    };
    let (result, Some(layout)) = (*result, layouts.get(result).copied()) else {
        return;
    };
    let sizes = constant.ty.shape.iter();
    let sizes: Vec<usize> = sizes
        .map(|dim| dim.as_static().unwrap_or(0) as usize)
        .collect();
    let size = sizes[layout.dimension];
    if layout.word_count(size) * ScalarType::I32.size() as usize >= size {
        return;
    }
    let constant = pack_words(constant, layout, &sizes);
    let words = function.new_value(constant.ty.clone());
    let op = &mut function.block_mut(block).ops[at];
    op.kind = OpKind::Constant(Box::new(constant));
    op.results = vec![words];
    packed.insert(result, (words, layout));
}

/// The words that have a constant's numbers. The last along a dimension are padded with zeros.
fn pack_words(constant: &TensorConstant, layout: PackingLayout, sizes: &[usize]) -> TensorConstant {
    let inner: usize = sizes[layout.dimension + 1..].iter().product();
    let size = sizes[layout.dimension];
    let long = layout.word_count(size);
    let mut words = vec![0u32; constant.bytes.len() / size * long];
    let PackingFormat { bits, least } = layout.format;
    for (row, numbers) in constant.bytes.chunks_exact(inner).enumerate() {
        let (outer, at) = (row / size, row % size);
        let word = at / layout.period() * layout.apart + at % layout.apart;
        let shift = bits * (at % layout.period() / layout.apart) as u32;
        let first = (outer * long + word) * inner;
        for (word, number) in words[first..first + inner].iter_mut().zip(numbers) {
            *word |= u32::from(number.wrapping_sub(least as u8)) << shift;
        }
    }
    let mut shape = constant.ty.shape.clone();
    shape[layout.dimension] = DimExtent::Static(long as u64);
    TensorConstant {
        ty: DenseTensorType {
            element: ScalarType::I32,
            shape,
        },
        bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
    }
}

/// Replaces reads of packed constants by reads of words.
fn unpack_reads(op: &mut StructuredOp, packed: &FxHashMap<TensorValue, PackedConstant>) {
    let mut body = NodeGraph::default();
    let nodes = body.import_nodes(&op.body, &op.collect_roots(), |body, _, data| match data {
        NodeData::Element(value, position) => {
            let packed = packed.get(value)?;
            Some(unpack_number(body, packed, position))
        }
        _ => None,
    });
    op.body = body;
    let mut nodes = nodes.into_iter();
    op.replace_roots(|_| nodes.next());
}

/// The number at a position of a packed constant.
fn unpack_number(
    body: &mut NodeGraph,
    packed: &PackedConstant,
    position: &[ScalarNode],
) -> ScalarNode {
    let (words, layout) = packed;
    let format = layout.format;
    let index = position[layout.dimension];
    let (apart, period) = (
        body.intern_i64(layout.apart as i64),
        body.intern_i64(layout.period() as i64),
    );
    let full = body.apply_op(ScalarOp::SDiv, &[index, period]);
    let first = body.apply_op(ScalarOp::Mul, &[full, apart]);
    let side = body.apply_op(ScalarOp::SMod, &[index, apart]);
    let mut position = position.to_vec();
    position[layout.dimension] = body.apply_op(ScalarOp::Add, &[first, side]);
    let word = body.intern_element(*words, ScalarType::I32, &position);
    let within = body.apply_op(ScalarOp::SMod, &[index, period]);
    let within = body.apply_op(ScalarOp::SDiv, &[within, apart]);
    let within = body.apply_conversion(ScalarOp::SExt, ScalarType::I32, within);
    let mut i32 = |value: i32| body.intern_literal(ScalarLiteral::from_i32(value));
    let (bits, mask, least) = (
        i32(format.bits as i32),
        i32((1 << format.bits) - 1),
        i32(format.least.into()),
    );
    let shift = body.apply_op(ScalarOp::Mul, &[within, bits]);
    let lower = body.apply_op(ScalarOp::LShr, &[word, shift]);
    let above = body.apply_op(ScalarOp::And, &[lower, mask]);
    let number = body.apply_op(ScalarOp::Add, &[above, least]);
    body.apply_conversion(ScalarOp::SExt, ScalarType::I8, number)
}
