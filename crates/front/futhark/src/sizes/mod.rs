//! Sizes as types: the second pass of the checker, over typed source.
//!
//! The first pass infers types without sizes. This pass then finds the size of each dimension, definition by definition, in
//! the manner of algorithm W (L. Damas, R. Milner, 1982): types are already known to agree, so unification is about sizes
//! alone, and an expression of type `i64` that binds nothing is itself a size ("Towards Size-Dependent Types for Array
//! Programming", T. Henriksen, M. Elsman, 2021).
//!
//! - A size parameter of a value that is used, and each dimension of a type that stands for a type parameter, is a variable
//!   of inference ([`variable`]). Two compound sizes are equal if they are built alike.
//! - An expression may produce sizes of which nothing is known: results of functions with a type `?[k].t`, slices, branches
//!   of different sizes, loops whose sizes change, and variables that go out of scope. Each is a new variable of the
//!   program, whose value is taken from the value of the expression.
//! - A size that a function chooses cannot stand for a dimension of an unlifted type parameter. A lifted one *absorbs* it:
//!   each result then has sizes of its own.
//! - Sizes of a function's type that nothing determines become size parameters; sizes that its body produces become
//!   sizes that the function chooses.
//!
//! The pass records for evaluation and compilation ([`SizeFacts`]): the sizes and shapes for the parameters of each value
//! that is used, and the sizes that each expression produces. Evaluation order follows: arguments are evaluated from the last to the
//! first, then the function, so that sizes that arguments produce are known where the function is instantiated. The
//! [causality check](causality) refuses programs in which a size would be needed before its value exists.

mod apply;
mod branch;
pub mod causality;
mod definition;
mod export;
pub mod facts;
mod function;
mod infer;
mod message;
mod pattern;
pub(crate) mod print;
mod read;
mod repeat;
mod replace;
mod reveal;
pub mod shape;
mod slice;
mod specification;
pub(crate) mod substitute;
mod unify;
pub mod variable;
mod witness;

pub use facts::{SizeFacts, SizeInstance};

use crate::check::SourceFault;
use crate::check::types::TypeId;
use crate::check::unify::VariableTable;
use crate::typed::{
    LocalId, LocalVariable, ProgramPlace, TypedExpressionId, TypedPatternId, TypedProgram,
};
use rustc_hash::FxHashMap;
use shape::{ShapeTable, ShapedScheme, ShapedTypeId, SizeId};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::rc::Rc;
use std::sync::Arc;
use variable::{BinderKind, SizeBinder, SizeVariables};

/// The result of a function of size inference.
type SizeResult<T> = Result<T, Box<SourceFault>>;

/// A value that is seen through a module type, where it is used.
#[derive(Clone, Debug)]
pub struct SealedUse {
    /// Its type in the module type.
    pub scheme: Arc<ShapedScheme>,
    /// The types for the type parameters of that type.
    pub types: Vec<TypeId>,
    /// The types for the type parameters of the definition after it, in terms of those of that type. None if it has the same.
    pub targets: Option<Rc<[TypeId]>>,
}

/// The type of a variable.
#[derive(Clone, Debug)]
enum LocalShape {
    /// A value.
    Value(ShapedTypeId),
    /// A local function with parameters.
    Scheme(Arc<ShapedScheme>),
}

/// The facts found about the definition at hand, with variables of inference.
#[derive(Debug, Default)]
struct SizeRecord {
    /// The sizes and types for the parameters of values that are used.
    instances: Vec<(TypedExpressionId, Vec<SizeId>, Vec<ShapedTypeId>)>,
    /// The sizes that expressions produce, with their types.
    results: Vec<(TypedExpressionId, Vec<LocalId>, ShapedTypeId)>,
    /// The integers that are sizes of results, but no size expressions.
    values: Vec<(TypedExpressionId, LocalId)>,
    /// The types of size coercions.
    coercions: Vec<(TypedExpressionId, ShapedTypeId)>,
    /// The types of values that are used, functions, constructors and arrays without elements.
    shapes: FxHashMap<TypedExpressionId, ShapedTypeId>,
    /// The types of parameters, and of what loops pass on.
    patterns: Vec<(TypedPatternId, Vec<LocalId>, ShapedTypeId)>,
}

/// Size inference of a definition.
pub(crate) struct SizeInference<'c> {
    program: &'c mut TypedProgram,
    type_variables: &'c mut VariableTable,
    table: &'c mut ShapeTable,
    sealed: &'c FxHashMap<TypedExpressionId, SealedUse>,
    variables: SizeVariables,
    locals: FxHashMap<LocalId, LocalShape>,
    record: SizeRecord,
    /// The expressions whose types are recorded for tools.
    recorded: Vec<TypedExpressionId>,
    /// The expression or pattern at hand.
    place: ProgramPlace,
    /// The number of shaped types beyond which no sizes are inferred: types may grow exponentially.
    shape_limit: usize,
    /// Whether unification looks behind abstract types: a value that is seen through a module type meets its definition.
    sees_hidden: bool,
}

/// Shaped types that a definition may add.
const MAX_SHAPES: usize = 1 << 20;

impl<'c> SizeInference<'c> {
    /// Inference for a definition whose types are known.
    pub(crate) fn new(
        program: &'c mut TypedProgram,
        type_variables: &'c mut VariableTable,
        table: &'c mut ShapeTable,
        sealed: &'c FxHashMap<TypedExpressionId, SealedUse>,
        place: ProgramPlace,
    ) -> Self {
        let shape_limit = table.count_shapes() + MAX_SHAPES;
        SizeInference {
            program,
            type_variables,
            table,
            sealed,
            variables: SizeVariables::default(),
            locals: FxHashMap::default(),
            record: SizeRecord::default(),
            recorded: Vec::new(),
            place,
            shape_limit,
            sees_hidden: false,
        }
    }

    /// A fault at a place.
    fn fail_at(
        &self,
        place: ProgramPlace,
        message: impl Into<String>,
        decorate: impl FnOnce(SourceDiagnostic) -> SourceDiagnostic,
    ) -> Box<SourceFault> {
        let range = place.range;
        let location = SourceLocation::from_text_range(range.start as usize, range.end as usize);
        Box::new(SourceFault {
            file: place.file,
            diagnostic: decorate(SourceDiagnostic::error(location, message)),
        })
    }

    /// A variable of the program for a size that an expression produces.
    fn add_produced(&mut self, name: &str, place: ProgramPlace, description: String) -> LocalId {
        let name = self.program.names.intern(name);
        let type_id = self.program.types.int64();
        let local = self.program.locals.push(LocalVariable { name, type_id });
        let binder = SizeBinder {
            level: self.variables.level,
            kind: BinderKind::Produced(place, description),
        };
        self.variables.binders.insert(local, binder);
        local
    }

    /// Whether a variable of the program is a size that an expression produces.
    fn is_produced(&self, local: LocalId) -> bool {
        let binder = self.variables.binders.get(&local);
        binder.is_some_and(|binder| matches!(binder.kind, BinderKind::Produced(..)))
    }

    /// Notes where a variable of the program is bound.
    fn bind_size_name(&mut self, local: LocalId) {
        let binder = SizeBinder {
            level: self.variables.level,
            kind: BinderKind::Bound,
        };
        self.variables.binders.insert(local, binder);
    }
}
