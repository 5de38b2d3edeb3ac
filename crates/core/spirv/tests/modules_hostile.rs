//! Linking, importing, cloning, converting, recomputing, drawing and reducing modules that nobody
//! wrote: no panic and no hang, and what valid modules become is valid.

use proptest::prelude::*;
use spirula_spirv::Id;
use spirula_spirv::analysis::RequirementCeiling;
use spirula_spirv::convert::to_version;
use spirula_spirv::draw::GraphvizOptions;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::{IdWords, SpirvModule};
use spirula_spirv::link::{EntryNames, GlobalValueTable, LinkOptions, SpirvImporter, link_modules};
use spirula_spirv::recompute::recompute_capabilities;
use spirula_spirv::reduce::{self, reduce_module};
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_spirv::verify;
use std::sync::LazyLock;

const SEEDS: [&str; 5] = [
    include_str!("verify/00-valid.spvasm"),
    include_str!("reflect/shader.spvasm"),
    include_str!("reflect/kernel.spvasm"),
    include_str!("reduce/loop.spvasm"),
    include_str!("convert/copy-logical.spvasm"),
];

static MODULES: LazyLock<Vec<Vec<u32>>> = LazyLock::new(|| {
    let parsed = SEEDS.map(|source| parse_assembly(source, &ParseOptions::default()));
    parsed.map(|m| m.expect("the seeds assemble")).to_vec()
});

fn is_valid(module: &SpirvModule) -> bool {
    let options = verify::VerifyOptions {
        scalar_block_layout: true,
        ..verify::VerifyOptions::default()
    };
    verify::verify_module(module, &options).is_ok()
}

/// Everything that there is to do with a module and another one. The verdict of the verifier on a module
/// that was valid is checked.
fn exercise(module: &SpirvModule, other: &SpirvModule) {
    let was_valid = is_valid(module);
    let check = |changed: &SpirvModule, what: &str| {
        assert!(
            !was_valid || is_valid(changed),
            "{what} broke a valid module"
        );
    };
    let options = LinkOptions {
        allow_partial: true,
        entry_names: EntryNames::Number,
        ..LinkOptions::default()
    };
    let linked = link_modules(vec![other.clone(), module.clone()], &options);
    if let Some(linked) = linked.ok().filter(|_| is_valid(other)) {
        check(&linked, "linking");
    }
    let mut destination = other.clone();
    let mut values = GlobalValueTable::from_module(&destination);
    let mut importer = SpirvImporter::new(module);
    let all: Vec<Id> = module
        .functions()
        .iter()
        .map(|f| module.function_id(*f))
        .collect();
    for id in all {
        let _ = importer.import_ids(&mut destination, &mut values, &[id]);
    }
    let ids = IdWords::new(module);
    for func in module.functions() {
        let mut clone = module.clone();
        clone.clone_function(&ids, *func);
        check(&clone, "cloning a function");
        let mut clone = module.clone();
        let _ = clone.clone_blocks(&ids, &module.function(*func).blocks);
        check(&clone, "cloning blocks");
    }
    for minor in 0..=6 {
        let mut converted = module.clone();
        if to_version(&mut converted, SpirvVersion::new(1, minor)).is_ok() {
            check(&converted, "conversion");
        }
    }
    let mut least = module.clone();
    if recompute_capabilities(&mut least, &RequirementCeiling::default()).is_ok() {
        check(&least, "recomputing capabilities");
    }
    let drawing = GraphvizOptions {
        dominators: true,
        post_dominators: true,
        instructions: true,
        only: None,
    };
    let _ = drawing.draw_module(module);
    let options = reduce::ReduceOptions {
        attempts: 40,
        ..reduce::ReduceOptions::default()
    };
    let mut count = 0u32;
    let sometimes = |_: &[u32]| {
        count += 1;
        count % 3 != 2
    };
    if let Some(small) = reduce_module(module, &options, sometimes, |_| {}) {
        check(&small, "reducing");
    }
}

fn some_word() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0..64u32,
        (0..32u32).prop_map(|n| 1 << n),
        (1..16u32, 0..400u32).prop_map(|(length, op)| length << 16 | op),
    ]
}

#[test]
fn modules_as_they_are() {
    for words in MODULES.iter() {
        for other in MODULES.iter() {
            let read =
                |words: &[u32]| SpirvModule::from_words(words.to_vec()).expect("it is a module");
            exercise(&read(words), &read(other));
        }
    }
}

/// Operands of a set that nobody knows may be any numbers: they take no memory.
#[test]
fn operands_that_cannot_be_ids() {
    let source = "OpCapability Shader\nOpCapability Linkage\n%set = OpExtInstImport \"Vendor.set\"\n\
        OpMemoryModel Logical GLSL450\n%void = OpTypeVoid\n%type = OpTypeFunction %void\n\
        %f = OpFunction %void None %type\n%entry = OpLabel\n\
        %x = OpExtInst %void %set 5 !4000000000 %void\nOpReturn\nOpFunctionEnd";
    let words = parse_assembly(source, &ParseOptions::default()).expect("it is a module");
    let module = SpirvModule::from_words(words).expect("it is a module");
    exercise(&module, &module);
    let linked = link_modules(vec![module], &LinkOptions::default()).expect("it links");
    let inst = linked
        .all_insts()
        .find(|i| i.op().to_string() == "OpExtInst");
    let inst = inst.expect("it is there");
    assert_eq!(inst.words()[4], 4_000_000_000);
    assert_eq!(Some(inst.words()[5]), inst.words().first().copied());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_modules(
        seed in 0..SEEDS.len(),
        other in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), some_word()), 1..4),
    ) {
        let mut words = MODULES[seed].clone();
        for (at, word) in changes {
            let at = 5 + at.index(words.len() - 5);
            words[at] = word;
        }
        let other = SpirvModule::from_words(MODULES[other].clone()).expect("the seeds are modules");
        if let Ok(module) = SpirvModule::from_words(words) {
            exercise(&module, &other);
            exercise(&other, &module);
        }
    }
}
