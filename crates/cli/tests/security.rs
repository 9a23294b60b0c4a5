//! Inputs and their names are not trusted: none of them is an option of another program, is obeyed by
//! a terminal, says where to write, or is waited for.

use crate::support;

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, Run, SB, command};

/// Fails, and shows that the header beside it is found.
const FAILING: &str = "#include <assert.h>\n#include \"h.h\"\n\nint main(void)\n{\n    \
    assert(VALUE == 1);\n}\n";

/// What clang and gcc read if they are given its name with an `@` before it. With these words, clang
/// would load code.
const LIST: &str = "x.c -load ./no-such-plugin.so\n";

#[test]
fn names_are_no_lists_of_options() {
    let folder = Folder::new();
    folder.write("@p.c", FAILING).write("h.h", "#define VALUE 2\n").write("p.c", LIST);
    folder.write("@d/@p.c", FAILING).write("@d/h.h", "#define VALUE 3\n").write("d/@p.c", LIST);
    folder.run(&["verify", "@p.c"]).ends_with(1).says("VALUE == 1 at @p.c:6:5");
    folder.run(&["verify", "@d/@p.c"]).ends_with(1).says("VALUE == 1 at @d/@p.c:6:5");
    let errors =
        folder.write("@p.i", "int main(void)\n{\n    return x;\n}\n").run(&["verify", "@p.i"]);
    errors.ends_with(2).complains("@p.i:3:12: error: use of undeclared identifier");
}

#[test]
fn names_are_no_options() {
    let folder = Folder::new();
    folder.write("-p.c", FAILING).write("h.h", "#define VALUE 2\n");
    folder.write("w", "parallax schedule 1\ninput -p.c\nmodel sc\n");
    let input: &Path = &folder.path().join("-p.c");
    folder.run(&["verify", &input.display().to_string()]).ends_with(1).says("VALUE == 1");
    // The name that a schedule has for its program is no better.
    folder.run(&["replay", "w"]).ends_with(1).says("VALUE == 1");
}

#[test]
fn assemblers_get_no_options_either() {
    let folder = Folder::new();
    let main = ".globl main\n.text\nmain: xorl %eax, %eax\n ret\n";
    for (name, list) in [("@m.s", "m.s"), ("-m.s", "x.s"), ("@d/@m.S", "d/@m.S")] {
        folder.write(name, main).write(list, "x.s -fplugin=./no-such-plugin.so\n");
        let input = folder.path().join(name).display().to_string();
        folder.run(&["verify", &input]).ends_with(0).says("safe");
    }
    folder.run(&["verify", "@m.s"]).ends_with(0).says("safe");
}

const BUFFERED: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    atomic_int x, y;\nint a, b;\n\
    void *one(void *unused) {\n  atomic_store_explicit(&x, 1, memory_order_relaxed);\n  \
    a = atomic_load_explicit(&y, memory_order_relaxed);\n  return 0;\n}\n\
    void *two(void *unused) {\n  atomic_store_explicit(&y, 1, memory_order_relaxed);\n  \
    b = atomic_load_explicit(&x, memory_order_relaxed);\n  return 0;\n}\n\
    int main(void) {\n  pthread_t s, t;\n  pthread_create(&s, 0, one, 0);\n  \
    pthread_create(&t, 0, two, 0);\n  pthread_join(s, 0);\n  pthread_join(t, 0);\n  \
    assert(a || b);\n}\n";

#[test]
fn repairs_bear_strange_names() {
    let folder = Folder::new();
    for name in ["a;b.c", "@f.c", "x y'z\".c"] {
        folder.write(name, BUFFERED);
        let run = folder.run(&["fences", name]);
        run.ends_with(0)
            .says("+  atomic_thread_fence(memory_order_seq_cst);")
            .complains("2 fences");
    }
}

/// A program says what its files are called. That is no reason to change them.
#[test]
fn repairs_stay_with_the_inputs() {
    let folder = Folder::new();
    let victim = "\n".repeat(30);
    folder.write("victim.h", &victim);
    let text = BUFFERED.replace("void *one", "#line 1 \"../victim.h\"\nvoid *one");
    folder.write("work/a.c", text);
    let inside = folder.path().join("work");
    let run = support::run_in(&inside, &["fences", "--edit-headers", "--in-place", "a.c"]);
    assert_eq!(fs::read_to_string(folder.path().join("victim.h")).unwrap(), victim);
    assert!(!run.stdout.contains("+++ "), "{}", run.stdout);
}

