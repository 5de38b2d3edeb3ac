//! The module IR: building, reading, writing, editing.

use spirula_spirv::Id;
use spirula_spirv::analysis::{BlockDominators, FlowGraph, IdDefinitions};
use spirula_spirv::binary;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, Capability, ExecutionModel, FunctionControl, MemoryModel,
};
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// A kernel with a diamond: entry, then, else, merge.
fn diamond() -> SpirvModule {
    let mut b = SpirvBuilder::new(SpirvVersion::V1_0);
    b.declare_capability(Capability::Kernel);
    b.declare_capability(Capability::Kernel);
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    let (void, bool) = (b.void_type(), b.bool_type());
    let ty = b.function_type(void, &[bool]);
    let main = b.fresh_id();
    b.entry_point(ExecutionModel::Kernel, main, "main", &[]);
    b.begin_function(main, void, FunctionControl::None, ty);
    let condition = b.append_parameter(bool);
    let labels: Vec<Id> = (0..4).map(|_| b.fresh_id()).collect();
    b.begin_block(labels[0]);
    b.append_effect(
        Op::BranchConditional,
        &[condition, labels[1], labels[2]].map(Id::word),
    );
    b.begin_block(labels[1]);
    b.append_effect(Op::Branch, &[labels[3].word()]);
    b.begin_block(labels[2]);
    b.append_effect(Op::Branch, &[labels[3].word()]);
    b.begin_block(labels[3]);
    b.append_effect(Op::Return, &[]);
    b.end_function();
    b.into_module()
}

#[test]
fn equal_types_and_constants_are_one() {
    let mut b = SpirvBuilder::new(SpirvVersion::V1_0);
    assert_eq!(b.int_type(32, false), b.int_type(32, false));
    assert_ne!(b.int_type(32, false), b.int_type(32, true));
    assert_eq!(b.constant_u32(7), b.constant_u32(7));
    assert_ne!(b.constant_f32(0.0), b.constant_f32(-0.0));
    let seven = b.constant_u32(7);
    assert_eq!(b.type_of(seven), Some(b.int_type(32, false)));
}

#[test]
fn what_is_written_reads_back_the_same() {
    let bytes = diamond().to_bytes();
    let read = SpirvModule::from_bytes(&bytes).expect("the module is well-formed");
    assert_eq!(read.to_bytes(), bytes);
    let mut swapped = bytes.clone();
    swapped
        .as_chunks_mut::<4>()
        .0
        .iter_mut()
        .for_each(|word| word.reverse());
    let read = SpirvModule::from_bytes(&swapped).expect("either byte order is read");
    assert_eq!(read.to_bytes(), bytes);
}

#[test]
fn dominators_of_a_diamond() {
    let module = diamond();
    let definitions = IdDefinitions::from_module(&module);
    let cfg = FlowGraph::from_function(&module, &definitions, module.functions()[0])
        .expect("labels exist");
    assert_eq!(cfg.successors(0), [1, 2]);
    assert_eq!(cfg.predecessors(3), [1, 2]);
    assert_eq!(cfg.reverse_postorder(), [0, 2, 1, 3]);
    let tree = BlockDominators::from_cfg(&cfg);
    assert_eq!(tree.immediate_dominator(3), Some(0));
    assert!(tree.dominates(0, 3) && !tree.dominates(1, 3));
}

#[test]
fn instructions_are_inserted_and_removed_anywhere() {
    let mut module = diamond();
    let func = module.functions()[0];
    let block = module.function(func).blocks[3];
    let ret = module.terminator(block).handle();
    let [a, b, c] = [1u32, 2, 3].map(|n| module.create_inst(Op::Nop, &[n]));
    module.insert_before(ret, b);
    module.insert_before(b, a);
    module.insert_after(b, c);
    let order: Vec<_> = module.body(block).map(|i| i.handle()).collect();
    assert_eq!(order, [a, b, c, ret]);
    let backwards: Vec<_> = module.body(block).rev().map(|i| i.handle()).collect();
    assert_eq!(backwards, [ret, c, b, a]);
    module.remove_inst(a);
    module.remove_inst(c);
    let order: Vec<_> = module.body(block).map(|i| i.handle()).collect();
    assert_eq!(order, [b, ret]);
}

