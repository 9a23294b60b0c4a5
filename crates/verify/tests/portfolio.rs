//! Engines side by side: the answer depends on work, not on the clock or on how many threads there
//! are. The engines are toys, which also shows what it takes to add one.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parallax_control::{Control, Gate};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Property, parse_program};
use parallax_query::{Answer, Engine, Extensions, Query, Subject, Wanted};
use parallax_verdict::{Conclusion, Counts, Gaps, Reason, Scope, Searched, stopped};
use parallax_verify::portfolio::{Entrant, Said, Start, Terms, race};
use parallax_verify::registry::{ENGINES, named};
use parallax_verify::stack::run;

/// Works for a while, at some pace, and says what it is made to say.
struct Toy {
    name: &'static str,
    /// Nominal milliseconds.
    work: u64,
    /// Real microseconds for each of them.
    pace: u64,
    says: Says,
}

#[derive(Clone, Copy)]
enum Says {
    Safe,
    Bounded,
    Partly,
    Unknown,
    Nothing,
    Panics,
    /// Goes on for ever.
    Never,
}

impl Engine for Toy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        "a toy"
    }

    fn admits(&self, _: &Query<'_>) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        let mut searched = Searched {
            scope: Scope::Complete,
            all: false,
            gaps: Gaps::default(),
            properties: query.properties.clone(),
            counts: Counts::default(),
            violations: Vec::new(),
            notes: Vec::new(),
        };
        let mut done = 0;
        while done < self.work || matches!(self.says, Says::Never) {
            std::thread::sleep(Duration::from_micros(self.pace));
            done += 1;
            control.spend(1_000_000);
            if let Some(stop) = control.reason() {
                searched.gaps.add(stopped(stop));
                return Ok(Answer::new(searched.conclude(), self.name));
            }
        }
        match self.says {
            Says::Safe | Says::Never => {}
            Says::Bounded => searched.scope = Scope::Bounded(3),
            Says::Partly => searched.properties.clear(),
            Says::Unknown => {
                let message = format!("{} does not know", self.name);
                searched.gaps.add(Reason { message, place: None, help: None });
            }
            Says::Nothing => return Err(vec![Diagnostic::new("not for me")]),
            // Without a message: this is no news for the reader of the test.
            Says::Panics => std::panic::resume_unwind(Box::new(())),
        }
        Ok(Answer::new(searched.conclude(), self.name))
    }
}

fn toy(name: &'static str, work: u64, pace: u64, says: Says) -> Toy {
    Toy { name, work, pace, says }
}

fn query(subject: &Subject) -> Query<'_> {
    Query {
        subject,
        model: Model::builtin("sc").expect("a model").expect("a good model"),
        is_compiled: false,
        properties: vec![Property::Assert],
        unroll: None,
        nondet: None,
        wanted: Wanted::First,
        extensions: Extensions::default(),
    }
}

#[test]
fn who_panics_alone_is_unknown() {
    let subject = Subject::default();
    let toy = toy("broken", 1, 1, Says::Panics);
    let answer = run(&toy, &query(&subject), &Control::default()).expect("an answer");
    assert_eq!(answer.verdict.conclusion(), Conclusion::Unknown);
    let reason = answer.verdict.reason.expect("a reason");
    assert!(reason.message.contains("internal error"), "{}", reason.message);
    assert!(reason.help.is_some_and(|help| help.to_string().contains("report")));
}

/// Who wins, and what is heard of each of the others.
fn outcome(
    toys: &[(Toy, Start)],
    jobs: usize,
    limit: Option<Duration>,
) -> (Option<&'static str>, Vec<String>) {
    let entrants: Vec<Entrant<'_>> =
        toys.iter().map(|(engine, start)| Entrant { engine, start: *start }).collect();
    let subject = Subject::default();
    let query = query(&subject);
    let jobs = NonZeroUsize::new(jobs).expect("a thread");
    let control = Control { jobs, ..Control::default().within(limit) };
    let (answer, others) = race(&entrants, &query, &control, Terms::Any);
    let heard = others.iter().map(|other| {
        let said = match &other.said {
            Said::Answered(answer) if answer.verdict.conclusion() == Conclusion::Safe => "safe",
            Said::Answered(_) => "unknown",
            Said::Refused(_) => "refused",
            Said::Unfinished => "unfinished",
        };
        format!("{} {said}", other.engine)
    });
    (answer.map(|answer| answer.engine), heard.collect())
}

const FIRST: Start = Start::At(0);

/// On one, two and eight threads.
fn always(toys: &[(Toy, Start)], winner: Option<&str>, others: &[&str]) {
    for jobs in [1, 2, 8] {
        let (found, heard) = outcome(toys, jobs, None);
        assert_eq!(found, winner, "{jobs} threads");
        assert_eq!(heard, others, "{jobs} threads");
    }
}

