//! Layouts of a module: the orders in which the dimensions of its arguments and results lie in memory.

use crate::element::ArrayType;
use crate::error::{PluginError, PluginResult};
use serde::{Deserialize, Serialize};
use spirula_stablehlo::memory_layout::{DimensionOrder, EntryLayouts};

/// The layouts of arguments and results, in a form that is stored: dimensions from the major one to the minor one, or
/// `None` for rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleLayouts {
    parameters: Vec<Option<Vec<usize>>>,
    results: Vec<Option<Vec<usize>>>,
}

impl ModuleLayouts {
    /// The layouts of an entry point.
    pub fn from_entry(entry: &EntryLayouts) -> ModuleLayouts {
        let list = |orders: &[Option<DimensionOrder>]| {
            let orders = orders.iter().map(Option::as_ref);
            orders
                .map(|order| order.map(|order| order.major_to_minor().to_vec()))
                .collect()
        };
        ModuleLayouts {
            parameters: list(&entry.parameters),
            results: list(&entry.results),
        }
    }

    /// Whether an argument does not lie in rows.
    pub fn has_orders(&self) -> bool {
        self.parameters.iter().any(Option::is_some)
    }

    /// The types of arguments, by those of the program's parameters, which lie in rows.
    ///
    /// # Errors
    /// When a layout is for another number of dimensions.
    pub fn apply_to_parameters(&self, rows: Vec<ArrayType>) -> PluginResult<Vec<ArrayType>> {
        apply(&self.parameters, rows)
    }

    /// The types of results, by those of the program's results.
    ///
    /// # Errors
    /// As for arguments.
    pub fn apply_to_results(&self, rows: Vec<ArrayType>) -> PluginResult<Vec<ArrayType>> {
        apply(&self.results, rows)
    }
}

fn apply(orders: &[Option<Vec<usize>>], rows: Vec<ArrayType>) -> PluginResult<Vec<ArrayType>> {
    let orders = orders.iter().map(Option::as_ref);
    let orders = orders.chain(std::iter::repeat(None));
    let arrays = rows.into_iter().zip(orders).map(|(rows, order)| {
        let Some(order) = order else {
            return Ok(rows);
        };
        let order = DimensionOrder::from_major_to_minor(order.clone());
        let order = order.ok_or_else(|| PluginError::invalid("a layout repeats a dimension"))?;
        ArrayType::from_rows(rows, order)
    });
    arrays.collect()
}
