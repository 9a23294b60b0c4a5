//! A complete graph as text.

use std::fmt::Write;

use parallax_machine::system::{Entry, MemoryKind};
use parallax_program::{AllocKind, Bits, FunctionId, Property};
use parallax_solver::{Node as Operator, Term};
use rustc_hash::{FxHashMap, FxHashSet};

use super::executions as graphs;
use super::terms::{binary_name, unary_name};
use super::{VERSION, fingerprint};
use crate::block::{Blocks, Decision};
use crate::control::{At, Control, Stores, process};
use crate::graph::{Graph, NodeId};
use crate::places::{FORGOTTEN, FORGOTTEN_OPEN, Place, PlaceId};
use crate::state::Precision;
use crate::text::place as name_of;

/// The proof that a complete graph is.
pub fn text(
    blocks: &Blocks<'_>,
    graph: &Graph,
    precision: &Precision,
    (model, properties): (&str, &[Property]),
) -> String {
    let mut writer = Writer { blocks, text: String::new(), names: FxHashMap::default() };
    writer.header(model, properties);
    writer.places(graph, precision);
    writer.predicates(precision);
    let nodes = || (0..graph.len() as u32).map(NodeId);
    for id in nodes().filter(|id| graph.node(*id).parent.is_none()) {
        writer.line(&format!("root {}", id.0));
    }
    for id in nodes() {
        writer.node(graph, id);
    }
    writer.edges(graph);
    writer.line("end");
    writer.text
}

/// A step: the node, the thread and its decisions.
type Key = (u32, u32, Vec<Decision>);

struct Writer<'w, 'p> {
    blocks: &'w Blocks<'p>,
    text: String,
    names: FxHashMap<Term, String>,
}

impl Writer<'_, '_> {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn header(&mut self, model: &str, properties: &[Property]) {
        let program = self.blocks.code.program;
        self.line(&format!("parallax-proof {VERSION}"));
        self.line(&format!("program {:#018x}", fingerprint(program)));
        let graphs = if self.blocks.graphs.is_some() { " graphs" } else { "" };
        self.line(&format!("model {model}{graphs}"));
        let names: Vec<&str> = properties.iter().map(|property| property.name()).collect();
        self.line(&format!("properties {}", names.join(" ")));
        match self.blocks.nondet {
            None => self.line("inputs any"),
            Some((low, high)) => self.line(&format!("inputs {low} {high}")),
        }
        if self.blocks.memory != MemoryKind::Sc {
            self.line(&format!("buffers {}", self.blocks.most_stores));
        }
        for (parent, place, number) in self.blocks.all_children() {
            self.line(&format!("child {number} {parent} {place}"));
        }
        let mut shared: Vec<u64> = self.blocks.shared.iter().copied().collect();
        shared.sort_unstable();
        for context in shared {
            self.line(&format!("shared {context:#x}"));
        }
        if let Some(memory) = &self.blocks.graphs {
            self.text += &graphs::uses(memory);
        }
    }

    /// Names for all places that somebody speaks of.
    fn places(&mut self, graph: &Graph, precision: &Precision) {
        for (address, bytes) in self.blocks.places.all_pieces() {
            self.line(&format!("piece {address:#x} {bytes}"));
        }
        let mut used: FxHashSet<PlaceId> = FxHashSet::default();
        used.extend(precision.predicates.iter().flat_map(|it| it.places.iter().copied()));
        for id in (0..graph.len() as u32).map(NodeId) {
            used.extend(graph.node(id).state.values.keys().copied());
        }
        let mut used: Vec<PlaceId> = used.into_iter().collect();
        used.sort_unstable();
        let mut taken: FxHashSet<String> = FxHashSet::default();
        for id in used {
            let mut name = name_of(self.blocks, id);
            let is_odd = |c: char| c.is_whitespace() || c.is_control() || "();".contains(c);
            let is_first = |c: char| c.is_ascii_digit() || "$#".contains(c);
            if name.contains(is_odd) || name.starts_with(is_first) || taken.contains(&name) {
                name = format!("$place{}", id.0);
            }
            taken.insert(name.clone());
            let what = match self.blocks.places.place(id) {
                Place::Memory { address, bytes } => format!("memory {address:#x} {bytes}"),
                Place::Written { thread, address, before, .. } => {
                    let which = match before {
                        FORGOTTEN => "forgotten".to_string(),
                        FORGOTTEN_OPEN => "open".to_string(),
                        before => before.to_string(),
                    };
                    format!("written {thread} {address:#x} {which}")
                }
                Place::Local { thread, depth, function, var } => {
                    let function = self.function(function);
                    format!("local {thread} {depth} {function} {var}")
                }
                Place::Stored { thread, address, bytes, nth } => {
                    format!("stored {thread} {address:#x} {bytes} {nth}")
                }
            };
            self.line(&format!("place {name} {what}"));
            self.names.insert(self.blocks.places.term(id), name);
        }
    }

