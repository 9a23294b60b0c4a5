//! What is printed reads back as the same.

use crate::common;

use common::{
    TEMPORARIES, condition, element, exp, instr, move_operation, op, structures, target, text,
};
use parallax_frontend_ops::isa::Fence;
use parallax_frontend_ops::parse;
use parallax_frontend_ops::syntax::{
    Condition, Element, ElementKind, Ex, Exp, Mark, Op, OpKind, Place, Target,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Any operation but a branch.
fn any_operation() -> impl Strategy<Value = Op> {
    let fences: Vec<Fence> = Fence::names(None).filter_map(Fence::named).collect();
    prop_oneof![
        6 => move_operation(),
        1 => select(fences).prop_map(|fence| op(OpKind::Fence(fence))),
        1 => (text(&TEMPORARIES), target())
            .prop_map(|(dst, location)| op(OpKind::LoadLinked { dst, location })),
        1 => (text(&TEMPORARIES), target(), exp(false)).prop_map(|(flag, location, value)| {
            op(OpKind::StoreConditional { flag, location, value })
        }),
    ]
}

fn several(mut parts: Vec<Ex>, make: fn(Vec<Ex>) -> Ex) -> Ex {
    match parts.len() {
        0 => Ex::Nil,
        1 => parts.remove(0),
        _ => make(parts),
    }
}

/// Sequences are not directly inside of sequences, nor is anything in any order inside of the
/// same; what nobody can distinguish is one thing.
fn flat(ex: Ex) -> Ex {
    let all = |parts: Vec<Ex>, make: fn(Vec<Ex>) -> Ex| {
        let mut list = Vec::new();
        let is_seq = matches!(make(Vec::new()), Ex::Seq(_));
        for part in parts {
            match flat(part) {
                Ex::Nil => {}
                Ex::Seq(inner) if is_seq => list.extend(inner),
                Ex::Par(inner) if !is_seq => list.extend(inner),
                other => list.push(other),
            }
        }
        several(list, make)
    };
    match ex {
        Ex::Seq(parts) => all(parts, Ex::Seq),
        Ex::Par(parts) => all(parts, Ex::Par),
        Ex::If(condition, body, mark) => Ex::If(condition, Box::new(flat(*body)), mark),
        other => other,
    }
}

fn ex() -> impl Strategy<Value = Ex> {
    let leaf = prop_oneof![4 => any_operation().prop_map(Ex::Op), 1 => Just(Ex::Nil)];
    let tree = leaf.prop_recursive(3, 10, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            list.clone().prop_map(Ex::Seq),
            list.prop_map(Ex::Par),
            (condition(false), inner).prop_map(|(test, body)| Ex::If(
                test,
                Box::new(body),
                Mark::default()
            )),
        ]
    });
    tree.prop_map(flat)
}

/// Gives every temporary a value, so that using it is no error.
fn first() -> Element {
    let set = |name: &str| {
        let value = Exp::Number(0);
        Ex::Op(op(OpKind::Compute { dst: name.to_string(), value }))
    };
    instr(Ex::Seq(["a", "b", "c"].map(set).to_vec()))
}

fn elements(is_structured: bool) -> BoxedStrategy<Vec<Element>> {
    let leaf = prop_oneof![
        3 => ex().prop_map(instr),
        1 => condition(false).prop_map(|test| element(ElementKind::Assume(test))),
        1 => condition(false).prop_map(|test| element(ElementKind::Assert(test))),
    ];
    let list = |inner: BoxedStrategy<Element>| prop::collection::vec(inner, 0..4);
    if !is_structured {
        return list(leaf.boxed()).boxed();
    }
    let tree = leaf.prop_recursive(2, 8, 3, move |inner| {
        let body = list(inner.boxed());
        let invariant = prop::option::of(condition(true));
        prop_oneof![
            (condition(false), body.clone())
                .prop_map(|(test, body)| element(ElementKind::IfBranch(test, body))),
            (body, invariant, condition(false)).prop_map(|(body, invariant, condition)| {
                element(ElementKind::DoWhile { body, invariant, condition })
            }),
        ]
    });
    list(tree.boxed()).boxed()
}

fn with_labels(mut list: Vec<Element>, test: Condition) -> Vec<Element> {
    let branch = op(OpKind::Branch { condition: test, label: "L".to_string() });
    list.insert(0, element(ElementKind::Label("L".to_string())));
    list.push(instr(Ex::Op(branch)));
    list
}

proptest! {
    #[test]
    fn structures_read_back_as_they_were(
        plain in elements(false),
        test in condition(false),
        structured in elements(true),
    ) {
        let mut threads = vec![with_labels(plain, test), structured];
        threads.iter_mut().for_each(|list| list.insert(0, first()));
        let structures = structures(threads);
        let text = structures.to_string();
        match parse("again.ops", &text) {
            Ok(again) => prop_assert_eq!(again, structures, "{}", text),
            Err(errors) => {
                // Parts in any order may meet; everything else is as it should be.
                let meets = |message: &str| message.contains("both sides of '||'");
                for error in errors {
                    prop_assert!(meets(&error.message), "{}\n{}", error, text);
                }
            }
        }
    }

    #[test]
    fn any_text_reads_or_is_an_error_with_a_place(text in "\\PC{0,80}") {
        let whole = format!("loc [x]; thread P {{ {text} }}");
        for text in [&text, &whole] {
            if let Err(errors) = parse("t.ops", text) {
                prop_assert!(!errors.is_empty());
                prop_assert!(errors.iter().all(|error| error.location.is_some()));
            }
        }
    }

    #[test]
    fn expressions_keep_their_shape(value in exp(false)) {
        let place = Place::Memory(Target::Named("x".to_string()));
        let store = Ex::Op(op(OpKind::Write { dst: place, value }));
        let structures = structures(vec![vec![first(), instr(store)]]);
        let again = parse("again.ops", &structures.to_string());
        prop_assert_eq!(again.ok(), Some(structures));
    }
}
