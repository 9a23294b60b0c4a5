//! Files of tasks: many programs under many models, each asked for many properties.
//!
//! What is at the top is for all tasks, and a task may say otherwise. `input`, `model` and `property`
//! take lists: each combination is a question of its own. Paths are relative to the file. Nothing
//! in it becomes an argument of clang but macros, folders of headers and the standard.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use parallax_program::{Diagnostic, Diagnostics};
use parallax_verdict::Conclusion;

use crate::input::is_known;
use crate::models::{ModelChoice, Models};
use crate::properties::Properties;
use crate::registry::Choice;
use crate::text::{read, shown};
use crate::yaml::{Document, Node};

/// One program under one model, asked for some properties.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Question {
    /// Several files are linked.
    pub files: Vec<PathBuf>,
    /// None for what inputs of the kind usually have, here and in what follows.
    pub model: Option<String>,
    pub property: Option<String>,
    pub engine: Option<String>,
    pub unroll: Option<String>,
    pub nondet: Option<String>,
    /// In seconds.
    pub timeout: Option<String>,
    /// In MiB.
    pub memory_limit: Option<String>,
    pub define: Vec<String>,
    pub include: Vec<PathBuf>,
    pub std: Option<String>,
    pub expected: Option<Conclusion>,
}

impl Question {
    /// The program, as tables name it.
    pub fn name(&self) -> String {
        self.files.iter().map(|file| shown(file)).collect::<Vec<_>>().join(" ")
    }
}

const SETTINGS: [&str; 13] = [
    "input",
    "model",
    "property",
    "expect",
    "engine",
    "unroll",
    "nondet",
    "timeout",
    "memory_limit",
    "define",
    "include",
    "std",
    "tasks",
];

/// The questions of a file, or one about each program of a folder. `is_range` says whether a text is
/// a range of values.
pub fn questions(path: &Path, is_range: fn(&str) -> bool) -> Result<Vec<Question>, Diagnostics> {
    if path.is_dir() {
        return programs(path);
    }
    if !path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml") {
        let message = format!("'{}' is neither a folder nor a file of tasks", shown(path));
        return Err(vec![Diagnostic::new(message).with_help("files of tasks are .yml")]);
    }
    let text = read(path)?;
    parse(path, &text, is_range).map_err(|error| vec![error])
}

/// One question for each file of a folder that is a program by its name.
fn programs(folder: &Path) -> Result<Vec<Question>, Diagnostics> {
    let unread = |error: std::io::Error| {
        vec![Diagnostic::new(format!("cannot read the folder '{}': {error}", shown(folder)))]
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.is_file() && is_known(&path) {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        let message = format!("there are no programs in '{}'", shown(folder));
        return Err(vec![Diagnostic::new(message)]);
    }
    Ok(files
        .into_iter()
        .map(|file| Question { files: vec![file], ..Question::default() })
        .collect())
}

/// Reads a file of tasks.
pub fn parse(
    path: &Path,
    text: &str,
    is_range: fn(&str) -> bool,
) -> Result<Vec<Question>, Diagnostic> {
    let document = Document::parse(&shown(path), text)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let models = Models::new(&[], None);
    let reader = Reader { document: &document, folder, models, is_range };
    let root = &document.root;
    let mut all = Setup::default();
    reader.settings(root, &mut all, true)?;
    let tasks = document.elements(document.field(root, "tasks")?, "tasks")?;
    let mut questions = Vec::new();
    for task in tasks {
        let mut own = all.clone();
        reader.settings(task, &mut own, false)?;
        questions.extend(reader.questions(task, own)?);
    }
    match questions.is_empty() {
        true => Err(document.error(document.field(root, "tasks")?, "there are no tasks in it")),
        false => Ok(questions),
    }
}

/// What was said of a task so far.
#[derive(Clone, Default)]
struct Setup {
    inputs: Vec<Vec<PathBuf>>,
    models: Vec<String>,
    properties: Vec<String>,
    expected: Expected,
    rest: Question,
}

#[derive(Clone, Default)]
struct Expected {
    of_all: Option<Conclusion>,
    of_models: BTreeMap<String, Conclusion>,
}

struct Reader<'d> {
    document: &'d Document,
    folder: &'d Path,
    models: Models,
    is_range: fn(&str) -> bool,
}

