//! Fences in files for the assembler: a line more, before an instruction or after it.
//!
//! Instructions are found by their lines, which is how the assembler says where they come from. Both
//! syntaxes of x86 are alike in what matters here: labels end in a colon, directives start with a
//! dot, and comments with `#`.

use std::ops::Range;

use super::c::line_end;
use super::edits::Edit;
use super::statements::Activity;

/// The lines of an assembler file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Assembly {
    lines: Vec<Line>,
    points: Vec<Point>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    start: usize,
    /// Without what ends it.
    end: usize,
    has_label: bool,
    instruction: Option<Range<usize>>,
    flow: Flow,
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flow {
    On,
    /// Maybe elsewhere, and maybe on.
    Branches,
    Leaves,
}

/// Before or after the instruction of a line, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Point {
    Before(usize),
    After(usize),
}

impl Assembly {
    pub fn new(text: &str) -> Assembly {
        let (mut lines, mut start, mut is_comment) = (Vec::new(), 0, false);
        for line in text.split_inclusive('\n') {
            lines.push(Line::new(text, start..start + line.trim_end().len(), &mut is_comment));
            start += line.len();
        }
        Assembly { lines, points: Vec::new() }
    }

    /// Where the instruction in a line starts; lines are counted from 1.
    pub fn instruction_in(&self, line: u32) -> Option<usize> {
        let line = self.lines.get((line as usize).checked_sub(1)?)?;
        line.instruction.as_ref().map(|instruction| instruction.start)
    }

    /// The instruction that starts at an offset.
    pub fn instruction_at(&self, offset: usize) -> Option<Range<usize>> {
        let mut instructions = self.lines.iter().filter_map(|line| line.instruction.clone());
        instructions.find(|instruction| instruction.start == offset)
    }

    /// Before and after each access. Places with nothing in between that others could notice, and
    /// where control does not come or go, are one.
    pub fn find_points(&mut self, activity: &Activity) {
        let has = |sorted: &[usize], offset: usize| sorted.binary_search(&offset).is_ok();
        let mut points = Vec::new();
        let mut after: Option<Point> = None;
        for (number, line) in self.lines.iter().enumerate() {
            if line.has_label {
                points.extend(after.take());
            }
            let Some(at) = line.instruction.as_ref().map(|instruction| instruction.start) else {
                continue;
            };
            if has(&activity.accesses, at) {
                points.push(after.take().unwrap_or(Point::Before(number)));
                after = (line.flow != Flow::Leaves).then_some(Point::After(number));
            } else if line.flow != Flow::On || has(&activity.busy, at) {
                points.extend(after.take());
            }
        }
        points.extend(after);
        self.points = points;
    }

    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// Where the instruction is that a point is next to.
    pub fn offset_of(&self, point: usize) -> usize {
        let line = match self.points.get(point) {
            Some(Point::Before(line) | Point::After(line)) => self.lines.get(*line),
            None => None,
        };
        line.and_then(|line| line.instruction.as_ref()).map_or(0, |range| range.start)
    }

    pub fn insertions(&self, text: &str, fences: &[(usize, u32, String)]) -> Vec<Edit> {
        let newline = line_end(text);
        let edits = fences.iter().filter_map(|(point, decision, fence)| {
            let point = *self.points.get(*point)?;
            let (Point::Before(number) | Point::After(number)) = point;
            let line = self.lines.get(number)?;
            let instruction = line.instruction.as_ref()?;
            let indent = indentation(text.get(line.start..instruction.start)?);
            let edit = match point {
                Point::Before(_) => {
                    Edit::insert(instruction.start, format!("{fence}{newline}{indent}"), 0)
                }
                Point::After(_) => Edit::insert(line.end, format!("{newline}{indent}{fence}"), 0),
            };
            Some(edit.of(*decision))
        });
        edits.collect()
    }

    /// Takes out the instruction at an offset: with its line, if there is no label on it.
    pub fn removal(&self, text: &str, offset: usize) -> Option<Edit> {
        let holds = |line: &&Line| line.instruction.as_ref().is_some_and(|i| i.start == offset);
        let line = self.lines.iter().find(holds)?;
        let instruction = line.instruction.clone()?;
        let next = text.get(line.end..)?.find('\n').map_or(text.len(), |at| line.end + at + 1);
        let range = if line.has_label { instruction } else { line.start..next };
        Some(Edit { at: range.start, removed: range.len(), text: String::new(), rank: 0, of: None })
    }
}