#[test]
fn less_work_wins_however_slow() {
    let slow = (toy("slow", 5, 4_000, Says::Safe), FIRST);
    let fast = (toy("fast", 8, 10, Says::Safe), FIRST);
    always(&[slow, fast], Some("slow"), &["fast unfinished"]);
    let one = (toy("one", 5, 500, Says::Safe), FIRST);
    let other = (toy("other", 5, 10, Says::Safe), FIRST);
    always(&[one, other], Some("one"), &["other unfinished"]);
}

#[test]
fn who_joins_late_is_late() {
    let first = (toy("first", 10, 100, Says::Safe), FIRST);
    let late = (toy("late", 1, 10, Says::Safe), Start::At(20_000_000));
    always(&[first, late], Some("first"), &["late unfinished"]);
    let first = (toy("first", 60, 100, Says::Safe), FIRST);
    let late = (toy("late", 1, 10, Says::Safe), Start::At(20_000_000));
    always(&[first, late], Some("late"), &["first unfinished"]);
}

#[test]
fn who_knows_nothing_leaves_it_to_others() {
    let unsure = (toy("unsure", 2, 10, Says::Unknown), FIRST);
    let last = (toy("last", 3, 10, Says::Safe), Start::Last);
    always(&[unsure, last], Some("last"), &["unsure unknown"]);
    let sure = (toy("sure", 2, 10, Says::Safe), FIRST);
    let last = (toy("last", 3, 10, Says::Safe), Start::Last);
    always(&[sure, last], Some("sure"), &["last unfinished"]);
    let unsure = (toy("unsure", 2, 10, Says::Unknown), FIRST);
    let not_for_it = (toy("other", 2, 10, Says::Nothing), Start::Last);
    always(&[unsure, not_for_it], None, &["unsure unknown", "other refused"]);
}

