//! The pipeline cache: compiled pipelines on disk.
//!
//! There is one file for each device and version of its driver. It is written under a temporary name and then renamed, so that a
//! process that is killed in between leaves the old file. Processes that write concurrently merge what they find. A damaged file is
//! reported and written again. The driver gets only data with the header that Vulkan demands for this device (Vulkan 1.3,
//! section 10.7.2, "Pipeline Cache Header") and the checksum of the file, since drivers may trust it.

use super::device::{OwnedHandle, VulkanDevice};
use super::error::VulkanCallResult;
use crate::DeviceError;
use ash::vk;
use spirula_text::hex::write_hex;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"spirpipe";
/// Bytes before the driver's data: the magic, the length and the checksum of the data.
const HEADER: usize = 24;
/// Largest file that is read, in bytes.
const MOST: u64 = 1 << 30;

/// The cache of a device.
pub struct PipelineDiskCache {
    raw: OwnedHandle<vk::PipelineCache>,
    file: Option<PathBuf>,
    /// The driver's data when it was last read or written.
    saved: Vec<u8>,
    dirty: bool,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

/// The data in a file, or its fault.
fn unpack_cache_data(bytes: &[u8]) -> Result<&[u8], &'static str> {
    let (header, data) = bytes.split_at_checked(HEADER).ok_or("it is too short")?;
    let (magic, numbers) = header.split_at(MAGIC.len());
    let (numbers, _) = numbers.as_chunks();
    if magic != MAGIC {
        return Err("it is no file of pipelines");
    }
    if u64::from_le_bytes(numbers[0]) != data.len() as u64 {
        return Err("it is cut off");
    }
    if u64::from_le_bytes(numbers[1]) == u64::from(crc32fast::hash(data)) {
        Ok(data)
    } else {
        Err("its contents are damaged")
    }
}

fn pack_cache_data(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let sum = u64::from(crc32fast::hash(data)).to_le_bytes();
    [&MAGIC[..], &length, &sum, data].concat()
}

/// Whether data has the header for a device.
fn is_for_device(data: &[u8], properties: &vk::PhysicalDeviceProperties) -> bool {
    let (words, _) = data.as_chunks();
    let word = |n: usize| words.get(n).map(|w| u32::from_le_bytes(*w));
    word(0).is_some_and(|size| size >= 32 && size as usize <= data.len())
        && word(1) == Some(1)
        && word(2) == Some(properties.vendor_id)
        && word(3) == Some(properties.device_id)
        && data.get(16..32) == Some(&properties.pipeline_cache_uuid[..])
}

/// Replaces a file atomically.
fn replace_file(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let beside = file.with_extension(format!("{}.part", std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut out| {
        out.write_all(bytes)?;
        out.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&beside, file));
    if placed.is_err() {
        _ = fs::remove_file(&beside);
    }
    placed
}

/// Reads a file; `None` where there is none. The error is the fault of a file that cannot be used.
fn read_cache_file(
    file: &Path,
    properties: &vk::PhysicalDeviceProperties,
) -> (Option<Vec<u8>>, Option<String>) {
    let told = |what: &str| {
        let text = format!("{} is ignored and written again: {what}", file.display());
        (None, Some(text))
    };
    match fs::metadata(file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return (None, None),
        Err(e) => return told(&e.to_string()),
        Ok(about) if about.len() > MOST => return told("it is too large"),
        Ok(_) => {}
    }
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(e) => return told(&e.to_string()),
    };
    match unpack_cache_data(&bytes) {
        Err(what) => told(what),
        Ok(data) if !is_for_device(data, properties) => told("it is of another device or driver"),
        Ok(data) => (Some(data.to_vec()), None),
    }
}

impl PipelineDiskCache {
    /// The cache of a device, with the contents of its file in a folder. Without a folder it is kept in memory only.
    pub fn open(
        device: &Arc<VulkanDevice>,
        folder: Option<&Path>,
    ) -> Result<PipelineDiskCache, DeviceError> {
        let properties = &device.physical.properties;
        let file = folder.map(|folder| folder.join(format_file_name(properties)));
        let (data, warning) = match &file {
            Some(file) => read_cache_file(file, properties),
            None => (None, None),
        };
        let saved = data.unwrap_or_default();
        Ok(PipelineDiskCache {
            raw: create_pipeline_cache(device, &saved)?,
            file,
            saved,
            dirty: warning.is_some(),
            warnings: warning.into_iter().collect(),
        })
    }

    /// Its handle, for a pipeline that is about to be created.
    pub fn handle_for_pipeline(&mut self) -> vk::PipelineCache {
        self.dirty = true;
        *self.raw
    }

