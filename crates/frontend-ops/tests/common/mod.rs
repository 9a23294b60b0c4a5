//! Random operation structures, as trees.

use parallax_frontend_ops::syntax::{
    Comparison, Condition, Element, ElementKind, Ex, Exp, Initial, Location, Mark, Op, OpKind,
    Place, Register, Structures, Target, Thread,
};
use parallax_program::SourceFile;
use proptest::prelude::*;
use proptest::sample::select;

const LOCATIONS: [&str; 2] = ["x", "y"];
const REGISTERS: [&str; 2] = ["r1", "r2"];
pub const TEMPORARIES: [&str; 3] = ["a", "b", "c"];

pub fn text(names: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
    select(names).prop_map(str::to_string)
}

pub fn exp(with_locations: bool) -> BoxedStrategy<Exp> {
    let leaf = prop_oneof![
        (0u32..3).prop_map(Exp::Number),
        text(&TEMPORARIES).prop_map(Exp::Temporary),
        text(match with_locations {
            true => &LOCATIONS,
            false => &TEMPORARIES,
        })
        .prop_map(move |name| match with_locations {
            true => Exp::Location(name),
            false => Exp::Temporary(name),
        }),
    ];
    let deeper = |inner: BoxedStrategy<Exp>| {
        let two = (inner.clone(), inner.clone());
        let boxed = |(left, right)| (Box::new(left), Box::new(right));
        let test = (select(Comparison::ALL.as_slice()), inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(boxed).prop_map(|(left, right)| Exp::Add(left, right)),
            two.clone().prop_map(boxed).prop_map(|(left, right)| Exp::Sub(left, right)),
            (test, two).prop_map(move |((op, one, other), arms)| {
                let (then, otherwise) = boxed(arms);
                Exp::Choice(Box::new(Condition::Compare(op.0, one, other)), then, otherwise)
            }),
        ]
        .boxed()
    };
    leaf.prop_recursive(2, 8, 2, move |inner| deeper(inner.boxed())).boxed()
}

pub fn condition(with_locations: bool) -> BoxedStrategy<Condition> {
    let part = exp(with_locations);
    let test = (select(Comparison::ALL.as_slice()), part.clone(), part);
    let leaf = prop_oneof![
        6 => test.prop_map(|(op, left, right)| Condition::Compare(op.0, left, right)),
        1 => Just(Condition::True),
        1 => Just(Condition::False),
    ];
    let deeper = |inner: BoxedStrategy<Condition>| {
        let two = (inner.clone(), inner.clone());
        let two = two.prop_map(|(left, right)| (Box::new(left), Box::new(right)));
        prop_oneof![
            two.clone().prop_map(|(left, right)| Condition::And(left, right)),
            two.prop_map(|(left, right)| Condition::Or(left, right)),
            inner.prop_map(|inner| Condition::Not(Box::new(inner))),
        ]
        .boxed()
    };
    leaf.prop_recursive(2, 6, 2, move |inner| deeper(inner.boxed())).boxed()
}

pub fn op(kind: OpKind) -> Op {
    Op { kind, mark: Mark::default() }
}

pub fn target() -> impl Strategy<Value = Target> + Clone {
    text(&LOCATIONS).prop_map(Target::Named)
}

/// An operation that moves values, on memory or not.
pub fn move_operation() -> impl Strategy<Value = Op> + Clone {
    let read = |place: BoxedStrategy<Place>| {
        (text(&TEMPORARIES), place).prop_map(|(dst, src)| OpKind::Read { dst, src })
    };
    let write = |place: BoxedStrategy<Place>| {
        (place, exp(false)).prop_map(|(dst, value)| OpKind::Write { dst, value })
    };
    let register = || text(&REGISTERS).prop_map(Place::Register).boxed();
    let memory = || target().prop_map(Place::Memory).boxed();
    let compute = (text(&TEMPORARIES), exp(false))
        .prop_map(|(dst, value)| OpKind::Compute { dst, value })
        .boxed();
    prop_oneof![
        3 => read(memory()).boxed(),
        3 => write(memory()).boxed(),
        1 => read(register()).boxed(),
        1 => write(register()).boxed(),
        1 => compute,
    ]
    .prop_map(op)
}

/// A program of these threads.
pub fn structures(threads: Vec<Vec<Element>>) -> Structures {
    let mark = Mark::default();
    let location = |name: &str| Location { name: name.into(), initial: Initial::Value(0), mark };
    let register = |name: &str| Register { name: name.into(), initial: 1, mark };
    let thread = |(number, elements)| Thread { name: format!("P{number}"), elements, mark };
    Structures {
        isa: None,
        locations: LOCATIONS.map(location).to_vec(),
        registers: REGISTERS.map(register).to_vec(),
        threads: threads.into_iter().enumerate().map(thread).collect(),
        source: SourceFile::new("random.ops", ""),
    }
}

pub fn element(kind: ElementKind) -> Element {
    Element { kind, mark: Mark::default() }
}

pub fn instr(ex: Ex) -> Element {
    element(ElementKind::Instr(ex))
}
