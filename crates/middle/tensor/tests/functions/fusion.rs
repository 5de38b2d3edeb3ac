//! Operations that become one dispatch, and the memory that is taken between dispatches.

use crate::common::{only_dispatch, parameter, product, stage};
use spirula_kernel::ir::FragmentElement;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};
use spirula_tensor::TensorBuilder;
use spirula_tensor::ir::{
    AxisKind, DenseTensorType, DimExtent, ScalarCombiner, StructuredOp, TensorReduction,
    TensorShape, TensorValue,
};
use spirula_tensor::schedule::{FragmentShape, MatrixProfile, ScheduleProfile};

/// Several operations after a product are computed in its dispatch.
#[test]
fn products_have_what_follows() {
    let mut b = TensorBuilder::new("main");
    let [x, y] = [[20, 30], [30, 16]].map(|shape| parameter(&mut b, &shape));
    let row = parameter(&mut b, &[16]);
    let shape = [20, 16].map(DimExtent::Static);
    let product = product(&mut b, x, y, false);
    let row = b.add_gather(row, &shape, |_, point| vec![point[1]]);
    let added = b.add_elementwise(&[product, row], |body, e| body.apply_op(ScalarOp::Add, e));
    let result = b.add_elementwise(&[added], |body, e| {
        body.apply_op(ScalarOp::Mul, &[e[0], e[0]])
    });
    b.add_result(result, false);
    let shapes = [vec![20, 30], vec![30, 16], vec![16]];
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        only_dispatch(&b.function().clone(), &shapes, profile);
    }
}

/// A function of elements that is not computed twice for its own sake.
fn costly(b: &mut TensorBuilder, value: TensorValue) -> TensorValue {
    b.add_elementwise(&[value], |body, e| {
        let five = body.intern_literal(ScalarLiteral::from_i32(5));
        let first = body.apply_op(ScalarOp::SQuotSafe, &[e[0], five]);
        body.apply_op(ScalarOp::SQuotSafe, &[five, first])
    })
}

/// A small tensor that is made for what follows a product is computed there, however costly.
#[test]
fn little_work_is_done_again_behind_products() {
    let mut b = TensorBuilder::new("main");
    let shapes = [vec![20, 30], vec![30, 16], vec![16]];
    let [x, y, row] = [0, 1, 2].map(|at: usize| parameter(&mut b, &shapes[at]));
    let product = product(&mut b, x, y, false);
    let row = costly(&mut b, row);
    let shape = [20, 16].map(DimExtent::Static);
    let row = b.add_gather(row, &shape, |_, point| vec![point[1]]);
    let result = b.add_elementwise(&[product, row], |body, e| body.apply_op(ScalarOp::Add, e));
    b.add_result(result, false);
    let function = b.finish_function();
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        // Where there is no room for work that is done again otherwise.
        let profile = ScheduleProfile {
            again: 1,
            ..profile
        };
        only_dispatch(&function, &shapes, profile);
    }
}

/// Axes of size 1 do not part a fold from what follows it.
#[test]
fn axes_of_size_1_make_no_difference() {
    let mut b = TensorBuilder::new("main");
    let shapes = [vec![1, 20, 30]];
    let x = parameter(&mut b, &shapes[0]);
    let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
    let sums = b.add_reduction(
        &[x],
        &[zero],
        &[2],
        ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
    )[0];
    let shape = [1, 1, 20, 1].map(DimExtent::Static);
    let wide = b.add_gather(sums, &shape, |_, point| vec![point[0], point[2]]);
    let result = costly(&mut b, wide);
    b.add_result(result, false);
    let function = b.finish_function();
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        only_dispatch(&function, &shapes, profile);
    }
}

/// Axes may be in another order after a product, and results are written so.
#[test]
fn what_follows_products_may_be_turned() {
    let shapes = [vec![20, 30], vec![30, 16], vec![16, 20]];
    let mut b = TensorBuilder::new("main");
    let [x, y, z] = [0, 1, 2].map(|at: usize| parameter(&mut b, &shapes[at]));
    let product = product(&mut b, x, y, false);
    let turned = [16, 20].map(DimExtent::Static);
    let turned = b.add_gather(product, &turned, |_, point| vec![point[1], point[0]]);
    let result = b.add_elementwise(&[z, turned], |body, e| body.apply_op(ScalarOp::Sub, e));
    b.add_result(result, false);
    let function = b.finish_function();
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        only_dispatch(&function, &shapes, profile);
    }
}

/// A fold over one point is computed with what follows.
#[test]
fn folds_of_single_points_are_maps() {
    let shapes = [vec![20, 1, 7]];
    let mut b = TensorBuilder::new("main");
    let x = parameter(&mut b, &shapes[0]);
    let seven = b.add_splat(ScalarLiteral::from_i32(7), &[]);
    let add = ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32);
    let single = b.add_reduction(&[x], &[seven], &[1], add.clone())[0];
    let sum = b.add_reduction(&[single], &[seven], &[1], add)[0];
    b.add_result(sum, false);
    let function = b.finish_function();
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        only_dispatch(&function, &shapes, profile);
    }
}

