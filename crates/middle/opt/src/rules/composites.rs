//! Simplification of composites: extractions from constructions, insertions and shuffles.

use super::SimplifyRule;
use crate::values::{MOST_COMPONENTS, ModuleValues, SimplifyOutcome};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

pub const RULES: &[(Op, SimplifyRule)] = &[
    (Op::CompositeExtract, simplify_extract),
    (Op::CompositeConstruct, simplify_reconstruction),
    (Op::CompositeConstruct, fold_constant_composite),
    (Op::CompositeConstruct, merge_extracts_to_shuffle),
    (Op::CompositeInsert, simplify_insert),
    (Op::VectorShuffle, simplify_shuffle),
    (Op::VectorExtractDynamic, known_extract),
    (Op::VectorInsertDynamic, known_insert),
];

/// The index of an undefined component in a shuffle.
const UNDEFINED: u32 = u32::MAX;

fn simplify_extract(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let composite = i.id_operand(0);
    let path = &i.operands()[1..];
    let Some((&first, rest)) = path.split_first() else {
        let same = facts.type_of(module, composite) == i.result_type();
        return same.then_some(SimplifyOutcome::Value(composite));
    };
    let source = facts.definition(module, composite)?;
    match source.op() {
        Op::CompositeExtract => {
            let words = [source.operands(), path].concat();
            Some(facts.rewrite_inst(module, inst, Op::CompositeExtract, &words))
        }
        Op::CompositeConstruct => {
            let (part, at) = find_constructed_operand(facts, module, composite, first)?;
            let mut words = vec![part.word()];
            words.extend(at);
            words.extend_from_slice(rest);
            Some(emit_extract(facts, module, inst, part, &words))
        }
        Op::CompositeInsert => {
            let (object, into) = (source.id_operand(0), source.id_operand(1));
            let place = &source.operands()[2..];
            let common = place.iter().zip(path).take_while(|(a, b)| a == b).count();
            if common == place.len() {
                let words = [&[object.word()], &path[common..]].concat();
                return Some(emit_extract(facts, module, inst, object, &words));
            }
            if common == path.len() {
                return None;
            }
            let words = [&[into.word()], path].concat();
            Some(facts.rewrite_inst(module, inst, Op::CompositeExtract, &words))
        }
        Op::VectorShuffle => {
            let (a, b) = (source.id_operand(0), source.id_operand(1));
            let ty = facts.type_of(module, a)?;
            let count = facts.part_count(module, ty)?;
            let component = *source.operands().get(2 + first as usize)?;
            if component == UNDEFINED {
                let ty = i.result_type()?;
                return Some(SimplifyOutcome::Value(facts.intern_constant(
                    module,
                    Op::Undef,
                    ty,
                    &[],
                )));
            }
            let (from, at) = if component < count {
                (a, component)
            } else {
                (b, component - count)
            };
            let words = [from.word(), at];
            Some(facts.rewrite_inst(module, inst, Op::CompositeExtract, &words))
        }
        Op::ConstantComposite | Op::ConstantNull | Op::Undef => {
            let path = path.to_vec();
            let mut value = composite;
            for at in path {
                value = facts.extract_constant_component(module, value, at)?;
            }
            Some(SimplifyOutcome::Value(value))
        }
        _ => None,
    }
}

/// Emits an extraction; the value itself if no indices are left.
fn emit_extract(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
    value: Id,
    words: &[u32],
) -> SimplifyOutcome {
    if words.len() == 1 {
        return SimplifyOutcome::Value(value);
    }
    facts.rewrite_inst(module, inst, Op::CompositeExtract, words)
}

/// The operand of a construction that supplies a member, and the component of it if it is a vector.
fn find_constructed_operand(
    facts: &ModuleValues,
    module: &SpirvModule,
    composite: Id,
    at: u32,
) -> Option<(Id, Option<u32>)> {
    let source = facts.definition(module, composite)?;
    let ty = source.result_type()?;
    if facts.defining_op(module, ty) != Op::TypeVector {
        return Some((source.get_id(at as usize)?, None));
    }
    let mut before = 0;
    for part in source.id_operands(0) {
        let part_type = facts.type_of(module, part)?;
        let count = match facts.def_of(module, part_type, Op::TypeVector) {
            Some(vector) => vector.operand_word(1),
            None => 1,
        };
        if at - before < count {
            let vector = facts.defining_op(module, part_type) == Op::TypeVector;
            return Some((part, vector.then_some(at - before)));
        }
        before += count;
    }
    None
}

/// A composite that is reconstructed from all of its own members is itself.
fn simplify_reconstruction(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let ty = i.result_type()?;
    let first = facts.def_of(module, i.get_id(0)?, Op::CompositeExtract)?;
    let source = first.id_operand(0);
    if facts.type_of(module, source) != Some(ty) || i.operands().len() < 2 {
        return None;
    }
    for (at, part) in i.id_operands(0).enumerate() {
        let part = facts.def_of(module, part, Op::CompositeExtract)?;
        if part.operands() != [source.word(), at as u32] {
            return None;
        }
    }
    (facts.part_count(module, ty) == Some(i.operands().len() as u32))
        .then_some(SimplifyOutcome::Value(source))
}

