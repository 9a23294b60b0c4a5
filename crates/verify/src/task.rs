//! Task definitions of SV-COMP: a program, what is asked of it, and often the answer.
//!
//! Format 2.0, as BenchExec describes it. Paths are relative to the file. Nothing in it reaches
//! other programs but the paths, and the data model as one of two words.

use std::path::{Path, PathBuf};

use parallax_frontend_c::{DataModel, Externs};
use parallax_memory::INTERLEAVING;
use parallax_program::{Diagnostic, Diagnostics};

use crate::properties::Properties;
use crate::request::Request;
use crate::text::{read, shown};
use crate::yaml::{Document, Node};

/// The model of the competition.
pub(crate) const MODEL: &str = INTERLEAVING;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    pub path: PathBuf,
    pub files: Vec<PathBuf>,
    pub properties: Vec<Asked>,
    pub data_model: DataModel,
}

/// A property that is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    pub file: PathBuf,
    pub expected: Option<Expected>,
}

/// The answer that a task comes with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    pub holds: bool,
    /// Which part does not hold.
    pub part: Option<String>,
}

impl Asked {
    /// `no-data-race` of `../properties/no-data-race.prp`.
    pub fn name(&self) -> String {
        let name = self.file.file_stem().unwrap_or(self.file.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

/// Whether a file is a task definition, by its name.
pub fn is_task(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yml")
}

impl Task {
    pub fn load(path: &Path) -> Result<Task, Diagnostics> {
        let text = read(path)?;
        parse(path, &text).map_err(|error| vec![error])
    }

    /// The properties to answer: all of the task, or the one that somebody asks for.
    pub fn asked(&self, file: Option<&Path>) -> Vec<Asked> {
        let Some(file) = file else { return self.properties.clone() };
        let known = self.properties.iter().find(|asked| asked.file.file_name() == file.file_name());
        let expected = known.and_then(|asked| asked.expected.clone());
        vec![Asked { file: file.to_path_buf(), expected }]
    }

    /// The question about one of the properties. What was asked for otherwise is kept.
    pub fn request(&self, asked: &Asked, base: &Request) -> Request {
        let mut request = base.clone();
        request.input.files = self.files.clone();
        request.input.reading.data_model = Some(self.data_model);
        request.input.reading.externs = Externs::Nondet;
        request.model.get_or_insert_with(|| MODEL.to_string());
        request.properties = Some(Properties::File(asked.file.clone()));
        request
    }
}

/// Reads a task definition.
pub fn parse(path: &Path, text: &str) -> Result<Task, Diagnostic> {
    let document = Document::parse(&shown(path), text)?;
    let reader = Reader { document: &document, folder: path.parent().unwrap_or(Path::new("")) };
    let root = &document.root;
    reader.check_version(root)?;
    Ok(Task {
        path: path.to_path_buf(),
        files: reader.files(document.field(root, "input_files")?)?,
        properties: reader.properties(document.field(root, "properties")?)?,
        data_model: reader.data_model(root.get("options"))?,
    })
}

struct Reader<'d> {
    document: &'d Document,
    folder: &'d Path,
}

impl Reader<'_> {
    fn check_version(&self, root: &Node) -> Result<(), Diagnostic> {
        let version = self.document.field_text(root, "format_version")?;
        if matches!(version, "1.0" | "2.0" | "2.1") {
            return Ok(());
        }
        let message = format!("task definitions of format {version} are not supported");
        let error = self.document.error(self.document.field(root, "format_version")?, message);
        Err(error.with_help("supported are 1.0, 2.0 and 2.1"))
    }

    /// A path of the file, beside it.
    fn path(&self, node: &Node) -> Result<PathBuf, Diagnostic> {
        let text = node.text().ok_or_else(|| self.document.error(node, "expected a path"))?;
        match Path::new(text).is_absolute() || text.contains('\0') {
            true => Err(self.document.error(node, "paths are relative to the task definition")),
            false => Ok(self.folder.join(text)),
        }
    }

    fn files(&self, node: &Node) -> Result<Vec<PathBuf>, Diagnostic> {
        let files = match node.list() {
            Some(nodes) => nodes.iter().map(|node| self.path(node)).collect(),
            None => self.path(node).map(|path| vec![path]),
        }?;
        match files.is_empty() {
            true => Err(self.document.error(node, "there is no input file")),
            false => Ok(files),
        }
    }

    fn properties(&self, node: &Node) -> Result<Vec<Asked>, Diagnostic> {
        let nodes = self.document.elements(node, "properties")?;
        let properties = nodes.iter().map(|node| {
            let file = self.path(self.document.field(node, "property_file")?)?;
            Ok(Asked { file, expected: self.expected(node)? })
        });
        let properties: Vec<Asked> = properties.collect::<Result<_, Diagnostic>>()?;
        match properties.is_empty() {
            true => Err(self.document.error(node, "there is no property")),
            false => Ok(properties),
        }
    }

    fn expected(&self, property: &Node) -> Result<Option<Expected>, Diagnostic> {
        let Some(node) = property.get("expected_verdict") else { return Ok(None) };
        let holds = match node.text() {
            Some("true") => true,
            Some("false") => false,
            _ => return Err(self.document.error(node, "the verdict is to be true or false")),
        };
        let part = property.get("subproperty").and_then(Node::text).map(str::to_string);
        Ok(Some(Expected { holds, part }))
    }

    fn data_model(&self, options: Option<&Node>) -> Result<DataModel, Diagnostic> {
        let Some(options) = options else { return Ok(DataModel::Lp64) };
        let language = options.get("language");
        if let Some(node) = language.filter(|node| node.text() != Some("C")) {
            return Err(self.document.error(node, "programs are to be written in C"));
        }
        let Some(node) = options.get("data_model") else { return Ok(DataModel::Lp64) };
        let known = node.text().and_then(DataModel::parse);
        known.ok_or_else(|| self.document.error(node, "the data model is to be ILP32 or LP64"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "format_version: '2.0'\n\
        input_files: 'a.i'\n\
        properties:\n\
        \x20 - property_file: ../properties/valid-memsafety.prp\n\
        \x20   expected_verdict: false\n\
        \x20   subproperty: valid-deref\n\
        \x20 - property_file: ../properties/no-data-race.prp\n\
        options:\n\
        \x20 language: C\n\
        \x20 data_model: ILP32\n";

    fn error(text: &str) -> String {
        parse(Path::new("c/t.yml"), text).expect_err("an error").to_string()
    }

    #[test]
    fn tasks_are_read() {
        let task = parse(Path::new("c/t.yml"), TASK).expect("a task");
        assert_eq!(task.files, [Path::new("c/a.i")]);
        assert_eq!(task.data_model, DataModel::Ilp32);
        let [memory, race] = task.properties.as_slice() else { panic!("{task:?}") };
        let part = Some("valid-deref".to_string());
        assert_eq!(memory.expected, Some(Expected { holds: false, part }));
        assert_eq!((race.name().as_str(), &race.expected), ("no-data-race", &None));
        let asked = task.asked(Some(Path::new("elsewhere/valid-memsafety.prp")));
        assert_eq!(asked[0].expected, memory.expected);
        assert_eq!(asked[0].file, Path::new("elsewhere/valid-memsafety.prp"));
    }

    #[test]
    fn bad_tasks_are_errors_with_a_place() {
        assert!(error("").starts_with("c/t.yml:1:1: error: "));
        assert!(
            error(&TASK.replace("ILP32", "LLP64")).starts_with("c/t.yml:10:15: error: the data")
        );
        assert!(
            error(&TASK.replace("'a.i'", "/etc/passwd")).starts_with("c/t.yml:2:14: error: paths")
        );
        assert!(error(&TASK.replace("'a.i'", "[]")).contains("no input file"));
        assert!(error(&TASK.replace("false", "maybe")).contains("true or false"));
        assert!(error(&TASK.replace("'2.0'", "'3.0'")).contains("format 3.0"));
        assert!(error(&TASK.replace("language: C", "language: Java")).contains("written in C"));
        assert!(error("- 1\n").contains("expected a map"));
    }
}