/// Others may use what a product, a fold or a map gives beside what follows it.
#[test]
fn what_follows_others_gives_both() {
    let shapes = [vec![20, 30], vec![30, 16]];
    for kind in 0..3 {
        let mut b = TensorBuilder::new("main");
        let [x, y] = [0, 1].map(|at: usize| parameter(&mut b, &shapes[at]));
        let first = match kind {
            0 => product(&mut b, x, y, false),
            1 => {
                let seven = b.add_splat(ScalarLiteral::from_i32(7), &[]);
                b.add_reduction(
                    &[x],
                    &[seven],
                    &[0],
                    ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
                )[0]
            }
            _ => costly(&mut b, y),
        };
        let second = costly(&mut b, first);
        let third = b.add_elementwise(&[second, first], |body, e| body.apply_op(ScalarOp::Xor, e));
        for value in [first, third, second] {
            b.add_result(value, false);
        }
        let function = b.finish_function();
        for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
            only_dispatch(&function, &shapes, profile);
        }
    }
}

/// The memory of a tensor goes on to those after its last use, also where it has another name.
#[test]
fn memory_is_used_again() {
    let mut b = TensorBuilder::new("main");
    let mut value = parameter(&mut b, &[10, 20]);
    for at in 0..6 {
        // Folds are no parts of each other.
        let shape = b.ty(value).shape.clone();
        let mut op = StructuredOp::with_parallel_axes(&shape);
        let point = op.axis_indices();
        let along = op.add_axis(DimExtent::Static(20), AxisKind::Reduction);
        let element = op
            .body
            .intern_element(value, ScalarType::I32, &[point[0], along]);
        let zero = op.body.intern_literal(ScalarLiteral::from_i32(at));
        let sum = op.add_reduction(TensorReduction {
            initial: vec![zero],
            values: vec![element],
            combiner: ScalarCombiner::from_op(ScalarOp::Xor, ScalarType::I32),
        });
        op.add_yield(sum[0]);
        value = b.add_structured(op)[0];
        let turned: TensorShape = [DimExtent::Static(20), DimExtent::Static(10)]
            .into_iter()
            .collect();
        value = b.add_reshape(value, turned);
        value = b.add_reshape(value, shape);
    }
    b.add_result(value, false);
    let memory = spirula_tensor::measure_memory_use(b.function());
    assert_eq!((memory.made, memory.peak), (6 * 800, 2 * 800));
    let drawn = spirula_tensor::draw_function(b.function(), &[]);
    assert!(
        drawn.contains("tensors of 4800 bytes, at most 1600 at once"),
        "{drawn}"
    );
}

/// Maps and folds over equal spaces are one dispatch, whichever of them comes first.
#[test]
fn siblings_are_joined() {
    let shape = [6, 50];
    let mut b = TensorBuilder::new("main");
    let [x, y] = [(); 2].map(|()| parameter(&mut b, &shape));
    let zero = b.add_splat(ScalarLiteral::from_i32(0), &[]);
    let sums = b.add_reduction(
        &[x],
        &[zero],
        &[1],
        ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I32),
    )[0];
    let seven = b.add_splat(ScalarLiteral::from_i32(7), &[]);
    let most = b.add_reduction(
        &[y],
        &[seven],
        &[1],
        ScalarCombiner::from_op(ScalarOp::SMax, ScalarType::I32),
    )[0];
    let third = b.add_reduction(
        &[x],
        &[seven],
        &[1],
        ScalarCombiner::from_op(ScalarOp::Xor, ScalarType::I32),
    )[0];
    for value in [most, sums, third] {
        b.add_result(value, false);
    }
    let shapes = [shape.to_vec(), shape.to_vec()];
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        only_dispatch(&b.function().clone(), &shapes, profile);
    }
    let mut b = TensorBuilder::new("main");
    let [x, y] = [(); 2].map(|()| parameter(&mut b, &shape));
    let sum = b.add_elementwise(&[x, y], |body, e| body.apply_op(ScalarOp::Add, e));
    let product = b.add_elementwise(&[y, x], |body, e| body.apply_op(ScalarOp::Mul, e));
    b.add_result(product, false);
    b.add_result(sum, false);
    let stage = only_dispatch(&b.finish_function(), &shapes, ScheduleProfile::GPU);
    assert_eq!(stage.matches("over d0").count(), 1, "{stage}");
}

