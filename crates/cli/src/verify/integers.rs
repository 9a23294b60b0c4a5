//! Operation structures whose values are integers.
//!
//! That nothing is wrong with integers is told as it is. Something that is wrong is looked for again with
//! words, as machines have them: only what they do is shown.

use parallax_frontend_ops::with_integers;
use parallax_program::{Diagnostics, Program, Property};
use parallax_verdict::{Conclusion, Reason};

use super::bounded::{ask, emit};
use super::{Answer, VerifyArguments};

/// `program` has words.
pub fn verify(
    program: &Program,
    usual_model: &str,
    properties: Vec<Property>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let wide = with_integers(program.clone());
    let (mut answer, asked) = ask(&wide, usual_model, properties.clone(), options, true)?;
    emit(&asked, options)?;
    if answer.verdict.conclusion() == Conclusion::Unsafe {
        let (words, _) = ask(program, usual_model, properties, options, false)?;
        if words.verdict.conclusion() == Conclusion::Unsafe {
            answer = words;
        } else {
            answer.verdict = answer.verdict.withdrawn(Reason {
                message: "with integers something is wrong, but not with words, as machines have \
                          them"
                    .to_string(),
                place: None,
                help: Some("leave out --integers to see how far that goes".to_string()),
            });
        }
    }
    let note = match answer.verdict.conclusion() {
        Conclusion::Unsafe => "found with integers; words do it, too, and that is what is shown",
        _ => "values are integers: no arithmetic wraps around, as it does in words",
    };
    answer.verdict.notes.push(note.to_string());
    Ok(answer)
}
