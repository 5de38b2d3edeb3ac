//! Calls from many threads at once.

use crate::caller::TestClient;
use std::thread;

/// Each thread compiles a program of its own, and runs it beside the others.
#[test]
fn threads_compile_and_run_at_once() {
    let client = TestClient::new();
    thread::scope(|scope| {
        for number in 0..8u32 {
            let client = &client;
            scope.spawn(move || {
                let source = format!(
                    "module {{ func.func public @main(%a: tensor<300xf32>) -> tensor<300xf32> {{
                      %0 = stablehlo.constant dense<{number}.0> : tensor<300xf32>
                      %1 = stablehlo.add %a, %0 : tensor<300xf32>
                      return %1 : tensor<300xf32> }} }}"
                );
                let add = client.compile(&source).expect("it compiles");
                let mut sum = client.upload(&[0.5; 300], &[300], &[]);
                for _ in 0..50 {
                    sum = add
                        .submit(&[&sum])
                        .map(|(sum, event)| {
                            crate::caller::await_event(event).expect("it runs");
                            sum
                        })
                        .expect("it begins");
                }
                let wanted = 0.5 + 50.0 * number as f32;
                assert_eq!(sum.download().expect("it is there"), [wanted; 300]);
            });
        }
    });
}

/// Executions are submitted faster than they run, and no caller waits for its own.
#[test]
fn executions_wait_in_their_order() {
    let client = TestClient::new();
    let source = "module { func.func public @main(%a: tensor<200000xf32>) -> tensor<200000xf32> {
        %0 = stablehlo.sine %a : tensor<200000xf32>
        %1 = stablehlo.add %0, %a : tensor<200000xf32>
        return %1 : tensor<200000xf32> } }";
    let step = client.compile(source).expect("it compiles");
    let mut value = client.upload(&vec![0.0; 200_000], &[200_000], &[]);
    let mut events = Vec::new();
    for _ in 0..30 {
        let (next, event) = step.submit(&[&value]).expect("it begins");
        // The argument is freed before the execution has run.
        value = next;
        events.push(event);
    }
    assert_eq!(value.download().expect("it is there"), vec![0.0; 200_000]);
    for event in events {
        crate::caller::await_event(event).expect("it ran");
    }
}
