//! Every kind of operation in a claim, right and wrong.

use crate::claims::{check, claim, program, refusal};
use parallax_program::{Program, Tags};
use parallax_verdict::{Event, EventKind, Execution, Life, ThreadEnding};

/// What an event does, in short.
fn effect(event: &Event) -> String {
    match &event.kind {
        EventKind::Read { location, shown, size, .. } => format!("R{size} {location}={shown}"),
        EventKind::Write { location, shown, size, .. } => format!("W{size} {location}={shown}"),
        EventKind::Fence => "F".to_string(),
        EventKind::Alloc { name, size, .. } => format!("alloc {name} {size}"),
        EventKind::Free { name, .. } => format!("free {name}"),
        EventKind::Choice { value } => format!("choice {value}"),
        EventKind::AtomicBegin => "(".to_string(),
        EventKind::AtomicEnd => ")".to_string(),
    }
}

fn effects(execution: &Execution) -> Vec<String> {
    execution.events.iter().filter(|event| event.thread.is_some()).map(effect).collect()
}

/// A program of one thread with these lines, a global `x` and some variables.
fn lines(text: &str) -> Program {
    program(&format!(
        "global x: 8 = {{ 0: 7:32 }}\nglobal c: 4 constant\nfn f() {{\n  \
         var w: 32, v: 32, b: 1, h: 16, d: 64, e: 64\n{text}\n}}\nthread T = f()\n"
    ))
}

/// Effects of a claim of one thread.
fn run(text: &str, steps: &str) -> Result<Vec<String>, String> {
    let program = lines(text);
    check(&program, &claim(&[steps], &["0.1"][..0], ""), "sc").map(|execution| effects(&execution))
}

#[test]
fn read_modify_writes_are_pairs() {
    let text = "w = rmw.add.4 &x, 3:32 [A, RLX] [A, REL]\nassert w != 7:32, \"\"";
    let program = lines(text);
    let execution = check(&program, &claim(&["R=init W | failed"], &[], ""), "rc11").unwrap();
    assert_eq!(effects(&execution), ["R4 x=7", "W4 x=10"]);
    assert_eq!(execution.rmw, [(1, 2)]);
    assert_eq!(execution.po, [(1, 2)]);
    assert_eq!(execution.events[1].tags, Tags::new(["A", "RLX"]));
    assert_eq!(execution.events[2].tags, Tags::new(["A", "REL"]));
    // Cut short between its halves.
    assert!(run(text, "R=init | stopped").is_ok());
    assert!(run(text, "W | stopped").unwrap_err().contains("a read of 4 bytes"));
}

#[test]
fn a_write_between_the_halves_is_no_execution() {
    let program = program(
        "global x: 4\nfn f() {\n  rmw.add.4 &x, 1:32 [A, RLX]\n}\n\
         thread A = f()\nthread B = f()\n",
    );
    let threads = ["R=init W | stopped", "R=init W | stopped"];
    for model in ["sc", "tso", "rc11", "imm"] {
        let refused = check(&program, &claim(&threads, &["0.1 1.1"], ""), model).unwrap_err();
        assert!(refused.contains("forbids it"), "{refused}");
        let one_by_one = ["R=init W | stopped", "R=0.1 W | stopped"];
        check(&program, &claim(&one_by_one, &["0.1 1.1"], ""), model).unwrap();
    }
}

#[test]
fn compare_and_swaps_succeed_or_fail() {
    let strong = "w, b = cas.4 &x, 7:32, 1:32 [A, ACQ] [A, REL] [A, RLX]\nassert ~b, \"\"";
    let execution = check(&lines(strong), &claim(&["R=init W | failed"], &[], ""), "sc").unwrap();
    assert_eq!(effects(&execution), ["R4 x=7", "W4 x=1"]);
    assert_eq!(execution.events[1].tags, Tags::new(["A", "ACQ"]));
    assert!(run(strong, "R=init end | ended").unwrap_err().contains("a write of 4 bytes"));
    assert!(run(strong, "choice:1/1 R=init end | ended").is_err());

    let other = strong.replace("7:32", "8:32");
    let execution = check(&lines(&other), &claim(&["R=init end | ended"], &[], ""), "sc").unwrap();
    assert_eq!(execution.events[1].tags, Tags::new(["A", "RLX"]));
    assert!(run(&other, "R=init W | stopped").is_err());

    let weak = strong.replace("cas.4", "cas.weak.4");
    let failed = claim(&["choice:1/1 R=init end | ended"], &[], "");
    let execution = check(&lines(&weak), &failed, "sc").unwrap();
    assert_eq!(effects(&execution)[..2], ["choice 1:1", "R4 x=7"]);
    assert_eq!(execution.events[2].tags, Tags::new(["A", "RLX"]));
    assert!(run(&weak, "R=init W | failed").is_ok());
    assert!(run(&weak, "choice:0/1 R=init W | failed").is_ok());
    assert!(run(&weak, "choice:1/1 R=init W | stopped").is_err());
    assert!(run(&weak, "choice:1/8 R=init end | ended").unwrap_err().contains("1 bits"));
    assert!(run(&weak, "choice:1/1 choice:1/1 R=init end | ended").is_err());
    assert!(run(&weak, "R2=init choice:1/1 R2=init end | ended").is_err());
}

