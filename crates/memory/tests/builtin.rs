//! The models that come with the program.

use parallax_memory::Model;

#[test]
fn every_model_reads_and_has_a_plan() {
    let mut names = Vec::new();
    for (name, summary, text) in Model::builtin_names() {
        names.push(name);
        assert!(!summary.is_empty() && !text.is_empty());
        match Model::builtin(name) {
            Some(Ok(model)) => {
                assert!(model.axioms().iter().any(|axiom| !axiom.is_flag()));
                assert!(model.is_compiled(), "{name} needs the slow evaluator");
            }
            Some(Err(diagnostics)) => {
                let text: Vec<String> = diagnostics.iter().map(|d| d.to_string()).collect();
                panic!("{name}:\n{}", text.join("\n"));
            }
            None => panic!("{name} is listed and missing"),
        }
    }
    assert_eq!(names.len(), 16);
    assert!(Model::builtin("nothing").is_none());
}

#[test]
fn what_the_models_imply() {
    let implies = |name: &str| {
        let model = Model::builtin(name).and_then(Result::ok);
        let model = model.unwrap_or_else(|| panic!("{name} does not load"));
        (model.implies_coherence(), model.implies_atomicity())
    };
    let both =
        ["sc", "tso", "pso", "power", "arm", "aarch64", "riscv", "ra", "rc11", "imm", "lkmm"];
    for name in both {
        assert_eq!(implies(name), (true, true), "{name}");
    }
    let orders = |name: &str| {
        Model::builtin(name)
            .and_then(Result::ok)
            .is_some_and(|model| model.implies_order_of_writes())
    };
    // `irreflexive hb; eco?` says nothing of three writes in three threads.
    assert!(["sc", "tso", "aarch64", "power"].into_iter().all(orders));
    assert!(!["rc11", "ra", "imm"].into_iter().any(orders));
    // Reads of one location may be reordered.
    assert_eq!(implies("rmo"), (false, true));
    // Only atomic accesses are kept in order.
    assert_eq!(implies("c11"), (false, false));
}
