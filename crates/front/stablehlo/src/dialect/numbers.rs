//! Dimension numbers of gathers, scatters, products and convolutions as records.

use super::properties::{AttributeConstraint, AttributeValue};
use super::values::IntegerList;
use crate::mlir::{MlirAttr, MlirModule};

/// A field that is a list of integers; absent, it is empty.
fn read_list(module: &MlirModule, attr: MlirAttr, name: &'static str) -> IntegerList {
    let values = module.field_integers(attr, name);
    IntegerList { name, values }
}

/// Correspondence between the dimensions of an operand, of indices, and of slices. The fields have
/// the names that they have for `gather`; the lists know those that they were read by.
#[derive(Clone, Debug)]
pub(crate) struct IndexingNumbers {
    /// Dimensions of the slices in the result, or of the windows in the updates.
    pub offset_dims: IntegerList,
    /// Dimensions of the operand that the slices lack.
    pub collapsed_dims: IntegerList,
    /// Dimensions of the operand that correspond to dimensions of the indices.
    pub operand_batching_dims: IntegerList,
    /// Those dimensions of the indices.
    pub indices_batching_dims: IntegerList,
    /// The dimension of the operand for each component of an index.
    pub index_map: IntegerList,
    /// The dimension of the indices that has an index's components.
    pub index_vector_dim: i64,
}

impl IndexingNumbers {
    fn read(module: &MlirModule, attr: MlirAttr, names: [&'static str; 5]) -> Self {
        let [
            offset_dims,
            collapsed_dims,
            operand_batching_dims,
            indices_batching_dims,
            index_map,
        ] = names.map(|name| read_list(module, attr, name));
        IndexingNumbers {
            offset_dims,
            collapsed_dims,
            operand_batching_dims,
            indices_batching_dims,
            index_map,
            index_vector_dim: module.field_integer(attr, "index_vector_dim"),
        }
    }
}

/// `#stablehlo.gather<…>`
#[derive(Clone, Debug)]
pub(crate) struct GatherNumbers(pub IndexingNumbers);

impl<'m> AttributeValue<'m> for GatherNumbers {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Dialect("gather");

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        let names = [
            "offset_dims",
            "collapsed_slice_dims",
            "operand_batching_dims",
            "start_indices_batching_dims",
            "start_index_map",
        ];
        Some(GatherNumbers(IndexingNumbers::read(module, attr, names)))
    }
}

/// `#stablehlo.scatter<…>`
#[derive(Clone, Debug)]
pub(crate) struct ScatterNumbers(pub IndexingNumbers);

impl<'m> AttributeValue<'m> for ScatterNumbers {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Dialect("scatter");

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        let names = [
            "update_window_dims",
            "inserted_window_dims",
            "input_batching_dims",
            "scatter_indices_batching_dims",
            "scatter_dims_to_operand_dims",
        ];
        Some(ScatterNumbers(IndexingNumbers::read(module, attr, names)))
    }
}

/// Dimensions of both operands of a product that correspond: the left operand's, the right one's.
#[derive(Clone, Debug)]
pub(crate) struct DotNumbers {
    pub batching: [IntegerList; 2],
    pub contracting: [IntegerList; 2],
}

impl<'m> AttributeValue<'m> for DotNumbers {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Dialect("dot");

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        let read = |names: [&'static str; 2]| names.map(|name| read_list(module, attr, name));
        Some(DotNumbers {
            batching: read(["lhs_batching_dimensions", "rhs_batching_dimensions"]),
            contracting: read(["lhs_contracting_dimensions", "rhs_contracting_dimensions"]),
        })
    }
}

/// The same for products of groups of rows or of steps.
#[derive(Clone, Debug)]
pub(crate) struct RaggedDotNumbers {
    pub dot: DotNumbers,
    /// The dimension of the left operand that is divided into groups.
    pub ragged: IntegerList,
    /// The dimension of the right operand that counts the groups, if it has one.
    pub group: IntegerList,
}

impl<'m> AttributeValue<'m> for RaggedDotNumbers {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Dialect("ragged_dot");

    fn decode(module: &'m MlirModule, name: &'static str, attr: MlirAttr) -> Option<Self> {
        Some(RaggedDotNumbers {
            dot: DotNumbers::decode(module, name, attr)?,
            ragged: read_list(module, attr, "lhs_ragged_dimensions"),
            group: read_list(module, attr, "rhs_group_dimensions"),
        })
    }
}

/// Dimensions of one of the three tensors of a convolution.
#[derive(Clone, Debug)]
pub(crate) struct TensorLayout {
    /// The batch, or the input features of a kernel.
    pub first: i64,
    /// The features, or the output features of a kernel.
    pub second: i64,
    pub spatial: Vec<i64>,
}

impl TensorLayout {
    fn read(module: &MlirModule, attr: MlirAttr, names: [&str; 3]) -> Self {
        TensorLayout {
            first: module.field_integer(attr, names[0]),
            second: module.field_integer(attr, names[1]),
            spatial: module.field_integers(attr, names[2]),
        }
    }

    /// All dimensions, the spatial ones last.
    pub fn all_dimensions(&self) -> IntegerList {
        let mut values = vec![self.first, self.second];
        values.extend(&self.spatial);
        IntegerList {
            name: "dimension_numbers",
            values,
        }
    }
}

/// `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`
#[derive(Clone, Debug)]
pub(crate) struct ConvolutionNumbers {
    pub input: TensorLayout,
    pub kernel: TensorLayout,
    pub output: TensorLayout,
}

impl<'m> AttributeValue<'m> for ConvolutionNumbers {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Dialect("conv");

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        let read = |names| TensorLayout::read(module, attr, names);
        Some(ConvolutionNumbers {
            input: read([
                "input_batch_dimension",
                "input_feature_dimension",
                "input_spatial_dimensions",
            ]),
            kernel: read([
                "kernel_input_feature_dimension",
                "kernel_output_feature_dimension",
                "kernel_spatial_dimensions",
            ]),
            output: read([
                "output_batch_dimension",
                "output_feature_dimension",
                "output_spatial_dimensions",
            ]),
        })
    }
}