impl Reader<'_> {
    fn settings(&self, node: &Node, setup: &mut Setup, is_top: bool) -> Result<(), Diagnostic> {
        let entries = node.map().ok_or_else(|| {
            let what = if is_top { "expected a map that has 'tasks'" } else { "expected a task" };
            self.document.error(node, what)
        })?;
        for (key, value) in entries {
            let name = key.text().unwrap_or("");
            let is_known = SETTINGS.contains(&name) && (is_top || name != "tasks");
            if !is_known {
                let known: Vec<&str> =
                    SETTINGS.into_iter().filter(|known| is_top || *known != "tasks").collect();
                let error = self.document.error(key, format!("there is no setting '{name}'"));
                return Err(error.with_help(format!("settings are {}", known.join(", "))));
            }
            self.setting(name, value, setup)?;
        }
        Ok(())
    }

    fn setting(&self, name: &str, value: &Node, setup: &mut Setup) -> Result<(), Diagnostic> {
        let rest = &mut setup.rest;
        let number = |what: &str| self.checked(value, |text| is_number(text, what));
        match name {
            "input" => setup.inputs = self.inputs(value)?,
            "model" => setup.models = self.each(value, |node| self.model(node))?,
            "property" => setup.properties = self.each(value, |node| self.property(node))?,
            "expect" => setup.expected = self.expected(value)?,
            "engine" => {
                rest.engine = Some(self.checked(value, |text| Choice::from_str(text).map(|_| ()))?);
            }
            "unroll" => {
                rest.unroll = Some(self.checked(value, |text| {
                    match text {
                        "auto" => Ok(()),
                        _ => text
                            .parse::<u32>()
                            .map(|_| ())
                            .map_err(|_| "expected a number of rounds, or auto".to_string()),
                    }
                })?);
            }
            "nondet" => {
                let is_range = self.is_range;
                rest.nondet = Some(self.checked(value, |text| match is_range(text) {
                    true => Ok(()),
                    false => Err("expected two numbers, such as 0..3".to_string()),
                })?);
            }
            "timeout" => rest.timeout = Some(number("seconds")?),
            "memory_limit" => rest.memory_limit = Some(number("MiB")?),
            "define" => rest.define = self.each(value, |node| self.text(node))?,
            "include" => rest.include = self.each(value, |node| self.path(node))?,
            "std" => rest.std = Some(self.text(value)?),
            _ => {}
        }
        Ok(())
    }

    fn questions(&self, task: &Node, setup: Setup) -> Result<Vec<Question>, Diagnostic> {
        let Setup { inputs, models, properties, expected, rest } = setup;
        if inputs.is_empty() {
            return Err(self.document.error(task, "the task has no 'input'"));
        }
        let unasked = expected.of_models.keys().find(|model| !models.contains(model));
        if let Some(model) = unasked {
            let message = format!("'{model}' is expected to answer, and no 'model' of the task");
            return Err(self.document.error(task, message));
        }
        let some = |list: Vec<String>| -> Vec<Option<String>> {
            if list.is_empty() { vec![None] } else { list.into_iter().map(Some).collect() }
        };
        let (models, properties) = (some(models), some(properties));
        let mut questions = Vec::new();
        for files in inputs {
            for model in &models {
                for property in &properties {
                    let of_model = model.as_ref().and_then(|name| expected.of_models.get(name));
                    questions.push(Question {
                        files: files.clone(),
                        model: model.clone(),
                        property: property.clone(),
                        expected: of_model.copied().or(expected.of_all),
                        ..rest.clone()
                    });
                }
            }
        }
        Ok(questions)
    }

    /// A value, or a list of such.
    fn each<T>(
        &self,
        node: &Node,
        read: impl Fn(&Node) -> Result<T, Diagnostic>,
    ) -> Result<Vec<T>, Diagnostic> {
        match node.list() {
            Some([]) => Err(self.document.error(node, "the list is empty")),
            Some(nodes) => nodes.iter().map(read).collect(),
            None => Ok(vec![read(node)?]),
        }
    }

    /// Programs; one that is a list is made of several files. A folder stands for its programs.
    fn inputs(&self, node: &Node) -> Result<Vec<Vec<PathBuf>>, Diagnostic> {
        let inputs = self.each(node, |node| match node.list() {
            Some([]) => Err(self.document.error(node, "the list is empty")),
            Some(parts) => {
                let files = parts.iter().map(|part| self.path(part));
                Ok(vec![files.collect::<Result<Vec<_>, _>>()?])
            }
            None => {
                let path = self.path(node)?;
                if !path.is_dir() {
                    return Ok(vec![vec![path]]);
                }
                let programs = programs(&path).map_err(|errors| {
                    let message = errors.first().map_or("", |error| error.message.as_str());
                    self.document.error(node, message)
                })?;
                Ok(programs.into_iter().map(|question| question.files).collect())
            }
        })?;
        Ok(inputs.into_iter().flatten().collect())
    }

    fn text(&self, node: &Node) -> Result<String, Diagnostic> {
        let text = node.text().filter(|text| !text.contains('\0'));
        text.map(str::to_string).ok_or_else(|| self.document.error(node, "expected a text"))
    }

    fn checked(
        &self,
        node: &Node,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, Diagnostic> {
        let text = self.text(node)?;
        match check(&text) {
            Ok(()) => Ok(text),
            Err(message) => Err(self.document.error(node, message)),
        }
    }

    fn path(&self, node: &Node) -> Result<PathBuf, Diagnostic> {
        let text = self.text(node)?;
        match text.is_empty() {
            true => Err(self.document.error(node, "expected a path")),
            false => Ok(self.folder.join(text)),
        }
    }

    /// A model that there is: a wrong name would be wrong in each task.
    fn model(&self, node: &Node) -> Result<String, Diagnostic> {
        let text = self.text(node)?;
        let choice = ModelChoice::parse(&text, self.folder);
        if let Err(errors) = self.models.get(&choice) {
            let first = errors.into_iter().next();
            let message = first.as_ref().map_or("", |error| error.message.as_str());
            let error = self.document.error(node, message);
            return Err(match first.and_then(|error| error.help) {
                Some(help) => error.with_help(help),
                None => error,
            });
        }
        Ok(match choice {
            ModelChoice::File(path) => path.display().to_string(),
            _ => text,
        })
    }

    fn property(&self, node: &Node) -> Result<String, Diagnostic> {
        let text = self.checked(node, |text| Properties::from_str(text).map(|_| ()))?;
        Ok(match Properties::from_str(&text) {
            Ok(Properties::File(path)) => self.folder.join(path).display().to_string(),
            _ => text,
        })
    }

    fn expected(&self, node: &Node) -> Result<Expected, Diagnostic> {
        let mut expected = Expected::default();
        match node.map() {
            None => expected.of_all = Some(self.conclusion(node)?),
            Some(entries) => {
                for (model, verdict) in entries {
                    let name = self.model(model)?;
                    expected.of_models.insert(name, self.conclusion(verdict)?);
                }
            }
        }
        Ok(expected)
    }

    fn conclusion(&self, node: &Node) -> Result<Conclusion, Diagnostic> {
        let known = [Conclusion::Safe, Conclusion::Unsafe, Conclusion::Unknown];
        let found = known.into_iter().find(|verdict| Some(verdict.name()) == node.text());
        found.ok_or_else(|| self.document.error(node, "expected safe, unsafe or unknown"))
    }
}

