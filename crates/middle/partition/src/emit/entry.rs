//! Functions of the local program.

use super::emitter::LocalEmitter;
use crate::PartitionResult;
use crate::graph::{GraphValue, ProgramGraph};
use crate::layout::ShardLayout;
use crate::mesh::AtomicMesh;
use crate::propagate::ValueLayouts;
use crate::report::PartitionReport;
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_stablehlo::mlir::{
    AttributeKind, MlirAttr, MlirModule, MlirOp, MlirType, MlirTypeKind, MlirValue, ModuleBuilder,
    NamedAttribute, OperationDraft,
};

/// Attributes of arguments and results that hold for the whole tensors alone.
const GLOBAL_ATTRIBUTES: &[&str] = &["sdy.sharding", "mhlo.sharding"];

/// The attribute with the number of devices of a program.
const PARTITIONS: &str = "mhlo.num_partitions";

/// The program of one device.
#[derive(Debug)]
pub(crate) struct EmittedProgram {
    pub module: MlirModule,
    pub parameters: Vec<ShardLayout>,
    pub results: Vec<ShardLayout>,
    pub report: PartitionReport,
}

/// Rewrites a program, of which `function` is the entry point.
pub(crate) fn emit_program(
    source: &MlirModule,
    function: MlirOp,
    graph: &ProgramGraph,
    mesh: &AtomicMesh,
    layouts: &ValueLayouts,
) -> PartitionResult<EmittedProgram> {
    let mut emitter = LocalEmitter {
        source,
        graph,
        mesh,
        layouts,
        builder: ModuleBuilder::new_like(source),
        values: FxHashMap::default(),
        coordinates: FxHashMap::default(),
        scope: Vec::new(),
        groups: FxHashMap::default(),
        neighbours: FxHashMap::default(),
        kept: Vec::new(),
        report: PartitionReport::default(),
    };
    emitter.emit_module_attributes();
    emitter.emit_entry(function)?;
    emitter.emit_kept_functions(function);
    let body = &graph.body;
    let layouts_of = |values: &[GraphValue]| {
        let layouts = values.iter().map(|value| ShardLayout {
            sums: graph.sums_of(*value).to_vec(),
            ..layouts.layout(*value).clone()
        });
        layouts.collect::<Vec<_>>()
    };
    Ok(EmittedProgram {
        parameters: layouts_of(&body.arguments),
        results: layouts_of(&body.returned),
        report: emitter.report,
        module: emitter.builder.finish(),
    })
}

impl LocalEmitter<'_> {
    fn emit_module_attributes(&mut self) {
        let source = self.source;
        let root = source.root();
        let attributes = source.discardable_attributes(root).iter();
        let mut attributes: Vec<NamedAttribute> = attributes
            .filter(|(name, _)| source.symbol_text(*name) != PARTITIONS)
            .copied()
            .collect();
        let devices = i64::try_from(self.mesh.device_count()).unwrap_or(i64::MAX);
        let module = self.builder.module_mut();
        let count = module.integer_attribute(devices, 32);
        attributes.push((module.intern_text(PARTITIONS), count));
        let properties = source.properties(root).to_vec();
        self.builder.set_module_attributes(properties, attributes);
    }

    fn emit_entry(&mut self, function: MlirOp) -> PartitionResult<()> {
        let source = self.source;
        let body = &self.graph.body;
        let types = |emitter: &mut Self, values: &[GraphValue]| {
            let types = values.iter().map(|value| {
                let layout = emitter.layouts.layout(*value).clone();
                emitter.local_type(*value, &layout)
            });
            types.collect::<Vec<MlirType>>()
        };
        let inputs = types(self, &body.arguments);
        let results = types(self, &body.returned);
        let module = self.builder.module_mut();
        let ty = module.types.intern(MlirTypeKind::Function {
            inputs: inputs.clone().into_boxed_slice(),
            results: results.into_boxed_slice(),
        });
        let ty = module.attributes.intern(AttributeKind::Type(ty));
        let mut properties = source.properties(function).to_vec();
        for (name, attr) in &mut properties {
            match source.symbol_text(*name) {
                "function_type" => *attr = ty,
                "arg_attrs" | "res_attrs" => *attr = self.drop_global_attributes(*attr),
                _ => {}
            }
        }
        let copy = self.builder.append_operation(OperationDraft {
            properties,
            attributes: source.discardable_attributes(function).to_vec(),
            regions: 1,
            place: source.source_location(function),
            loc: source.location(function),
            ..OperationDraft::new("func.func", &[], &[])
        });
        let arguments = self.builder.begin_block(copy, 0, &inputs);
        for (value, local) in body.arguments.iter().zip(arguments) {
            let local = self.add_summands(local, self.graph.sums_of(*value))?;
            self.add_layout(*value, self.layouts.layout(*value).clone(), local);
        }
        self.emit_nodes(body)?;
        let mut locals: Vec<MlirValue> = Vec::new();
        for value in &body.returned {
            let layout = self.layouts.layout(*value).clone();
            let local = self.require_layout(function, *value, &layout)?;
            locals.push(self.keep_summand(local, self.graph.sums_of(*value))?);
        }
        let draft = OperationDraft::new("func.return", &locals, &[]);
        self.builder.append_operation(draft);
        self.close_scope(0);
        self.builder.end_block();
        Ok(())
    }

    /// A list of dictionaries without the attributes that hold for whole tensors.
    fn drop_global_attributes(&mut self, list: MlirAttr) -> MlirAttr {
        let source = self.source;
        let AttributeKind::Array(dictionaries) = source.attributes.kind(list) else {
            return list;
        };
        let kept = dictionaries.iter().map(|dictionary| {
            let AttributeKind::Dictionary(fields) = source.attributes.kind(*dictionary) else {
                return *dictionary;
            };
            let fields = fields.iter().filter(|(name, _)| {
                let name = source.symbol_text(*name);
                !GLOBAL_ATTRIBUTES.contains(&name)
            });
            let fields = fields.copied().collect();
            let attributes = &mut self.builder.module_mut().attributes;
            attributes.intern(AttributeKind::Dictionary(fields))
        });
        let kept = kept.collect();
        let attributes = &mut self.builder.module_mut().attributes;
        attributes.intern(AttributeKind::Array(kept))
    }

    /// Copies the functions that copied regions call, and those that these call.
    fn emit_kept_functions(&mut self, entry: MlirOp) {
        let source = self.source;
        let mut done = FxHashSet::default();
        done.insert(entry);
        while let Some(name) = self.kept.pop() {
            let Some(function) = source.find_function(&name) else {
                continue;
            };
            if !done.insert(function) {
                continue;
            }
            self.note_calls(function);
            self.builder
                .copy_operation(source, function, &mut FxHashMap::default());
        }
    }
}
