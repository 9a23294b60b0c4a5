//! Verdicts on programs against expected files.

#[path = "support/programs.rs"]
pub mod programs;
use crate::support;

use std::time::Duration;

use parallax_memory::{Facts, ProgramOrder};
use parallax_program::Property;
use parallax_report::{
    Caption, Detail, Page, TextStyle, Under, VerifyRun, focused_dot, focused_svg, verdict_html,
    verdict_json, verdict_sarif, verdict_text,
};
use parallax_verdict::{
    Claimed, Confirmed, EventKind, Execution, Reason, Scope, ThreadEnding, Verdict, Violation,
};
use programs::{ended, execution, place, standing, stopped, verdict, violation};
use support::check;

const RUN: VerifyRun<'static> = VerifyRun {
    input: "mp.c",
    under: Under { model: "rc11", order: Some(ProgramOrder::MemoryOrders) },
    engine: "explore",
    counts_executions: true,
    engine_summary: "execution graphs, each once",
    all: false,
    time: Duration::from_millis(250),
    peak_rss_kib: 12_345,
    solver: None,
    candidate: None,
};

const STYLE: TextStyle = TextStyle { colour: false, width: 110, detail: Detail::Short };

/// Message passing with relaxed accesses: the message is not there yet.
fn message_passing(reader: ThreadEnding) -> Execution {
    let mut mp = execution(
        &["x=0", "flag=0"],
        &[
            (
                "main",
                &[
                    "20: starts 1 ; pthread_create(&w, 0, writer, 0);",
                    "21: starts 2 ; pthread_create(&r, 0, reader, 0);",
                ],
                stopped(),
            ),
            (
                "writer#1",
                &[
                    "7: begins 1",
                    "8: writes x=1 [RLX] ; atomic_store_explicit(&x, 1, memory_order_relaxed);",
                    "9: writes flag=1 [RLX] ; atomic_store_explicit(&flag, 1, memory_order_relaxed);",
                    "10: ends 1",
                ],
                ended(),
            ),
            (
                "reader#2",
                &[
                    "13: begins 2",
                    "14: reads flag=1 [RLX] ; while (!atomic_load_explicit(&flag, memory_order_relaxed))",
                    "16: reads x=0 [RLX] ; assert(atomic_load_explicit(&x, memory_order_relaxed) == 1);",
                ],
                standing(
                    reader,
                    16,
                    "assert(atomic_load_explicit(&x, memory_order_relaxed) == 1);",
                ),
            ),
        ],
    );
    mp.rf = vec![(0, 10), (2, 4), (3, 8), (6, 9)];
    mp.co = vec![(0, 5), (1, 6)];
    mp
}

fn weak() -> Violation {
    let execution = message_passing(ThreadEnding::Failed);
    let message = "assertion 'x == 1' fails";
    violation(Property::Assert, message, 16, execution, &[10])
}

/// Two threads increment a counter without a lock.
fn race() -> Violation {
    let mut race = execution(
        &["count=0"],
        &[
            ("main", &["20: starts 1 ; pthread_create(&t, 0, worker, 0);"], stopped()),
            (
                "worker#1",
                &["7: begins 1", "8: reads count=0 ; count++;", "8: writes count=1 ; count++;"],
                ended(),
            ),
            ("worker#2", &["8: reads count=1 ; count++;"], stopped()),
        ],
    );
    race.rf = vec![(0, 3), (1, 2), (4, 5)];
    race.co = vec![(0, 4)];
    let message = "data race on count";
    violation(Property::Race, message, 8, race, &[4, 5])
}

/// Two threads take two locks in different orders.
fn deadlock() -> Violation {
    let lock = |first: &str, other: &str| -> (Vec<String>, _) {
        let lines = vec![
            format!("8: reads {first}=0 [ACQ] ; lock(&{first});"),
            format!("8: writes {first}=1 [ACQ] ; lock(&{first});"),
            format!("9: reads {other}=1 [ACQ] ; lock(&{other});"),
        ];
        (lines, standing(ThreadEnding::Waiting, 9, &format!("lock(&{other});")))
    };
    let ((one, one_waits), (two, two_waits)) = (lock("a", "b"), lock("b", "a"));
    let one: Vec<&str> = one.iter().map(String::as_str).collect();
    let two: Vec<&str> = two.iter().map(String::as_str).collect();
    let threads = [("worker#1", &*one, one_waits), ("worker#2", &*two, two_waits)];
    let mut both = execution(&["a=0", "b=0"], &threads);
    both.rf = vec![(0, 2), (1, 5), (3, 7), (6, 4)];
    both.co = vec![(0, 3), (1, 6)];
    both.rmw = vec![(2, 3), (5, 6)];
    violation(Property::Deadlock, "deadlock", 9, both, &[4, 7])
}

