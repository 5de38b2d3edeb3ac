//! Every analysis against a second version that follows its definition word by word, on the corpus
//! and on graphs made at random.

use proptest::prelude::*;
use spirula_spirv::Id;
use spirula_spirv::analysis::{
    BlockDominators, ConstructTree, DefUse, DominanceFrontiers, FlowGraph, IdDefinitions, LoopNest,
    PostDominators, SpirvCallGraph, StructuredConstruct,
};
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, Capability, FunctionControl, MemoryModel,
};
use spirula_spirv::grammar::{Kind, Op, OperandCategory, OperandIter, SpirvVersion};
use spirula_spirv::ir::{IdWords, SpirvModule};
use spirula_testing::{find_corpus, list_files};

/// Blocks reached from `from` without going through `without`, along successors or against them.
fn reached(cfg: &FlowGraph, from: u32, without: Option<u32>, forward: bool) -> Vec<bool> {
    let mut seen = vec![false; cfg.len()];
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if Some(block) == without || std::mem::replace(&mut seen[block as usize], true) {
            continue;
        }
        work.extend(if forward {
            cfg.successors(block)
        } else {
            cfg.predecessors(block)
        });
    }
    seen
}

/// Dominance by its definition: `b` cannot be reached without `a`.
fn dominance(cfg: &FlowGraph) -> Vec<Vec<bool>> {
    let all = reached(cfg, 0, None, true);
    let blocks = 0..cfg.len() as u32;
    let dominated = |a: u32| {
        let without = reached(cfg, 0, Some(a), true);
        let of = |b: u32| a == b || all[b as usize] && all[a as usize] && !without[b as usize];
        blocks.clone().map(of).collect()
    };
    blocks.clone().map(dominated).collect()
}

fn check_function(cfg: &FlowGraph) -> Result<(), String> {
    let n = cfg.len() as u32;
    let tree = BlockDominators::from_cfg(cfg);
    let frontiers = DominanceFrontiers::from_cfg(cfg, &tree);
    let by_definition = dominance(cfg);
    let reachable = reached(cfg, 0, None, true);
    for a in 0..n {
        if tree.is_reachable(a) != reachable[a as usize] {
            return Err(format!("reachability of {a}"));
        }
        for b in 0..n {
            if tree.dominates(a, b) != by_definition[a as usize][b as usize] {
                return Err(format!("dominance of {b} by {a}"));
            }
        }
        let mut frontier: Vec<u32> = (0..n)
            .filter(|b| reachable[*b as usize] && reachable[a as usize])
            .filter(|b| a == *b || !by_definition[a as usize][*b as usize])
            .filter(|b| {
                let before = cfg.predecessors(*b).iter();
                before
                    .copied()
                    .any(|p| reachable[p as usize] && by_definition[a as usize][p as usize])
            })
            .collect();
        frontier.sort_unstable();
        let mut found = frontiers.of_block(a).to_vec();
        found.sort_unstable();
        if found != frontier {
            return Err(format!("frontier of {a}: {found:?}, not {frontier:?}"));
        }
    }
    check_siblings(
        "dominators",
        cfg.len(),
        |b| tree.immediate_dominator(b),
        |b| tree.children(b),
        |b| tree.sibling_index(b),
    )?;
    check_post_dominators(cfg, &reachable)?;
    check_loops(cfg, &tree, &by_definition, &reachable)
}

/// Each node of a tree stands among the children of its parent, where its position says.
fn check_siblings<'t>(
    what: &str,
    nodes: usize,
    parent: impl Fn(u32) -> Option<u32>,
    children: impl Fn(u32) -> &'t [u32],
    position: impl Fn(u32) -> Option<usize>,
) -> Result<(), String> {
    let mut below = 0;
    for node in 0..nodes as u32 {
        let listed = parent(node).map(|p| children(p).iter().position(|c| *c == node));
        below += children(node).len();
        if listed.is_some_and(|at| at.is_none() || at != position(node)) {
            return Err(format!("{what}: position of {node}"));
        }
    }
    let with_parents = (0..nodes as u32).filter(|n| parent(*n).is_some()).count();
    if below != with_parents {
        return Err(format!("{what}: {below} children, not {with_parents}"));
    }
    Ok(())
}

