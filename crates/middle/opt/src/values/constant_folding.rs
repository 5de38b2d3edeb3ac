//! Constant folding: replaces an instruction on constants by its result, component by component, by the table of
//! [`spirula_scalar::fold`].

use super::ModuleValues;
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::{self, FoldConstant, FoldType};
use spirula_scalar::table::{ScalarExtInst, ScalarExtSet};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, InstRef, SpirvModule};
use std::sync::OnceLock;

/// Functions whose result is rounded at most once, so that every device computes the same. Other functions are
/// left to the device.
const EXACT: &[&str] = &[
    "Round",
    "RoundEven",
    "Trunc",
    "FAbs",
    "SAbs",
    "FSign",
    "SSign",
    "Floor",
    "Ceil",
    "FMin",
    "UMin",
    "SMin",
    "FMax",
    "UMax",
    "SMax",
    "FClamp",
    "UClamp",
    "SClamp",
    "Fma",
    "Ldexp",
    "FindILsb",
    "FindSMsb",
    "FindUMsb",
    "NMin",
    "NMax",
    "NClamp",
    "ceil",
    "copysign",
    "fabs",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "ldexp",
    "rint",
    "round",
    "trunc",
    "fclamp",
    "s_abs",
    "s_max",
    "s_min",
    "u_max",
    "u_min",
    "s_clamp",
    "u_clamp",
    "clz",
    "ctz",
    "popcount",
    "rotate",
    "s_mad24",
    "u_mad24",
    "s_mul24",
    "u_mul24",
    "s_mul_hi",
    "u_mul_hi",
    "s_add_sat",
    "u_add_sat",
    "s_sub_sat",
    "u_sub_sat",
    "s_hadd",
    "u_hadd",
    "s_rhadd",
    "u_rhadd",
    "s_abs_diff",
    "u_abs_diff",
    "bitselect",
];

impl ModuleValues {
    /// The constant that an instruction computes.
    pub fn fold_inst(&mut self, module: &mut SpirvModule, inst: Inst) -> Option<Id> {
        let i = module.inst(inst);
        let ty = i.result_type()?;
        let skip = first_value(i.op());
        let first = i.get_id(skip)?;
        if !self.is_constant(module, first) {
            return None;
        }
        let results = self.evaluate_with(module, i, |id| id)?;
        self.intern_lanes(module, ty, &results)
    }

    /// The components that an instruction computes when its operands are substituted.
    fn evaluate_with(
        &self,
        module: &SpirvModule,
        inst: InstRef<'_>,
        put: impl Fn(Id) -> Id,
    ) -> Option<Vec<u64>> {
        let mut operands: Vec<Vec<FoldConstant>> = Vec::with_capacity(3);
        for id in inst.id_operands(first_value(inst.op())) {
            let mut lanes = Vec::new();
            self.read_constant_lanes(module, put(id), &mut lanes)?;
            operands.push(lanes);
        }
        self.evaluate_components(module, inst, &operands)
    }

    /// The result of an instruction on a selection of two constants and other constants. It is a constant, or a
    /// selection of two results (condition and both constants).
    pub fn fold_select_operand(
        &mut self,
        module: &mut SpirvModule,
        inst: Inst,
    ) -> Option<(Id, [Id; 2])> {
        let i = module.inst(inst);
        if i.op() == Op::Select {
            return None;
        }
        let (ty, skip) = (i.result_type()?, first_value(i.op()));
        let choice = i
            .id_operands(skip)
            .find_map(|id| self.def_of(module, id, Op::Select))?;
        let (chosen, condition) = (choice.result()?, choice.id_operand(0));
        if !self.is_foldable(i)
            || self.component_count(module, chosen) != self.scalar_shape(module, ty)?.1
        {
            return None;
        }
        let side =
            |value: Id| self.evaluate_with(module, i, |id| if id == chosen { value } else { id });
        let (first, second) = (side(choice.id_operand(1))?, side(choice.id_operand(2))?);
        let first = self.intern_lanes(module, ty, &first)?;
        let second = self.intern_lanes(module, ty, &second)?;
        Some((condition, [first, second]))
    }

    /// The number of components of a numeric value; 0 for other values.
    fn component_count(&self, module: &SpirvModule, value: Id) -> u32 {
        let ty = self.type_of(module, value);
        ty.and_then(|ty| self.scalar_shape(module, ty))
            .map_or(0, |s| s.1)
    }

