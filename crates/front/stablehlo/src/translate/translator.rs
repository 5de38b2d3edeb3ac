//! State of a translation: the function that is being built, and the tensor of each value of the
//! module.

use super::dims::{SymbolicDims, merge_dims, merged_shapes};
use super::element::TensorElement;
use super::entry::ScatterWindows;
use super::error::{TranslateError, TranslateResult};
use super::foreign::ForeignTargets;
use super::manual::{ShardEffects, ShardState, ShardedValue};
use super::region_scalars::RegionScalars;
use super::result_check::ResultCheck;
use crate::dialect::{AttributeRecord, IntegerList, MissingAttribute, MlirOpcode, NamedInteger};
use crate::mlir::{
    MlirBlock, MlirModule, MlirOp, MlirRegion, MlirType, MlirTypeKind, MlirValue as Mlir,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirula_diagnostics::SourceLocation;
use spirula_tensor::TensorBuilder;
use spirula_tensor::ir::{DimExtent, ScalarNode, TensorShape, TensorValue};
use std::rc::Rc;

/// A tensor: its element type, and a tensor of the IR for each part.
#[derive(Clone, Debug)]
pub(super) struct TypedTensor {
    pub element: TensorElement,
    pub parts: SmallVec<[TensorValue; 2]>,
    /// Its elements as symbols, if they are tracked.
    pub tracked: Option<Rc<[ScalarNode]>>,
}

impl TypedTensor {
    /// A tensor of one part.
    pub fn new(element: TensorElement, part: TensorValue) -> TypedTensor {
        TypedTensor::from_components(element, &[part])
    }

    /// A tensor of these parts.
    pub fn from_components(element: TensorElement, parts: &[TensorValue]) -> TypedTensor {
        TypedTensor {
            element,
            parts: parts.into(),
            tracked: None,
        }
    }

    /// The first part.
    pub fn first_component(&self) -> TensorValue {
        self.parts[0]
    }
}

/// Translation of a value of the module.
#[derive(Clone, Debug)]
pub(super) enum TranslatedValue {
    Tensor(TypedTensor),
    Tuple(Vec<TranslatedValue>),
    Token,
}

/// Progress of a translation through blocks and calls.
#[derive(Default)]
pub(super) struct BlockProgress {
    /// Functions that are being inlined, the outermost first.
    pub calls: Vec<MlirOp>,
    /// Number of operations translated so far.
    pub operations: usize,
    /// Depth of the block in calls and regions.
    pub depth: usize,
    /// Depth of the block in control flow of the tensor IR.
    pub nesting: usize,
}

/// The state of a translation.
pub(super) struct StablehloTranslator<'m> {
    pub module: &'m MlirModule,
    pub builder: TensorBuilder,
    items: Vec<Option<ShardedValue>>,
    /// Progress through the shards of manual computations, and the effects of operations on them.
    pub shards: ShardState,
    pub effects: FxHashMap<MlirOp, ShardEffects>,
    pub progress: BlockProgress,
    /// Dequantised operands of the operation that is translated on real numbers, and whether there
    /// is such an operation.
    real: Vec<(Mlir, TypedTensor)>,
    on_real: bool,
    /// Sizes that are not known at compile time, and whether the module has any.
    pub dims: SymbolicDims,
    pub is_dynamic: bool,
    /// Scalars of the values of regions in the body that is being built.
    pub scalars: RegionScalars,
    /// Checks so far, with the tensors that they compare.
    pub checks: Vec<(ResultCheck, TypedTensor, TypedTensor)>,
    /// Treatment of windows of scatters.
    pub windows: ScatterWindows,
    /// The custom calls that become foreign calls.
    pub foreign: ForeignTargets,
}

impl<'m> StablehloTranslator<'m> {
    pub fn new(module: &'m MlirModule, name: &str) -> Self {
        StablehloTranslator {
            module,
            builder: TensorBuilder::new(name),
            items: vec![None; module.value_count()],
            shards: ShardState::default(),
            effects: FxHashMap::default(),
            progress: BlockProgress::default(),
            real: Vec::new(),
            on_real: false,
            dims: SymbolicDims::default(),
            is_dynamic: is_dynamic(module),
            scalars: RegionScalars::new(module.value_count()),
            checks: Vec::new(),
            windows: ScatterWindows::default(),
            foreign: ForeignTargets::None,
        }
    }

