//! Printer of operations, regions and blocks.

use super::{MlirPrinter, SsaNumbering};
use crate::mlir::{
    AttributeKind, DialectBody, MlirAttr, MlirBlock, MlirModule, MlirOp, MlirRegion, MlirType,
    MlirTypeKind, MlirValue, NamedAttribute, ValueDefinition,
};

/// Names of values and blocks.
struct SsaNames {
    /// `%3` or `%arg0`, by value; only the first result of an operation has one.
    values: Vec<String>,
    /// `^bb1`, by block.
    blocks: Vec<u32>,
}

impl SsaNames {
    /// Numbers as MLIR assigns them: region after region, those of the last operations first.
    fn new(module: &MlirModule, root: MlirOp, numbering: SsaNumbering) -> SsaNames {
        let mut names = SsaNames {
            values: vec![String::new(); module.value_count()],
            blocks: vec![0; module.block_count()],
        };
        let mut next = (0, 0);
        names.number_results(module, root, &mut next.0);
        let mut open: Vec<(MlirRegion, (u32, u32))> =
            module.regions(root).map(|region| (region, next)).collect();
        while let Some((region, start)) = open.pop() {
            if numbering == SsaNumbering::Scoped {
                next = start;
            }
            names.number_region(module, region, &mut next);
            for op in module.blocks(region).iter().flat_map(|&b| module.ops(b)) {
                open.extend(module.regions(*op).map(|region| (region, next)));
            }
        }
        names
    }

    fn number_region(&mut self, module: &MlirModule, region: MlirRegion, next: &mut (u32, u32)) {
        for (at, &block) in module.blocks(region).iter().enumerate() {
            self.blocks[block.index()] = at as u32;
            for argument in module.arguments(block) {
                let (letters, number) = match at {
                    0 => ("arg", &mut next.1),
                    _ => ("", &mut next.0),
                };
                self.values[argument.index()] = format!("%{letters}{number}");
                *number += 1;
            }
            for &op in module.ops(block) {
                self.number_results(module, op, &mut next.0);
            }
        }
    }

    fn number_results(&mut self, module: &MlirModule, op: MlirOp, next: &mut u32) {
        if let Some(first) = module.results(op).next() {
            self.values[first.index()] = format!("%{next}");
            *next += 1;
        }
    }
}

/// Prints operations; `names` are assigned before.
struct OperationPrinter<'p, 'm> {
    printer: &'p mut MlirPrinter<'m>,
    names: SsaNames,
}

