//! Reflection: what the entry points of a module take.

use crate::failure::{FailureKind, PythonFailure};
use crate::module::ModuleArgument;
use pyo3::prelude::*;
use spirula_diagnostics::SourceDiagnostic;
use spirula_runtime::type_names::TypeNames;
use spirula_spirv::analysis::ModuleRequirements;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{
    BindingKind, EntryInterface, InterfaceBinding, InterfaceParam, ParamKind, entry_points,
};

/// An argument of a kernel, or a resource of a shader.
#[pyclass(name = "KernelArgument", module = "spirula", frozen, get_all)]
#[derive(Clone)]
pub struct PythonKernelArgument {
    /// The name in the module, or None.
    name: Option<String>,
    /// "value", "buffer", "uniform", "local" or "object".
    kind: &'static str,
    /// The type of the value, or of the elements: "f32", "4xf32", "?xu32".
    r#type: String,
    /// Bytes of a value; None for others.
    nbytes: Option<u64>,
    /// Descriptor set of a shader's resource, or None.
    set: Option<u32>,
    /// Binding of a shader's resource, or None.
    binding: Option<u32>,
    /// Whether a shader declares that it does not write the resource.
    read_only: bool,
}

#[pymethods]
impl PythonKernelArgument {
    fn __repr__(&self) -> String {
        let name = self.name.as_deref().unwrap_or("_");
        format!(
            "<spirula.KernelArgument {name}: {} {}>",
            self.kind, self.r#type
        )
    }
}

/// An entry point of a module.
#[pyclass(name = "EntryPoint", module = "spirula", frozen, get_all)]
#[derive(Clone)]
pub struct PythonEntryPoint {
    /// The name.
    name: String,
    /// The execution model: "Kernel", "GLCompute".
    model: String,
    /// Sizes of the workgroup that the module requires, or None.
    workgroup_size: Option<(u32, u32, u32)>,
    /// Arguments of a kernel in order, or resources of a shader by set and binding.
    arguments: Vec<PythonKernelArgument>,
    /// Bytes of the push constants.
    push_constant_bytes: u32,
}

#[pymethods]
impl PythonEntryPoint {
    fn __repr__(&self) -> String {
        format!("<spirula.EntryPoint {} ({})>", self.name, self.model)
    }
}

/// The contents and needs of a module.
#[pyclass(name = "Reflection", module = "spirula", frozen, get_all)]
pub struct PythonReflection {
    /// The version of SPIR-V, such as "1.6".
    version: String,
    /// The entry points.
    entry_points: Vec<PythonEntryPoint>,
    /// Names of the declared capabilities.
    capabilities: Vec<String>,
    /// Names of the declared extensions.
    extensions: Vec<String>,
}

/// Describes a module: its entry points with their arguments, its capabilities and extensions.
///
/// `module` is a `Module`, the bytes of one, or assembly. Raises ReadError for a malformed module.
#[pyfunction]
pub fn reflect(py: Python<'_>, module: ModuleArgument<'_>) -> PyResult<PythonReflection> {
    let (module, source) = module.to_module()?;
    let described = py.detach(|| describe_module(&module));
    Ok(described.map_err(|error| {
        PythonFailure::from_diagnostics(FailureKind::Read, vec![error], &source)
    })?)
}

fn describe_module(module: &SpirvModule) -> Result<PythonReflection, SourceDiagnostic> {
    let types = TypeNames::from_module(module);
    let points = entry_points(module).into_iter().map(|(name, _)| {
        let interface = EntryInterface::from_module(module, &name)?;
        Ok(describe_entry(&interface, &types))
    });
    let needs = ModuleRequirements::from_module(module);
    Ok(PythonReflection {
        version: module.version.to_string(),
        entry_points: points.collect::<Result<_, SourceDiagnostic>>()?,
        capabilities: needs
            .declared_capabilities()
            .map(|capability| capability.to_string())
            .collect(),
        extensions: needs.declared_extensions().to_vec(),
    })
}

fn describe_entry(interface: &EntryInterface, types: &TypeNames<'_>) -> PythonEntryPoint {
    let params = interface.params.iter();
    let mut arguments: Vec<PythonKernelArgument> =
        params.map(|param| describe_param(param, types)).collect();
    if !interface.takes_arguments() {
        let bindings = interface.bindings.iter();
        arguments.extend(bindings.map(|binding| describe_binding(binding, types)));
    }
    PythonEntryPoint {
        name: interface.name.clone(),
        model: interface.model.to_string(),
        workgroup_size: interface.workgroup_size.map(|[x, y, z]| (x, y, z)),
        arguments,
        push_constant_bytes: interface.push_constant_bytes,
    }
}

fn describe_param(param: &InterfaceParam, types: &TypeNames<'_>) -> PythonKernelArgument {
    let (kind, nbytes) = match param.kind {
        ParamKind::Value { size, .. } => ("value", Some(size)),
        ParamKind::Buffer { .. } => ("buffer", None),
        ParamKind::Workgroup { .. } => ("local", None),
        ParamKind::Opaque { .. } => ("object", None),
    };
    PythonKernelArgument {
        name: param.name.clone().filter(|name| !name.is_empty()),
        kind,
        r#type: types.param_name(param),
        nbytes,
        set: None,
        binding: None,
        read_only: false,
    }
}

fn describe_binding(binding: &InterfaceBinding, types: &TypeNames<'_>) -> PythonKernelArgument {
    let (kind, ty) = match binding.kind {
        BindingKind::Storage(ty) => ("buffer", ty),
        BindingKind::Uniform(ty) => ("uniform", ty),
        BindingKind::Opaque(ty) => ("object", ty),
    };
    PythonKernelArgument {
        name: binding.name.clone().filter(|name| !name.is_empty()),
        kind,
        r#type: types.format_type(ty),
        nbytes: None,
        set: Some(binding.set),
        binding: Some(binding.binding),
        read_only: binding.read_only,
    }
}