    /// An error at an operation.
    pub fn invalid_error(&self, op: MlirOp, message: impl Into<String>) -> TranslateError {
        TranslateError::new_invalid(self.module.source_location(op), message)
    }

    /// An error about something of an operation that the translation does not know.
    pub fn unsupported_error(&self, op: MlirOp, what: impl Into<String>) -> TranslateError {
        TranslateError::new_unsupported(self.module.source_location(op), what)
    }

    /// An error at an operation unless a condition holds.
    pub fn ensure_holds(&self, op: MlirOp, holds: bool, message: &str) -> TranslateResult<()> {
        if holds {
            Ok(())
        } else {
            Err(self.invalid_error(op, format!("{} {message}", self.module.op_name(op))))
        }
    }

    /// The translation of a value.
    pub fn resolve_value(&self, op: MlirOp, value: Mlir) -> TranslateResult<TranslatedValue> {
        let stored = self.items[value.index()].as_ref();
        let item = match (stored, self.shards.current) {
            (Some(ShardedValue::Shared(item)), _) => Some(item),
            (Some(stored), Some(shard)) => stored.of_shard(shard, self.shards.count()),
            _ => None,
        };
        item.cloned()
            .ok_or_else(|| self.invalid_error(op, "a value is used where it is not defined"))
    }

    /// The tensor of a value.
    pub fn resolve_tensor(&self, op: MlirOp, value: Mlir) -> TranslateResult<TypedTensor> {
        let real = self.real.iter().find(|(of, _)| *of == value);
        if let Some((_, tensor)) = real {
            return Ok(tensor.clone());
        }
        match self.resolve_value(op, value)? {
            TranslatedValue::Tensor(tensor) => Ok(tensor),
            _ => Err(self.invalid_error(op, "a tensor is expected as operand")),
        }
    }

    /// Translates an operation on the real numbers that its quantised operands represent.
    pub fn on_values(
        &mut self,
        op: MlirOp,
        translate: impl FnOnce(&mut Self) -> TranslateResult<()>,
    ) -> TranslateResult<()> {
        let module = self.module;
        let is_quantized = |value| {
            let element = module.types.element_type(module.type_of(value));
            matches!(module.types.kind(element), MlirTypeKind::Quantized(_))
        };
        let operands = module.operands(op).iter().copied();
        if !operands.chain(module.results(op)).any(is_quantized) {
            return translate(self);
        }
        let mut real = Vec::new();
        for value in module.operands(op) {
            let tensor = self.resolve_tensor(op, *value)?;
            real.push((*value, self.dequantize_tensor(op, &tensor)?));
        }
        self.real = real;
        self.on_real = true;
        let result = translate(self);
        self.on_real = false;
        self.real.clear();
        result
    }

    /// An operand that is a tensor.
    pub fn tensor_operand(&self, op: MlirOp, at: usize) -> TranslateResult<TypedTensor> {
        let operand = self.module.operands(op).get(at);
        let operand = operand.ok_or_else(|| {
            let name = self.module.op_name(op);
            self.invalid_error(op, format!("{name} lacks an operand"))
        })?;
        self.resolve_tensor(op, *operand)
    }

    /// All operands, which are tensors.
    pub fn tensor_operands(&self, op: MlirOp) -> TranslateResult<Vec<TypedTensor>> {
        let operands = self.module.operands(op).iter();
        operands
            .map(|value| self.resolve_tensor(op, *value))
            .collect()
    }

    /// Binds a value to its translation, for the shard that is being translated if there is one.
    pub fn bind_value(&mut self, value: Mlir, item: TranslatedValue) {
        let count = self.shards.count();
        let stored = &mut self.items[value.index()];
        match (self.shards.current, stored) {
            (None, stored) => *stored = Some(ShardedValue::Shared(item)),
            // The first shard begins a new list.
            (Some(shard), Some(ShardedValue::Each(items))) if shard > 0 && items.len() == count => {
                items[shard] = item;
            }
            (Some(_), stored) => *stored = Some(ShardedValue::Each(vec![item; count])),
        }
    }

    /// The translation of a value on all shards.
    pub fn stored_value(&self, value: Mlir) -> Option<&ShardedValue> {
        self.items[value.index()].as_ref()
    }

