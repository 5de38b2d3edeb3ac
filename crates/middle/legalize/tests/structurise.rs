//! The structuriser on graphs made at random, irreducible ones among them: what comes out is valid
//! and leaves the same trace.

use proptest::prelude::*;
use spirula_legalize::structurise_module;
use spirula_spirv::analysis::{BlockDominators, FlowGraph, IdDefinitions};
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, Capability, ExecutionMode, ExecutionModel, FunctionControl, MemoryModel,
    StorageClass,
};
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::target::SpirvTarget;
use spirula_spirv::{Id, IdMap, verify};
use spirula_testing::SpirvValTool;

/// The end of a block, its targets as numbers of blocks.
#[derive(Clone, Debug, PartialEq)]
enum RandomBlockEnd {
    Return,
    Branch(usize),
    Choice(usize, usize),
    Switch(Vec<usize>),
}

impl RandomBlockEnd {
    fn targets(&self) -> Vec<usize> {
        match self {
            RandomBlockEnd::Return => Vec::new(),
            RandomBlockEnd::Branch(to) => vec![*to],
            RandomBlockEnd::Choice(a, b) => vec![*a, *b],
            RandomBlockEnd::Switch(all) => all.clone(),
        }
    }
}

fn end(blocks: usize) -> impl Strategy<Value = RandomBlockEnd> {
    let to = 1..blocks;
    prop_oneof![
        1 => Just(RandomBlockEnd::Return),
        3 => to.clone().prop_map(RandomBlockEnd::Branch),
        6 => (to.clone(), to.clone()).prop_map(|(a, b)| RandomBlockEnd::Choice(a, b)),
        1 => prop::collection::vec(to, 2..4).prop_map(RandomBlockEnd::Switch),
    ]
}

fn graphs() -> impl Strategy<Value = Vec<RandomBlockEnd>> {
    (2_usize..12).prop_flat_map(|n| prop::collection::vec(end(n), n))
}

/// A shader with this graph. Each block logs its number, a value that depends on the way there, and
/// a value of the block that dominates it, and asks for a number to choose its successor.
fn shader(ends: &[RandomBlockEnd], above: &[Option<u32>]) -> SpirvModule {
    let mut b = SpirvBuilder::new(SpirvVersion::new(1, 6));
    b.declare_capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let (void, uint, truth) = (b.void_type(), b.int_type(32, false), b.bool_type());
    let pointer = b.pointer_type(StorageClass::Private, uint);
    let log = b.global_variable(pointer, StorageClass::Private, None);
    let asked = b.global_variable(pointer, StorageClass::Private, None);
    let ty = b.function_type(void, &[]);
    let main = b.fresh_id();
    b.entry_point(ExecutionModel::GLCompute, main, "main", &[log, asked]);
    b.execution_mode(main, ExecutionMode::LocalSize, &[1, 1, 1]);
    let zero = b.constant_u32(0);
    b.begin_function(main, void, FunctionControl::None, ty);
    let labels: Vec<Id> = ends.iter().map(|_| b.fresh_id()).collect();
    let values: Vec<Id> = ends.iter().map(|_| b.fresh_id()).collect();
    for (at, end) in ends.iter().enumerate() {
        b.begin_block(labels[at]);
        let leads_here = |from: &usize| ends[*from].targets().contains(&at);
        let from: Vec<usize> = (0..ends.len()).filter(leads_here).collect();
        let way = if from.is_empty() {
            zero
        } else {
            let (id, phi) = b.append_phi(uint);
            let pairs = from
                .iter()
                .flat_map(|f| [values[*f].word(), labels[*f].word()]);
            b.set_phi(phi, &pairs.collect::<Vec<_>>());
            id
        };
        let number = b.constant_u32(at as u32 * 7 + 1);
        b.define_value(values[at], Op::IAdd, uint, &[way.word(), number.word()]);
        b.append_effect(Op::Store, &[log.word(), number.word()]);
        b.append_effect(Op::Store, &[log.word(), values[at].word()]);
        if let Some(above) = above[at] {
            b.append_effect(Op::Store, &[log.word(), values[above as usize].word()]);
        }
        if *end == RandomBlockEnd::Return {
            b.append_effect(Op::Return, &[]);
            continue;
        }
        let choice = b.append_value(Op::Load, uint, &[asked.word()]);
        match end {
            RandomBlockEnd::Return => {}
            RandomBlockEnd::Branch(to) => b.append_effect(Op::Branch, &[labels[*to].word()]),
            RandomBlockEnd::Choice(yes, no) => {
                let one = b.constant_u32(1);
                let bit = b.append_value(Op::BitwiseAnd, uint, &[choice.word(), one.word()]);
                let is = b.append_value(Op::IEqual, truth, &[bit.word(), zero.word()]);
                let words = [is, labels[*yes], labels[*no]].map(Id::word);
                b.append_effect(Op::BranchConditional, &words);
            }
            RandomBlockEnd::Switch(all) => {
                let three = b.constant_u32(3);
                let low = b.append_value(Op::BitwiseAnd, uint, &[choice.word(), three.word()]);
                let mut words = vec![low.word(), labels[all[0]].word()];
                for (case, to) in all.iter().enumerate().skip(1) {
                    words.extend([case as u32, labels[*to].word()]);
                }
                b.append_effect(Op::Switch, &words);
            }
        }
    }
    b.end_function();
    b.into_module()
}

/// The same graph with a dominating value used in each block.
fn tangled(ends: &[RandomBlockEnd]) -> SpirvModule {
    let plain = shader(ends, &vec![None; ends.len()]);
    let func = plain.functions()[0];
    let cfg = FlowGraph::from_function(&plain, &IdDefinitions::from_module(&plain), func).unwrap();
    let dominators = BlockDominators::from_cfg(&cfg);
    let above = (0..ends.len() as u32).map(|at| dominators.immediate_dominator(at));
    shader(ends, &above.collect::<Vec<_>>())
}

