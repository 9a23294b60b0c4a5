//! Whatever is generated is a program: it compiles, it is the same for the same seed, and all that
//! features promise occurs.

use parallax_hunt::ast::{
    Access, Expr, Field, Global, LOCALS, Order, Place, Program, Shape, Stmt, Type,
};
use parallax_hunt::features::Feature;
use parallax_hunt::figures::Figures;
use parallax_hunt::generate::generate;
use parallax_hunt::random::Random;
use parallax_hunt::{print_c, print_litmus};

#[test]
fn every_feature_is_generated() {
    let mut coverage = Figures::default();
    for number in 0..3000 {
        coverage.add_program(&generate(&mut Random::of(7, number), &[]));
    }
    let missing: Vec<&str> =
        coverage.features().filter(|(_, count)| *count == 0).map(|(f, _)| f.name()).collect();
    assert!(missing.is_empty(), "nobody generates {missing:?}");
}

#[test]
fn a_focus_is_met() {
    for feature in [Feature::Union, Feature::Barrier, Feature::Condition, Feature::WaitBody] {
        let mut coverage = Figures::default();
        for number in 0..100 {
            coverage
                .add_program(&generate(&mut Random::of(7, number), &[feature, Feature::WaitLoop]));
        }
        let (_, count) = coverage.features().find(|(found, _)| *found == feature).expect("counted");
        assert!(count > 25, "{} {count}", feature.name());
    }
}

#[test]
fn seeds_decide_about_programs() {
    let text = |seed, number| print_c::print(&generate(&mut Random::of(seed, number), &[]));
    assert_eq!(text(3, 4), text(3, 4));
    assert_ne!(text(3, 4), text(3, 5));
}

#[test]
fn litmus_tests_are_read() {
    let mut read = 0;
    for number in 0..300 {
        let program = generate(&mut Random::of(11, number), &[]);
        let Some(text) = print_litmus::print(&program) else { continue };
        let test = parallax_frontend_litmus::parse("generated", &text);
        assert!(test.is_ok(), "{text}\n{:?}", test.err());
        read += 1;
    }
    assert!(read > 50, "{read}");
}

/// What clang takes with a warning is another program to gcc, or none.
#[test]
fn compare_and_swap_expects_values_of_the_type_of_its_place() {
    let fields = [Type::U32, Type::U8].map(|ty| Field { ty, bits: None });
    let global = Global {
        shape: Shape::Struct(fields.to_vec()),
        access: Access::Atomic,
        init: 0,
        thread_local: false,
        late: false,
    };
    let swap = Stmt::Cas {
        ok: 0,
        old: 1,
        place: Place::Part { global: 0, ty: Type::U32, index: 1 },
        expected: Expr::Const(0),
        desired: Expr::Const(1),
        weak: false,
        success: Order::Relaxed,
        failure: Order::Relaxed,
    };
    let program = Program {
        globals: vec![global],
        bodies: vec![vec![swap]],
        threads: vec![0],
        before: Vec::new(),
        after: Vec::new(),
        detached: false,
        locals: [Type::U32; LOCALS],
    };
    let text = print_c::print(&program);
    assert!(text.contains("uint8_t e = 0"), "{text}");
}