    /// A function by its name, or by its number where that says nothing.
    fn function(&self, id: FunctionId) -> String {
        let program = self.blocks.code.program;
        let name = &program.function(id).name;
        let is_odd = |c: char| c.is_whitespace() || c.is_control() || "():;@".contains(c);
        let same = program.functions.iter().filter(|it| it.name == *name).count();
        if name.is_empty() || name.contains(is_odd) || same > 1 {
            return format!("@{}", id.0);
        }
        name.clone()
    }

    fn predicates(&mut self, precision: &Precision) {
        let terms = &self.blocks.values.terms;
        let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
        let mut open: Vec<Term> = precision.predicates.iter().map(|it| it.term).collect();
        while let Some(term) = open.pop() {
            let count = uses.entry(term).or_default();
            *count += 1;
            if *count == 1 {
                terms.operands(&terms.node(term), |operand| open.push(operand));
            }
        }
        let mut all: Vec<Term> = uses.keys().copied().collect();
        // Operands come first.
        all.sort_unstable();
        for term in all {
            if self.names.contains_key(&term) {
                continue;
            }
            let mut text = self.term(term);
            let is_long = text.len() > 300 || uses[&term] > 1 && text.len() > 24;
            if is_long && !matches!(terms.node(term), Operator::Constant(_)) {
                let name = format!("$t{}", term.index());
                self.line(&format!("let {name} {text}"));
                text = name;
            }
            self.names.insert(term, text);
        }
        for (number, predicate) in precision.predicates.iter().enumerate() {
            let text = self.names.get(&predicate.term).cloned().unwrap_or_default();
            self.line(&format!("predicate {number} {text}"));
        }
    }

    /// A term whose operands have texts.
    fn term(&self, term: Term) -> String {
        let of = |term: Term| self.names.get(&term).map_or("?", |name| name);
        match self.blocks.values.terms.node(term) {
            Operator::Constant(bits) => constant(bits),
            // Inputs are in no predicate.
            Operator::Variable { number, .. } => format!("$input{number}"),
            Operator::Unary(op, value) => format!("({} {})", unary_name(op), of(value)),
            Operator::Binary(op, left, right) => {
                format!("({} {} {})", binary_name(op), of(left), of(right))
            }
            Operator::Extract { value, low, width } => {
                format!("(extract {low} {width} {})", of(value))
            }
            Operator::Concat { high, low } => format!("(concat {} {})", of(high), of(low)),
            Operator::ZeroExtend { value, width } => format!("(zero-extend {width} {})", of(value)),
            Operator::SignExtend { value, width } => format!("(sign-extend {width} {})", of(value)),
            Operator::Select { condition, then, otherwise } => {
                format!("(ite {} {} {})", of(condition), of(then), of(otherwise))
            }
        }
    }

    fn node(&mut self, graph: &Graph, id: NodeId) {
        let node = graph.node(id);
        self.line(&format!("node {}", id.0));
        self.control(&node.control);
        for (place, bits) in node.state.values.iter() {
            let name = self.names.get(&self.blocks.places.term(*place)).cloned();
            self.line(&format!(" value {} {}", name.unwrap_or_default(), constant(*bits)));
        }
        for (number, holds) in node.state.literals.iter() {
            let word = if *holds { "holds" } else { "fails" };
            self.line(&format!(" {word} {number}"));
        }
        match node.covered_by {
            Some(other) => self.line(&format!(" covered {}", other.0)),
            None => {
                let threads: String = node.expanded.iter().fold(String::new(), |mut all, it| {
                    let _ = write!(all, " {}", process_name(*it));
                    all
                });
                self.line(&format!(" expands{threads}"));
            }
        }
    }