    /// The function of an extended instruction, if its result is the same on every device.
    fn foldable_function(&self, inst: InstRef<'_>) -> Option<&'static ScalarExtInst> {
        let set = self
            .ids
            .ext_inst_set(inst)
            .filter(|_| inst.op() == Op::ExtInst)?;
        let function = ScalarExtSet::from_name(set.name)?.find_function(inst.operand_word(1))?;
        Some(function).filter(|f| EXACT.contains(&f.name))
    }

    /// Whether an instruction of this kind is constant if its operands are.
    pub fn is_foldable(&self, inst: InstRef<'_>) -> bool {
        let op = inst.op();
        if op == Op::ExtInst {
            return self.foldable_function(inst).is_some();
        }
        static FOLDABLE: OnceLock<Vec<bool>> = OnceLock::new();
        let foldable = FOLDABLE.get_or_init(|| {
            let most = fold::list_rules().iter().map(|r| r.opcode).max();
            let mut table = vec![false; most.map_or(0, |m| m as usize + 1)];
            for rule in fold::list_rules() {
                table[rule.opcode as usize] = true;
            }
            table
        });
        foldable.get(usize::from(op.0)) == Some(&true)
    }

    /// The components that an instruction computes from the components of its operands.
    pub fn evaluate_components(
        &self,
        module: &SpirvModule,
        inst: InstRef<'_>,
        operands: &[Vec<FoldConstant>],
    ) -> Option<Vec<u64>> {
        let op = inst.op();
        let function = self.foldable_function(inst);
        if !self.is_foldable(inst) {
            return None;
        }
        let (scalar, count) = self.scalar_shape(module, inst.result_type()?)?;
        let fits = |o: &Vec<FoldConstant>| o.len() == 1 || o.len() == count as usize;
        if !operands.iter().all(fits) || !self.may_compute(op, scalar, operands) {
            return None;
        }
        let lane = |lane: usize| {
            let values: Vec<FoldConstant> =
                operands.iter().map(|o| o[lane.min(o.len() - 1)]).collect();
            match function {
                Some(function) => fold::eval_extended(function, scalar, &values),
                None => fold::eval_core(op.0.into(), scalar, &values),
            }
        };
        (0..count as usize).map(lane).collect()
    }

    /// Whether the result of an operation is independent of the device.
    fn may_compute(&self, op: Op, result: FoldType, operands: &[Vec<FoldConstant>]) -> bool {
        let is_float = |ty: FoldType| matches!(ty, FoldType::Float(_));
        let float = is_float(result) || operands.iter().flatten().any(|v| is_float(v.ty));
        if float && !self.floats && !matches!(op, Op::Bitcast | Op::Select | Op::CopyObject) {
            return false;
        }
        match op {
            Op::UDiv | Op::SDiv | Op::UMod | Op::SRem | Op::SMod => {
                let lowest = 1u64 << (result.width() - 1);
                let least = operands[0].iter().any(|v| v.bits == lowest);
                let all = u64::MAX >> (64 - result.width());
                operands[1]
                    .iter()
                    .all(|v| v.bits != 0 && !(least && v.bits == all))
            }
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
                let width = u64::from(result.width());
                operands[1].iter().all(|v| v.bits < width)
            }
            Op::FRem | Op::FMod => false,
            // Results out of range are undefined.
            Op::ConvertFToU | Op::ConvertFToS => operands[0].iter().all(|v| {
                let number = fold::eval_core(
                    Op::FConvert.0.into(),
                    FoldType::Float(FloatEncoding::F64),
                    &[*v],
                );
                let number = if v.ty == FoldType::Float(FloatEncoding::F64) {
                    Some(v.bits)
                } else {
                    number
                };
                let Some(number) = number.map(f64::from_bits) else {
                    return false;
                };
                let bits = result.width() as i32;
                let (low, high) = if op == Op::ConvertFToS {
                    (-(2f64.powi(bits - 1)) - 1.0, 2f64.powi(bits - 1))
                } else {
                    (-1.0, 2f64.powi(bits))
                };
                number > low && number < high
            }),
            _ => true,
        }
    }
}

/// The index of the first operand that is a value.
pub fn first_value(op: Op) -> usize {
    if op == Op::ExtInst { 2 } else { 0 }
}