#[test]
fn store_conditionals_need_a_reservation() {
    let text = "w = ll.4 &x [X]\nb = sc.4 &x, 1:32 [X]\nassert b, \"\"";
    assert!(run(text, "R=init W | failed").is_ok());
    assert!(run(text, "R=init choice:0/1 W | failed").is_ok());
    assert!(run(text, "R=init choice:1/1 end | ended").is_ok());
    assert!(run(text, "R=init W end | ended").is_err());
    let text = "b = sc.4 &x, 1:32 [X]";
    assert!(run(text, "W end | ended").unwrap_err().contains("without load-linked"));
}

#[test]
fn accesses_may_come_in_parts() {
    let text = "w = load.4 &x\nstore.4 &x, 0x10002:32\nh = load.2 &x + 2:64\n\
                rmw.add.4 &x, 0xffff:32\nassert h == 0:16, \"\"";
    let program = lines(text);
    let steps = "R2=init R2=init W2 W2 R=0.3 R2=0.2 R2=0.3 W2 W2 | failed";
    let orders = ["0.2 0.7", "0.3 0.8"];
    let execution = check(&program, &claim(&[steps], &orders, ""), "sc").unwrap();
    let expected = ["R2 x=7", "R2 x+2=0", "W2 x=2", "W2 x+2=1", "R2 x+2=1"];
    assert_eq!(effects(&execution)[..5], expected);
    assert_eq!(effects(&execution)[5..], ["R2 x=2", "R2 x+2=1", "W2 x=1", "W2 x+2=2"]);
    assert_eq!(execution.rmw, [(7, 9), (8, 10)]);
    assert!(!execution.po.contains(&(2, 3)) && execution.po.contains(&(2, 4)));

    let mixed = "R=init W2 W2 | stopped";
    assert!(refusal(&program, &[mixed], &[], "").contains("in part"));
    let short = "R2=init R1=init W | stopped";
    assert!(refusal(&program, &[short], &[], "").contains("a read of 1 bytes"));
    let long = "R2=init R4=init | stopped";
    assert!(refusal(&program, &[long], &[], "").contains("4 bytes of 2"));
}

#[test]
fn choices_have_their_width_and_bound() {
    let text = "v = choose 3:32\nw = nondet\nassert v + w != 5:32, \"\"";
    assert_eq!(run(text, "choice:2/32 choice:3/32 | failed").unwrap().len(), 2);
    assert!(run(text, "choice:3/32 | stopped").unwrap_err().contains("not below 3"));
    assert!(run(text, "choice:2/8 | stopped").unwrap_err().contains("32 bits"));
    assert!(run(text, "choice:2/32 choice:2/32 | failed").unwrap_err().contains("nothing fails"));
    assert!(run("fence [SC]", "choice:2/32 | stopped").unwrap_err().contains("a fence"));
    assert!(run("v = choose 3:32", "F | stopped").unwrap_err().contains("a choice"));
}

#[test]
fn fences_and_sections_are_events() {
    let text = "fence [SC]\natomic begin\nstore.4 &x, 1:32\natomic end";
    assert_eq!(run(text, "F ( W ) end | ended").unwrap()[..3], ["F", "(", "W4 x=1"]);
    assert!(run(text, "F W ) end | ended").unwrap_err().contains("the begin of an atomic section"));
    let program = program(
        "global x: 4\nfn f() {\n  var b: 1\n  atomic begin\n  wait b\n  atomic end\n}\n\
         thread A = f()\nthread B = f()\n",
    );
    let held = ["( | waiting", "| waiting"];
    assert_eq!(refusal(&program, &held, &[], ""), "accepted");
    let free = ["| waiting", "| waiting"];
    assert!(refusal(&program, &free, &[], "").contains("begin of an atomic section"));
}

const FAMILY: &str = "\
global x: 4
fn worker(n: 32) {
  store.4 &x, n [NA]
}
fn main() {
  var t: 32, s: 32, r: 32
  t = spawn worker(5:32)
  s = threadid
  join t
  r = load.4 &x [NA]
  assert r == s + 9:32, \"\"
}
thread main = main()
";

