//! Files that make up a model: finding what `include` names, and putting it in place.

use parallax_program::{Diagnostic, Diagnostics, SourceFile};

use crate::library;
use crate::place::{Place, Problem};
use crate::syntax::ast::{Stmt, StmtKind};
use crate::syntax::parse_file;

/// Files a model may consist of, so that includes that double each other come to an end.
const MAX_FILES: usize = 256;

/// What comes before a bell file: such files describe kernel C, and take its events to be
/// of the kinds that this file sorts them into.
const KERNEL_EVENTS: &str = "kernel-events.cat";

pub(crate) struct Loaded {
    pub title: Option<String>,
    pub files: Vec<SourceFile>,
    pub statements: Vec<Stmt>,
}

/// Parses some files, given by name and text, and everything they include, as one model.
/// `find` gives the text of an included file.
pub(crate) fn load(
    sources: &[(&str, &str)],
    variants: &[String],
    find: &dyn Fn(&str) -> Option<String>,
) -> Result<Loaded, Diagnostics> {
    let mut loader =
        Loader { files: Vec::new(), open: Vec::new(), problems: Vec::new(), variants, find };
    let mut title = None;
    let mut statements = Vec::new();
    for (name, text) in sources {
        let (own_title, own_statements) = loader.file(name, text);
        title = own_title;
        statements.extend(own_statements);
    }
    let Loader { files, mut problems, .. } = loader;
    if problems.is_empty() {
        return Ok(Loaded { title, files, statements });
    }
    problems.sort_by_key(|problem| problem.place);
    Err(diagnostics(&problems, &files))
}

pub(crate) fn diagnostics(problems: &[Problem], files: &[SourceFile]) -> Vec<Diagnostic> {
    problems.iter().map(|p| p.diagnostic(files)).collect()
}

struct Loader<'a> {
    files: Vec<SourceFile>,
    /// The names of the files being read, outermost first.
    open: Vec<String>,
    problems: Vec<Problem>,
    variants: &'a [String],
    find: &'a dyn Fn(&str) -> Option<String>,
}

impl Loader<'_> {
    fn file(&mut self, name: &str, text: &str) -> (Option<String>, Vec<Stmt>) {
        let before = match library::file(KERNEL_EVENTS) {
            Some(text) if name.ends_with(".bell") => self.file(KERNEL_EVENTS, text).1,
            _ => Vec::new(),
        };
        let index = self.files.len() as u32;
        self.files.push(SourceFile::new(name, text));
        match parse_file(index, text) {
            Ok(file) => {
                self.open.push(name.to_string());
                let mut statements = before;
                statements.extend(self.settle(file.statements));
                self.open.pop();
                (file.title, statements)
            }
            Err(problems) => {
                self.problems.extend(problems);
                (None, Vec::new())
            }
        }
    }

    /// Replaces includes by what they include, and `if` on variants by the branch taken.
    fn settle(&mut self, statements: Vec<Stmt>) -> Vec<Stmt> {
        let settled = statements
            .into_iter()
            .map(|Stmt { kind, place }| Stmt { kind: self.settle_one(kind, place), place });
        settled.collect()
    }

    fn settle_one(&mut self, kind: StmtKind, place: Place) -> StmtKind {
        match kind {
            StmtKind::Include(path) => StmtKind::Block(self.include(&path, place)),
            StmtKind::If { condition, then, otherwise } => {
                let taken = condition.holds(self.variants);
                StmtKind::Block(self.settle(if taken { then } else { otherwise }))
            }
            StmtKind::Procedure(mut procedure) => {
                procedure.body = self.settle(procedure.body);
                StmtKind::Procedure(procedure)
            }
            StmtKind::Forall { name, set, body } => {
                StmtKind::Forall { name, set, body: self.settle(body) }
            }
            StmtKind::Match { subject, clauses, default } => {
                let settle = |(tag, body)| (tag, self.settle(body));
                let clauses = clauses.into_iter().map(settle).collect();
                StmtKind::Match { subject, clauses, default: default.map(|body| self.settle(body)) }
            }
            other => other,
        }
    }

    fn include(&mut self, path: &str, place: Place) -> Vec<Stmt> {
        if self.open.iter().any(|open| open == path) {
            let chain = self.open.join(" includes ");
            let message = format!("'{path}' includes itself: {chain} includes {path}");
            self.problems.push(Problem::new(place, message));
            return Vec::new();
        }
        if self.files.len() >= MAX_FILES {
            let message = format!("more than {MAX_FILES} files included");
            self.problems.push(Problem::new(place, message));
            return Vec::new();
        }
        match (self.find)(path) {
            Some(text) => self.file(path, &text).1,
            None => {
                let problem = Problem::new(place, format!("cannot find the file '{path}'"));
                self.problems
                    .push(problem.with_help(
                        "looked beside the including file and in the library of models",
                    ));
                Vec::new()
            }
        }
    }
}