#[test]
fn tests_do_not_choose_where_pictures_go() {
    let folder = Folder::new();
    folder.write("a.litmus", SB.replacen("SB", "../../escaped", 1)).write("victim", "kept");
    fs::create_dir(folder.path().join("out")).unwrap();
    symlink("../victim", folder.path().join("out/_.._.._escaped-1.svg")).unwrap();
    folder.run(&["litmus", "--graph", "out", "a.litmus"]).ends_with(0);
    assert_eq!(fs::read_to_string(folder.path().join("victim")).unwrap(), "kept");
    let drawn = fs::read_to_string(folder.path().join("out/_.._.._escaped-1.svg")).unwrap();
    assert!(drawn.starts_with("<svg"), "{drawn}");
    let outside = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(outside, 3, "a.litmus, victim and out");
}

/// Nothing in it but text, and the ends of lines.
#[track_caller]
fn is_plain(run: &Run) {
    for text in [&run.stdout, &run.stderr] {
        let bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!text.contains(bad), "{text:?}");
    }
}

#[test]
fn terminals_have_nothing_to_obey() {
    let folder = Folder::new();
    let name = "a\x1b]0;t\x07\u{9b}2J\nsafe: b.c";
    let text = "#include <assert.h>\nint main(void)\n{\n    int x\u{202e}\u{e9} = 0; /* \x1b[2J\u{202e} */ \
        __assert_fail(\"\\x1b[31m \\xe2\\x80\\xae\", \"f\", 1, \"g\");\n}\n"
        .replace("x\u{202e}\u{e9}", "x");
    folder.write(name, text);
    for format in ["text", "json", "sarif"] {
        let run = folder.run(&["verify", "--format", format, name]);
        is_plain(run.ends_with(1));
        if format != "text" {
            let _: Value = serde_json::from_str(&run.stdout).expect("JSON");
        } else {
            assert!(!run.stdout.contains("\nsafe"), "{}", run.stdout);
        }
    }
    is_plain(folder.write(name, "int \x1b[2J\u{9b} x;\n").run(&["verify", name]).ends_with(2));
    is_plain(folder.run(&["verify", "no\x1b[2J.c"]).ends_with(2));
    let test = SB.replacen("SB", "S\x1b[2JB", 1);
    is_plain(&folder.write("t.litmus", &test).run(&["litmus", "t.litmus"]));
    let wrong = SB.replace("MOV EAX,[y]", "J\x1b[2J\u{202e}");
    is_plain(folder.write("w.litmus", wrong).run(&["litmus", "w.litmus"]).ends_with(2));
}

/// Runs with a folder of its own for temporary files, and says what is left there.
fn scratch_after(arguments: &[&str], folder: &Folder) -> (i32, usize) {
    let temporary = folder.path().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = command();
    command.current_dir(folder.path()).env("TMPDIR", &temporary).args(arguments);
    let output = command.output().expect("the command starts");
    let left = fs::read_dir(&temporary).unwrap().count();
    (output.status.code().unwrap_or(-1), left)
}

#[test]
fn temporary_files_go_away() {
    let folder = Folder::new();
    folder
        .write("a.c", "int main(void) { return 0; }\n")
        .write("b.c", "int main(void) { return x; }\n");
    folder.write("a.s", ".globl main\nmain: xorl %eax, %eax\n ret\n").write("b.s", "hop\n");
    for (name, code) in [("a.c", 0), ("b.c", 2), ("a.s", 0), ("b.s", 2)] {
        assert_eq!(scratch_after(&["verify", name], &folder), (code, 0), "{name}");
    }
    folder.write("f.c", BUFFERED);
    assert_eq!(scratch_after(&["fences", "f.c"], &folder), (0, 0));
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success()));
}