/// A node is read after another thread has freed it.
fn use_after_free() -> Violation {
    let mut late = execution(
        &["head=0"],
        &[
            (
                "main",
                &[
                    "5: allocates node@mp.c:5 ; struct node *n = malloc(sizeof *n);",
                    "6: writes head=node@mp.c:5 [REL] ; atomic_store_explicit(&head, n, …);",
                    "7: frees node@mp.c:5 ; free(n);",
                ],
                stopped(),
            ),
            (
                "reader#1",
                &["12: reads head=node@mp.c:5 [ACQ] ; n = atomic_load_explicit(&head, …);"],
                standing(ThreadEnding::Failed, 13, "return n->value;"),
            ),
        ],
    );
    late.rf = vec![(2, 4)];
    late.co = vec![(0, 2)];
    let message = "read of node@mp.c:5.value after it was freed";
    violation(Property::Memory, message, 13, late, &[1, 3])
}

fn text(verdict: &Verdict) -> String {
    verdict_text(&RUN, verdict, STYLE)
}

#[test]
fn a_weak_execution_is_explained() {
    check("weak.verdict.txt", &text(&verdict(vec![weak()])));
}

#[test]
fn a_race_shows_both_accesses() {
    check("race.verdict.txt", &text(&verdict(vec![race()])));
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    check("deadlock.verdict.txt", &text(&verdict(vec![deadlock()])));
}

#[test]
fn a_memory_error_names_the_object() {
    check("memory.verdict.txt", &text(&verdict(vec![use_after_free()])));
}

#[test]
fn a_loop_that_never_ends_shows_what_it_reads() {
    let mut stuck = message_passing(ThreadEnding::Spinning { from: 1 });
    stuck.rf = vec![(0, 10), (2, 4), (3, 8), (6, 9)];
    let found = violation(Property::Liveness, "a loop never ends", 16, stuck, &[10]);
    check("liveness.verdict.txt", &text(&verdict(vec![found])));
}

#[test]
fn other_conclusions() {
    let safe = verdict(Vec::new());
    let mut bounded = safe.clone();
    bounded.scope = Some(Scope::Bounded(3));
    let mut unknown = safe.clone().withdrawn(Reason {
        message: "the function 'poll' has no body".to_string(),
        place: Some(place(30)),
        help: Some("give its source as a further input".into()),
    });
    unknown.notes = vec!["leaks were not looked for".to_string()];
    let all = [safe, bounded, unknown.clone()].map(|verdict| text(&verdict)).join("\n");
    check("others.verdict.txt", &all);
    let json = verdict_json(&RUN, &unknown);
    assert!(json.starts_with(
        r#"{"version":1,"verdict":"unknown","scope":null,"bound":null,"reason":"the"#
    ));
    let sarif: serde_json::Value = serde_json::from_str(&verdict_sarif(&RUN, &unknown)).unwrap();
    let notes = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notes[0]["message"]["text"], "the function 'poll' has no body");
}

#[test]
fn colours_are_for_terminals() {
    let style = TextStyle { colour: true, ..STYLE };
    let text = verdict_text(&RUN, &verdict(vec![weak()]), style);
    assert!(text.starts_with("\x1b[1;31munsafe\x1b[0m: assertion"));
}

#[test]
fn machine_readable_forms() {
    let pretty = |text: &str| -> String {
        let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        serde_json::to_string_pretty(&value).expect("JSON") + "\n"
    };
    let verdict = verdict(vec![weak(), race()]);
    check("verdict.json", &pretty(&verdict_json(&RUN, &verdict)));
    check("verdict.sarif", &pretty(&verdict_sarif(&RUN, &verdict)));
}

#[test]
fn pictures_show_what_matters() {
    let caption = Caption { title: "assertion 'x == 1' fails", subtitle: "rc11" };
    check("weak.svg", &focused_svg(&weak(), caption));
    check("weak.dot", &focused_dot(&weak(), caption));
    check("memory.svg", &focused_svg(&use_after_free(), caption));
}

const SOURCE: &str = include_str!("support/mp.c");

fn page(verdict: &Verdict) -> String {
    let given = ["mp.c".to_string()];
    let page = Page {
        command: "parallax verify mp.c",
        sources: &[("mp.c", SOURCE)],
        given: &given,
        model: &[("rc11.cat", "acyclic hb \"<i>\"\n")],
        settings: &[("reductions", "all".to_string())],
    };
    verdict_html(&RUN, verdict, &page)
}