fn check_post_dominators(cfg: &FlowGraph, reachable: &[bool]) -> Result<(), String> {
    let tree = PostDominators::from_cfg(cfg);
    let n = cfg.len() as u32;
    check_siblings(
        "post-dominators",
        cfg.len(),
        |b| tree.immediate_post_dominator(b),
        |b| tree.children(b),
        |b| tree.sibling_index(b),
    )?;
    let mut roots = tree.roots().iter().enumerate();
    if !roots.all(|(at, b)| {
        tree.immediate_post_dominator(*b).is_none() && tree.sibling_index(*b) == Some(at)
    }) {
        return Err("roots of the post-dominator tree".to_owned());
    }
    let is_end =
        |b: u32| cfg.successors(b).is_empty() || tree.infinite_region_blocks().contains(&b);
    for b in (0..n).filter(|b| reachable[*b as usize]) {
        for a in (0..n).filter(|a| reachable[*a as usize]) {
            let without = reached(cfg, b, Some(a), true);
            let ends = (0..n).any(|e| without[e as usize] && is_end(e));
            if tree.dominates(a, b) != (a == b || !ends) {
                return Err(format!("post-dominance of {b} by {a}"));
            }
        }
    }
    Ok(())
}

fn check_loops(
    cfg: &FlowGraph,
    tree: &BlockDominators,
    dominance: &[Vec<bool>],
    reachable: &[bool],
) -> Result<(), String> {
    let nest = LoopNest::from_cfg(cfg, tree);
    let n = cfg.len() as u32;
    check_siblings(
        "loops",
        nest.loops().len(),
        |l| nest.loops()[l as usize].parent,
        |l| nest.children(l),
        |l| nest.sibling_index(l),
    )?;
    let mut headers = 0;
    for header in (0..n).filter(|h| reachable[*h as usize]) {
        let latches: Vec<u32> = (0..n)
            .filter(|l| cfg.successors(*l).contains(&header))
            .filter(|l| reachable[*l as usize] && dominance[header as usize][*l as usize])
            .collect();
        if latches.is_empty() {
            continue;
        }
        headers += 1;
        let Some(at) = nest.loops().iter().position(|l| l.header == header) else {
            return Err(format!("no loop of {header}"));
        };
        let mut body = vec![false; cfg.len()];
        for latch in &latches {
            for (b, inside) in reached(cfg, *latch, Some(header), false).iter().enumerate() {
                body[b] |= inside & reachable[b];
            }
        }
        body[header as usize] = true;
        for b in 0..n {
            if nest.contains(at as u32, b) != body[b as usize] {
                return Err(format!("whether {b} is in the loop of {header}"));
            }
        }
    }
    if headers != nest.loops().len() {
        return Err(format!("{} loops, not {headers}", nest.loops().len()));
    }
    for (at, l) in nest.loops().iter().enumerate() {
        let depth = nest.loops().iter().enumerate();
        let depth = depth
            .filter(|(o, _)| nest.contains(*o as u32, l.header))
            .count();
        if depth as u32 != l.depth || l.parent.is_some_and(|p| p as usize <= at) {
            return Err(format!("depth of the loop of {}", l.header));
        }
    }
    // A graph is reducible when it has no cycle but through back edges.
    let forward = |from: u32| {
        let next = cfg.successors(from).iter().copied();
        next.filter(move |to| !dominance[*to as usize][from as usize])
    };
    let mut color = vec![0u8; cfg.len()];
    let mut cyclic = false;
    let mut stack = vec![(0u32, false)];
    while let Some((block, done)) = stack.pop() {
        if done {
            color[block as usize] = 2;
        } else if color[block as usize] == 0 {
            color[block as usize] = 1;
            stack.push((block, true));
            for next in forward(block) {
                cyclic |= color[next as usize] == 1;
                stack.push((next, false));
            }
        }
    }
    if cyclic == nest.irreducible_edges().is_empty() {
        return Err("whether the graph is irreducible".to_owned());
    }
    Ok(())
}

