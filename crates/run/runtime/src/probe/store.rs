//! The store of findings between runs: a file for each device and version of its driver.

use super::{ProbeFinding, ProbeVerdict};
use crate::driver::DeviceInfo;
use spirula_spirv::grammar::enumerants::Capability;
use std::fs;
use std::path::{Path, PathBuf};

/// First line of a file.
const HEADER: &str = "spirula probes 1";

/// The file for a device and its current driver.
fn locate_file(folder: &Path, info: &DeviceInfo) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let text = format!("{} {}", info.name, info.driver);
    let name: String = text.chars().map(plain).take(160).collect();
    folder.join(format!("probes-{name}.txt"))
}

/// Writes the findings: lines of subject, capability and fault, separated by tabs.
///
/// # Errors
/// When the file cannot be written.
pub fn save_findings(
    folder: &Path,
    info: &DeviceInfo,
    findings: &[ProbeFinding],
) -> std::io::Result<()> {
    let mut text = format!("{HEADER}\n");
    for finding in findings {
        let capability = finding.capability.map_or(0, |c| c.0);
        let verdict = match &finding.verdict {
            ProbeVerdict::Right => "right".to_owned(),
            ProbeVerdict::Lacking => "lacking".to_owned(),
            ProbeVerdict::Wrong(why) => format!("wrong\t{}", why.replace(['\n', '\t'], " ")),
        };
        text += &format!("{}\t{capability}\t{verdict}\n", finding.subject);
    }
    fs::create_dir_all(folder)?;
    let file = locate_file(folder, info);
    let beside = file.with_extension(format!("{}.part", std::process::id()));
    fs::write(&beside, text)?;
    fs::rename(&beside, &file)
}

/// The capabilities that a device implements wrongly, with the subjects; `None` where it was not probed, or the file has another
/// format.
pub fn load_findings(
    folder: &Path,
    info: &DeviceInfo,
) -> Option<Vec<(Option<Capability>, String)>> {
    let text = fs::read_to_string(locate_file(folder, info)).ok()?;
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return None;
    }
    let mut wrong = Vec::new();
    for line in lines {
        let mut parts = line.split('\t');
        let (subject, capability) = (parts.next()?, parts.next()?.parse::<u32>().ok()?);
        if parts.next()? == "wrong" {
            let capability = Some(Capability(capability)).filter(|c| c.0 != 0);
            wrong.push((capability, subject.to_owned()));
        }
    }
    Some(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ComputeDevice, DeviceOptions};

    #[test]
    fn findings_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let device = ComputeDevice::open("cpu", &DeviceOptions::default()).unwrap();
        assert_eq!(load_findings(folder.path(), device.info()), None);
        let finding = |capability, verdict| ProbeFinding {
            subject: "a subject",
            capability,
            verdict,
        };
        let findings = [
            finding(Some(Capability::Int8), ProbeVerdict::Right),
            finding(
                Some(Capability::Int64),
                ProbeVerdict::Wrong("7\nis 8".to_owned()),
            ),
            finding(None, ProbeVerdict::Lacking),
        ];
        save_findings(folder.path(), device.info(), &findings).unwrap();
        let wrong = load_findings(folder.path(), device.info()).unwrap();
        assert_eq!(wrong, [(Some(Capability::Int64), "a subject".to_owned())]);
    }
}
