//! The examples, through every engine that can run them, under every model: the answers are those
//! of `examples/ops/expected.csv`, which agree with the tables of P. Maleehuan's dissertation.

use std::fs;
use std::path::{Path, PathBuf};

use parallax_engine_enumerate::enumerate;
use parallax_engine_explore::explore;
use parallax_engine_states::search;
use parallax_frontend_ops::syntax::Structures;
use parallax_frontend_ops::{Judging, lower, parse, translate, with_integers};
use parallax_memory::Model;
use parallax_program::Property;
use parallax_verdict::Conclusion;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ops")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What each engine concludes that can.
fn conclusions(structures: &Structures, name: &str) -> Vec<(&'static str, Conclusion)> {
    let model = Model::builtin(name).expect("the model is there").expect("it is a model");
    let mut all = Vec::new();
    let lowered = lower(structures, Judging::of(structures)).expect("it lowers");
    let options = parallax_engine_bounded::Options {
        properties: vec![Property::Assert],
        ..Default::default()
    };
    let bounded = parallax_engine_bounded::verify(&lowered.program, &model, &options);
    all.push(("bounded", bounded.expect("it runs").verdict.conclusion()));
    if matches!(name, "sc" | "tso" | "pso") && !lowered.has_reservations() {
        let program = lowered.program;
        let properties = vec![Property::Assert];
        let options = parallax_engine_explore::Options {
            properties: properties.clone(),
            ..Default::default()
        };
        all.push(("explore", explore(&program, &model, &options).expect("it runs").conclusion()));
        let options = parallax_engine_states::Options { properties, ..Default::default() };
        all.push(("states", search(&program, &model, &options).expect("it runs").conclusion()));
    }
    let lowered = lower(structures, Judging::ByQuestion).expect("it lowers");
    let question = lowered.question.expect("there is a question");
    let options = parallax_engine_enumerate::Options::default();
    let outcomes = enumerate(&lowered.program, &question, &model, &options).expect("it runs");
    let conclusion = if outcomes.positive > 0 { Conclusion::Unsafe } else { Conclusion::Safe };
    all.push(("enumerate", conclusion));
    all
}

/// What the bounded engine concludes by the order of sub-operations.
fn by_sub_operations(structures: &Structures, name: &str) -> Conclusion {
    let model = Model::builtin(name).expect("the model is there").expect("it is a model");
    let lowered = lower(structures, Judging::of(structures)).expect("it lowers");
    let options = parallax_engine_bounded::Options {
        properties: vec![Property::Assert],
        framework: parallax_engine_bounded::Framework::Gharachorloo,
        ..Default::default()
    };
    let bounded = parallax_engine_bounded::verify(&lowered.program, &model, &options);
    bounded.expect("it runs").verdict.conclusion()
}

#[test]
fn examples_have_the_expected_verdicts() {
    let table = read(&folder().join("expected.csv"));
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let models = lines.next().expect("there is a first line");
    let mut listed = Vec::new();
    for line in lines {
        let path = folder().join(line[0]);
        let structures = parse(line[0], &read(&path)).expect("it reads");
        assert_eq!(line.len(), models.len(), "{}", line[0]);
        for (model, expected) in models.iter().zip(&line).skip(1) {
            if let Some(model) = model.strip_prefix("gharachorloo ") {
                let found = by_sub_operations(&structures, model);
                assert_eq!(found.name(), *expected, "{} under {model} by sub-operations", line[0]);
                continue;
            }
            for (engine, found) in conclusions(&structures, model) {
                assert_eq!(found.name(), *expected, "{} under {model} by {engine}", line[0]);
            }
        }
        listed.push(line[0].to_string());
    }
    let present: Vec<String> = files(".ops").into_iter().map(|(name, _)| name).collect();
    assert_eq!(listed, present, "every example has its line, in order");
}

