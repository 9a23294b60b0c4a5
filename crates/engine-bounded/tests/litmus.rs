//! The bounded engine gives the answers of the enumeration, test by test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_engine_bounded::{Finding, Options, check};
use parallax_engine_enumerate::enumerate;
use parallax_frontend_litmus::{LitmusTest, parse};
use parallax_memory::Model;
use parallax_program::{Prop, Quantifier, Question};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// The same test, asking for the states that are violations.
fn bad_states(question: &Question) -> Question {
    let prop = match question.quantifier {
        Quantifier::Exists | Quantifier::NotExists => question.prop.clone(),
        Quantifier::ForAll => Prop::Not(Box::new(question.prop.clone())),
    };
    Question { quantifier: Quantifier::NotExists, prop, ..question.clone() }
}

struct Models(BTreeMap<String, Arc<Model>>);

impl Models {
    fn get(&mut self, name: &str) -> Arc<Model> {
        let load = || Model::builtin(name).expect("a model").expect("a right model");
        self.0.entry(name.to_string()).or_insert_with(load).clone()
    }
}

/// Whether the engines disagree, and how.
fn difference(test: &LitmusTest, model: &Model) -> Option<String> {
    let question = bad_states(&test.question);
    let slow = enumerate(&test.program, &question, model, &Default::default());
    let fast = check(&test.program, &question, model, &Options::default());
    let (slow, fast) = match (slow, fast) {
        (Ok(slow), Ok(fast)) => (slow, fast),
        (Err(_), Err(_)) => return None,
        // What is an error there may be beyond this engine, too.
        (Err(_), Ok(fast)) if matches!(fast.finding, Finding::Unknown(_)) => return None,
        (Ok(_), Err(error)) => return Some(format!("refused: {}", error[0])),
        (Err(error), Ok(_)) => return Some(format!("not refused: {}", error[0])),
    };
    let reachable = slow.positive > 0;
    match fast.finding {
        Finding::Reachable(_) if !reachable => Some("reachable, but it should not be".to_string()),
        Finding::Reachable(_) => None,
        Finding::Unknown(reason) if reason.message.contains("replayed") => Some(reason.message),
        Finding::Unreachable { .. } if reachable => {
            Some("unreachable, but it should not be".to_string())
        }
        Finding::Unreachable { .. } => None,
        Finding::Unknown(reason) => Some(format!("unknown: {}", reason.message)),
    }
}

fn compare(list: &Path, only: Option<&str>) -> (usize, Vec<String>) {
    let folder = list.parent().expect("a folder");
    let text = std::fs::read_to_string(list).expect("a list of tests");
    let mut models = Models(BTreeMap::new());
    let (mut agree, mut differ) = (0, Vec::new());
    for line in text.lines().skip(1) {
        let mut parts = line.split(',');
        let (Some(file), Some(model)) = (parts.next(), parts.next()) else {
            continue;
        };
        if only.is_some_and(|only| !line.contains(only)) {
            continue;
        }
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path).expect("a test");
        let Ok(test) = parse(file, &text) else {
            continue;
        };
        let model = models.get(model);
        match difference(&test, &model) {
            None => agree += 1,
            Some(how) => differ.push(format!("{file} under {}: {how}", model.name())),
        }
    }
    (agree, differ)
}

#[test]
fn the_corpus_has_the_same_answers() {
    let (agree, differ) = compare(&corpus().join("expected.csv"), None);
    assert!(
        differ.is_empty(),
        "{} of {}:\n{}",
        differ.len(),
        agree + differ.len(),
        differ.join("\n")
    );
    assert!(agree > 100, "{agree}");
}

/// Any other list of tests: `PARALLAX_LITMUS_LIST=suites/expected.csv cargo test -- --ignored`.
#[test]
#[ignore = "needs a list of tests"]
fn a_list_has_the_same_answers() {
    let list = std::env::var("PARALLAX_LITMUS_LIST").expect("PARALLAX_LITMUS_LIST");
    let only = std::env::var("PARALLAX_LITMUS_ONLY").ok();
    let (agree, differ) = compare(Path::new(&list), only.as_deref());
    assert!(
        differ.is_empty(),
        "{} of {}:\n{}",
        differ.len(),
        agree + differ.len(),
        differ.join("\n")
    );
    assert!(agree > 0);
}
