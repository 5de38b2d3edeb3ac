//! CPU mode: how the CPU device compiles and runs kernels.

/// A mode of the CPU device. Each is a device with its own name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CpuMode {
    /// SIMD gangs run neighbouring invocations where the kernel allows it.
    #[default]
    Gangs,
    /// Each invocation runs by itself.
    Scalar,
    /// Each invocation runs by itself, and the blocks that run are counted
    /// ([`JitKernel::block_counts`](crate::JitKernel::block_counts)).
    Counting,
    /// Each invocation runs by itself, and the sanitizer checks it
    /// ([`JitKernel::run_checked`](crate::JitKernel::run_checked)).
    Sanitizer,
}

impl CpuMode {
    /// All modes.
    pub const ALL: [CpuMode; 4] = [
        CpuMode::Gangs,
        CpuMode::Scalar,
        CpuMode::Counting,
        CpuMode::Sanitizer,
    ];

    /// The name of the device in this mode.
    pub fn device_name(self) -> &'static str {
        match self {
            CpuMode::Gangs => "cpu",
            CpuMode::Scalar => "cpu+scalar",
            CpuMode::Counting => "cpu+count",
            CpuMode::Sanitizer => "cpu+san",
        }
    }

    /// The mode of the device with a name; none for other devices.
    pub fn from_device_name(name: &str) -> Option<CpuMode> {
        CpuMode::ALL
            .into_iter()
            .find(|mode| mode.device_name() == name)
    }
}