#[test]
fn threads_start_and_end() {
    let program = program(FAMILY);
    let main = "spawn:1 join:1.2 R=1.1 | failed";
    let worker = "begin:0.0 W end | ended";
    let right = claim(&[main, worker], &[], "0 1 1 1 0 0");
    for model in ["sc", "tso", "pso", "rc11", "imm"] {
        let execution = check(&program, &right, model).unwrap();
        assert_eq!(execution.threads, ["main", "worker#1"]);
        let life: Vec<_> = execution.events.iter().map(|event| event.kind.life()).collect();
        let (start, begin) = (Some(Life::Start(1)), Some(Life::Begin(1)));
        let (end, join) = (Some(Life::End(1)), Some(Life::Join(1)));
        assert_eq!(life, [None, start, join, None, begin, None, end]);
        assert_eq!(execution.rf, [(1, 4), (5, 3), (6, 2)]);
        let name = effect(&execution.events[6]);
        assert_eq!(name, "W8 worker#1.end=1");
        assert_eq!(execution.schedule, [1, 4, 5, 6, 2, 3]);
    }
    // What the worker wrote cannot be missed after joining it.
    let stale = claim(&["spawn:1 join:1.2 R=init | failed", worker], &[], "0 1 1 1 0 0");
    for model in ["sc", "tso", "pso", "rc11", "imm"] {
        let refused = check(&program, &stale, model).unwrap_err();
        assert!(refused.contains("forbids it"), "{model}: {refused}");
    }
}

#[test]
fn threads_start_once_and_end_before_they_are_joined() {
    let program = program(FAMILY);
    let worker = "begin:0.0 W end | ended";
    for (main, worker, schedule, message) in [
        ("spawn:2 | stopped", worker, "0", "there is no thread 2"),
        ("spawn:0 | stopped", worker, "0", "main runs already"),
        ("spawn:1 | stopped", "W | stopped", "0 1", "the thread has not begun"),
        ("spawn:1 | stopped", "begin:0.1 | stopped", "0 1", "not how the thread was spawned"),
        ("spawn:1 | stopped", "begin:0.0 begin:0.0 | stopped", "0 1 1", "not how"),
        ("spawn:1 | stopped", "begin:0.0 | stopped", "1 0", "not how"),
        ("spawn:1 join:1.1 | stopped", worker, "0 1 1 0 1", "not the end of a thread"),
        ("spawn:1 join:1.2 | stopped", worker, "0 1 1 0 1", "comes only later"),
        ("spawn:1 join:0.0 | stopped", worker, "0 1 1 1 0", "the thread waits for thread 1"),
        ("spawn:1 | waiting", worker, "0 1 1 1", "which has ended"),
        ("spawn:1 | waiting", "begin:0.0 | stopped", "0 1", "accepted"),
        ("spawn:1 | waiting", "| stopped", "0", "accepted"),
        ("spawn:1 | stopped", "| failed", "0", "the thread has not begun"),
        ("spawn:1 | failed", "| stopped", "0", "nothing fails at a join"),
        ("| stopped", "| stopped", "", "accepted"),
        ("| stopped", "| waiting", "", "nobody has spawned the thread"),
        ("| stopped", "W | stopped", "1", "nobody has spawned the thread"),
    ] {
        let refused = refusal(&program, &[main, worker], &[], schedule);
        assert!(refused.contains(message), "{main}, {worker}: {refused}");
    }
}

#[test]
fn objects_have_names() {
    let text = "d = alloc.heap 16:64 align 16\nstore.8 d + 8:64, d\ne = alloc.heap.zeroed 4:64 align 4\n\
                w = load.4 e\nd = alloc.stack 4:64 align 4\nstore.4 d, -1:32\nfree.stack d\nfree.heap e";
    let steps =
        "alloc:0x90000000 W alloc:0x90001000 R=init alloc:0x90002000 W free free end | ended";
    let expected = [
        "alloc malloc@test.program:6 16",
        "W8 malloc@test.program:6+8=&malloc@test.program:6",
        "alloc malloc@test.program:8 4",
        "R4 malloc@test.program:8=0",
        "alloc f::d 4",
        "W4 f::d=-1",
        "free f::d",
        "free malloc@test.program:8",
    ];
    assert_eq!(run(text, steps).unwrap()[..8], expected);
}

#[test]
fn objects_of_one_place_are_distinguished() {
    let text = "jump again\nagain:\nd = alloc.heap 8:64 align 8\nw = w + 1:32\n\
                branch w == 3:32, out, again\nout:\nstore.8 &x, d\nassert b, \"\"";
    let steps = "alloc:0x90000000 alloc:0x90000008 alloc:0x90000010 W | failed";
    let effects = run(text, steps).unwrap();
    assert_eq!(effects[3], "W8 x=&malloc@test.program:8#3");
}