impl MlirPrinter<'_> {
    /// Aliases, the operation, the resource section.
    pub fn write_file(&mut self, op: MlirOp, numbering: SsaNumbering) {
        self.name_affine(op);
        let names = SsaNames::new(self.module, op, numbering);
        let mut body = OperationPrinter {
            printer: self,
            names,
        };
        body.write_operation(op, 0);
        self.out.push('\n');
        self.resource_section();
    }

    /// Gives affine maps and integer sets names in the order of their uses, and prints them.
    fn name_affine(&mut self, root: MlirOp) {
        let mut found = Vec::new();
        let mut seen = VisitedAttributes::default();
        let mut open = vec![root];
        while let Some(op) = open.pop() {
            let named = self.module.properties(op).iter();
            for &(_, attr) in named.chain(self.module.discardable_attributes(op)) {
                self.find_affine(attr, &mut seen, &mut found);
            }
            let regions = self.module.regions(op).rev();
            for block in regions.flat_map(|region| self.module.blocks(region)).rev() {
                open.extend(self.module.ops(*block).iter().rev());
            }
        }
        for (kind, is_map) in [("map", true), ("set", false)] {
            let mut count = 0;
            for &attr in &found {
                let map = matches!(
                    self.module.attributes.kind(attr),
                    AttributeKind::AffineMap(_)
                );
                if map == is_map {
                    let number = if count > 0 {
                        count.to_string()
                    } else {
                        String::new()
                    };
                    self.name_one(attr, format!("#{kind}{number}"));
                    count += 1;
                }
            }
        }
    }

    fn name_one(&mut self, attr: MlirAttr, alias: String) {
        self.out.push_str(&alias);
        self.out.push_str(" = ");
        self.write_affine(attr);
        self.out.push('\n');
        if self.aliases.len() <= attr.index() {
            self.aliases.resize(attr.index() + 1, None);
        }
        self.aliases[attr.index()] = Some(alias);
    }

    /// Affine maps and sets inside an attribute.
    fn find_affine(&self, attr: MlirAttr, seen: &mut VisitedAttributes, found: &mut Vec<MlirAttr>) {
        if !first_time(&mut seen.attributes, attr.index()) {
            return;
        }
        match self.module.attributes.kind(attr) {
            AttributeKind::AffineMap(_) | AttributeKind::IntegerSet(_) => found.push(attr),
            AttributeKind::Array(list) => {
                list.iter()
                    .for_each(|&attr| self.find_affine(attr, seen, found));
            }
            AttributeKind::Dictionary(named)
            | AttributeKind::Dialect {
                body: DialectBody::Fields(named),
                ..
            } => {
                let attrs = named.iter().map(|&(_, attr)| attr);
                attrs.for_each(|attr| self.find_affine(attr, seen, found));
            }
            AttributeKind::Type(ty) => self.find_affine_in_type(*ty, seen, found),
            _ => {}
        }
    }

    fn find_affine_in_type(
        &self,
        ty: MlirType,
        seen: &mut VisitedAttributes,
        found: &mut Vec<MlirAttr>,
    ) {
        if !first_time(&mut seen.types, ty.index()) {
            return;
        }
        let mut inner = |ty: MlirType| self.find_affine_in_type(ty, seen, found);
        match self.module.types.kind(ty) {
            MlirTypeKind::Tuple(members) | MlirTypeKind::Future(members) => {
                members.iter().for_each(|&ty| inner(ty))
            }
            MlirTypeKind::Function { inputs, results } => {
                inputs.iter().chain(results).for_each(|&ty| inner(ty));
            }
            MlirTypeKind::MemRef { layout, space, .. } => {
                let attrs = layout.iter().chain(space);
                attrs.for_each(|&attr| self.find_affine(attr, seen, found));
            }
            MlirTypeKind::Tensor {
                encoding: Some(attr),
                ..
            } => self.find_affine(*attr, seen, found),
            _ => {}
        }
    }

    /// `{-# dialect_resources: {…} #-}`
    fn resource_section(&mut self) {
        let resources = self.module.resources();
        if resources.is_empty() {
            return;
        }
        self.out.push_str("\n{-#\n  dialect_resources: {\n");
        let mut at = 0;
        while at < resources.len() {
            let dialect = resources[at].dialect;
            let count = resources[at..]
                .iter()
                .take_while(|r| r.dialect == dialect)
                .count();
            self.out.push_str("    ");
            self.write_name(dialect);
            self.out.push_str(": {\n");
            for (offset, resource) in resources[at..at + count].iter().enumerate() {
                self.out.push_str("      ");
                self.write_name(resource.key);
                self.out.push_str(": ");
                let alignment = resource.alignment.to_le_bytes();
                self.write_hexadecimal(&[&alignment, &*resource.data].concat());
                self.out
                    .push_str(if offset + 1 < count { ",\n" } else { "\n" });
            }
            at += count;
            self.out.push_str(if at < resources.len() {
                "    },\n"
            } else {
                "    }\n"
            });
        }
        self.out.push_str("  }\n#-}\n");
    }
}

/// Attributes and types that were visited.
#[derive(Default)]
struct VisitedAttributes {
    attributes: Vec<bool>,
    types: Vec<bool>,
}

fn first_time(seen: &mut Vec<bool>, at: usize) -> bool {
    if seen.len() <= at {
        seen.resize(at + 1, false);
    }
    !std::mem::replace(&mut seen[at], true)
}

impl OperationPrinter<'_, '_> {
    fn write_operation(&mut self, op: MlirOp, indent: usize) {
        let module = self.printer.module;
        let results = module.results(op);
        if let Some(first) = module.results(op).next() {
            let name = &self.names.values[first.index()];
            self.printer.out.push_str(name);
            if results.len() > 1 {
                self.printer.out.push_str(&format!(":{}", results.len()));
            }
            self.printer.out.push_str(" = ");
        }
        self.printer
            .out
            .push_str(&format!("\"{}\"(", module.op_name(op)));
        self.write_values(module.operands(op));
        self.printer.out.push(')');
        if !module.successors(op).is_empty() {
            let labels = module
                .successors(op)
                .iter()
                .map(|&block| self.block_label(block));
            let labels: Vec<String> = labels.collect();
            self.printer
                .out
                .push_str(&format!("[{}]", labels.join(", ")));
        }
        self.write_properties(module.properties(op));
        if module.regions(op).len() > 0 {
            self.printer.out.push_str(" (");
            for (at, region) in module.regions(op).enumerate() {
                self.printer.out.push_str(if at > 0 { ", " } else { "" });
                self.write_region(region, indent);
            }
            self.printer.out.push(')');
        }
        if !module.discardable_attributes(op).is_empty() {
            self.printer.out.push(' ');
            self.printer
                .write_dictionary(module.discardable_attributes(op));
        }
        self.printer.out.push_str(" : ");
        let operands: Vec<MlirType> = module
            .operands(op)
            .iter()
            .map(|&v| module.type_of(v))
            .collect();
        let results: Vec<MlirType> = results.map(|value| module.type_of(value)).collect();
        self.printer.write_signature(&operands, &results);
    }