#[test]
fn every_truncation_is_an_error() {
    let words = diamond().to_words();
    for length in 0..words.len() {
        let cut = words[..length].to_vec();
        if let Ok(module) = SpirvModule::from_words(cut) {
            assert!(module.functions().is_empty(), "cut at word {length}");
        }
    }
}

#[test]
fn every_changed_word_is_read_or_refused() {
    let words = diamond().to_words();
    for at in 0..words.len() {
        for bit in 0..32 {
            let mut changed = words.clone();
            changed[at] ^= 1 << bit;
            if let Ok(module) = SpirvModule::from_words(changed) {
                let again = module.to_bytes();
                let words = binary::words_from_bytes(&again).expect("what is written is a module");
                assert!(
                    SpirvModule::from_words(words).is_ok(),
                    "word {at} bit {bit}"
                );
            }
        }
    }
}

/// Found by a fuzzer: an entry point of an unknown execution model and without a function.
#[test]
fn unknown_values_excuse_no_missing_operand() {
    for operands in [&[0x6e69_6105, 0][..], &[0x6e69_6105]] {
        let mut words = diamond().to_words();
        let at = words.len();
        words.truncate(5);
        words.push((operands.len() as u32 + 1) << 16 | u32::from(Op::EntryPoint.0));
        words.extend(operands);
        assert!(words.len() < at);
        let fault = SpirvModule::from_words(words).expect_err("there is no function");
        assert!(fault.message.starts_with("OpEntryPoint: "), "{fault}");
    }
}

/// Found by a fuzzer: the second instruction of a section that comes again was lost.
#[test]
fn sections_that_come_again_are_read_whole() {
    let source = "OpCapability Linkage\nOpCapability Shader\nOpMemoryModel Logical GLSL450\n\
        OpCapability Kernel\nOpCapability Addresses\nOpCapability Int8\n";
    let words =
        spirula_spirv::text::parse_assembly(source, &Default::default()).expect("it is assembly");
    let module = SpirvModule::from_words(words.clone()).expect("it is read");
    assert_eq!(module.to_words().len(), words.len());
    let capabilities = module.section_insts(ModuleSection::Capabilities);
    assert_eq!(capabilities.count(), 5);
    let mut back = module.section_insts(ModuleSection::Capabilities).rev();
    assert_eq!(back.next().map(|c| c.operand_word(0)), Some(39));
    assert_eq!(back.count(), 4);
}

/// Switches over literals of one and of two words, with a label beyond all ids.
#[test]
fn labels_of_switches_are_below_the_bound() {
    for (width, literal) in [(32, &[9][..]), (64, &[9, 0][..])] {
        let read = |label: u32| {
            let mut words = vec![0x0723_0203, 0x0001_0600, 0, 8, 0];
            let mut put = |op: Op, operands: &[u32]| {
                words.push((operands.len() as u32 + 1) << 16 | u32::from(op.0));
                words.extend_from_slice(operands);
            };
            put(Op::TypeVoid, &[1]);
            put(Op::TypeFunction, &[2, 1]);
            put(Op::TypeInt, &[6, width, 0]);
            put(Op::ConstantNull, &[6, 7]);
            put(Op::Function, &[1, 3, 0, 2]);
            put(Op::Label, &[4]);
            put(Op::Switch, &[&[7, 5][..], literal, &[label]].concat());
            put(Op::Label, &[5]);
            put(Op::Return, &[]);
            put(Op::FunctionEnd, &[]);
            SpirvModule::from_words(words)
        };
        read(5).expect("the label is there");
        let fault = read(u32::MAX).expect_err("the label is too large");
        assert!(fault.message.contains("not below the bound"), "{fault}");
    }
}

/// A name that is longer than an instruction may be is cut between characters.
#[test]
fn long_names_are_cut() {
    for (letter, rest) in [("x", 0), ("é", 0), ("€", 1)] {
        let mut b = SpirvBuilder::new(SpirvVersion::V1_0);
        let void = b.void_type();
        b.set_name(void, &letter.repeat(400_000));
        let module = b.into_module();
        let mut names = module.section_insts(ModuleSection::Names);
        let name = names.next().expect("it is named").string_operand(1);
        assert_eq!(name.len() + rest, 4096);
        assert!(name.chars().all(|of| letter.starts_with(of)));
    }
}
