//! Memory models: cat files, read and compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use parallax_program::{Diagnostic, Diagnostics, SourceFile};

use crate::base::BaseRelation;
use crate::graph::{Graph, Node, NodeId};
use crate::interpret::{Interpreter, Value};
use crate::languages::Language;
use crate::library;
use crate::loader::{self, Loaded};
use crate::place::{Place, Problem};
use crate::plan::{Plan, reachable};
use crate::reference;
use crate::strength::Strength;
use crate::symbolic::{NotedTest, Symbolic};
use crate::syntax::ast::{Role, Stmt, StmtKind, TestKind};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputKind {
    Set,
    Relation,
}

/// A base set or relation that a model uses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    pub name: String,
    pub kind: InputKind,
}

/// Position of an input in [`Model::inputs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct InputId(pub usize);

/// One test of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axiom {
    /// The name that the model gives it with `as`, or `axiom 2` for the second test.
    pub name: String,
    pub kind: TestKind,
    pub negated: bool,
    pub role: Role,
    pub place: Place,
}

impl Axiom {
    /// Whether the test only raises a flag and never forbids an execution.
    pub fn is_flag(&self) -> bool {
        self.role != Role::Axiom
    }

    /// The flag that the test raises, where it raises one.
    pub fn flag(&self) -> String {
        reference::flag_name(self.role, Some(&self.name))
    }
}

pub struct Model {
    name: String,
    title: Option<String>,
    variants: Vec<String>,
    files: Vec<SourceFile>,
    statements: Vec<Stmt>,
    shown: Vec<String>,
    axioms: Vec<Axiom>,
    definitions: BTreeMap<String, NodeId>,
    graph: Graph,
    plan: Option<Plan>,
    strength: Strength,
    pub(crate) languages: BTreeSet<Language>,
    pub(crate) is_builtin: bool,
}

/// No file of a model is longer.
const MOST_BYTES: u64 = 4 << 20;

fn read(path: &Path) -> io::Result<String> {
    let bytes = parallax_files::read(path, MOST_BYTES)?;
    let wrong = |_| io::Error::new(io::ErrorKind::InvalidData, "this is not UTF-8 text");
    String::from_utf8(bytes).map_err(wrong)
}

impl Model {
    /// One of the models that come with the program.
    pub fn builtin(name: &str) -> Option<Result<Arc<Model>, Diagnostics>> {
        library::builtin(name)
    }

