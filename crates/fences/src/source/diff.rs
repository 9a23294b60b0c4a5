//! Unified diffs, as `patch` takes them.
//!
//! The shortest script of lines that come and go is found as in E. W. Myers, An O(ND) Difference
//! Algorithm and Its Variations, Algorithmica 1, 1986. Lines keep their ends.

use parallax_program::is_obeyed;

/// Lines of context around changes.
const CONTEXT: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Keep,
    Remove,
    Add,
}

/// The differences between two texts; empty if there are none.
pub fn unified(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    let before: Vec<&str> = old.split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let steps = steps(&before, &after);
    let mut text = String::new();
    let mut at = 0;
    let (mut old_line, mut new_line) = (0, 0);
    while at < steps.len() {
        if steps[at] == Step::Keep {
            (at, old_line, new_line) = (at + 1, old_line + 1, new_line + 1);
            continue;
        }
        if text.is_empty() {
            text = format!("--- {}\n+++ {}\n", header(old_name), header(new_name));
        }
        let lead = kept_before(&steps, at).min(CONTEXT);
        let end = end_of_hunk(&steps, at);
        let hunk = &steps[at - lead..end];
        let start = (old_line - lead, new_line - lead);
        text.push_str(&render(hunk, start, &before, &after));
        for step in &steps[at..end] {
            old_line += usize::from(*step != Step::Add);
            new_line += usize::from(*step != Step::Remove);
        }
        at = end;
    }
    text
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

fn kept_before(steps: &[Step], at: usize) -> usize {
    steps[..at].iter().rev().take_while(|step| **step == Step::Keep).count()
}

/// Changes that are close to one another share a hunk.
fn end_of_hunk(steps: &[Step], from: usize) -> usize {
    let (mut end, mut at) = (from, from);
    while at < steps.len() && at - end <= 2 * CONTEXT {
        at += 1;
        if steps[at - 1] != Step::Keep {
            end = at;
        }
    }
    let trail = steps[end..].iter().take_while(|step| **step == Step::Keep).count();
    end + trail.min(CONTEXT)
}

fn render(hunk: &[Step], start: (usize, usize), before: &[&str], after: &[&str]) -> String {
    let olds = hunk.iter().filter(|step| **step != Step::Add).count();
    let news = hunk.iter().filter(|step| **step != Step::Remove).count();
    // A part without lines is named by the line before it.
    let first = |start: usize, count: usize| if count == 0 { start } else { start + 1 };
    let mut text =
        format!("@@ -{},{olds} +{},{news} @@\n", first(start.0, olds), first(start.1, news));
    let (mut old, mut new) = start;
    for step in hunk {
        let (mark, line) = match step {
            Step::Keep => (' ', before.get(old)),
            Step::Remove => ('-', before.get(old)),
            Step::Add => ('+', after.get(new)),
        };
        old += usize::from(*step != Step::Add);
        new += usize::from(*step != Step::Remove);
        let line = line.copied().unwrap_or("");
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
    text
}

/// How to get from one to the other.
fn steps(before: &[&str], after: &[&str]) -> Vec<Step> {
    let same_first = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[same_first..], &after[same_first..]);
    let same_last = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let middle = (&before[..before.len() - same_last], &after[..after.len() - same_last]);
    let mut steps = vec![Step::Keep; same_first];
    steps.extend(shortest(middle.0, middle.1));
    steps.extend(std::iter::repeat_n(Step::Keep, same_last));
    steps
}

fn shortest(before: &[&str], after: &[&str]) -> Vec<Step> {
    let (n, m) = (before.len() as isize, after.len() as isize);
    let size = (n + m) as usize + 1;
    let index = |diagonal: isize| (diagonal + size as isize) as usize;
    let mut furthest = vec![0isize; 2 * size + 1];
    let mut history = Vec::new();
    for changes in 0..size as isize {
        history.push(furthest.clone());
        for diagonal in (-changes..=changes).step_by(2) {
            let down = diagonal == -changes
                || diagonal != changes
                    && furthest[index(diagonal - 1)] < furthest[index(diagonal + 1)];
            let mut x = match down {
                true => furthest[index(diagonal + 1)],
                false => furthest[index(diagonal - 1)] + 1,
            };
            while x < n && x - diagonal < m && before[x as usize] == after[(x - diagonal) as usize]
            {
                x += 1;
            }
            furthest[index(diagonal)] = x;
            if x >= n && x - diagonal >= m {
                return trace_back(&history, n, m, index);
            }
        }
    }
    Vec::new()
}

/// The way that led to the end.
fn trace_back(
    history: &[Vec<isize>],
    n: isize,
    m: isize,
    index: impl Fn(isize) -> usize,
) -> Vec<Step> {
    let (mut x, mut y) = (n, m);
    let mut steps = Vec::new();
    for (changes, furthest) in history.iter().enumerate().rev() {
        let (changes, diagonal) = (changes as isize, x - y);
        let down = diagonal == -changes
            || diagonal != changes && furthest[index(diagonal - 1)] < furthest[index(diagonal + 1)];
        let before = if down { diagonal + 1 } else { diagonal - 1 };
        let from = if changes == 0 { 0 } else { furthest[index(before)] };
        let (start_x, start_y) = if changes == 0 { (0, 0) } else { (from, from - before) };
        while x > start_x && y > start_y {
            steps.push(Step::Keep);
            (x, y) = (x - 1, y - 1);
        }
        if changes > 0 {
            steps.push(if down { Step::Add } else { Step::Remove });
            (x, y) = (start_x, start_y);
        }
    }
    steps.reverse();
    steps
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