/// The log of a shader until it ends or has logged enough, its questions answered by a generator.
fn trace(module: &SpirvModule, seed: u32) -> Vec<u32> {
    let definitions = IdDefinitions::from_module(module);
    let func = module.functions()[0];
    let cfg = FlowGraph::from_function(module, &definitions, func).unwrap();
    let names: Vec<Id> = module
        .section_insts(spirula_spirv::ir::ModuleSection::Globals)
        .filter(|i| i.op() == Op::Variable)
        .filter_map(|i| i.result())
        .collect();
    let mut memory: IdMap<u32> = IdMap::new(module.bound(), 0);
    let mut value: IdMap<u32> = IdMap::new(module.bound(), 0);
    for inst in module.section_insts(spirula_spirv::ir::ModuleSection::Globals) {
        if inst.op() == Op::Constant {
            value.set(inst.result().unwrap(), inst.operand_word(0));
        }
    }
    let (mut log, mut state) = (Vec::new(), seed);
    let (mut at, mut from) = (0, Id::MAX);
    for _ in 0..4000 {
        let block = cfg.block(at);
        let label = module.label(block);
        let phis: Vec<(Id, u32)> = module
            .phis(block)
            .map(|p| {
                let from = module
                    .phi_value(p.handle(), from)
                    .expect("a value for each edge");
                (p.result().unwrap(), value[from])
            })
            .collect();
        for (id, new) in phis {
            value.set(id, new);
        }
        let mut next = None;
        for inst in module.body(block) {
            let v = |n| value[inst.id_operand(n)];
            let new = match inst.op() {
                Op::Load if inst.id_operand(0) == names[1] => {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    state >> 13
                }
                Op::Load => memory[inst.id_operand(0)],
                Op::IAdd => v(0).wrapping_add(v(1)),
                Op::BitwiseAnd => v(0) & v(1),
                Op::IEqual => u32::from(v(0) == v(1)),
                Op::Store => {
                    if inst.id_operand(0) == names[0] {
                        log.push(v(1));
                    }
                    memory.set(inst.id_operand(0), v(1));
                    continue;
                }
                Op::Branch => {
                    next = Some(inst.id_operand(0));
                    continue;
                }
                Op::BranchConditional => {
                    next = Some(inst.id_operand(if v(0) == 1 { 1 } else { 2 }));
                    continue;
                }
                Op::Switch => {
                    let cases = spirula_spirv::ir::switch_cases(inst, 1);
                    let mut cases = cases.filter(|c| c.0 == u64::from(v(0)));
                    next = Some(cases.next().map_or(inst.id_operand(1), |c| c.1));
                    continue;
                }
                Op::Unreachable => panic!("what cannot be reached is"),
                _ => continue,
            };
            value.set(inst.result().unwrap(), new);
        }
        let Some(next) = next.filter(|_| log.len() < 200) else {
            break;
        };
        (at, from) = (cfg.block_position(next).unwrap(), label);
    }
    log.truncate(200);
    log
}

fn check(ends: &[RandomBlockEnd], validator: Option<&SpirvValTool>) -> Result<(), TestCaseError> {
    let before = tangled(ends);
    let mut after = before.clone();
    structurise_module(&mut after).unwrap();
    let options = verify::VerifyOptions {
        target: "vulkan1.3".parse::<SpirvTarget>().unwrap(),
        ..verify::VerifyOptions::default()
    };
    let text = || spirula_spirv::text::print_assembly(&after.to_words(), &Default::default());
    if let Err(faults) = verify::verify_module(&after, &options) {
        let text = text();
        prop_assert!(false, "{:?}\n{:?}", faults, text);
    }
    if let Some(validator) = validator {
        let said = validator.validate_module(&after.to_bytes(), "vulkan1.3");
        prop_assert!(said.is_ok(), "{:?}\n{:?}", said, text());
    }
    for seed in 0..8 {
        prop_assert_eq!(trace(&before, seed), trace(&after, seed));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_graph(ends in graphs()) {
        check(&ends, None)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_graph_by_the_validator(ends in graphs()) {
        check(&ends, SpirvValTool::find_program().as_ref())?;
    }
}

/// A cycle with two entries.
#[test]
fn two_entries() {
    let ends = [
        RandomBlockEnd::Choice(1, 2),
        RandomBlockEnd::Choice(2, 3),
        RandomBlockEnd::Choice(1, 3),
        RandomBlockEnd::Return,
    ];
    check(&ends, SpirvValTool::find_program().as_ref()).unwrap();
}

/// Code after many ways out of a function does not nest.
#[test]
fn many_returns() {
    let mut ends = Vec::new();
    for at in 0..2000 {
        ends.push(RandomBlockEnd::Choice(2 * at + 1, 2 * at + 2));
        ends.push(RandomBlockEnd::Return);
    }
    ends.push(RandomBlockEnd::Return);
    check(&ends, SpirvValTool::find_program().as_ref()).unwrap();
}

/// Constructs one after the other do not nest.
#[test]
fn many_selections_and_loops() {
    let mut ends = Vec::new();
    for at in 0..1000 {
        ends.push(RandomBlockEnd::Choice(4 * at + 1, 4 * at + 2));
        ends.push(RandomBlockEnd::Branch(4 * at + 2));
        ends.push(RandomBlockEnd::Branch(4 * at + 3));
        ends.push(RandomBlockEnd::Choice(4 * at + 2, 4 * at + 4));
    }
    ends.push(RandomBlockEnd::Return);
    check(&ends, SpirvValTool::find_program().as_ref()).unwrap();
}
