//! Searches that are kept in files, to go on with them.
//!
//! A file says what it is about: the version of this program, the input as the front end has read it, the
//! model, and what else was asked. It goes on with nothing else. Behind that is what the engine has
//! written, and before both a hash, so that a file which is damaged or was cut off is noticed.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parallax_engine_explore::Checkpoint;
use parallax_files::{keep, sha256};
use parallax_program::{Diagnostic, Diagnostics};
use parallax_query::{Query, Reductions};

use crate::cluster::usual_file;
use crate::request::Prepared;
use crate::text::shown;

/// Which file a search is kept in, and which one it goes on with.
#[derive(Clone, Debug)]
pub struct Keeping {
    pub file: Option<PathBuf>,
    pub resume: Option<PathBuf>,
    pub every: Duration,
}

impl Default for Keeping {
    fn default() -> Keeping {
        Keeping { file: None, resume: None, every: Duration::from_secs(60) }
    }
}

/// No checkpoint is longer.
const MOST_BYTES: u64 = 4 << 30;

const TITLE: &str = "parallax checkpoint";

/// What a search is about, by aspects that are compared one by one.
pub(crate) struct Identity([(&'static str, String); 4]);

impl Identity {
    pub(crate) fn of(prepared: &Prepared, query: &Query<'_>) -> Identity {
        let program = query.subject.program.as_ref().map_or(String::new(), |it| it.to_text());
        let mut model = query.model.name().to_string();
        for source in query.model.sources() {
            model.push_str(source.text());
        }
        let names: Vec<&str> = query.properties.iter().map(|property| property.name()).collect();
        let reductions = query.extensions.get::<Reductions>().copied().unwrap_or(Reductions::ALL);
        let (unroll, nondet, all) = (query.unroll, query.nondet, query.goes_on());
        let compiled = (prepared.is_compiled, prepared.is_settled);
        let asked = format!("{names:?} {unroll:?} {nondet:?} {all} {reductions:?} {compiled:?}");
        Identity([
            ("another version of parallax", env!("CARGO_PKG_VERSION").to_string()),
            ("another program", sha256(program.as_bytes())),
            ("another model", sha256(model.as_bytes())),
            ("other options", sha256(asked.as_bytes())),
        ])
    }

    /// One line.
    pub(crate) fn line(&self) -> String {
        self.0.each_ref().map(|(_, value)| value.as_str()).join(" ")
    }

    /// What the line of another one is about, if that is something else.
    pub(crate) fn difference(&self, line: &str) -> Option<&'static str> {
        let mut values = line.split(' ');
        let differs = self.0.iter().find(|(_, own)| values.next() != Some(own));
        differs.map(|(aspect, _)| *aspect)
    }
}

/// What stands in a file for a search that is about this.
fn text(about: &str, body: &[u8]) -> Vec<u8> {
    let mut rest = about.as_bytes().to_vec();
    rest.push(b'\n');
    rest.extend_from_slice(body);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(text, "{TITLE} {}", sha256(&rest));
    let mut text = text.into_bytes();
    text.append(&mut rest);
    text
}

/// What a file is about, and what the engine has written there. The error says what is wrong.
pub fn parse(text: &[u8]) -> Result<(&str, &[u8]), &'static str> {
    let line = |text: &'_ [u8]| text.iter().position(|byte| *byte == b'\n');
    let foreign = "it is not a checkpoint";
    let end = line(text).ok_or(foreign)?;
    let first = std::str::from_utf8(&text[..end]).map_err(|_| foreign)?;
    let hash = first.strip_prefix(TITLE).ok_or(foreign)?.trim_start();
    let rest = &text[end + 1..];
    if sha256(rest) != hash {
        return Err("it is damaged, or was cut off");
    }
    let end = line(rest).ok_or("it is damaged, or was cut off")?;
    let about = std::str::from_utf8(&rest[..end]).map_err(|_| foreign)?;
    Ok((about, &rest[end + 1..]))
}

impl Prepared {
    /// The query of a search that is kept, or goes on.
    pub(crate) fn kept<'a>(&self, query: Query<'a>) -> Result<Query<'a>, Diagnostics> {
        let Keeping { file, resume, every } = &self.request.keeping;
        let file = file.clone().or_else(|| usual_file(self.request.cluster.as_ref()));
        if file.is_none() && resume.is_none() {
            return Ok(query);
        }
        if self.formulas.is_some() {
            let error = "searches for property files of SV-COMP cannot be kept";
            return Err(vec![Diagnostic::new(error)]);
        }
        let identity = Identity::of(self, &query);
        let from = resume.as_ref().map(|path| resumed(path, &identity)).transpose();
        let from = from.map_err(|error| vec![error])?;
        let keep = file.as_ref().map(|path| keeper(path, identity.line()));
        let checkpoint = Checkpoint { every: *every, keep, from };
        Ok(Query { extensions: query.extensions.clone().with(checkpoint), ..query })
    }
}

/// Writes a file anew each time.
fn keeper(path: &Path, about: String) -> Arc<parallax_engine_explore::checkpoint::Keep> {
    let path = path.to_path_buf();
    Arc::new(move |body: &[u8]| {
        keep(&path, &text(&about, body)).map_err(|error| {
            let message = format!("cannot write the checkpoint '{}': {error}", shown(&path));
            Diagnostic::new(message).with_help("what was there before is still there")
        })
    })
}

fn resumed(path: &Path, identity: &Identity) -> Result<Arc<[u8]>, Diagnostic> {
    let name = shown(path);
    let wrong = |why: &str| Diagnostic::new(format!("cannot go on with '{name}': {why}"));
    let text = parallax_files::read(path, MOST_BYTES).map_err(|error| wrong(&error.to_string()))?;
    let (about, body) = parse(&text).map_err(wrong)?;
    match identity.difference(about) {
        Some(aspect) => Err(wrong(&format!("it is of {aspect}"))),
        None => Ok(Arc::from(body)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_back() {
        let kept = text("1 2 3 4", b"{\n}");
        assert_eq!(parse(&kept), Ok(("1 2 3 4", &b"{\n}"[..])));
    }

    #[test]
    fn every_damage_is_noticed() {
        let kept = text("1 2 3 4", b"{\"a\":[1]}");
        for place in 0..kept.len() {
            assert!(parse(&kept[..place]).is_err(), "cut off at {place}");
            let mut other = kept.clone();
            other[place] ^= 1;
            assert!(parse(&other).is_err(), "another byte at {place}");
        }
    }
}
