//! `parallax verify`: verdicts, formats, exit codes, bad input.

use crate::support;

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::{Folder, MP, SB, command, endless};

/// The reader may see the flag and not the data, under weak models.
const MESSAGE: &str = r#"program "message" pointers 64
global data: 4 align 4
global flag: 4 align 4
fn writer() {
  store.4 &data, 42:32 [A, RLX]
  store.4 &flag, 1:32 [A, RLX]
}
fn reader() {
  var seen: 32, value: 32
again:
  seen = load.4 &flag [A, RLX]
  branch seen == 1:32, arrived, again
arrived:
  value = load.4 &data [A, RLX]
  assert value == 42:32, "the data is there"
}
fn main() {
  var w: 32, r: 32
  w = spawn writer()
  r = spawn reader()
  join w
  join r
}
thread main = main()
"#;

/// Asks for an input.
const INPUT: &str = r#"program "input" pointers 64
fn main() {
  var n: 32
  n = nondet
  assert n != 3:32, "not three"
}
thread main = main()
"#;

/// Two accesses that nothing orders.
const RACE: &str = r#"program "race" pointers 64
global count: 4 align 4
fn worker() {
  store.4 &count, 1:32 [NA]
}
fn main() {
  var t: 32, u: 32
  t = spawn worker()
  u = spawn worker()
}
thread main = main()
"#;

/// More executions than anyone waits for.
fn many() -> String {
    let threads = 14;
    let lines = |text: &dyn Fn(usize) -> String| (0..threads).map(text).collect::<String>();
    let vars: Vec<String> = (0..threads).map(|n| format!("t{n}: 32")).collect();
    format!(
        "program \"many\" pointers 64\nglobal x: 4 align 4\nfn add(n: 32) {{\n  var old: 32\n  \
         old = rmw.add.4 &x, n [A, RLX]\n  assert old <u 1000:32, \"sum\"\n}}\nfn main() {{\n  var {}\n{}}}\n\
         thread main = main()\n",
        vars.join(", "),
        lines(&|n| format!("  t{n} = spawn add({n}:32)\n"))
    )
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("message.program", MESSAGE)
        .write("input.program", INPUT)
        .write("race.program", RACE)
        .write("SB.litmus", SB)
        .write("MP.litmus", MP);
    folder
}

fn json(folder: &Folder, arguments: &[&str], code: i32) -> Value {
    let arguments = [&["verify", "--format", "json"], arguments].concat();
    let run = folder.run(&arguments);
    run.ends_with(code);
    serde_json::from_str(&run.stdout).expect("one object")
}

#[test]
fn a_weak_model_shows_what_interleavings_do_not() {
    let folder = folder();
    let sc = folder.run(&["verify", "--model", "sc", "message.program"]);
    sc.ends_with(0).says("safe: no assertion failure").says("every execution was covered");
    let weak = folder.run(&["verify", "message.program"]);
    weak.ends_with(1)
        .says("unsafe: assertion fails: the data is there at message.program:15:3")
        .says("reads data = 0, the initial value (relaxed); misses step")
        .says("Why this can happen")
        .says("nothing in rc11 keeps this order: the second store is relaxed, not release")
        .says("model rc11, engine explore");
    assert_eq!(weak.stderr, "");
}

#[test]
fn json_has_the_fields_that_scripts_read() {
    let folder = folder();
    let answer = json(&folder, &["message.program"], 1);
    assert_eq!(answer["verdict"], "unsafe");
    assert_eq!(answer["input"], "message.program");
    assert_eq!(answer["model"], "rc11");
    assert_eq!(answer["engine"], "explore");
    assert_eq!(answer["reason"], Value::Null);
    assert_eq!(answer["redundant"], 0);
    assert!(answer["peak_rss_kib"].as_u64().is_some_and(|kib| kib > 0));
    assert!(answer["time_s"].is_f64());
    let violation = &answer["violations"][0];
    assert_eq!(violation["property"], "assert");
    assert_eq!(violation["file"], "message.program");
    assert_eq!(violation["line"], 15);
    assert_eq!(violation["interleaving"], false);
    let execution = &violation["execution"];
    assert_eq!(execution["threads"][1]["name"], "writer#1");
    let events = execution["events"].as_array().expect("events");
    let is_read = |event: &&Value| event["kind"] == "read" && event["location"] == "data";
    let read = events.iter().rfind(is_read).expect("a read");
    assert_eq!(read["value"], "0");
    assert_eq!(read["line"], 14);
    assert_eq!(read["tags"], serde_json::json!(["A", "RLX"]));
    assert_eq!(read["stack"][0]["function"], "reader");
    let threads = events.iter().filter(|event| !event["thread"].is_null()).count();
    assert_eq!(execution["schedule"].as_array().map(Vec::len), Some(threads));
    assert!(execution["rf"].as_array().is_some_and(|rf| !rf.is_empty()));
    assert!(execution["co"].as_array().is_some_and(|co| !co.is_empty()));
}

