//! From the paths on a command line to test files: folders hold `*.litmus` files, `@list` files
//! name more paths.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use parallax_program::{Diagnostic, Diagnostics, SourceFile, Span};

/// How deep folders may nest.
const MAX_FOLDER_DEPTH: usize = 64;
/// How many lists may be read; one that is named twice counts twice.
const MAX_LISTS: usize = 10_000;
/// How long each of them may be.
const MOST_LIST: u64 = 16 << 20;

/// All test files that the paths lead to, in order: a folder stands for the `*.litmus` files
/// in and below it, sorted; `@list` for the paths in that file, one a line, relative to it.
/// What cannot be read is reported; the rest is returned.
pub fn collect<P: AsRef<Path>>(paths: &[P]) -> (Vec<PathBuf>, Diagnostics) {
    let mut collector = Collector::default();
    for path in paths {
        collector.add(path.as_ref(), None);
    }
    (collector.files, collector.errors)
}

#[derive(Default)]
struct Collector {
    files: Vec<PathBuf>,
    errors: Diagnostics,
    /// How many lists were read.
    lists: usize,
    /// The lists being read, outermost first, by their true paths.
    open_lists: Vec<PathBuf>,
    /// Folders being read, by their true paths: links may lead back up.
    open_folders: HashSet<PathBuf>,
}

/// The line of a list that named a path.
type Origin<'a> = Option<(&'a SourceFile, Span)>;

impl Collector {
    fn add(&mut self, path: &Path, origin: Origin<'_>) {
        if let Some(list) = path.to_str().and_then(|path| path.strip_prefix('@')) {
            return self.add_list(Path::new(list), origin);
        }
        if path.is_dir() {
            self.add_folder(path, origin);
        } else if path.is_file() {
            self.files.push(path.to_path_buf());
        } else {
            let message = format!("there is no file or folder '{}'", path.display());
            self.report(origin, message);
        }
    }

    fn report(&mut self, origin: Origin<'_>, message: String) {
        self.errors.push(match origin {
            Some((list, span)) => list.error(span, message),
            None => Diagnostic::new(message),
        });
    }

    fn add_list(&mut self, path: &Path, origin: Origin<'_>) {
        let opened = fs::canonicalize(path).and_then(|true_path| {
            let bytes = parallax_files::read(path, MOST_LIST)?;
            Ok((true_path, bytes))
        });
        let (true_path, bytes) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let message = format!("cannot read the list '{}': {error}", path.display());
                return self.report(origin, message);
            }
        };
        if self.open_lists.contains(&true_path) {
            let message = format!("the list '{}' contains itself", path.display());
            return self.report(origin, message);
        }
        self.lists += 1;
        if self.lists > MAX_LISTS {
            // Lists that name each other twice and more soon stand for more files than there are.
            if self.lists == MAX_LISTS + 1 {
                self.report(origin, format!("more than {MAX_LISTS} lists"));
            }
            return;
        }
        self.open_lists.push(true_path);
        self.read_list(path, &String::from_utf8_lossy(&bytes));
        self.open_lists.pop();
    }

    fn read_list(&mut self, path: &Path, text: &str) {
        let list = SourceFile::new(&path.display().to_string(), text);
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let content = line.split('#').next().unwrap_or("");
            let entry = content.trim();
            let indent = content.len() - content.trim_start().len();
            let span = Span::new(start + indent, start + indent + entry.len());
            start += line.len();
            if entry.is_empty() {
                continue;
            }
            let origin = Some((&list, span));
            match entry.strip_prefix('@') {
                Some(inner) => self.add_list(&folder.join(inner), origin),
                None => self.add(&folder.join(entry), origin),
            }
        }
    }

    fn add_folder(&mut self, path: &Path, origin: Origin<'_>) {
        let mut found = Vec::new();
        self.walk(path, origin, &mut found);
        found.sort();
        self.files.append(&mut found);
    }

    fn walk(&mut self, folder: &Path, origin: Origin<'_>, found: &mut Vec<PathBuf>) {
        let listed = fs::canonicalize(folder).and_then(|true_path| {
            let entries: Result<Vec<_>, _> = fs::read_dir(folder)?.collect();
            Ok((true_path, entries?))
        });
        let (true_path, entries) = match listed {
            Ok(listed) => listed,
            Err(error) => {
                let message = format!("cannot read the folder '{}': {error}", folder.display());
                return self.report(origin, message);
            }
        };
        let too_deep = self.open_folders.len() >= MAX_FOLDER_DEPTH;
        if too_deep || !self.open_folders.insert(true_path.clone()) {
            return;
        }
        for path in entries.into_iter().map(|entry| entry.path()) {
            if path.is_dir() {
                self.walk(&path, origin, found);
            } else if path.extension().is_some_and(|extension| extension == "litmus") {
                found.push(path);
            }
        }
        self.open_folders.remove(&true_path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fresh folder for one test, removed again at its end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let id = std::process::id();
            let path = std::env::temp_dir().join(format!("parallax-files-{name}-{id}"));
            fs::create_dir_all(path.join("sub")).expect("scratch folder");
            Scratch(path)
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.0.join(name), text).expect("scratch file");
        }

        fn collect(&self, path: &str) -> (Vec<String>, Vec<String>) {
            let path = match path.strip_prefix('@') {
                Some(list) => format!("@{}", self.0.join(list).display()),
                None => self.0.join(path).display().to_string(),
            };
            let (files, errors) = collect(&[path]);
            let names = files.iter().filter_map(|file| file.strip_prefix(&self.0).ok());
            let names = names.map(|name| name.display().to_string());
            (names.collect(), errors.iter().map(|e| e.message.clone()).collect())
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_folder_stands_for_its_tests_in_order() {
        let scratch = Scratch::new("folder");
        scratch.write("b.litmus", "");
        scratch.write("a.litmus", "");
        scratch.write("sub/c.litmus", "");
        scratch.write("notes.txt", "");
        let (files, errors) = scratch.collect("");
        assert_eq!(files, ["a.litmus", "b.litmus", "sub/c.litmus"]);
        assert!(errors.is_empty());
    }

    #[test]
    fn lists_name_paths_relative_to_themselves() {
        let scratch = Scratch::new("list");
        scratch.write("a.litmus", "");
        scratch.write("sub/c.litmus", "");
        scratch.write("all", "# tests\na.litmus # the first\n\n@sub/more\n");
        scratch.write("sub/more", "c.litmus\nmissing.litmus\n");
        let (files, errors) = scratch.collect("@all");
        assert_eq!(files, ["a.litmus", "sub/c.litmus"]);
        assert_eq!(errors.len(), 1);
        assert!(errors[0].contains("missing.litmus"));
    }

    #[test]
    fn a_list_that_contains_itself_is_an_error() {
        let scratch = Scratch::new("cycle");
        scratch.write("one", "@two\n");
        scratch.write("two", "@one\n");
        let (files, errors) = scratch.collect("@one");
        assert!(files.is_empty());
        assert_eq!(errors.len(), 1);
        assert!(errors[0].contains("contains itself"));
    }
}
