//! Launches that limits are too small for, that take time, and files that are kept.

use super::{SAXPY, bound, device, floats, module, one, saxpy, text, words};
use spirula_runtime::{
    ComputeDevice, DeviceOptions, IndexSpace, KernelArgument, KernelLaunch, LaunchInputs,
};

const IDS: &str = include_str!("ids.spvasm");
const PUSHES: &str = include_str!("pushes.spvasm");
const LONG: &str = include_str!("long.spvasm");
const SHARED: &str = include_str!("shared.spvasm");

#[test]
fn buffers_beyond_a_descriptor_come_by_address() {
    let Some(mut device) = device() else { return };
    // More than Vulkan promises for storage buffers, and than lavapipe has.
    let count = (1_u32 << 25) + 64;
    let x = device.create_buffer(u64::from(count) * 4).unwrap();
    let y = device.upload_data(&floats([1.0; 64].into_iter())).unwrap();
    let end = u64::from(count) * 4 - 256;
    device
        .write_buffer(x, end, &floats([3.0; 64].into_iter()))
        .unwrap();
    let kernel = device.create_kernel(&module(SAXPY), "saxpy", &[(0, 64)]);
    let kernel = kernel.unwrap();
    // y += 2 x over the large one, which stands on either side.
    let z = device.create_buffer(u64::from(count) * 4).unwrap();
    for (from, to, n) in [(x, z, count), (y, z, 64)] {
        let launch = saxpy(kernel, from, to, 2.0, n, n / 64);
        device.launch_kernel(&launch).unwrap();
    }
    let mut got = vec![0; 256];
    device.read_buffer(z, end, &mut got).unwrap();
    assert_eq!(got, floats([6.0; 64].into_iter()));
    device.read_buffer(z, 0, &mut got).unwrap();
    assert_eq!(got, floats([2.0; 64].into_iter()));
    // Small buffers go on as before.
    device
        .launch_kernel(&saxpy(kernel, y, y, 1.0, 64, 1))
        .unwrap();
    assert_eq!(
        device.download_buffer(y).unwrap(),
        floats([2.0; 64].into_iter())
    );
}

#[test]
fn grids_beyond_the_limits_have_the_ids_of_the_launch() {
    let Some(mut device) = device() else { return };
    let kernel = device.create_kernel(&module(IDS), "main", &[]).unwrap();
    for groups in [[70_001, 1, 1], [3, 66_000, 1], [1, 1, 65_539], [5, 3, 2]] {
        let [x, y, z] = groups;
        let count = u64::from(x * y * z) * 2;
        let out = device.create_buffer(count * 16).unwrap();
        let launch = KernelLaunch {
            size: IndexSpace::Groups(groups),
            ..one(kernel, vec![bound(0, 0, 0, out)], vec![])
        };
        device.launch_kernel(&launch).unwrap();
        let bytes = device.download_buffer(out).unwrap();
        let (rows, _) = bytes.as_chunks::<16>();
        for (n, row) in rows.iter().enumerate() {
            let (row, _) = row.as_chunks();
            let row: Vec<_> = row.iter().map(|w| u32::from_le_bytes(*w)).collect();
            let group = n as u32 / 2;
            let at = [group % x, group / x % y, group / x / y];
            let wanted = [at[0], at[1], at[2], 2 * at[0] + n as u32 % 2];
            assert_eq!(row, wanted, "row {n} of {groups:?}");
        }
        device.destroy_buffer(out).unwrap();
    }
}

#[test]
fn push_constants_beyond_the_limit() {
    let Some(mut device) = device() else { return };
    let limit = device.info().limits.push_constants as usize;
    let length = limit / 4 + 3;
    let text = PUSHES.replace("LENGTH", &length.to_string());
    let kernel = device.create_kernel(&module(&text), "main", &[]).unwrap();
    let out = device.create_buffer(4 * length as u64).unwrap();
    let mut launch = |first: u32| {
        let push: Vec<u32> = (first..first + length as u32).collect();
        let launch = KernelLaunch {
            size: IndexSpace::Groups([length as u32, 1, 1]),
            ..one(kernel, vec![bound(0, 0, 0, out)], words(&push))
        };
        device.launch_kernel(&launch).unwrap();
        (device.download_buffer(out).unwrap(), words(&push))
    };
    for first in [7, 1000] {
        let (got, wanted) = launch(first);
        assert_eq!(got, wanted);
    }
    // Several launches of a submission have their own each.
    let launch = |n: u32| KernelLaunch {
        size: IndexSpace::Groups([1; 3]),
        ..one(kernel, vec![bound(0, 0, 0, out)], words(&vec![n; length]))
    };
    (1..=500).for_each(|n| device.launch_kernel(&launch(n)).unwrap());
    assert_eq!(device.download_buffer(out).unwrap()[..4], words(&[500]));
}

#[test]
fn launches_are_timed_and_pipelines_kept() {
    if device().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = DeviceOptions {
        times: true,
        cache: Some(folder.path().to_owned()),
        ..DeviceOptions::default()
    };
    let run = || {
        let mut device = ComputeDevice::open("vulkan", &options).unwrap();
        let kernel = device.create_kernel(&module(SAXPY), "saxpy", &[]).unwrap();
        let y = device.upload_data(&floats([1.0].into_iter())).unwrap();
        (0..3).for_each(|_| {
            device
                .launch_kernel(&saxpy(kernel, y, y, 1.0, 1, 1))
                .unwrap()
        });
        assert_eq!(
            device.download_buffer(y).unwrap(),
            floats([8.0].into_iter())
        );
        let times = device.kernel_times();
        assert_eq!((times.len(), times[0].name.as_str()), (1, "saxpy"));
        assert_eq!(times[0].launches, 3);
        device.take_warnings()
    };
    let file = || {
        let mut files = std::fs::read_dir(folder.path()).unwrap();
        let file = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none(), "one file, and nothing half-written");
        file
    };
    assert_eq!(run(), [""; 0]);
    let whole = std::fs::read(file()).unwrap();
    assert_eq!(run(), [""; 0]);
    let cut = &whole[..whole.len() - 1];
    for damaged in [&b""[..], b"rubbish", cut, &[&whole[..], b"more"].concat()] {
        std::fs::write(file(), damaged).unwrap();
        let told = run();
        assert!(told[0].contains("is ignored and written again"), "{told:?}");
        assert_eq!(std::fs::read(file()).unwrap(), whole);
    }
    // Files of a process that was ended while it wrote are in nobody's way.
    std::fs::write(folder.path().join("left.part"), b"half").unwrap();
    assert_eq!(run(), [""; 0]);
}

