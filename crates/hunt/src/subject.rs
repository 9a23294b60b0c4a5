//! A program in all its forms, each made when it is first asked for, and what was said about it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use parallax_frontend_litmus::LitmusTest;
use parallax_program::Diagnostics;
use parallax_verify::{DataModel, Input, Prepared, Properties, Reading, Request};

use crate::ast;
use crate::query::{Answer, Asked, Compiler, Engine, Form, Query};
use crate::{print_c, print_litmus};

/// Why a program cannot be had in a form.
#[derive(Clone)]
pub enum Unloaded {
    /// It is more than the form can say.
    Impossible(String),
    /// What was generated is not what it should be.
    Wrong(String),
}

/// What decides how a program is read: its form, what is asked for, and whether it is for proofs.
type Key = (Form, Asked, bool);

pub struct Subject<'a> {
    pub program: ast::Program,
    /// Where files are written.
    folder: &'a Path,
    read: BTreeMap<Key, Result<Arc<Prepared>, Unloaded>>,
    test: Option<Result<Arc<LitmusTest>, Unloaded>>,
    pub answers: BTreeMap<Query, Answer>,
}

impl<'a> Subject<'a> {
    pub fn new(program: ast::Program, folder: &'a Path) -> Subject<'a> {
        let (read, answers) = (BTreeMap::new(), BTreeMap::new());
        Subject { program, folder, read, test: None, answers }
    }

    /// The program, read for a question as the command reads it.
    pub fn read(&mut self, query: &Query) -> Result<Arc<Prepared>, Unloaded> {
        let key = (query.form, query.asked, query.engine == Engine::INDUCTIVE);
        if let Some(known) = self.read.get(&key) {
            return known.clone();
        }
        let prepared = self.prepare(query).map(Arc::new);
        self.read.insert(key, prepared.clone());
        prepared
    }

    /// The same, anew.
    pub fn prepare(&mut self, query: &Query) -> Result<Prepared, Unloaded> {
        let file = match query.form {
            Form::C | Form::NarrowC => self.write("program.c", &print_c::print(&self.program))?,
            Form::Litmus => self.write("program.litmus", &self.litmus()?)?,
            Form::Text => {
                let program = self.test()?.program.to_string();
                self.write("program.program", &program)?
            }
            Form::Machine(compiler, level) => self.compile(compiler, level)?,
        };
        let is_machine = matches!(query.form, Form::Machine(..));
        let data_model = (query.form == Form::NarrowC).then_some(DataModel::Ilp32);
        let reading = Reading { data_model, ..Reading::default() };
        let request = Request {
            input: Input { files: vec![file], reading, ..Input::default() },
            model: Some(if is_machine { "tso" } else { "rc11" }.to_string()),
            engine: query.engine.choice(),
            extensions: query.engine.extensions(),
            properties: Some(Properties::Named(query.asked.properties())),
            all: query.counting,
            ..Request::default()
        };
        request.prepare().map_err(|errors| match (is_machine, shown(&errors)) {
            (true, message) => Unloaded::Impossible(message),
            (false, message) => Unloaded::Wrong(message),
        })
    }

    /// The litmus test that says the same.
    pub fn test(&mut self) -> Result<Arc<LitmusTest>, Unloaded> {
        if let Some(test) = &self.test {
            return test.clone();
        }
        let test = self.litmus().and_then(|text| {
            let test = parallax_frontend_litmus::parse("program.litmus", &text);
            test.map(Arc::new).map_err(|errors| Unloaded::Wrong(shown(&errors)))
        });
        self.test = Some(test.clone());
        test
    }

    fn litmus(&self) -> Result<String, Unloaded> {
        print_litmus::print(&self.program)
            .ok_or_else(|| Unloaded::Impossible("not a litmus test".to_string()))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, Unloaded> {
        let path = self.folder.join(name);
        std::fs::write(&path, text)
            .map_err(|error| Unloaded::Wrong(format!("cannot write: {error}")))?;
        Ok(path)
    }

    /// Compiled code is read, and never run.
    fn compile(&self, compiler: Compiler, level: u8) -> Result<PathBuf, Unloaded> {
        let source = self.write("program.c", &print_c::print(&self.program))?;
        let object = self.folder.join("program.o");
        let output = Command::new(compiler.command())
            .arg(format!("-O{level}"))
            .args(["-w", "-c"])
            .arg(&source)
            .arg("-o")
            .arg(&object)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                Unloaded::Impossible(format!("cannot run {}: {error}", compiler.command()))
            })?;
        match output.status.success() {
            true => Ok(object),
            false => Err(Unloaded::Wrong(String::from_utf8_lossy(&output.stderr).into_owned())),
        }
    }
}

/// Errors in one line.
pub fn shown(errors: &Diagnostics) -> String {
    errors.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("; ")
}
