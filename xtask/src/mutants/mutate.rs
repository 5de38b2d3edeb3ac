//! Mutations: one random damage to a module.

use spirula_spirv::binary::{InstructionStream, SpirvHeader};
use spirula_spirv::grammar::{Kind, Op, OperandCategory, OperandIter, all_instructions};

/// A generator of random numbers: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, 0 for 0.
    pub fn next_below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    fn pick_item<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.next_below(from.len())).copied()
    }
}

/// A module as a list of instructions, each with its first word.
struct Parts {
    header: [u32; 5],
    insts: Vec<Vec<u32>>,
}

type Change = fn(&mut Parts, &mut Random) -> Option<()>;

const CHANGES: &[(&str, Change)] = &[
    ("operand, any id", operand_any),
    ("operand, id of same type", operand_alike),
    ("result type", result_type),
    ("literal or enumerant", mutate_literal),
    ("opcode", mutate_opcode),
    ("swapped neighbours", swap_instructions),
    ("left out", leave_out),
    ("repeated", repeat_instruction),
    ("moved", relocate_instruction),
    ("branch to elsewhere", redirect_branch),
    ("blocks in other order", swap_blocks),
    ("merge left out", remove_merge),
    ("capability left out", remove_capability),
    ("decoration changed", mutate_annotation),
    ("type changed", type_operand),
    ("bit of a word", flip_bit),
];

/// A mutant and the name of its change.
pub fn make_mutant(words: &[u32], random: &mut Random) -> (&'static str, Vec<u32>) {
    loop {
        let Some((name, change)) = random.pick_item(CHANGES) else {
            continue;
        };
        let mut parts = Parts::split_words(words);
        if change(&mut parts, random).is_some() {
            let mutant = parts.join_words();
            if mutant != words {
                return (name, mutant);
            }
        }
    }
}

impl Parts {
    fn split_words(words: &[u32]) -> Self {
        let mut header = [0; 5];
        header.copy_from_slice(&words[..SpirvHeader::WORDS]);
        let insts = InstructionStream::new(words).flatten();
        let insts = insts.map(|i| {
            let mut all = vec![(i.words.len() as u32 + 1) << 16 | u32::from(i.op.0)];
            all.extend_from_slice(i.words);
            all
        });
        Parts {
            header,
            insts: insts.collect(),
        }
    }

    fn join_words(&self) -> Vec<u32> {
        let mut words = self.header.to_vec();
        words.extend(self.insts.iter().flatten());
        words
    }

    /// Picks a random instruction that satisfies a condition.
    fn pick_instruction(
        &self,
        random: &mut Random,
        holds: impl Fn(&[u32]) -> bool,
    ) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.insts.len())
            .filter(|n| holds(&self.insts[*n]))
            .collect();
        random.pick_item(&fitting)
    }

    /// Result ids of the instructions that satisfy a condition.
    fn collect_result_ids(&self, holds: impl Fn(&[u32]) -> bool) -> Vec<u32> {
        let fitting = self.insts.iter().filter(|i| holds(i));
        fitting.filter_map(|i| result_id_of(i)).collect()
    }
}

fn opcode_of(inst: &[u32]) -> Op {
    Op(inst[0] as u16)
}

fn result_id_of(inst: &[u32]) -> Option<u32> {
    use spirula_spirv::grammar::ResultForm;
    match opcode_of(inst).result_form() {
        ResultForm::None => None,
        ResultForm::Untyped => inst.get(1).copied(),
        ResultForm::Typed => inst.get(2).copied(),
    }
}

fn type_id_of(inst: &[u32]) -> Option<u32> {
    use spirula_spirv::grammar::ResultForm;
    (opcode_of(inst).result_form() == ResultForm::Typed).then(|| inst[1])
}

/// Positions of the words of an instruction whose kind satisfies a condition.
fn operand_positions(inst: &[u32], holds: impl Fn(Kind) -> bool) -> Vec<usize> {
    let operands = OperandIter::new(opcode_of(inst), &inst[1..]).map_while(Result::ok);
    operands
        .filter(|o| holds(o.kind))
        .map(|o| o.at + 1)
        .collect()
}

fn is_used_id(kind: Kind) -> bool {
    kind.info().category == OperandCategory::Id
        && !matches!(kind, Kind::IdResult | Kind::IdResultType)
}

fn is_code(inst: &[u32]) -> bool {
    use spirula_spirv::grammar::InstructionClass;
    opcode_of(inst).info().is_some_and(|i| {
        !matches!(
            i.class,
            InstructionClass::Debug | InstructionClass::Annotation | InstructionClass::ModeSetting
        )
    })
}

