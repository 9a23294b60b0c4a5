//! A program in all its forms, each made when it is first asked for, and what was said about it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use parallax_frontend_litmus::LitmusTest;
use parallax_program::{Diagnostics, Program};

use crate::ast;
use crate::query::{Answer, Compiler, Form, Query};
use crate::{print_c, print_litmus};

/// What engines take.
#[derive(Clone)]
pub enum Loaded {
    Program(Arc<Program>),
    Test(Arc<LitmusTest>),
}

/// Why a program cannot be had in a form.
#[derive(Clone)]
pub enum Unloaded {
    /// It is more than the form can say.
    Impossible(String),
    /// What was generated is not what it should be.
    Wrong(String),
}

pub struct Subject<'a> {
    pub program: ast::Program,
    /// Where files are written.
    folder: &'a Path,
    forms: BTreeMap<Form, Result<Loaded, Unloaded>>,
    pub answers: BTreeMap<Query, Answer>,
}

impl<'a> Subject<'a> {
    pub fn new(program: ast::Program, folder: &'a Path) -> Subject<'a> {
        Subject { program, folder, forms: BTreeMap::new(), answers: BTreeMap::new() }
    }

    pub fn load(&mut self, form: Form) -> Result<Loaded, Unloaded> {
        if let Some(loaded) = self.forms.get(&form) {
            return loaded.clone();
        }
        let loaded = match form {
            Form::C => self.load_c(false),
            Form::CheckedC => self.load_c(true),
            Form::Litmus => self.load_litmus(),
            Form::Machine(compiler, level) => self.load_machine(compiler, level),
        };
        self.forms.insert(form, loaded.clone());
        loaded
    }

    fn write(&self) -> Result<PathBuf, Unloaded> {
        let path = self.folder.join("program.c");
        let text = print_c::print(&self.program);
        std::fs::write(&path, text)
            .map_err(|error| Unloaded::Wrong(format!("cannot write: {error}")))?;
        Ok(path)
    }

    fn load_c(&self, overflow: bool) -> Result<Loaded, Unloaded> {
        // As the command has it where nobody says otherwise.
        let options =
            parallax_frontend_c::Options { overflow, spurious_wakeups: true, ..Default::default() };
        let program = parallax_frontend_c::load(&[self.write()?], &options);
        program.map(|program| Loaded::Program(Arc::new(program))).map_err(told)
    }

    fn load_litmus(&self) -> Result<Loaded, Unloaded> {
        let text = print_litmus::print(&self.program)
            .ok_or_else(|| Unloaded::Impossible("not a litmus test".to_string()))?;
        let test = parallax_frontend_litmus::parse("program.litmus", &text);
        test.map(|test| Loaded::Test(Arc::new(test))).map_err(told)
    }

    /// Compiled code is read, and never run.
    fn load_machine(&self, compiler: Compiler, level: u8) -> Result<Loaded, Unloaded> {
        let (source, object) = (self.write()?, self.folder.join("program.o"));
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
        if !output.status.success() {
            return Err(Unloaded::Wrong(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let options =
            parallax_frontend_x86::Options { spurious_wakeups: true, ..Default::default() };
        let program = parallax_frontend_x86::load(&object, &options);
        program.map(|program| Loaded::Program(Arc::new(program))).map_err(|errors| {
            match told(errors) {
                Unloaded::Wrong(message) | Unloaded::Impossible(message) => {
                    Unloaded::Impossible(message)
                }
            }
        })
    }
}

fn told(errors: Diagnostics) -> Unloaded {
    Unloaded::Wrong(errors.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("; "))
}
