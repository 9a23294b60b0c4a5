//! Where statements of C start and end, and so where a fence can be put: before a statement, after
//! it, or at the ends of a body.
//!
//! A place is of interest next to a statement that accesses shared memory. Two places with nothing
//! in between that other threads could notice are one.

use std::cmp::Reverse;
use std::ops::Range;

use super::tokens::{Token, tokens};

/// A place for a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// Where the statement that it is next to starts or ends.
    pub offset: usize,
    pub side: Side,
    /// The body without braces that the statement is, by number.
    pub wrap: Option<usize>,
    /// How deep in bodies without braces.
    pub depth: usize,
    /// The statement next to it.
    pub statement: (usize, usize),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    Before,
    After,
    /// In the place of an empty statement.
    Instead,
}

/// The body of an `if` or a loop that is a statement without braces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wrap {
    /// Where the word starts that it belongs to …
    pub header: usize,
    /// … and where what comes before the body ends.
    pub header_end: usize,
    pub start: usize,
    pub end: usize,
}

/// What is known about the code, by offsets in the text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Activity {
    /// Accesses to memory that other threads may see. Sorted.
    pub accesses: Vec<usize>,
    /// Whatever is more than computation of a thread with its own variables. Sorted.
    pub busy: Vec<usize>,
}

fn any_in(sorted: &[usize], range: &Range<usize>) -> bool {
    let first = sorted.partition_point(|offset| *offset < range.start);
    sorted.get(first).is_some_and(|offset| *offset < range.end)
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    /// In order.
    pub points: Vec<Point>,
    pub wraps: Vec<Wrap>,
}

/// The places in the functions of a part of a text.
pub fn places(text: &str, range: Range<usize>, activity: &Activity) -> Places {
    let tokens = tokens(text, range);
    let mut parser =
        Parser { tokens: &tokens, at: 0, depth: 0, activity, places: Places::default() };
    parser.file();
    let mut places = parser.places;
    places.points.sort_by_key(|point| (point.offset, Reverse(point.depth), point.side));
    places.points.dedup();
    places
}

/// Statements nest at most this deep; what is deeper is left alone.
const MOST_DEPTH: usize = 100;

struct Parser<'a, 't> {
    tokens: &'a [Token<'t>],
    at: usize,
    depth: usize,
    activity: &'a Activity,
    places: Places,
}

/// What a statement is to those around it.
struct Statement {
    start: usize,
    end: usize,
    /// Its own words: all of a simple statement, and what is in the parentheses of others.
    own: Range<usize>,
    kind: Kind,
    /// Numbers of the points at the two ends of its body, and at the start of `else`.
    inner: Vec<Point>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Simple,
    /// Nothing is reached after it.
    Leaves,
    Empty,
    Block,
    Compound,
    /// `do` looks at its condition last.
    DoWhile,
}

