//! Run time on the CPU device against the same loops in Rust, and against PoCL and lavapipe if they are installed.
//! All contenders take turns in one process. The report gives medians of times, and medians over all rounds of the
//! ratio of processor time to that of the CPU device.
//!
//! `cargo bench -p spirula-bench --bench cpu [-- NAME…]`

mod baseline;
mod measure;
mod opencl;
mod spirula;
mod workload;

use measure::{Contender, Times, measure};
use opencl::OpenCl;
use spirula::Session;
use workload::Workload;

const ROUNDS: usize = 11;
const SCALAR: &str = "the same, scalar code";
const CHECKED: &str = "the same, checked";
const KERNELS: &[u8] = include_bytes!("../../../../../benches/kernels/kernels.ll");
const SOURCE: &str = include_str!("../../../../../benches/kernels/kernels.cl");

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let pocl = OpenCl::open(SOURCE);
    let lavapipe = Session::open("vulkan:llvmpipe", None, &[]).is_some();
    match &pocl {
        Some(driver) => println!("OpenCL: {}", driver.name),
        None => println!("OpenCL: no CPU driver found, PoCL is left out"),
    }
    if !lavapipe {
        println!("Vulkan: no lavapipe found, it is left out");
    }
    println!("\n| kernel | contender | processor time, ms | wall, ms | processor time / ours |");
    println!("| --- | --- | --- | --- | --- |");
    for workload in workload::all() {
        if wanted.is_empty() || wanted.iter().any(|w| workload.name.contains(w.as_str())) {
            run(&workload, pocl.as_ref());
        }
    }
}

fn run(workload: &Workload, pocl: Option<&OpenCl>) {
    let [mut expected, mut single, mut parallel] = [0; 3].map(|_| workload.buffers.clone());
    (workload.baseline)(&mut expected, false);
    let mut ours = Session::open("cpu", None, &workload.buffers).expect("there is a CPU device");
    let work = kernel(&mut ours, workload);
    ours.run(&work);
    let result = workload.result.0;
    if let Some(difference) =
        workload::difference(workload, &ours.result(result), &expected[result])
    {
        panic!("{}: {difference}", workload.name);
    }
    let mut alone =
        Session::open("cpu", Some(1), &workload.buffers).expect("there is a CPU device");
    let work_alone = kernel(&mut alone, workload);
    let mut scalar =
        Session::open("cpu+scalar", Some(1), &workload.buffers).expect("there is a CPU device");
    let work_scalar = kernel(&mut scalar, workload);
    let mut checked =
        Session::open("cpu+san", Some(1), &workload.buffers).expect("there is a CPU device");
    let work_checked = kernel(&mut checked, workload);
    for (what, session) in [("vectors and scalar", &mut ours), ("checked", &mut checked)] {
        let time = session.compile_time(KERNELS, workload.name).as_secs_f64() * 1e3;
        println!(
            "| {} | compilation, {what} | {time:.2} | | |",
            workload.name
        );
    }
    let mut contenders = vec![
        Contender {
            name: "Spirula CPU device",
            run: Box::new(|| ours.run(&work)),
        },
        Contender {
            name: "the same, one thread",
            run: Box::new(|| alone.run(&work_alone)),
        },
        Contender {
            name: SCALAR,
            run: Box::new(|| scalar.run(&work_scalar)),
        },
        Contender {
            name: CHECKED,
            run: Box::new(|| checked.run(&work_checked)),
        },
        Contender {
            name: "Rust, one thread",
            run: Box::new(|| (workload.baseline)(&mut single, false)),
        },
        Contender {
            name: "Rust, all threads",
            run: Box::new(|| (workload.baseline)(&mut parallel, true)),
        },
    ];
    contenders.extend(pocl.map(|driver| opencl_contender(driver, workload)));
    if let Some(mut session) = Session::open("vulkan:llvmpipe", None, &workload.buffers) {
        let work = session.shader(workload.shader.0, &workload.push, workload.shader.1);
        let run = Box::new(move || session.run(&work));
        contenders.push(Contender {
            name: "lavapipe",
            run,
        });
    }
    let times = measure(&mut contenders, ROUNDS);
    for (contender, time) in contenders.iter().zip(&times) {
        report(workload, contender.name, time, &times[0]);
    }
    let of = |name: &str| contenders.iter().position(|c| c.name == name);
    if let Some((checked, scalar)) = of(CHECKED).zip(of(SCALAR)) {
        let ratio = times[checked].ratio(&times[scalar]);
        println!("| {} | checked / scalar | {ratio:.2} | | |", workload.name);
    }
}

fn kernel(session: &mut Session, w: &Workload) -> spirula::Work {
    session.kernel(KERNELS, w.name, &w.scalars, w.global, w.local)
}

fn opencl_contender<'a>(driver: &'a OpenCl, workload: &'a Workload) -> Contender<'a> {
    let buffers: Vec<_> = workload.buffers.iter().map(|b| driver.buffer(b)).collect();
    let kernel = driver.kernel(workload.name);
    let global = [workload.global[0] as usize, workload.global[1] as usize];
    let local = [workload.local[0] as usize, workload.local[1] as usize];
    let run = move || driver.run(&kernel, &buffers, &workload.scalars, global, local);
    Contender {
        name: "PoCL",
        run: Box::new(run),
    }
}

fn report(workload: &Workload, name: &str, time: &Times, ours: &Times) {
    println!(
        "| {} ({}) | {name} | {:.2} | {:.2} | {:.2} |",
        workload.name,
        workload.size,
        time.cpu().as_secs_f64() * 1e3,
        time.wall().as_secs_f64() * 1e3,
        time.ratio(ours)
    );
}
