//! What executions show to people: names, places, values.

use std::sync::Arc;

use parallax_memory::Model;
use parallax_program::{Field, InstKind, Program, Shape, SourceFile};
use parallax_verdict::{EventKind, rebuild};

use crate::claims::{check, claim, program};

fn queue() -> Shape {
    let field = |name: &str, offset| {
        let name = name.to_string();
        Field { name, offset, size: 8, shape: Shape::Scalar }
    };
    Shape::Struct { name: "queue".into(), fields: vec![field("head", 0), field("tail", 8)] }
}

/// Places and values of the accesses of threads.
fn accesses(program: &Program, threads: &[&str]) -> Vec<String> {
    let execution = check(program, &claim(threads, &[], ""), "sc").unwrap();
    let own = execution.events.iter().filter(|event| event.thread.is_some());
    let access = own.filter_map(|event| match &event.kind {
        EventKind::Read { location, shown, .. } | EventKind::Write { location, shown, .. } => {
            Some(format!("{location} = {shown}"))
        }
        _ => None,
    });
    access.collect()
}

#[test]
fn parts_of_objects_have_names() {
    let mut program = program(
        "global q: 16\nglobal a: 64\nfn f() {\n  var p: 64\n  store.8 &q, &q + 8:64\n  \
         store.8 &a + 24:64, @f\n  p = alloc.heap 16:64 align 8\n  store.8 p + 8:64, p + 8:64\n  \
         store.8 &a, -5:64\n  store.8 &a + 8:64, 0x123456789abc:64\n}\nthread T = f()\n",
    );
    program.globals[0].shape = Some(queue());
    program.globals[1].shape =
        Some(Shape::Array { element: Box::new(queue()), stride: 16, count: 4 });
    for inst in &mut program.functions[0].blocks[0].insts {
        if let InstKind::Alloc { shape, .. } = &mut inst.kind {
            *shape = Some(Arc::new(queue()));
        }
    }
    assert_eq!(
        accesses(&program, &["W W alloc:0x90000000 W W W | stopped"]),
        [
            "q.head = &q.tail",
            "a[1].tail = &f",
            "queue@test.program:8.tail = &queue@test.program:8.tail",
            "a[0].head = -5",
            "a[0].tail = 0x123456789abc",
        ]
    );
}

const LINKED: &str = "\
global x: 4
fn worker(n: 64) {
  call take()
}
fn main() {
  call create(@worker, 0:64)
  call create(@worker, 0:64)
}
thread main = main()

fn create(routine: 64, argument: 64) {
  spawn body(routine, argument)
}
fn body(routine: 64, argument: 64) {
  call (routine)(argument)
}
fn take() {
  var ok: 1, p: 64
  p = alloc.heap 4:64 align 4
  _, ok = cas.4 &x, 0:32, 1:32
  wait ok
}
";

#[test]
fn linked_code_is_said_by_who_calls_it() {
    let mut program = program(LINKED);
    let text = program.source.text().to_string();
    let (own, library) = text.split_once("\n\n").unwrap();
    let own = format!("{own}\n");
    program.source = SourceFile::several([("dir/main.c", &*own), ("<library>/l", library)]);
    let threads = [
        "spawn:1 spawn:2 end | ended",
        "begin:0.0 alloc:0x90000000 R=init W end | ended",
        "begin:0.1 alloc:0x90001000 R=1.3 | waiting",
    ];
    let execution = check(&program, &claim(&threads, &[], ""), "sc").unwrap();
    assert_eq!(execution.threads, ["main", "worker#1", "worker#2"]);
    let places: Vec<(String, &str)> = execution
        .events
        .iter()
        .filter_map(|event| Some((event.place.as_ref()?.to_string(), event.text.as_str())))
        .collect();
    assert_eq!(places[0], ("dir/main.c:7:3".to_string(), "call create(@worker, 0:64)"));
    assert_eq!(places[4], ("dir/main.c:4:3".to_string(), "call take()"));
    let names = execution.events.iter().filter_map(|event| match &event.kind {
        EventKind::Alloc { name, .. } => Some(name.as_str()),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), ["malloc@main.c:4", "malloc@main.c:4#2"]);
    let standing = &execution.standings[2];
    assert_eq!(standing.place().unwrap().to_string(), "dir/main.c:4:3");
    assert_eq!(standing.text, "call take()");
    let functions: Vec<_> = standing.stack.iter().map(|call| call.function.as_str()).collect();
    assert_eq!(functions, ["body", "worker", "take"]);
    assert!(standing.stack[2].place.is_linked());
}

#[test]
fn relations_that_a_model_shows_are_reported() {
    let text = "MINE\nlet before = po & (M * M)\nshow before\nacyclic po | rf | co | fr as order\n";
    let model = Model::parse("mine", text, &|_| None).unwrap();
    let program = program(
        "global x: 4\nfn f() {\n  var p: 64, w: 32\n  store.4 &x, 1:32\n  p = alloc.heap 4:64 align 4\n  \
         w = load.4 &x\n}\nthread T = f()\n",
    );
    let steps =
        |source: &str| claim(&[&format!("W alloc:0x90000000 R={source} | stopped")], &[], "");
    let execution = rebuild(&program, &steps("0.0"), &model).unwrap();
    assert_eq!(execution.model_relations, [("before".to_string(), vec![(1, 3)])]);
    assert_eq!(rebuild(&program, &steps("init"), &model).unwrap_err(), "order forbids it");
}