    /// Binds a value to its translation on all shards.
    pub fn store_value(&mut self, value: Mlir, item: ShardedValue) {
        self.items[value.index()] = Some(item);
    }

    /// Binds the results of an operation to tensors, which must have the declared types.
    pub fn bind_results(&mut self, op: MlirOp, results: Vec<TypedTensor>) -> TranslateResult<()> {
        let values = self.module.results(op);
        let count = values.len();
        self.ensure_holds(op, count == results.len(), "has another number of results")?;
        for (value, mut tensor) in values.zip(results) {
            let ty = self.module.type_of(value);
            let declared = tensor_type(self.module, self.module.source_location(op), ty)?;
            let stored = (declared.0.stored_element(), tensor.element.stored_element());
            match (declared.0, tensor.element) {
                // The same integers may have their scales along another dimension.
                (TensorElement::Quantized { .. }, TensorElement::Quantized { .. })
                    if stored.0 == stored.1 =>
                {
                    tensor.element = declared.0;
                }
                (TensorElement::Quantized { .. }, TensorElement::Float(_)) if self.on_real => {
                    tensor = self.quantize_tensor(op, &tensor, declared.0)?;
                }
                _ => {}
            }
            let found = self.tensor_shape(&tensor);
            let shape = refine_shape(&declared.1, &found).filter(|_| declared.0 == tensor.element);
            let Some(shape) = shape else {
                let name = self.module.op_name(op);
                let found = self.builder.ty(tensor.first_component());
                let message = format!("{name} returns {found}, which is not the declared type");
                return Err(self.invalid_error(op, message));
            };
            let tensor = self.as_shape(tensor, &shape);
            self.bind_value(value, TranslatedValue::Tensor(tensor));
        }
        Ok(())
    }

    /// Binds the only result of an operation.
    pub fn bind_result(&mut self, op: MlirOp, result: TypedTensor) -> TranslateResult<()> {
        self.bind_results(op, vec![result])
    }

    /// A tensor with another shape that is known to be equal.
    pub fn as_shape(&mut self, tensor: TypedTensor, shape: &TensorShape) -> TypedTensor {
        let parts = tensor.parts.iter();
        TypedTensor {
            parts: parts
                .map(|part| self.builder.add_reshape(*part, shape.clone()))
                .collect(),
            ..tensor
        }
    }

    /// The common shape of tensors that have to have one shape.
    pub fn common_shape(
        &mut self,
        op: MlirOp,
        tensors: &[TypedTensor],
    ) -> TranslateResult<TensorShape> {
        let shapes: Vec<TensorShape> = tensors
            .iter()
            .map(|tensor| self.tensor_shape(tensor))
            .collect();
        for pair in shapes.windows(2) {
            for (a, b) in pair[0].iter().zip(&pair[1]) {
                self.builder.demand_equal(*a, *b);
            }
        }
        let mut shapes = shapes.into_iter();
        let first = shapes.next().unwrap_or_default();
        let merge = |a: Option<TensorShape>, b: TensorShape| a.and_then(|a| merged_shapes(&a, &b));
        let merged = shapes.fold(Some(first), merge);
        self.ensure_holds(op, merged.is_some(), "has operands of different shapes")?;
        Ok(merged.unwrap_or_default())
    }

    /// Element type and sizes of a type that is a tensor.
    pub fn tensor_type(
        &self,
        op: MlirOp,
        ty: MlirType,
    ) -> TranslateResult<(TensorElement, DeclaredSizes)> {
        let place = self.module.source_location(op);
        let (element, shape) = tensor_type(self.module, place, ty)?;
        if self.on_real {
            Ok((self.expressed_element(element), shape))
        } else {
            Ok((element, shape))
        }
    }

    /// Element type and shape of a result, which is static.
    pub fn result_type(
        &self,
        op: MlirOp,
        at: usize,
    ) -> TranslateResult<(TensorElement, TensorShape)> {
        let (element, shape) = self.declared_result(op, at)?;
        let shape = static_shape(&shape).ok_or_else(|| self.dynamic_dimension_error(op))?;
        Ok((element, shape))
    }

    /// Element type of a result.
    pub fn result_element(&self, op: MlirOp, at: usize) -> TranslateResult<TensorElement> {
        Ok(self.declared_result(op, at)?.0)
    }