/// How many dispatches a product of squares of a size takes, the first of whose factors something made.
fn with_factor(
    size: u64,
    element: ScalarType,
    profile: ScheduleProfile,
    make: impl Fn(&mut TensorBuilder, TensorValue) -> TensorValue,
) -> usize {
    let mut b = TensorBuilder::new("main");
    let shape = [size, size];
    let x = b.add_parameter("x", DenseTensorType::new(element, &shape), false);
    let y = parameter(&mut b, &shape);
    let x = make(&mut b, x);
    let result = product(&mut b, x, y, false);
    b.add_result(result, false);
    let stages = stage(&b.finish_function(), profile, None);
    stages.matches("dispatch @").count()
}

/// The factor of a large product is computed again for each tile that has it: where that reads more than
/// the factor itself would, it is stored.
#[test]
fn factors_are_stored_where_computing_them_again_costs_more() {
    let sum = |b: &mut TensorBuilder, value| {
        let turned = b.ty(value).shape.clone();
        let other = b.add_gather(value, &turned, |_, at| vec![at[1], at[0]]);
        b.add_elementwise(&[value, other], |body, e| body.apply_op(ScalarOp::Add, e))
    };
    let cast = |b: &mut TensorBuilder, value| {
        b.add_elementwise(&[value], |body, e| {
            body.apply_conversion(ScalarOp::SExt, ScalarType::I32, e[0])
        })
    };
    let turned = |b: &mut TensorBuilder, value| {
        let shape = b.ty(value).shape.clone();
        b.add_gather(value, &shape, |_, at| vec![at[1], at[0]])
    };
    for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
        assert_eq!(with_factor(4096, ScalarType::I32, profile, sum), 2);
        assert_eq!(with_factor(32, ScalarType::I32, profile, sum), 1);
        assert_eq!(with_factor(4096, ScalarType::I32, profile, turned), 1);
    }
    assert_eq!(
        with_factor(4096, ScalarType::I8, ScheduleProfile::GPU, cast),
        1
    );
    // A processor reads factors where they are, if they are there.
    assert_eq!(
        with_factor(4096, ScalarType::I8, ScheduleProfile::CPU, cast),
        2
    );
}

/// A product by matrices of a size, whose first factor is cast from bytes.
fn by_matrices(size: u64) -> usize {
    let mut b = TensorBuilder::new("main");
    let shape = [size, size];
    let bytes = b.add_parameter("x", DenseTensorType::new(ScalarType::I8, &shape), false);
    let y = b.add_parameter("y", DenseTensorType::new(ScalarType::F16, &shape), false);
    let x = b.add_elementwise(&[bytes], |body, e| {
        body.apply_conversion(ScalarOp::SToF, ScalarType::F16, e[0])
    });
    let mut op = StructuredOp::with_parallel_axes(&[DimExtent::Static(size); 2]);
    let point = op.axis_indices();
    let at = op.add_axis(DimExtent::Static(size), AxisKind::Reduction);
    let factors = [(x, [point[0], at]), (y, [at, point[1]])].map(|(value, place)| {
        let element = op.body.intern_element(value, ScalarType::F16, &place);
        op.body
            .apply_conversion(ScalarOp::FConv, ScalarType::F32, element)
    });
    let product = op.body.apply_op(ScalarOp::FMul, &factors);
    let zero = op
        .body
        .intern_literal(ScalarLiteral::new(ScalarType::F32, 0));
    let sum = op.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![product],
        combiner: ScalarCombiner::from_op(ScalarOp::FAdd, ScalarType::F32),
    });
    op.add_yield(sum[0]);
    let result = b.add_structured(op)[0];
    b.add_result(result, false);
    let fragments = FragmentShape {
        size: [16, 16, 16],
        factors: [FragmentElement::F16; 2],
        sum: FragmentElement::F32,
    };
    let profile = ScheduleProfile {
        matrices: MatrixProfile::new(32, 48 << 10, [fragments]),
        ..ScheduleProfile::GPU
    };
    let stages = stage(&b.finish_function(), profile, None);
    stages.matches("dispatch @").count()
}

/// Subgroups that multiply matrices lose more by a factor that they compute than a cast saves.
#[test]
fn products_by_matrices_find_their_factors_stored() {
    assert_eq!(by_matrices(4096), 2);
    assert_eq!(by_matrices(64), 1);
}

/// The costs that were weighed stand after the function.
#[test]
fn what_is_stored_is_told() {
    let mut b = TensorBuilder::new("main");
    let [x, y] = [(); 2].map(|()| parameter(&mut b, &[4096, 4096]));
    let sum = b.add_elementwise(&[x, y], |body, e| body.apply_op(ScalarOp::Add, e));
    let result = product(&mut b, sum, y, false);
    b.add_result(result, false);
    let text = stage(&b.finish_function(), ScheduleProfile::GPU, Some("fuse"));
    let told = "// %2 is stored for %3: 16777216 elements read 536870912 times cost 9479127040 operators, \
                18203279360 if computed again";
    assert_eq!(text.lines().last(), Some(told), "{text}");
}
