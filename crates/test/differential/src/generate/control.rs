//! Branches, switches, loops and calls.

use super::memory::{GeneratedPointer, pointer_type};
use super::types::GeneratedType;
use super::{GeneratedBody, LlvmGenerator};

/// A function that can be called.
#[derive(Clone)]
pub struct CallableFunction {
    name: String,
    /// Another one of the same type.
    other: Option<String>,
    params: Vec<GeneratedType>,
    /// What a pointer at the end leads to.
    pointer: Option<GeneratedType>,
    /// Whether it may write there.
    is_written: bool,
    result: GeneratedType,
}

type ControlGenerator = fn(&mut LlvmGenerator<'_, '_>);

/// What stands in a block.
const STEPS: &[ControlGenerator] = &[
    |g| g.binary(),
    |g| g.binary(),
    |g| g.shift(),
    |g| g.division(),
    |g| g.float_binary(),
    |g| g.float_binary(),
    |g| g.negation(),
    |g| {
        g.compare();
    },
    |g| g.select(),
    |g| g.freeze(),
    |g| g.convert(),
    |g| g.convert(),
    |g| g.bitcast(),
    |g| g.extract_element(),
    |g| g.insert_element(),
    |g| g.build_vector(),
    |g| g.shuffle(),
    |g| g.extract_value(),
    |g| g.insert_value(),
    |g| g.intrinsic(),
    |g| g.intrinsic(),
    |g| g.intrinsic(),
    |g| g.allocate(),
    |g| g.address(),
    |g| g.address(),
    |g| g.load(),
    |g| g.load(),
    |g| g.load_otherwise(),
    |g| g.store(),
    |g| g.store(),
    |g| g.copy(),
    |g| g.choose_pointer(),
    |g| g.keep_pointer(),
    |g| g.generic(),
    |g| g.compare_pointers(),
    |g| g.null_pointer(),
    |g| g.pointer_table(),
    |g| g.fence(),
    |g| g.atomic(),
    |g| g.global_object(),
    |g| g.call_helper(),
    |g| g.call_helper(),
];

impl LlvmGenerator<'_, '_> {
    /// Straight code.
    pub fn steps(&mut self, most: usize) {
        for _ in 0..1 + self.c.below(most) {
            let make = STEPS[self.c.below(STEPS.len())];
            make(self);
        }
    }

    /// Straight code and control flow, nested at most so deep.
    pub fn regions(&mut self, depth: u32) {
        for _ in 0..1 + self.c.below(4) {
            match self.c.below(8) {
                1 | 2 if depth > 0 => self.branch(depth),
                3 if depth > 0 => self.switch(depth),
                4 | 5 if depth > 0 => self.repeat(depth),
                6 if depth > 0 => self.graph(),
                _ => self.steps(10),
            }
        }
    }

    /// Runs something whose values do not dominate what follows, but for one of each type given.
    fn scope(
        &mut self,
        types: &[GeneratedType],
        make: impl FnOnce(&mut Self),
    ) -> (Vec<String>, String) {
        let (values, pointers) = (self.body.values.len(), self.body.pointers.len());
        make(self);
        let results = types.iter().map(|ty| self.value(ty)).collect();
        self.body.values.truncate(values);
        self.body.pointers.truncate(pointers);
        (results, self.body.block.clone())
    }

    fn some_types(&mut self) -> Vec<GeneratedType> {
        let count = 1 + self.c.below(2);
        (0..count)
            .map(|_| self.some(|_| true, Self::plain).0)
            .collect()
    }

    /// Phis over what came of several ways to the open block.
    fn merge(&mut self, types: &[GeneratedType], ways: &[(Vec<String>, String)]) {
        for (n, ty) in types.iter().enumerate() {
            let edges: Vec<String> = ways
                .iter()
                .map(|(results, from)| format!("[ {}, %{from} ]", results[n]))
                .collect();
            self.put(ty, &format!("phi {ty} {}", edges.join(", ")));
        }
    }

