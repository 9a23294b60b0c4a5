//! Who is asked, and what is made of the answer.

use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_bounded::Asking;
use parallax_frontend_c::{Formula, Formulas};
use parallax_memory::Model;
use parallax_program::{Callee, Diagnostic, Diagnostics, Help, Property, Setting, SourceFile};
use parallax_query::{Answer, Engine, Query, Wanted};
use parallax_verdict::{
    Conclusion, Counts, Ending, Gaps, Reason, Scope, Searched, Verdict, no_final_state,
};

use crate::competition::{Competition, Ruling};
use crate::input::Kind;
use crate::portfolio::{Entrant, Outcome, Said, Terms, race};
use crate::registry::{Choice, ENGINES, entrants, named};
use crate::relief::sees_lost;
use crate::request::Prepared;
use crate::{integers, litmus, stack};

/// An answer, and the model that it is about.
pub struct Response {
    pub answer: Answer,
    pub model: Arc<Model>,
    /// The verdict in the words of SV-COMP, where one of its property files was asked for.
    pub ruling: Option<Ruling>,
    /// What that file says.
    pub formulas: Option<Formulas>,
    /// The text of the program, file by file.
    pub source: Option<SourceFile>,
    /// Whether the search ended at a violation that is none by the rules.
    hides_others: bool,
}

impl Response {
    /// What the engine does, in a few words.
    pub fn engine_summary(&self) -> &'static str {
        named(self.answer.engine).map_or("", |engine| engine.summary())
    }

    /// Whether the engine counts executions, and does not look at all of them at once.
    pub fn counts_executions(&self) -> bool {
        named(self.answer.engine).is_some_and(|engine| engine.counts_executions())
    }
}

impl Prepared {
    /// Asks the engine that was named, or those that may know.
    pub fn ask(&self, control: &Control<'_>) -> Result<Response, Diagnostics> {
        if self.formulas.as_ref().is_some_and(asks_for_end) {
            return Ok(self.unended());
        }
        let (query, cycle) = self.joined(self.kept(self.query())?, control)?;
        let is_integer = query.extensions.get::<Asking>().is_some_and(|asking| asking.integers);
        let mut answer = match is_integer {
            true => integers::ask(&query, &|query| self.answer(query, control))?,
            false => self.answer(&query, control)?,
        };
        cycle.iter().for_each(|cycle| cycle.leave());
        let races = answer.verdict.properties.contains(&Property::Race);
        if self.is_settled && !races {
            let note = "stores that an attempt of a weak compare-and-swap repeats were taken to \
                        race with nothing";
            answer.verdict.notes.push(note.to_string());
        }
        if self.kind == Kind::Litmus {
            answer.verdict.notes.push(litmus::NOTE.to_string());
        }
        let response = self.concluded(answer);
        match self.formulas.is_some() && !query.goes_on() && response.hides_others {
            true => self.ask_for_others(&query, response, control),
            false => Ok(response),
        }
    }

    fn concluded(&self, mut answer: Answer) -> Response {
        if self.request.input.reading.integers {
            let verdict = answer.verdict.restricted(Some(integers::WITHIN_RANGE.to_string()));
            answer.verdict = verdict;
        }
        let answer = self.without_vacuity(answer);
        let answer = self.complete(answer);
        self.response(self.assumed(answer))
    }

    /// A search ends at the first violation that it meets. Where that is none by the rules of the
    /// competition, another one may be there: whoever goes on finds it.
    fn ask_for_others(
        &self,
        query: &Query<'_>,
        first: Response,
        control: &Control<'_>,
    ) -> Result<Response, Diagnostics> {
        let query = Query { wanted: Wanted::All, ..query.clone() };
        let response =
            self.concluded(self.answer(&query, &control.clone().within(Some(FOR_OTHERS)))?);
        let finds = matches!(response.ruling, Some(Ruling::False(_)));
        Ok(if finds { response } else { first })
    }