impl Line {
    /// `is_comment` says whether the line starts inside of a comment, and then the next one.
    fn new(text: &str, range: Range<usize>, is_comment: &mut bool) -> Line {
        let Range { start, end } = range;
        let code = blanked(text.get(start..end).unwrap_or(""), is_comment);
        let (mut at, mut has_label) = (0, false);
        let instruction = loop {
            let rest = code.get(at..).unwrap_or("");
            let word_at = at + rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            let is_part = |c: char| c.is_ascii_alphanumeric() || "_.$@\"".contains(c);
            let word = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(word);
            match behind.trim_start().chars().next() {
                Some(':') if word > 0 => {
                    has_label = true;
                    at = word_at + rest.find(':').map_or(rest.len(), |colon| colon + 1);
                }
                Some('=') => break None,
                _ if word == 0 || name.starts_with('.') => break None,
                _ => break Some(start + word_at..start + code.trim_end().len()),
            }
        };
        let flow = instruction.clone().and_then(|range| text.get(range)).map_or(Flow::On, flow);
        Line { start, end, has_label, instruction, flow }
    }
}

/// The code of a line: comments are blanks, and what follows `#` is gone.
fn blanked(line: &str, is_comment: &mut bool) -> String {
    let mut code = String::with_capacity(line.len());
    let mut left = line;
    loop {
        let mark = if *is_comment { "*/" } else { "/*" };
        let (part, rest) = match left.split_once(mark) {
            Some((part, rest)) => (part, Some(rest)),
            None => (left, None),
        };
        let shown = if *is_comment { "" } else { part };
        if let Some(hash) = shown.find('#') {
            code.push_str(&shown[..hash]);
            return code;
        }
        code.push_str(shown);
        code.extend(std::iter::repeat_n(' ', part.len() - shown.len()));
        match rest {
            Some(rest) => {
                code.push_str("  ");
                *is_comment = !*is_comment;
                left = rest;
            }
            None => return code,
        }
    }
}

/// Where control goes after an instruction.
fn flow(instruction: &str) -> Flow {
    let mut words = instruction.split_ascii_whitespace().map(str::to_ascii_lowercase);
    let is_prefix = |word: &String| {
        let word = word.trim_end_matches(';');
        matches!(word, "lock" | "rep" | "repe" | "repz" | "repne" | "repnz" | "bnd" | "notrack")
    };
    let name = words.find(|word| !is_prefix(word)).unwrap_or_default();
    match name.trim_end_matches(';') {
        "jmp" | "jmpq" | "ud2" | "hlt" => Flow::Leaves,
        name if name.starts_with("ret") => Flow::Leaves,
        name if name.starts_with('j') || name.starts_with("loop") => Flow::Branches,
        name if name.starts_with("call") || name == "syscall" => Flow::Branches,
        _ => Flow::On,
    }
}

/// What a line that starts like this is indented by: labels are as wide as they are.
fn indentation(before: &str) -> String {
    match before.trim().is_empty() {
        true => before.to_string(),
        false => " ".repeat(before.chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::edits::edit;
    use super::*;

    const TEXT: &str = "\
# mov a comment
\t.text
left:   movl $1, x(%rip) # mov
\tmovl y(%rip), %eax
\ttestl %eax, %eax
\tjne .L2
.L1: .L3:
\tlock; addl $1, x(%rip) /* a
 mov */ ret
size = 4
";

    fn accesses() -> Vec<usize> {
        ["movl $1", "movl y", "lock"].iter().filter_map(|word| TEXT.find(word)).collect()
    }

    #[test]
    fn instructions_are_found_by_lines() {
        let assembly = Assembly::new(TEXT);
        let found = (1..=10).map(|line| assembly.instruction_in(line));
        let words = found.map(|at| at.map(|at| TEXT[at..].split_ascii_whitespace().next()));
        let words: Vec<&str> = words.map(|word| word.flatten().unwrap_or("-")).collect();
        assert_eq!(words, ["-", "-", "movl", "movl", "testl", "jne", "-", "lock;", "ret", "-"]);
    }

    #[test]
    fn a_fence_is_a_line() {
        let mut assembly = Assembly::new(TEXT);
        assembly.find_points(&Activity { accesses: accesses(), busy: accesses() });
        use Point::{After, Before};
        assert_eq!(assembly.points, [Before(2), After(2), After(3), Before(7), After(7)]);
        let fences = [(0, 5, "mfence".to_string()), (1, 6, "mfence".to_string())];
        let edited = edit(TEXT, assembly.insertions(TEXT, &fences));
        let expected = "\
left:   mfence
        movl $1, x(%rip) # mov
        mfence
\tmovl y(%rip), %eax
";
        assert!(edited.text.contains(expected), "{}", edited.text);
        for (_, at) in &edited.places {
            assert!(edited.text[*at..].starts_with("mfence"));
        }
        let again = Assembly::new(&edited.text);
        assert_eq!(again.instruction_in(3), Some(edited.places[0].1));
        let text = edit(
            &edited.text,
            again.removal(&edited.text, edited.places[1].1).into_iter().collect(),
        );
        assert!(text.text.contains("# mov\n\tmovl y"), "{}", text.text);
    }
}
