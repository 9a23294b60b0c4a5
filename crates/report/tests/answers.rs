//! Logs and JSON against expected texts.

use crate::support;

use std::time::Duration;

use parallax_program::{Diagnostic, Quantifier, SourceFile, Span};
use parallax_report::{TestRun, error_json, herd_log, outcomes_json};
use parallax_verdict::{Ending, FinalState, Outcomes};
use support::state;

fn outcomes(quantifier: Quantifier, ending: Ending) -> Outcomes {
    let final_state = |values: &[(&str, &str)], satisfies| FinalState {
        values: state(values),
        satisfies,
        executions: 1,
    };
    Outcomes {
        quantifier,
        states: vec![
            final_state(&[("x", "2"), ("0:EAX", "10")], false),
            final_state(&[("x", "2"), ("0:EAX", "9")], false),
            final_state(&[("x", "1"), ("0:EAX", "9")], true),
        ],
        positive: 1,
        negative: 3,
        counts_are_total: true,
        flags: vec!["race".to_string()],
        ending,
        witnesses: Vec::new(),
    }
}

fn log(quantifier: Quantifier, ending: Ending) -> String {
    let outcomes = outcomes(quantifier, ending);
    let time = Duration::from_millis(1234);
    herd_log("T+a", &outcomes, "exists ([x]=1)", time)
}

#[test]
fn a_log_entry_has_every_part_in_its_place() {
    let expected = "\
Test T+a Allowed
States 3
0:EAX=9; [x]=1;
0:EAX=9; [x]=2;
0:EAX=10; [x]=2;
Ok
Witnesses
Positive: 1 Negative: 3
Flag race
Condition exists ([x]=1)
Observation T+a Sometimes 1 3
Time T+a 1.23

";
    assert_eq!(log(Quantifier::Exists, Ending::Complete), expected);
}

#[test]
fn a_forbidden_outcome_exchanges_the_witness_counts_only() {
    let log = log(Quantifier::NotExists, Ending::Complete);
    assert!(log.starts_with("Test T+a Forbidden\n"));
    assert!(log.contains("\nNo\nWitnesses\nPositive: 3 Negative: 1\n"));
    assert!(log.contains("\nObservation T+a Sometimes 1 3\n"));
}

#[test]
fn bounded_and_stopped_searches_say_so() {
    assert!(log(Quantifier::Exists, Ending::Bounded).contains("\nLoop Ok\n"));
    assert!(log(Quantifier::ForAll, Ending::Bounded).contains("\nLoop No\n"));
    let stopped = || Ending::Stopped { reason: "after 1 s".to_string() };
    let settled = log(Quantifier::Exists, stopped());
    assert!(settled.contains("\nOk\n") && settled.contains("\nStopped T+a after 1 s\n\n"));
    let mut open = outcomes(Quantifier::Exists, stopped());
    open.positive = 0;
    let open = herd_log("T", &open, "exists (false)", Duration::ZERO);
    assert!(open.contains("\n??\n"));
}

#[test]
fn an_answer_is_one_line_of_json() {
    let run = TestRun {
        test: "T",
        file: "a \"b\".litmus",
        arch: "X86",
        model: "tso",
        time: Duration::from_millis(500),
    };
    let complete = outcomes_json(run, &outcomes(Quantifier::Exists, Ending::Complete));
    let expected = concat!(
        r#"{"test":"T","file":"a \"b\".litmus","arch":"X86","model":"tso","condition":"ok","#,
        r#""observation":"sometimes","positive":1,"negative":3,"#,
        r#""states":[{"x":"2","0:EAX":"10"},{"x":"2","0:EAX":"9"},{"x":"1","0:EAX":"9"}],"#,
        r#""executions":4,"flags":["race"],"ending":"complete","scope":"complete","#,
        r#""counts":"total","time_s":0.5}"#
    );
    assert_eq!(complete, expected);
}

#[test]
fn an_unsettled_condition_is_null() {
    let run = TestRun { test: "T", file: "f", arch: "C", model: "rc11", time: Duration::ZERO };
    let ending = Ending::Stopped { reason: "interrupted".to_string() };
    let mut stopped = outcomes(Quantifier::ForAll, ending);
    stopped.negative = 0;
    let json = outcomes_json(run, &stopped);
    assert!(json.contains(r#""condition":null"#));
    assert!(json.contains(r#""ending":"stopped","scope":null,"reason":"interrupted""#));
}

#[test]
fn errors_have_their_places() {
    let source = SourceFile::new("a.litmus", "one\ntwo\n");
    let errors = vec![
        source.error(Span::new(5, 6), "unknown 'w'"),
        Diagnostic::new("no place").with_help("look elsewhere"),
    ];
    let expected = concat!(
        r#"{"test":null,"file":"a.litmus","#,
        r#""error":{"message":"unknown 'w'","file":"a.litmus","line":2,"column":2},"errors":["#,
        r#"{"message":"unknown 'w'","file":"a.litmus","line":2,"column":2},"#,
        r#"{"message":"no place","line":null,"column":null,"help":"look elsewhere"}]}"#
    );
    assert_eq!(error_json(None, "a.litmus", &errors), expected);
}
