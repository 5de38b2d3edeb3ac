//! The interpreter `wasmi` as the engine of generated modules.

use spirula_interpreter::{EngineImport, HOST_MODULE, HostFunctions, HostRow, WasmEngine};
use std::sync::Arc;
use wasmi::{Caller, Engine, Instance, Linker, Memory, Module, Store, TypedFunc};

/// The functions behind the imports of an instance.
struct HostState {
    functions: Arc<HostFunctions>,
    row: HostRow,
}

struct WasmiInstance {
    store: Store<HostState>,
    memory: Memory,
    run_group: TypedFunc<i32, i32>,
}

/// Instances of modules by their numbers.
#[derive(Default)]
pub struct WasmiEngine {
    instances: Vec<Option<WasmiInstance>>,
}

impl WasmiEngine {
    fn instance(&mut self, number: u32) -> Result<&mut WasmiInstance, String> {
        let instance = self.instances.get_mut(number as usize);
        instance
            .and_then(Option::as_mut)
            .ok_or_else(|| format!("no instance {number}"))
    }
}

fn link_imports(linker: &mut Linker<HostState>) -> Result<(), String> {
    for import in EngineImport::ALL {
        let name = import.name();
        let linked = match import {
            EngineImport::Apply => linker.func_wrap(
                HOST_MODULE,
                name,
                |caller: Caller<'_, HostState>, number: i32, a: i64, b: i64, c: i64, d: i64| {
                    let operands = [a, b, c, d].map(|bits| bits as u64);
                    caller.data().functions.apply(number as u32, operands) as i64
                },
            ),
            EngineImport::PutRow => linker.func_wrap(
                HOST_MODULE,
                name,
                |mut caller: Caller<'_, HostState>, at: i32, bits: i64| {
                    caller.data_mut().row.put(at as u32, bits as u64);
                },
            ),
            EngineImport::ComputeRow => linker.func_wrap(
                HOST_MODULE,
                name,
                |mut caller: Caller<'_, HostState>, number: i32| {
                    let state = caller.data_mut();
                    state.row.compute(&state.functions, number as u32);
                },
            ),
            EngineImport::TakeRow => linker.func_wrap(
                HOST_MODULE,
                name,
                |caller: Caller<'_, HostState>, at: i32| caller.data().row.take(at as u32) as i64,
            ),
        };
        linked.map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn instantiate(code: &[u8], functions: &Arc<HostFunctions>) -> Result<WasmiInstance, String> {
    let engine = Engine::default();
    let module = Module::new(&engine, code).map_err(|error| error.to_string())?;
    let state = HostState {
        functions: functions.clone(),
        row: HostRow::default(),
    };
    let mut store = Store::new(&engine, state);
    let mut linker = Linker::new(&engine);
    link_imports(&mut linker)?;
    let instance: Instance = linker
        .instantiate_and_start(&mut store, &module)
        .map_err(|error| error.to_string())?;
    let memory = instance.get_memory(&store, "memory").ok_or("no memory")?;
    let run_group = instance.get_typed_func(&store, "run_group");
    Ok(WasmiInstance {
        memory,
        run_group: run_group.map_err(|error| error.to_string())?,
        store,
    })
}

impl WasmEngine for WasmiEngine {
    fn load_module(&mut self, code: &[u8], functions: &Arc<HostFunctions>) -> Result<u32, String> {
        self.instances.push(Some(instantiate(code, functions)?));
        Ok(self.instances.len() as u32 - 1)
    }

    fn reserve_memory(&mut self, instance: u32, bytes: u64) -> Result<(), String> {
        let instance = self.instance(instance)?;
        let pages = bytes.div_ceil(1 << 16);
        let more = pages.saturating_sub(instance.memory.size(&instance.store));
        let grown = instance.memory.grow(&mut instance.store, more);
        grown.map(|_| ()).map_err(|error| error.to_string())
    }

    fn write_memory(&mut self, instance: u32, at: u32, bytes: &[u8]) -> Result<(), String> {
        let instance = self.instance(instance)?;
        let written = instance
            .memory
            .write(&mut instance.store, at as usize, bytes);
        written.map_err(|error| error.to_string())
    }

    fn read_memory(&mut self, instance: u32, at: u32, out: &mut [u8]) -> Result<(), String> {
        let instance = self.instance(instance)?;
        let read = instance.memory.read(&instance.store, at as usize, out);
        read.map_err(|error| error.to_string())
    }

    fn run_group(&mut self, instance: u32, is_new: bool) -> Result<u32, String> {
        let instance = self.instance(instance)?;
        let ran = instance
            .run_group
            .call(&mut instance.store, i32::from(is_new));
        ran.map(|status| status as u32)
            .map_err(|error| error.to_string())
    }

    fn drop_instance(&mut self, instance: u32) {
        if let Some(instance) = self.instances.get_mut(instance as usize) {
            *instance = None;
        }
    }
}
