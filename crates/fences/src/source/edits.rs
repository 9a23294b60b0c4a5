//! Changes to a text, and where everything is afterwards.

/// Some bytes give way to others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    pub at: usize,
    pub removed: usize,
    pub text: String,
    /// Among changes at the same offset, those of lower rank come first.
    pub rank: i64,
    /// What it is there for: the number of a decision, and where in the new text that starts.
    pub of: Option<(u32, usize)>,
}

impl Edit {
    pub fn insert(at: usize, text: impl Into<String>, rank: i64) -> Edit {
        Edit { at, removed: 0, text: text.into(), rank, of: None }
    }

    pub fn replace(range: std::ops::Range<usize>, text: String) -> Edit {
        Edit { at: range.start, removed: range.len(), text, rank: 0, of: None }
    }

    /// For a decision, from the first byte on that is no blank.
    pub fn of(self, decision: u32) -> Edit {
        let lead = self.text.len() - self.text.trim_start().len();
        self.of_at(decision, lead)
    }

    pub fn of_at(self, decision: u32, lead: usize) -> Edit {
        Edit { of: Some((decision, lead)), ..self }
    }
}

/// A text after changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edited {
    pub text: String,
    /// For each change, in order: where it was made, how many bytes went, and the bytes of the new
    /// text that came.
    changes: Vec<(usize, usize, usize, usize)>,
    /// Decisions, and the first byte of the new text that is there for them.
    pub places: Vec<(u32, usize)>,
}

/// Makes changes, which do not overlap.
pub fn edit(text: &str, mut edits: Vec<Edit>) -> Edited {
    edits.sort_by_key(|edit| (edit.at, edit.rank));
    let mut edited = Edited::default();
    let mut at = 0;
    for edit in edits {
        let here = edit.at.max(at).min(text.len());
        edited.text.push_str(text.get(at..here).unwrap_or(""));
        let start = edited.text.len();
        if let Some((decision, lead)) = edit.of {
            edited.places.push((decision, start + lead));
        }
        edited.text.push_str(&edit.text);
        edited.changes.push((here, edit.removed, start, edited.text.len()));
        at = (here + edit.removed).min(text.len());
    }
    edited.text.push_str(text.get(at..).unwrap_or(""));
    edited
}

impl Edited {
    /// Where a byte of the new text was in the old one; for new bytes, where they were put.
    pub fn origin(&self, offset: usize) -> usize {
        let after = self.changes.partition_point(|(_, _, start, _)| *start <= offset);
        match after.checked_sub(1).and_then(|last| self.changes.get(last)) {
            None => offset,
            Some((at, _, _, end)) if offset < *end => *at,
            Some((at, removed, _, end)) => at + removed + (offset - end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_both_ways() {
        let edits = vec![
            Edit { at: 2, removed: 1, text: "XYZ".into(), rank: 0, of: None },
            Edit::insert(4, " b", 1).of(7),
            Edit::insert(4, "a", 0),
        ];
        let edited = edit("0123456", edits);
        assert_eq!(edited.text, "01XYZ3a b456");
        assert_eq!(edited.places, [(7, 8)]);
        let origins: Vec<usize> = (0..edited.text.len()).map(|at| edited.origin(at)).collect();
        assert_eq!(origins, [0, 1, 2, 2, 2, 3, 4, 4, 4, 4, 5, 6]);
    }
}