#[test]
fn reading_waits_for_what_writes_the_buffer() {
    let Some(mut device) = device() else { return };
    let kernel = device.create_kernel(&module(LONG), "count", &[]).unwrap();
    let other = device.upload_data(&[7_u32]).unwrap();
    let out = device.upload_data(&[1_u32]).unwrap();
    let launch = one(kernel, vec![bound(0, 0, 0, out)], vec![]);
    device.launch_kernel(&launch).unwrap();
    // Buffers that the launch does not use can be had at once; one that it writes through one of two variables cannot.
    assert_eq!(device.download_as::<u32>(other).unwrap(), [7]);
    let n = 40_000_000_u64;
    let wanted = (n * (n - 1) / 2 + 1) as u32;
    assert_eq!(device.download_as::<u32>(out).unwrap(), [wanted]);
    device.launch_kernel(&launch).unwrap();
    device.write_buffer(out, 0, &words(&[5])).unwrap();
    assert_eq!(device.download_as::<u32>(out).unwrap(), [5]);
}

#[test]
fn work_that_takes_too_long_is_an_error_that_names_the_kernel() {
    if device().is_none() {
        return;
    }
    let options = DeviceOptions {
        timeout: Some(std::time::Duration::from_millis(20)),
        ..DeviceOptions::default()
    };
    let mut device = ComputeDevice::open("vulkan", &options).unwrap();
    let kernel = device.create_kernel(&module(LONG), "count", &[]).unwrap();
    let out = device.create_buffer(4).unwrap();
    let launch = one(kernel, vec![bound(0, 0, 0, out)], vec![]);
    device.launch_kernel(&launch).unwrap();
    let error = text(&device.download_buffer(out).unwrap_err());
    assert!(
        error.starts_with("the device was not done after 20ms"),
        "{error}"
    );
    assert!(error.ends_with("while running count"), "{error}");
    // The device is of no use any more; another one is.
    assert!(device.launch_kernel(&launch).is_err());
    drop(device);
    let mut device = ComputeDevice::open("vulkan", &DeviceOptions::default()).unwrap();
    let y = device.upload_data(&floats([1.0].into_iter())).unwrap();
    let kernel = device.create_kernel(&module(SAXPY), "saxpy", &[]).unwrap();
    device
        .launch_kernel(&saxpy(kernel, y, y, 1.0, 1, 1))
        .unwrap();
    assert_eq!(
        device.download_buffer(y).unwrap(),
        floats([2.0].into_iter())
    );
}

#[test]
fn limits_are_errors() {
    let Some(mut device) = device() else { return };
    let module = module(SAXPY);
    let limits = device.info().limits;
    let width = u64::from(limits.workgroup_size[0]) + 1;
    let error = device.create_kernel(&module, "saxpy", &[(0, width)]);
    let error = text(&error.unwrap_err());
    let wanted = format!("saxpy has workgroups of {width}x1x1: vulkan:0 takes 1 to");
    assert!(error.starts_with(&wanted), "{error}");
    let error = device.create_kernel(&module, "saxpy", &[(1, 0)]);
    assert!(text(&error.unwrap_err()).contains("1x0x1"));

    let kernel = device.create_kernel(&module, "saxpy", &[]).unwrap();
    let y = device.create_buffer(4).unwrap();
    let all = KernelLaunch {
        size: IndexSpace::Groups([u32::MAX; 3]),
        ..saxpy(kernel, y, y, 1.0, 0, 1)
    };
    let error = text(&device.launch_kernel(&all).unwrap_err());
    assert!(error.contains("too many altogether"), "{error}");
    let long = one(
        kernel,
        vec![bound(0, 0, 0, y), bound(1, 2, 0, y)],
        vec![0; 12],
    );
    let error = text(&device.launch_kernel(&long).unwrap_err());
    assert!(error.contains("8 bytes of push constants"), "{error}");
    let arguments = KernelLaunch {
        inputs: LaunchInputs::Arguments(vec![KernelArgument::from(y)]),
        ..long
    };
    assert!(device.launch_kernel(&arguments).is_err());
    // The device works on after all this.
    device
        .launch_kernel(&saxpy(kernel, y, y, 1.0, 1, 1))
        .unwrap();
    device.wait_idle().unwrap();
}

#[test]
fn workgroup_memory_beyond_the_device_is_refused() {
    let Some(mut device) = device() else { return };
    let module = module(SHARED);
    let most = device.info().limits.workgroup_memory;
    device
        .create_kernel(&module, "main", &[(0, most / 4)])
        .unwrap();
    let error = device.create_kernel(&module, "main", &[(0, most / 4 + 1)]);
    let error = text(&error.unwrap_err());
    let wanted = format!(
        "main takes {} bytes of workgroup memory: vulkan:0 has {most}",
        most + 4
    );
    assert_eq!(error, wanted);
}