/// None of the examples wraps around, so integers do what words do.
#[test]
fn integers_make_no_difference_to_small_numbers() {
    let table = read(&folder().join("expected.csv"));
    for line in table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        let structures = parse(line[0], &read(&folder().join(line[0]))).expect("it reads");
        let lowered = lower(&structures, Judging::of(&structures)).expect("it lowers");
        let program = with_integers(lowered.program);
        assert!(program.check().is_ok(), "{}", line[0]);
        for (name, expected) in [("sc", line[1]), ("pso", line[3])] {
            let model = Model::builtin(name).expect("the model is there").expect("it is a model");
            let backend = parallax_engine_bounded::Backend::Z3;
            let options = parallax_engine_bounded::Options {
                properties: vec![Property::Assert],
                solving: parallax_engine_bounded::Solving {
                    backend,
                    integers: true,
                    ..Default::default()
                },
                ..Default::default()
            };
            let found = parallax_engine_bounded::verify(&program, &model, &options);
            let found = found.expect("it runs").verdict;
            assert_eq!(found.conclusion().name(), expected, "{} under {name}", line[0]);
        }
    }
}

/// Files of a kind, with their names.
fn files(extension: &str) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder()).expect("the folder is there").flatten();
    let mut files: Vec<(String, PathBuf)> = entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, _)| name.ends_with(extension))
        .collect();
    files.sort();
    files
}

/// Structures that are not made from code say so, and name it.
#[test]
fn structures_are_what_their_assembly_code_translates_to() {
    let mut count = 0;
    for (name, path) in files(".asm") {
        let translated = translate(&name, &read(&path)).expect("it translates");
        let structures = read(&path.with_extension("ops"));
        if structures.contains(&format!("by hand, for assembly code has no invariants; {name}"))
            || structures.contains(&format!("by hand, with operations alone; {name}"))
        {
            assert_ne!(translated, structures, "{name}");
        } else {
            assert_eq!(translated, structures, "{name}");
            count += 1;
        }
    }
    assert!(count >= 12);
    for (name, path) in files(".ops") {
        let structures = read(&path);
        let named = structures.lines().find(|line| line.contains("Written by hand"));
        let code =
            named.and_then(|line| line.split([' ', ';']).find(|word| word.ends_with(".asm")));
        let code = code.map_or_else(|| path.with_extension("asm"), |code| folder().join(code));
        assert!(code.exists(), "{name} comes from {}", code.display());
    }
}

/// Where structures are written by hand, the code has the same verdicts.
#[test]
fn code_has_the_verdicts_of_what_is_written_by_hand() {
    let table = read(&folder().join("expected.csv"));
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let models = lines.next().expect("there is a first line");
    let mut count = 0;
    for line in lines {
        let code = folder().join(line[0]).with_extension("asm");
        if !code.exists() || !read(&folder().join(line[0])).contains("Written by hand") {
            continue;
        }
        let text = translate(line[0], &read(&code)).expect("it translates");
        let structures = parse(line[0], &text).expect("it reads");
        for (model, expected) in models.iter().zip(&line).skip(1).take(4) {
            for (engine, found) in conclusions(&structures, model) {
                assert_eq!(found.name(), *expected, "{} under {model} by {engine}", line[0]);
            }
        }
        count += 1;
    }
    assert_eq!(count, 3);
}

/// Message passing with fences to so many processors, all but one of them readers.
fn series(processors: usize) -> Structures {
    let mut code = String::from(
        "isa arm\nloc [x] = 0, [y] = 0\nthread P1:\n mov r1, #1\n str r1, [x]\n dmb\n str r1, [y]\n",
    );
    for reader in 2..=processors {
        code.push_str(&format!("thread P{reader}:\nL: ldr r1, [y]\n cmp r1, #1\n bne L\n dmb\n"));
        code.push_str(" ldr r2, [x]\n assert r2 = 1\n");
    }
    let text = translate("series.asm", &code).expect("it translates");
    parse("series.ops", &text).expect("it reads")
}

#[test]
fn message_passing_to_many_processors_is_safe() {
    for processors in 2..=8 {
        let structures = series(processors);
        let program = lower(&structures, Judging::AtOnce).expect("it lowers").program;
        for name in ["sc", "tso", "pso"] {
            let model = Model::builtin(name).expect("the model is there").expect("it is a model");
            let options = parallax_engine_states::Options {
                properties: vec![Property::Assert],
                ..Default::default()
            };
            let verdict = search(&program, &model, &options).expect("it runs");
            assert_eq!(verdict.conclusion(), Conclusion::Safe, "{processors} under {name}");
        }
    }
    for (engine, conclusion) in conclusions(&series(3), "arm") {
        assert_eq!(conclusion, Conclusion::Safe, "3 on arm by {engine}");
    }
}