    /// An answer, as it counts where a property file is asked for.
    fn response(&self, mut answer: Answer) -> Response {
        let was_unsafe = answer.verdict.conclusion() == Conclusion::Unsafe;
        let ruling = self.formulas.as_ref().map(|formulas| {
            let competition = Competition { formulas, program: self.subject.program.as_ref() };
            let sees_lost = named(answer.engine).is_some_and(sees_lost);
            answer.verdict = competition.settle(answer.verdict.clone(), sees_lost);
            competition.ruling(&answer.verdict)
        });
        let hides_others = was_unsafe && matches!(ruling, Some(Ruling::Unknown(_)));
        let (model, formulas) = (self.model.clone(), self.formulas.clone());
        let source = self.source();
        Response { answer, model, ruling, formulas, source, hides_others }
    }

    fn source(&self) -> Option<SourceFile> {
        let finals = self.subject.finals.as_ref().map(|finals| &finals.program);
        let program = self.subject.program.as_ref().or(finals);
        program.map(|program| program.source.clone())
    }

    /// No engine says whether a program ends.
    fn unended(&self) -> Response {
        let reason = Reason {
            message: "termination is not checked".to_string(),
            place: None,
            help: Some("no engine decides whether a program ends".into()),
        };
        let searched = Searched {
            scope: Scope::Complete,
            all: false,
            gaps: Gaps::from(reason),
            properties: Vec::new(),
            counts: Counts::default(),
            violations: Vec::new(),
            notes: Vec::new(),
        };
        self.response(Answer::new(searched.conclude(), "none"))
    }

    fn answer(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        match self.request.engine {
            Choice::Named(name) => {
                let engine = named(name)
                    .ok_or_else(|| vec![Diagnostic::new(format!("there is no engine '{name}'"))])?;
                check(engine, query).map_err(|error| vec![error])?;
                stack::run(engine, query, control)
            }
            Choice::Auto => first_answer(entrants(self.kind, query), query, control, self.terms()),
        }
    }

    /// Competitions give nothing for what holds up to a bound.
    fn terms(&self) -> Terms {
        if self.formulas.is_some() { Terms::Complete } else { Terms::Any }
    }

    /// Who asks for a property gets an answer to it, or none: where the engine does not look for it
    /// under the model, that nothing else is wrong is no success.
    fn complete(&self, answer: Answer) -> Answer {
        let checked = &answer.verdict.properties;
        let missing = self.properties.iter().filter(|property| !checked.contains(property));
        let missing: Vec<&str> = missing.map(|property| property.name()).collect();
        let is_safe = answer.verdict.conclusion() == Conclusion::Safe;
        if missing.is_empty() || !is_safe || !self.is_by_name && !checked.is_empty() {
            return answer;
        }
        let message = format!(
            "not checked by the engine '{}' under '{}': {}",
            answer.engine,
            self.model.name(),
            missing.join(", ")
        );
        let help = "another engine may; of what it does check, nothing is wrong";
        let help = (!checked.is_empty()).then(|| help.into());
        let verdict = answer.verdict.withdrawn(Reason { message, place: None, help });
        Answer { verdict, ..answer }
    }

    /// Where assertions are judged only where all threads have ended, and none gets there, they say
    /// nothing. Engines that ask a solver look for that themselves.
    fn without_vacuity(&self, answer: Answer) -> Answer {
        let counts = named(answer.engine).is_some_and(|engine| engine.counts_executions());
        let verdict = &answer.verdict;
        let is_empty = verdict.conclusion() == Conclusion::Safe && verdict.counts.executions == 0;
        match self.subject.is_judged_at_end && counts && is_empty {
            true => {
                let reason = no_final_state(&Ending::Complete);
                Answer { verdict: answer.verdict.withdrawn(reason), ..answer }
            }
            false => answer,
        }
    }