#[test]
fn objects_stay_apart() {
    let text = "d = alloc.heap 16:64 align 16\ne = alloc.heap d - d + 8:64 align 8";
    for (address, message) in [
        ("0x90000010", "accepted"),
        ("0x90000000", "overlaps malloc@test.program:6"),
        ("0x90000008", "overlaps malloc@test.program:6"),
        ("0x8ffffff8", "accepted"),
        ("0x90000012", "not aligned to 8"),
        ("0x0", "an object at address 0"),
        ("0x4b1d5000", "overlaps x"),
        ("0x10000000", "no object can be at"),
        ("0x70000000", "no object can be at"),
        ("0xfffffffffffffff8", "accepted"),
    ] {
        let steps = format!("alloc:0x90000000 alloc:{address} | stopped");
        let refused = run(text, &steps).err().unwrap_or("accepted".to_string());
        assert!(refused.contains(message), "{address}: {refused}");
    }
    let huge = "d = alloc.heap 16:64 align 8";
    assert!(run(huge, "alloc:0xfffffffffffffff8 | stopped").unwrap_err().contains("too many"));
}

#[test]
fn objects_are_freed_once() {
    let text = "d = alloc.heap 16:64 align 16\nfree.heap d\nfree.heap d";
    assert!(run(text, "alloc:0x90000000 free | failed").is_ok());
    let twice = run(text, "alloc:0x90000000 free free | stopped").unwrap_err();
    assert!(twice.contains("was freed before"), "{twice}");
    assert!(run("free.heap &x", "free | stopped").unwrap_err().contains("cannot be freed"));
    assert!(run("free.heap &x", "| failed").is_ok());
    let text = "d = alloc.heap 16:64 align 16\nfree.stack d";
    assert!(run(text, "alloc:0x90000000 free | stopped").unwrap_err().contains("cannot be freed"));
    // The end of no object may be a step, or not.
    assert_eq!(run("free.heap 0:64\nfence [SC]", "free F end | ended").unwrap()[0], "free 0");
    assert_eq!(run("free.heap 0:64\nfence [SC]", "F end | ended").unwrap()[0], "F");
}

#[test]
fn sizes_of_objects_are_no_steps() {
    let text = "d = alloc.heap 24:64 align 8\ne = heapsize d\nstore.8 &x, e\nassert b, \"\"";
    assert_eq!(run(text, "alloc:0x90000000 W | failed").unwrap()[1], "W8 x=24");
    assert!(run("d = heapsize &x", "| failed").is_ok());
    assert!(run("d = heapsize &x", "end | ended").unwrap_err().contains("the size of an object"));
}

#[test]
fn places_that_are_no_memory_are_not_accessed() {
    assert!(run("w = load.4 0x10000000:64", "R=init | stopped").unwrap_err().contains("no memory"));
    assert!(run("store.4 0x10000008:64, w", "W | stopped").unwrap_err().contains("no memory"));
    assert!(run("w = load.4 0:64", "| failed").is_ok());
}

#[test]
fn calls_lead_to_events() {
    let program = program(
        "global x: 4\nfn g() {\n  store.4 &x, 1:32\n}\nfn f() {\n  var b: 1\n  call g()\n  wait b\n}\n\
         thread T = f()\n",
    );
    let execution = check(&program, &claim(&["W | waiting"], &[], ""), "sc").unwrap();
    let call = |call: &parallax_verdict::Call| (call.function.clone(), call.place.line);
    let stack: Vec<_> = execution.stacks[1].iter().map(call).collect();
    assert_eq!(stack, [("f".to_string(), 8), ("g".to_string(), 4)]);
    let standing = &execution.standings[0];
    assert_eq!((standing.ending, standing.text.as_str()), (ThreadEnding::Waiting, "wait b"));
    assert_eq!(standing.place().unwrap().line, 9);
}

#[test]
fn dependencies_are_found_where_the_model_asks() {
    let text = "w = load.4 &x [A, RLX]\nstore.4 &x + 4:64, w [A, RLX]";
    let claimed = claim(&["R=init W end | ended"], &[], "");
    assert_eq!(check(&lines(text), &claimed, "imm").unwrap().data, [(2, 3)]);
    assert_eq!(check(&lines(text), &claimed, "rc11").unwrap().data, []);
    let program = program(
        "global x: 8\nfn g(p: 64) {\n  store.4 p, 1:32 [A, RLX]\n}\nfn f() {\n  var p: 64\n  \
         p = load.8 &x [A, RLX]\n  spawn g(p + &x)\n}\nthread T = f()\n",
    );
    let threads = ["R4=init R4=init spawn:1 | stopped", "begin:0.2 W | stopped"];
    let execution = check(&program, &claim(&threads, &[], ""), "imm").unwrap();
    assert_eq!(execution.data, [(2, 4), (3, 4)]);
    assert_eq!(execution.addr, [(5, 6)]);
}
