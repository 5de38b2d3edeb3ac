//! Branches, switches, loops and calls.

use super::generator::{
    CallableFunction, GeneratedBody, GeneratedPointer, LlvmGenerator, pointer_type,
};
use super::types::GeneratedType;

type ControlGenerator = fn(&mut LlvmGenerator<'_, '_>);

/// The statements of a block.
const STEPS: &[ControlGenerator] = &[
    |g| g.emit_binary(),
    |g| g.emit_binary(),
    |g| g.emit_shift(),
    |g| g.emit_division(),
    |g| g.float_binary(),
    |g| g.float_binary(),
    |g| g.emit_negation(),
    |g| {
        g.emit_compare();
    },
    |g| g.emit_select(),
    |g| g.emit_freeze(),
    |g| g.emit_conversion(),
    |g| g.emit_conversion(),
    |g| g.emit_bitcast(),
    |g| g.extract_element(),
    |g| g.insert_element(),
    |g| g.build_vector(),
    |g| g.emit_shuffle(),
    |g| g.extract_value(),
    |g| g.insert_value(),
    |g| g.emit_intrinsic(),
    |g| g.emit_intrinsic(),
    |g| g.emit_intrinsic(),
    |g| g.emit_alloca(),
    |g| g.emit_address(),
    |g| g.emit_address(),
    |g| g.emit_load(),
    |g| g.emit_load(),
    |g| g.load_otherwise(),
    |g| g.emit_store(),
    |g| g.emit_store(),
    |g| g.emit_copy(),
    |g| g.choose_pointer(),
    |g| g.keep_pointer(),
    |g| g.emit_generic_cast(),
    |g| g.compare_pointers(),
    |g| g.null_pointer(),
    |g| g.pointer_table(),
    |g| g.emit_fence(),
    |g| g.emit_atomic(),
    |g| g.global_object(),
    |g| g.call_helper(),
    |g| g.call_helper(),
];

impl LlvmGenerator<'_, '_> {
    /// Straight-line code.
    pub fn emit_steps(&mut self, most: usize) {
        for _ in 0..1 + self.c.choose_below(most) {
            let make = STEPS[self.c.choose_below(STEPS.len())];
            make(self);
        }
    }

    /// Straight-line code and control flow, up to a depth of nesting.
    pub fn emit_regions(&mut self, depth: u32) {
        for _ in 0..1 + self.c.choose_below(4) {
            match self.c.choose_below(8) {
                1 | 2 if depth > 0 => self.emit_branch(depth),
                3 if depth > 0 => self.emit_switch(depth),
                4 | 5 if depth > 0 => self.emit_loop(depth),
                6 if depth > 0 => self.emit_graph(),
                _ => self.emit_steps(10),
            }
        }
    }

    /// Generates code whose values do not dominate what follows, apart from one value for each of some types.
    fn emit_in_scope(
        &mut self,
        types: &[GeneratedType],
        make: impl FnOnce(&mut Self),
    ) -> (Vec<String>, String) {
        let (values, pointers) = (self.body.values.len(), self.body.pointers.len());
        make(self);
        let results = types.iter().map(|ty| self.choose_value(ty)).collect();
        self.body.values.truncate(values);
        self.body.pointers.truncate(pointers);
        (results, self.body.block.clone())
    }

    fn some_types(&mut self) -> Vec<GeneratedType> {
        let count = 1 + self.c.choose_below(2);
        (0..count)
            .map(|_| {
                self.choose_or_make_value(|_| true, Self::choose_value_type)
                    .0
            })
            .collect()
    }

    /// Phis of the values that reach the open block from several predecessors.
    fn emit_phis(&mut self, types: &[GeneratedType], ways: &[(Vec<String>, String)]) {
        for (n, ty) in types.iter().enumerate() {
            let edges: Vec<String> = ways
                .iter()
                .map(|(results, from)| format!("[ {}, %{from} ]", results[n]))
                .collect();
            self.emit_value(ty, &format!("phi {ty} {}", edges.join(", ")));
        }
    }