    /// What was assumed because that was asked for.
    fn assumed(&self, mut answer: Answer) -> Answer {
        let reading = &self.request.input.reading;
        let assumed = [
            (
                reading.no_spurious_failures,
                "weak compare-and-swaps fail only where the values differ",
            ),
            (reading.no_spurious_wakeups, "condition variables wake threads only by signals"),
        ];
        for (_, note) in assumed.into_iter().filter(|(is_asked, _)| *is_asked) {
            answer.verdict = answer.verdict.restricted(Some(format!("assumed: {note}")));
        }
        // What stands in for parts that nobody has is the program then, and no execution is left out.
        let program = self.subject.program.as_ref();
        for note in program.into_iter().flat_map(|program| &program.assumptions) {
            answer.verdict.notes.push(format!("assumed: {note}"));
        }
        if self.kind == Kind::C
            && let Some(reason) = &mut answer.verdict.reason
            && reason.message.contains(Callee::WITHOUT_BODY)
        {
            let effect = "lets such functions give any value and do nothing else";
            reason.help.get_or_insert_with(|| Help::with(Setting::Extern, "nondet", effect));
        }
        answer
    }
}

/// Who goes on after a violation that is none by the rules goes on for so long at most.
const FOR_OTHERS: Duration = Duration::from_secs(20);

fn asks_for_end(formulas: &Formulas) -> bool {
    formulas.formulas.contains(&Formula::Termination)
}