fn fold_constant_composite(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let ty = i.result_type()?;
    let undefined = i
        .id_operands(0)
        .all(|p| facts.defining_op(module, p) == Op::Undef);
    if undefined && !i.operands().is_empty() {
        return Some(SimplifyOutcome::Value(facts.intern_constant(
            module,
            Op::Undef,
            ty,
            &[],
        )));
    }
    if !i.id_operands(0).all(|p| facts.is_constant(module, p)) {
        return None;
    }
    let parts: Vec<Id> = i.id_operands(0).collect();
    let vector = facts.defining_op(module, ty) == Op::TypeVector;
    let mut words = Vec::new();
    for part in parts {
        let part_type = facts.type_of(module, part)?;
        let count = facts
            .def_of(module, part_type, Op::TypeVector)
            .filter(|_| vector)
            .map(|v| v.operand_word(1));
        match count {
            None => words.push(part.word()),
            Some(count) if count > MOST_COMPONENTS => return None,
            Some(count) => {
                for at in 0..count {
                    words.push(facts.extract_constant_component(module, part, at)?.word());
                }
            }
        }
    }
    let op = Op::ConstantComposite;
    Some(SimplifyOutcome::Value(
        facts.intern_constant(module, op, ty, &words),
    ))
}

/// A construction from components of at most two vectors is a shuffle of them.
fn merge_extracts_to_shuffle(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let ty = i.result_type()?;
    let vector = facts.def_of(module, ty, Op::TypeVector)?;
    if vector.operand_word(1) as usize != i.operands().len() {
        return None;
    }
    let component = vector.id_operand(0);
    let mut sources: Vec<(Id, u32)> = Vec::new();
    let mut parts = Vec::new();
    for part in i.id_operands(0) {
        // If the component has other uses, nothing is gained.
        let taken = facts.def_of(module, part, Op::CompositeExtract)?;
        if taken.operands().len() != 2 || facts.use_count(part) > 1 {
            return None;
        }
        let source = taken.id_operand(0);
        let ty = facts.type_of(module, source)?;
        let of = facts.def_of(module, ty, Op::TypeVector)?;
        if of.id_operand(0) != component {
            return None;
        }
        let count = of.operand_word(1);
        let known = sources.iter().position(|s| s.0 == source);
        let which = known.unwrap_or_else(|| {
            sources.push((source, count));
            sources.len() - 1
        });
        parts.push((which, taken.operand_word(1)));
    }
    let ([(a, count), ..], 1..=2) = (&sources[..], sources.len()) else {
        return None;
    };
    let b = sources.get(1).map_or(*a, |s| s.0);
    let mut words = vec![a.word(), b.word()];
    words.extend(
        parts
            .iter()
            .map(|(which, at)| if *which == 0 { *at } else { at + count }),
    );
    Some(facts.rewrite_inst(module, inst, Op::VectorShuffle, &words))
}

fn simplify_insert(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (object, into, ty) = (i.id_operand(0), i.id_operand(1), i.result_type()?);
    let path = i.operands()[2..].to_vec();
    if path.is_empty() {
        return Some(SimplifyOutcome::Value(object));
    }
    if let Some(taken) = facts.def_of(module, object, Op::CompositeExtract)
        && taken.id_operand(0) == into
        && taken.operands()[1..] == path[..]
    {
        return Some(SimplifyOutcome::Value(into));
    }
    // The second of two insertions at the same position replaces the first.
    if let Some(before) = facts.def_of(module, into, Op::CompositeInsert)
        && before.operands()[2..] == path[..]
    {
        let mut words = vec![object.word(), before.operand_word(1)];
        words.extend_from_slice(&path);
        return Some(facts.rewrite_inst(module, inst, Op::CompositeInsert, &words));
    }
    simplify_complete_insertions(facts, module, inst, ty)
}

/// Insertions of all members are a construction.
fn simplify_complete_insertions(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
    ty: Id,
) -> Option<SimplifyOutcome> {
    let count = facts.part_count(module, ty).filter(|c| *c <= 16)? as usize;
    let mut parts: Vec<Option<Id>> = vec![None; count];
    let mut at = module.inst(inst);
    let mut missing = count;
    for _ in 0..2 * count {
        if at.op() == Op::CompositeInsert {
            let [_, _, index] = at.operands() else {
                return None;
            };
            let part = parts.get_mut(*index as usize)?;
            missing -= usize::from(part.is_none());
            part.get_or_insert(at.id_operand(0));
        } else {
            return None;
        }
        if missing == 0 {
            break;
        }
        let into = at.id_operand(1);
        let next = facts.definition(module, into)?;
        match next.op() {
            // If the composite has other uses, nothing is gained.
            Op::CompositeInsert if facts.use_count(into) == 1 => at = next,
            Op::CompositeConstruct if facts.use_count(into) == 1 => {
                if next.operands().len() != count {
                    return None;
                }
                for (part, known) in parts.iter_mut().zip(next.id_operands(0)) {
                    part.get_or_insert(known);
                }
                break;
            }
            _ => return None,
        }
    }
    // Some member may still be missing.
    let words: Option<Vec<u32>> = parts.into_iter().map(|p| p.map(Id::word)).collect();
    Some(facts.rewrite_inst(module, inst, Op::CompositeConstruct, &words?))
}

