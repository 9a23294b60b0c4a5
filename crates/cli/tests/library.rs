//! What the C library means, through every engine: each file of `library/` says in its first lines
//! what is asked (`// ask ARGUMENTS: CODE text`) and which exit code and words are the answer.

use crate::support;

use std::path::Path;

use support::Folder;

const ENGINES: [&[&str]; 3] = [
    &["--engine", "explore"],
    &["--engine", "bounded", "--model", "sc"],
    // It does not look for races.
    &["--engine", "states", "--model", "tso"],
];

/// A question of a file: arguments of the command, arguments of clang, codes, words.
struct Question<'t> {
    command: Vec<&'t str>,
    clang: Vec<&'t str>,
    codes: Vec<i32>,
    words: &'t str,
}

fn questions(text: &str) -> impl Iterator<Item = Question<'_>> {
    text.lines().filter_map(|line| line.strip_prefix("// ask")).map(question)
}

fn question(line: &str) -> Question<'_> {
    let (arguments, answer) = line.split_once(':').expect("an answer");
    let (codes, words) = answer.trim().split_once(' ').unwrap_or((answer.trim(), ""));
    let is_clang = |argument: &&str| argument.starts_with("-D");
    let (clang, command) = arguments.split_whitespace().partition(is_clang);
    let codes = codes.split('|').map(|code| code.parse().expect("a code")).collect();
    Question { command, clang, codes, words }
}

#[test]
fn every_engine_answers_as_the_files_say() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library");
    let folder = Folder::new();
    folder
        .write("unreach.prp", "CHECK( init(main()), LTL(G ! call(reach_error())) )\n")
        .write("other.prp", "CHECK( init(main()), LTL(G ! call(other_error())) )\n");
    let mut wrong = Vec::new();
    let mut asked = 0;
    for entry in std::fs::read_dir(sources).expect("a folder") {
        let path = entry.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let text = std::fs::read_to_string(&path).expect("a text");
        folder.write(name, &text);
        for question in questions(&text) {
            let is_of_race = question.command.contains(&"race") || question.words.contains("race");
            for engine in &ENGINES[..if is_of_race { 2 } else { 3 }] {
                asked += 1;
                let arguments: Vec<&str> = ["verify", name]
                    .into_iter()
                    .chain(engine.iter().copied())
                    .chain(question.command.iter().copied())
                    .chain(question.clang.iter().copied())
                    .collect();
                let run = folder.run(&arguments);
                let first = run.stdout.lines().next().unwrap_or_default();
                if !question.codes.contains(&run.code) || !first.contains(question.words) {
                    wrong.push(format!(
                        "{}: {} {first}{}",
                        arguments.join(" "),
                        run.code,
                        run.stderr
                    ));
                }
            }
        }
    }
    assert!(asked >= 70, "{asked}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
