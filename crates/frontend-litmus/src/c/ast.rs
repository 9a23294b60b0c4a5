//! The syntax tree of litmus C.

use parallax_program::Span;

use super::types::CType;

/// Trees are no deeper than this, so that walking them recursively is safe.
pub const MAX_DEPTH: u32 = 128;

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// Of the tree, from 1 on.
    pub depth: u32,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer of its literal's type.
    Number(u64, CType),
    Name(String),
    Deref(Box<Expr>),
    AddressOf(Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `&&` and `||`.
    Logical(LogicalOp, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    /// `=`, or with an operator `+=` and the like.
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `++` and `--`: whether one is added or taken, and whether the result is the new value.
    Step {
        add: bool,
        prefix: bool,
        place: Box<Expr>,
    },
    Cast(CType, Box<Expr>),
    SizeOf(CType),
    Call(String, Vec<Expr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    Plus,
    Negate,
    Complement,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogicalOp {
    And,
    Or,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Empty,
    Expr(Expr),
    Declare(Vec<Declaration>),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For { init: Box<Stmt>, condition: Option<Expr>, step: Option<Expr>, body: Box<Stmt> },
    Break,
    Continue,
    Return(Option<Expr>),
    Goto(String),
    Label(String, Box<Stmt>),
}

/// A variable of a function, or one of its parameters.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub ty: CType,
    pub name: String,
    pub span: Span,
    pub init: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct FunctionDef {
    pub name: String,
    pub span: Span,
    /// `None` where no type is written, as threads have it.
    pub result: Option<CType>,
    pub params: Vec<Declaration>,
    pub body: Vec<Stmt>,
}

impl FunctionDef {
    /// The number of the thread, if this is one: `P0`, `P1`, …
    pub fn thread(&self) -> Option<u32> {
        let digits = self.name.strip_prefix('P')?;
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    }
}

impl Expr {
    /// A node above `children`.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        let mut depth = 0;
        kind.children(&mut |child| depth = depth.max(child.depth));
        Expr { kind, span, depth: depth + 1 }
    }

    /// Whether evaluating the expression does nothing but compute on local variables.
    pub fn is_pure(&self) -> bool {
        use ExprKind::*;
        match &self.kind {
            Deref(_) | Assign(..) | Step { .. } | Call(..) => false,
            kind => {
                let mut pure = true;
                kind.children(&mut |child| pure &= child.is_pure());
                pure
            }
        }
    }
}

impl ExprKind {
    fn children<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        use ExprKind::*;
        match self {
            Number(..) | Name(_) | SizeOf(_) => {}
            Deref(a) | AddressOf(a) | Unary(_, a) | Cast(_, a) => visit(a),
            Step { place, .. } => visit(place),
            Binary(_, a, b) | Logical(_, a, b) | Comma(a, b) | Assign(_, a, b) => {
                visit(a);
                visit(b);
            }
            Conditional(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            Call(_, args) => args.iter().for_each(visit),
        }
    }
}