    fn emit_branch(&mut self, depth: u32) {
        let types = self.some_types();
        let condition = self.make_condition();
        let [then, other, after] = ["then", "else", "join"].map(|p| self.fresh_name(p));
        let has_else = self.one_in(2);
        let otherwise = if has_else { &other } else { &after };
        let before = (
            types.iter().map(|ty| self.choose_value(ty)).collect(),
            self.body.block.clone(),
        );
        self.write_line(&format!(
            "br i1 {condition}, label %{then}, label %{otherwise}"
        ));
        self.open_block(&then);
        let first = self.emit_in_scope(&types, |g| g.emit_regions(depth - 1));
        self.write_line(&format!("br label %{after}"));
        let second = if has_else {
            self.open_block(&other);
            let way = self.emit_in_scope(&types, |g| g.emit_regions(depth - 1));
            self.write_line(&format!("br label %{after}"));
            way
        } else {
            before
        };
        self.open_block(&after);
        self.emit_phis(&types, &[first, second]);
    }

    fn emit_switch(&mut self, depth: u32) {
        let types = self.some_types();
        let wanted = |t: &GeneratedType| matches!(t, GeneratedType::Int(w) if *w >= 3);
        let (ty, value) =
            self.choose_or_make_value(wanted, |g| GeneratedType::Int(g.choose_width()));
        let value = self.emit_hidden_value(&format!("freeze {ty} {value}"));
        let value = if self.one_in(2) {
            self.emit_hidden_value(&format!("and {ty} {value}, 3"))
        } else {
            value
        };
        let count = 1 + self.c.choose_below(4);
        let labels: Vec<String> = (0..=count).map(|_| self.fresh_name("case")).collect();
        let after = self.fresh_name("join");
        let mut cases = String::new();
        for (n, label) in labels[1..].iter().enumerate() {
            cases.push_str(&format!(" {ty} {n}, label %{label}"));
        }
        self.write_line(&format!(
            "switch {ty} {value}, label %{} [{cases} ]",
            labels[0]
        ));
        let mut ways = Vec::new();
        for (n, label) in labels.iter().enumerate() {
            self.open_block(label);
            ways.push(self.emit_in_scope(&types, |g| g.emit_regions(depth - 1)));
            // Cases may fall through to the next.
            let _ = n;
            self.write_line(&format!("br label %{after}"));
        }
        self.open_block(&after);
        self.emit_phis(&types, &ways);
    }

    /// A loop of few iterations, which may be left early.
    fn emit_loop(&mut self, depth: u32) {
        let types = self.some_types();
        let first: Vec<String> = types.iter().map(|ty| self.choose_value(ty)).collect();
        let before = self.body.block.clone();
        let [head, inside, step, after] =
            ["head", "body", "step", "exit"].map(|p| self.fresh_name(p));
        let rounds = self.c.choose_below(5);
        self.write_line(&format!("br label %{head}"));
        self.open_block(&head);
        let (counter, next) = (self.fresh_name("%i"), self.fresh_name("%i"));
        let mut names = Vec::new();
        // The values of the back edge are known only after the body, so their place in the text is reserved.
        let mark = self.body.text.len();
        for ty in &types {
            let name = self.fresh_name("%v");
            self.body.values.push((ty.clone(), name.clone()));
            names.push(name);
        }
        self.body
            .values
            .push((GeneratedType::Int(32), counter.clone()));
        let goes_on = self.emit_hidden_value(&format!("icmp ult i32 {counter}, {rounds}"));
        self.write_line(&format!("br i1 {goes_on}, label %{inside}, label %{after}"));
        self.open_block(&inside);
        let mut early = None;
        let (last, from) = self.emit_in_scope(&types, |g| {
            g.emit_regions(depth - 1);
            if g.one_in(3) {
                let condition = g.make_condition();
                let rest = g.fresh_name("rest");
                early = Some(g.body.block.clone());
                g.write_line(&format!("br i1 {condition}, label %{after}, label %{rest}"));
                g.open_block(&rest);
                g.emit_steps(4);
            }
        });
        self.write_line(&format!("br label %{step}"));
        self.open_block(&step);
        self.write_line(&format!("{next} = add i32 {counter}, 1"));
        let hint = self.make_loop_hint();
        self.write_line(&format!("br label %{head}{hint}"));
        let _ = from;
        let mut phis = format!("  {counter} = phi i32 [ 0, %{before} ], [ {next}, %{step} ]\n");
        for (n, ty) in types.iter().enumerate() {
            phis.push_str(&format!(
                "  {} = phi {ty} [ {}, %{before} ], [ {}, %{step} ]\n",
                names[n], first[n], last[n]
            ));
        }
        self.body.text.insert_str(mark, &phis);
        self.open_block(&after);
        if let Some(early) = early {
            let zero = self.make_constant(&GeneratedType::Int(32));
            self.emit_value(
                &GeneratedType::Int(32),
                &format!("phi i32 [ {counter}, %{head} ], [ {zero}, %{early} ]"),
            );
        }
    }

