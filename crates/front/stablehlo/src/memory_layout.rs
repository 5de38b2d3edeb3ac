//! Layouts in memory: the order in which the dimensions of arguments and results follow each other.
//!
//! Elements of a tensor follow each other in rows: the last dimension is the minor one. A program of JAX may ask for another
//! order, or leave it open. An entry point that is translated with [`EntryLayouts`] takes and gives tensors whose dimensions
//! are permuted, so that they lie in rows.

use crate::dialect::records::TransposeAttributes;
use crate::dialect::{AttributeRecord, MlirOpcode};
use crate::mlir::{MlirAttr, MlirModule, MlirOp, MlirValue};
use spirula_diagnostics::SourceDiagnostic;

/// Attribute of an argument or result that has its layout: `default`, `auto`, or an order as XLA writes it.
const LAYOUT_MODE: &str = "mhlo.layout_mode";

/// An order of dimensions in memory, from the major one to the minor one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionOrder(Vec<usize>);

impl DimensionOrder {
    /// An order, from the major dimension to the minor one. `None` unless each dimension occurs once.
    pub fn from_major_to_minor(dimensions: Vec<usize>) -> Option<DimensionOrder> {
        let mut sorted = dimensions.clone();
        sorted.sort_unstable();
        let is_whole = sorted.into_iter().enumerate().all(|(at, own)| at == own);
        is_whole.then_some(DimensionOrder(dimensions))
    }

    /// Reads the text of XLA, from the minor dimension to the major one: `{0,1}`.
    pub fn from_xla_text(text: &str) -> Option<DimensionOrder> {
        let list = text.strip_prefix('{')?.strip_suffix('}')?;
        let numbers = list.split(',').filter(|number| !number.is_empty());
        let dimensions: Option<Vec<usize>> =
            numbers.rev().map(|number| number.parse().ok()).collect();
        DimensionOrder::from_major_to_minor(dimensions?)
    }

    /// The dimensions, from the major one to the minor one.
    pub fn major_to_minor(&self) -> &[usize] {
        &self.0
    }

    /// Whether elements lie in rows.
    pub fn is_rows(&self) -> bool {
        self.0.iter().enumerate().all(|(at, own)| at == *own)
    }

    /// Values of the dimensions, in the order of memory.
    pub fn permute<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.0.iter().map(|at| values[*at].clone()).collect()
    }

    /// Values in the order of memory, as the dimensions have them.
    pub fn restore<T: Clone>(&self, values: &[T]) -> Vec<T> {
        let mut restored = values.to_vec();
        for (value, at) in values.iter().zip(&self.0) {
            restored[*at] = value.clone();
        }
        restored
    }
}

/// Layouts of an entry point. `None` stands for rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryLayouts {
    /// Those of the arguments.
    pub parameters: Vec<Option<DimensionOrder>>,
    /// Those of the results.
    pub results: Vec<Option<DimensionOrder>>,
}

impl EntryLayouts {
    /// Reads the layouts that a module asks for. Where it leaves them open, arguments lie in rows, and a result that is a
    /// transposed argument lies as the argument does.
    ///
    /// # Errors
    /// When a layout is malformed, has tiles, or is for another number of dimensions.
    pub fn read(module: &MlirModule, entry: &str) -> Result<EntryLayouts, SourceDiagnostic> {
        let mut layouts = EntryLayouts::default();
        let Some(function) = module.find_function(entry) else {
            return Ok(layouts);
        };
        let body = module.regions(function).next();
        let Some([block]) = body.map(|region| module.blocks(region)) else {
            return Ok(layouts);
        };
        let arguments: Vec<MlirValue> = module.arguments(*block).collect();
        let given = module.find_list(function, "arg_attrs");
        for (argument, attr) in arguments.iter().zip(given) {
            let mode = read_mode(module, function, *argument, attr)?;
            layouts.parameters.push(mode.into_order());
        }
        layouts.parameters.resize(arguments.len(), None);
        let end = module.ops(*block).iter().find(|op| module.is_return(**op));
        let results = end.map_or(&[][..], |end| module.operands(*end));
        let given = module.find_list(function, "res_attrs");
        for (result, attr) in results.iter().zip(given) {
            let mode = read_mode(module, function, *result, attr)?;
            layouts.results.push(match mode {
                LayoutMode::Open => find_view_order(module, *result, &arguments, &layouts),
                mode => mode.into_order(),
            });
        }
        layouts.results.resize(results.len(), None);
        Ok(layouts)
    }
}

/// A layout as a program asks for it.
enum LayoutMode {
    Rows,
    Open,
    Fixed(DimensionOrder),
}

impl LayoutMode {
    /// The order, unless it is that of rows. Open layouts are rows.
    fn into_order(self) -> Option<DimensionOrder> {
        match self {
            LayoutMode::Rows | LayoutMode::Open => None,
            LayoutMode::Fixed(order) => Some(order).filter(|order| !order.is_rows()),
        }
    }
}