/// The first answer of those that can be asked.
pub(crate) fn first_answer(
    entrants: Vec<Entrant<'static>>,
    query: &Query<'_>,
    control: &Control<'_>,
    terms: Terms,
) -> Result<Answer, Diagnostics> {
    let mut refused: Vec<(&'static str, Diagnostics)> = Vec::new();
    let mut able = Vec::new();
    for entrant in entrants.into_iter().filter(|entrant| knows_all(entrant.engine, query)) {
        let has_begun = !able.is_empty();
        match entrant.engine.admits(query) {
            Ok(()) if has_begun && !covers(entrant.engine, query) => {}
            Ok(()) => able.push(entrant),
            Err(error) => refused.push((entrant.engine.name(), vec![error])),
        }
    }
    match able.as_slice() {
        [] => Err(nobody(query, refused)),
        [only] => stack::run(only.engine, query, control),
        _ => {
            let (answer, others) = race(&able, query, control, terms);
            decided(query, answer, others)
        }
    }
}

/// Whether an engine can be asked this, with all that was said.
fn check(engine: &dyn Engine, query: &Query<'_>) -> Result<(), Diagnostic> {
    let known: Vec<TypeId> = engine.extensions();
    match query.extensions.are_among(&known) {
        true => engine.admits(query).map_err(|error| match error.help {
            Some(_) => error,
            None => error.with_help(Help::TryEngines(admitting(query))),
        }),
        false => {
            let settings = query.extensions.settings_beside(&known);
            let names: Vec<&str> = settings.iter().map(|setting| setting.name()).collect();
            let message =
                format!("the engine '{}' has no use for: {}", engine.name(), names.join(", "));
            let leave_out = Help::LeaveOut(settings);
            let help = match that_know_all(query) {
                Some(others) => leave_out.and(others),
                None => leave_out,
            };
            Err(Diagnostic::new(message).with_help(help))
        }
    }
}

/// Who can be asked this, with all that was said.
fn admitting(query: &Query<'_>) -> Vec<&'static str> {
    let admits = |engine: &&dyn Engine| knows_all(*engine, query) && engine.admits(query).is_ok();
    ENGINES.into_iter().filter(admits).map(|engine| engine.name()).collect()
}

/// Whether an engine has a use for all that was set.
fn knows_all(engine: &dyn Engine, query: &Query<'_>) -> bool {
    query.extensions.are_among(&engine.extensions())
}

/// Who would take all settings, if anybody would.
fn that_know_all(query: &Query<'_>) -> Option<Help> {
    let others = ENGINES.into_iter().filter(|engine| knows_all(*engine, query));
    let others: Vec<&str> = others.map(|engine| engine.name()).collect();
    let is_somebody = !others.is_empty();
    is_somebody.then(|| Help::with(Setting::Engine, others.join(" or "), "would take it"))
}

/// Whether an engine that joins later looks for all that is asked: otherwise its answer would be for
/// nothing.
fn covers(engine: &dyn Engine, query: &Query<'_>) -> bool {
    query.properties.iter().all(|property| engine.looks_for(*property))
}

/// No engine can be asked: each says why.
fn nobody(query: &Query<'_>, refused: Vec<(&'static str, Diagnostics)>) -> Diagnostics {
    if refused.is_empty() {
        let settings = query.extensions.settings_beside(&[]);
        let names: Vec<&str> = settings.iter().map(|setting| setting.name()).collect();
        let names = names.join(", ");
        let (message, help) = match settings.len() {
            0 | 1 => (
                format!("no engine for this input has a use for: {names}"),
                Help::LeaveOut(settings),
            ),
            _ => (
                format!("no engine for this input has a use for all of these: {names}"),
                Help::Contradiction(settings),
            ),
        };
        let help = match that_know_all(query) {
            Some(others) => help.and(others),
            None => help,
        };
        return vec![Diagnostic::new(message).with_help(help)];
    }
    let several = refused.len() > 1;
    let all = refused.into_iter().flat_map(|(engine, errors)| {
        errors.into_iter().map(move |mut error| {
            if several {
                error.message = format!("{engine}: {}", error.message);
            }
            error
        })
    });
    all.collect()
}

/// What is said in the end, by the winner or by all who cannot decide.
fn decided(
    query: &Query<'_>,
    answer: Option<Answer>,
    others: Vec<Outcome>,
) -> Result<Answer, Diagnostics> {
    if let Some(mut answer) = answer {
        let notes = others.iter().filter_map(note);
        answer.verdict.notes.extend(notes);
        return Ok(answer);
    }
    let (mut unknown, mut refused) = (Vec::new(), Vec::new());
    for Outcome { engine, said } in others {
        match said {
            Said::Answered(answer) => unknown.push(*answer),
            Said::Refused(errors) => refused.push((engine, errors)),
            Said::Unfinished => {}
        }
    }
    // Who found a part to be right, or knows a place, helps more than who ran out of time.
    unknown.sort_by_key(|answer| helpfulness(&answer.verdict));
    let mut unknown = unknown.into_iter();
    let Some(mut first) = unknown.next() else { return Err(nobody(query, refused)) };
    for other in unknown {
        if let Some(reason) = &other.verdict.reason {
            let note = format!("'{}' cannot decide: {}", other.engine, reason.message);
            first.verdict.notes.push(note);
        }
    }
    Ok(first)
}

/// The smaller, the more a person learns from it.
fn helpfulness(verdict: &Verdict) -> u8 {
    let Some(reason) = &verdict.reason else { return 0 };
    let is_limit =
        matches!(reason.help, Some(Help::Raise(Setting::Timeout | Setting::MemoryLimit)));
    match (verdict.conclusion(), reason.place.is_some()) {
        (Conclusion::Safe | Conclusion::Unsafe, _) => 0,
        _ if is_limit => 4,
        // Others take inputs as they are: what stops those counts.
        _ if reason.help == Some(Help::give_input_range()) => 2,
        (_, true) => 1,
        (_, false) => 3,
    }
}

/// What is said of one that has not won.
fn note(other: &Outcome) -> Option<String> {
    match &other.said {
        Said::Answered(answer) => {
            let reason = answer.verdict.reason.as_ref()?;
            Some(format!("'{}' cannot decide: {}", answer.engine, reason.message))
        }
        Said::Refused(errors) => {
            let error = errors.first()?;
            Some(format!("'{}' was not asked: {}", other.engine, error.message))
        }
        Said::Unfinished => None,
    }
}
