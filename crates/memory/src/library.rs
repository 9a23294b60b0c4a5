//! The models and library files that come with the program.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use parallax_program::Diagnostics;

use crate::model::Model;

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../models/", $path, ".cat")))),*]
    };
}

const MODELS: &[(&str, &str)] = embedded![
    "sc", "tso", "pso", "rmo", "power", "arm", "aarch64", "riscv", "c11", "ra", "rc11", "rc20",
    "c11-mca", "rc11-mca", "imm", "lkmm",
];

const FILES: &[(&str, &str)] = embedded![
    "lib/aarch64fences",
    "lib/armfences",
    "lib/c-races",
    "lib/cos",
    "lib/cos-no-opt",
    "lib/cos-ok-opt",
    "lib/cos-opt",
    "lib/coscat",
    "lib/cross",
    "lib/fences",
    "lib/filters",
    "lib/kernel-events",
    "lib/lock",
    "lib/mca",
    "lib/mipsfences",
    "lib/ppcfences",
    "lib/ppo",
    "lib/stdlib",
    "lib/x86fences",
];

type Cache = Mutex<BTreeMap<&'static str, Result<Arc<Model>, Diagnostics>>>;

pub(crate) fn builtin(name: &str) -> Option<Result<Arc<Model>, Diagnostics>> {
    static CACHE: OnceLock<Cache> = OnceLock::new();
    let (name, text) = MODELS.iter().find(|(model, _)| *model == name)?;
    let mut cache = match CACHE.get_or_init(Cache::default).lock() {
        Ok(cache) => cache,
        Err(poisoned) => poisoned.into_inner(),
    };
    let model = cache.entry(name).or_insert_with(|| built_in(name, text).map(Arc::new));
    Some(model.clone())
}

fn built_in(name: &str, text: &str) -> Result<Model, Diagnostics> {
    let mut model = Model::parse(name, text, &|_| None)?;
    model.is_builtin = true;
    Ok(model)
}

pub(crate) fn summaries() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    MODELS.iter().map(|(name, text)| (*name, summary(text), *text))
}

/// The first line of the comment that a file opens with.
fn summary(text: &'static str) -> &'static str {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let first = first.trim().trim_start_matches("(*").trim_start_matches("//");
    first.trim_end_matches("*)").trim()
}

/// Whether a library file stands for something that the engine does itself: generating
/// coherence orders, and finding out what locks read. A copy of herd7's own file would
/// generate them once more, and takes the events of locks to be other than they are here.
pub(crate) fn makes_executions(name: &str) -> bool {
    let coherence = ["cos.cat", "cos-opt.cat", "cos-ok-opt.cat", "cos-no-opt.cat"];
    coherence.contains(&name) || name == "lock.cat"
}

/// A file that models include: one of the library, or another model.
pub(crate) fn file(name: &str) -> Option<&'static str> {
    let wanted = name.strip_suffix(".cat")?;
    let mut files = FILES.iter().chain(MODELS);
    let found = files.find(|(path, _)| path.trim_start_matches("lib/") == wanted);
    found.map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_first_comment_lines() {
        assert_eq!(summary("\n(* SC: one step at a time *)\nlet a = 0"), "SC: one step at a time");
        assert_eq!(summary("(* SC: one step\n   at a time *)"), "SC: one step");
        assert_eq!(summary(""), "");
    }
}