#[test]
fn a_panic_does_not_hold_up_the_others() {
    let started = Instant::now();
    let broken = (toy("broken", 1, 10, Says::Panics), FIRST);
    let right = (toy("right", 20, 100, Says::Safe), FIRST);
    always(&[broken, right], Some("right"), &["broken refused"]);
    let broken = (toy("broken", 1, 10, Says::Panics), FIRST);
    always(&[broken], None, &["broken refused"]);
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn an_answer_for_all_executions_is_worth_waiting_for() {
    let part = (toy("part", 5, 10, Says::Bounded), FIRST);
    let whole = (toy("whole", 50, 10, Says::Safe), FIRST);
    always(&[part, whole], Some("whole"), &["part safe"]);
    let part = (toy("part", 5, 10, Says::Bounded), FIRST);
    let unsure = (toy("unsure", 50, 10, Says::Unknown), FIRST);
    always(&[part, unsure], Some("part"), &["unsure unknown"]);
    let partly = (toy("partly", 5, 10, Says::Partly), FIRST);
    let whole = (toy("whole", 50, 10, Says::Safe), FIRST);
    always(&[partly, whole], Some("whole"), &["partly safe"]);
}

#[test]
fn an_answer_for_a_part_is_not_waited_on_for_ever() {
    let part = (toy("part", 5, 10, Says::Bounded), FIRST);
    let endless = (toy("endless", 5, 10, Says::Never), FIRST);
    let (found, heard) = outcome(&[part, endless], 2, None);
    assert_eq!((found, heard), (Some("part"), vec!["endless unfinished".to_string()]));
}

#[test]
fn limits_end_everybody() {
    let limit = Some(Duration::from_millis(50));
    for jobs in [1, 2] {
        let toys = [
            (toy("one", 5, 1_000, Says::Never), FIRST),
            (toy("other", 5, 1_000, Says::Never), FIRST),
        ];
        let (found, heard) = outcome(&toys, jobs, limit);
        assert_eq!(found, None);
        assert_eq!(heard, ["one unknown", "other unknown"]);
    }
}

/// Panics when an engine accounts for its work.
#[derive(Default)]
struct Broken(AtomicBool);

impl Gate for Broken {
    fn spend(&self, _: u64) {
        self.0.store(true, Ordering::Relaxed);
        // Without a message: this is no news for the reader of the test.
        std::panic::resume_unwind(Box::new(()));
    }
}

/// Threads that add to two counters in turn, and look at a third place.
const BUSY: &str = "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal z: 4\n\
    fn f() {\nvar i: 32, a: 32, b: 32\njump again\nagain:\na = rmw.add.4 &x, 1:32 [A, SC]\n\
    b = rmw.add.4 &y, a [A, SC]\ni = i + 1:32\nbranch i == 3:32, end, again\nend:\n\
    store.4 &z, b [A, SC]\n}\nthread A = f()\nthread B = f()\nthread C = f()\nthread D = f()\n";

/// Many functions that are called in one another, which the analysis follows in all their contexts.
fn deep() -> String {
    let mut text = "program p pointers 64\nglobal x: 4\n".to_string();
    for number in 0..12 {
        let next = match number {
            0 => "a = load.4 &x [A, SC]\nstore.4 &x, a [A, SC]\n".to_string(),
            _ => format!("call f{}()\n", number - 1).repeat(2),
        };
        text += &format!("fn f{number}() {{\nvar a: 32\n{next}}}\n");
    }
    text + "thread A = f11()\nthread B = f11()\n"
}

/// Many ways to read.
const READS: &str = "X86 reads\n{ }\n P0 | P1 | P2 | P3 ;\n \
    MOV [x],$1 | MOV [x],$2 | MOV [y],$1 | MOV [y],$2 ;\n \
    MOV EAX,[y] | MOV EAX,[y] | MOV EAX,[x] | MOV EAX,[x] ;\n \
    MOV EBX,[x] | MOV EBX,[x] | MOV EBX,[y] | MOV EBX,[y] ;\n \
    MOV ECX,[y] | MOV ECX,[y] | MOV ECX,[x] | MOV ECX,[x] ;\n\
    exists (0:EAX=1 /\\ x=1)\n";

/// Whatever breaks inside of an engine, it answers that it does not know, at once.
#[test]
fn an_engine_that_breaks_does_not_know() {
    let subject = |text: &str| Subject::of(parse_program("p", text).expect("a program"));
    let test = parallax_frontend_litmus::parse("reads.litmus", READS).expect("a test");
    let of_test = parallax_verify::litmus::subject("reads.litmus".to_string(), test);
    let subjects = [subject(BUSY), subject(&deep()), of_test];
    let mut broken = Vec::new();
    for engine in ENGINES {
        let subject = match engine.name() {
            "static" => &subjects[1],
            "enumerate" => &subjects[2],
            _ => &subjects[0],
        };
        for jobs in [1, 2, 8] {
            let query = Query { properties: Property::ALL.to_vec(), ..query(subject) };
            if let Err(error) = engine.admits(&query) {
                panic!("{}: {}", engine.name(), error.message);
            }
            let jobs = NonZeroUsize::new(jobs).expect("a thread");
            let (limit, gate) = (Duration::from_secs(20), Broken::default());
            let control = Control { jobs, gate: Some(&gate), ..Control::lasting(limit) };
            let started = Instant::now();
            let answer = run(engine, &query, &control).expect("an answer");
            let name = engine.name();
            // A small program may be no work to speak of.
            if !gate.0.load(Ordering::Relaxed) {
                continue;
            }
            assert_eq!(answer.verdict.conclusion(), Conclusion::Unknown, "{name}");
            let reason = answer.verdict.reason.expect("a reason").message;
            assert!(reason.contains("internal error"), "{name}: {reason}");
            assert!(started.elapsed() < Duration::from_secs(1), "{name} {:?}", started.elapsed());
            broken.push(name);
        }
    }
    broken.dedup();
    assert_eq!(broken, ENGINES.map(|engine| engine.name()));
}

/// Adds up the work.
#[derive(Default)]
struct Sum(AtomicU64);

impl Gate for Sum {
    fn spend(&self, work: u64) {
        self.0.fetch_add(work, Ordering::Relaxed);
    }
}

/// Threads that compute for long between two operations.
const LONG: &str = "program p pointers 64\nglobal x: 4\n\
    fn f() {\nvar i: 32, h: 32\njump again\nagain:\nh = h * 31:32 + i\ni = i + 1:32\n\
    branch i == 200000:32, end, again\nend:\nstore.4 &x, h [A, SC]\n}\n\
    thread A = f()\nthread B = f()\n";

/// Whoever follows a thread instruction by instruction accounts for that, so that others may join.
#[test]
fn what_threads_compute_is_work() {
    let subject = Subject::of(parse_program("p", LONG).expect("a program"));
    for name in ["explore", "states", "symbolic"] {
        let engine = named(name).expect("an engine");
        let sum = Sum::default();
        let control = Control { gate: Some(&sum), ..Control::lasting(Duration::from_secs(60)) };
        let answer = run(engine, &query(&subject), &control).expect("an answer");
        assert_eq!(answer.verdict.conclusion(), Conclusion::Safe, "{name}");
        let millis = sum.0.load(Ordering::Relaxed) / 1_000_000;
        assert!((5..1_000).contains(&millis), "{name}: {millis} ms for 1.2 million instructions");
    }
}
