//! Record accesses: neighbouring elements that each lane loads or stores, such as the components of a complex number or of a
//! vector.
//!
//! The records of all lanes are loaded as vectors and transposed, so that each element of the record has vectors of lanes. Stores
//! are the reverse. Only elements that all lanes access are touched.

use super::lane_layout::{LaneLayout, LaneValues};
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::{Inst, InstBuilder, Opcode, Type, Value, types};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Most instructions after the first access of a record that are searched for the others.
const WINDOW: usize = 64;
/// Bytes of a vector.
const BYTES: i64 = 16;

/// The accesses of a record, one for each element in the order of addresses.
type RecordElements = SmallVec<[Inst; 4]>;

/// Records of the function that is rewritten.
#[derive(Default)]
pub(super) struct RecordAccesses {
    /// Accesses that others make.
    done: FxHashSet<Inst>,
    /// The records that are stored, by the last store of each in the order of the code.
    stores: FxHashMap<Inst, (RecordShape, RecordElements)>,
}

/// The memory of a record and its elements.
#[derive(Clone, Copy, Debug)]
struct RecordShape {
    address: Value,
    offset: i64,
    /// Distance of the records of neighbouring lanes in bytes.
    stride: i64,
    /// The vectors of an element.
    vector: Type,
    /// Number of elements.
    count: usize,
}

impl RecordShape {
    /// Offsets of the vectors that have the records of as many lanes as a vector has, from lane `first` on.
    fn vector_offsets(&self, first: usize) -> impl Iterator<Item = i32> + use<> {
        let lanes = self.vector.lane_count() as usize;
        let size = self.count as i64 * i64::from(self.vector.lane_type().bytes());
        // Short records lie next to each other, several in a vector.
        let step = if size == BYTES { self.stride } else { BYTES };
        let begin = self.offset + first as i64 * self.stride;
        let vectors = self.count.min(lanes) as i64;
        (0..vectors).map(move |n| (begin + n * step) as i32)
    }
}

