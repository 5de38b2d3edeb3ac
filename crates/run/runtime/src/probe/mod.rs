//! Probes: whether a device correctly implements the capabilities that it claims.
//!
//! Each probe is a small shader for one capability, run over a few workgroups, and a check of the words that its invocations write.
//! Drivers without the capability are skipped. A driver that claims it and computes something else is reported. With a folder for data
//! that is kept between runs, the device then refuses modules that need the capability until its driver changes.

mod shaders;
mod store;

pub use store::{load_findings, save_findings};

use crate::{ComputeDevice, DeviceError, IndexSpace, KernelLaunch, LaunchBinding, LaunchInputs};
use shaders::PROBES;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};

/// Invocations of a workgroup of every probe.
const WIDTH: u32 = 64;
/// Number of runs of each probe, since races do not show every time.
const ROUNDS: u32 = 8;

/// The finding of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeFinding {
    /// Subject of the probe.
    pub subject: &'static str,
    /// The capability that is probed; `None` where modules cannot avoid it.
    pub capability: Option<Capability>,
    /// The verdict.
    pub verdict: ProbeVerdict,
}

/// Verdicts of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeVerdict {
    /// The device behaves as it claims.
    Right,
    /// The device does not claim the capability.
    Lacking,
    /// The device claims the capability and behaves differently: the reason.
    Wrong(String),
}

/// One probe.
struct CapabilityProbe {
    subject: &'static str,
    capability: Option<Capability>,
    /// Workgroups.
    groups: u32,
    parts: ProbeShaderParts,
    /// Checks the words of the invocations in order; returns the fault.
    check: fn(&[u32]) -> Option<String>,
}

/// Parts of a probe's shader besides those that all probes share.
#[derive(Clone, Copy, Default)]
struct ProbeShaderParts {
    /// Capabilities and extensions.
    needs: &'static str,
    /// `GLSL450` by default.
    model: &'static str,
    /// Variables of the interface.
    interface: &'static str,
    modes: &'static str,
    decorations: &'static str,
    /// Types, constants and variables; `%scratch` is a second buffer, of zeros.
    declarations: &'static str,
    /// Computes `%result` from `%lane`, `%group` and `%at`, the number of the invocation.
    body: &'static str,
}

impl CapabilityProbe {
    fn build_text(&self) -> String {
        let p = &self.parts;
        let model = match p.model {
            "" => "GLSL450",
            model => model,
        };
        format!(
            "OpCapability Shader\n{}\nOpMemoryModel Logical {model}\n\
             OpEntryPoint GLCompute %main \"main\" %lane_id %group_id {}\n\
             OpExecutionMode %main LocalSize {WIDTH} 1 1\n{}\n{}{}\n{}{}{}{}\n{}",
            p.needs,
            p.interface,
            p.modes,
            shaders::DECORATIONS,
            p.decorations,
            shaders::DECLARATIONS,
            p.declarations,
            shaders::BEGIN,
            p.body,
            shaders::END
        )
    }

    fn build_module(&self) -> Result<SpirvModule, DeviceError> {
        let options = ParseOptions {
            version: Some(SpirvVersion::new(1, 3)),
            ..ParseOptions::default()
        };
        let words = parse_assembly(&self.build_text(), &options).map_err(|all| {
            let first = all.into_iter().next();
            DeviceError::Failed(first.map_or_else(String::new, |d| d.to_string()))
        })?;
        SpirvModule::from_words(words).map_err(|d| DeviceError::Module(Box::new(d)))
    }

    fn run_on_device(&self, device: &mut ComputeDevice) -> Result<ProbeVerdict, DeviceError> {
        let kernel = match device.create_kernel(&self.build_module()?, "main", &[]) {
            Err(DeviceError::Unsupported(_)) => return Ok(ProbeVerdict::Lacking),
            kernel => kernel?,
        };
        let count = u64::from(self.groups * WIDTH);
        for _ in 0..ROUNDS {
            let out = device.create_buffer(count * 4)?;
            let scratch = device.create_buffer(count * 16)?;
            let bound = |binding, buffer| LaunchBinding::with_whole_buffer(binding, buffer);
            let mut bindings = vec![bound(0, out)];
            let takes = device.kernel_interface(kernel)?.bindings.len();
            if takes > 1 {
                bindings.push(bound(1, scratch));
            }
            device.launch_kernel(&KernelLaunch {
                kernel,
                size: IndexSpace::Groups([self.groups, 1, 1]),
                inputs: LaunchInputs::Resources {
                    bindings,
                    push: Vec::new(),
                },
            })?;
            let words = device.download_as::<u32>(out)?;
            device.destroy_buffer(out)?;
            device.destroy_buffer(scratch)?;
            if let Some(what) = (self.check)(&words) {
                return Ok(ProbeVerdict::Wrong(what));
            }
        }
        Ok(ProbeVerdict::Right)
    }
}

/// Runs all probes on a device that was opened without knowledge of earlier ones.
///
/// # Errors
/// When the device is lost, which may be the fault that a probe reveals.
pub fn probe_device(device: &mut ComputeDevice) -> Result<Vec<ProbeFinding>, DeviceError> {
    let run = |probe: &CapabilityProbe| {
        let verdict = match probe.run_on_device(device) {
            Err(DeviceError::Failed(why) | DeviceError::Compiler(why)) => ProbeVerdict::Wrong(why),
            verdict => verdict?,
        };
        Ok(ProbeFinding {
            subject: probe.subject,
            capability: probe.capability,
            verdict,
        })
    };
    PROBES.iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceOptions;
    use spirula_spirv::verify;

    #[test]
    fn probes_are_valid_shaders() {
        for probe in PROBES {
            let module = probe.build_module().unwrap();
            let faults = verify::verify_module(&module, &verify::VerifyOptions::default());
            assert_eq!(faults.err(), None, "{}", probe.subject);
        }
    }

    #[test]
    fn the_processor_has_all_that_it_claims() {
        let mut device = ComputeDevice::open("cpu", &DeviceOptions::default()).unwrap();
        for finding in probe_device(&mut device).unwrap() {
            let is_wrong = matches!(finding.verdict, ProbeVerdict::Wrong(_));
            assert!(!is_wrong, "{finding:?}");
        }
    }
}