#[test]
fn analyses_follow_their_definitions_on_the_corpus() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let mut functions = 0;
    for file in list_files(&folder, ".spv").iter().step_by(5) {
        let bytes = std::fs::read(file).expect("the corpus can be read");
        let module = SpirvModule::from_bytes(&bytes).expect("the corpus is well-formed");
        let definitions = IdDefinitions::from_module(&module);
        for func in module.functions() {
            let cfg = FlowGraph::from_function(&module, &definitions, *func).expect("labels exist");
            if (2..60).contains(&cfg.len()) {
                functions += 1;
                check_function(&cfg).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            }
        }
        check_ids(&module);
        check_uses(&module);
        check_calls(&module);
        check_constructs(&module, &definitions);
    }
    assert!(functions > 100, "only {functions} functions");
}

/// The table of ids against splitting each instruction.
fn check_ids(module: &SpirvModule) {
    let ids = IdWords::new(module);
    for inst in module.all_insts() {
        let mut found = Vec::new();
        ids.visit_uses(inst, |at, id| found.push((at, id.word())));
        let words = ids.switch_literal_words(inst);
        let split = OperandIter::new(inst.op(), inst.words())
            .with_ext(ids.ext_inst_set(inst).filter(|_| inst.op() == Op::ExtInst))
            .with_switch_literal_words(words);
        let mut right = Vec::new();
        for operand in split {
            let Ok(o) = operand else { return };
            if o.kind.info().category == OperandCategory::Id && o.kind != Kind::IdResult {
                right.push((o.at, o.words[0]));
            }
        }
        let unknown_set = inst.op() == Op::ExtInst && ids.ext_inst_set(inst).is_none();
        assert!(
            found == right || unknown_set,
            "{}: {found:?}, not {right:?}",
            inst.op()
        );
    }
}

fn check_uses(module: &SpirvModule) {
    let chains = DefUse::from_module(module);
    let ids = IdWords::new(module);
    let mut counts = vec![0u32; module.bound() as usize];
    for inst in module.all_insts() {
        ids.visit_uses(inst, |at, id| {
            counts[id.index()] += 1;
            let place = |u: &spirula_spirv::analysis::IdUse| {
                (u.inst, usize::from(u.at)) == (inst.handle(), at)
            };
            // Looking through all uses of much used ids would take quadratic time.
            if chains.use_count(id) < 20 {
                assert_eq!(chains.uses(id).filter(place).count(), 1);
            }
        });
    }
    for id in (1..module.bound()).filter_map(Id::new) {
        assert_eq!(chains.use_count(id), counts[id.index()]);
        assert_eq!(chains.uses(id).count() as u32, chains.use_count(id));
    }
}

fn check_calls(module: &SpirvModule) {
    let graph = SpirvCallGraph::from_module(module);
    let order = graph.bottom_up();
    assert_eq!(order.len(), module.functions().len());
    let mut number = vec![0; order.len()];
    for (at, func) in order.iter().enumerate() {
        number[func.index()] = at;
    }
    for func in order {
        let mut seen = vec![false; order.len()];
        let mut work = graph.callees(*func).to_vec();
        while let Some(callee) = work.pop() {
            if !std::mem::replace(&mut seen[callee.index()], true) {
                work.extend(graph.callees(callee));
            }
        }
        assert_eq!(graph.is_recursive(*func), seen[func.index()]);
        for callee in graph.callees(*func) {
            let before = number[callee.index()] < number[func.index()];
            assert!(before || graph.is_recursive(*func));
        }
    }
}

/// A block is in a construct when its header dominates it, and neither its merge block nor that of
/// a construct around it does.
fn check_constructs(module: &SpirvModule, definitions: &IdDefinitions) {
    if !module.is_structured() {
        return;
    }
    for func in module.functions() {
        let cfg = FlowGraph::from_function(module, definitions, *func).expect("labels exist");
        let tree = BlockDominators::from_cfg(&cfg);
        let found = ConstructTree::from_cfg(module, &cfg, &tree);
        if cfg.len() > 200 {
            continue;
        }
        for block in (0..cfg.len() as u32).filter(|b| tree.is_reachable(*b)) {
            let mut around = Vec::new();
            let mut next = found.innermost_construct(block);
            while let Some(c) = next {
                around.push(c);
                next = found.parent(c);
            }
            let left = |c: &StructuredConstruct| {
                tree.is_reachable(c.merge) && tree.dominates(c.merge, block)
            };
            for (at, c) in found.constructs().iter().enumerate() {
                let outer_left = found.constructs().iter().any(|o| {
                    let around = tree.dominates(o.header, c.header)
                        && !(tree.is_reachable(o.merge) && tree.dominates(o.merge, c.header));
                    around && left(o)
                });
                let own = c.header == block && c.continues.is_none();
                let inside = tree.is_reachable(c.header)
                    && tree.dominates(c.header, block)
                    && !outer_left
                    && !left(c)
                    && !own;
                assert_eq!(
                    around.contains(&(at as u32)),
                    inside,
                    "block {block}, construct {at}"
                );
            }
        }
    }
}

