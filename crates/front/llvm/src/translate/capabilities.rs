//! Capabilities and extensions: what the finished module declares, within the options of the translation.

use super::translator::LlvmTranslator;
use spirula_diagnostics::SourceLocation;
use spirula_spirv::analysis::{ModuleRequirements, RequirementCeiling, RequirementChoice};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::target::TargetEnvironment;

/// Capabilities that OpenCL has since a version above 1.2 (OpenCL SPIR-V Environment, section 3).
const MINIMUM_OPENCL: &[(Capability, (u8, u8))] = &[
    (Capability::GenericPointer, (2, 0)),
    (Capability::DeviceEnqueue, (2, 0)),
    (Capability::Pipes, (2, 0)),
    (Capability::ImageReadWrite, (2, 0)),
    (Capability::SubgroupDispatch, (2, 1)),
    (Capability::PipeStorage, (2, 2)),
];

/// The extension with the image formats that a query may return.
const RAW_FORMATS: &str = "SPV_EXT_image_raw10_raw12";

impl LlvmTranslator<'_> {
    /// Declares the capabilities and extensions that the module needs. The version rises where the options leave it
    /// open.
    pub(super) fn declare_capabilities(&mut self) {
        let kind: &[Capability] = if self.is_shader() {
            &[Capability::Shader]
        } else {
            &[Capability::Addresses, Capability::Kernel]
        };
        let ceiling = RequirementCeiling {
            capabilities: (self.options.capabilities.as_ref())
                .map(|allowed| [allowed.as_slice(), kind].concat()),
            extensions: self.options.extensions.clone(),
        };
        let module = self.b.module();
        let mut needs = ModuleRequirements::from_emitted(module, self.version, kind);
        if self.options.target.is_none()
            && let Some(newest) = needs.newer_versions().iter().map(|newer| newer.0).max()
        {
            self.version = newest;
            needs = ModuleRequirements::from_emitted(module, newest, kind);
        }
        let (choice, exceeded) = needs.choose_all_within(&ceiling);
        let queries_formats = self.options.extensions.is_named(RAW_FORMATS)
            && module
                .all_insts()
                .any(|inst| inst.op() == Op::ImageQueryFormat);
        for fault in exceeded {
            let message = fault.to_string();
            self.refusals.push_error(SourceLocation::Unknown, message);
        }
        self.check_opencl_version(&choice);
        for capability in &choice.capabilities {
            self.b.declare_capability(*capability);
        }
        for extension in &choice.extensions {
            self.b.declare_extension(extension);
        }
        if queries_formats {
            self.b.declare_extension(RAW_FORMATS);
        }
    }

    /// Refuses capabilities that the target's version of OpenCL lacks.
    fn check_opencl_version(&mut self, choice: &RequirementChoice) {
        let target = self.options.target.map(|target| target.environment);
        let Some(TargetEnvironment::OpenCl(major, minor)) = target else {
            return;
        };
        for (capability, reason) in choice.capabilities.iter().zip(&choice.reasons) {
            let since = MINIMUM_OPENCL.iter().find(|since| since.0 == *capability);
            if let Some((_, since)) = since.filter(|since| (major, minor) < since.1) {
                let message = format!(
                    "{} needs the capability {capability}, which OpenCL has since {}.{}, and the target is {major}.{minor}",
                    reason.what, since.0, since.1
                );
                self.refusals.push_error(SourceLocation::Unknown, message);
            }
        }
    }
}