#[test]
fn sarif_has_a_result_for_each_violation() {
    let run = folder().run(&["verify", "--format", "sarif", "race.program"]);
    let log: Value = serde_json::from_str(&run.ends_with(1).stdout).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "race");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "race.program");
    assert_eq!(place["region"]["startLine"], 4);
    assert!(result["codeFlows"][0]["threadFlows"].is_array());
}

#[test]
fn properties_can_be_chosen() {
    let folder = folder();
    folder.write("races.prp", "CHECK( init(main()), LTL(G ! data-race) )\n");
    folder.write("end.prp", "CHECK( init(main()), LTL(F end) )\n");
    let verify = |property| folder.run(&["verify", "--property", property, "race.program"]);
    verify("assert,memory").ends_with(0).says("no assertion failure or memory error");
    verify("race").ends_with(1).says("unsafe: data race on count");
    verify("races.prp").ends_with(1);
    verify("end.prp").ends_with(3).says("termination is not checked");
    verify("gone.prp").ends_with(2).complains("gone.prp");
}

#[test]
fn inputs_need_a_range() {
    let folder = folder();
    let open = folder.run(&["verify", "--engine", "explore", "input.program"]);
    open.ends_with(3).says("unknown: ").says("--nondet").says("input.program:4:3");
    folder.run(&["verify", "--nondet", "0..2", "input.program"]).ends_with(0);
    folder.run(&["verify", "--nondet", "-5..3", "input.program"]).ends_with(1).says("chooses 3");
    assert_eq!(json(&folder, &["--engine", "explore", "input.program"], 3)["scope"], Value::Null);
}

#[test]
fn the_condition_of_a_litmus_test_is_the_property() {
    let folder = folder();
    let weak = folder.run(&["verify", "SB.litmus"]);
    weak.ends_with(1)
        .says("assertion about the final state fails: (0:EAX=0 /\\ 1:EAX=0) can be reached")
        .says("nothing in tso keeps this order: the store may stay in its buffer");
    folder.run(&["verify", "--model", "sc", "SB.litmus"]).ends_with(0);
    folder.run(&["verify", "MP.litmus"]).ends_with(0);
    folder.write("all.litmus", MP.replace("exists (1:EAX=1 /\\ 1:EBX=0)", "forall (1:EAX=1)"));
    folder.run(&["verify", "all.litmus"]).ends_with(1).says("(1:EAX=1) does not always hold");
    let answer = json(&folder, &["SB.litmus"], 1);
    assert_eq!(answer["engine"], "enumerate");
    assert_eq!(answer["executions"], 4);
}

#[test]
fn users_models_are_read() {
    let folder = folder();
    let interleaving = "Mine\nacyclic po | rf | co | fr as interleaving\n";
    folder.write("mine.cat", format!("{interleaving}empty rmw & (fre; coe) as atomicity\n"));
    folder.run(&["verify", "--model", "mine.cat", "message.program"]).ends_with(0);
    folder.write("half.cat", interleaving);
    let half = folder.run(&["verify", "--model", "half.cat", "message.program"]);
    half.ends_with(0).says("engine bounded");
    let half = ["verify", "--engine", "explore", "--model", "half.cat", "message.program"];
    folder.run(&half).ends_with(2).complains("exploration cannot use the model 'half'");
    let gone = folder.run(&["verify", "--model", "gone.cat", "message.program"]);
    gone.ends_with(2).complains("gone.cat");
    let fancy = folder.run(&["verify", "--model", "fancy", "message.program"]);
    fancy.ends_with(2).complains("there is no built-in model 'fancy'");
}