    fn branch(&mut self, depth: u32) {
        let types = self.some_types();
        let condition = self.condition();
        let [then, other, after] = ["then", "else", "join"].map(|p| self.fresh(p));
        let has_else = self.one_in(2);
        let otherwise = if has_else { &other } else { &after };
        let before = (
            types.iter().map(|ty| self.value(ty)).collect(),
            self.body.block.clone(),
        );
        self.line(&format!(
            "br i1 {condition}, label %{then}, label %{otherwise}"
        ));
        self.open(&then);
        let first = self.scope(&types, |g| g.regions(depth - 1));
        self.line(&format!("br label %{after}"));
        let second = match has_else {
            true => {
                self.open(&other);
                let way = self.scope(&types, |g| g.regions(depth - 1));
                self.line(&format!("br label %{after}"));
                way
            }
            false => before,
        };
        self.open(&after);
        self.merge(&types, &[first, second]);
    }

    fn switch(&mut self, depth: u32) {
        let types = self.some_types();
        let wanted = |t: &GeneratedType| matches!(t, GeneratedType::Int(w) if *w >= 3);
        let (ty, value) = self.some(wanted, |g| GeneratedType::Int(g.width()));
        let value = self.hidden(&format!("freeze {ty} {value}"));
        let value = match self.one_in(2) {
            true => self.hidden(&format!("and {ty} {value}, 3")),
            false => value,
        };
        let count = 1 + self.c.below(4);
        let labels: Vec<String> = (0..=count).map(|_| self.fresh("case")).collect();
        let after = self.fresh("join");
        let mut cases = String::new();
        for (n, label) in labels[1..].iter().enumerate() {
            cases.push_str(&format!(" {ty} {n}, label %{label}"));
        }
        self.line(&format!(
            "switch {ty} {value}, label %{} [{cases} ]",
            labels[0]
        ));
        let mut ways = Vec::new();
        for (n, label) in labels.iter().enumerate() {
            self.open(label);
            ways.push(self.scope(&types, |g| g.regions(depth - 1)));
            // Cases may run into the next.
            let _ = n;
            self.line(&format!("br label %{after}"));
        }
        self.open(&after);
        self.merge(&types, &ways);
    }

    /// A loop of few rounds, perhaps left early.
    fn repeat(&mut self, depth: u32) {
        let types = self.some_types();
        let first: Vec<String> = types.iter().map(|ty| self.value(ty)).collect();
        let before = self.body.block.clone();
        let [head, inside, step, after] = ["head", "body", "step", "exit"].map(|p| self.fresh(p));
        let rounds = self.c.below(5);
        self.line(&format!("br label %{head}"));
        self.open(&head);
        let (counter, next) = (self.fresh("%i"), self.fresh("%i"));
        let mut names = Vec::new();
        // What comes back is known when the body is made: a place is kept for it.
        let mark = self.body.text.len();
        for ty in &types {
            let name = self.fresh("%v");
            self.body.values.push((ty.clone(), name.clone()));
            names.push(name);
        }
        self.body
            .values
            .push((GeneratedType::Int(32), counter.clone()));
        let goes_on = self.hidden(&format!("icmp ult i32 {counter}, {rounds}"));
        self.line(&format!("br i1 {goes_on}, label %{inside}, label %{after}"));
        self.open(&inside);
        let mut early = None;
        let (last, from) = self.scope(&types, |g| {
            g.regions(depth - 1);
            if g.one_in(3) {
                let condition = g.condition();
                let rest = g.fresh("rest");
                early = Some(g.body.block.clone());
                g.line(&format!("br i1 {condition}, label %{after}, label %{rest}"));
                g.open(&rest);
                g.steps(4);
            }
        });
        self.line(&format!("br label %{step}"));
        self.open(&step);
        self.line(&format!("{next} = add i32 {counter}, 1"));
        let hint = self.hint();
        self.line(&format!("br label %{head}{hint}"));
        let _ = from;
        let mut phis = format!("  {counter} = phi i32 [ 0, %{before} ], [ {next}, %{step} ]\n");
        for (n, ty) in types.iter().enumerate() {
            phis.push_str(&format!(
                "  {} = phi {ty} [ {}, %{before} ], [ {}, %{step} ]\n",
                names[n], first[n], last[n]
            ));
        }
        self.body.text.insert_str(mark, &phis);
        self.open(&after);
        if let Some(early) = early {
            let zero = self.constant(&GeneratedType::Int(32));
            self.put(
                &GeneratedType::Int(32),
                &format!("phi i32 [ {counter}, %{head} ], [ {zero}, %{early} ]"),
            );
        }
    }

