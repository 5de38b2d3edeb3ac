//! Pointee inference tests, without the translation.

use spirula_llvm::ir::{LlvmFunc, LlvmModule, LlvmType, LlvmTypeKind};
use spirula_llvm::pointee_inference::{InferredPointees, NoHints, PointeeHints};
use spirula_llvm::read_module;

fn module(text: &str) -> LlvmModule {
    read_module(text.as_bytes()).expect("the text is sound")
}

/// The pointee of the local of this name in the first function with a body.
fn pointee(module: &LlvmModule, pointees: &InferredPointees, name: &str) -> Option<LlvmType> {
    let (func, local) = find(module, name);
    pointees.local_pointee(func, local)
}

fn find(module: &LlvmModule, name: &str) -> (LlvmFunc, usize) {
    for func in module.function_ids() {
        let function = module.function(func);
        for local in 0..function.local_count() {
            if module.symbol_text(function.local_name(local)) == name {
                return (func, local);
            }
        }
    }
    panic!("no local {name}");
}

#[test]
fn phis_selects_and_calls_are_one_class() {
    let module = module(
        "define ptr @callee(ptr %q) { ret ptr %q }
         define void @f(i1 %c, ptr %a, ptr %b) {
         entry:
           br i1 %c, label %left, label %join
         left:
           br label %join
         join:
           %p = phi ptr [ %a, %entry ], [ %b, %left ]
           %r = call ptr @callee(ptr %p)
           %s = select i1 %c, ptr %r, ptr %a
           %x = load double, ptr %s
           ret void
         }",
    );
    let pointees = InferredPointees::infer_pointees(&module, &NoHints);
    for name in ["q", "a", "b", "p", "r", "s"] {
        assert_eq!(
            pointee(&module, &pointees, name),
            Some(LlvmType::DOUBLE),
            "{name}"
        );
    }
    assert_eq!(pointee(&module, &pointees, "c"), None, "it is no pointer");
}

#[test]
fn the_heaviest_votes_win() {
    let module = module(
        "%pair = type { i32, float }
         define void @f(ptr %p, ptr %bytes, ptr byval(%pair) %v) {
           %x = load i32, ptr %p
           %field = getelementptr %pair, ptr %p, i64 1, i32 1
           %byte = getelementptr i8, ptr %bytes, i64 3
           %y = load i16, ptr %byte
           %z = load i8, ptr %v
           ret void
         }",
    );
    let pointees = InferredPointees::infer_pointees(&module, &NoHints);
    let is_pair = |name| {
        let ty = pointee(&module, &pointees, name).expect("there are votes");
        matches!(module.types.kind(ty), LlvmTypeKind::Struct { .. })
    };
    assert!(
        is_pair("p"),
        "walking through a structure weighs more than a load"
    );
    assert!(is_pair("v"), "an attribute weighs more than anything");
    assert_eq!(pointee(&module, &pointees, "field"), Some(LlvmType::FLOAT));
    assert_eq!(pointee(&module, &pointees, "bytes"), Some(LlvmType::I8));
    assert_eq!(pointee(&module, &pointees, "byte"), Some(LlvmType::I16));
}

#[test]
fn pointers_in_memory_are_not_followed() {
    let module = module(
        "define void @f(ptr %list) {
           %first = load ptr, ptr %list
           %next = load ptr, ptr %first
           %x = load i64, ptr %next
           ret void
         }",
    );
    let pointees = InferredPointees::infer_pointees(&module, &NoHints);
    let is_pointer = |name| {
        let ty = pointee(&module, &pointees, name).expect("there are votes");
        matches!(module.types.kind(ty), LlvmTypeKind::Pointer { .. })
    };
    assert!(is_pointer("list") && is_pointer("first"));
    assert_eq!(pointee(&module, &pointees, "next"), Some(LlvmType::I64));
}

struct HalfPointeeHints;

impl PointeeHints for HalfPointeeHints {
    fn argument_pointee(&self, _: LlvmFunc, index: usize) -> Option<LlvmType> {
        (index == 0).then_some(LlvmType::HALF)
    }

    fn parameter_pointee(&self, _: LlvmFunc, _: usize) -> Option<LlvmType> {
        None
    }
}

#[test]
fn hints_give_pointees_of_declarations() {
    let module = module(
        "declare void @outside(ptr, ptr)
         define void @f(ptr %a, ptr %b) {
           call void @outside(ptr %a, ptr %b)
           ret void
         }",
    );
    let pointees = InferredPointees::infer_pointees(&module, &HalfPointeeHints);
    assert_eq!(pointee(&module, &pointees, "a"), Some(LlvmType::HALF));
    assert_eq!(pointee(&module, &pointees, "b"), None);
}
