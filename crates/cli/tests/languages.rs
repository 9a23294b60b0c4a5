//! Models and the languages that they speak of: a model is not asked about a program whose accesses
//! and fences it does not know, and what C says of races holds under every model.

use crate::support;

use support::{Folder, SB};

/// Message passing of a plain variable; the orders of the flag's store and load.
fn message_passing(store: &str, load: &str) -> String {
    format!(
        "#include <stdatomic.h>\n#include <pthread.h>\n#include <assert.h>\n\
         atomic_int flag; int data;\n\
         static void *give(void *p) {{\n  data = 1;\n  \
         atomic_store_explicit(&flag, 1, memory_order_{store});\n  return 0;\n}}\n\
         static void *take(void *p) {{\n  \
         if (atomic_load_explicit(&flag, memory_order_{load}))\n    assert(data == 1);\n  \
         return 0;\n}}\n\
         int main(void) {{\n  pthread_t a, b;\n  pthread_create(&a, 0, give, 0);\n  \
         pthread_create(&b, 0, take, 0);\n  pthread_join(a, 0);\n  pthread_join(b, 0);\n}}\n"
    )
}

/// The text of a built-in model, in a file of the same name.
fn with_model(folder: &Folder, name: &str) -> String {
    let file = format!("{name}.cat");
    folder.write(&file, &folder.run(&["models", name]).ends_with(0).stdout);
    format!("./{file}")
}

#[test]
fn c_is_compiled_for_the_machine_that_a_file_speaks_of() {
    let folder = Folder::new();
    folder.write("mp.c", message_passing("relaxed", "relaxed"));
    folder.write("safe.c", message_passing("release", "acquire"));
    for name in ["aarch64", "power", "riscv"] {
        let file = with_model(&folder, name);
        for model in [name, &file] {
            let run = |input| folder.run(&["verify", "-p", "assert", "--model", model, input]);
            run("mp.c").ends_with(1).says("C11 was compiled to the accesses and fences of");
            run("safe.c").ends_with(0);
        }
    }
}

#[test]
fn a_file_that_does_not_speak_of_c_is_refused() {
    let folder = Folder::new();
    folder.write("mp.c", message_passing("relaxed", "relaxed"));
    folder.write("x86.cat", "mine\nacyclic po-loc | rf | co | fr\nlet fenced = po; [MFENCE]; po\nacyclic fenced | rfe | co | fr\n");
    let files = [with_model(&folder, "arm"), with_model(&folder, "lkmm"), "./x86.cat".to_string()];
    for file in files {
        for command in ["verify", "fences"] {
            let run = folder.run(&[command, "--model", &file, "mp.c"]);
            run.ends_with(2).complains("speaks of other accesses and fences than C11 has");
        }
        let run = folder.run(&["verify", "--engine", "explore", "--model", &file, "mp.c"]);
        run.ends_with(2).complains("than C11 has");
    }
}

#[test]
fn tests_of_machines_need_a_model_that_speaks_of_them() {
    let folder = Folder::new();
    let arm = "AArch64 one\n{ 0:X0=x; }\n P0 ;\n LDR W1,[X0] ;\n DMB SY ;\nexists (0:X1=0)\n";
    folder.write("SB.litmus", SB).write("one.litmus", arm);
    let (rc11, aarch64, tso) =
        (with_model(&folder, "rc11"), with_model(&folder, "aarch64"), with_model(&folder, "tso"));
    for model in ["rc11", &rc11, "aarch64", &aarch64] {
        let run = folder.run(&["litmus", "--model", model, "SB.litmus"]);
        run.ends_with(2).complains("wrong architecture");
    }
    for model in ["tso", &tso, "rc11"] {
        let run = folder.run(&["litmus", "--model", model, "one.litmus"]);
        run.ends_with(2).complains("wrong architecture");
    }
    folder.run(&["litmus", "--model", &tso, "SB.litmus"]).ends_with(0);
    folder.run(&["litmus", "--model", &aarch64, "one.litmus"]).ends_with(0);
    folder.run(&["litmus", "--model", "sc", "one.litmus"]).ends_with(0);
}

#[test]
fn races_are_those_of_c_under_every_model() {
    let folder = Folder::new();
    folder.write("racy.c", message_passing("relaxed", "acquire"));
    folder.write("safe.c", message_passing("release", "acquire"));
    let file = with_model(&folder, "tso");
    let models =
        ["tso", "pso", "rmo", "rc11", "rc20", "c11", "imm", "aarch64", "power", "riscv", &file];
    for model in models {
        let run = |input| folder.run(&["verify", "-p", "race", "--model", model, input]);
        run("racy.c").ends_with(1).says("unsafe: data race on data");
        run("safe.c").ends_with(0).says("safe: no data race");
    }
    for engine in ["explore", "bounded"] {
        for model in ["tso", "pso"] {
            let run = ["verify", "-p", "race", "--engine", engine, "--model", model, "racy.c"];
            folder.run(&run).ends_with(1).says("data race on data");
        }
    }
}

#[test]
fn what_is_asked_for_and_not_looked_for_is_no_success() {
    let folder = Folder::new();
    folder.write("safe.c", message_passing("release", "acquire"));
    let states = ["verify", "--engine", "states", "--model", "tso", "-p"];
    for asked in ["race", "race,assert"] {
        let run = folder.run(&[&states[..], &[asked, "safe.c"]].concat());
        run.ends_with(3).says("race");
    }
    let inductive = ["verify", "--engine", "inductive", "-p", "memory", "safe.c"];
    folder.run(&inductive).ends_with(3).says("memory");
    let fences = ["fences", "--model", "tso", "-p", "race", "safe.c"];
    folder.run(&fences).ends_with(2).complains("does not say what a data race is");
}

#[test]
fn exclusives_of_another_address_succeed_on_demand() {
    let test = "AArch64 T\n{ 0:X0=x; 0:X2=y; }\n P0 ;\n LDXR W1,[X0] ;\n MOV W3,#1 ;\n \
                STXR W4,W3,[X2] ;\nexists (0:X4=0)\n";
    let folder = Folder::new();
    folder.write("t.litmus", test);
    folder.run(&["litmus", "t.litmus"]).ends_with(0).says("Observation T Never");
    let run = folder.run(&["litmus", "--variant", "ConstrainedUnpredictable", "t.litmus"]);
    run.ends_with(0).says("Observation T Sometimes");
}