    /// Declared element type of a result, also while the operation is translated on real numbers.
    pub fn declared_element(&self, op: MlirOp, at: usize) -> TranslateResult<TensorElement> {
        let result = self.module.results(op).nth(at);
        let result = result.ok_or_else(|| self.invalid_error(op, "an operation lacks a result"))?;
        let ty = self.module.type_of(result);
        Ok(tensor_type(self.module, self.module.source_location(op), ty)?.0)
    }

    /// Element type and sizes of a result as it is declared.
    pub fn declared_result(
        &self,
        op: MlirOp,
        at: usize,
    ) -> TranslateResult<(TensorElement, DeclaredSizes)> {
        match self.module.results(op).nth(at) {
            Some(value) => self.tensor_type(op, self.module.type_of(value)),
            None => {
                Err(self.invalid_error(op, format!("{} lacks a result", self.module.op_name(op))))
            }
        }
    }

    /// Shape of a tensor.
    pub fn tensor_shape(&self, tensor: &TypedTensor) -> TensorShape {
        self.builder.ty(tensor.first_component()).shape.clone()
    }

    /// Sizes of a tensor of static shape.
    pub fn static_sizes(&self, op: MlirOp, tensor: &TypedTensor) -> TranslateResult<Vec<u64>> {
        let shape = self.builder.ty(tensor.first_component()).shape.iter();
        let sizes: Option<Vec<u64>> = shape.map(|dim| dim.as_static()).collect();
        sizes.ok_or_else(|| self.dynamic_dimension_error(op))
    }

    /// A dynamic dimension where none can be.
    pub fn dynamic_dimension_error(&self, op: MlirOp) -> TranslateError {
        let name = self.module.op_name(op);
        self.unsupported_error(op, format!("dynamic dimension in {name}"))
    }

    /// A record of the attributes of an operation.
    pub fn read_attributes<R: AttributeRecord<'m>>(&self, op: MlirOp) -> TranslateResult<R> {
        R::read(self.module, op)
            .map_err(|MissingAttribute(name)| self.missing_attribute_error(op, name))
    }

    /// The `count` integers of an attribute; if it is absent, all are `or`.
    pub fn integers_or(
        &self,
        op: MlirOp,
        list: Option<&IntegerList>,
        count: usize,
        or: i64,
    ) -> TranslateResult<Vec<i64>> {
        match list {
            Some(list) if list.values.len() == count => Ok(list.values.clone()),
            Some(IntegerList { name, .. }) => {
                Err(self.invalid_error(op, format!("{name} has the wrong number of elements")))
            }
            None => Ok(vec![or; count]),
        }
    }

    /// A dimension that an attribute names.
    pub fn check_dimension(
        &self,
        op: MlirOp,
        integer: NamedInteger,
        rank: usize,
    ) -> TranslateResult<usize> {
        let NamedInteger { name, value } = integer;
        let found = usize::try_from(value).ok().filter(|at| *at < rank);
        found.ok_or_else(|| self.invalid_error(op, format!("{name} is not a dimension")))
    }

    /// Dimensions that an attribute names, each once.
    pub fn check_dimensions(
        &self,
        op: MlirOp,
        list: &IntegerList,
        rank: usize,
    ) -> TranslateResult<Vec<usize>> {
        let name = list.name;
        let mut dimensions = Vec::new();
        for at in &list.values {
            match usize::try_from(*at) {
                Ok(at) if at < rank && !dimensions.contains(&at) => dimensions.push(at),
                _ => return Err(self.invalid_error(op, format!("{name} has a wrong dimension"))),
            }
        }
        Ok(dimensions)
    }

    fn missing_attribute_error(&self, op: MlirOp, name: &str) -> TranslateError {
        let message = format!("{} has no {name}", self.module.op_name(op));
        self.invalid_error(op, message)
    }

    /// The only block of a region of an operation.
    pub fn region_block(&self, op: MlirOp, at: usize) -> TranslateResult<MlirBlock> {
        let region = self.module.regions(op).nth(at);
        let block = region.and_then(|region| self.only_block(region));
        block.ok_or_else(|| {
            let name = self.module.op_name(op);
            self.invalid_error(op, format!("{name} has no region of one block"))
        })
    }

    fn only_block(&self, region: MlirRegion) -> Option<MlirBlock> {
        match self.module.blocks(region) {
            [block] => Some(*block),
            _ => None,
        }
    }

    /// An error unless an item is of a type.
    pub fn check_value_type(
        &self,
        op: MlirOp,
        ty: MlirType,
        item: &TranslatedValue,
    ) -> TranslateResult<()> {
        let fits = match (self.module.types.kind(ty), item) {
            (MlirTypeKind::Tuple(types), TranslatedValue::Tuple(items)) => {
                let count = types.len() == items.len();
                self.ensure_holds(op, count, "has a tuple of another type")?;
                for (ty, item) in types.iter().zip(items) {
                    self.check_value_type(op, *ty, item)?;
                }
                true
            }
            (MlirTypeKind::Tensor { .. }, TranslatedValue::Tensor(tensor)) => {
                let (element, shape) = self.tensor_type(op, ty)?;
                element == tensor.element
                    && refine_shape(&shape, &self.tensor_shape(tensor)).is_some()
            }
            (MlirTypeKind::Dialect { .. }, TranslatedValue::Token) => true,
            _ => false,
        };
        self.ensure_holds(op, fits, "has an operand of another type")
    }

    /// Binds the results of an operation to items.
    pub fn bind_items(&mut self, op: MlirOp, items: Vec<TranslatedValue>) -> TranslateResult<()> {
        let values = self.module.results(op);
        self.ensure_holds(
            op,
            values.len() == items.len(),
            "has another number of results",
        )?;
        for (value, item) in values.zip(items) {
            self.check_value_type(op, self.module.type_of(value), &item)?;
            self.bind_value(value, item);
        }
        Ok(())
    }
}