    fn write_properties(&mut self, named: &[NamedAttribute]) {
        if !named.is_empty() {
            self.printer.out.push_str(" <");
            self.printer.write_dictionary(named);
            self.printer.out.push('>');
        }
    }

    fn write_values(&mut self, values: &[MlirValue]) {
        let names = &self.names;
        self.printer.write_separated(values, |printer, &value| {
            let module = printer.module;
            if let ValueDefinition::Result(op, number) = module.definition(value) {
                let mut results = module.results(op);
                if results.len() > 1 {
                    let first = results.next().map_or(0, MlirValue::index);
                    let first = &names.values[first];
                    return printer.out.push_str(&format!("{first}#{number}"));
                }
            }
            printer.out.push_str(&names.values[value.index()]);
        });
    }

    fn block_label(&self, block: MlirBlock) -> String {
        format!("^bb{}", self.names.blocks[block.index()])
    }

    fn write_region(&mut self, region: MlirRegion, indent: usize) {
        let module = self.printer.module;
        self.printer.out.push_str("{\n");
        let blocks = module.blocks(region);
        let from = self.collect_predecessors(region);
        for (at, &block) in blocks.iter().enumerate() {
            let bare = at == 0 && module.arguments(block).len() == 0;
            if !bare || module.ops(block).is_empty() {
                let comment = match at {
                    0 => String::new(),
                    at => show_predecessors(&from[at]),
                };
                self.write_block_header(block, &comment, indent);
            }
            for &op in module.ops(block) {
                self.printer.out.push_str(&" ".repeat(indent + 2));
                self.write_operation(op, indent + 2);
                self.printer.out.push('\n');
            }
        }
        self.printer.out.push_str(&" ".repeat(indent));
        self.printer.out.push('}');
    }

    /// `^bb0(%arg0: type):`, with its predecessors.
    fn write_block_header(&mut self, block: MlirBlock, comment: &str, indent: usize) {
        let module = self.printer.module;
        self.printer.out.push_str(&" ".repeat(indent));
        let label = self.block_label(block);
        self.printer.out.push_str(&label);
        let arguments: Vec<MlirValue> = module.arguments(block).collect();
        if !arguments.is_empty() {
            self.printer.out.push('(');
            let names = &self.names;
            self.printer
                .write_separated(&arguments, |printer, &argument| {
                    printer.out.push_str(&names.values[argument.index()]);
                    printer.out.push_str(": ");
                    printer.write_type(printer.module.type_of(argument));
                });
            self.printer.out.push(')');
        }
        self.printer.out.push(':');
        self.printer.out.push_str(comment);
        self.printer.out.push('\n');
    }

    /// For each block of a region, the numbers of its predecessors.
    fn collect_predecessors(&self, region: MlirRegion) -> Vec<Vec<u32>> {
        let module = self.printer.module;
        let blocks = module.blocks(region);
        let mut from = vec![Vec::new(); blocks.len()];
        for (at, &block) in blocks.iter().enumerate() {
            let last = module.ops(block).last();
            for to in last.map_or(&[][..], |&op| module.successors(op)) {
                let list: &mut Vec<u32> = &mut from[self.names.blocks[to.index()] as usize];
                if list.last() != Some(&(at as u32)) {
                    list.push(at as u32);
                }
            }
        }
        from
    }
}

fn show_predecessors(from: &[u32]) -> String {
    let labels: Vec<String> = from.iter().map(|at| format!("^bb{at}")).collect();
    match labels.as_slice() {
        [] => "  // no predecessors".to_owned(),
        [one] => format!("  // pred: {one}"),
        all => format!("  // {} preds: {}", all.len(), all.join(", ")),
    }
}