    /// What a branch back to a loop may say of it.
    pub fn hint(&mut self) -> String {
        if !self.one_in(2) {
            return String::new();
        }
        let number = self.fresh("");
        let words = [
            "unroll.enable\"",
            "unroll.disable\"",
            "unroll.count\", i32 2",
        ];
        let words = words[self.c.below(words.len())];
        self.hints.push_str(&format!(
            "!{number} = distinct !{{!{number}, !{{!\"llvm.loop.{words}}}}}\n"
        ));
        format!(", !llvm.loop !{number}")
    }

    /// A function that the kernel may call, or two of one type.
    pub fn helper(&mut self) {
        let params: Vec<GeneratedType> = (0..1 + self.c.below(3)).map(|_| self.plain()).collect();
        let pointer = self.one_in(2).then(|| self.object(1));
        let is_written = pointer.is_some() && !self.one_in(3);
        let result = match self.one_in(4) {
            true => self.structure(1),
            false => self.plain(),
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

    /// A function of a type; its name.
    fn helper_body(&mut self, function: &CallableFunction) -> String {
        let name = self.fresh("@f");
        self.body = GeneratedBody::default();
        let mut taken = Vec::new();
        for ty in &function.params {
            let param = self.fresh("%p");
            self.body.values.push((ty.clone(), param.clone()));
            taken.push(format!("{ty} {param}"));
        }
        if let Some(ty) = &function.pointer {
            let param = self.fresh("%p");
            taken.push(format!("{} {param}", pointer_type(0)));
            self.body.pointers.push(GeneratedPointer {
                space: 0,
                name: param,
                ty: ty.clone(),
                is_variable: function.is_written,
            });
        }
        self.open("entry");
        self.regions(1);
        let result = &function.result;
        let value = self.value(result);
        self.line(&format!("ret {result} {value}"));
        let GeneratedBody { text, allocas, .. } = std::mem::take(&mut self.body);
        let text = text.replacen("entry:\n", &format!("entry:\n{allocas}"), 1);
        self.functions.push_str(&format!(
            "define internal spir_func {result} {name}({}) {{\n{text}}}\n\n",
            taken.join(", ")
        ));
        name
    }

    /// A call of such a function, by its name or by a pointer to one of two.
    pub fn call_helper(&mut self) {
        if self.callable.is_empty() {
            return self.binary();
        }
        let at = self.c.below(self.callable.len());
        let function = self.callable[at].clone();
        let mut given: Vec<String> = function
            .params
            .iter()
            .map(|ty| format!("{ty} {}", self.value(ty)))
            .collect();
        if let Some(ty) = &function.pointer {
            let fits = |p: &&GeneratedPointer| {
                p.space == 0 && p.ty == *ty && (p.is_variable || !function.is_written)
            };
            let found = self.body.pointers.iter().rev().find(fits);
            let name = match found {
                Some(pointer) => pointer.name.clone(),
                None => {
                    let (name, value) = (self.fresh("%a"), self.constant(ty));
                    self.body
                        .allocas
                        .push_str(&format!("  {name} = alloca {ty}\n"));
                    self.line(&format!("store {ty} {value}, ptr {name}"));
                    name
                }
            };
            given.push(format!("ptr {name}"));
        }
        let mut name = function.name.clone();
        if let Some(other) = function.other.filter(|_| self.one_in(2)) {
            let condition = self.condition();
            name = self.hidden(&format!("select i1 {condition}, ptr {name}, ptr {other}"));
        }
        let result = &function.result;
        self.put(
            result,
            &format!("call spir_func {result} {name}({})", given.join(", ")),
        );
    }
}
