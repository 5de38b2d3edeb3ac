//! Sharding rules: which dimensions of the operands and results of an operation correspond.
//!
//! A rule has factors, as in Shardy. Each dimension of each tensor is a product of factors, the outermost first. A device
//! that has a part of a factor has that part in every tensor. A dimension without factors must be whole on every device.

use std::ops::Range;

/// A number of a factor in its rule.
pub type FactorIndex = usize;

/// A factor of dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardingFactor {
    /// Its size.
    pub size: u64,
    /// Whether no result has it: the parts of the devices are partial results.
    pub is_reduced: bool,
}

/// The way in which partial results are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialCombination {
    /// They are summands.
    #[default]
    Sum,
    /// The operation's own region combines two elements.
    Region,
    /// They are put together along a new dimension, and the operation itself reduces that.
    Again,
}

/// A number that changes nothing where an operation combines it with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeutralElement {
    /// Zero.
    Zero,
    /// One.
    One,
}

/// Operands that partial results must have once: all devices but one replace their elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialOperands {
    /// The operands.
    pub operands: Range<usize>,
    /// The elements that replace theirs.
    pub neutral: NeutralElement,
}

/// A factor along which indices select. A device serves the indices that select elements of its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectedFactor {
    /// The factor. The first operand has it.
    pub factor: FactorIndex,
    /// The dimension of the first operand that it is.
    pub dimension: usize,
    /// The operand with the indices.
    pub indices: usize,
    /// The component of an index that selects along the factor.
    pub component: usize,
}

/// The properties of an operation that say where windows begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowProperty {
    /// The rows of `padding`.
    #[default]
    Padding,
    /// `edge_padding_low` and `edge_padding_high`.
    Edges,
    /// `start_indices` and `limit_indices`.
    Bounds,
    /// None: the first part is the neighbour of the last, and the extended part is the result.
    Cyclic,
}

/// A factor along which windows overlap. A device needs elements of the parts beside its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowHalo {
    /// The factor.
    pub factor: FactorIndex,
    /// Number of operands that have windows, the first ones.
    pub inputs: usize,
    /// Their dimension.
    pub dimension: usize,
    /// Its size.
    pub size: u64,
    /// Elements of the part before; a negative number is that of the own first elements which are not needed.
    pub before: i64,
    /// Elements of the part behind.
    pub after: i64,
    /// The properties that change.
    pub property: WindowProperty,
    /// Their row that is about the dimension.
    pub row: usize,
    /// Number of their rows.
    pub rows: usize,
    /// The padding of a part that has its neighbours' elements.
    pub padding: [i64; 2],
    /// Whether operands after the inputs have the elements of the padding, which else are zero.
    pub has_fill: bool,
}

impl WindowHalo {
    /// Whether each of `parts` parts has all that its neighbours need.
    pub fn fits_parts(&self, parts: u64) -> bool {
        let own = (self.size / parts.max(1)).cast_signed();
        let least = i64::from(self.property != WindowProperty::Cyclic);
        self.before <= own
            && self.after <= own
            && own + self.before.min(0) + self.after.min(0) >= least
    }

    /// The share of a part that a device receives from its neighbours, of a given number of parts.
    pub fn received_share(&self, parts: u64) -> f64 {
        let received = self.before.max(0) + self.after.max(0);
        received as f64 * parts as f64 / self.size as f64
    }
}

/// When layouts propagate through an operation: the layouts of early ones decide where several are at odds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PropagationStage {
    /// Operations that map or move elements.
    Mapping,
    /// Operations with work of their own.
    #[default]
    Work,
    /// Operations whose results are larger than their operands, so that their layouts matter less than those of the
    /// tensors that the results meet.
    Expansion,
}

/// A factor whose size an integer of the operation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedFactor {
    /// The property.
    pub property: &'static str,
    /// The factor.
    pub factor: FactorIndex,
}

/// The factors of the dimensions of all tensors of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardingRule {
    /// The factors.
    pub factors: Vec<ShardingFactor>,
    /// The factors of each dimension of each tensor: operands, then results.
    pub tensors: Vec<Vec<Vec<FactorIndex>>>,
    /// The way in which partial results are combined.
    pub combination: PartialCombination,
    /// The property that has a size for each dimension of the first operand.
    pub size_list: Option<&'static str>,
    /// The factor whose size a property has.
    pub counted: Option<CountedFactor>,
    /// Whether the operation reads and writes each element of its tensors once, without arithmetic to speak of.
    pub is_cheap: bool,
    /// When layouts propagate through the operation.
    pub stage: PropagationStage,
    /// Operands that partial results must have once.
    pub initial: Option<InitialOperands>,
    /// Factors along which indices select.
    pub selected: Vec<SelectedFactor>,
    /// Factors along which windows overlap.
    pub halos: Vec<WindowHalo>,
}

