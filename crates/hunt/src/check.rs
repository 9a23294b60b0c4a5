//! What is compared: two answers that have to go together, and when they do.
//!
//! *Unknown* goes with everything. Safe up to a bound goes with unsafe only where the program has
//! loops that may repeat more often, and no generated loop needs more than a few rounds. A model that allows more has
//! every violation that a stronger one has: all models here allow what `sc` allows, and what C may
//! do is what machines may do with it compiled.

use parallax_program::Property;

use crate::ask::Asker;
use crate::ast::Stmt;
use crate::finals::questions;
use crate::query::{Answer, Asked, Engine, Form, Query, Said};
use crate::subject::Subject;

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Check {
    /// The engine gives an answer in time, and one that it stands by.
    Sound(Query),
    /// The same question has the same verdict.
    Same(Query, Query),
    /// A violation of the first is one of the second.
    Implied(Query, Query),
    /// What is wrong where one thing is asked for is wrong where more is asked for, and the other way
    /// round.
    Joined(Query, Query),
    /// What compiled code does wrong, the source does wrong, unless it is not a program of C.
    Compiled(Query, Query),
    /// As many executions.
    Counted(Query, Query),
    /// The second finds the final states that the first has, and no other.
    Finals(Query, Query),
    /// The same bytes, asked twice.
    Repeated(Query),
}

/// Two answers that do not go together.
#[derive(Clone, Debug)]
pub struct Disagreement {
    pub check: Check,
    /// Questions with their answers.
    pub claimed: Vec<(Query, String)>,
}

impl Check {
    /// What finds of the same kind have in common.
    pub fn kind(&self) -> String {
        let said = |query: &Query| {
            let form = match query.form {
                Form::C => "c",
                Form::NarrowC => "narrow-c",
                Form::Litmus => "litmus",
                Form::Text => "text",
                Form::Machine(..) => "machine",
            };
            format!("{form}-{}", query.engine.word())
        };
        let kind = match self {
            Check::Sound(query) => format!("sound-{}-{}", said(query), query.asked),
            Check::Repeated(query) => format!("repeated-{}-{}", said(query), query.asked),
            Check::Same(first, second) => {
                format!("same-{}-{}-{}-{}", said(first), said(second), first.model, first.asked)
            }
            Check::Implied(first, second) => {
                format!("implied-{}-{}-{}", first.model, second.model, first.asked)
            }
            Check::Joined(part, whole) => format!("joined-{}-{}", said(whole), part.asked),
            Check::Compiled(first, _) => format!("compiled-{}", said(first)),
            Check::Counted(first, second) => {
                format!("counted-{}-{}-{}", said(first), said(second), first.model)
            }
            Check::Finals(_, second) => format!("finals-{}-{}", said(second), second.model),
        };
        kind.replace(',', "+")
    }

    /// Asks, and says what does not go together.
    pub fn run(&self, asker: &mut Asker, subject: &mut Subject) -> Option<Disagreement> {
        let differ = match self {
            Check::Sound(query) => matches!(asker.ask(subject, *query).said, Said::Broken(_)),
            Check::Same(first, second) => {
                let (first, second) = (asker.ask(subject, *first), asker.ask(subject, *second));
                opposed(&first, &second, subject) || opposed(&second, &first, subject)
            }
            Check::Implied(strong, weak) => {
                let (first, second) = (asker.ask(subject, *strong), asker.ask(subject, *weak));
                opposed(&second, &first, subject)
                    && (weak.model != "c11" || is_free_of_races(asker, subject, weak))
            }
            Check::Joined(part, whole) => {
                let answers = (asker.ask(subject, *part), asker.ask(subject, *whole));
                opposed(&answers.1, &answers.0, subject)
                    || has_violation(&answers.1, part.asked)
                        && opposed(&answers.0, &answers.1, subject)
            }
            Check::Compiled(machine, source) => {
                let (machine, answer) = (asker.ask(subject, *machine), asker.ask(subject, *source));
                opposed(&answer, &machine, subject) && is_defined(asker, subject, source)
            }
            Check::Counted(first, second) => {
                let (first, second) = (asker.ask(subject, *first), asker.ask(subject, *second));
                let are_counted = [&first, &second].iter().all(|answer| {
                    !matches!(answer.said, Said::Unknown(_) | Said::Refused(_) | Said::Broken(_))
                });
                are_counted && first.executions > 0 && first.executions != second.executions
            }
            Check::Finals(all, other) => return self.finals(asker, subject, *all, *other),
            Check::Repeated(query) => {
                let (first, second) = (asker.ask(subject, *query), asker.ask_anew(subject, *query));
                let in_time = [&first, &second].iter().all(|answer| answer.time * 2 < asker.limit);
                let is_other = first.verdict != second.verdict;
                if is_other && in_time {
                    let claimed = [&first, &second].map(|answer| (*query, summary(answer)));
                    return Some(Disagreement { check: *self, claimed: claimed.to_vec() });
                }
                false
            }
        };
        differ.then(|| Disagreement { check: *self, claimed: self.claimed(asker, subject) })
    }

