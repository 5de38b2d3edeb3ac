//! Verifier of functions.
//!
//! A function is valid if these rules hold. Each has a test that rejects a function which breaks it.
//!
//! 1. Each value is defined once: as a parameter of a block or as a result of an operation.
//! 2. An operation uses values that are defined before it in its block or in a block around it. Sizes of the function's
//!    parameters are defined from the beginning.
//! 3. Sizes that are known only at run time are values of type `i64[]`.
//! 4. A constant has the type of its result, which is static, and as many bytes as its elements take.
//! 5. A reshape keeps the type of the elements, and their number where it is known.
//! 6. Parallel axes come before reduced ones.
//! 7. Nodes are typed. An element has an index of type `i64` for each dimension. An index or accumulator has a number
//!    below that of the axes or accumulators. Counters are for schedules, and arguments for combiners alone.
//! 8. A reduction has as many initial values as values, of the same types. Initial values do not depend on a reduced
//!    axis. Values may depend on the accumulators of earlier reductions only.
//! 9. A combiner has a result for each accumulator, of its type, and reads nothing but its arguments.
//! 10. A structured operation has a result for each value that it defines, of its type. The shape of results at the
//!     point is that of the parallel axes.
//! 11. The blocks of a branch have no parameters, and give values of its results' types. Its condition is a `bool[]`.
//! 12. Initial values, parameters and results of a loop have the same types. Its condition gives one `bool[]`.
//! 13. The tensors of a sort have one shape, in which the dimension lies. Its comparator gives one `bool`.
//! 14. An assertion has a `bool[]` and shows values of rank 0.
//! 15. The operands and results of a foreign call are static, and have the bytes of its signature.
//! 16. The words of a radix sort, the numbers that it carries and its result are `i32`s of one shape, which has a dimension. A
//!     word has 1 to 32 bits.
//!
//! Shapes are equal if all sizes are equal that are known on both sides.

mod structured;

use crate::ir::{
    DenseTensorType, DimExtent, ForeignCall, MessagePiece, OpKind, RadixSort, RunAssertion,
    ScalarCombiner, TensorBlock, TensorConstant, TensorFunction, TensorOp, TensorSort, TensorValue,
    WordSelection,
};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::ScalarType;

/// Checks that a function is valid.
///
/// # Errors
/// When a rule does not hold; the message says what is wrong, and the place is that of the operation.
pub fn verify_function(function: &TensorFunction) -> Result<(), SourceDiagnostic> {
    let mut verifier = FunctionVerifier {
        function,
        is_defined: vec![false; function.value_count()],
        is_visible: vec![false; function.value_count()],
        place: SourceLocation::Unknown,
    };
    verifier.verify_function()
}

struct FunctionVerifier<'a> {
    function: &'a TensorFunction,
    /// Whether each value has a definition so far.
    is_defined: Vec<bool>,
    /// Whether each value may be used.
    is_visible: Vec<bool>,
    /// The place of the operation.
    place: SourceLocation,
}