/// A location that may hold anything at first, against what is assumed and asserted of it.
#[test]
fn initial_values_may_be_arbitrary() {
    let text = |assertion: &str| {
        format!(
            "loc [x] = any, [y] = any; thread P1 {{ instr{{ a := [x] }}; assume(a < 2) }}
             thread P2 {{ instr{{ b := [x] }}; instr{{ c := [y] }}; assert({assertion}) }}"
        )
    };
    let model = Model::builtin("tso").expect("the model is there").expect("it is a model");
    for (assertion, expected) in [
        ("b < 2", Conclusion::Safe),
        ("b = 0", Conclusion::Unsafe),
        ("c < 3", Conclusion::Unsafe),
        ("c < 4", Conclusion::Safe),
    ] {
        let structures = parse("t.ops", &text(assertion)).expect("it reads");
        let program = lower(&structures, Judging::of(&structures)).expect("it lowers").program;
        let (properties, nondet) = (vec![Property::Assert], Some((0, 3)));
        let options = parallax_engine_explore::Options {
            properties: properties.clone(),
            nondet,
            ..Default::default()
        };
        let explored = explore(&program, &model, &options).expect("it runs");
        assert_eq!(explored.conclusion(), expected, "{assertion} by explore");
        let options = parallax_engine_states::Options { properties, nondet, ..Default::default() };
        let searched = search(&program, &model, &options).expect("it runs");
        assert_eq!(searched.conclusion(), expected, "{assertion} by states");
    }
}

/// A computed address is looked up; where it is none, nothing is concluded.
#[test]
fn addresses_may_be_computed() {
    let text = |number: u32| {
        format!(
            "loc [0x01] = 7, [0x02] = 8; thread P1 {{ instr{{ a := {number}; v := [*a] }};
             assert(v = 8) }}"
        )
    };
    for (number, expected) in
        [(1, Conclusion::Unsafe), (2, Conclusion::Safe), (3, Conclusion::Unknown)]
    {
        let structures = parse("t.ops", &text(number)).expect("it reads");
        let program = lower(&structures, Judging::AtOnce).expect("it lowers").program;
        let model = Model::builtin("sc").expect("the model is there").expect("it is a model");
        let options = parallax_engine_explore::Options::default();
        let verdict = explore(&program, &model, &options).expect("it runs");
        assert_eq!(verdict.conclusion(), expected, "{number}");
    }
}

/// The instruction after a branch of SPARC runs first, unless it is annulled.
#[test]
fn delayed_branches_run_the_instruction_after_them() {
    let cases = [
        ("brz %g1, L\n mov 5, %g2\n mov 9, %g2", "g2 = 5"),
        ("brnz %g1, L\n mov 5, %g2\n add %g2, 1, %g2", "g2 = 6"),
        ("brnz,a %g1, L\n mov 5, %g2\n add %g2, 1, %g2", "g2 = 1"),
        ("brz,a %g1, L\n mov 5, %g2\n mov 9, %g2", "g2 = 5"),
        ("ba,a L\n mov 5, %g2\n mov 9, %g2", "g2 = 0"),
        ("ba L\n mov 5, %g2\n mov 9, %g2", "g2 = 5"),
        // The condition is that of before.
        ("brz %g1, L\n mov 1, %g1\n mov 9, %g2", "g1 = 1 /\\ g2 = 0"),
    ];
    for (code, assertion) in cases {
        let text = format!("isa sparc\nthread P:\n {code}\nL: nop\n assert {assertion}\n");
        let structures = translate("t.asm", &text).expect("it translates");
        let structures = parse("t.ops", &structures).expect("it reads");
        let program = lower(&structures, Judging::AtOnce).expect("it lowers").program;
        let model = Model::builtin("sc").expect("the model is there").expect("it is a model");
        let options = parallax_engine_explore::Options::default();
        let verdict = explore(&program, &model, &options).expect("it runs");
        assert_eq!(verdict.conclusion(), Conclusion::Safe, "{code}: {assertion}");
    }
}