impl<'t> Parser<'_, 't> {
    fn text(&self, ahead: usize) -> &'t str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    fn start(&self) -> usize {
        self.tokens.get(self.at).map_or_else(|| self.end(), |token| token.start)
    }

    /// Where the last word ended.
    fn end(&self) -> usize {
        let before = self.at.checked_sub(1).and_then(|before| self.tokens.get(before));
        before.map_or(0, Token::end)
    }

    fn is_over(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Function bodies follow a closing parenthesis; other braces are no code.
    fn file(&mut self) {
        let mut before = "";
        while !self.is_over() {
            let here = self.text(0);
            match here {
                "{" if before == ")" => {
                    self.statement(None, 0);
                }
                "{" | "(" | "[" => self.skip_group(),
                _ => self.at += 1,
            }
            before = if matches!(here, "(") { ")" } else { here };
        }
    }

    /// Goes past a group in brackets.
    fn skip_group(&mut self) {
        let mut open = 0usize;
        while !self.is_over() {
            match self.text(0) {
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }

    fn has_access(&self, range: &Range<usize>) -> bool {
        any_in(&self.activity.accesses, range)
    }

    /// One statement. `wrap` is the body without braces that it is, and `naked` how many of these
    /// are around it.
    fn statement(&mut self, wrap: Option<(usize, usize)>, naked: usize) -> Statement {
        self.depth += 1;
        let statement = match self.text(0) {
            _ if self.depth > MOST_DEPTH => self.simple(),
            "{" => self.block(),
            "if" if self.text(1) == "(" => self.branch(naked),
            "while" | "for" | "switch" if self.text(1) == "(" => self.headed(naked),
            "do" => self.do_while(naked),
            "case" | "default" => self.labelled(naked),
            _ if self.text(1) == ":" && self.text(2) != ":" => self.labelled(naked),
            _ if self.is_macro_with_body() => self.headed(naked),
            _ => self.simple(),
        };
        self.depth -= 1;
        if let Some((header, header_end)) = wrap {
            let (start, end) = (statement.start, statement.end);
            self.places.wraps.push(Wrap { header, header_end, start, end });
        }
        statement
    }

    /// A word, parentheses, and a brace right after them.
    fn is_macro_with_body(&self) -> bool {
        if self.text(1) != "(" {
            return false;
        }
        let mut open = 0usize;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at + 1) {
            match token.text {
                "(" => open += 1,
                ")" => open = open.saturating_sub(1),
                ";" if open == 0 => return false,
                _ => {}
            }
            if open == 0 {
                return self.tokens.get(at + 1).is_some_and(|next| next.text == "{");
            }
        }
        false
    }

    fn simple(&mut self) -> Statement {
        let (start, first) = (self.start(), self.text(0));
        while !self.is_over() {
            match self.text(0) {
                ";" => {
                    self.at += 1;
                    break;
                }
                "(" | "[" | "{" => self.skip_group(),
                // A brace that closes what is around: the statement is not whole.
                "}" => break,
                _ => self.at += 1,
            }
        }
        let end = self.end().max(start);
        let kind = match first {
            ";" => Kind::Empty,
            "return" | "goto" | "break" | "continue" => Kind::Leaves,
            _ => Kind::Simple,
        };
        Statement { start, end, own: start..end, kind, inner: Vec::new() }
    }

    fn labelled(&mut self, naked: usize) -> Statement {
        let mut questions = 0usize;
        while !self.is_over() && !matches!(self.text(0), ";" | "}" | "{") {
            let here = self.text(0);
            self.at += 1;
            match here {
                "?" => questions += 1,
                ":" if questions == 0 => break,
                ":" => questions -= 1,
                _ => {}
            }
        }
        match self.text(0) {
            "}" | "" => {
                let at = self.end();
                Statement { start: at, end: at, own: at..at, kind: Kind::Block, inner: Vec::new() }
            }
            _ => self.statement(None, naked),
        }
    }

    fn block(&mut self) -> Statement {
        let start = self.start();
        self.at += 1;
        let inside = self.end();
        let mut sequence = Sequence::default();
        let mut ends: Option<(Point, Point)> = None;
        while !self.is_over() && self.text(0) != "}" {
            let before = self.at;
            let statement = self.statement(None, 0);
            let (first, last) = edges(&statement, None, 0);
            sequence.add(self, &statement, (first.clone(), last.clone()));
            ends = Some((ends.map_or(first, |(first, _)| first), last));
            // A word that starts no statement must not stop us.
            self.at += usize::from(self.at == before);
        }
        sequence.finish(self);
        self.at += 1;
        let end = self.end();
        let empty = || {
            let statement = (inside, inside);
            let point =
                Point { offset: inside, side: Side::After, wrap: None, depth: 0, statement };
            (point.clone(), point)
        };
        let (first, last) = ends.unwrap_or_else(empty);
        Statement { start, end, own: start..start, kind: Kind::Block, inner: vec![first, last] }
    }

    /// The body of something: its statement, and the points at its start and its end.
    fn body(&mut self, header: usize, naked: usize) -> (Statement, Point, Point) {
        let header_end = self.end();
        let is_naked = self.text(0) != "{";
        let wrap = is_naked.then_some((header, header_end));
        let depth = naked + usize::from(is_naked);
        let statement = self.statement(wrap, depth);
        if !is_naked {
            let mut inner = statement.inner.iter().cloned();
            if let (Some(first), Some(last)) = (inner.next(), inner.next()) {
                return (statement, first, last);
            }
        }
        // Bodies inside of this one have come first.
        let number = self.places.wraps.len().saturating_sub(1);
        let (first, last) = edges(&statement, Some(number), depth);
        let mut alone = Sequence::default();
        alone.add(self, &statement, (first.clone(), last.clone()));
        alone.finish(self);
        (statement, first, last)
    }

    fn branch(&mut self, naked: usize) -> Statement {
        let start = self.start();
        self.at += 1;
        let header = self.start();
        self.skip_group();
        let own = header..self.end();
        let (_, then, _) = self.body(start, naked);
        let mut inner = vec![then];
        if self.text(0) == "else" {
            let word = self.start();
            self.at += 1;
            inner.push(self.body(word, naked).1);
        }
        let end = self.end();
        self.inside(&own, inner);
        Statement { start, end, own, kind: Kind::Compound, inner: Vec::new() }
    }

    fn headed(&mut self, naked: usize) -> Statement {
        let start = self.start();
        let is_switch = self.text(0) == "switch";
        self.at += 1;
        let header = self.start();
        self.skip_group();
        let own = header..self.end();
        let (_, first, last) = self.body(start, naked);
        let end = self.end();
        if !is_switch {
            self.inside(&own, vec![first, last]);
        }
        Statement { start, end, own, kind: Kind::Compound, inner: Vec::new() }
    }

    fn do_while(&mut self, naked: usize) -> Statement {
        let start = self.start();
        self.at += 1;
        let (_, first, last) = self.body(start, naked);
        let header = self.start();
        while !self.is_over() && !matches!(self.text(0), ";" | "}") {
            if self.text(0) == "(" { self.skip_group() } else { self.at += 1 }
        }
        let own = header..self.end();
        self.at += usize::from(self.text(0) == ";");
        let end = self.end();
        self.inside(&own, vec![first, last]);
        Statement { start, end, own, kind: Kind::DoWhile, inner: Vec::new() }
    }

    /// The points inside of a statement that matter if its header accesses memory.
    fn inside(&mut self, own: &Range<usize>, points: Vec<Point>) {
        if self.has_access(own) {
            self.places.points.extend(points);
        }
    }
}

/// The points before and after a statement.
fn edges(statement: &Statement, wrap: Option<usize>, depth: usize) -> (Point, Point) {
    let (start, end) = (statement.start, statement.end);
    let side = if statement.kind == Kind::Empty { Side::Instead } else { Side::Before };
    let first = Point { offset: start, side, wrap, depth, statement: (start, end) };
    let last = match side {
        Side::Instead => first.clone(),
        _ => Point { offset: end, side: Side::After, ..first.clone() },
    };
    (first, last)
}

/// Statements one after the other. The place after one is the place before the next.
#[derive(Default)]
struct Sequence {
    /// After the last statement that has one.
    after: Option<Point>,
}

impl Sequence {
    fn add(&mut self, parser: &mut Parser<'_, '_>, statement: &Statement, ends: (Point, Point)) {
        let (before, after) = ends;
        let has_access = parser.has_access(&statement.own);
        let whole = statement.start..statement.end;
        match statement.kind {
            Kind::Simple | Kind::Leaves if has_access => {
                self.after = None;
                parser.places.points.push(before);
                self.after = (statement.kind == Kind::Simple).then_some(after);
            }
            Kind::Empty => {}
            Kind::Simple if !any_in(&parser.activity.busy, &whole) => {}
            Kind::Compound if has_access => {
                parser.places.points.push(before);
                self.after = Some(after);
            }
            Kind::DoWhile if has_access => {
                self.finish(parser);
                self.after = Some(after);
            }
            _ => self.finish(parser),
        }
    }

    fn finish(&mut self, parser: &mut Parser<'_, '_>) {
        parser.places.points.extend(self.after.take());
    }
}
