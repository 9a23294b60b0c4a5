//! The tables of P. Maleehuan's dissertation (JAIST 2018) again, beside what it says: verdict, events,
//! milliseconds to write the question down, to answer it, and from the text to the verdict; then
//! the seconds of the dissertation, and how many times more that is. Each question is asked several
//! times, and the middle of the times counts.

use std::time::Duration;

use parallax_bench::tables::{Answer, Question, tables};

/// How often each question is asked.
const TIMES: usize = 25;

fn main() {
    for table in tables() {
        println!("{}\n", table.title);
        println!(
            "| program | model | violation | events | encode ms | solve ms | total ms | published s | times faster |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for question in &table.questions {
            println!("{}", row(question));
        }
        println!();
    }
}

fn row(question: &Question) -> String {
    let answer = middle(question);
    let violated = match answer.violated {
        Some(violated) if violated != question.violated => "wrong",
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let total = milliseconds(answer.total);
    let (published, factor) = match question.published {
        Some(published) => (format!("{published}"), rounded(published * 1e3 / total)),
        None => Default::default(),
    };
    format!(
        "| {} | {} | {violated} | {} | {:.2} | {:.2} | {total:.2} | {published} | {factor} |",
        question.program,
        question.model,
        answer.events,
        milliseconds(answer.work.encoding),
        milliseconds(answer.work.solving),
    )
}

/// Two digits count.
fn rounded(factor: f64) -> String {
    let unit = 10f64.powf(factor.max(1.0).log10().floor() - 1.0).max(1.0);
    format!("{:.0}", (factor / unit).round() * unit)
}

/// The answer that took neither long nor short.
fn middle(question: &Question) -> Answer {
    let mut answers: Vec<Answer> = (0..TIMES).map(|_| question.ask()).collect();
    answers.sort_by_key(|answer| answer.total);
    answers[TIMES / 2]
}
