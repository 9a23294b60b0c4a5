//! Programs whose values are integers.
//!
//! In C, words are integers as long as they hold what integers would be, and executions are followed up to there. So
//! what is found happens with words, too. In operation structures they are integers without bounds: that nothing is wrong with integers is said as it is. Something that is wrong is looked for again with
//! words, as machines have them: only what they do is shown.

use parallax_engine_bounded::Asking;
use parallax_frontend_ops::with_integers;
use parallax_program::{Diagnostics, Help, Setting};
use parallax_query::{Answer, Query, Subject};
use parallax_verdict::{Conclusion, Reason};

/// What an answer about a program in C says.
pub const WITHIN_RANGE: &str = "values are integers: executions were followed as long as no sum, difference or \
                                product left the range of its type";

/// Asks a query whose program has words.
pub fn ask(
    query: &Query<'_>,
    answer: &dyn Fn(&Query<'_>) -> Result<Answer, Diagnostics>,
) -> Result<Answer, Diagnostics> {
    let program = query.subject.program.clone().map(with_integers);
    let wide = Subject { program, ..query.subject.clone() };
    let mut found = answer(&Query { subject: &wide, ..query.clone() })?;
    if found.verdict.conclusion() == Conclusion::Unsafe {
        let asking = query.extensions.get::<Asking>().copied().unwrap_or_default();
        let words = Asking { integers: false, ..asking };
        let extensions = query.extensions.clone().with(words);
        let words = answer(&Query { extensions, ..query.clone() })?;
        if words.verdict.conclusion() == Conclusion::Unsafe {
            found = Answer { questions: found.questions, ..words };
        } else {
            found.verdict = found.verdict.withdrawn(Reason {
                message: "with integers something is wrong, but not with words, as machines have \
                          them"
                    .to_string(),
                place: None,
                help: Some(Help::Without {
                    setting: Setting::Integers,
                    effect: "it is seen how far that goes",
                }),
            });
        }
    }
    let note = match found.verdict.conclusion() {
        Conclusion::Unsafe => "found with integers; words do it, too, and that is what is shown",
        _ => "values are integers: no arithmetic wraps around, as it does in words",
    };
    found.verdict.notes.push(note.to_string());
    Ok(found)
}