/// Sizes of a type; `None` is a dynamic one.
pub(super) type DeclaredSizes = Vec<Option<u64>>;

/// Element type and sizes of a type that is a tensor.
pub(super) fn tensor_type(
    module: &MlirModule,
    place: SourceLocation,
    ty: MlirType,
) -> TranslateResult<(TensorElement, DeclaredSizes)> {
    let MlirTypeKind::Tensor { shape, element, .. } = module.types.kind(ty) else {
        return Err(TranslateError::new_unsupported(
            place,
            "type that is not a ranked tensor",
        ));
    };
    let found = TensorElement::from_type(module, *element);
    let element = found.ok_or_else(|| TranslateError::new_unsupported(place, "element type"))?;
    let sizes = shape.iter().flatten();
    let bytes = sizes.fold(16u64, |bytes, size| bytes.saturating_mul((*size).max(1)));
    if bytes < 1 << 62 {
        Ok((element, shape.to_vec()))
    } else {
        Err(TranslateError::new_invalid(
            place,
            "a tensor of 2^58 elements or more",
        ))
    }
}

/// A declared shape, if it is static.
pub(super) fn static_shape(declared: &DeclaredSizes) -> Option<TensorShape> {
    declared
        .iter()
        .map(|size| size.map(DimExtent::Static))
        .collect()
}

/// A shape whose unknown sizes are replaced by the declared ones; `None` if sizes differ.
fn refine_shape(declared: &DeclaredSizes, found: &TensorShape) -> Option<TensorShape> {
    let pairs = declared.iter().zip(found);
    let refined = pairs.map(|(declared, found)| match declared {
        Some(size) => merge_dims(*found, DimExtent::Static(*size)),
        None => Some(*found),
    });
    let refined = refined.collect::<Option<TensorShape>>();
    refined.filter(|_| declared.len() == found.len())
}

/// Whether a type of the module has a dimension of unknown size, or an operation takes a shape.
fn is_dynamic(module: &MlirModule) -> bool {
    let mut types = module.types.iter();
    let has_unknown = types.any(|(_, kind)| match kind {
        MlirTypeKind::Tensor { shape, .. } => shape.contains(&None),
        _ => false,
    });
    has_unknown || module.all_ops().any(|op| takes_shapes(module.opcode(op)))
}

/// Whether an operation has shapes, bounds or padding as operands.
fn takes_shapes(opcode: Option<MlirOpcode>) -> bool {
    use MlirOpcode as Op;
    matches!(
        opcode,
        Some(
            Op::ChloDynamicReshape
                | Op::DynamicBroadcastInDim
                | Op::DynamicConv
                | Op::DynamicGather
                | Op::DynamicIota
                | Op::DynamicPad
                | Op::DynamicReshape
                | Op::RealDynamicSlice
        )
    )
}
