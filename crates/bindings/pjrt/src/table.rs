//! The table of functions.

use crate::boundary::{enter_call, enter_infallible_call};
use crate::ffi::FfiExtension;
use crate::generated::PjrtApi;
use crate::layouts::LayoutsExtension;
use crate::profiler::ProfilerExtension;
use std::sync::LazyLock;

/// The table and its extensions, which stay where they are.
struct PluginTable(Box<PjrtApi>);

// SAFETY: the table never changes, and its pointers are to extensions that live as long as the process.
unsafe impl Send for PluginTable {}
// SAFETY: as above.
unsafe impl Sync for PluginTable {}

static TABLE: LazyLock<PluginTable> = LazyLock::new(|| PluginTable(Box::new(make_table())));

/// The table of the plugin, which lives as long as the process.
pub fn plugin_table() -> *const PjrtApi {
    &raw const *TABLE.0
}

/// Makes a function that enters the functions of the plugin into a table.
macro_rules! implement {
    ($($function:ident,)*) => {
        fn enter_functions(table: &mut PjrtApi) {
            $(table.$function = Some(enter_call);)*
        }
    };
}

implement! {
    error_get_code,
    plugin_initialize,
    plugin_attributes,
    event_destroy,
    event_is_ready,
    event_error,
    event_await,
    event_on_ready,
    client_create,
    client_destroy,
    client_platform_name,
    client_process_index,
    client_platform_version,
    client_devices,
    client_addressable_devices,
    client_lookup_device,
    client_lookup_addressable_device,
    client_addressable_memories,
    client_compile,
    client_default_device_assignment,
    client_buffer_from_host_buffer,
    device_description_id,
    device_description_process_index,
    device_description_attributes,
    device_description_kind,
    device_description_debug_string,
    device_description_to_string,
    device_get_description,
    device_is_addressable,
    device_local_hardware_id,
    device_addressable_memories,
    device_default_memory,
    device_memory_stats,
    memory_id,
    memory_kind,
    memory_debug_string,
    memory_to_string,
    memory_addressable_by_devices,
    executable_destroy,
    executable_name,
    executable_num_replicas,
    executable_num_partitions,
    executable_num_outputs,
    executable_size_of_generated_code_in_bytes,
    executable_get_cost_analysis,
    executable_output_memory_kinds,
    executable_optimized_program,
    executable_serialize,
    loaded_executable_destroy,
    loaded_executable_get_executable,
    loaded_executable_addressable_devices,
    loaded_executable_delete,
    loaded_executable_is_deleted,
    loaded_executable_execute,
    executable_deserialize_and_load,
    loaded_executable_fingerprint,
    buffer_destroy,
    buffer_element_type,
    buffer_dimensions,
    buffer_unpadded_dimensions,
    buffer_dynamic_dimension_indices,
    buffer_get_memory_layout,
    buffer_on_device_size_in_bytes,
    buffer_device,
    buffer_memory,
    buffer_delete,
    buffer_is_deleted,
    buffer_copy_to_device,
    buffer_to_host_buffer,
    buffer_is_on_cpu,
    buffer_ready_event,
    buffer_unsafe_pointer,
    buffer_increase_external_reference_count,
    buffer_decrease_external_reference_count,
    buffer_opaque_device_memory_data_pointer,
    topology_description_create,
    topology_description_destroy,
    topology_description_platform_name,
    topology_description_platform_version,
    topology_description_get_device_descriptions,
    topology_description_serialize,
    topology_description_attributes,
    compile,
    executable_output_element_types,
    executable_output_dimensions,
    buffer_copy_to_memory,
    executable_fingerprint,
    client_topology_description,
    executable_get_compiled_memory_stats,
    memory_kind_id,
    execute_context_create,
    execute_context_destroy,
    buffer_copy_raw_to_host,
    async_host_to_device_transfer_manager_destroy,
    async_host_to_device_transfer_manager_transfer_data,
    client_create_buffers_for_async_host_to_device,
    async_host_to_device_transfer_manager_retrieve_buffer,
    async_host_to_device_transfer_manager_device,
    async_host_to_device_transfer_manager_buffer_count,
    async_host_to_device_transfer_manager_buffer_size,
    async_host_to_device_transfer_manager_set_buffer_error,
    async_host_to_device_transfer_manager_add_metadata,
    client_create_uninitialized_buffer,
    client_update_global_process_info,
    topology_description_deserialize,
    loaded_executable_get_device_assignment,
}

fn make_table() -> PjrtApi {
    let mut table = PjrtApi::without_functions();
    let layouts: &mut LayoutsExtension = Box::leak(Box::new(LayoutsExtension::new()));
    let functions = FfiExtension::new(&raw mut layouts.base);
    let functions: &mut FfiExtension = Box::leak(Box::new(functions));
    let profiler = ProfilerExtension::new(&raw mut functions.base);
    let profiler: &mut ProfilerExtension = Box::leak(Box::new(profiler));
    table.extension_start = &raw mut profiler.base;
    table.error_destroy = Some(enter_infallible_call);
    table.error_message = Some(enter_infallible_call);
    enter_functions(&mut table);
    table
}
