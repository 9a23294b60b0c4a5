//! Conditions as terms over functions, for an SMT solver: each relation is a function of two events, and the
//! order of writes is the time at which each of them takes effect.

use std::fmt::Write;

use parallax_control::Control as Limits;
use parallax_memory::NodeId;
use parallax_solver::{Answer, script};
use rustc_hash::FxHashMap;

use super::conditions::{Logic, Pairs};

pub struct Functions<'m> {
    limits: Limits<'m>,
    script: String,
    terms: Vec<String>,
    numbers: FxHashMap<String, u32>,
    /// How often a function was defined at a pair. Recursive definitions have one for each round.
    defined: FxHashMap<(NodeId, usize, usize), u32>,
    declared: FxHashMap<(NodeId, u32), ()>,
    orders: u32,
    /// The writes that are ordered, and when each of them takes effect.
    writes: Vec<usize>,
    times: FxHashMap<usize, i64>,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Truth {
    Known(bool),
    Term(u32),
}

impl<'m> Functions<'m> {
    pub fn new(limits: Limits<'m>) -> Functions<'m> {
        Functions {
            limits,
            script: "(declare-fun time (Int) Int)\n".to_string(),
            terms: Vec::new(),
            numbers: FxHashMap::default(),
            defined: FxHashMap::default(),
            declared: FxHashMap::default(),
            orders: 0,
            writes: Vec::new(),
            times: FxHashMap::default(),
        }
    }

    fn term(&mut self, text: String) -> Truth {
        if let Some(number) = self.numbers.get(&text) {
            return Truth::Term(*number);
        }
        let number = self.terms.len() as u32;
        self.terms.push(text.clone());
        self.numbers.insert(text, number);
        Truth::Term(number)
    }

    /// Terms that are joined, unless one of them decides.
    fn join(&mut self, of: &[Truth], word: &str, decides: bool) -> Truth {
        if of.contains(&Truth::Known(decides)) {
            return Truth::Known(decides);
        }
        let mut open: Vec<u32> = Vec::new();
        for truth in of {
            if let Truth::Term(number) = truth
                && !open.contains(number)
            {
                open.push(*number);
            }
        }
        match open[..] {
            [] => Truth::Known(!decides),
            [only] => Truth::Term(only),
            _ => {
                let parts: Vec<&str> =
                    open.iter().map(|number| self.terms[*number as usize].as_str()).collect();
                let text = format!("({word} {})", parts.join(" "));
                self.term(text)
            }
        }
    }

    fn text(&self, truth: Truth) -> &str {
        match truth {
            Truth::Known(true) => "true",
            Truth::Known(false) => "false",
            Truth::Term(number) => &self.terms[number as usize],
        }
    }

    fn assert(&mut self, text: &str) {
        self.script.push_str("(assert ");
        self.script.push_str(text);
        self.script.push_str(")\n");
    }
}

impl Logic for Functions<'_> {
    type Truth = Truth;

    fn constant(is_true: bool) -> Truth {
        Truth::Known(is_true)
    }

    fn all(&mut self, of: &[Truth]) -> Truth {
        self.join(of, "and", false)
    }

    fn any(&mut self, of: &[Truth]) -> Truth {
        self.join(of, "or", true)
    }

    fn opposite(&mut self, of: Truth) -> Truth {
        match of {
            Truth::Known(is_true) => Truth::Known(!is_true),
            Truth::Term(_) => {
                let text = format!("(not {})", self.text(of));
                self.term(text)
            }
        }
    }

    fn pair(&mut self, relation: NodeId, (from, to): (usize, usize), when: Truth) -> Truth {
        let times = self.defined.entry((relation, from, to)).or_default();
        let (number, round) = (relation.0, *times);
        *times += 1;
        if self.declared.insert((relation, round), ()).is_none() {
            let _ = writeln!(self.script, "(declare-fun r{number}-{round} (Int Int) Bool)");
        }
        let name = format!("(r{number}-{round} {from} {to})");
        let definition = format!("(= {name} {})", self.text(when));
        self.assert(&definition);
        self.term(name)
    }

    fn total_order(&mut self, writes: &[usize]) -> Pairs<Truth> {
        self.writes.extend(writes);
        for write in writes {
            let _ = writeln!(self.script, "(declare-const t{write} Int)");
            self.assert(&format!("(= t{write} (time {write}))"));
        }
        let mut pairs = Pairs::new();
        for write in writes {
            for other in writes.iter().filter(|other| *other != write) {
                let when = self.term(format!("(< (time {write}) (time {other}))"));
                pairs.insert((*write, *other), when);
                self.assert(&format!("(not (= (time {write}) (time {other})))"));
            }
        }
        pairs
    }

    fn require(&mut self, condition: Truth) {
        let text = self.text(condition).to_string();
        self.assert(&text);
    }

    fn acyclic(&mut self, _: usize, edges: &Pairs<Truth>) {
        let order = self.orders;
        self.orders += 1;
        let _ = writeln!(self.script, "(declare-fun place{order} (Int) Int)");
        for ((from, to), when) in edges {
            let edge =
                format!("(=> {} (< (place{order} {from}) (place{order} {to})))", self.text(*when));
            self.assert(&edge);
        }
    }

    fn solve(&mut self) -> Option<bool> {
        let names: Vec<String> = self.writes.iter().map(|write| format!("t{write}")).collect();
        let (answer, numbers) = script::ask(&self.script, &names, &self.limits);
        let known = self.writes.iter().zip(numbers);
        self.times = known.filter_map(|(write, time)| Some((*write, time?))).collect();
        match answer {
            Answer::Satisfiable => Some(true),
            Answer::Unsatisfiable => Some(false),
            Answer::Stopped(_) => None,
        }
    }

    fn is_first(&self, write: usize, other: usize) -> bool {
        self.times.get(&write) < self.times.get(&other)
    }
}