#[test]
fn a_page_needs_nothing_else() {
    let page = page(&verdict(vec![weak(), deadlock()]));
    check("verdict.html", &page);
    for outside in ["<script src", "<link", "src=", "@import", "url(", "http:", "https:"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// What stands between the quotes of an attribute.
fn attribute<'t>(tag: &'t str, name: &str) -> &'t str {
    let (_, rest) = tag.split_once(&format!(" {name}=\"")).expect("the attribute");
    rest.split_once('"').expect("its end").0
}

/// Classes, and the rows that they lead from and to.
fn arrows(page: &str) -> Vec<(String, u32, u32)> {
    let tags = page.split("<g ").skip(1).map(|rest| format!(" {rest}"));
    tags.map(|tag| {
        let row = |name: &str| attribute(&tag, name).parse().expect("a row");
        (attribute(&tag, "class").to_string(), row("data-from"), row("data-to"))
    })
    .collect()
}

#[test]
fn only_what_surprises_points_upwards() {
    let verdicts =
        [weak(), race(), deadlock(), use_after_free(), store_buffering("RLX")].map(|v| vec![v]);
    let mut upwards = 0;
    for violations in verdicts {
        for (class, from, to) in arrows(&page(&verdict(violations))) {
            let surprises = class.contains("misses") || class.contains("cycle");
            assert!(to >= from || surprises, "{class} {from} {to}");
            upwards += usize::from(to < from);
        }
    }
    assert!(upwards > 0);
    let found = arrows(&page(&verdict(vec![race()])));
    assert!(found.iter().any(|(class, ..)| class == "edge unordered"), "{found:?}");
    let found = arrows(&page(&verdict(vec![deadlock()])));
    assert!(!found.is_empty() || page(&verdict(vec![deadlock()])).contains("standing"));
}

#[test]
fn the_page_has_the_numbers_of_the_trace() {
    let (text, page) = (text(&verdict(vec![weak()])), page(&verdict(vec![weak()])));
    let cards = page.split("<button class=\"card").skip(1);
    let cards = cards.filter(|card| card.split('>').next().unwrap().contains("data-step"));
    let mut count = 0;
    for card in cards {
        let step = attribute(card, "data-step");
        let (_, act) = card.split_once("class=\"act\">").expect("what it does");
        let act = act.split_once('<').expect("its end").0;
        let line = text.lines().find(|line| {
            let mut words = line.trim_start_matches([' ', '▸']).split_whitespace();
            words.next() == Some(step) && line.contains("mp.c:")
        });
        let line = line.unwrap_or_else(|| panic!("no step {step} in\n{text}"));
        assert!(line.contains(act), "{line} without {act}");
        count += 1;
    }
    let numbered = text.lines().filter(|line| {
        let first = line.trim_start_matches([' ', '▸']).split_whitespace().next();
        first.is_some_and(|word| word.parse::<u32>().is_ok()) && line.contains("mp.c:")
    });
    assert_eq!(count, numbered.count());
}

#[test]
fn hostile_names_stay_texts() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{202e}";
    let mut violation = weak().into_claimed();
    violation.message = evil.to_string();
    for event in &mut violation.execution.events {
        event.text = evil.to_string();
        if let EventKind::Read { location, shown, .. } | EventKind::Write { location, shown, .. } =
            &mut event.kind
        {
            *location = format!("{location}{evil}");
            *shown = evil.to_string();
        }
    }
    for name in &mut violation.execution.threads {
        name.push_str(evil);
    }
    let Claimed { property, message, place, execution, involved } = violation;
    let execution = Confirmed::by_hand(execution);
    let found = Violation { property, message, place, execution, involved };
    let given = [evil.to_string()];
    let hostile = Page {
        command: evil,
        sources: &[("mp.c", evil), (evil, evil)],
        given: &given,
        model: &[(evil, evil)],
        settings: &[(evil, evil.to_string())],
    };
    let run = VerifyRun { input: evil, under: Under { model: evil, order: None }, ..RUN };
    let page = verdict_html(&run, &verdict(vec![found]), &hostile);
    // Its own, and the data.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    let tags = page.split('<').skip(1).filter_map(|rest| rest.split_once('>'));
    assert!(tags.clone().all(|(tag, _)| !tag.contains("onerror") || tag.contains("&quot;")));
}

#[test]
fn a_page_says_what_was_covered_or_why_not() {
    let safe = verdict(Vec::new());
    let found = page(&safe);
    for words in ["Every execution", "3 executions", "parallax verify mp.c", "acyclic hb"] {
        assert!(found.contains(words), "{words}");
    }
    let reason = Reason {
        message: "the function 'poll' has no body".to_string(),
        place: Some(place(30)),
        help: Some("give its source as a further input".into()),
    };
    let found = page(&safe.withdrawn(reason));
    for words in ["has no body", "mp.c:30:5", "give its source", "That is no proof"] {
        assert!(found.contains(words), "{words}");
    }
}

