//! The small-step semantics, as it is written down: a state of all threads, and what can happen
//! next. Nothing is shared with the product but the trees.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use parallax_frontend_ops::syntax::{
    Comparison, Condition, Element, ElementKind, Ex, Exp, Initial, Op, OpKind, Place, Structures,
    Target,
};

/// A state in which all threads have ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Final {
    pub values: BTreeMap<String, u32>,
    pub has_failed: bool,
}

/// Elements in a row, with jumps by number.
#[derive(Clone, Debug)]
enum Flat {
    Instr(Ex),
    Assume(Condition),
    Assert(Condition),
    Jump(Condition, usize),
}

#[derive(Clone, Debug, Default)]
struct Thread {
    at: usize,
    next: usize,
    doing: Option<Ex>,
    values: BTreeMap<String, u32>,
    reserved: Option<String>,
    /// The location of the atomic pair that has begun.
    locked: Option<String>,
    has_failed: bool,
}

#[derive(Clone, Debug)]
struct State {
    threads: Vec<Thread>,
    memory: BTreeMap<String, u32>,
}

pub fn finals(structures: &Structures) -> BTreeSet<Final> {
    let code: Vec<Vec<Flat>> = structures
        .threads
        .iter()
        .map(|thread| {
            let mut list = Vec::new();
            flatten(&thread.elements, &mut list);
            list
        })
        .collect();
    let registers = structures.registers.iter();
    let registers: BTreeMap<String, u32> =
        registers.map(|register| (register.name.clone(), register.initial)).collect();
    let memory = structures.locations.iter().map(|location| match location.initial {
        Initial::Value(value) => (location.name.clone(), value),
        Initial::Arbitrary => panic!("not made for that"),
    });
    let thread = Thread { values: registers, ..Thread::default() };
    let first = State { threads: vec![thread; code.len()], memory: memory.collect() };
    let (mut open, mut seen, mut finals) = (vec![first], HashSet::new(), BTreeSet::new());
    while let Some(state) = open.pop() {
        if !seen.insert(format!("{state:?}")) {
            continue;
        }
        if state.threads.iter().zip(&code).all(|(thread, code)| is_over(thread, code)) {
            finals.insert(last(&state, &code));
        }
        for (number, code) in code.iter().enumerate() {
            open.extend(steps(&state, number, code));
        }
    }
    finals
}

fn is_over(thread: &Thread, code: &[Flat]) -> bool {
    thread.doing.is_none() && thread.at >= code.len()
}

fn last(state: &State, code: &[Vec<Flat>]) -> Final {
    let mut values = state.memory.clone();
    for (number, thread) in state.threads.iter().enumerate() {
        for name in ["a", "b", "c", "n", "r1", "r2"] {
            let value = thread.values.get(name).copied().unwrap_or(0);
            values.insert(format!("{number}:{name}"), value);
        }
    }
    debug_assert_eq!(state.threads.len(), code.len());
    Final { values, has_failed: state.threads.iter().any(|thread| thread.has_failed) }
}

fn flatten(elements: &[Element], list: &mut Vec<Flat>) {
    for element in elements {
        match &element.kind {
            ElementKind::Instr(ex) => list.push(Flat::Instr(ex.clone())),
            ElementKind::Label(_) => panic!("not made for that"),
            ElementKind::Assume(condition) => list.push(Flat::Assume(condition.clone())),
            ElementKind::Assert(condition) => list.push(Flat::Assert(condition.clone())),
            ElementKind::IfBranch(condition, body) => {
                let place = list.len();
                list.push(Flat::Jump(Condition::True, 0));
                flatten(body, list);
                let around = Condition::Not(Box::new(condition.clone()));
                list[place] = Flat::Jump(around, list.len());
            }
            ElementKind::DoWhile { body, condition, .. } => {
                let head = list.len();
                flatten(body, list);
                list.push(Flat::Jump(condition.clone(), head));
            }
        }
    }
}

/// All states that one step of a thread leads to.
fn steps(state: &State, number: usize, code: &[Flat]) -> Vec<State> {
    let thread = &state.threads[number];
    let Some(ex) = &thread.doing else {
        return element(state, number, code).into_iter().collect();
    };
    let mut next = Vec::new();
    if *ex == Ex::Nil {
        let mut after = state.clone();
        let thread = &mut after.threads[number];
        (thread.doing, thread.locked, thread.at) = (None, None, thread.next);
        return vec![after];
    }
    for (rest, mut after) in reduce(ex, state, number) {
        after.threads[number].doing = Some(rest);
        next.push(after);
    }
    next
}

fn element(state: &State, number: usize, code: &[Flat]) -> Option<State> {
    let mut after = state.clone();
    let thread = &mut after.threads[number];
    let holds = |thread: &Thread, condition: &Condition| truth(condition, &thread.values);
    match code.get(thread.at)? {
        Flat::Instr(ex) => {
            thread.doing = Some(ex.clone());
            thread.next = thread.at + 1;
            return Some(after);
        }
        Flat::Assume(condition) if !holds(thread, condition) => return None,
        Flat::Assume(_) => {}
        Flat::Assert(condition) => thread.has_failed |= !holds(thread, condition),
        Flat::Jump(condition, target) if holds(thread, condition) => {
            thread.at = *target;
            return Some(after);
        }
        Flat::Jump(..) => {}
    }
    thread.at += 1;
    Some(after)
}