fn operand_any(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let ids = parts.collect_result_ids(|_| true);
    replace_id(parts, random, &ids)
}

fn replace_id(parts: &mut Parts, random: &mut Random, ids: &[u32]) -> Option<()> {
    let at = parts.pick_instruction(random, |i| {
        is_code(i) && !operand_positions(i, is_used_id).is_empty()
    })?;
    let word = random.pick_item(&operand_positions(&parts.insts[at], is_used_id))?;
    parts.insts[at][word] = random.pick_item(ids)?;
    Some(())
}

fn operand_alike(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = parts.pick_instruction(random, |i| {
        is_code(i) && !operand_positions(i, is_used_id).is_empty()
    })?;
    let word = random.pick_item(&operand_positions(&parts.insts[at], is_used_id))?;
    let old = parts.insts[at][word];
    let known = parts.insts.iter().find(|i| result_id_of(i) == Some(old))?;
    let (own_ty, own_op) = (type_id_of(known), opcode_of(known));
    let ids = parts.collect_result_ids(|i| {
        type_id_of(i) == own_ty && (own_ty.is_some() || opcode_of(i) == own_op)
    });
    parts.insts[at][word] = random.pick_item(&ids)?;
    Some(())
}

fn is_type(inst: &[u32]) -> bool {
    use spirula_spirv::grammar::InstructionClass;
    opcode_of(inst)
        .info()
        .is_some_and(|i| i.class == InstructionClass::TypeDeclaration)
}

fn result_type(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let types = parts.collect_result_ids(is_type);
    let at = parts.pick_instruction(random, |i| type_id_of(i).is_some())?;
    parts.insts[at][1] = random.pick_item(&types)?;
    Some(())
}

fn change_value(inst: &mut [u32], word: usize, kind: Kind, random: &mut Random) -> Option<()> {
    let info = kind.info();
    inst[word] = match info.category {
        OperandCategory::ValueEnum | OperandCategory::BitEnum => {
            let same: Vec<u32> = info
                .enumerants
                .iter()
                .filter(|e| e.parameters.is_empty())
                .map(|e| e.value)
                .collect();
            random.pick_item(&same)?
        }
        _ => match random.next_below(4) {
            0 => random.next_below(5) as u32,
            1 => inst[word].wrapping_add(1),
            2 => inst[word].wrapping_sub(1),
            _ => 1 << random.next_below(32),
        },
    };
    Some(())
}

fn is_value(kind: Kind) -> bool {
    matches!(
        kind.info().category,
        OperandCategory::ValueEnum | OperandCategory::BitEnum
    ) || matches!(
        kind,
        Kind::LiteralInteger | Kind::LiteralContextDependentNumber
    )
}

fn mutate_literal(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = parts.pick_instruction(random, |i| {
        is_code(i) && !operand_positions(i, is_value).is_empty()
    })?;
    change_literal(parts, random, at)
}

fn change_literal(parts: &mut Parts, random: &mut Random, at: usize) -> Option<()> {
    let inst = &mut parts.insts[at];
    let word = random.pick_item(&operand_positions(inst, is_value))?;
    let kind = OperandIter::new(opcode_of(inst), &inst[1..])
        .map_while(Result::ok)
        .find(|o| o.at + 1 == word)?
        .kind;
    change_value(inst, word, kind, random)
}

fn mutate_opcode(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = parts.pick_instruction(random, is_code)?;
    let row = opcode_of(&parts.insts[at]).info()?;
    let alike: Vec<Op> = all_instructions()
        .iter()
        .filter(|i| {
            i.class == row.class
                && i.op != row.op
                && i.result == row.result
                && i.operands.len() == row.operands.len()
                && i.operands
                    .iter()
                    .zip(row.operands)
                    .all(|(a, b)| a.kind == b.kind)
        })
        .map(|i| i.op)
        .collect();
    let new = random.pick_item(&alike)?;
    let inst = &mut parts.insts[at];
    inst[0] = inst[0] & 0xffff_0000 | u32::from(new.0);
    Some(())
}

fn swap_instructions(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = random.next_below(parts.insts.len().checked_sub(1)?);
    parts.insts.swap(at, at + 1);
    Some(())
}

fn leave_out(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = random.next_below(parts.insts.len());
    parts.insts.remove(at);
    Some(())
}