    fn control(&mut self, control: &Control) {
        for (number, local) in control.threads.iter().enumerate() {
            let Some(local) = local else { continue };
            let at = match local.at {
                At::Block => "block",
                At::Operation => "operation",
                At::Pending => "pending",
                At::Ended => "ended",
            };
            let mut line = format!(" thread {number} {at} children {}", local.children);
            for lock in &local.held {
                let _ = write!(line, " held {lock:#x}");
            }
            self.stores(&local.stores, &mut line);
            for site in &local.stack {
                let function = self.function(site.function);
                let _ = write!(line, " at {function}:{}:{}", site.block.0, site.index);
            }
            if let Some(place) = self.blocks.location(control, number as u32) {
                let _ = write!(line, " ; line {}", place.line);
            }
            self.line(&line);
        }
        if let Some(owner) = control.section {
            self.line(&format!(" section {owner}"));
        }
        if let Some(execution) = &control.execution {
            self.text += &graphs::execution(execution);
        }
        for object in control.objects.iter() {
            let kind = match object.kind {
                AllocKind::Heap => "heap",
                AllocKind::Stack => "stack",
            };
            let mut line = format!(
                " object {:#x} {} {kind} {} {:#x}",
                object.address, object.size, object.owner, object.context
            );
            for (is_so, word) in [
                (object.zeroed, " zeroed"),
                (object.is_private, " private"),
                (object.is_freed, " freed"),
            ] {
                line += if is_so { word } else { "" };
            }
            self.line(&line);
        }
    }

    fn stores(&self, stores: &Stores, line: &mut String) {
        for (address, bytes) in &stores.blurred {
            let _ = write!(line, " blurred {address:#x} {bytes}");
        }
        for entry in stores.buffer.entries() {
            let _ = match entry {
                Entry::Store { address, bytes, is_release, .. } => {
                    let release = if *is_release { " release" } else { "" };
                    write!(line, " store {address:#x} {bytes}{release}")
                }
                Entry::Barrier => write!(line, " barrier"),
                Entry::Spawn { child, function, .. } => {
                    write!(line, " start {child} {}", self.function(*function))
                }
            };
        }
    }

    fn edges(&mut self, graph: &Graph) {
        let mut known: FxHashMap<Key, usize> = FxHashMap::default();
        let mut all: Vec<(Key, String, Vec<u32>)> = Vec::new();
        for id in (0..graph.len() as u32).map(NodeId) {
            let Some((from, edge)) = &graph.node(id).parent else { continue };
            let key = (from.0, edge.thread, edge.trail.clone());
            let at = *known.entry(key.clone()).or_insert_with(|| {
                let before = graph.node(*from).control.execution.as_deref();
                let leaving = before.zip(edge.growth.as_deref());
                let leaving = leaving.map_or(String::new(), |(it, by)| graphs::leaving(it, by));
                all.push((key, leaving, Vec::new()));
                all.len() - 1
            });
            all[at].2.push(id.0);
        }
        all.sort_by_key(|((from, thread, _), ..)| (*from, *thread));
        for ((from, thread, trail), leaving, to) in all {
            let mut line = format!("edge {from} {}", process_name(thread));
            for decision in trail {
                let _ = match decision {
                    Decision::Side(side) => write!(line, " side {side}"),
                    Decision::Number(number) => write!(line, " number {number:#x}"),
                    Decision::Inside(start) => write!(line, " inside {start:#x}"),
                    Decision::Outside(start) => write!(line, " outside {start:#x}"),
                    Decision::Keeps(keeps) => write!(line, " keeps {}", u8::from(keeps)),
                    Decision::Stops(stops) => write!(line, " stops {}", u8::from(stops)),
                    Decision::Flush(index) => write!(line, " flush {index}"),
                    Decision::Again(address) => write!(line, " again {address:#x}"),
                    Decision::Drained => write!(line, " drained"),
                };
            }
            line += &leaving;
            for node in to {
                let _ = write!(line, " to {node}");
            }
            self.line(&line);
        }
    }
}

/// A thread by its number, or the buffer of one.
fn process_name(number: u32) -> String {
    match process::is_buffer(number) {
        true => format!("buffer {}", process::thread(number)),
        false => number.to_string(),
    }
}

fn constant(bits: Bits) -> String {
    let width = bits.width();
    match width.is_multiple_of(4) {
        true => format!("#x{:0digits$x}", bits.unsigned(), digits = width as usize / 4),
        false => format!("#b{:0digits$b}", bits.unsigned(), digits = width as usize),
    }
}
