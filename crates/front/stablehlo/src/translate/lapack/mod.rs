//! What JAX calls LAPACK for on processors: `custom_call @lapack_…_ffi`.
//!
//! A name has a letter for the type of the elements and a routine, one row each. Batch dimensions
//! come first; factorisations are loops of rounds, each of which works on all matrices of the batch.
//! Results mean what LAPACK's do: vectors of eigenvalues and singular values may have other signs
//! (or phases), as decompositions leave them open.
//!
//! Operands, results and attributes are those of the handlers in jaxlib (`jaxlib/cpu/lapack.h`).

mod eigen;
mod jacobi;
mod lu;
mod qr;
mod svd;

use super::element::Element;
use super::error::Result;
use super::linear::{Triangular, at, matrices, split};
use super::scalar::{Calc, Val};
use super::translator::{Tensor, Translator};
use crate::mlir::{Float, Op};
use spirula_program::{Literal, Op as Scalar, Scalar as Ty};
use spirula_tensor::ir::{AxisKind, Combiner, Dim, Node, Reduction, Shape, Structured, Value};

type Routine = fn(&mut Translator<'_>, &Call<'_>) -> Result<Vec<Tensor>>;

/// Routines by their names without the letter of the type.
const ROUTINES: &[(&str, Routine)] = &[
    ("potrf", potrf),
    ("trsm", trsm),
    ("getrf", lu::getrf),
    ("geqrf", qr::geqrf),
    ("orgqr", qr::orgqr),
    ("ungqr", qr::orgqr),
    ("syevd", eigen::syevd),
    ("heevd", eigen::syevd),
    ("gesdd", svd::gesdd),
    ("gesvd", svd::gesdd),
];

/// Letters and the types that they stand for.
const LETTERS: &[(char, Element)] = &[
    ('s', Element::Float(Float::F32)),
    ('d', Element::Float(Float::F64)),
    ('c', Element::Complex(Float::F32)),
    ('z', Element::Complex(Float::F64)),
];

/// A call of a routine.
struct Call<'a> {
    op: Op,
    operands: &'a [Tensor],
}

impl Call<'_> {
    /// A letter that an attribute is, such as `uplo`.
    fn letter(&self, t: &Translator<'_>, name: &str) -> Result<char> {
        let configurations = ["mhlo.backend_config", "backend_config"];
        let mut fields = configurations.iter().filter_map(|of| {
            let attr = t.module.attribute(self.op, of)?;
            t.module.as_integer(t.module.field(attr, name)?)
        });
        let letter = fields.next().and_then(|code| u8::try_from(code).ok());
        let missing = || t.invalid(self.op, format!("a call of LAPACK has no {name}"));
        letter.map(char::from).ok_or_else(missing)
    }

    /// The matrices of an operand.
    fn matrices(&self, t: &Translator<'_>, at: usize) -> Result<(Tensor, Matrices)> {
        let operand = &self.operands[at];
        let (batch, rows, columns) = matrices(t, self.op, operand)?;
        let known = rows.known().zip(columns.known());
        let (rows, columns) = known.ok_or_else(|| t.dynamic(self.op))?;
        let shape = Matrices {
            batch,
            rows,
            columns,
        };
        Ok((operand.clone(), shape))
    }

    /// The same for one that has to be square.
    fn square(&self, t: &Translator<'_>) -> Result<(Tensor, Matrices)> {
        let (operand, shape) = self.matrices(t, 0)?;
        let is_square = shape.rows == shape.columns;
        t.ensure(self.op, is_square, "has matrices that are not square")?;
        Ok((operand, shape))
    }
}

/// The shape of a batch of matrices.
#[derive(Clone)]
struct Matrices {
    batch: Shape,
    rows: u64,
    columns: u64,
}

impl Matrices {
    /// The batch with more dimensions.
    fn with(&self, sizes: &[u64]) -> Shape {
        let mut shape = self.batch.clone();
        shape.extend(sizes.iter().map(|size| Dim::Static(*size)));
        shape
    }

    /// The whole shape.
    fn whole(&self) -> Shape {
        self.with(&[self.rows, self.columns])
    }

    fn least(&self) -> u64 {
        self.rows.min(self.columns)
    }
}

/// Translates a call by the name of its target; none if LAPACK has no such routine here.
pub(super) fn call(t: &mut Translator<'_>, op: Op, target: &str) -> Option<Result<()>> {
    let name = target.strip_prefix("lapack_")?.strip_suffix("_ffi")?;
    let (letter, routine) = name.split_at_checked(1)?;
    let (_, element) = LETTERS.iter().find(|(of, _)| letter.starts_with(*of))?;
    let (_, routine) = ROUTINES.iter().find(|(of, _)| *of == routine)?;
    let translate = |t: &mut Translator<'_>| {
        let operands = t.operands(op)?;
        let count = match name {
            _ if name.ends_with("trsm") || name.ends_with("gqr") => 2,
            _ => 1,
        };
        let fits = operands.len() == count && operands.iter().all(|o| o.element == *element);
        t.ensure(op, fits, "has wrong operands for a routine of LAPACK")?;
        let call = Call {
            op,
            operands: &operands,
        };
        let results = routine(t, &call)?;
        t.give(op, results)
    };
    Some(translate(t))
}

