//! Pictures against expected files.

use crate::support;

use parallax_report::{Caption, dot, sketch, svg};
use parallax_verdict::Execution;
use support::{check, execution, state};

/// Store buffering: both threads read the initial values.
fn store_buffering() -> Execution {
    let mut sb = execution(
        &["x=0", "y=0"],
        &[
            &["W x=1 ; MOV [x],$1", "R y=0 ; MOV EAX,[y]"],
            &["W y=1 ; MOV [y],$1", "R x=0 ; MOV EAX,[x]"],
        ],
    );
    sb.rf = vec![(1, 3), (0, 5)];
    sb.co = vec![(0, 2), (1, 4)];
    sb.final_state = state(&[("0:EAX", "0"), ("1:EAX", "0")]);
    sb
}

/// Four threads of six events, with every relation there is.
fn busy() -> Execution {
    let mut busy = execution(
        &["x=0", "y=0", "z=0"],
        &[
            &[
                "R[Q] x=2 ; LDAPR W0,[X1]",
                "W y=1 ; STR W2,[X3]",
                "F[DMB.SY] ; DMB SY",
                "R z=0 ; LDR W4,[X5]",
                "W x=3 ; STR W6,[X1]",
                "R y=2 ; LDR W7,[X3,W4,SXTW]",
            ],
            &[
                "W[L] x=1 ; STLR W0,[X1]",
                "R y=1 ; LDR W2,[X3]",
                "W y=2 ; STR W2,[X3]",
                "R[A] x=1 ; LDAXR W4,[X1]",
                "W x=2 ; STXR W5,W6,[X1]",
                "W z=1 ; STR W7,[X8]",
            ],
            &[
                "R y=2 ; LDR W0,[X1]",
                "R z=1 ; LDR W2,[X3]",
                "F[ISB] ; ISB",
                "R x=3 ; LDR W4,[X5]",
                "W z=2 ; STR W6,[X3]",
                "R y=3 ; LDR W7,[X1]",
            ],
            &[
                "R z=2 ; LDR W0,[X1]",
                "W y=3 ; STR W2,[X3]",
                "F[DMB.LD] ; DMB LD",
                "R x=0 ; LDR W4,[X5]",
                "R y=3 ; LDR W6,[X3]",
                "W z=3 ; STR W7,[X1]",
            ],
        ],
    );
    // Events: 3.. of P0, 9.. of P1, 15.. of P2, 21.. of P3.
    busy.rf = vec![
        (13, 3),
        (2, 6),
        (11, 8),
        (4, 10),
        (9, 12),
        (11, 15),
        (14, 16),
        (7, 18),
        (22, 20),
        (19, 21),
        (0, 24),
        (22, 25),
    ];
    let chains: [&[u32]; 3] = [&[0, 9, 13, 7], &[1, 4, 11, 22], &[2, 14, 19, 26]];
    for chain in chains {
        for (i, a) in chain.iter().enumerate() {
            busy.co.extend(chain[i + 1..].iter().map(|b| (*a, *b)));
        }
    }
    busy.rmw = vec![(12, 13)];
    busy.data = vec![(10, 11), (3, 4)];
    busy.addr = vec![(6, 8)];
    busy.ctrl = vec![(16, 18), (16, 19), (16, 20), (21, 22)];
    busy.model_relations = vec![("ob".to_string(), vec![(13, 3), (3, 4), (22, 26)])];
    busy.final_state = state(&[("0:X0", "2"), ("2:X4", "3"), ("x", "3"), ("y", "3"), ("z", "3")]);
    busy
}

/// Independent reads of independent writes: arrows over whole columns.
fn independent_reads() -> Execution {
    let mut iriw = execution(
        &["x=0", "y=0"],
        &[
            &["W x=1 ; WRITE_ONCE(*x, 1);"],
            &["R x=1 ; r0 = READ_ONCE(*x);", "R y=0 ; r1 = READ_ONCE(*y);"],
            &["W y=1 ; WRITE_ONCE(*y, 1);"],
            &["R y=1 ; r0 = READ_ONCE(*y);", "R x=0 ; r1 = READ_ONCE(*x);"],
        ],
    );
    iriw.rf = vec![(2, 3), (1, 4), (5, 6), (0, 7)];
    iriw.co = vec![(0, 2), (1, 5)];
    iriw
}

/// A wide write and a wide read, each in two parts that no order relates.
fn mixed_size() -> Execution {
    let parts = [
        "W x=1 ; STR X0,[X1]",
        "W x+4=1 ; STR X0,[X1]",
        "R x=1 ; LDR X2,[X1]",
        "R x+4=0 ; LDR X2,[X1]",
    ];
    let mut mixed = execution(&["x=0", "x+4=0"], &[&parts]);
    mixed.po.retain(|pair| ![(2, 3), (4, 5)].contains(pair));
    mixed.rf = vec![(2, 4), (1, 5)];
    mixed.co = vec![(0, 2), (1, 3)];
    mixed
}

fn check_all(name: &str, execution: &Execution) {
    let title = format!("Test {name}");
    let caption = Caption { title: &title, subtitle: "execution 1 of 1, model <any> & none" };
    check(&format!("{name}.svg"), &svg(execution, caption));
    check(&format!("{name}.dot"), &dot(execution, caption));
    check(&format!("{name}.txt"), &sketch(execution));
}

#[test]
fn store_buffering_is_drawn() {
    check_all("sb", &store_buffering());
}

#[test]
fn arrows_cross_columns_between_boxes() {
    check_all("iriw", &independent_reads());
}

#[test]
fn parts_of_an_access_hang_together() {
    check_all("mixed", &mixed_size());
}

#[test]
fn four_threads_of_six_events_are_drawn() {
    check_all("busy", &busy());
}

#[test]
fn an_execution_without_events_is_drawn() {
    let picture = svg(&Execution::default(), Caption::default());
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    assert_eq!(sketch(&Execution::default()), "");
}
