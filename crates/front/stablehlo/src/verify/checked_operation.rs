//! An operation that is checked: queries of the rules, and reports of violations.

use crate::dialect::{AttributeRecord, IntegerList, MissingAttribute, MlirOpcode, NamedInteger};
use crate::mlir::{
    DimSize, IntegerSignedness, MlirBlock, MlirModule, MlirOp, MlirRegion, MlirType, MlirTypeKind,
    MlirValue,
};
use spirula_diagnostics::SourceDiagnostic;
use std::fmt::Write;

/// Violation of a rule by an operation.
#[derive(Debug)]
pub(crate) struct RuleViolation {
    message: String,
    hint: Option<String>,
}

/// Result of checking a rule.
pub(crate) type RuleResult<T = ()> = Result<T, RuleViolation>;

/// Reports a violation.
pub(crate) fn report_violation<T>(message: impl Into<String>) -> RuleResult<T> {
    Err(RuleViolation {
        message: message.into(),
        hint: None,
    })
}

impl RuleViolation {
    /// The same with a hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn into_diagnostic(self, module: &MlirModule, op: MlirOp) -> SourceDiagnostic {
        let message = format!("`{}`: {}", module.op_name(op), self.message);
        let diagnostic = SourceDiagnostic::error(module.source_location(op), message);
        match self.hint {
            Some(hint) => diagnostic.with_hint(hint),
            None => diagnostic,
        }
    }
}

/// Set of kinds of element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ElementClasses(u8);

impl ElementClasses {
    pub const BOOL: ElementClasses = ElementClasses(1);
    pub const SIGNED: ElementClasses = ElementClasses(2);
    pub const UNSIGNED: ElementClasses = ElementClasses(4);
    pub const FLOAT: ElementClasses = ElementClasses(8);
    pub const COMPLEX: ElementClasses = ElementClasses(16);
    pub const QUANTIZED: ElementClasses = ElementClasses(32);
    pub const INTEGER: ElementClasses = ElementClasses(2 | 4);
    /// All element types of tensors.
    pub const ANY: ElementClasses = ElementClasses(63);

    pub const fn or(self, other: ElementClasses) -> ElementClasses {
        ElementClasses(self.0 | other.0)
    }

    fn has_any(self, other: ElementClasses) -> bool {
        self.0 & other.0 != 0
    }

    fn format_names(self) -> String {
        const NAMES: [&str; 6] = [
            "i1",
            "signed integers",
            "unsigned integers",
            "floats",
            "complex numbers",
            "quantised numbers",
        ];
        let named = (0..6).filter(|bit| self.0 >> bit & 1 == 1);
        named.map(|bit| NAMES[bit]).collect::<Vec<_>>().join(", ")
    }
}

/// An operation with the types that its rule checks.
pub(crate) struct CheckedOperation<'m> {
    pub module: &'m MlirModule,
    pub op: MlirOp,
    /// Types of the operands.
    pub operands: Vec<MlirType>,
    /// Types of the results.
    pub results: Vec<MlirType>,
}

impl<'m> CheckedOperation<'m> {
    pub fn new(module: &'m MlirModule, op: MlirOp) -> Self {
        let types = |values: &[MlirValue]| values.iter().map(|&v| module.type_of(v)).collect();
        CheckedOperation {
            module,
            op,
            operands: types(module.operands(op)),
            results: module.results(op).map(|v| module.type_of(v)).collect(),
        }
    }

    pub fn opcode(&self) -> Option<MlirOpcode> {
        self.module.opcode(self.op)
    }

    /// All types of operands and results.
    pub fn all_types(&self) -> impl Iterator<Item = MlirType> {
        self.operands.iter().chain(&self.results).copied()
    }