fn simplify_shuffle(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b, ty) = (i.id_operand(0), i.id_operand(1), i.result_type()?);
    let components = i.operands()[2..].to_vec();
    let a_type = facts.type_of(module, a)?;
    let count = facts.part_count(module, a_type)?;
    let in_order = |c: &[u32], from: u32| (from..).zip(c).all(|(at, c)| at == *c);
    if a_type == ty && in_order(&components, 0) {
        return Some(SimplifyOutcome::Value(a));
    }
    if facts.type_of(module, b) == Some(ty) && in_order(&components, count) {
        return Some(SimplifyOutcome::Value(b));
    }
    // Both operands are constants.
    if facts.is_constant(module, a) && facts.is_constant(module, b) {
        let mut words = Vec::new();
        for c in components {
            let (from, at) = match c {
                UNDEFINED => (a, 0),
                c if c < count => (a, c),
                c => (b, c - count),
            };
            words.push(facts.extract_constant_component(module, from, at)?.word());
        }
        let op = Op::ConstantComposite;
        return Some(SimplifyOutcome::Value(
            facts.intern_constant(module, op, ty, &words),
        ));
    }
    merge_shuffles(facts, module, inst, &components)
}

/// A shuffle of shuffles is one shuffle if two vectors suffice.
fn merge_shuffles(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
    components: &[u32],
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (a, b) = (i.id_operand(0), i.id_operand(1));
    let count = facts.part_count(module, facts.type_of(module, a)?)?;
    let is_shuffle = |id| facts.defining_op(module, id) == Op::VectorShuffle;
    if !is_shuffle(a) && !is_shuffle(b) {
        return None;
    }
    let mut sources: Vec<Id> = Vec::new();
    let mut found = Vec::new();
    for component in components {
        let (mut from, mut at) = match *component {
            UNDEFINED => {
                found.push((0, UNDEFINED));
                continue;
            }
            c if c < count => (a, c),
            c => (b, c - count),
        };
        if let Some(inner) = facts.def_of(module, from, Op::VectorShuffle) {
            let (x, y) = (inner.id_operand(0), inner.id_operand(1));
            let width = facts.part_count(module, facts.type_of(module, x)?)?;
            let c = *inner.operands().get(2 + at as usize)?;
            (from, at) = match c {
                UNDEFINED => {
                    found.push((0, UNDEFINED));
                    continue;
                }
                c if c < width => (x, c),
                c => (y, c - width),
            };
        }
        let known = sources.iter().position(|s| *s == from);
        let which = known.unwrap_or_else(|| {
            sources.push(from);
            sources.len() - 1
        });
        found.push((which, at));
    }
    if sources.is_empty() || sources.len() > 2 {
        return None;
    }
    let first = sources[0];
    let width = facts.part_count(module, facts.type_of(module, first)?)?;
    let mut words = vec![first.word(), sources.last().copied()?.word()];
    words.extend(found.iter().map(|(which, at)| match (which, *at) {
        (_, UNDEFINED) => UNDEFINED,
        (0, at) => at,
        (_, at) => at + width,
    }));
    Some(facts.rewrite_inst(module, inst, Op::VectorShuffle, &words))
}

fn known_extract(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (vector, index) = (i.id_operand(0), i.id_operand(1));
    let at = facts.scalar_constant_bits(module, index)?.bits;
    let count = facts.part_count(module, facts.type_of(module, vector)?)?;
    let words = [vector.word(), at as u32];
    (at < u64::from(count)).then(|| facts.rewrite_inst(module, inst, Op::CompositeExtract, &words))
}

fn known_insert(
    facts: &mut ModuleValues,
    module: &mut SpirvModule,
    inst: Inst,
) -> Option<SimplifyOutcome> {
    let i = module.inst(inst);
    let (vector, object, index) = (i.id_operand(0), i.id_operand(1), i.id_operand(2));
    let at = facts.scalar_constant_bits(module, index)?.bits;
    let count = facts.part_count(module, facts.type_of(module, vector)?)?;
    let words = [object.word(), vector.word(), at as u32];
    (at < u64::from(count)).then(|| facts.rewrite_inst(module, inst, Op::CompositeInsert, &words))
}
