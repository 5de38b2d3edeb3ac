//! The disassembler and the assembler on inputs that nobody wrote: no panic, no hang, and whatever
//! one of them makes the other takes back.

use proptest::prelude::*;
use spirula_spirv::binary::SpirvHeader;
use spirula_spirv::text::{ParseOptions, PrintOptions, parse_assembly, print_assembly};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const SEEDS: [&str; 4] = [
    include_str!("text/operands.spvasm"),
    include_str!("text/numbers.spvasm"),
    include_str!("text/raw.spvasm"),
    include_str!("text/names.spvasm"),
];

/// The modules of the seeds.
static MODULES: LazyLock<Vec<Vec<u32>>> = LazyLock::new(|| {
    let parsed = SEEDS.map(|source| parse_assembly(source, &ParseOptions::default()));
    parsed.map(|m| m.expect("the seeds assemble")).to_vec()
});

const FRIENDLY: PrintOptions = PrintOptions {
    header: true,
    indent: true,
    friendly_names: true,
    colors: false,
    offsets: false,
    comments: false,
    nested_indent: false,
    reorder_blocks: false,
};

/// Everything that the assembler passes over, in another order of blocks.
const ANNOTATED: PrintOptions = PrintOptions {
    friendly_names: false,
    offsets: true,
    comments: true,
    nested_indent: true,
    reorder_blocks: true,
    ..FRIENDLY
};

/// Prints a module and checks that the text gives it back.
fn check_module(words: &[u32]) {
    let Ok(text) = print_assembly(words, &PrintOptions::default()) else {
        return;
    };
    match parse_assembly(&text, &ParseOptions::default()) {
        Ok(back) => {
            // The bound of a damaged module may be too small for its ids.
            assert_eq!(back[..3], words[..3], "{text}");
            assert_eq!(back[4..], words[4..], "{text}");
        }
        Err(faults) => panic!("{}\n{text}", faults[0]),
    }
    let named = print_assembly(words, &FRIENDLY).expect("it was printed with numbers");
    match parse_assembly(&named, &ParseOptions::default()) {
        Ok(back) => assert_eq!(back.len(), words.len(), "{named}"),
        Err(faults) => panic!("{}\n{named}", faults[0]),
    }
    let annotated = print_assembly(words, &ANNOTATED).expect("it was printed with numbers");
    match parse_assembly(&annotated, &ParseOptions::default()) {
        Ok(back) => assert_eq!(back.len(), words.len(), "{annotated}"),
        Err(faults) => panic!("{}\n{annotated}", faults[0]),
    }
    let colored = PrintOptions {
        colors: true,
        ..ANNOTATED
    };
    print_assembly(words, &colored).expect("it was printed with numbers");
}

fn some_word() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0..64u32,
        (0..32u32).prop_map(|n| 1 << n),
        (0..16u32, 0..400u32).prop_map(|(length, op)| length << 16 | op),
        Just(u32::MAX),
        Just(0x6161_6161),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_modules(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), some_word()), 0..6),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut words = MODULES[seed].clone();
        for (at, word) in changes {
            let at = at.index(words.len());
            words[at] = word;
        }
        if let Some(end) = end {
            words.truncate(end.index(words.len()));
        }
        check_module(&words);
    }

    #[test]
    fn random_instructions(body in prop::collection::vec(some_word(), 0..60)) {
        let mut words = MODULES[0][..SpirvHeader::WORDS].to_vec();
        words.extend(body);
        check_module(&words);
    }

    #[test]
    fn damaged_texts(
        seed in 0..SEEDS.len(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..6usize, "[ -~\\n]{0,4}|%[a-z]|!|\"|é|Op|= "),
            1..6,
        ),
    ) {
        let mut text = SEEDS[seed].to_owned();
        for (at, cut, new) in changes {
            let mut at = at.index(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let mut end = (at + cut).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(at..end, &new);
        }
        if let Ok(words) = parse_assembly(&text, &ParseOptions::default()) {
            check_module(&words);
        }
    }

    #[test]
    fn random_texts(text in "([ -~\\n]{0,8}| %1 = OpTypeInt 32 0| OpSwitch %1| OpName %1 \"| !3 ){0,12}") {
        if let Ok(words) = parse_assembly(&text, &ParseOptions::default()) {
            check_module(&words);
        }
    }
}

/// A module of instructions given by opcode and operands.
fn module(instructions: impl Iterator<Item = Vec<u32>>) -> Vec<u32> {
    let mut words = MODULES[0][..SpirvHeader::WORDS].to_vec();
    for inst in instructions {
        words.push((inst.len() as u32) << 16 | inst[0]);
        words.extend(&inst[1..]);
    }
    words
}

#[test]
fn many_equal_names_take_no_longer_each() {
    let started = Instant::now();
    let words = module((1..200_000).map(|id| vec![5, id, u32::from(b'x')]));
    let text = print_assembly(&words, &FRIENDLY).expect("the module is well-formed");
    assert!(text.contains("%x_199997 "));
    assert!(parse_assembly(&text, &ParseOptions::default()).is_ok());
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn names_made_of_names_stay_short() {
    // Each array's length is the array before it, which would double the name each time.
    let words = module((2..2000).map(|id| vec![28, id, id - 1, id - 1]));
    let text = print_assembly(&words, &FRIENDLY).expect("the module is well-formed");
    assert!(text.len() < 2000 * 1000);
}

#[test]
fn far_ids_take_no_memory_of_their_own() {
    let words = module((0..1000).map(|n| vec![21, u32::MAX - 1 - n * 7919, 32, 0]));
    check_module(&words);
}

#[test]
fn nested_opcodes_do_not_nest_calls() {
    let mut inst = vec![52, 1, 2];
    inst.resize(60_000, 52);
    check_module(&module([inst].into_iter()));
}