    /// Writes new data, merged with the data that other processes wrote meanwhile.
    pub fn save_file(&mut self) {
        let Some(file) = self.file.clone().filter(|_| self.dirty) else {
            return;
        };
        self.dirty = false;
        if let Err(what) = self.write_file(&file) {
            let text = format!("{} is not written: {what}", file.display());
            self.warnings.push(text);
        }
    }

    fn write_file(&mut self, file: &Path) -> Result<(), String> {
        let device = Arc::clone(self.raw.device());
        let properties = &device.physical.properties;
        let (others, damage) = read_cache_file(file, properties);
        if let Some(others) = others.filter(|data| *data != self.saved) {
            let others = create_pipeline_cache(&device, &others).map_err(|e| e.to_string())?;
            // SAFETY: both are of this device, different, and used by no other thread.
            let merged = unsafe { device.raw().merge_pipeline_caches(*self.raw, &[*others]) };
            merged
                .check_call("vkMergePipelineCaches")
                .map_err(|e| e.to_string())?;
        }
        // SAFETY: the cache is of this device.
        let data = unsafe { device.raw().get_pipeline_cache_data(*self.raw) };
        let data = data
            .check_call("vkGetPipelineCacheData")
            .map_err(|e| e.to_string())?;
        if data != self.saved || damage.is_some() || !file.exists() {
            replace_file(file, &pack_cache_data(&data)).map_err(|e| e.to_string())?;
            self.saved = data;
        }
        Ok(())
    }
}

fn create_pipeline_cache(
    device: &Arc<VulkanDevice>,
    data: &[u8],
) -> Result<OwnedHandle<vk::PipelineCache>, DeviceError> {
    let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
    // SAFETY: the device is alive, and the data bears the header that it demands, or there is none.
    let made = unsafe { device.raw().create_pipeline_cache(&info, None) };
    OwnedHandle::new(device, "vkCreatePipelineCache", made)
}

/// Name of the file for a device and a version of its driver.
fn format_file_name(properties: &vk::PhysicalDeviceProperties) -> String {
    format!(
        "vulkan-{:08x}-{:08x}-{:08x}-{}.pipelines",
        properties.vendor_id,
        properties.device_id,
        properties.driver_version,
        write_hex(&properties.pipeline_cache_uuid)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_found() {
        let whole = pack_cache_data(b"what a driver wrote");
        assert_eq!(unpack_cache_data(&whole), Ok(&b"what a driver wrote"[..]));
        for length in 0..whole.len() {
            assert!(unpack_cache_data(&whole[..length]).is_err(), "{length}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            assert!(unpack_cache_data(&damaged).is_err(), "{at}");
        }
    }

    #[test]
    fn data_is_for_one_device() {
        let mut properties = vk::PhysicalDeviceProperties {
            vendor_id: 7,
            device_id: 8,
            ..Default::default()
        };
        properties.pipeline_cache_uuid = [5; 16];
        let words = [32_u32, 1, 7, 8].map(u32::to_le_bytes).concat();
        let data = [&words[..], &[5; 16]].concat();
        assert!(is_for_device(&data, &properties));
        assert!(!is_for_device(&data[..31], &properties));
        properties.device_id = 9;
        assert!(!is_for_device(&data, &properties));
    }

    #[test]
    fn files_are_put_in_place_whole() {
        let folder = std::env::temp_dir().join(format!("spirula-cache-{}", std::process::id()));
        let file = folder.join("deep/down.pipelines");
        replace_file(&file, b"one").unwrap();
        replace_file(&file, b"two").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.join("deep")).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_process_that_is_ended_while_it_writes_leaves_a_whole_file() {
        const FILE: &str = "SPIRULA_TEST_CACHE_FILE";
        let large = vec![7; 4 << 20];
        if let Some(file) = std::env::var_os(FILE) {
            loop {
                replace_file(Path::new(&file), &pack_cache_data(&large)).unwrap();
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.pipelines");
        replace_file(&file, &pack_cache_data(b"small")).unwrap();
        let name = "drivers::vulkan::pipeline_cache::tests::a_process_that_is_ended_while_it_writes_leaves_a_whole_file";
        for wait in [5, 20, 40, 80] {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", name])
                .env(FILE, &file)
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(std::time::Duration::from_millis(wait));
            child.kill().unwrap();
            child.wait().unwrap();
            let bytes = fs::read(&file).unwrap();
            let data = unpack_cache_data(&bytes).unwrap();
            assert!(data == b"small" || data == large);
        }
    }
}
