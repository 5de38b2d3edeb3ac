//! The overhead of a launch.
//!
//! `cargo bench -p spirula-bench --bench launch [-- DEVICE...]`; by default the CPU device, and Vulkan and OpenCL
//! if they are available. A kernel of one workgroup is launched a hundred times; each launch reads what the one
//! before it wrote. It is measured with one submission for all launches, and with a wait after each. Times are
//! medians of rounds, which alternate; the first round is not counted. `host` is this thread's processor time for a
//! launch without a wait, including the driver's share.

use cpu_time::{ProcessTime, ThreadTime};
use spirula::CompileOptions;
use spirula_runtime::{
    ComputeDevice, DeviceError, DeviceOptions, IndexSpace, KernelHandle, KernelLaunch,
    LaunchBinding, LaunchInputs,
};
use std::time::{Duration, Instant};

/// Launches of a round.
const LAUNCHES: u32 = 100;
/// Rounds that count.
const ROUNDS: usize = 31;

const SHADER: &str = include_str!("add.spvasm");
const KERNEL: &str = include_str!("add_kernel.spvasm");

fn main() {
    let given: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let usual = ["cpu", "vulkan", "opencl"].map(str::to_owned).to_vec();
    let names = if given.is_empty() { usual } else { given };
    println!(
        "{LAUNCHES} dependent launches of one workgroup; wall / processor time of all threads"
    );
    for name in names {
        match measure(&name) {
            Ok(text) => println!("{text}"),
            Err(error) => println!("{name}: left out: {error}"),
        }
    }
}

fn measure(name: &str) -> Result<String, DeviceError> {
    let mut device = ComputeDevice::open(name, &DeviceOptions::default())?;
    let text = if name.starts_with("opencl") {
        KERNEL
    } else {
        SHADER
    };
    let compiled = spirula::compile_input(text.as_bytes(), &CompileOptions::default());
    let module = compiled.and_then(|c| c.into_module());
    let module = module.map_err(|_| DeviceError::Failed("the kernel is refused".to_owned()))?;
    let kernel = device.create_kernel(&module, "add", &[])?;
    let words = device.upload_data(&[0_u32; 64])?;
    let launch = launch(kernel, words, text == SHADER);
    let mut rows = [const { Vec::new() }; 3];
    let mut host = Vec::new();
    for _ in 0..=ROUNDS {
        let (one, thread) = time(&mut device, |device| {
            (0..LAUNCHES).try_for_each(|_| device.launch_kernel(&launch))
        })?;
        rows[0].push(one);
        host.push(thread / LAUNCHES);
        let (each, _) = time(&mut device, |device| {
            (0..LAUNCHES).try_for_each(|_| {
                device.launch_kernel(&launch)?;
                device.wait_idle()
            })
        })?;
        rows[1].push(each);
        rows[2].push(time(&mut device, |device| device.launch_kernel(&launch))?.0);
    }
    let [one, each, single] = rows.map(|row| median(&row[1..]));
    host.remove(0);
    host.sort_unstable();
    let ratio = one.0.as_secs_f64() / each.0.as_secs_f64();
    Ok(format!(
        "{name} ({}): one submission {}, {LAUNCHES} submissions {}, ratio {ratio:.2}; \
         a launch alone {}; host {:.2} us a launch",
        device.info().name,
        both(one),
        both(each),
        both(single),
        host[ROUNDS / 2].as_secs_f64() * 1e6,
    ))
}

fn launch(
    kernel: KernelHandle,
    words: spirula_runtime::BufferHandle,
    is_shader: bool,
) -> KernelLaunch {
    let bound = LaunchBinding::with_whole_buffer(0, words);
    if is_shader {
        KernelLaunch {
            kernel,
            size: IndexSpace::Groups([1; 3]),
            inputs: LaunchInputs::Resources {
                bindings: vec![bound],
                push: Vec::new(),
            },
        }
    } else {
        KernelLaunch {
            kernel,
            size: IndexSpace::Items {
                dimensions: 1,
                global: [64, 1, 1],
                local: Some([64, 1, 1]),
                offset: [0; 3],
            },
            inputs: LaunchInputs::Arguments(vec![spirula_runtime::KernelArgument::from(words)]),
        }
    }
}

type Cost = (Duration, Duration);

/// Wall time and processor time until some work is done, and this thread's time until it has begun.
fn time(
    device: &mut ComputeDevice,
    work: impl FnOnce(&mut ComputeDevice) -> Result<(), DeviceError>,
) -> Result<(Cost, Duration), DeviceError> {
    device.wait_idle()?;
    let (wall, all, thread) = (Instant::now(), ProcessTime::now(), ThreadTime::now());
    work(device)?;
    let begun = thread.elapsed();
    device.wait_idle()?;
    Ok(((wall.elapsed(), all.elapsed()), begun))
}

fn median(costs: &[Cost]) -> Cost {
    let of = |part: fn(&Cost) -> Duration| {
        let mut parts: Vec<_> = costs.iter().map(part).collect();
        parts.sort_unstable();
        parts[parts.len() / 2]
    };
    (of(|c| c.0), of(|c| c.1))
}

fn both((wall, all): Cost) -> String {
    let micros = |d: Duration| d.as_secs_f64() * 1e6;
    format!("{:.0} / {:.0} us", micros(wall), micros(all))
}