impl ShardingRule {
    /// A rule by which all tensors of these shapes are whole on every device.
    pub fn new_whole(shapes: &[Vec<u64>]) -> ShardingRule {
        ShardingRule {
            tensors: shapes
                .iter()
                .map(|shape| vec![Vec::new(); shape.len()])
                .collect(),
            ..ShardingRule::default()
        }
    }

    /// Adds a factor.
    pub fn add_factor(&mut self, size: u64) -> FactorIndex {
        let is_reduced = false;
        self.factors.push(ShardingFactor { size, is_reduced });
        self.factors.len() - 1
    }

    /// Adds a factor that no result has.
    pub fn add_reduced_factor(&mut self, size: u64) -> FactorIndex {
        let is_reduced = true;
        self.factors.push(ShardingFactor { size, is_reduced });
        self.factors.len() - 1
    }

    /// Makes a factor the inner part of a dimension. A dimension that does not exist is of no account.
    pub fn set_factor(&mut self, tensor: usize, dimension: usize, factor: FactorIndex) {
        let tensor = self.tensors.get_mut(tensor);
        if let Some(factors) = tensor.and_then(|dims| dims.get_mut(dimension)) {
            factors.push(factor);
        }
    }

    /// Adds a factor that dimensions of several tensors are.
    pub fn join_dimensions(&mut self, size: u64, dimensions: &[(usize, usize)]) {
        let factor = self.add_factor(size);
        for (tensor, dimension) in dimensions {
            self.set_factor(*tensor, *dimension, factor);
        }
    }

    /// The rule of two tensors of one shape whose elements correspond.
    pub fn new_identity(shape: &[u64]) -> ShardingRule {
        let shapes = [shape.to_vec(), shape.to_vec()];
        let mut rule = ShardingRule::new_whole(&shapes);
        for (at, size) in shape.iter().enumerate() {
            rule.join_dimensions(*size, &[(0, at), (1, at)]);
        }
        rule.is_cheap = true;
        rule.stage = PropagationStage::Mapping;
        rule
    }

    /// Number of operations of one device on whole tensors, in terms of elements.
    pub fn count_points(&self) -> f64 {
        self.factors
            .iter()
            .map(|factor| factor.size as f64)
            .product()
    }

    /// Whether dimensions that have factors are their products, and no tensor has a factor twice. Dimensions of windows are
    /// multiples of them.
    pub fn fits(&self, shapes: &[Vec<u64>]) -> bool {
        self.tensors.len() == shapes.len()
            && self.tensors.iter().zip(shapes).all(|(dims, shape)| {
                let mut seen = vec![false; self.factors.len()];
                dims.len() == shape.len()
                    && dims.iter().zip(shape).all(|(factors, size)| {
                        let is_new = factors
                            .iter()
                            .all(|factor| !std::mem::replace(&mut seen[*factor], true));
                        is_new && self.fits_dimension(factors, *size)
                    })
            })
    }

    fn fits_dimension(&self, factors: &[FactorIndex], size: u64) -> bool {
        let sizes = factors.iter().map(|factor| self.factors[*factor].size);
        let product = sizes.fold(1u64, u64::saturating_mul);
        let has_windows = |factor: &FactorIndex| self.find_halo(*factor).is_some();
        factors.is_empty()
            || product == size
            || factors.iter().any(has_windows) && size.is_multiple_of(product)
    }

    /// Makes dimensions whole along which devices would combine results, or give each other elements.
    pub fn forbid_combination(&mut self) {
        let factors = self.factors.iter().enumerate();
        let is_forbidden: Vec<bool> = factors
            .map(|(at, factor)| factor.is_reduced || self.find_halo(at).is_some())
            .collect();
        for factors in self.tensors.iter_mut().flatten() {
            if factors.iter().any(|factor| is_forbidden[*factor]) {
                factors.clear();
            }
        }
    }

    /// The halo of a factor along which windows overlap.
    pub fn find_halo(&self, factor: FactorIndex) -> Option<&WindowHalo> {
        self.halos.iter().find(|halo| halo.factor == factor)
    }
}
