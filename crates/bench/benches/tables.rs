//! The tables of P. Maleehuan's dissertation (JAIST 2018) again, beside what it says: verdict, events,
//! seconds to write the question down, to answer it, and from the text to the verdict. Each
//! question is asked several times, and the middle of the times counts.

use parallax_bench::tables::{Answer, Question, tables};

/// How often each question is asked.
const TIMES: usize = 5;

fn main() {
    for table in tables() {
        println!("{}\n", table.title);
        println!(
            "| program | model | violation | events | encode s | solve s | total s | published s | factor |"
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
    let seconds = answer.total.as_secs_f64();
    let (published, factor) = match question.published {
        Some(published) => (format!("{published}"), format!("{:.0}", published / seconds)),
        None => Default::default(),
    };
    format!(
        "| {} | {} | {violated} | {} | {:.4} | {:.4} | {seconds:.4} | {published} | {factor} |",
        question.program,
        question.model,
        answer.figures.events,
        answer.figures.encoding.as_secs_f64(),
        answer.figures.solving.as_secs_f64(),
    )
}

/// The answer that took neither long nor short.
fn middle(question: &Question) -> Answer {
    let mut answers: Vec<Answer> = (0..TIMES).map(|_| question.ask()).collect();
    answers.sort_by_key(|answer| answer.total);
    answers[TIMES / 2]
}