/// A thread that counts in a variable of its own, then fails.
fn long(steps: u32) -> Violation {
    let lines: Vec<String> = (0..steps).map(|n| format!("8: writes i={n} ; i++;")).collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.push("9: writes x=1 [RLX] ; x = 1;");
    let reader: &[&str] = &["12: reads x=1 [RLX] ; r = x;"];
    let failed = standing(ThreadEnding::Failed, 13, "assert(r == 0);");
    let mut long =
        execution(&["x=0", "i=0"], &[("main", &lines, ended()), ("reader#1", reader, failed)]);
    long.rf = vec![(steps + 2, steps + 3)];
    violation(Property::Assert, "assertion 'r == 0' fails", 13, long, &[steps + 3])
}

#[test]
fn long_executions_are_cut_to_what_matters() {
    let found = text(&verdict(vec![long(200)]));
    assert!(found.contains("… 200 steps left out\n"), "{found}");
    assert!(found.contains("(--verbose shows every step)"));
    assert!(found.lines().count() < 20);
    let style = TextStyle { detail: Detail::Full, ..STYLE };
    let whole = verdict_text(&RUN, &verdict(vec![long(200)]), style);
    assert!(whole.lines().count() > 200);
    let picture = focused_svg(&long(200), Caption::default());
    assert!(picture.contains("200 steps are not drawn"));
}

/// Each thread stores and then reads the other's variable, too early.
fn store_buffering(order: &str) -> Violation {
    let lines = |own: &str, other: &str| {
        let store = format!("4: writes {own}=1 [{order}] ; {own} = 1;");
        let load = format!("5: reads {other}=0 [{order}] ; r = {other};");
        [store, load]
    };
    let (one, two) = (lines("x", "y"), lines("y", "x"));
    let (one, two) = (one.each_ref().map(|s| s.as_str()), two.each_ref().map(|s| s.as_str()));
    let threads = [("one#1", &one[..], ended()), ("two#2", &two[..], ended())];
    let mut sb = execution(&["x=0", "y=0"], &threads);
    sb.rf = vec![(1, 3), (0, 5)];
    sb.co = vec![(0, 2), (1, 4)];
    violation(Property::Assert, "assertion fails", 9, sb, &[])
}

fn described(model: &'static str, violation: Violation) -> String {
    let order = Facts::of(model).and_then(|facts| facts.program_order);
    verdict_text(
        &VerifyRun { under: Under { model, order }, ..RUN },
        &verdict(vec![violation]),
        STYLE,
    )
}

#[test]
fn the_missing_order_depends_on_the_model() {
    let text = described("tso", store_buffering("RLX"));
    assert_eq!(text.matches("(nothing in tso keeps this order: the store may stay").count(), 2);
    let text = described("rc11", store_buffering("REL"));
    assert_eq!(text.matches("a load may overtake an earlier store unless both").count(), 2);
    assert_eq!(described("rc11", weak()).matches("nothing in rc11 keeps this order").count(), 2);
    // What is said of a model that nobody knows is what happened, and no more.
    let text = described("mine", weak());
    assert!(!text.contains("keeps") && text.contains("then writes flag = 1"), "{text}");
    assert!(text.contains("no interleaving of the threads does all of this; mine allows it"));
}

/// Two readers see two writers in different orders, although they acquire.
#[test]
fn acquiring_readers_may_still_disagree() {
    let reader = |first: &str, second: &str| {
        let one = format!("8: reads {first}=1 [ACQ] ; a = {first};");
        let two = format!("9: reads {second}=0 [ACQ] ; b = {second};");
        [one, two]
    };
    let (one, two) = (reader("x", "y"), reader("y", "x"));
    let (one, two) = (one.each_ref().map(|s| s.as_str()), two.each_ref().map(|s| s.as_str()));
    let threads = [
        ("w#1", &["4: writes x=1 [REL] ; x = 1;"][..], ended()),
        ("v#2", &["5: writes y=1 [REL] ; y = 1;"][..], ended()),
        ("r#3", &one[..], ended()),
        ("s#4", &two[..], ended()),
    ];
    let mut iriw = execution(&["x=0", "y=0"], &threads);
    iriw.rf = vec![(2, 4), (1, 5), (3, 6), (0, 7)];
    iriw.co = vec![(0, 2), (1, 3)];
    let text = described("rc11", violation(Property::Assert, "assertion fails", 9, iriw, &[]));
    assert!(!text.contains("nothing in"), "{text}");
    assert!(text.contains("it lets threads see the stores of different threads"), "{text}");
}