    fn finals(
        &self,
        asker: &mut Asker,
        subject: &mut Subject,
        all: Query,
        other: Query,
    ) -> Option<Disagreement> {
        let Ok(test) = subject.test() else { return None };
        let known = asker.ask(subject, all);
        for expected in questions(&test.question, &known.finals) {
            let text = expected.question.text.clone();
            let said = asker.ask_about(subject, other, Some(expected.question)).said;
            let differs = match said {
                Said::Broken(_) => true,
                Said::Unsafe => !expected.is_there,
                Said::Safe => expected.is_there,
                _ => false,
            };
            if differs {
                let states = format!("{} final states", known.finals.len());
                let claimed = vec![(all, states), (other, format!("{said}: {text}"))];
                return Some(Disagreement { check: *self, claimed });
            }
        }
        None
    }

    fn claimed(&self, asker: &mut Asker, subject: &mut Subject) -> Vec<(Query, String)> {
        let queries = match self {
            Check::Sound(query) | Check::Repeated(query) => vec![*query],
            Check::Same(first, second)
            | Check::Implied(first, second)
            | Check::Joined(first, second)
            | Check::Compiled(first, second)
            | Check::Counted(first, second)
            | Check::Finals(first, second) => vec![*first, *second],
        };
        queries.into_iter().map(|query| (query, summary(&asker.ask(subject, query)))).collect()
    }
}

fn summary(answer: &Answer) -> String {
    match answer.executions {
        0 => answer.said.to_string(),
        count => format!("{}; {count} executions", answer.said),
    }
}

/// So often loops of generated programs may have to repeat until something is wrong.
const ROUNDS: u32 = 8;

/// Whether one says safe where another says unsafe.
fn opposed(safe: &Answer, other: &Answer, subject: &Subject) -> bool {
    let says_safe = match safe.said {
        Said::Safe => true,
        Said::SafeUpTo(bound) => bound >= ROUNDS || !subject.program.has_loops(),
        _ => false,
    };
    says_safe && other.is_unsafe()
}

/// Whether something of this set was found wrong.
fn has_violation(answer: &Answer, asked: Asked) -> bool {
    let found = answer.verdict.iter().flat_map(|verdict| &verdict.violations);
    found.map(|violation| violation.property).any(|property| asked.contains(property))
}

/// Whether there is no race. Under `c11` plain reads see only what happens before them.
fn is_free_of_races(asker: &mut Asker, subject: &mut Subject, query: &Query) -> bool {
    let query = Query { asked: Property::Race.into(), form: Form::C, ..*query };
    asker.ask(subject, query).said == Said::Safe
}

/// Whether the program has a meaning in C: no race, no wrong access, no undefined arithmetic.
fn is_defined(asker: &mut Asker, subject: &mut Subject, source: &Query) -> bool {
    let uninitialised = subject
        .program
        .statements()
        .iter()
        .any(|statement| matches!(statement, Stmt::Uninitialised { .. } | Stmt::Own { .. }));
    !uninitialised
        && [Property::Race, Property::Memory, Property::Overflow].into_iter().all(|property| {
            let asked = property.into();
            let query = Query { form: Form::C, engine: Engine::EXPLORE, asked, ..*source };
            asker.ask(subject, query).said == Said::Safe
        })
}