impl FunctionVerifier<'_> {
    /// An error at the operation, unless a condition holds.
    fn require(
        &self,
        holds: bool,
        message: impl FnOnce() -> String,
    ) -> Result<(), SourceDiagnostic> {
        if holds {
            return Ok(());
        }
        Err(SourceDiagnostic::error(self.place, message()))
    }

    fn verify_function(&mut self) -> Result<(), SourceDiagnostic> {
        let function = self.function;
        let body = function.block(function.body());
        let parameters = body.parameters.iter();
        for size in parameters.flat_map(|v| function.ty(*v).dynamic_sizes()) {
            self.is_visible[size.index()] = true;
        }
        self.verify_block(function.body())?;
        for demand in &function.demands {
            for size in demand.sizes.iter().filter_map(|dim| dim.as_value()) {
                self.verify_size(size)?;
            }
        }
        Ok(())
    }

    /// Checks a block. Its values are not visible afterwards.
    fn verify_block(&mut self, block: TensorBlock) -> Result<(), SourceDiagnostic> {
        let function = self.function;
        let data = function.block(block);
        let outer = self.is_visible.clone();
        for parameter in &data.parameters {
            self.define_value(*parameter)?;
        }
        for op in &data.ops {
            self.place = op.place;
            for operand in op.kind.collect_operands() {
                self.verify_use(operand)?;
            }
            self.verify_op(op)?;
            self.place = op.place;
            for result in &op.results {
                self.define_value(*result)?;
            }
        }
        for result in &data.results {
            self.verify_use(*result)?;
        }
        self.is_visible = outer;
        Ok(())
    }

    fn define_value(&mut self, value: TensorValue) -> Result<(), SourceDiagnostic> {
        let is_known = value.index() < self.is_defined.len();
        self.require(is_known, || format!("{value:?} has no type"))?;
        self.require(!self.is_defined[value.index()], || {
            format!("{value:?} is defined twice")
        })?;
        self.is_defined[value.index()] = true;
        self.is_visible[value.index()] = true;
        for size in self.function.ty(value).dynamic_sizes() {
            self.verify_size(size)?;
        }
        Ok(())
    }

    fn verify_use(&self, value: TensorValue) -> Result<(), SourceDiagnostic> {
        let is_visible = self.is_visible.get(value.index()).is_some_and(|is| *is);
        self.require(is_visible, || format!("{value:?} is not defined here"))
    }

    fn verify_size(&self, size: TensorValue) -> Result<(), SourceDiagnostic> {
        let ty = DenseTensorType::from_scalar(ScalarType::I64);
        let is_size = size.index() < self.is_defined.len() && *self.function.ty(size) == ty;
        self.require(is_size, || format!("the size {size:?} is not of type {ty}"))
    }

    /// The type of a value, which may be an operand.
    fn ty(&self, value: TensorValue) -> &DenseTensorType {
        self.function.ty(value)
    }

    fn verify_op(&mut self, op: &TensorOp) -> Result<(), SourceDiagnostic> {
        let count = match &op.kind {
            OpKind::Constant(_) | OpKind::Reshape(_) => 1,
            OpKind::RadixSort(_) | OpKind::WordSelection(_) => 1,
            OpKind::Structured(structured) => structured.yields.len(),
            OpKind::Sort(sort) => sort.operands.len(),
            OpKind::While { initial, .. } => initial.len(),
            OpKind::If { then, .. } => self.function.block(*then).results.len(),
            OpKind::Assert(_) => 0,
            OpKind::Foreign(call) => call.signature.results.len(),
        };
        self.require(op.results.len() == count, || {
            format!(
                "an operation with {count} results defines {}",
                op.results.len()
            )
        })?;
        match &op.kind {
            OpKind::Constant(constant) => self.verify_constant(constant, op.results[0]),
            OpKind::Reshape(source) => self.verify_reshape(*source, op.results[0]),
            OpKind::Structured(structured) => self.verify_structured(structured, &op.results),
            OpKind::Sort(sort) => self.verify_sort(sort, &op.results),
            OpKind::RadixSort(sort) => self.verify_radix_sort(sort, op.results[0]),
            OpKind::WordSelection(selection) => self.verify_selection(selection, op.results[0]),
            OpKind::If {
                condition,
                then,
                otherwise,
            } => self.verify_if(*condition, [*then, *otherwise], &op.results),
            OpKind::While {
                initial,
                condition,
                body,
            } => self.verify_while(initial, *condition, *body, &op.results),
            OpKind::Assert(assertion) => self.verify_assertion(assertion),
            OpKind::Foreign(call) => self.verify_foreign(call, &op.results),
        }
    }

    fn verify_constant(
        &self,
        constant: &TensorConstant,
        result: TensorValue,
    ) -> Result<(), SourceDiagnostic> {
        let ty = self.ty(result);
        self.require(constant.ty == *ty, || {
            format!("a constant of type {} defines a {ty}", constant.ty)
        })?;
        let bytes = ty.element_count().map(|n| n.checked_mul(ty.element.size()));
        let is_whole = bytes == Some(Some(constant.bytes.len() as u64));
        self.require(is_whole, || {
            format!(
                "{} bytes are not the elements of {ty}",
                constant.bytes.len()
            )
        })
    }

    fn verify_reshape(
        &self,
        source: TensorValue,
        result: TensorValue,
    ) -> Result<(), SourceDiagnostic> {
        let (from, to) = (self.ty(source), self.ty(result));
        let counts = from.element_count().zip(to.element_count());
        let fits = from.element == to.element && counts.is_none_or(|(a, b)| a == b);
        self.require(fits, || format!("{from} cannot have the shape of {to}"))
    }

    fn verify_sort(
        &self,
        sort: &TensorSort,
        results: &[TensorValue],
    ) -> Result<(), SourceDiagnostic> {
        self.require(!sort.operands.is_empty(), || {
            "a sort has no tensors".to_owned()
        })?;
        let shape = &self.ty(sort.operands[0]).shape;
        for (operand, result) in sort.operands.iter().zip(results) {
            self.verify_equal_types(*operand, *result)?;
            let is_same = has_equal_shape(&self.ty(*operand).shape, shape);
            self.require(is_same, || {
                "the tensors of a sort have several shapes".to_owned()
            })?;
        }
        self.require(sort.dimension < shape.len(), || {
            format!("there is no dimension {}", sort.dimension)
        })?;
        let elements = sort.operands.iter().map(|v| self.ty(*v).element);
        let arguments: Vec<ScalarType> = elements.flat_map(|ty| [ty, ty]).collect();
        self.verify_combiner(&sort.comparator, &arguments, &[ScalarType::Bool])
    }

    fn verify_radix_sort(
        &self,
        sort: &RadixSort,
        result: TensorValue,
    ) -> Result<(), SourceDiagnostic> {
        let is_i32 = self.ty(result).element == ScalarType::I32 && self.ty(result).rank() > 0;
        self.require(is_i32, || {
            "a radix sort orders `i32`s along a dimension".to_owned()
        })?;
        for operand in sort.operands() {
            self.verify_equal_types(operand, result)?;
        }
        self.require((1..=32).contains(&sort.bits), || {
            format!("a word does not have {} bits", sort.bits)
        })
    }

    fn verify_selection(
        &self,
        selection: &WordSelection,
        result: TensorValue,
    ) -> Result<(), SourceDiagnostic> {
        let (words, ty) = (self.ty(selection.words), self.ty(result));
        let is_word = matches!(words.element, ScalarType::I32 | ScalarType::I64);
        let is_static = words.shape.iter().all(|dim| dim.as_static().is_some());
        let mut shape = words.shape.clone();
        let length = shape.last_mut().map(|last| {
            let length = *last;
            *last = DimExtent::Static(selection.count);
            length
        });
        let length = length.and_then(|dim| dim.as_static());
        let has_length = length.is_some_and(|length| selection.count <= length);
        let fits = is_word && is_static && has_length;
        self.require(
            fits && ty.element == ScalarType::I32 && ty.shape == shape,
            || {
                format!(
                    "{} indices of the least of {words} are not {ty}",
                    selection.count
                )
            },
        )
    }

    fn verify_if(
        &mut self,
        condition: TensorValue,
        blocks: [TensorBlock; 2],
        results: &[TensorValue],
    ) -> Result<(), SourceDiagnostic> {
        self.verify_condition(condition)?;
        let place = self.place;
        for block in blocks {
            self.verify_block(block)?;
            self.place = place;
            let data = self.function.block(block);
            let is_plain = data.parameters.is_empty();
            self.require(is_plain, || "a block of a branch has parameters".to_owned())?;
            self.verify_equal_lists(&data.results, results)?;
        }
        Ok(())
    }

    fn verify_while(
        &mut self,
        initial: &[TensorValue],
        condition: TensorBlock,
        body: TensorBlock,
        results: &[TensorValue],
    ) -> Result<(), SourceDiagnostic> {
        let place = self.place;
        let function = self.function;
        self.verify_equal_lists(initial, results)?;
        for block in [condition, body] {
            self.verify_block(block)?;
            self.place = place;
            self.verify_equal_lists(&function.block(block).parameters, results)?;
        }
        self.verify_equal_lists(&function.block(body).results, results)?;
        let [goes_on] = function.block(condition).results[..] else {
            return self.require(false, || "a condition gives one value".to_owned());
        };
        self.verify_condition(goes_on)
    }

    fn verify_assertion(&self, assertion: &RunAssertion) -> Result<(), SourceDiagnostic> {
        self.verify_condition(assertion.condition)?;
        for piece in &assertion.message {
            if let MessagePiece::Value(value) = piece {
                let is_scalar = self.ty(*value).rank() == 0;
                self.require(is_scalar, || format!("{value:?} is not of rank 0"))?;
            }
        }
        Ok(())
    }

    fn verify_foreign(
        &self,
        call: &ForeignCall,
        results: &[TensorValue],
    ) -> Result<(), SourceDiagnostic> {
        let ForeignCall {
            signature,
            operands,
        } = call;
        self.require(operands.len() == signature.operands.len(), || {
            format!("{:?} has another number of operands", signature.target)
        })?;
        let values = operands.iter().chain(results);
        let types = signature.operands.iter().chain(&signature.results);
        for (value, ty) in values.zip(types) {
            let found = self.ty(*value);
            let bytes = found.element_count().map(|n| n * found.element.size());
            self.require(bytes == Some(ty.bytes), || {
                format!(
                    "{value:?} of type {found} has not the {} bytes of its foreign type",
                    ty.bytes
                )
            })?;
        }
        let aliases = signature.check_aliases();
        self.require(aliases.is_ok(), || {
            aliases.clone().err().unwrap_or_default()
        })
    }

    fn verify_condition(&self, value: TensorValue) -> Result<(), SourceDiagnostic> {
        let wanted = DenseTensorType::from_scalar(ScalarType::Bool);
        let found = self.ty(value);
        self.require(*found == wanted, || {
            format!("the condition {value:?} is of type {found} instead of {wanted}")
        })
    }

    fn verify_equal_lists(
        &self,
        values: &[TensorValue],
        others: &[TensorValue],
    ) -> Result<(), SourceDiagnostic> {
        self.require(values.len() == others.len(), || {
            format!("{} values instead of {}", values.len(), others.len())
        })?;
        let mut pairs = values.iter().zip(others);
        pairs.try_for_each(|(value, other)| self.verify_equal_types(*value, *other))
    }

    fn verify_equal_types(
        &self,
        value: TensorValue,
        other: TensorValue,
    ) -> Result<(), SourceDiagnostic> {
        let (found, wanted) = (self.ty(value), self.ty(other));
        let is_equal =
            found.element == wanted.element && has_equal_shape(&found.shape, &wanted.shape);
        self.require(is_equal, || {
            format!("{value:?} is of type {found} instead of {wanted}")
        })
    }

    /// Checks that a combiner of arguments of some types gives results of some types.
    fn verify_combiner(
        &self,
        combiner: &ScalarCombiner,
        arguments: &[ScalarType],
        results: &[ScalarType],
    ) -> Result<(), SourceDiagnostic> {
        self.verify_combiner_nodes(combiner, arguments)?;
        let found = combiner.results.iter().map(|n| combiner.body.ty(*n));
        self.require(found.eq(results.iter().copied()), || {
            "the results of a combiner have other types".to_owned()
        })
    }
}

/// Whether all sizes are equal that are known on both sides.
fn has_equal_shape(a: &[DimExtent], b: &[DimExtent]) -> bool {
    let mut pairs = a.iter().zip(b);
    a.len() == b.len()
        && pairs.all(|(a, b)| match (a, b) {
            (DimExtent::Static(a), DimExtent::Static(b)) => a == b,
            _ => true,
        })
}