fn repeat_instruction(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = random.next_below(parts.insts.len());
    let mut copy = parts.insts.get(at)?.clone();
    if random.next_below(2) == 0
        && let Some(own) = result_id_of(&copy)
    {
        let word = copy.iter().skip(1).position(|w| *w == own)? + 1;
        copy[word] = parts.header[3];
        parts.header[3] += 1;
    }
    parts.insts.insert(at + 1, copy);
    Some(())
}

fn relocate_instruction(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let from = random.next_below(parts.insts.len());
    let inst = parts.insts.remove(from);
    // Half of the time the new place is near, where the instruction may still be valid.
    let to = if random.next_below(2) == 0 {
        (from + random.next_below(8))
            .saturating_sub(4)
            .min(parts.insts.len())
    } else {
        random.next_below(parts.insts.len() + 1)
    };
    parts.insts.insert(to, inst);
    Some(())
}

/// Range of the function around an instruction.
fn function_around(parts: &Parts, at: usize) -> Option<std::ops::Range<usize>> {
    let begin = (0..=at)
        .rev()
        .find(|n| opcode_of(&parts.insts[*n]) == Op::Function)?;
    let end = (at..parts.insts.len()).find(|n| opcode_of(&parts.insts[*n]) == Op::FunctionEnd)?;
    Some(begin..end + 1)
}

fn redirect_branch(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let goes = |i: &[u32]| {
        matches!(
            opcode_of(i),
            Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::LoopMerge
                | Op::SelectionMerge
                | Op::Phi
        )
    };
    let at = parts.pick_instruction(random, goes)?;
    let range = function_around(parts, at)?;
    let labels: Vec<u32> = parts.insts[range]
        .iter()
        .filter(|i| opcode_of(i) == Op::Label)
        .filter_map(|i| result_id_of(i))
        .collect();
    let inst = &mut parts.insts[at];
    let places: Vec<usize> = (1..inst.len())
        .filter(|n| labels.contains(&inst[*n]))
        .collect();
    let word = random.pick_item(&places)?;
    inst[word] = random.pick_item(&labels)?;
    Some(())
}

fn swap_blocks(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = parts.pick_instruction(random, |i| opcode_of(i) == Op::Label)?;
    let range = function_around(parts, at)?;
    let mut begins: Vec<usize> = range
        .clone()
        .filter(|n| opcode_of(&parts.insts[*n]) == Op::Label)
        .collect();
    begins.push(range.end - 1);
    if begins.len() < 3 {
        return None;
    }
    let n = random.next_below(begins.len() - 2);
    let second: Vec<_> = parts.insts.drain(begins[n + 1]..begins[n + 2]).collect();
    parts.insts.splice(begins[n]..begins[n], second);
    Some(())
}

fn remove_merge(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = parts.pick_instruction(random, |i| {
        matches!(opcode_of(i), Op::LoopMerge | Op::SelectionMerge)
    })?;
    parts.insts.remove(at);
    Some(())
}

fn remove_capability(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = parts.pick_instruction(random, |i| {
        matches!(opcode_of(i), Op::Capability | Op::Extension)
    })?;
    parts.insts.remove(at);
    Some(())
}

fn mutate_annotation(parts: &mut Parts, random: &mut Random) -> Option<()> {
    use spirula_spirv::grammar::InstructionClass;
    let at = parts.pick_instruction(random, |i| {
        opcode_of(i).info().is_some_and(|r| {
            matches!(
                r.class,
                InstructionClass::Annotation | InstructionClass::ModeSetting
            )
        })
    })?;
    match random.next_below(3) {
        0 => {
            parts.insts.remove(at);
            Some(())
        }
        1 => change_literal(parts, random, at),
        _ => {
            let ids = parts.collect_result_ids(|_| true);
            let word = random.pick_item(&operand_positions(&parts.insts[at], is_used_id))?;
            parts.insts[at][word] = random.pick_item(&ids)?;
            Some(())
        }
    }
}

fn type_operand(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = parts.pick_instruction(random, |i| is_type(i) && i.len() > 2)?;
    if random.next_below(2) == 0 {
        return change_literal(parts, random, at);
    }
    let types = parts.collect_result_ids(is_type);
    let word = random.pick_item(&operand_positions(&parts.insts[at], is_used_id))?;
    parts.insts[at][word] = random.pick_item(&types)?;
    Some(())
}

fn flip_bit(parts: &mut Parts, random: &mut Random) -> Option<()> {
    let at = random.next_below(parts.insts.len());
    let word = random.next_below(parts.insts[at].len());
    parts.insts[at][word] ^= 1 << random.next_below(32);
    Some(())
}