#[test]
fn files_are_written_where_they_were_asked_for() {
    let folder = folder();
    let arguments = ["verify", "--graph", "g.svg", "--report", "r.html", "message.program"];
    folder.run(&arguments).ends_with(1);
    folder.run(&["verify", "--graph", "g.dot", "message.program"]).ends_with(1);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
    assert!(read("g.svg").contains("reader#2"));
    assert!(read("g.dot").starts_with("digraph"));
    assert!(read("r.html").contains("<svg"));
    let nowhere = folder.run(&["verify", "--report", "no/where.html", "message.program"]);
    nowhere.ends_with(2).complains("no/where.html").says("unsafe");
    let safe = folder.run(&["verify", "--model", "sc", "--graph", "n.svg", "message.program"]);
    safe.ends_with(0).complains("there is no execution to draw");
}

#[test]
fn limits_end_in_unknown_with_what_was_found() {
    let folder = folder();
    folder.write("many.program", many()).write("endless.litmus", endless());
    let asked: [&[&str]; 2] = [&["--engine", "explore", "many.program"], &["endless.litmus"]];
    for input in asked {
        let answer = json(&folder, &[&["--timeout", "0.3"], input].concat(), 3);
        assert_eq!(answer["verdict"], "unknown");
        assert!(answer["executions"].as_u64().is_some_and(|count| count > 0), "{input:?}");
        assert!(answer["reason"].is_string());
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_what_was_found_so_far() {
    let folder = folder();
    folder.write("many.program", many());
    let mut child = command()
        .current_dir(folder.path())
        .args(["verify", "--engine", "explore", "many.program"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(Duration::from_millis(500));
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.expect("kill runs").success());
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
    assert!(text.starts_with("unknown: "), "{text}");
    assert!(text.contains(" executions; not everything was covered\n"), "{text}");
    assert_eq!(child.wait().expect("an end").code(), Some(3));
}

/// The C front end is reached: two files, and arguments for clang.
#[test]
fn c_files_are_linked() {
    let folder = folder();
    folder
        .write(
            "main.c",
            "int twice(int);\n#include <assert.h>\n\nint main(void)\n{\n    \
            assert(twice(2) == EXPECTED);\n}\n",
        )
        .write("twice.c", "int twice(int n) { return 2 * n; }\n")
        .write("broken.c", "int main(void) { return 1 }\n");
    let verify = |value| folder.run(&["verify", "main.c", "twice.c", "--", value]);
    verify("-DEXPECTED=4").ends_with(0).says("1 execution; every execution was covered");
    verify("-DEXPECTED=5").ends_with(1).says("main.c:6:5");
    let broken = folder.run(&["verify", "broken.c"]);
    broken.ends_with(2).complains("broken.c:1:");
    assert_eq!(broken.stdout, "");
}

#[test]
fn bad_input_is_refused() {
    let folder = folder();
    folder.write("broken.program", "program p pointers 64\nfn main() {\n  hop\n}\n");
    let broken = folder.run(&["verify", "broken.program"]);
    broken.ends_with(2).complains("broken.program:3:");
    assert_eq!(broken.stdout, "");
    let broken = folder.run(&["verify", "--format", "json", "broken.program"]);
    broken.ends_with(2).says("\"file\":\"broken.program\",\"line\":3,");
    assert_eq!(broken.stderr, "");
    for (arguments, message) in [
        (&["nowhere.program"][..], "cannot read 'nowhere.program'"),
        (&["what"], "it is not known what this is"),
        (&["a.yml"], "cannot read 'a.yml'"),
        (&["--engine", "inductive", "SB.litmus"], "not for inputs of this kind"),
        (&["SB.litmus", "MP.litmus"], "one input"),
        (&["SB.litmus", "message.program"], "different kinds"),
        (&["--engine", "views", "message.program"], "there is no engine 'views'"),
        (&["SB.litmus", "--", "-O2"], "for C files only"),
        (&["--engine", "explore", "SB.litmus"], "needs its own engine"),
        (&["--property", "race", "SB.litmus"], "only the final condition"),
        (&["--nondet", "0..1", "SB.litmus"], "have no inputs"),
    ] {
        let arguments = [&["verify"], arguments].concat();
        folder.run(&arguments).ends_with(2).complains(message);
    }
}

#[test]
fn answers_do_not_change() {
    let folder = folder();
    let text = || {
        let run = folder.run(&["verify", "--all", "message.program"]);
        let lines = run.stdout.lines().filter(|line| !line.starts_with("model "));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(text(), text());
}

/// Store buffering by one thread and its creator, with or without a fence.
fn assembly(fence: &str) -> String {
    format!(
        ".intel_syntax noprefix\n.bss\n.lcomm x, 4\n.lcomm y, 4\n.lcomm r, 4\n.text\n\
         other: mov dword ptr y[rip], 1\n{fence}\nmov eax, x[rip]\nmov r[rip], eax\nret\n\
         .globl main\nmain: sub rsp, 24\nmov rdi, rsp\nxor esi, esi\nlea rdx, other[rip]\n\
         xor ecx, ecx\ncall pthread_create\nmov dword ptr x[rip], 1\n{fence}\nmov ebx, y[rip]\n\
         mov rdi, [rsp]\nxor esi, esi\ncall pthread_join\nor ebx, r[rip]\njnz good\nud2\n\
         good: xor eax, eax\nadd rsp, 24\nret\n"
    )
}

#[test]
fn machine_code() {
    let folder = Folder::new();
    folder.write("weak.s", assembly("")).write("fenced.s", assembly("mfence"));
    folder.run(&["verify", "-q", "fenced.s"]).ends_with(0).says("model tso, engine states");
    folder.run(&["verify", "-q", "weak.s"]).ends_with(1).says("ud2").says("weak.s.lst:");
    folder.run(&["verify", "-q", "--model", "sc", "weak.s"]).ends_with(0).says("model sc");
    folder.run(&["verify", "-q", "--engine", "explore", "weak.s"]).ends_with(1);
    // What clang writes, its own assembler reads.
    folder.write("clang.s", assembly("mfence") + "\t.addrsig\n");
    folder.run(&["verify", "-q", "clang.s"]).ends_with(0);
    folder.run(&["verify", "-q", "--listing", "l", "fenced.s"]).ends_with(0);
    let listing = std::fs::read_to_string(folder.path().join("l")).unwrap();
    assert!(listing.contains("mfence  ; fenced.s:8"), "{listing}");
}

#[test]
fn machine_code_that_is_none() {
    let folder = Folder::new();
    folder.write("not.o", "not at all").write("cut", "\x7fELF").write("bad.s", "no such thing\n");
    folder.run(&["verify", "not.o"]).ends_with(2).complains("not.o: not an ELF file");
    folder.run(&["verify", "cut"]).ends_with(2).complains("cut: not an ELF file");
    folder.run(&["verify", "bad.s"]).ends_with(2).complains("cc cannot assemble it");
    folder.write("p.program", INPUT);
    let run = folder.run(&["verify", "--arg", "x", "p.program"]);
    run.ends_with(2).complains("for machine code only");
}

/// Models of C say nothing about machine code.
#[test]
fn models_fit_the_input() {
    let folder = folder();
    folder.write("a.s", "\t.globl main\nmain:\n\tret\n");
    let output = command()
        .current_dir(folder.path())
        .args(["verify", "--model", "rc11", "a.s"])
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("does not speak of the instructions of x86-64"), "{text}");
}

/// Each thread stores twice to one place and looks in between: what it sees of the other's stores
/// comes in one order, with load buffering too.
#[test]
fn the_stores_of_a_place_have_one_order() {
    for (asserted, expected) in [("!(a == 0 && b == 2)", "safe"), ("!(a == 1 && b == 0)", "unsafe")]
    {
        let folder = Folder::new();
        let text = format!(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
             #define LOOK() atomic_load_explicit(&x, memory_order_relaxed)\n\
             #define PUT(v) atomic_store_explicit(&x, v, memory_order_relaxed)\n\
             void *one(void *p) {{ PUT(2); int a = LOOK(); int b = LOOK(); PUT(1); assert({asserted}); return 0; }}\n\
             void *two(void *p) {{ PUT(1); LOOK(); LOOK(); PUT(0); return 0; }}\n\
             int main(void) {{\n  pthread_t a, b;\n  pthread_create(&a, 0, one, 0);\n  \
             pthread_create(&b, 0, two, 0);\n  pthread_join(a, 0);\n  pthread_join(b, 0);\n}}\n"
        );
        folder.write("stores.c", text);
        for model in ["imm", "rc11", "sc"] {
            for engine in ["auto", "bounded"] {
                let options = ["--model", model, "--engine", engine, "--property", "assert"];
                let run = folder.run(&[&["verify", "stores.c"], &options[..]].concat());
                assert!(run.stdout.starts_with(expected), "{model} {engine}: {}", run.stdout);
            }
        }
    }
}