/// One step inside of an instruction.
fn reduce(ex: &Ex, state: &State, number: usize) -> Vec<(Ex, State)> {
    match ex {
        Ex::Nil => Vec::new(),
        Ex::Op(op) => operation(op, false, state, number),
        Ex::Atom(op) => operation(op, true, state, number),
        Ex::If(condition, body, _) => {
            let is_taken = truth(condition, &state.threads[number].values);
            let rest = if is_taken { (**body).clone() } else { Ex::Nil };
            vec![(rest, state.clone())]
        }
        Ex::Seq(parts) => match parts.split_first() {
            None => vec![(Ex::Nil, state.clone())],
            Some((Ex::Nil, rest)) => vec![(Ex::Seq(rest.to_vec()), state.clone())],
            Some((first, rest)) => {
                let steps = reduce(first, state, number).into_iter();
                let whole = |first| Ex::Seq([vec![first], rest.to_vec()].concat());
                steps.map(|(first, after)| (whole(first), after)).collect()
            }
        },
        Ex::Par(parts) if parts.iter().all(|part| *part == Ex::Nil) => {
            vec![(Ex::Nil, state.clone())]
        }
        Ex::Par(parts) => {
            let mut all = Vec::new();
            for (place, part) in parts.iter().enumerate() {
                for (rest, after) in reduce(part, state, number) {
                    let mut parts = parts.clone();
                    parts[place] = rest;
                    all.push((Ex::Par(parts), after));
                }
            }
            all
        }
    }
}

fn name(target: &Target) -> &str {
    match target {
        Target::Named(name) => name,
        Target::Computed(_) => panic!("not made for that"),
    }
}

fn operation(op: &Op, is_atomic: bool, state: &State, number: usize) -> Vec<(Ex, State)> {
    let mut after = state.clone();
    let values = &state.threads[number].values;
    let is_locked = |location: &str| {
        let others = state.threads.iter().enumerate().filter(|(other, _)| *other != number);
        others.into_iter().any(|(_, thread)| thread.locked.as_deref() == Some(location))
    };
    let set = |state: &mut State, name: &str, value| {
        state.threads[number].values.insert(name.to_string(), value);
    };
    match &op.kind {
        OpKind::Read { dst, src: Place::Register(src) } => {
            set(&mut after, dst, values.get(src).copied().unwrap_or(0));
        }
        OpKind::Read { dst, src: Place::Memory(target) } => {
            if is_atomic && is_locked(name(target)) {
                return Vec::new();
            }
            set(&mut after, dst, state.memory[name(target)]);
            if is_atomic {
                after.threads[number].locked = Some(name(target).to_string());
            }
        }
        OpKind::Write { dst: Place::Register(dst), value } | OpKind::Compute { dst, value } => {
            set(&mut after, dst, number_of(value, values));
        }
        OpKind::Write { dst: Place::Memory(target), value } => {
            if is_locked(name(target)) {
                return Vec::new();
            }
            store(&mut after, number, name(target), number_of(value, values));
        }
        OpKind::Fence(_) => {}
        OpKind::Anything { .. } | OpKind::Branch { .. } => panic!("not made for that"),
        OpKind::LoadLinked { dst, location } => {
            set(&mut after, dst, state.memory[name(location)]);
            after.threads[number].reserved = Some(name(location).to_string());
        }
        OpKind::StoreConditional { flag, location, value } => {
            let reserved = after.threads[number].reserved.take();
            let mut done = after.clone();
            set(&mut after, flag, 1);
            if reserved.as_deref() == Some(name(location)) && !is_locked(name(location)) {
                store(&mut done, number, name(location), number_of(value, values));
                set(&mut done, flag, 0);
                return vec![(Ex::Nil, after), (Ex::Nil, done)];
            }
        }
    }
    vec![(Ex::Nil, after)]
}

fn store(state: &mut State, number: usize, location: &str, value: u32) {
    state.memory.insert(location.to_string(), value);
    for (other, thread) in state.threads.iter_mut().enumerate() {
        if other != number && thread.reserved.as_deref() == Some(location) {
            thread.reserved = None;
        }
    }
}

fn number_of(exp: &Exp, values: &BTreeMap<String, u32>) -> u32 {
    match exp {
        Exp::Number(number) => *number,
        Exp::Temporary(name) => values.get(name).copied().unwrap_or(0),
        Exp::Location(_) => panic!("not made for that"),
        Exp::Add(left, right) => number_of(left, values).wrapping_add(number_of(right, values)),
        Exp::Sub(left, right) => number_of(left, values).wrapping_sub(number_of(right, values)),
        Exp::Choice(condition, then, otherwise) => match truth(condition, values) {
            true => number_of(then, values),
            false => number_of(otherwise, values),
        },
    }
}

fn truth(condition: &Condition, values: &BTreeMap<String, u32>) -> bool {
    match condition {
        Condition::True => true,
        Condition::False => false,
        Condition::Compare(comparison, left, right) => {
            let (left, right) = (number_of(left, values), number_of(right, values));
            match comparison {
                Comparison::Equal => left == right,
                Comparison::Unequal => left != right,
                Comparison::Less => left < right,
                Comparison::Greater => left > right,
                Comparison::AtMost => left <= right,
                Comparison::AtLeast => left >= right,
            }
        }
        Condition::And(left, right) => truth(left, values) && truth(right, values),
        Condition::Or(left, right) => truth(left, values) || truth(right, values),
        Condition::Not(inner) => !truth(inner, values),
    }
}