    /// Name, one-line summary and text of every model that comes with the program.
    pub fn builtin_names() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        library::summaries()
    }

    /// The names of the models that come with the program and of which something holds, with commas
    /// between them.
    pub fn builtin_where(holds: impl Fn(&Model) -> bool) -> String {
        let is_one =
            |name: &&str| matches!(library::builtin(name), Some(Ok(model)) if holds(&model));
        let names = library::summaries().map(|(name, ..)| name).filter(is_one);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Reads a user's model, after the bell file that goes with it. Files they include are
    /// looked for beside the model, then in the library; those that say how executions come
    /// about are the library's in any case.
    pub fn load(
        path: &Path,
        bell: Option<&Path>,
        variants: &[String],
    ) -> Result<Model, Diagnostics> {
        let text = open(path)?;
        let bell = match bell {
            Some(bell) => Some((bell.display().to_string(), open(bell)?)),
            None => None,
        };
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let find = |name: &str| {
            let own = library::file(name).map(str::to_string);
            if library::makes_executions(name) {
                return own;
            }
            let beside = read(&folder.join(name)).ok();
            beside.or(own)
        };
        let name = path
            .file_stem()
            .map_or_else(|| path.display().to_string(), |stem| stem.to_string_lossy().into_owned());
        let file = path.display().to_string();
        let bell = bell.as_ref().map(|(name, text)| (&**name, &**text));
        let sources: Vec<(&str, &str)> = bell.into_iter().chain([(&*file, &*text)]).collect();
        let loaded = loader::load(&sources, variants, &find)?;
        Model::compile(&name, loaded, variants)
    }

    /// Reads a model from text. `lookup` finds included files; those it does not find are
    /// looked for in the library.
    pub fn parse(
        name: &str,
        text: &str,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Model, Diagnostics> {
        let find = |file: &str| lookup(file).or_else(|| library::file(file).map(str::to_string));
        Model::compile(name, loader::load(&[(name, text)], &[], &find)?, &[])
    }

    pub(crate) fn compile(
        name: &str,
        loaded: Loaded,
        variants: &[String],
    ) -> Result<Model, Diagnostics> {
        let mut symbolic = Symbolic::default();
        let rf = symbolic.graph.base("rf", InputKind::Relation);
        let co = symbolic.graph.base("co", InputKind::Relation);
        let mut interpreter = Interpreter::new(symbolic, variants);
        if let Err(crate::interpret::Stop::Problem(problem)) = interpreter.run(&loaded.statements) {
            interpreter.problems.push(*problem);
        }
        let dynamic = interpreter.incomplete
            || interpreter.algebra.tests.iter().any(|test| test.subject.is_none());
        if dynamic {
            interpreter.mention_all(&loaded.statements);
        }
        let mut problems: Vec<Problem> = std::mem::take(&mut interpreter.problems);
        problems.extend(axiom_on_values(&interpreter.algebra, dynamic));
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.place);
            return Err(loader::diagnostics(&problems, &loaded.files));
        }
        let from_read = interpreter.algebra.graph.inverse(rf);
        let fr = interpreter.algebra.graph.sequence(&[from_read, co]);
        let mut definitions = BTreeMap::from([("fr".to_string(), fr)]);
        for path in &interpreter.paths {
            path.environment.visit(&mut |name, value| {
                if let Value::Relation(node) | Value::Set(node) = value {
                    definitions.insert(name.to_string(), *node);
                }
            });
        }
        let Symbolic { mut graph, tests } = interpreter.algebra;
        let plan = Plan::new(&mut graph, &tests).filter(|_| !dynamic);
        let strength = Strength::of(&graph, &tests);
        let tags = graph.inputs.iter().map(|input| input.name.as_str());
        let languages = Language::of_model(loaded.title.as_deref(), tags);
        Ok(Model {
            name: name.to_string(),
            title: loaded.title,
            variants: variants.to_vec(),
            files: loaded.files,
            shown: shown(&loaded.statements),
            statements: loaded.statements,
            axioms: axioms(&tests),
            definitions,
            graph,
            plan,
            strength,
            languages,
            is_builtin: false,
        })
    }

    /// Whether it came with the program, and not from a user's file.
    pub fn sources(&self) -> &[SourceFile] {
        &self.files
    }

    pub fn is_builtin(&self) -> bool {
        self.is_builtin
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the model calls itself.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The base sets and relations the model uses; the index is the [`InputId`].
    pub fn inputs(&self) -> &[Input] {
        &self.graph.inputs
    }

    pub fn input(&self, name: &str) -> Option<InputId> {
        self.graph.input(name).map(InputId)
    }

    pub fn axioms(&self) -> &[Axiom] {
        &self.axioms
    }

    /// Names that the model asks to see in pictures.
    pub fn shown(&self) -> &[String] {
        &self.shown
    }

    /// Names of the relations that the model defines at its top level.
    pub fn relations(&self) -> impl Iterator<Item = &str> {
        let relations = self.definitions.iter().filter(|(_, id)| !self.graph.is_set(**id));
        relations.map(|(name, _)| name.as_str())
    }

    /// Whether a flag, or an axiom that more coherence could satisfy, depends on `co`: then
    /// every total coherence order must be looked at.
    pub fn observes_coherence_fully(&self) -> bool {
        self.plan.as_ref().is_none_or(Plan::observes_coherence_fully)
    }

    /// Whether the axioms imply `acyclic po-loc | rf | co | fr`.
    pub fn implies_coherence(&self) -> bool {
        self.strength.coherence
    }

    /// Whether some axiom says that `co` has no cycle. Others take for granted that it is an order.
    pub fn implies_order_of_writes(&self) -> bool {
        self.strength.order
    }

    /// Whether some axiom implies `empty rmw & (fre; coe)`, at least for the pairs that the thread
    /// itself does not write in between.
    pub fn implies_atomicity(&self) -> bool {
        self.strength.atomicity
    }

    /// Whether executions are judged by a plan. Where not, by the slow reference evaluator,
    /// and executions with an incomplete `rf` or `co` are never refused.
    pub fn is_compiled(&self) -> bool {
        self.plan.is_some()
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// None for models that only the reference evaluator can judge.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    pub(crate) fn definition(&self, name: &str) -> Option<NodeId> {
        self.definitions.get(name).copied()
    }

    pub(crate) fn variants(&self) -> &[String] {
        &self.variants
    }

    pub(crate) fn statements(&self) -> &[Stmt] {
        &self.statements
    }

    pub(crate) fn files(&self) -> &[SourceFile] {
        &self.files
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Model({})", self.name)
    }
}

/// Reads a file that the user names.
fn open(path: &Path) -> Result<String, Diagnostics> {
    read(path).map_err(|error| {
        let message = format!("cannot read '{}': {error}", path.display());
        vec![Diagnostic::new(message)]
    })
}

/// An axiom that looks at the values of accesses, if there is one: they are not known as long
/// as executions are put together. In a model that only the reference evaluator can judge any
/// test is such an axiom.
fn axiom_on_values(symbolic: &Symbolic, dynamic: bool) -> Option<Problem> {
    let graph = &symbolic.graph;
    let values = graph.input(BaseRelation::UnequalValues.name())?;
    let looks = |subject| {
        let inputs = reachable(graph, &[subject]);
        let is_values = |id: &NodeId| *graph.node(*id) == Node::RelationInput(values as u32);
        inputs.iter().any(is_values)
    };
    let mut tests = symbolic.tests.iter();
    let test = tests.find(|test| match test.role {
        _ if dynamic => true,
        Role::Axiom => test.subject.is_some_and(looks),
        _ => false,
    })?;
    let message = "the values of accesses are compared after the axioms: only flags may look \
                   at them, and no model that chooses with 'with'";
    Some(Problem::new(test.place, message))
}

fn axioms(tests: &[NotedTest]) -> Vec<Axiom> {
    let named = tests.iter().enumerate().map(|(index, test)| Axiom {
        name: test.name.clone().unwrap_or_else(|| format!("axiom {}", index + 1)),
        kind: test.kind,
        negated: test.negated,
        role: test.role,
        place: test.place,
    });
    named.collect()
}

/// What `show` asks for and no later `unshow` takes back.
fn shown(statements: &[Stmt]) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for statement in statements {
        match &statement.kind {
            StmtKind::Show(names) => shown.extend(names.iter().map(|name| name.to_string())),
            StmtKind::ShowAs(name) => shown.push(name.to_string()),
            StmtKind::Unshow(names) => shown.retain(|s| !names.iter().any(|name| **name == **s)),
            StmtKind::Block(inner) => shown.extend(self::shown(inner)),
            _ => {}
        }
    }
    shown.dedup();
    shown
}