    /// Metadata of a loop's back edge.
    pub fn make_loop_hint(&mut self) -> String {
        if !self.one_in(2) {
            return String::new();
        }
        let number = self.fresh_name("");
        let words = [
            "unroll.enable\"",
            "unroll.disable\"",
            "unroll.count\", i32 2",
        ];
        let words = words[self.c.choose_below(words.len())];
        self.hints.push_str(&format!(
            "!{number} = distinct !{{!{number}, !{{!\"llvm.loop.{words}}}}}\n"
        ));
        format!(", !llvm.loop !{number}")
    }

    /// A function that the kernel may call, or two of one type.
    pub fn emit_helper(&mut self) {
        let params: Vec<GeneratedType> = (0..1 + self.c.choose_below(3))
            .map(|_| self.choose_value_type())
            .collect();
        let pointer = self.one_in(2).then(|| self.choose_object_type(1));
        let is_written = pointer.is_some() && !self.one_in(3);
        let result = if self.one_in(4) {
            self.choose_struct_type(1)
        } else {
            self.choose_value_type()
        };
        let mut function = CallableFunction {
            name: String::new(),
            other: None,
            params,
            pointer,
            is_written,
            result,
        };
        function.name = self.helper_body(&function);
        if self.one_in(3) {
            function.other = Some(self.helper_body(&function));
        }
        self.callable.push(function);
    }

    /// A function of a type; returns its name.
    fn helper_body(&mut self, function: &CallableFunction) -> String {
        let name = self.fresh_name("@f");
        self.body = GeneratedBody::default();
        let mut taken = Vec::new();
        for ty in &function.params {
            let param = self.fresh_name("%p");
            self.body.values.push((ty.clone(), param.clone()));
            taken.push(format!("{ty} {param}"));
        }
        if let Some(ty) = &function.pointer {
            let param = self.fresh_name("%p");
            taken.push(format!("{} {param}", pointer_type(0)));
            self.body.pointers.push(GeneratedPointer {
                space: 0,
                name: param,
                ty: ty.clone(),
                is_variable: function.is_written,
            });
        }
        self.open_block("entry");
        self.emit_regions(1);
        let result = &function.result;
        let value = self.choose_value(result);
        self.write_line(&format!("ret {result} {value}"));
        let GeneratedBody { text, allocas, .. } = std::mem::take(&mut self.body);
        let text = text.replacen("entry:\n", &format!("entry:\n{allocas}"), 1);
        self.functions.push_str(&format!(
            "define internal spir_func {result} {name}({}) {{\n{text}}}\n\n",
            taken.join(", ")
        ));
        name
    }

    /// A call of such a function, directly or through a pointer to one of two.
    pub fn call_helper(&mut self) {
        if self.callable.is_empty() {
            return self.emit_binary();
        }
        let at = self.c.choose_below(self.callable.len());
        let function = self.callable[at].clone();
        let mut given: Vec<String> = function
            .params
            .iter()
            .map(|ty| format!("{ty} {}", self.choose_value(ty)))
            .collect();
        if let Some(ty) = &function.pointer {
            let fits = |p: &&GeneratedPointer| {
                p.space == 0 && p.ty == *ty && (p.is_variable || !function.is_written)
            };
            let found = self.body.pointers.iter().rev().find(fits);
            let name = match found {
                Some(pointer) => pointer.name.clone(),
                None => {
                    let (name, value) = (self.fresh_name("%a"), self.make_constant(ty));
                    self.body
                        .allocas
                        .push_str(&format!("  {name} = alloca {ty}\n"));
                    self.write_line(&format!("store {ty} {value}, ptr {name}"));
                    name
                }
            };
            given.push(format!("ptr {name}"));
        }
        let mut name = function.name.clone();
        if let Some(other) = function.other.filter(|_| self.one_in(2)) {
            let condition = self.make_condition();
            name =
                self.emit_hidden_value(&format!("select i1 {condition}, ptr {name}, ptr {other}"));
        }
        let result = &function.result;
        self.emit_value(
            result,
            &format!("call spir_func {result} {name}({})", given.join(", ")),
        );
    }
}
