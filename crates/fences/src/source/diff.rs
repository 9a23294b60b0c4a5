//! Unified diffs, as `patch` takes them. Lines keep their ends.

use parallax_program::is_obeyed;
use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices, group_diff_ops};

/// Lines of context around changes.
const CONTEXT: usize = 3;

/// The differences between two texts; empty if there are none.
pub fn unified(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    let before: Vec<&str> = old.split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let steps = capture_diff_slices(Algorithm::Myers, &before, &after);
    let hunks = group_diff_ops(steps, CONTEXT);
    if hunks.is_empty() {
        return String::new();
    }
    let hunks: String = hunks.iter().map(|hunk| render(hunk, &before, &after)).collect();
    format!("--- {}\n+++ {}\n{hunks}", header(old_name), header(new_name))
}

/// A name as it stands in the header: one with an end of a line, or an escape sequence, in quotes.
fn header(name: &str) -> String {
    let is_plain = |c: char| !is_obeyed(c) && !matches!(c, '"' | '\\');
    if name.chars().all(is_plain) {
        return name.to_string();
    }
    let bytes = name.bytes().map(|byte| match byte {
        b' '..=b'~' if is_plain(char::from(byte)) => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    });
    format!("\"{}\"", bytes.collect::<String>())
}

fn render(hunk: &[DiffOp], before: &[&str], after: &[&str]) -> String {
    let olds: usize = hunk.iter().map(|step| step.old_range().len()).sum();
    let news: usize = hunk.iter().map(|step| step.new_range().len()).sum();
    // A part without lines is named by the line before it.
    let first = |start: usize, count: usize| if count == 0 { start } else { start + 1 };
    let old = hunk.first().map_or(0, |step| step.old_range().start);
    let new = hunk.first().map_or(0, |step| step.new_range().start);
    let mut text = format!("@@ -{},{olds} +{},{news} @@\n", first(old, olds), first(new, news));
    for change in hunk.iter().flat_map(|step| step.iter_changes(before, after)) {
        text.push(match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        });
        let line: &str = change.value();
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_more() {
        let diff = unified("a/t.c", "b/t.c", "1\r\n2\r\n3\r\n", "1\r\nnew\r\n2\r\n3\r\n");
        assert_eq!(diff, "--- a/t.c\n+++ b/t.c\n@@ -1,3 +1,4 @@\n 1\r\n+new\r\n 2\r\n 3\r\n");
        assert_eq!(unified("a", "b", "same\n", "same\n"), "");
    }

    /// What `patch` does, strictly.
    fn patched(old: &str, diff: &str) -> String {
        let before: Vec<&str> = old.split_inclusive('\n').collect();
        let (mut text, mut at) = (String::new(), 0);
        let mut lines = diff.split_inclusive('\n').skip(2).peekable();
        while let Some(line) = lines.next() {
            if let Some(rest) = line.strip_prefix("@@ -") {
                let (start, rest) = rest.split_once(',').unwrap();
                let count = rest.split_once(' ').unwrap().0;
                let start: usize = start.parse().unwrap();
                let start = if count == "0" { start } else { start - 1 };
                before[at..start].iter().for_each(|line| text.push_str(line));
                at = start;
                continue;
            }
            let is_last = lines.peek().is_some_and(|next| next.starts_with('\\'));
            let (mark, content) = line.split_at(1);
            let content = if is_last { content.trim_end_matches('\n') } else { content };
            match mark {
                " " | "-" => {
                    assert_eq!(before[at], content);
                    at += 1;
                    if mark == " " {
                        text.push_str(content);
                    }
                }
                "+" => text.push_str(content),
                _ => {}
            }
        }
        before[at..].iter().for_each(|line| text.push_str(line));
        text
    }

    proptest! {
        #[test]
        fn diffs_lead_from_one_to_the_other(
            old in "([ab]?\n){0,20}[ab]?",
            new in "([ab]?\n){0,20}[ab]?",
        ) {
            let diff = unified("a", "b", &old, &new);
            prop_assert_eq!(patched(&old, &diff), new);
        }
    }
}
