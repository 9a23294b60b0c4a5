//! Models from files, as people bring them along from herd7.

use crate::support;

use support::{Folder, MP, SB};

const TSO: &str = "X86 \"TSO, for people\"\ninclude \"cos.cat\"\ninclude \"x86fences.cat\"\n\
    acyclic po-loc | rf | co | fr as coherence\n\
    acyclic (po \\ (W * R)) | mfence | rfe | co | fr as order\n";

#[test]
fn what_the_engine_does_is_not_taken_from_files() {
    let folder = Folder::new();
    folder
        .write("SB.litmus", SB)
        .write("MP.litmus", MP)
        .write("tso.cat", TSO)
        .write("cos.cat", "this is not cat");
    let run = folder.run(&["litmus", "--model", "tso.cat", "SB.litmus", "MP.litmus"]);
    run.ends_with(0).says("Observation SB Sometimes 1 3").says("Observation MP Never 0 3");
}

#[test]
fn other_files_beside_a_model_come_before_the_library() {
    let folder = Folder::new();
    folder.write("SB.litmus", SB).write("tso.cat", TSO).write("x86fences.cat", "let mfence = po");
    let run = folder.run(&["litmus", "--model", "tso.cat", "SB.litmus"]);
    run.ends_with(0).says("Observation SB Never 0 3");
}

#[test]
fn undefined_behaviour_is_flagged() {
    let folder = Folder::new();
    let text = "\"races\"\nundefined_unless empty rf & ext as race\nassert empty po as still\n";
    folder.write("MP.litmus", MP).write("races.cat", text);
    let run = folder.run(&["litmus", "--model", "races.cat", "MP.litmus"]);
    run.ends_with(0).says("Flag undef\n").says("Flag assertion-failed-still\n");
}

const BELL: &str = "\"Kernel C\"\nenum Barriers = 'mb || 'rcu-lock || 'rcu-unlock\n\
    instructions F[Barriers]\n\
    let Marked = (~M) | IW | Once | Srcu-lock | Srcu-unlock\nlet Plain = M \\ Marked\n\
    let srcu-rscs = ([Srcu-lock]; data; [Srcu-unlock]) & loc\n\
    flag ~empty different-values(srcu-rscs) as other-value\n";

const KERNEL: &str = "include \"lock.cat\"\n\
    acyclic po-loc | rf | co | fr as coherence\nacyclic po | rf | co | fr as sc\n\
    flag ~empty Plain as plain\n";

fn srcu(value: &str) -> String {
    format!(
        "C srcu\n{{}}\nP0(struct srcu_struct *s, int *x)\n{{\n int r0;\n \
         r0 = srcu_read_lock(s);\n WRITE_ONCE(*x, 1);\n srcu_read_unlock(s, {value});\n}}\n\
         P1(struct srcu_struct *s, int *x)\n{{\n synchronize_srcu(s);\n}}\nexists (x=1)\n"
    )
}

#[test]
fn a_bell_file_comes_before_the_model() {
    let folder = Folder::new();
    folder
        .write("good.litmus", srcu("r0"))
        .write("bad.litmus", srcu("r0 + 1"))
        .write("kernel.bell", BELL)
        .write("kernel.cat", KERNEL)
        .write("lock.cat", "this is not cat")
        .write("both.cat", format!("include \"kernel.bell\"\n{KERNEL}"));
    for model in [&["--model", "kernel.cat", "--bell", "kernel.bell"][..], &["--model", "both.cat"]]
    {
        let run = |test| folder.run(&[&["litmus", test], model].concat());
        let good = run("good.litmus");
        good.ends_with(0).says("Observation srcu Always");
        assert!(!good.stdout.contains("Flag"), "{}", good.stdout);
        let bad = run("bad.litmus");
        bad.ends_with(0).says("Flag other-value\n");
        assert!(!bad.stdout.contains("plain"), "{}", bad.stdout);
    }
    let run = folder.run(&["litmus", "good.litmus", "--bell", "kernel.bell"]);
    run.ends_with(2).complains("needs no bell file");
}