/// A kernel whose blocks branch as the pairs say; equal or missing targets make other terminators.
fn graph(edges: &[(usize, usize)]) -> SpirvModule {
    let mut b = SpirvBuilder::new(SpirvVersion::V1_0);
    b.declare_capability(Capability::Kernel);
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    let (void, bool) = (b.void_type(), b.bool_type());
    let ty = b.function_type(void, &[bool]);
    let main = b.fresh_id();
    b.begin_function(main, void, FunctionControl::None, ty);
    let condition = b.append_parameter(bool);
    let labels: Vec<Id> = edges.iter().map(|_| b.fresh_id()).collect();
    for (at, (x, y)) in edges.iter().enumerate() {
        b.begin_block(labels[at]);
        let target = |t: usize| labels.get(t).filter(|_| t > 0);
        match (target(*x), target(*y)) {
            (Some(x), Some(y)) if x != y => {
                b.append_effect(Op::BranchConditional, &[condition, *x, *y].map(Id::word));
            }
            (Some(x), _) | (None, Some(x)) => b.append_effect(Op::Branch, &[x.word()]),
            (None, None) => b.append_effect(Op::Return, &[]),
        }
    }
    b.end_function();
    b.into_module()
}

proptest! {
    #[test]
    fn analyses_follow_their_definitions_on_any_graph(
        edges in prop::collection::vec((0usize..14, 0usize..14), 1..14)
    ) {
        let module = graph(&edges);
        let definitions = IdDefinitions::from_module(&module);
        let cfg = FlowGraph::from_function(&module, &definitions, module.functions()[0]).expect("labels exist");
        prop_assert_eq!(check_function(&cfg), Ok(()));
    }
}

/// Of a set that nobody knows every word may be an id, those that were made after the chains too.
#[test]
fn chains_know_of_new_ids_in_unknown_sets() {
    use spirula_spirv::grammar::Op;
    use spirula_spirv::ir::{ModuleSection, SpirvModule};

    let source = "OpCapability Kernel\nOpCapability Addresses\nOpCapability Linkage\n\
        OpExtension \"SPV_KHR_non_semantic_info\"\n\
        %1 = OpExtInstImport \"NonSemantic.Nobodys\"\nOpMemoryModel Physical64 OpenCL\n\
        %2 = OpTypeVoid\n%3 = OpTypeInt 32 0\n";
    let words =
        spirula_spirv::text::parse_assembly(source, &Default::default()).expect("it is assembly");
    let mut module = SpirvModule::from_words(words).expect("it is a module");
    let mut chains = DefUse::from_module(&module);
    let [constant, told] = [module.fresh_id(), module.fresh_id()];
    let made = module.create_inst(Op::Constant, &[3, constant.word(), 7]);
    module.append_inst(ModuleSection::Globals.list(), made);
    chains.add_inst(module.inst(made));
    let words = [2, told.word(), 1, 30, constant.word()];
    let tells = module.create_inst(Op::ExtInst, &words);
    module.append_inst(ModuleSection::Globals.list(), tells);
    chains.add_inst(module.inst(tells));
    assert_eq!(chains.use_count(constant), 1);
    assert!(chains == DefUse::from_module(&module));
    let new = module.fresh_id();
    let other = module.create_inst(Op::Constant, &[3, new.word(), 8]);
    module.append_inst(ModuleSection::Globals.list(), other);
    chains.add_inst(module.inst(other));
    chains.replace_all(&mut module, constant, new);
    assert_eq!(module.inst(tells).words()[4], new.word());
    assert!(chains == DefUse::from_module(&module));
}
