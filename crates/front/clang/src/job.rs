//! Jobs of Clang: a source with its headers and options.

use sha2::{Digest, Sha256};
use spirula_text::hex::write_hex;

/// A source to compile.
#[derive(Clone, Debug, Default)]
pub struct ClangJob {
    /// The source.
    pub source: String,
    /// Headers that the source includes, by the names in its `#include` lines.
    pub headers: Vec<(String, String)>,
    /// Options of Clang, after those that the compiler sets.
    pub options: Vec<String>,
    /// Extensions and features of OpenCL C that the device has, by their names.
    pub extensions: Vec<&'static str>,
}

/// Extensions of the language itself, which need nothing of a device.
const LANGUAGE_EXTENSIONS: &[&str] = &[
    "__cl_clang_bitfields",
    "__cl_clang_function_pointers",
    "__cl_clang_non_portable_kernel_param_types",
    "__cl_clang_variadic_functions",
    "cl_clang_storage_class_specifiers",
];

/// Extensions and features whose macros Clang's header defines for every device.
const HEADER_EXTENSIONS: &[&str] = &[
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_ext_fp16_global_atomic_add",
    "__opencl_c_ext_fp16_global_atomic_load_store",
    "__opencl_c_ext_fp16_global_atomic_min_max",
    "__opencl_c_ext_fp16_local_atomic_add",
    "__opencl_c_ext_fp16_local_atomic_load_store",
    "__opencl_c_ext_fp16_local_atomic_min_max",
    "__opencl_c_ext_fp32_global_atomic_add",
    "__opencl_c_ext_fp32_global_atomic_min_max",
    "__opencl_c_ext_fp32_local_atomic_add",
    "__opencl_c_ext_fp32_local_atomic_min_max",
    "__opencl_c_ext_fp64_global_atomic_add",
    "__opencl_c_ext_fp64_global_atomic_min_max",
    "__opencl_c_ext_fp64_local_atomic_add",
    "__opencl_c_ext_fp64_local_atomic_min_max",
    "__opencl_c_ext_image_raw10_raw12",
    "__opencl_c_ext_image_unorm_int_2_101010",
    "__opencl_c_ext_image_unsigned_10x6_12x4_14x2",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_kernel_clock_scope_device",
    "__opencl_c_kernel_clock_scope_sub_group",
    "__opencl_c_kernel_clock_scope_work_group",
    "__opencl_c_read_write_images",
    "__opencl_c_work_group_collective_functions",
    "cl_ext_float_atomics",
    "cl_ext_image_raw10_raw12",
    "cl_ext_image_unorm_int_2_101010",
    "cl_ext_image_unsigned_10x6_12x4_14x2",
    "cl_khr_extended_bit_ops",
    "cl_khr_integer_dot_product",
    "cl_khr_kernel_clock",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
];

/// Options by which all built-in functions are declared by Clang's header. By default Clang declares those whose names it does not
/// find otherwise, so that a function of the source hides the built-in functions of its name. The header takes 80 ms to read.
const DECLARE_ALL: &[&str] = &["-cl-no-stdinc", "-Xclang", "-finclude-default-header"];

impl ClangJob {
    /// A name that no other source, option or compiler has, in hexadecimal digits.
    pub(crate) fn compute_key(&self, compiler: &str) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        add(compiler);
        add(&self.source);
        self.headers.iter().for_each(|(name, text)| {
            add(name);
            add(text);
        });
        self.options.iter().for_each(|option| add(option));
        let extensions = self.list_extension_options();
        extensions.iter().for_each(|option| add(option));
        add(&self.write_prelude());
        write_hex(&hash.finalize())
    }

    /// The options by which Clang has the extensions and features of the device, and no others.
    pub(crate) fn list_extension_options(&self) -> Vec<String> {
        let names = LANGUAGE_EXTENSIONS.iter().chain(&self.extensions);
        let names: String = names.map(|name| format!(",+{name}")).collect();
        // Clang's driver does not pass the option on by itself.
        let mut options = vec!["-Xclang".to_owned(), format!("-cl-ext=-all{names}")];
        // Newer headers define a feature unless another macro forbids it. They declare nothing of it then.
        let features = self
            .missing_header_extensions()
            .filter(|name| name.starts_with("__opencl_c_"));
        options.extend(features.map(|name| format!("-D__undef_{name}")));
        if self.overloads_functions() {
            options.extend(DECLARE_ALL.iter().map(|option| (*option).to_owned()));
        }
        options
    }

    /// Whether the source may add overloads to a built-in function. OpenCL C has an attribute for them.
    fn overloads_functions(&self) -> bool {
        let headers = self.headers.iter().map(|(_, text)| text);
        let mut texts = std::iter::once(&self.source).chain(headers);
        texts.any(|text| text.contains("overloadable"))
    }

    /// The text that Clang reads between its header and the source. It takes the macros that the header defines for
    /// every device from those that lack them.
    pub(crate) fn write_prelude(&self) -> String {
        self.missing_header_extensions()
            .map(|name| format!("#undef {name}\n"))
            .collect()
    }

    fn missing_header_extensions(&self) -> impl Iterator<Item = &'static str> + '_ {
        let names = HEADER_EXTENSIONS.iter().copied();
        names.filter(|name| !self.extensions.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overloads_of_a_source_or_header_need_all_declarations() {
        let header = (
            "a.h".to_owned(),
            "int __attribute__((overloadable)) f();".to_owned(),
        );
        let declares_all = |job: &ClangJob| {
            let options = job.list_extension_options();
            DECLARE_ALL
                .iter()
                .all(|option| options.iter().any(|own| own == option))
        };
        let mut job = ClangJob {
            source: "#include \"a.h\"".to_owned(),
            ..ClangJob::default()
        };
        assert!(!declares_all(&job));
        let key = job.compute_key("");
        job.headers.push(header.clone());
        assert!(declares_all(&job));
        assert_ne!(job.compute_key(""), key);
        job.headers.clear();
        job.source = header.1;
        assert!(declares_all(&job));
    }
}