impl GangVectoriser<'_> {
    /// Rewrites an access that belongs to a record, or that has been made with one. Returns false for any other.
    pub(super) fn rewrite_record_access(&mut self, inst: Inst) -> bool {
        if self.records.done.contains(&inst) {
            return true;
        }
        if let Some(elements) = self.records.stores.remove(&inst) {
            self.store_records(elements.0, &elements.1);
            return true;
        }
        let Some((shape, elements)) = self.find_record(inst) else {
            return false;
        };
        if self.opcode(inst) == Opcode::Load {
            self.records.done.extend(&elements);
            self.load_records(shape, &elements);
            return true;
        }
        // The values of the others are not known yet.
        let last = self.last_in_code(inst, &elements);
        self.records
            .done
            .extend(elements.iter().filter(|at| **at != last));
        self.records.stores.insert(last, (shape, elements));
        true
    }

    /// The record whose first element an instruction accesses, with the accesses of all elements.
    fn find_record(&self, inst: Inst) -> Option<(RecordShape, RecordElements)> {
        let vector = self.record_vector(inst)?;
        let address = self.access_address(inst);
        let LaneLayout::Base(_) = self.lane_layout(address) else {
            return None;
        };
        let stride = self.lane_stride(address);
        let bytes = i64::from(vector.lane_type().bytes());
        let offset = i64::from(self.old.dfg.insts[inst].load_store_offset()?);
        let mut others: FxHashMap<i64, Inst> = FxHashMap::default();
        let is_load = self.opcode(inst) == Opcode::Load;
        let mut next = self.old.layout.next_inst(inst);
        for _ in 0..WINDOW {
            let Some(at) = next.filter(|at| self.may_be_passed(*at, is_load)) else {
                break;
            };
            let is_same = self.opcode(at) == self.opcode(inst)
                && self.record_vector(at) == Some(vector)
                && self.access_address(at) == address;
            if is_same {
                let place = self.old.dfg.insts[at].load_store_offset().unwrap_or(0);
                others.entry(i64::from(place) - offset).or_insert(at);
            } else if !is_load && self.opcode(at).can_store() {
                break;
            }
            next = self.old.layout.next_inst(at);
        }
        let counts = [BYTES / bytes, 2].into_iter();
        let mut counts = counts.filter(|count| {
            let size = count * bytes;
            stride == size || (size == BYTES && stride.abs() > size)
        });
        let farthest = stride
            .checked_mul(self.width() as i64)?
            .checked_add(offset)?;
        i32::try_from(farthest).ok()?;
        counts.find_map(|count| {
            let rest = (1..count).map(|n| others.get(&(n * bytes)).copied());
            let elements: Option<RecordElements> =
                std::iter::once(Some(inst)).chain(rest).collect();
            let shape = RecordShape {
                address,
                offset,
                stride,
                vector,
                count: count as usize,
            };
            Some((shape, elements?))
        })
    }

    /// The vectors of the element that an instruction accesses, if records may have such.
    fn record_vector(&self, inst: Inst) -> Option<Type> {
        if self.variance.frame_slot(inst).is_some() {
            return None;
        }
        let value = match self.opcode(inst) {
            Opcode::Load => self.old.dfg.first_result(inst),
            Opcode::Store => self.old.dfg.inst_args(inst)[0],
            _ => return None,
        };
        let is_load = self.opcode(inst) == Opcode::Load;
        let vector = super::lane_layout::vector_of(self.old.dfg.value_type(value))?;
        match self.lane_layout(value) {
            LaneLayout::Parts(held) if held == vector => Some(vector),
            LaneLayout::Base(_) if !is_load && self.lane_stride(value) == 0 => Some(vector),
            _ => None,
        }
    }

    fn access_address(&self, inst: Inst) -> Value {
        let args = self.old.dfg.inst_args(inst);
        let address = args[args.len() - 1];
        self.old.dfg.resolve_aliases(address)
    }

    /// Whether a later load may be made before an instruction, or an earlier store after it.
    fn may_be_passed(&self, inst: Inst, is_load: bool) -> bool {
        let opcode = self.opcode(inst);
        let is_plain = !opcode.is_terminator() && !opcode.is_call();
        if is_load {
            return is_plain && !opcode.can_store() && !opcode.other_side_effects();
        }
        let is_store = opcode == Opcode::Store;
        is_plain
            && (is_store
                || !(opcode.can_load() || opcode.can_trap() || opcode.other_side_effects()))
    }

    /// The last of some instructions of a block in the order of the code, of which `first` is the first.
    fn last_in_code(&self, first: Inst, elements: &[Inst]) -> Inst {
        let (mut last, mut next) = (first, Some(first));
        for _ in 0..=WINDOW {
            let Some(at) = next else { break };
            if elements.contains(&at) {
                last = at;
            }
            next = self.old.layout.next_inst(at);
        }
        last
    }

    /// Loads the records of all lanes.
    fn load_records(&mut self, shape: RecordShape, elements: &[Inst]) {
        let base = self.get_lane_values(shape.address)[0];
        let flags = self.vector_flags(elements[0]);
        let mut columns = vec![LaneValues::new(); elements.len()];
        for first in (0..self.width()).step_by(shape.vector.lane_count() as usize) {
            let rows = shape
                .vector_offsets(first)
                .map(|at| self.builder.ins().load(shape.vector, flags, base, at));
            let rows: LaneValues = rows.collect();
            let parts = self.transpose_vectors(&rows, true);
            for (column, part) in columns.iter_mut().zip(parts) {
                column.push(part);
            }
        }
        for (inst, held) in elements.iter().zip(columns) {
            let result = self.old.dfg.first_result(*inst);
            self.set_lane_values(result, &held);
        }
    }

    /// Stores the records of all lanes.
    fn store_records(&mut self, shape: RecordShape, elements: &[Inst]) {
        let base = self.get_lane_values(shape.address)[0];
        let flags = self.vector_flags(elements[0]);
        let columns = elements.iter().map(|inst| {
            let value = self.old.dfg.inst_args(*inst)[0];
            self.extract_vectors(value, shape.vector)
        });
        let columns: Vec<LaneValues> = columns.collect();
        let lanes = shape.vector.lane_count() as usize;
        for (part, first) in (0..self.width()).step_by(lanes).enumerate() {
            let values: LaneValues = columns.iter().map(|column| column[part]).collect();
            let rows = self.transpose_vectors(&values, false);
            for (row, at) in rows.iter().zip(shape.vector_offsets(first)) {
                self.builder.ins().store(flags, *row, base, at);
            }
        }
    }

    /// Transposes as many vectors as a vector has lanes; separates the pairs that two vectors of four lanes have in order, or
    /// joins them.
    fn transpose_vectors(&mut self, rows: &[Value], separates: bool) -> LaneValues {
        let lanes = self.builder.func.dfg.value_type(rows[0]).lane_count();
        let words: &[[u8; 4]] = match (rows.len(), lanes) {
            (2, 4) if separates => &[[0, 2, 4, 6], [1, 3, 5, 7]],
            (2, 4) | (4, _) => &[[0, 4, 1, 5], [2, 6, 3, 7]],
            _ => &[[0, 1, 4, 5], [2, 3, 6, 7]],
        };
        if let [a, b] = *rows {
            return words
                .iter()
                .map(|order| self.shuffle_words(a, b, *order))
                .collect();
        }
        let halves: LaneValues = rows
            .chunks_exact(2)
            .flat_map(|pair| [(pair[0], pair[1], words[0]), (pair[0], pair[1], words[1])])
            .map(|(a, b, order)| self.shuffle_words(a, b, order))
            .collect();
        let [low, high, other_low, other_high] = halves[..] else {
            return halves;
        };
        let pairs = [(low, other_low), (high, other_high)];
        let orders = [[0, 1, 4, 5], [2, 3, 6, 7]];
        pairs
            .into_iter()
            .flat_map(|(a, b)| orders.map(|order| (a, b, order)))
            .map(|(a, b, order)| self.shuffle_words(a, b, order))
            .collect()
    }

    /// The words of 32 bits of two vectors with some numbers; those of the second begin at 4.
    fn shuffle_words(&mut self, a: Value, b: Value, words: [u8; 4]) -> Value {
        let ty = self.builder.func.dfg.value_type(a);
        let bytes = words.map(|word| [0, 1, 2, 3].map(|byte| 4 * word + byte));
        let order = bytes.concat();
        let order = self.builder.func.dfg.immediates.push(order[..].into());
        let [a, b] = [a, b].map(|vector| self.bitcast_vector(types::I8X16, vector));
        let both = self.builder.ins().shuffle(a, b, order);
        self.bitcast_vector(ty, both)
    }
}
