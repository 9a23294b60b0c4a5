//! Syntax trees of cat.

use std::sync::Arc;

use crate::place::Place;

pub(crate) type Name = Arc<str>;

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Name(Name),
    /// `'acq`
    Tag(Name),
    /// `0`, the empty relation.
    Zero,
    /// `_`, all events or all pairs, as the context wants.
    Universe,
    /// `{a, b}`; `{}` is empty of any kind.
    SetLiteral(Vec<Expr>),
    Tuple(Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a | b | …`
    Union(Vec<Expr>),
    /// `a ; b ; …`
    Sequence(Vec<Expr>),
    Apply(Box<Expr>, Box<Expr>),
    Function(Box<Function>),
    Let {
        bindings: Bindings,
        body: Box<Expr>,
    },
    MatchTag {
        subject: Box<Expr>,
        clauses: Vec<(Name, Expr)>,
        default: Option<Box<Expr>>,
    },
    MatchSet {
        subject: Box<Expr>,
        empty: Box<Expr>,
        split: Split,
        otherwise: Box<Expr>,
    },
    Try(Box<Expr>, Box<Expr>),
    If {
        condition: Box<Condition>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnaryOp {
    /// `r+`
    Plus,
    /// `r*`
    Star,
    /// `r?`
    Optional,
    /// `r^-1`
    Inverse,
    /// `~x`
    Complement,
    /// `[s]`
    Identity,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BinaryOp {
    Intersection,
    Difference,
    /// `s * t`
    Product,
    /// `e ++ s`
    Insert,
}

/// How a non-empty set is taken apart: `e ++ rest` or `before | e ++ after`.
#[derive(Clone, Debug)]
pub(crate) enum Split {
    First { element: Option<Name>, rest: Option<Name> },
    Middle { before: Option<Name>, element: Option<Name>, after: Option<Name> },
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Equal(Expr, Expr),
    Subset(Expr, Expr),
    Member(Expr, Expr),
    Variant(Variant),
}

/// A condition on the options the model is run with.
#[derive(Clone, Debug)]
pub(crate) enum Variant {
    Set(Name),
    Not(Box<Variant>),
    And(Box<Variant>, Box<Variant>),
    Or(Box<Variant>, Box<Variant>),
}

impl Variant {
    pub fn holds(&self, set: &[String]) -> bool {
        match self {
            Variant::Set(name) => set.iter().any(|v| v.eq_ignore_ascii_case(name)),
            Variant::Not(inner) => !inner.holds(set),
            Variant::And(a, b) => a.holds(set) && b.holds(set),
            Variant::Or(a, b) => a.holds(set) || b.holds(set),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub parameters: Pattern,
    pub body: Expr,
}

/// Names to bind; `_` is none.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    One(Option<Name>),
    Tuple(Vec<Option<Name>>),
}

impl Pattern {
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        let slots = match self {
            Pattern::One(slot) => std::slice::from_ref(slot),
            Pattern::Tuple(slots) => slots,
        };
        slots.iter().flatten()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Bindings {
    pub recursive: bool,
    pub bindings: Vec<Binding>,
}

#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub pattern: Pattern,
    pub value: Expr,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub kind: StmtKind,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Let {
        bindings: Bindings,
        /// A test that stops the computation of a recursive definition.
        when: Option<Test>,
    },
    Test(Test),
    Show(Vec<Name>),
    Unshow(Vec<Name>),
    /// `show … as NAME`
    ShowAs(Name),
    Include(Name),
    /// What an `include` or a decided `if` stands for.
    Block(Vec<Stmt>),
    Procedure(Procedure),
    Call {
        name: Name,
        argument: Expr,
        label: Option<Name>,
    },
    Enum {
        name: Name,
        tags: Vec<Name>,
    },
    Forall {
        name: Name,
        set: Expr,
        body: Vec<Stmt>,
    },
    WithFrom {
        name: Name,
        set: Expr,
    },
    Match {
        subject: Expr,
        clauses: Vec<(Name, Vec<Stmt>)>,
        default: Option<Vec<Stmt>>,
    },
    If {
        condition: Variant,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// `instructions R[…]`, `default R[…]`: which tags an instruction may carry.
    Instructions(Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) struct Procedure {
    pub recursive: bool,
    pub name: Name,
    pub parameters: Pattern,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestKind {
    Acyclic,
    Irreflexive,
    Empty,
}

/// What becomes of an execution that a test fails on, or holds of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Executions that fail are forbidden.
    Axiom,
    /// Executions that pass are flagged.
    Flag,
    /// Executions that fail are flagged as undefined.
    UndefinedUnless,
    /// Executions that fail are flagged as outside the model's reach.
    Assert,
}

#[derive(Clone, Debug)]
pub(crate) struct Test {
    pub kind: TestKind,
    pub negated: bool,
    pub role: Role,
    pub subject: Expr,
    pub name: Option<Name>,
    pub place: Place,
}
