//! The verifier on modules that nobody wrote: no panic, no hang, whatever it says.

use proptest::prelude::*;
use spirula_spirv::target::SpirvTarget;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_spirv::verify::{VerifyOptions, verify_words};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const SEEDS: [&str; 6] = [
    include_str!("verify/00-valid.spvasm"),
    include_str!("verify/14-break-out-of-loop.spvasm"),
    include_str!("verify/16-members-overlap.spvasm"),
    include_str!("verify/20-id-of-two.spvasm"),
    include_str!("reflect/shader.spvasm"),
    include_str!("reflect/kernel.spvasm"),
];

static MODULES: LazyLock<Vec<Vec<u32>>> = LazyLock::new(|| {
    let parsed = SEEDS.map(|source| parse_assembly(source, &ParseOptions::default()));
    parsed.map(|m| m.expect("the seeds assemble")).to_vec()
});

fn verify(module: Vec<u32>) {
    for environment in ["spv1.6", "vulkan1.3", "opencl2.2"] {
        let options = VerifyOptions {
            target: environment.parse::<SpirvTarget>().expect("it has a name"),
            ..VerifyOptions::default()
        };
        // Only that there is a verdict counts.
        let _ = verify_words(module.clone(), &options);
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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_modules(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), some_word()), 1..6),
        end in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let mut words = MODULES[seed].clone();
        for (at, word) in changes {
            let at = at.index(words.len());
            words[at] = word;
        }
        if let Some(end) = end {
            words.truncate(end.index(words.len()));
        }
        verify(words);
    }

    #[test]
    fn ids_exchanged(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1..48u32), 1..4),
    ) {
        let mut words = MODULES[seed].clone();
        for (at, id) in changes {
            let at = 5 + at.index(words.len() - 5);
            // First words of instructions, as far as they look like it, stay.
            if words[at] < 1 << 16 {
                words[at] = id;
            }
        }
        verify(words);
    }
}

/// A module of instructions given as words.
fn module(bound: u32, instructions: impl Iterator<Item = Vec<u32>>) -> Vec<u32> {
    let mut words = MODULES[0][..5].to_vec();
    words[3] = bound;
    for inst in [vec![17, 1], vec![17, 5], vec![14, 0, 1]]
        .into_iter()
        .chain(instructions)
    {
        words.push((inst.len() as u32) << 16 | inst[0]);
        words.extend(&inst[1..]);
    }
    words
}

#[test]
fn structures_of_structures_take_no_longer_each() {
    let started = Instant::now();
    // Each structure holds the one before twice: 2^n parts of the last.
    let count = 200;
    let structures = (2..count).map(|id| vec![30, id, id - 1, id - 1]);
    let all = [vec![30, 1]].into_iter().chain(structures);
    let all = all.chain([
        vec![32, count, 7, count - 1],
        vec![46, count - 1, count + 1],
        vec![44, count - 1, count + 2, count + 1, count + 1],
    ]);
    verify(module(count + 3, all));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn many_entry_points_take_no_longer_each() {
    let started = Instant::now();
    let count = 4000;
    let points = (0..count).map(|n| vec![15, 5, 10 + n, u32::from(b'a') | n << 8 & 0xff_ff00, 0]);
    let modes = (0..count).map(|n| vec![16, 10 + n, 17, 1, 1, 1]);
    let types = [vec![19, 1], vec![33, 2, 1]].into_iter();
    let functions = (0..count).flat_map(|n| {
        [
            vec![54, 1, 10 + n, 0, 2],
            vec![248, 10 + count + n],
            vec![253],
            vec![56],
        ]
    });
    verify(module(
        10 + 2 * count,
        points.chain(modes).chain(types).chain(functions),
    ));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn long_chains_of_blocks_take_no_longer_each() {
    let started = Instant::now();
    let count = 20_000;
    let types = [
        vec![19, 1],
        vec![33, 2, 1],
        vec![20, 3],
        vec![41, 3, 4],
        vec![54, 1, 5, 0, 2],
        vec![248, 10],
    ];
    // if (true) {} one after the other: each has a construct of its own.
    let blocks = (0..count).flat_map(|n| {
        let (then, end) = (11 + 2 * n, 12 + 2 * n);
        [
            vec![247, end, 0],
            vec![250, 4, then, end],
            vec![248, then],
            vec![249, end],
            vec![248, end],
        ]
    });
    let all = types.into_iter().chain(blocks).chain([vec![253], vec![56]]);
    verify(module(20 + 2 * count, all));
    assert!(started.elapsed() < Duration::from_secs(10));
}

/// Found by a fuzzer: more components than a number of 32 bits counts.
#[test]
fn vectors_longer_than_numbers() {
    let all = [
        vec![22, 1, 32],
        vec![23, 2, 1, u32::MAX],
        vec![23, 3, 1, 2],
        vec![46, 2, 4],
        vec![19, 5],
        vec![33, 6, 5],
        vec![54, 5, 7, 0, 6],
        vec![248, 8],
        vec![79, 3, 9, 4, 4, 0, 1],
        vec![253],
        vec![56],
    ];
    verify(module(10, all.into_iter()));
}