/// The layout that a dictionary of attributes asks for.
fn read_mode(
    module: &MlirModule,
    function: MlirOp,
    value: MlirValue,
    attributes: &MlirAttr,
) -> Result<LayoutMode, SourceDiagnostic> {
    let Some(text) = module.field_text(*attributes, LAYOUT_MODE) else {
        return Ok(LayoutMode::Rows);
    };
    let rank = module.types.shape(module.type_of(value)).map(<[_]>::len);
    match text {
        "default" => return Ok(LayoutMode::Rows),
        "auto" => return Ok(LayoutMode::Open),
        _ => {}
    }
    let order = DimensionOrder::from_xla_text(text);
    let order = order.filter(|order| rank == Some(order.0.len()));
    order.map(LayoutMode::Fixed).ok_or_else(|| {
        let place = module.source_location(function);
        let hint = "a layout is an order of the dimensions, without tiles";
        SourceDiagnostic::error(
            place,
            format!("the layout {text:?} is not supported: {hint}"),
        )
    })
}

/// The order in which a result is an argument as it lies in memory.
fn find_view_order(
    module: &MlirModule,
    result: MlirValue,
    arguments: &[MlirValue],
    layouts: &EntryLayouts,
) -> Option<DimensionOrder> {
    let rank = module.types.shape(module.type_of(result))?.len();
    // The dimension of the value so far that is each dimension of the result.
    let mut sources: Vec<usize> = (0..rank).collect();
    let mut value = result;
    while let Some(op) = module.defining_op(value) {
        if module.opcode(op) != Some(MlirOpcode::Transpose) {
            return None;
        }
        let TransposeAttributes { permutation } = TransposeAttributes::read(module, op).ok()?;
        for source in &mut sources {
            let from = permutation.values.get(*source)?;
            *source = usize::try_from(*from).ok()?;
        }
        value = *module.operands(op).first()?;
    }
    let at = arguments.iter().position(|argument| *argument == value)?;
    let own = layouts.parameters[at].as_ref();
    let in_memory = match own {
        Some(order) => order.0.clone(),
        None => (0..rank).collect(),
    };
    let as_result = |own: &usize| sources.iter().position(|source| source == own);
    let order: Option<Vec<usize>> = in_memory.iter().map(as_result).collect();
    DimensionOrder::from_major_to_minor(order?).filter(|order| !order.is_rows())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_module;

    fn read(text: &str) -> Result<EntryLayouts, String> {
        let module = read_module(text.as_bytes()).unwrap();
        EntryLayouts::read(&module, "main").map_err(|error| error.to_string())
    }

    fn order(dimensions: &[usize]) -> Option<DimensionOrder> {
        DimensionOrder::from_major_to_minor(dimensions.to_vec())
    }

    #[test]
    fn open_results_lie_as_the_arguments_that_they_are() {
        let text = r#"
            func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"})
                -> (tensor<4x2x3xf32> {mhlo.layout_mode = "auto"}, tensor<3x2xf32> {mhlo.layout_mode = "auto"},
                    tensor<2x3xf32> {mhlo.layout_mode = "default"}, tensor<2x3xf32> {mhlo.layout_mode = "auto"}) {
              %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
              %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
              %2 = stablehlo.add %b, %b : tensor<2x3xf32>
              return %0, %1, %2, %b : tensor<4x2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>
            }"#;
        let layouts = read(text).unwrap();
        assert_eq!(layouts.parameters, [None, order(&[1, 0])]);
        assert_eq!(
            layouts.results,
            [order(&[1, 2, 0]), None, None, order(&[1, 0])]
        );
    }

    #[test]
    fn layouts_with_tiles_or_of_another_rank_are_refused() {
        for layout in ["{1,0:T(8,128)}", "{0}", "{0,0}", "{2,1,0}", "rows", "{a,b}"] {
            let text = format!(
                "func.func @main(%a: tensor<2x3xf32> {{mhlo.layout_mode = {layout:?}}}) -> tensor<2x3xf32> {{
                   return %a : tensor<2x3xf32>
                 }}"
            );
            let message = read(&text).unwrap_err();
            assert!(message.contains("is not supported"), "{layout}: {message}");
        }
    }

    #[test]
    fn orders_permute_and_restore() {
        let order = DimensionOrder::from_xla_text("{0,2,1}").unwrap();
        assert_eq!(order.major_to_minor(), [1, 2, 0]);
        assert_eq!(order.permute(&["a", "b", "c"]), ["b", "c", "a"]);
        assert_eq!(order.restore(&["b", "c", "a"]), ["a", "b", "c"]);
        assert!(DimensionOrder::from_xla_text("{}").unwrap().is_rows());
    }
}
