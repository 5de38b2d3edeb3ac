//! Call rules: the targets of calls that are not functions of a module, and their translations.

use super::demangle::{DemangledName, MangledParameter};
use super::function_body::FunctionTranslator;
use crate::ir::{LlvmInst, LlvmValue};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Scope};

/// The target of a call.
pub(super) enum LlvmCallee<'m> {
    /// A function of this module or of another one.
    Function,
    /// An intrinsic of LLVM.
    Intrinsic(Option<IntrinsicRule>, &'m str),
    /// A function of OpenCL.
    Builtin(OpenClBuiltinRule, DemangledName<'m>),
    /// A function that represents an instruction of SPIR-V.
    Spirv(DemangledName<'m>),
}

/// A call that is not to a function of a module.
pub(super) struct ExternalCall<'a> {
    pub(super) inst: LlvmInst,
    pub(super) name: &'a str,
    pub(super) args: &'a [LlvmValue],
    /// Types of the parameters, as the name states them.
    pub(super) params: &'a [MangledParameter<'a>],
    /// The type of the result, if the name states it.
    pub(super) result: Option<MangledParameter<'a>>,
}

impl ExternalCall<'_> {
    /// A required argument.
    pub(super) fn arg(&self, index: usize) -> LlvmResult<LlvmValue> {
        match self.args.get(index) {
            Some(value) => Ok(*value),
            None => Err(make_refusal("an argument is missing")),
        }
    }

    pub(super) fn param(&self, index: usize) -> Option<&MangledParameter<'_>> {
        self.params.get(index)
    }

    /// Whether the first parameter is of signed integers.
    pub(super) fn is_signed(&self) -> bool {
        self.param(0).is_some_and(MangledParameter::is_signed)
    }

    /// Whether the first parameter is of floats.
    pub(super) fn is_float(&self) -> bool {
        self.param(0).is_some_and(MangledParameter::is_float)
    }

    /// Selects one of three by the first parameter: for floats, signed and unsigned integers.
    pub(super) fn select_by_type<T>(&self, [float, signed, unsigned]: [T; 3]) -> T {
        if self.is_float() {
            float
        } else if self.is_signed() {
            signed
        } else {
            unsigned
        }
    }
}

/// A function that translates a call.
pub(super) type CallTranslateFn =
    fn(&mut FunctionTranslator<'_, '_>, &ExternalCall<'_>) -> LlvmResult<Option<Id>>;

/// The translation of a built-in function.
#[derive(Clone, Copy)]
pub(super) enum OpenClBuiltinRule {
    /// An extended instruction.
    Ext(u32),
    /// One extended instruction for signed and one for unsigned integers.
    Signed(u32, u32),
    /// Extended instructions for floats, signed and unsigned integers.
    Kinds([u32; 3]),
    /// An instruction whose result is a Boolean.
    Relational(Op),
    /// A component of a built-in variable, with the value for dimensions that do not exist; or the
    /// whole of a scalar one.
    WorkItem(BuiltIn, u32),
    /// A group operation.
    Group(GroupKind, Scope),
    /// An instruction on a subgroup.
    NonUniform(Op),
    /// An atomic access.
    Atomic(AtomicKind, BuiltinMemoryOrder),
    /// The translation by this function.
    By(CallTranslateFn),
    /// An instruction on the same operands, preceded by a scope if it has one.
    Instruction(Op, Option<Scope>),
}

/// The operation of an atomic function.
#[derive(Clone, Copy)]
pub(super) enum AtomicKind {
    /// An update by an operand: instructions for floats, signed and unsigned integers.
    Update([Option<Op>; 3]),
    /// An update without an operand.
    Step(Op),
    /// `(object, value)`, not atomic at all.
    Init,
    Load,
    Store,
    /// `(object, expected, new)` returns the old value.
    CompareValue,
    /// `(object, pointer to expected, new)` returns whether they were equal.
    CompareObject,
    FlagSet,
    FlagClear,
}

/// The source of an atomic function's memory order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltinMemoryOrder {
    /// It is relaxed: OpenCL 1.
    Relaxed,
    /// It is sequentially consistent.
    Strong,
    /// Arguments: the order, or two orders, and optionally the scope.
    Explicit,
}

/// The operation of a group function.
#[derive(Clone, Copy)]
pub(super) enum GroupKind {
    /// Whether all or any have a predicate.
    Vote(Op),
    /// The value of one item.
    Broadcast,
}

/// The translation of an intrinsic.
#[derive(Clone, Copy)]
pub(super) enum IntrinsicRule {
    /// Nothing: it is a hint.
    Ignored,
    /// Its first argument.
    First,
    /// An extended instruction on the first `n` arguments.
    Ext(u32, usize),
    /// An extended instruction on two integers, signed or not.
    Integer(u32, bool),
    /// An instruction on the first `n` arguments.
    Op(Op, usize),
    /// A built-in variable, or the component that the argument selects.
    BuiltIn(BuiltIn),
    /// The translation by this function.
    By(CallTranslateFn),
}