fn is_number(text: &str, what: &str) -> Result<(), String> {
    let number = text.parse::<u32>().ok().filter(|number| *number > 0);
    number.map(|_| ()).ok_or_else(|| format!("expected a number of {what}, at least 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Question>, String> {
        let parsed = parse(Path::new("d/t.yml"), text, |text| text.contains(".."));
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn lists_make_a_question_of_each_combination() {
        let text = "model: [sc, tso]\ntimeout: 9\ntasks:\n  - input: [a.c, [b.c, c.c]]\n    \
                    property: [assert, 'race,memory']\n    expect: {sc: safe, tso: unsafe}\n  \
                    - input: d.c\n    model: rc11\n    timeout: 3\n    expect: unknown\n";
        let found = read(text).expect("tasks");
        assert_eq!(found.len(), 9);
        assert_eq!(found[0].files, [PathBuf::from("d/a.c")]);
        assert_eq!(found[7].name(), "d/b.c d/c.c");
        assert_eq!(found[7].property.as_deref(), Some("race,memory"));
        assert_eq!(found[7].expected, Some(Conclusion::Unsafe));
        assert_eq!(found[5].expected, Some(Conclusion::Safe));
        assert_eq!(found[8].timeout.as_deref(), Some("3"));
        assert_eq!(found[8].expected, Some(Conclusion::Unknown));
    }

    #[test]
    fn typing_errors_have_a_place() {
        let wrong = |text: &str, expected: &str| {
            let error = read(text).expect_err("an error");
            assert!(error.contains(expected), "{error}");
        };
        wrong("tasks:\n - imput: a.c\n", "d/t.yml:2:4: error: there is no setting 'imput'");
        wrong("tasks:\n - input: a.c\n   model: rc12\n", "d/t.yml:3:11: error: there is no");
        wrong("tasks:\n - input: a.c\n   property: asert\n", "d/t.yml:3:14: error: there is no");
        wrong("tasks:\n - input: a.c\n   engine: quick\n", "d/t.yml:3:12: error: there is no");
        wrong("tasks:\n - input: a.c\n   expect: save\n", "3:12: error: expected safe, unsafe");
        wrong("tasks:\n - input: a.c\n   timeout: -1\n", "3:13: error: expected a number of s");
        wrong("tasks:\n - input: a.c\n   unroll: x\n", "3:12: error: expected a number of r");
        wrong("tasks:\n - input: a.c\n   nondet: 3\n", "3:12: error: expected two numbers");
        wrong("tasks:\n - model: sc\n", "2:4: error: the task has no 'input'");
        wrong("tasks:\n - input: []\n", "2:11: error: the list is empty");
        wrong("tasks: []\n", "1:8: error: there are no tasks");
        wrong("model: sc\n", "'tasks' is missing");
        wrong("- a.c\n", "expected a map that has 'tasks'");
        wrong("tasks:\n - input: a.c\n   expect: {tso: safe}\n", "'tso' is expected to answer");
    }
}
