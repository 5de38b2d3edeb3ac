//! Arbitrary control flow: loops with several entries, crossing branches, switches into loops.
//!
//! Each block has the whole state as phis over all predecessors, so any graph is well-formed. A counter in the
//! state ends the execution.

use super::generator::LlvmGenerator;
use super::types::GeneratedType;

/// Most blocks that an execution passes.
const STEPS: u32 = 12;

/// A node of the graph.
struct FlowGraphNode {
    label: String,
    /// Its phis, by component of the state.
    phis: Vec<String>,
    /// Position in the text where they are inserted.
    mark: usize,
    /// Its predecessors, each with its values of the state.
    ways: Vec<(String, Vec<String>)>,
}

impl LlvmGenerator<'_, '_> {
    /// Generates a graph between the open block and a new one.
    pub fn emit_graph(&mut self) {
        let types = [
            GeneratedType::Int(32),
            self.choose_or_make_value(|t| !t.is_aggregate(), Self::choose_value_type)
                .0,
            GeneratedType::Int(32),
        ];
        let count = 2 + self.c.choose_below(5);
        let after = self.fresh_name("out");
        let mut nodes: Vec<FlowGraphNode> = (0..count)
            .map(|_| FlowGraphNode {
                label: self.fresh_name("node"),
                phis: types.iter().map(|_| self.fresh_name("%v")).collect(),
                mark: 0,
                ways: Vec::new(),
            })
            .collect();
        let mut state: Vec<String> = types.iter().map(|ty| self.choose_value(ty)).collect();
        state[0] = "0".to_owned();
        let (values, pointers) = (self.body.values.len(), self.body.pointers.len());
        self.emit_node_exit(&mut nodes, &state);
        let mut leaving = Vec::new();
        for at in 0..count {
            let label = nodes[at].label.clone();
            self.open_block(&label);
            nodes[at].mark = self.body.text.len();
            let phis = nodes[at].phis.clone();
            for (ty, name) in types.iter().zip(&phis) {
                self.body.values.push((ty.clone(), name.clone()));
            }
            let inner = self.fresh_name("inner");
            let goes_on = self.emit_hidden_value(&format!("icmp ult i32 {}, {STEPS}", phis[0]));
            self.write_line(&format!("br i1 {goes_on}, label %{inner}, label %{after}"));
            leaving.push((label, phis.clone()));
            self.open_block(&inner);
            let next = self.emit_hidden_value(&format!("add i32 {}, 1", phis[0]));
            self.emit_steps(4);
            let mut state = vec![next];
            state.extend(types[1..].iter().map(|ty| self.choose_variable(ty)));
            self.emit_node_exit(&mut nodes, &state);
            self.body.values.truncate(values);
            self.body.pointers.truncate(pointers);
        }
        self.write_phis(&types, &nodes);
        self.open_block(&after);
        for (n, ty) in types.iter().enumerate() {
            let edges: Vec<String> = leaving
                .iter()
                .map(|(from, phis)| format!("[ {}, %{from} ]", phis[n]))
                .collect();
            self.emit_value(ty, &format!("phi {ty} {}", edges.join(", ")));
        }
    }

    /// Terminates the open block with a branch to some nodes.
    fn emit_node_exit(&mut self, nodes: &mut [FlowGraphNode], state: &[String]) {
        let from = self.body.block.clone();
        let count = nodes.len();
        let mut go = |at: usize| {
            nodes[at].ways.push((from.clone(), state.to_vec()));
            format!("label %{}", nodes[at].label)
        };
        match self.c.choose_below(4) {
            0 => {
                let to = go(self.c.choose_below(count));
                let hint = self.make_loop_hint();
                self.write_line(&format!("br {to}{hint}"));
            }
            3 => {
                let cases = 1 + self.c.choose_below(3);
                let default = go(self.c.choose_below(count));
                let mut text = String::new();
                for n in 0..cases {
                    text.push_str(&format!(" i32 {n}, {}", go(self.c.choose_below(count))));
                }
                let value = self.choose_variable(&GeneratedType::Int(32));
                let value = self.emit_hidden_value(&format!("freeze i32 {value}"));
                let value = self.emit_hidden_value(&format!("and i32 {value}, 3"));
                self.write_line(&format!("switch i32 {value}, {default} [{text} ]"));
            }
            _ => {
                let (first, second) = (
                    go(self.c.choose_below(count)),
                    go(self.c.choose_below(count)),
                );
                let condition = self.make_condition();
                let hint = self.make_loop_hint();
                self.write_line(&format!("br i1 {condition}, {first}, {second}{hint}"));
            }
        }
    }

    /// Writes the phis of all nodes, the last node first, so that positions in the text stay valid.
    fn write_phis(&mut self, types: &[GeneratedType], nodes: &[FlowGraphNode]) {
        for node in nodes.iter().rev() {
            let mut text = String::new();
            for (n, ty) in types.iter().enumerate() {
                let edges: Vec<String> = node
                    .ways
                    .iter()
                    .map(|(from, state)| format!("[ {}, %{from} ]", state[n]))
                    .collect();
                let name = &node.phis[n];
                // A node without predecessors is unreachable.
                let value = if edges.is_empty() {
                    format!("freeze {ty} poison")
                } else {
                    format!("phi {ty} {}", edges.join(", "))
                };
                text.push_str(&format!("  {name} = {value}\n"));
            }
            self.body.text.insert_str(node.mark, &text);
        }
    }
}
