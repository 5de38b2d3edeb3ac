//! Programs: sources, and what was built of them for each device.

use crate::context::ClContext;
use crate::device::ClDevice;
use crate::error::{CallError, CallResult};
use crate::handle::{ObjectHandle, declare_object};
use crate::program_image::ProgramImage;
use opencl_sys::{
    CL_BUILD_NONE, CL_BUILD_SUCCESS, CL_INVALID_DEVICE, CL_INVALID_OPERATION,
    CL_INVALID_PROGRAM_EXECUTABLE, cl_build_status,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The source of a program.
pub enum ProgramSource {
    /// OpenCL C or C++ for OpenCL.
    Text(String),
    /// A module of SPIR-V.
    Module(Vec<u8>),
    /// Binaries that were loaded, in the state of the devices.
    Binaries,
    /// Programs that were linked, in the state of the devices.
    Linked,
}

/// A program.
pub struct ClProgram {
    pub(crate) handle: ObjectHandle<ClProgram>,
    /// Its context.
    pub context: Arc<ClContext>,
    /// Its devices.
    pub devices: Vec<Arc<ClDevice>>,
    /// Its source.
    pub source: ProgramSource,
    /// Number of kernel objects, during whose life it cannot be built again.
    pub kernel_count: Arc<AtomicUsize>,
    builds: Mutex<Vec<DeviceBuild>>,
    specialization: Mutex<Vec<(u32, u64)>>,
}

declare_object!(ClProgram, "program", CL_INVALID_PROGRAM);

/// The build for a device.
#[derive(Clone)]
pub struct DeviceBuild {
    /// `CL_BUILD_…`.
    pub status: cl_build_status,
    /// The options of the build.
    pub options: String,
    /// Messages.
    pub log: String,
    /// Whether workgroups must divide the size of each launch.
    pub has_uniform_groups: bool,
    /// The module, unless the build failed.
    pub image: Option<Arc<ProgramImage>>,
}

impl Default for DeviceBuild {
    fn default() -> Self {
        DeviceBuild {
            status: CL_BUILD_NONE,
            options: String::new(),
            log: String::new(),
            has_uniform_groups: false,
            image: None,
        }
    }
}

impl DeviceBuild {
    /// The state of a device with an image that was not built here.
    pub fn with_image(image: ProgramImage) -> DeviceBuild {
        DeviceBuild {
            image: Some(Arc::new(image)),
            ..DeviceBuild::default()
        }
    }
}

impl ClProgram {
    /// A program for devices, in their states.
    pub fn new(
        handle: ObjectHandle<ClProgram>,
        context: Arc<ClContext>,
        devices: Vec<Arc<ClDevice>>,
        source: ProgramSource,
        builds: Vec<DeviceBuild>,
    ) -> ClProgram {
        ClProgram {
            handle,
            context,
            devices,
            source,
            kernel_count: Arc::default(),
            builds: Mutex::new(builds),
            specialization: Mutex::default(),
        }
    }

    fn lock_builds(&self) -> MutexGuard<'_, Vec<DeviceBuild>> {
        self.builds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The position of a device.
    ///
    /// # Errors
    /// When it is not a device of the program.
    pub fn device_index(&self, device: &ClDevice) -> CallResult<usize> {
        let mut devices = self.devices.iter();
        let found = devices.position(|own| std::ptr::eq(&raw const **own, device));
        let message = "the device is not one of the program";
        found.ok_or_else(|| CallError::new(CL_INVALID_DEVICE, message))
    }

    /// The state of a device. That of a sub-device for which nothing was built is the state of the device that it is a part of.
    pub fn build_of(&self, device: usize) -> DeviceBuild {
        let builds = self.lock_builds();
        let mut at = device;
        loop {
            let build = builds.get(at).cloned().unwrap_or_default();
            let share = self.devices.get(at).and_then(|own| own.share.as_ref());
            let parent = share.and_then(|share| self.device_index(&share.parent).ok());
            let is_untouched = build.status == CL_BUILD_NONE && build.image.is_none();
            match parent.filter(|_| is_untouched) {
                Some(parent) => at = parent,
                None => return build,
            }
        }
    }

    /// Sets the state of a device.
    pub fn set_build(&self, device: usize, build: DeviceBuild) {
        if let Some(slot) = self.lock_builds().get_mut(device) {
            *slot = build;
        }
    }

    /// The image of a device that can run.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE`.
    pub fn executable_of(&self, device: usize) -> CallResult<Arc<ProgramImage>> {
        let build = self.build_of(device);
        let image = build.image.filter(|_| build.status == CL_BUILD_SUCCESS);
        let image = image.filter(|image| !image.is_linkable());
        image.ok_or_else(|| {
            let message = "the program was not built for the device";
            CallError::new(CL_INVALID_PROGRAM_EXECUTABLE, message)
        })
    }

    /// The images of all devices that can run.
    pub fn executables(&self) -> Vec<(usize, Arc<ProgramImage>)> {
        let devices = 0..self.devices.len();
        devices
            .filter_map(|device| Some((device, self.executable_of(device).ok()?)))
            .collect()
    }

    /// Refuses to change a program that has kernel objects.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION`.
    pub fn require_no_kernels(&self) -> CallResult<()> {
        match self.kernel_count.load(Ordering::Acquire) {
            0 => Ok(()),
            _ => Err(CallError::new(
                CL_INVALID_OPERATION,
                "the program has kernel objects",
            )),
        }
    }

    /// Sets a specialisation constant for later builds.
    pub fn set_specialization(&self, id: u32, value: u64) {
        let mut known = self
            .specialization
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.retain(|(own, _)| *own != id);
        known.push((id, value));
    }

    /// Values of specialisation constants.
    pub fn specialization(&self) -> Vec<(u32, u64)> {
        let known = self
            .specialization
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }
}