/// Clang waits for a pipe that is included.
#[test]
fn temporary_files_go_away_after_ctrl_c() {
    let folder = Folder::new();
    folder.write("a.c", "#include \"pipe.h\"\nint main(void) { return 0; }\n");
    let (pipe_path, temporary) = (folder.path().join("pipe.h"), folder.path().join("tmp"));
    pipe(&pipe_path);
    fs::create_dir(&temporary).unwrap();
    let mut child = command()
        .current_dir(folder.path())
        .env("TMPDIR", &temporary)
        .args(["verify", "a.c"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    // Opening it for writing waits until clang reads.
    let writer = fs::OpenOptions::new().write(true).open(&pipe_path).unwrap();
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 1);
    for _ in 0..2 {
        let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(signal.expect("kill runs").success());
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(child.wait().expect("an end").code(), Some(3));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    drop(writer);
    let _ = child.stdout.take().map(|mut pipe| pipe.read_to_end(&mut Vec::new()));
}

#[test]
fn pipes_devices_and_folders_are_refused() {
    let folder = Folder::new();
    let started = Instant::now();
    for kind in ["c", "i", "ll", "bc", "s", "litmus", "ops", "program"] {
        let (pipe_name, link, inner) =
            (format!("pipe.{kind}"), format!("link.{kind}"), format!("folder.{kind}"));
        pipe(&folder.path().join(&pipe_name));
        symlink("/dev/zero", folder.path().join(&link)).unwrap();
        fs::create_dir(folder.path().join(&inner)).unwrap();
        folder.run(&["verify", &pipe_name]).ends_with(2).complains("not a regular file");
        folder.run(&["verify", &link]).ends_with(2).complains("not a regular file");
        folder.run(&["verify", &inner]).ends_with(2).complains("it is a folder");
    }
    folder.write("sb.litmus", SB);
    pipe(&folder.path().join("pipe.cat"));
    for (option, path) in [("--model", "./pipe.cat"), ("--expect", "/dev/zero")] {
        folder.run(&["litmus", option, path, "sb.litmus"]).ends_with(2).complains("not a regular");
    }
    folder.run(&["litmus", "@/dev/zero"]).ends_with(2).complains("not a regular file");
    folder.run(&["replay", "/dev/zero"]).ends_with(2).complains("not a regular file");
    folder.run(&["verify", "-p", "/dev/zero/../zero.prp", "sb.litmus"]).ends_with(2);
    // What a C file includes is clang's to read, and clang has to come to its end.
    folder.write("a.c", "#include \"pipe.c\"\n");
    let late = folder.run(&["verify", "--timeout", "0.5", "a.c"]);
    late.ends_with(2).complains("the time was over");
    assert!(started.elapsed() < Duration::from_secs(120));
}

#[test]
fn files_have_size_limits() {
    let folder = Folder::new();
    for kind in ["c", "i", "ll", "bc", "s", "litmus", "ops", "program", "o", "prp"] {
        let name = format!("big.{kind}");
        let size = if kind == "o" { (1 << 30) + 1 } else { (64 << 20) + 1 };
        let file = fs::File::create(folder.path().join(&name)).unwrap();
        // Takes no room: there is nothing in it.
        file.set_len(size).unwrap();
        let arguments = match kind {
            "prp" => vec!["verify", "-p", &name, "sb.litmus"],
            _ => vec!["verify", &name],
        };
        folder.run(&arguments).ends_with(2).complains("is longer than");
    }
    folder.run(&["replay", "big.ops"]).ends_with(2).complains("is longer than 64 MiB");
    fs::File::create(folder.path().join("m.cat")).and_then(|file| file.set_len(5 << 20)).unwrap();
    folder.write("sb.litmus", SB);
    let run = folder.run(&["litmus", "--model", "m.cat", "sb.litmus"]);
    run.ends_with(2).complains("is longer than 4 MiB");
}

/// Places have the names of files: no name ends a line, and one that cannot be shown is refused.
#[test]
fn repairs_are_reported_in_lines_of_their_own() {
    let folder = Folder::new();
    let program = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
        atomic_int x, y; int a, b;\n\
        void *f(void *p) { atomic_store_explicit(&x, 1, memory_order_relaxed);\n\
        a = atomic_load_explicit(&y, memory_order_relaxed); return 0; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);\n\
        atomic_store_explicit(&y, 1, memory_order_relaxed);\n\
        b = atomic_load_explicit(&x, memory_order_relaxed);\n\
        pthread_join(t, 0); assert(a || b); }\n";
    folder.write("a\nsafe.c", program);
    let run = folder.run(&["fences", "--model", "tso", "a\nsafe.c"]);
    run.ends_with(0).says("--- \"a/a\\012safe.c\"\n").complains("a\\u{a}safe.c:");
    let name = OsStr::from_bytes(b"b\xff.c");
    fs::write(folder.path().join(name), program).unwrap();
    let mut command = command();
    command.current_dir(folder.path()).args(["fences", "--model", "tso"]).arg(name);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not UTF-8"));
}
