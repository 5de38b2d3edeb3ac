//! The bare index of a module says what the IR says.

use spirula_spirv::binary::{self, InstructionStream};
use spirula_spirv::ir::{ModuleSection, SpirvIndex, SpirvModule};
use spirula_spirv::text;
use spirula_testing::{find_corpus, list_files};

/// Everything that both know: opcodes of each section, labels and opcodes of each block.
fn from_index(words: &[u32]) -> Vec<String> {
    let index = SpirvIndex::from_words(words).expect("the module is read");
    let ops =
        |stream: InstructionStream<'_>| -> Vec<_> { stream.map(|i| i.expect("read").op).collect() };
    let mut found = vec![String::new(); ModuleSection::ALL.len()];
    for section in index.sections() {
        found[section.section as usize] += &format!("{:?}", ops(section.insts(words)));
    }
    for function in index.functions() {
        found.push(format!("{:?}", function.read_id(words)));
        for block in index.function_blocks(function) {
            let all = ops(block.insts(words));
            found.push(format!("{:?} {:?}", block.read_label(words), &all[1..]));
        }
    }
    found
}

fn from_module(words: &[u32]) -> Vec<String> {
    let module = SpirvModule::from_words(words.to_vec()).expect("the module is read");
    let mut found: Vec<String> = ModuleSection::ALL
        .iter()
        .map(|s| {
            let ops: Vec<_> = module.section_insts(*s).map(|i| i.op()).collect();
            let empty = ops.is_empty();
            if empty {
                String::new()
            } else {
                format!("{ops:?}")
            }
        })
        .collect();
    for func in module.functions() {
        found.push(format!("{:?}", Some(module.function_id(*func))));
        for block in &module.function(*func).blocks {
            let ops: Vec<_> = module.body(*block).map(|i| i.op()).collect();
            found.push(format!("{:?} {ops:?}", Some(module.label(*block))));
        }
    }
    found
}

#[test]
fn modules_of_the_corpus() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let mut same = 0;
    for file in list_files(&folder, ".spv") {
        let bytes = std::fs::read(&file).expect("the corpus can be read");
        let words = binary::words_from_bytes(&bytes).expect("it is SPIR-V");
        let (index, module) = (from_index(&words), from_module(&words));
        // Sections in several pieces, and lines that the IR gives to what follows them, are counted
        // differently.
        if index == module {
            same += 1;
        } else {
            let functions = ModuleSection::ALL.len();
            assert_eq!(
                index[functions..],
                module[functions..],
                "{}",
                file.display()
            );
        }
    }
    assert!(same > 900, "only {same} modules are the same");
}

const SMALL: &str = "
OpCapability Kernel
OpCapability Linkage
OpMemoryModel Logical OpenCL
%1 = OpTypeVoid
%2 = OpTypeFunction %1
%3 = OpFunction %1 None %2
%4 = OpLabel
OpBranch %5
%5 = OpLabel
OpReturn
OpFunctionEnd
";

#[test]
fn what_ends_early_is_refused() {
    let words = text::parse_assembly(SMALL, &text::ParseOptions::default()).expect("it assembles");
    assert!(SpirvIndex::from_words(&words).is_ok());
    let function = SpirvIndex::from_words(&words).expect("read").functions()[0]
        .words
        .clone();
    for end in 0..words.len() {
        let whole = InstructionStream::new(&words[..end]).all(|i| i.is_ok());
        let outside = whole && (5..=function.start).contains(&end);
        assert_eq!(
            SpirvIndex::from_words(&words[..end]).is_ok(),
            outside,
            "{end} words"
        );
    }
}

#[test]
fn damaged_words_do_no_harm() {
    let words = text::parse_assembly(SMALL, &text::ParseOptions::default()).expect("it assembles");
    for at in 0..words.len() {
        for bit in 0..32 {
            let mut damaged = words.clone();
            damaged[at] ^= 1 << bit;
            let Ok(index) = SpirvIndex::from_words(&damaged) else {
                continue;
            };
            for function in index.functions() {
                assert!(function.insts(&damaged).all(|i| i.is_ok()));
            }
        }
    }
}