/// A position with another index behind it.
fn and(outer: &[Node], index: Node) -> Vec<Node> {
    let mut position = outer.to_vec();
    position.push(index);
    position
}

/// The number of the round.
fn number(s: &mut Structured, round: Value) -> Node {
    s.body.element(round, Ty::I64, &[])
}

/// Ones on the diagonal, zeros elsewhere.
fn identity(t: &mut Translator<'_>, element: Element, shape: &Matrices) -> Result<Tensor> {
    t.map(&shape.whole(), |_, s, point| {
        let (_, row, column) = split(point);
        let mut c = Calc::new(&mut s.body);
        let (one, zero) = (c.known(element, 1.0), c.known(element, 0.0));
        let is_diagonal = c.eq(row, column);
        Ok(c.choice(is_diagonal, &one, &zero))
    })
}

/// Several results of one structured operation.
fn finish_all(t: &mut Translator<'_>, mut s: Structured, values: &[Val]) -> Vec<Tensor> {
    for node in values.iter().flat_map(|val| &val.nodes) {
        s.give(*node);
    }
    let mut parts = t.builder.structured(s).into_iter();
    let tensors = values.iter().map(|val| {
        let own: Vec<Value> = parts.by_ref().take(val.nodes.len()).collect();
        Tensor::of(val.element, &own)
    });
    tensors.collect()
}

/// The sum of a real value over the reduced axes.
fn sum(s: &mut Structured, value: Node) -> Node {
    let ty = s.body.ty(value);
    let zero = s.body.literal(Literal::new(ty, 0));
    let sums = s.fold(Reduction {
        initial: vec![zero],
        values: vec![value],
        combiner: Combiner::of(Scalar::FAdd, ty),
    });
    sums[0]
}

/// `info` for each matrix: the number, from 1, of the first element of the diagonal that a test
/// takes for a failure; 0 if there is none.
fn first_failure(
    t: &mut Translator<'_>,
    factor: &Tensor,
    shape: &Matrices,
    is_failure: impl FnOnce(&mut Calc<'_>, &Val) -> Node,
) -> Tensor {
    let mut s = Structured::parallel(&shape.batch);
    let outer = s.point();
    let i = s.axis(Dim::Static(shape.least()), AxisKind::Reduction);
    let pivot = t.read(&mut s, factor, &at(&outer, i, i));
    let mut c = Calc::new(&mut s.body);
    let failed = is_failure(&mut c, &pivot);
    let none = c.bits(Ty::I64, i64::MAX as u64);
    let number = c.plus(i, 1.0);
    let number = c.cond(failed, number, none);
    let found = s.fold(Reduction {
        initial: vec![none],
        values: vec![number],
        combiner: Combiner::of(Scalar::SMin, Ty::I64),
    })[0];
    let mut c = Calc::new(&mut s.body);
    let is_none = c.eq(found, none);
    let zero = c.bits(Ty::I64, 0);
    let info = c.cond(is_none, zero, found);
    let info = c.resize(Ty::I32, true, info);
    t.finish(s, &Val::new(Element::I32, info))
}

/// `info` of a routine that does not fail.
fn success(t: &mut Translator<'_>, shape: &Matrices) -> Tensor {
    t.zeros(Element::I32, &shape.batch)
}

/// `potrf`: the triangle that is not asked for stays as it was.
fn potrf(t: &mut Translator<'_>, call: &Call<'_>) -> Result<Vec<Tensor>> {
    let (a, shape) = call.square(t)?;
    let lower = call.letter(t, "uplo")? == 'L';
    let factor = t.cholesky(call.op, &a, lower)?;
    let info = first_failure(t, &factor, &shape, |c, pivot| {
        let zero = c.like(pivot.node(), 0.0);
        let is_right = c.lt(zero, pivot.node());
        c.not(is_right)
    });
    let result = t.map(&shape.whole(), |t, s, point| {
        let (_, row, column) = split(point);
        let (new, old) = (t.read(s, &factor, point), t.read(s, &a, point));
        let mut c = Calc::new(&mut s.body);
        let is_old = match lower {
            true => c.lt(row, column),
            false => c.lt(column, row),
        };
        Ok(c.choice(is_old, &old, &new))
    })?;
    Ok(vec![result, info])
}

/// `trsm`: a triangular system.
fn trsm(t: &mut Translator<'_>, call: &Call<'_>) -> Result<Vec<Tensor>> {
    let triangular = Triangular {
        left: call.letter(t, "side")? == 'L',
        lower: call.letter(t, "uplo")? == 'L',
        unit: call.letter(t, "diag")? == 'U',
        transpose: match call.letter(t, "trans_x")? {
            'T' => "TRANSPOSE",
            'C' => "ADJOINT",
            _ => "NO_TRANSPOSE",
        },
    };
    let (a, b) = (&call.operands[0], &call.operands[1]);
    Ok(vec![t.triangular(call.op, (a, b), &triangular)?])
}
