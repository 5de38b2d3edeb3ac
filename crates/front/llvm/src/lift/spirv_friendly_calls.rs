//! SPIR-V friendly calls: calls of functions that are named after instructions.
//!
//! `__spirv_NAME` stands for an instruction, `__spirv_ocl_NAME` and `__spirv_glsl_NAME` for an
//! extended one of OpenCL and GLSL. The operands are those of the grammar's row. Ids are arguments;
//! literals, enumerants and their parameters are 32-bit numbers; a type is an undefined value of
//! that type. Suffixes follow the name: `_R` and the result type if the operands do not determine
//! it, `_sat` for a saturating conversion, and its rounding mode.

use super::body::{FunctionLifter, LiftSource};
use super::lifter::SpirvLifter;
use super::mangle::MangledNameBuilder;
use crate::ir::{
    AttrKind, AttrSet, CallingConvention, ConstKind, Linkage, LlvmAttribute, LlvmFunc,
    LlvmInstFlags, LlvmType, LlvmTypeKind, LlvmValue,
};
use crate::translate::CALLABLE;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{Decoration, FPRoundingMode, StorageClass};
use spirula_spirv::grammar::{
    ExtInstSet, InstructionEffects, Kind, Op, OperandCategory, OperandIter, OperandQuantifier,
    opencl_std,
};

/// Rounding modes as names of functions end in them.
const ROUNDING: &[(FPRoundingMode, &str)] = &[
    (FPRoundingMode::RTE, "_rte"),
    (FPRoundingMode::RTZ, "_rtz"),
    (FPRoundingMode::RTP, "_rtp"),
    (FPRoundingMode::RTN, "_rtn"),
];

/// The target of a cast from the generic address space.
const SPACES: &[(StorageClass, &str)] = &[
    (StorageClass::CrossWorkgroup, "_ToGlobal"),
    (StorageClass::Workgroup, "_ToLocal"),
    (StorageClass::Function, "_ToPrivate"),
];

/// Extended instruction sets, and the prefixes of their names.
const SETS: &[(&str, &str)] = &[("OpenCL.std", "ocl"), ("GLSL.std.450", "glsl")];

impl SpirvLifter<'_> {
    /// A function that SPIR-V or LLVM provides, declared at its first use.
    pub(super) fn declare_provided_function(
        &mut self,
        name: &str,
        result: LlvmType,
        params: &[LlvmType],
        variadic: bool,
    ) -> LlvmFunc {
        let ty = self.out.types.intern_type(LlvmTypeKind::Function {
            result,
            params: params.into(),
            variadic,
        });
        let mut symbol = self.out.strings.intern_text(name);
        let mut number = 0;
        // Functions of the same name must have the same type.
        while let Some(&func) = self.provided.get(&symbol) {
            if self.out.function(func).ty == ty {
                return func;
            }
            number += 1;
            symbol = self.out.strings.intern_text(&format!("{name}.{number}"));
        }
        let convention = if name.starts_with("llvm.") {
            CallingConvention::C
        } else {
            CallingConvention::SPIR_FUNC
        };
        self.used_names.insert(symbol, 0);
        let func = self.push_function(symbol, ty, convention, Linkage::External);
        self.provided.insert(symbol, func);
        func
    }

    /// States the effects of calling a function as attributes.
    fn state_effects(&mut self, func: LlvmFunc, effects: InstructionEffects) {
        let mut own = vec![LlvmAttribute::Plain(AttrKind::NoUnwind)];
        if effects.contains(InstructionEffects::CONVERGENT) {
            own.push(LlvmAttribute::Plain(AttrKind::Convergent));
        }
        if effects.is_pure() {
            own.push(LlvmAttribute::Number(AttrKind::Memory, 0));
            own.push(LlvmAttribute::Plain(AttrKind::WillReturn));
        }
        let own = self.out.attributes.intern_set(own);
        let none = AttrSet::EMPTY;
        self.out.functions[func.index()].attributes =
            self.out.attributes.intern_list(own, none, vec![]);
    }
}

/// The arguments of a call, and the parts of its mangled name.
struct FriendlyCallArguments {
    values: Vec<LlvmValue>,
    /// Types of the arguments that are ids, and mangled letters of the others.
    types: Vec<Option<Id>>,
}

