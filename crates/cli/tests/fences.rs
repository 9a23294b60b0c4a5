//! `parallax fences`: repairs of real programs, applied as people apply them, and verified again.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use support::Folder;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// A folder with an example in it.
fn folder_with(name: &str) -> (Folder, String) {
    let path = example(name);
    let file = path.file_name().unwrap().to_str().unwrap().to_string();
    let folder = Folder::new();
    folder.write(&file, fs::read(path).unwrap());
    (folder, file)
}

fn answer(folder: &Folder, arguments: &[&str]) -> (Value, i32) {
    let run = folder.run(&[&["fences", "--format", "json"], arguments].concat());
    let value = serde_json::from_str(&run.stdout);
    (value.unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr)), run.code)
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

/// Applies a diff with `patch`.
fn patch(folder: &Folder, diff: &str) {
    let mut command = Command::new("patch");
    command.args(["-p1", "--binary"]).current_dir(folder.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("patch");
    use std::io::Write;
    child.stdin.take().unwrap().write_all(diff.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_programs_of_the_evaluation_are_repaired() {
    let table = fs::read_to_string(example("fences/expected.csv")).unwrap();
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let [file, arguments, result, inserted, strengthened, weight] = cells[..] else {
            panic!("{row}");
        };
        let (folder, file) = folder_with(&format!("fences/{file}"));
        let clang: Vec<&str> = arguments.split_whitespace().collect();
        let (found, _) = answer(&folder, &[&[file.as_str(), "--"], &clang[..]].concat());
        let summary = format!(
            "{},{},{},{}",
            found["result"].as_str().unwrap(),
            length(&found["inserted"]),
            length(&found["strengthened"]),
            found["weight"]
        );
        assert_eq!(summary, format!("{result},{inserted},{strengthened},{weight}"), "{row}");
        if result == "fixed" {
            patch(&folder, found["diff"].as_str().unwrap());
            let verify = [&["verify", file.as_str(), "--"], &clang[..]].concat();
            folder.run(&verify).ends_with(0).says("safe");
        }
    }
}

#[test]
fn locks_and_queues_get_stronger_orders() {
    for name in ["spsc-ring-relaxed", "ttas-lock-relaxed", "treiber-stack-relaxed"] {
        let (folder, file) = folder_with(&format!("c/{name}.c"));
        let (found, code) = answer(&folder, &["--repair", "orders", "--in-place", &file]);
        assert_eq!((found["result"].as_str(), code), (Some("fixed"), 0), "{name}");
        assert_eq!(length(&found["inserted"]), 0, "{name}");
        folder.run(&["verify", &file]).ends_with(0);
    }
}

#[test]
fn locks_and_queues_are_relaxed() {
    for name in ["peterson", "ms-queue", "chase-lev-deque", "harris-list"] {
        let (folder, file) = folder_with(&format!("c/{name}.c"));
        let (found, code) = answer(&folder, &["--relax", "--check", "--in-place", &file]);
        assert_eq!(code, 0, "{name}");
        assert_ne!(found["checked"], Value::Bool(false), "{name}");
        folder.run(&["verify", &file]).ends_with(0);
    }
}

#[test]
fn machines_have_fences_of_their_own() {
    for (name, model, result) in [
        ("c/store-buffering.c", "tso", 2),
        ("c/message-passing.c", "pso", 1),
        ("c/message-passing.c", "tso", 0),
        ("c/message-passing.c", "imm", 2),
        ("message-passing.litmus", "aarch64", 2),
        ("store-buffering.litmus", "tso", 2),
    ] {
        let (folder, file) = folder_with(name);
        let (found, _) = answer(&folder, &["--model", model, "--in-place", &file]);
        assert_eq!(found["fences"], result, "{name} {model}");
        folder.run(&["verify", "--model", model, &file]).ends_with(0);
    }
}

#[test]
fn programs_in_c_are_repaired_for_the_machines_they_are_compiled_for() {
    for (name, model, repair, weight) in [
        ("message-passing", "aarch64", "fences", 2),
        ("message-passing", "power", "orders", 2),
        ("store-buffering", "power", "fences", 6),
        ("store-buffering", "riscv", "fences", 6),
        ("spsc-ring-relaxed", "power", "orders", 1),
        ("spsc-ring-relaxed", "riscv", "fences", 1),
        ("ttas-lock-relaxed", "aarch64", "both", 1),
        ("ttas-lock-relaxed", "riscv", "orders", 1),
        ("treiber-stack-relaxed", "aarch64", "orders", 1),
        ("peterson-relaxed", "power", "fences", 8),
    ] {
        let (folder, file) = folder_with(&format!("c/{name}.c"));
        let arguments = ["--model", model, "--repair", repair, "--check", "--in-place", &file];
        let (found, _) = answer(&folder, &arguments);
        assert_eq!(found["result"], "fixed", "{name} {model}: {found}");
        assert_eq!(found["weight"], weight, "{name} {model}");
        assert_eq!(found["checked"], Value::Bool(true), "{name} {model}");
        // What the machine does is repaired; what C calls a race may be left.
        let checked = "assert,memory,deadlock,lock,liveness,overflow";
        folder.run(&["verify", "--model", model, "--property", checked, &file]).ends_with(0);
    }
}

#[test]
fn assembler_files_get_lines() {
    let (folder, file) = folder_with("x86/store-buffering.s");
    let (found, code) = answer(&folder, &["--check", &file]);
    assert_eq!((found["result"].as_str(), code), (Some("fixed"), 0));
    assert_eq!(found["checked"], Value::Bool(true));
    let lines = |value: &Value| -> Vec<u64> {
        let inserted = value["inserted"].as_array().unwrap().iter();
        inserted.map(|fence| fence["line"].as_u64().unwrap()).collect()
    };
    assert_eq!(lines(&found), [21, 29]);
    patch(&folder, found["diff"].as_str().unwrap());
    folder.run(&["verify", &file]).ends_with(0).says("safe");
    folder.run(&["fences", &file]).ends_with(0).complains("already safe");
    let strong = fs::read_to_string(folder.path().join(&file)).unwrap();
    folder.write("strong.s", strong.replace("xor eax, eax", "mfence\n        xor eax, eax"));
    folder.run(&["fences", "--relax", "--in-place", "strong.s"]).ends_with(0);
    let relaxed = fs::read_to_string(folder.path().join("strong.s")).unwrap();
    assert_eq!(relaxed.matches("mfence").count(), 2);
    folder.run(&["fences", "--model", "rc11", &file]).ends_with(2).complains("x86-64");
    folder.write("other.s", "\t.loc 1 2 3\n");
    folder.run(&["fences", "other.s"]).ends_with(2).complains("other.s:1:2");
}

/// What a compiler makes of a program is repaired as well.
#[test]
fn compiled_programs_are_repaired() {
    let folder = Folder::new();
    let source = example("x86/peterson.c");
    let mut cc = Command::new("cc");
    cc.args(["-S", "-O1", "-DUNFENCED", "-o", "peterson.s"]).arg(source);
    assert!(cc.current_dir(folder.path()).status().unwrap().success());
    folder.run(&["verify", "peterson.s"]).ends_with(1);
    let (found, _) = answer(&folder, &["--in-place", "peterson.s"]);
    assert_eq!((found["result"].as_str(), &found["fences"]), (Some("fixed"), &Value::from(1)));
    folder.run(&["verify", "peterson.s"]).ends_with(0);
}

#[test]
fn all_bad_executions_lead_to_the_same_repair() {
    for (name, rounds, traces) in [("store-buffer", 2, 9), ("burns", 1, 76)] {
        let (folder, file) = folder_with(&format!("fences/{name}.c"));
        let define = format!("-DROUNDS={rounds}");
        let (one, _) = answer(&folder, &[&file, "--", &define]);
        let (all, _) = answer(&folder, &["--mode", "optimal", &file, "--", &define]);
        assert_eq!((&all["fences"], &all["weight"]), (&one["fences"], &one["weight"]), "{name}");
        assert_eq!(all["traces"], traces, "{name}");
        assert!(one["traces"].as_u64() < Some(traces), "{name}");
    }
}

#[test]
fn each_change_is_needed() {
    let (folder, file) = folder_with("c/peterson-relaxed.c");
    let (found, _) = answer(&folder, &["--check", &file]);
    assert_eq!(found["checked"], Value::Bool(true));
    assert_eq!(found["fences"], 4);
}

#[test]
fn line_ends_and_other_files_are_kept() {
    let text = fs::read_to_string(example("c/store-buffering.c")).unwrap().replace('\n', "\r\n");
    let folder = Folder::new();
    folder.write("sb.c", &text);
    let diff = folder.run(&["fences", "sb.c"]).ends_with(0).stdout.clone();
    patch(&folder, &diff);
    let patched = fs::read_to_string(folder.path().join("sb.c")).unwrap();
    assert_eq!(patched.matches("\r\n").count(), patched.matches('\n').count());
    assert_eq!(patched.matches('\n').count(), text.matches('\n').count() + 2);
    folder.run(&["fences", "sb.c"]).ends_with(0).complains("already safe");
}

const HEADER: &str = "#include <stdatomic.h>
static atomic_int x, y;
static int set_and_look(atomic_int *mine, atomic_int *other) {
    atomic_store_explicit(mine, 1, memory_order_relaxed);
    return atomic_load_explicit(other, memory_order_relaxed);
}
";

const USER: &str = "#include <assert.h>
#include <pthread.h>
#include \"look.h\"
static int r0, r1;
static void *left(void *unused) { r0 = set_and_look(&x, &y); return 0; }
static void *right(void *unused) { r1 = set_and_look(&y, &x); return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, left, 0);
    pthread_create(&b, 0, right, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(r0 || r1);
}
";

#[test]
fn headers_are_changed_on_request_only() {
    let folder = Folder::new();
    folder.write("look.h", HEADER).write("main.c", USER);
    let run = folder.run(&["fences", "main.c"]);
    run.ends_with(1).complains("not edited: look.h");
    let run = folder.run(&["fences", "--edit-headers", "--in-place", "main.c"]);
    run.ends_with(0);
    assert_eq!(fs::read_to_string(folder.path().join("main.c")).unwrap(), USER);
    assert_ne!(fs::read_to_string(folder.path().join("look.h")).unwrap(), HEADER);
    folder.run(&["verify", "main.c"]).ends_with(0);
}

const OPERATORS: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int data, flag, count;
static void *sender(void *unused) {
    data = 42;
    count++;
    flag = data;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0);
    int seen = flag;
    assert(!seen || data == 42);
}
";

#[test]
fn operators_become_calls_with_orders() {
    let folder = Folder::new();
    folder.write("main.c", OPERATORS);
    let run = folder.run(&["fences", "--relax", "--in-place", "main.c"]);
    run.ends_with(0).complains("not edited: main.c:15:5");
    let text = fs::read_to_string(folder.path().join("main.c")).unwrap();
    for line in [
        "    atomic_store_explicit(&data, 42, memory_order_relaxed);\n",
        "    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);\n",
        "    atomic_store_explicit(&flag, atomic_load_explicit(&data, memory_order_relaxed), \
         memory_order_release);\n",
        "    int seen = atomic_load_explicit(&flag, memory_order_acquire);\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    folder.run(&["verify", "main.c"]).ends_with(0);
}

const WITH_INPUT: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern int __VERIFIER_nondet_int(void);
static atomic_int flag;
static int data;
static void *sender(void *unused) {
    data = __VERIFIER_nondet_int();
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0);
    if (atomic_load_explicit(&flag, memory_order_acquire))
        assert(data == data);
}
";

/// Exploration cannot try all inputs; a solver can.
#[test]
fn inputs_may_have_any_value() {
    let folder = Folder::new();
    folder.write("main.c", WITH_INPUT);
    let (found, _) = answer(&folder, &["--in-place", "main.c"]);
    assert_eq!((found["result"].as_str(), &found["weight"]), (Some("fixed"), &Value::from(1)));
    folder.run(&["verify", "main.c"]).ends_with(0);
}

const IN_A_MACRO: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
#define PUT(v) atomic_store_explicit(&v, 1, memory_order_relaxed)
#define BOTH PUT(x); PUT(y)
void *writer(void *arg) { BOTH; return arg; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  if (atomic_load_explicit(&y, memory_order_acquire))
    assert(atomic_load_explicit(&x, memory_order_relaxed));
}
";

#[test]
fn accesses_with_no_place_between_them_are_named() {
    let folder = Folder::new();
    folder.write("main.c", IN_A_MACRO);
    let run = folder.run(&["fences", "main.c"]);
    run.ends_with(1).complains("the accesses at main.c:7:27");
}

#[test]
fn what_cannot_be_helped_is_said() {
    let (folder, file) = folder_with("fences/lamport.c");
    let run = folder.run(&["fences", &file]);
    run.ends_with(1).complains("sequential consistency");
    let (folder, file) = folder_with("c/refcount-relaxed.c");
    folder.run(&["fences", &file]).ends_with(1).complains("--repair both");
    folder.run(&["fences", "--repair", "both", &file]).ends_with(0);
    let (folder, file) = folder_with("c/message-passing.c");
    folder.run(&["fences", "--relax", &file]).ends_with(3).complains("not correct");
    let folder = Folder::new();
    folder.write("endless.c", "int main(void) { for (;;); }\n");
    let run = folder.run(&["fences", "endless.c"]);
    run.ends_with(1).complains("wrong under sequential consistency too");
}

#[test]
fn pictures_show_what_is_forbidden() {
    let (folder, file) = folder_with("c/message-passing.c");
    folder.run(&["fences", "--graph", "pictures", &file]).ends_with(0);
    for number in [1, 2] {
        let name = format!("pictures/change-{number}.svg");
        assert!(fs::read_to_string(folder.path().join(name)).unwrap().contains("<svg"));
    }
}

#[test]
fn bad_usage_is_an_error() {
    let (folder, file) = folder_with("c/message-passing.c");
    for (arguments, complaint) in [
        (&["--weights", "foo=1"][..], "there is no 'foo'"),
        (&["--weights", "sc=0"], "must not cost less"),
        (&["--weights", "sc"], "NAME=WEIGHT"),
        (&["--model", "arm"], ""),
        (&["--relax", "--repair", "both"], "cannot be used with"),
    ] {
        let run = folder.run(&[&["fences"], arguments, &[file.as_str()]].concat());
        run.ends_with(2).complains(complaint);
    }
    folder.write("a.program", "");
    folder.run(&["fences", "a.program"]).ends_with(2).complains("no source");
}

/// An order that is not written where the access is cannot be changed there, which is said.
#[test]
fn orders_that_cannot_be_edited_are_named() {
    let folder = Folder::new();
    let text = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
                #define RAISE(flag) atomic_store_explicit(flag, 1, memory_order_relaxed)\n\
                static int data;\nstatic atomic_int flag;\n\
                static void *writer(void *p) { data = 1; STORE; return 0; }\n\
                int main(void) { pthread_t t; pthread_create(&t, 0, writer, 0);\n\
                if (atomic_load_explicit(&flag, memory_order_acquire)) assert(data == 1);\n\
                return 0; }\n";
    let behind = "atomic_store_explicit(&flag, 1,\n#ifdef NEVER\nmemory_order_release\n#else\n\
                  memory_order_relaxed\n#endif\n)";
    for store in ["RAISE(&flag)", behind] {
        folder.write("hidden.c", text.replace("STORE", store));
        let run = folder.run(&["fences", "--repair", "orders", "hidden.c"]);
        run.ends_with(1)
            .complains("everything that can be edited")
            .complains("not edited: hidden.c:7");
        folder.run(&["fences", "--repair", "both", "hidden.c"]).ends_with(0);
    }
}