    /// Sizes; `None` for a tensor without a known rank.
    pub fn tensor_shape(&self, ty: MlirType) -> Option<&'m [DimSize]> {
        self.module.types.shape(ty)
    }

    pub fn element_type(&self, ty: MlirType) -> MlirType {
        self.module.types.element_type(ty)
    }

    pub fn format_type(&self, ty: MlirType) -> String {
        self.module.show_type(ty)
    }

    /// The class of an element type; `None` if it has none.
    fn element_class(&self, element: MlirType) -> Option<ElementClasses> {
        Some(match *self.module.types.kind(element) {
            MlirTypeKind::Integer {
                width: 1,
                sign: IntegerSignedness::Signless,
            } => ElementClasses::BOOL,
            MlirTypeKind::Integer {
                sign: IntegerSignedness::Unsigned,
                ..
            } => ElementClasses::UNSIGNED,
            // Older programs use `index` for sizes.
            MlirTypeKind::Integer { .. } | MlirTypeKind::Index => ElementClasses::SIGNED,
            MlirTypeKind::Float(_) => ElementClasses::FLOAT,
            MlirTypeKind::Complex(_) => ElementClasses::COMPLEX,
            MlirTypeKind::Quantized(_) => ElementClasses::QUANTIZED,
            _ => return None,
        })
    }

    pub fn has_class(&self, ty: MlirType, classes: ElementClasses) -> bool {
        self.element_class(self.element_type(ty))
            .is_some_and(|class| classes.has_any(class))
    }

    pub fn is_tensor(&self, ty: MlirType) -> bool {
        matches!(
            self.module.types.kind(ty),
            MlirTypeKind::Tensor { .. } | MlirTypeKind::UnrankedTensor(_)
        )
    }

    /// The elements of a tensor are of these classes.
    pub fn demand_class(&self, ty: MlirType, classes: ElementClasses) -> RuleResult {
        if self.is_tensor(ty) && self.has_class(ty, classes) {
            return Ok(());
        }
        let ty = self.format_type(ty);
        report_violation(format!(
            "{ty} is not a tensor of {}",
            classes.format_names()
        ))
    }

    /// The elements are signed integers of 32 bits.
    pub fn demand_i32(&self, ty: MlirType) -> RuleResult {
        let wanted = self.has_class(ty, ElementClasses::SIGNED)
            && self.bit_width(self.element_type(ty)) == Some(32);
        if wanted {
            Ok(())
        } else {
            report_violation(format!("{} is not a tensor of i32", self.format_type(ty)))
        }
    }

    pub fn is_bool(&self, ty: MlirType) -> bool {
        self.has_class(ty, ElementClasses::BOOL)
    }

    /// Whether elements are the same; quantised ones may differ in their scales.
    pub fn same_element(&self, a: MlirType, b: MlirType) -> bool {
        let (a, b) = (self.element_type(a), self.element_type(b));
        match (self.module.types.kind(a), self.module.types.kind(b)) {
            (MlirTypeKind::Quantized(a), MlirTypeKind::Quantized(b)) => {
                a.storage == b.storage && a.expressed == b.expressed
            }
            _ => a == b,
        }
    }

    /// Both types have elements of one class.
    pub fn demand_same_class(&self, a: MlirType, b: MlirType) -> RuleResult {
        let class = |ty| match self.element_class(self.element_type(ty)) {
            Some(ElementClasses::SIGNED | ElementClasses::UNSIGNED) => {
                Some(ElementClasses::INTEGER)
            }
            class => class,
        };
        if class(a) == class(b) {
            return Ok(());
        }
        let (a, b) = (self.format_type(a), self.format_type(b));
        report_violation(format!("{a} and {b} have elements of different kinds"))
    }

    /// Elements can be promoted: both are of one class, and the second has at least as many bits.
    pub fn demand_promotable(&self, from: MlirType, to: MlirType) -> RuleResult {
        self.demand_same_class(from, to)?;
        let bits = |ty| self.bit_width(self.element_type(ty));
        if self.has_class(from, ElementClasses::QUANTIZED) || bits(from) <= bits(to) {
            return Ok(());
        }
        let (from, to) = (self.format_type(from), self.format_type(to));
        report_violation(format!("elements of {from} do not fit into those of {to}"))
    }

    /// Bits of an element.
    pub fn bit_width(&self, element: MlirType) -> Option<u64> {
        Some(match self.module.types.kind(element) {
            MlirTypeKind::Integer { width, .. } => u64::from(*width),
            MlirTypeKind::Index => 64,
            MlirTypeKind::Float(float) => u64::from(float.width()),
            MlirTypeKind::Complex(part) => 2 * self.bit_width(*part)?,
            MlirTypeKind::Quantized(quantized) => self.bit_width(quantized.storage)?,
            _ => return None,
        })
    }

    pub fn demand_same_element(&self, a: MlirType, b: MlirType) -> RuleResult {
        if self.same_element(a, b) {
            return Ok(());
        }
        let (a, b) = (self.format_type(a), self.format_type(b));
        report_violation(format!("{a} and {b} have different elements"))
    }

    /// Whether two types may be the same at run time.
    pub fn is_compatible(&self, a: MlirType, b: MlirType) -> bool {
        if a == b {
            return true;
        }
        if let (MlirTypeKind::Tuple(a), MlirTypeKind::Tuple(b)) =
            (self.module.types.kind(a), self.module.types.kind(b))
        {
            let both = || a.iter().zip(b);
            return a.len() == b.len() && both().all(|(&a, &b)| self.is_compatible(a, b));
        }
        let tensors = self.is_tensor(a) && self.is_tensor(b);
        tensors && self.same_element(a, b) && self.same_shape(a, b)
    }

    pub fn same_shape(&self, a: MlirType, b: MlirType) -> bool {
        match (self.tensor_shape(a), self.tensor_shape(b)) {
            (Some(a), Some(b)) => is_compatible_shape(a, b),
            _ => true,
        }
    }

    pub fn demand_same_shape(&self, a: MlirType, b: MlirType) -> RuleResult {
        if self.same_shape(a, b) {
            return Ok(());
        }
        let (a, b) = (self.format_type(a), self.format_type(b));
        report_violation(format!("{a} and {b} have different shapes"))
    }

    pub fn demand_compatible(&self, a: MlirType, b: MlirType) -> RuleResult {
        if self.is_compatible(a, b) {
            return Ok(());
        }
        let (a, b) = (self.format_type(a), self.format_type(b));
        report_violation(format!("{a} and {b} should be the same type"))
    }

    /// A result has the shape and the elements that follow from the operands.
    pub fn demand_result(&self, number: usize, shape: &[DimSize], like: MlirType) -> RuleResult {
        let Some(&found) = self.results.get(number) else {
            return report_violation(format!("result {number} is missing"));
        };
        let fits = self
            .tensor_shape(found)
            .is_none_or(|found| is_compatible_shape(found, shape));
        if fits && self.is_tensor(found) && self.same_element(found, like) {
            return Ok(());
        }
        let mut expected = "tensor<".to_owned();
        for size in shape {
            let _ = match size {
                Some(size) => write!(expected, "{size}x"),
                None => write!(expected, "?x"),
            };
        }
        let (element, found) = (
            self.format_type(self.element_type(like)),
            self.format_type(found),
        );
        report_violation(format!(
            "the result has type {found}, its operands imply {expected}{element}>"
        ))
    }

    /// A type has this rank, if its rank is known.
    pub fn demand_rank(&self, ty: MlirType, rank: usize) -> RuleResult {
        match self.tensor_shape(ty) {
            Some(shape) if shape.len() != rank => {
                let ty = self.format_type(ty);
                report_violation(format!("{ty} should have {rank} dimensions"))
            }
            _ => Ok(()),
        }
    }

    /// A record of the operation's attributes. That none is missing was checked before.
    pub fn read_attributes<R: AttributeRecord<'m>>(&self) -> RuleResult<R> {
        R::read(self.module, self.op)
            .or_else(|MissingAttribute(name)| report_violation(format!("`{name}` is missing")))
    }

    /// Integers of an attribute, one for each dimension of a type of this rank.
    pub fn integers_for<'l>(&self, list: &'l IntegerList, rank: usize) -> RuleResult<&'l [i64]> {
        let (name, count) = (list.name, list.values.len());
        if count != rank {
            return report_violation(format!("`{name}` has {count} numbers, not {rank}"));
        }
        Ok(&list.values)
    }

    /// The same for an attribute that may be missing: all integers are the default then.
    pub fn integers_or(
        &self,
        list: Option<&IntegerList>,
        rank: usize,
        default: i64,
    ) -> RuleResult<Vec<i64>> {
        match list {
            Some(list) => Ok(self.integers_for(list, rank)?.to_vec()),
            None => Ok(vec![default; rank]),
        }
    }

    /// An integer of an attribute that is a dimension of a type of this rank.
    pub fn check_axis(&self, integer: NamedInteger, rank: usize) -> RuleResult<usize> {
        let NamedInteger { name, value } = integer;
        match usize::try_from(value) {
            Ok(at) if at < rank => Ok(at),
            _ => report_violation(format!(
                "`{name}` has {value}, which is not a dimension of {rank}"
            )),
        }
    }

    /// Different dimensions of a type of this rank.
    pub fn check_axes(&self, list: &IntegerList, rank: usize) -> RuleResult<Vec<usize>> {
        let name = list.name;
        let mut seen = vec![false; rank];
        let mut axes = Vec::with_capacity(list.values.len());
        for &value in &list.values {
            let at = self.check_axis(NamedInteger { name, value }, rank)?;
            if std::mem::replace(&mut seen[at], true) {
                return report_violation(format!("`{name}` has {value} twice"));
            }
            axes.push(at);
        }
        Ok(axes)
    }

    /// The only block of a region.
    pub fn region_block(&self, region: usize) -> RuleResult<MlirBlock> {
        let found: Option<MlirRegion> = self.module.regions(self.op).nth(region);
        match found.map(|region| self.module.blocks(region)) {
            Some(&[block]) => Ok(block),
            _ => report_violation("each region has one block"),
        }
    }

    /// Types of the arguments of a region's block, and of what it returns.
    pub fn region_types(&self, region: usize) -> RuleResult<(Vec<MlirType>, Vec<MlirType>)> {
        let block = self.region_block(region)?;
        let type_of = |value| self.module.type_of(value);
        let arguments = self.module.arguments(block).map(type_of).collect();
        let Some(&last) = self.module.ops(block).last() else {
            return report_violation("a region is empty");
        };
        let returned = self.module.operands(last).iter();
        Ok((arguments, returned.map(|&value| type_of(value)).collect()))
    }

    /// Two lists of types have equal lengths and are compatible.
    pub fn demand_all_compatible(
        &self,
        what: &str,
        found: &[MlirType],
        wanted: &[MlirType],
    ) -> RuleResult {
        if found.len() != wanted.len() {
            let (found, wanted) = (found.len(), wanted.len());
            return report_violation(format!("{what} are {found}, not {wanted}"));
        }
        let mut both = found.iter().zip(wanted);
        match both.find(|&(&found, &wanted)| !self.is_compatible(found, wanted)) {
            Some((&found, &wanted)) => {
                let (found, wanted) = (self.format_type(found), self.format_type(wanted));
                report_violation(format!("{what} have type {found} where {wanted} should be"))
            }
            None => Ok(()),
        }
    }
}

/// Whether shapes may be the same at run time.
pub(crate) fn is_compatible_shape(a: &[DimSize], b: &[DimSize]) -> bool {
    let same = |(a, b): (&DimSize, &DimSize)| a.is_none() || b.is_none() || a == b;
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Product of sizes, if all are known and it fits.
pub(crate) fn count_elements(shape: &[DimSize]) -> Option<u64> {
    if shape.contains(&Some(0)) {
        return shape.iter().all(Option::is_some).then_some(0);
    }
    shape
        .iter()
        .try_fold(1u64, |all, size| all.checked_mul((*size)?))
}