impl<'s> FunctionLifter<'_, 's> {
    /// A call of the function named after an instruction.
    pub(super) fn lift_friendly_call(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let Some(row) = source.op.info().filter(|row| CALLABLE.contains(&row.class)) else {
            return Err(make_refusal("it has no counterpart in LLVM IR"));
        };
        let head = [source.ty, source.result];
        let mut words: Vec<u32> = head.iter().flatten().map(|id| id.word()).collect();
        words.extend_from_slice(source.operands);
        let mut arguments = FriendlyCallArguments {
            values: Vec::new(),
            types: Vec::new(),
        };
        for operand in OperandIter::new(source.op, &words) {
            let operand = operand.map_err(|error| error.to_string())?;
            if !matches!(operand.kind, Kind::IdResultType | Kind::IdResult) {
                self.lift_friendly_argument(operand.kind, operand.words, &mut arguments)?;
            }
        }
        let name = row.name.strip_prefix("Op").unwrap_or(row.name);
        let name = format!(
            "__spirv_{name}{}",
            self.make_name_suffixes(source, &arguments)
        );
        self.call_named(&name, source, &arguments, source.op.effects())
    }

    /// The address of a component of a cooperative matrix. LLVM IR has no components of them.
    pub(super) fn lift_matrix_component(
        &mut self,
        source: &LiftSource<'s>,
        matrix: LlvmValue,
        index: Id,
    ) -> LlvmResult<Option<LlvmValue>> {
        let arguments = FriendlyCallArguments {
            values: vec![matrix, self.l.find_value(index)?],
            types: vec![source.ty, Some(self.l.type_of(index)?)],
        };
        let name = "__spirv_AccessChain";
        self.call_named(name, source, &arguments, Op::AccessChain.effects())
    }

    fn lift_friendly_argument(
        &mut self,
        kind: Kind,
        words: &[u32],
        to: &mut FriendlyCallArguments,
    ) -> LlvmResult<()> {
        let (value, ty) = match (kind.info().category, words) {
            (OperandCategory::Id, [word]) => {
                let id = Id::new(*word).ok_or("an operand has the id 0")?;
                match self.l.types[id] {
                    Some(lowered) => {
                        let kind = ConstKind::Undef;
                        let undefined = self.l.out.consts.intern_constant(lowered.ty, kind);
                        (LlvmValue::from_constant(undefined), Some(id))
                    }
                    None => (self.l.find_value(id)?, Some(self.l.type_of(id)?)),
                }
            }
            (_, [word]) if kind != Kind::LiteralString => {
                (LlvmValue::from_constant(self.l.make_i32(*word)), None)
            }
            _ => {
                return Err(make_refusal(
                    "an operand that is a string has no counterpart",
                ));
            }
        };
        to.values.push(value);
        to.types.push(ty);
        Ok(())
    }

    /// The suffixes of the name.
    fn make_name_suffixes(
        &self,
        source: &LiftSource<'s>,
        arguments: &FriendlyCallArguments,
    ) -> String {
        let mut suffixes = String::new();
        let is_stated = |ty| arguments.types.contains(&Some(ty));
        if source.op == Op::GenericCastToPtrExplicit {
            let class = source.operands.get(1).copied().map(StorageClass);
            let space = SPACES.iter().find(|row| Some(row.0) == class);
            return space.map_or("", |row| row.1).to_owned();
        }
        if let Some(ty) = source.ty.filter(|ty| !is_stated(*ty))
            && self
                .l
                .find_lowered_type(ty)
                .is_ok_and(|lowered| lowered.ty != LlvmType::VOID)
        {
            suffixes.push_str("_R");
            suffixes.push_str(&self.l.result_name(ty));
        }
        let Some(id) = source.result else {
            return suffixes;
        };
        if self
            .l
            .find_decoration(id, Decoration::SaturatedConversion)
            .is_some()
        {
            suffixes.push_str("_sat");
        }
        if let Some(words) = self.l.find_decoration(id, Decoration::FPRoundingMode) {
            let mode = FPRoundingMode(words[0]);
            let row = ROUNDING.iter().find(|row| row.0 == mode);
            suffixes.push_str(row.map_or("", |row| row.1));
        }
        suffixes
    }

    fn call_named(
        &mut self,
        name: &str,
        source: &LiftSource<'s>,
        arguments: &FriendlyCallArguments,
        effects: InstructionEffects,
    ) -> LlvmResult<Option<LlvmValue>> {
        let mut mangled = MangledNameBuilder::new(name);
        for ty in &arguments.types {
            match ty {
                Some(ty) => mangled.push_param(&self.l.mangle_type(*ty)),
                None => mangled.push_letters("i"),
            }
        }
        if arguments.types.is_empty() {
            mangled.push_letters("v");
        }
        let result = match source.ty {
            Some(ty) => self.l.find_type(ty)?,
            None => LlvmType::VOID,
        };
        let types: Vec<LlvmType> = arguments.values.iter().map(|v| self.type_of(*v)).collect();
        let func = self
            .l
            .declare_provided_function(&mangled.finish_name(), result, &types, false);
        self.l.state_effects(func, effects);
        let floating = self
            .l
            .out
            .types
            .float_width(self.l.out.types.scalar_type(result));
        let flags = match floating {
            Some(_) => self.fast_math(source),
            None => LlvmInstFlags::NONE,
        };
        let value = self.push_call(func, flags, &arguments.values);
        Ok((result != LlvmType::VOID).then_some(value))
    }

    /// An extended instruction.
    pub(super) fn lift_extended_instruction(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let import = self.l.definitions.get(self.l.source, source.read_id(0)?);
        let Some(import) = import.filter(|inst| inst.op() == Op::ExtInstImport) else {
            return Err(make_refusal("its set is not imported"));
        };
        let name = import.string_operand(0);
        if name.starts_with("NonSemantic.") || name.contains("DebugInfo") {
            return Ok(None);
        }
        let number = source.read_word(1)?;
        let prefix = SETS.iter().find(|row| row.0 == name);
        let (Some(set), Some((_, prefix))) = (ExtInstSet::by_name(&name), prefix) else {
            return Err(make_refusal(format!(
                "the extended instructions of {name} are not supported"
            )));
        };
        let Some(row) = set.instruction_by_number(number) else {
            return Err(make_refusal(format!("{name} has no instruction {number}")));
        };
        if *prefix == "ocl" && number == opencl_std::PRINTF {
            return self.lift_printf(source);
        }
        let mut arguments = FriendlyCallArguments {
            values: Vec::new(),
            types: Vec::new(),
        };
        for (index, word) in source.operands[2..].iter().enumerate() {
            let operand = row.operands.get(index).or(row.operands.last());
            let operand = operand.filter(|operand| {
                index < row.operands.len() || operand.quantifier == OperandQuantifier::Many
            });
            let kind = operand.ok_or("it has more operands than its row")?.kind;
            self.lift_friendly_argument(kind, std::slice::from_ref(word), &mut arguments)?;
        }
        let suffixes = self.make_name_suffixes(source, &arguments);
        let name = format!("__spirv_{prefix}_{}{suffixes}", row.name);
        self.call_named(&name, source, &arguments, set.instruction_effects(number))
    }

    /// `printf`, which any number of arguments may follow.
    fn lift_printf(&mut self, source: &LiftSource<'s>) -> LlvmResult<Option<LlvmValue>> {
        let args = self.operand_values(source, 2)?;
        let Some(&format) = args.first() else {
            return Err(make_refusal("it has no format"));
        };
        let result = self.result_type(source)?;
        let params = [self.type_of(format)];
        let func = self
            .l
            .declare_provided_function("printf", result, &params, true);
        Ok(Some(self.push_call(func, LlvmInstFlags::NONE, &args)))
    }

    /// `OpConstantSampler`: a literal as OpenCL C writes them.
    pub(super) fn lift_constant_sampler(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (addressing, normalised) = (source.read_word(0)?, source.read_word(1)?);
        let filter = source.read_word(2)? + 1;
        let literal = addressing << 1 | normalised & 1 | filter << 4;
        let ty = self.result_type(source)?;
        let literal = LlvmValue::from_constant(self.l.make_i32(literal));
        let name = "__translate_sampler_initializer";
        let func = self
            .l
            .declare_provided_function(name, ty, &[LlvmType::I32], false);
        Ok(Some(self.push_call(func, LlvmInstFlags::NONE, &[literal])))
    }
}
