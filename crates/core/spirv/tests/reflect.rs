//! Interfaces of entry points, and layouts of types.

use spirula_spirv::analysis::{IdDecorations, IdDefinitions, TypeLayouts};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, ExecutionMode, ExecutionModel, StorageClass};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{
    BindingKind, EntryDetails, EntryInterface, InterfaceVariable, ParamKind, entry_points,
    program_variable_bytes, spec_constants, subgroup_demands,
};
use spirula_spirv::text::{ParseOptions, parse_assembly};

fn module(text: &str) -> SpirvModule {
    let words = parse_assembly(text, &ParseOptions::default()).expect("the text is sound");
    SpirvModule::from_words(words).expect("the module is sound")
}

#[test]
fn parameters_of_a_kernel() {
    let module = module(include_str!("reflect/kernel.spvasm"));
    assert_eq!(
        entry_points(&module),
        [("main".to_owned(), ExecutionModel::Kernel)]
    );
    let interface =
        EntryInterface::from_module(&module, "main").expect("there is such an entry point");
    assert_eq!(interface.workgroup_size, Some([8, 4, 1]));
    assert!(interface.bindings.is_empty() && interface.push_constant_bytes == 0);
    let params = &interface.params;
    assert_eq!(params[0].name.as_deref(), Some("data"));
    let value = |n: usize| match params[n].kind {
        ParamKind::Value {
            size,
            align,
            by_pointer,
            ..
        } => (size, align, by_pointer),
        other => panic!("parameter {n} is {other:?}"),
    };
    let class = StorageClass::CrossWorkgroup;
    assert!(matches!(params[0].kind, ParamKind::Buffer { class: c, .. } if c == class));
    assert!(matches!(params[1].kind, ParamKind::Workgroup { .. }));
    assert_eq!(
        value(2),
        (16, 16, false),
        "three floats take the room of four"
    );
    assert_eq!(value(3), (16, 8, true));
    assert_eq!(value(4), (9, 1, true), "packed");
    assert!(matches!(params[5].kind, ParamKind::Opaque { .. }));
}

#[test]
fn resources_of_a_shader() {
    let module = module(include_str!("reflect/shader.spvasm"));
    let interface =
        EntryInterface::from_module(&module, "main").expect("there is such an entry point");
    assert_eq!(
        interface.workgroup_size,
        Some([64, 1, 1]),
        "the constant counts above the mode"
    );
    assert_eq!(interface.push_constant_bytes, 20);
    let found: Vec<_> = interface
        .bindings
        .iter()
        .map(|b| (b.set, b.binding, b.count, b.read_only, b.name.as_deref()))
        .collect();
    let expected = [
        (0, 1, 1, true, None),
        (0, 5, 3, false, Some("outputs")),
        (1, 2, 1, true, Some("input")),
    ];
    assert_eq!(found, expected);
    let unused: Vec<_> = interface.unused.iter().map(|b| b.binding).collect();
    assert_eq!(unused, [9], "no function that is called uses it");
    assert!(matches!(
        interface.bindings[0].kind,
        BindingKind::Uniform(_)
    ));
    assert!(matches!(
        interface.bindings[1].kind,
        BindingKind::Storage(_)
    ));
    assert!(matches!(
        interface.bindings[2].kind,
        BindingKind::Storage(_)
    ));
    let constants = spec_constants(
        &module,
        &IdDefinitions::from_module(&module),
        &IdDecorations::from_module(&module),
    );
    let constants: Vec<_> = constants.iter().map(|c| (c.spec_id, c.default)).collect();
    assert_eq!(constants, [(3, 64), (4, 1)]);
}

#[test]
fn layouts_follow_decorations() {
    let module = module(include_str!("reflect/shader.spvasm"));
    let definitions = IdDefinitions::from_module(&module);
    let layouts = TypeLayouts::from_module(
        &module,
        &definitions,
        &IdDecorations::from_module(&module),
        |id| definitions.default_value(&module, id),
    )
    .expect("all lengths are known");
    let block = module
        .all_insts()
        .find(|i| i.op() == Op::TypeStruct && i.operands().len() == 3);
    let block = block.and_then(|b| b.result()).expect("the block is there");
    assert_eq!(layouts.member_layout(block, 0).offset, 0);
    let matrix = layouts.member_layout(block, 1);
    assert_eq!(
        (matrix.offset, matrix.matrix_stride, matrix.row_major),
        (16, Some(16), true)
    );
    assert_eq!(layouts.member_layout(block, 2).offset, 96);
    let array = module.all_insts().find(|i| i.op() == Op::TypeRuntimeArray);
    let array = array.and_then(|a| a.result()).expect("the array is there");
    assert_eq!(
        (layouts.get(array).stride, layouts.get(array).size),
        (16, 0)
    );
}

#[test]
fn a_missing_entry_point_names_those_that_are_there() {
    let module = module(include_str!("reflect/kernel.spvasm"));
    let error =
        EntryInterface::from_module(&module, "mian").expect_err("there is no such entry point");
    assert_eq!(error.hint.as_deref(), Some("it has: main"));
}

#[test]
fn stages_of_a_pipeline() {
    let module = module(include_str!("reflect/fragment.spvasm"));
    let details = EntryDetails::from_module(&module, "main").expect("there is such an entry point");
    let modes: Vec<_> = details.modes.iter().map(|m| m.mode).collect();
    assert_eq!(
        modes,
        [
            ExecutionMode::OriginUpperLeft,
            ExecutionMode::DepthReplacing
        ]
    );
    let place = |p: &InterfaceVariable| (p.name.clone().unwrap_or_default(), p.location, p.builtin);
    let inputs: Vec<_> = details.inputs.iter().map(place).collect();
    let at = |name: &str, location| (name.to_owned(), location, None);
    assert_eq!(
        inputs,
        [
            at("uv", Some((0, 2))),
            at("colour", Some((1, 0))),
            at("fog", Some((2, 0))),
        ]
    );
    let outputs: Vec<_> = details.outputs.iter().map(place).collect();
    let depth = ("depth".to_owned(), None, Some(BuiltIn::FragDepth));
    assert_eq!(outputs, [at("target", Some((0, 0))), depth]);
    let pushed = details.push_constants.iter();
    let pushed: Vec<_> = pushed
        .map(|m| (m.name.as_deref(), m.offset, m.size))
        .collect();
    assert_eq!(pushed, [(Some("scale"), 0, 4), (None, 16, 16)]);
    assert!(EntryDetails::from_module(&module, "other").is_err());
}

#[test]
fn declared_needs_of_kernels() {
    let module = module(include_str!("reflect/needs.spvasm"));
    let bytes = |name| EntryDetails::from_module(&module, name).map(|d| d.workgroup_bytes);
    assert_eq!(bytes("both"), Ok(64 + 4));
    assert_eq!(bytes("none"), Ok(0));
    assert_eq!(program_variable_bytes(&module), 16);
    let demands = subgroup_demands(&module).into_iter();
    let demands: Vec<_> = demands.map(|demand| (demand.entry, demand.size)).collect();
    assert_eq!(demands, [("both".to_owned(), 16)]);
}
