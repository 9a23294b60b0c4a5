//! The parser's frame and the statements of cat files. Expressions are in their own file.

use parallax_program::Span;
use parallax_program::parsing::{Descent, Tokens};

use super::ast::*;
use super::lexer::{Token, tokens};
use crate::place::{Place, Problem};

/// Statements reported wrong, after which the rest is not looked at any more.
const MAX_PROBLEMS: usize = 20;

pub(crate) struct File {
    pub title: Option<String>,
    pub statements: Vec<Stmt>,
}

/// Parses one file. A statement that is wrong is reported and skipped, up to the next keyword
/// that starts one.
pub(crate) fn parse_file(file: u32, text: &str) -> Result<File, Vec<Problem>> {
    let tokens = tokens(file, text).map_err(|problem| vec![problem])?;
    let mut parser = Parser { file, tokens: Tokens::new(&tokens) };
    let mut problems = Vec::new();
    let title = parser.title().unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    let mut statements = Vec::new();
    while !parser.is_at_end() && problems.len() < MAX_PROBLEMS {
        match parser.statement() {
            Ok(statement) => statements.push(statement),
            Err(problem) => {
                problems.push(problem);
                parser.skip_to_statement();
            }
        }
    }
    if problems.is_empty() { Ok(File { title, statements }) } else { Err(problems) }
}

const OPTIONS: [&str; 6] =
    ["withco", "withoutco", "withinit", "withoutinit", "withsc", "withoutsc"];

/// Keywords that start a statement and nothing else, `let` aside.
const STARTS: [&str; 17] = [
    "let",
    "acyclic",
    "irreflexive",
    "empty",
    "show",
    "unshow",
    "undefined_unless",
    "flag",
    "assert",
    "include",
    "procedure",
    "call",
    "enum",
    "debug",
    "forall",
    "instructions",
    "default",
];

pub(super) struct Parser<'t> {
    file: u32,
    tokens: Tokens<'t, Token<'t>>,
}

pub(super) type Parsed<T> = Result<T, Problem>;

impl<'t> Descent<'t> for Parser<'t> {
    type Token = Token<'t>;
    type Error = Problem;

    const DEEPEST: u32 = 128;

    fn tokens(&self) -> &Tokens<'t, Token<'t>> {
        &self.tokens
    }

    fn tokens_mut(&mut self) -> &mut Tokens<'t, Token<'t>> {
        &mut self.tokens
    }

    fn error_at(&self, span: Span, message: impl Into<String>) -> Problem {
        Problem::new(Place { file: self.file, span }, message)
    }
}

impl<'t> Parser<'t> {
    /// The place of the next token.
    pub(super) fn here(&self) -> Place {
        Place { file: self.file, span: self.span() }
    }

    /// The place from `start` up to the last token taken.
    pub(super) fn place_since(&self, start: Place) -> Place {
        Place { file: self.file, span: self.since(start.span) }
    }

    pub(super) fn expect_name(&mut self) -> Parsed<Name> {
        match self.peek() {
            Token::Name(name) => {
                self.next();
                Ok(name.into())
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn skip_to_statement(&mut self) {
        loop {
            self.next();
            match self.peek() {
                Token::End => return,
                Token::Keyword("with") if self.peek_after(2) == Token::Keyword("from") => return,
                Token::Keyword(word) if STARTS.contains(&word) => return,
                _ => {}
            }
        }
    }

    /// `"Title"`, `Name`, `ARCH "Title"` or nothing, then options about what the enumeration
    /// does, which have no meaning here: coherence is always enumerated outside the model.
    fn title(&mut self) -> Parsed<Option<String>> {
        let mut title = None;
        let mut words = 0;
        loop {
            match self.peek() {
                Token::Name(option) if OPTIONS.contains(&option) => {}
                Token::Name(word) | Token::Text(word) if words < 2 => {
                    title = Some(word.to_string());
                    words += 1;
                }
                Token::Name(_) | Token::Text(_) => return Err(self.expected("a statement")),
                _ => return Ok(title),
            }
            self.next();
        }
    }

    fn statements(&mut self, ends: &[Token<'_>]) -> Parsed<Vec<Stmt>> {
        self.nested(|parser| {
            let mut statements = Vec::new();
            while !ends.contains(&parser.peek()) {
                statements.push(parser.statement()?);
            }
            Ok(statements)
        })
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.here();
        let kind = match self.peek() {
            Token::Keyword(word) => match word {
                "let" => self.let_statement()?,
                "acyclic" | "irreflexive" | "empty" => StmtKind::Test(self.test(Role::Axiom)?),
                "flag" => self.test_with_role(Role::Flag)?,
                "undefined_unless" => self.test_with_role(Role::UndefinedUnless)?,
                "assert" => self.test_with_role(Role::Assert)?,
                "show" | "unshow" => self.show()?,
                "include" => self.include()?,
                "procedure" => self.procedure()?,
                "call" => self.call()?,
                "enum" => self.enumeration()?,
                "debug" => {
                    self.next();
                    self.expression()?;
                    StmtKind::Block(Vec::new())
                }
                "forall" => self.forall()?,
                "with" => self.with_from()?,
                "match" => self.match_statement()?,
                "if" => self.if_statement()?,
                "instructions" | "default" => self.instructions()?,
                _ => return Err(self.expected("a statement")),
            },
            Token::Symbol("~") => StmtKind::Test(self.test(Role::Axiom)?),
            _ => return Err(self.expected("a statement")),
        };
        let place = self.place_since(start);
        Ok(Stmt { kind, place })
    }

    fn let_statement(&mut self) -> Parsed<StmtKind> {
        let bindings = self.bindings()?;
        let when = if bindings.recursive && self.accept_word("when") {
            Some(self.test(Role::Axiom)?)
        } else {
            None
        };
        self.accept_word("in");
        Ok(StmtKind::Let { bindings, when })
    }

    fn test_with_role(&mut self, role: Role) -> Parsed<StmtKind> {
        self.next();
        Ok(StmtKind::Test(self.test(role)?))
    }

    fn test(&mut self, role: Role) -> Parsed<Test> {
        let start = self.here();
        let negated = self.accept("~");
        let kind = match self.peek() {
            Token::Keyword("acyclic") => TestKind::Acyclic,
            Token::Keyword("irreflexive") => TestKind::Irreflexive,
            Token::Keyword("empty") => TestKind::Empty,
            _ => return Err(self.expected("'acyclic', 'irreflexive' or 'empty'")),
        };
        self.next();
        let subject = self.expression()?;
        let name = self.label()?;
        Ok(Test { kind, negated, role, subject, name, place: self.place_since(start) })
    }

    /// `as NAME`, or nothing.
    fn label(&mut self) -> Parsed<Option<Name>> {
        if self.accept_word("as") { self.expect_name().map(Some) } else { Ok(None) }
    }

    fn show(&mut self) -> Parsed<StmtKind> {
        let hide = self.peek() == Token::Keyword("unshow");
        self.next();
        let first = self.operators()?;
        if !hide && self.accept_word("as") {
            return Ok(StmtKind::ShowAs(self.expect_name()?));
        }
        let ExprKind::Name(first) = first.kind else {
            return Err(Problem::new(first.place, "expected a name"));
        };
        let mut names = vec![first];
        while self.accept(",") {
            names.push(self.expect_name()?);
        }
        Ok(if hide { StmtKind::Unshow(names) } else { StmtKind::Show(names) })
    }

    fn include(&mut self) -> Parsed<StmtKind> {
        self.next();
        match self.peek() {
            Token::Text(path) => {
                self.next();
                Ok(StmtKind::Include(path.into()))
            }
            _ => Err(self.expected("the name of a file in double quotes")),
        }
    }

    fn procedure(&mut self) -> Parsed<StmtKind> {
        self.next();
        let recursive = self.accept_word("rec");
        let name = self.expect_name()?;
        let parameters = self.parameters()?;
        self.symbol("=")?;
        let body = self.statements(&[Token::Keyword("end")])?;
        self.keyword("end")?;
        Ok(StmtKind::Procedure(Procedure { recursive, name, parameters, body }))
    }

    fn call(&mut self) -> Parsed<StmtKind> {
        self.next();
        let name = self.expect_name()?;
        let argument = self.argument()?;
        let label = self.label()?;
        Ok(StmtKind::Call { name, argument, label })
    }

    fn enumeration(&mut self) -> Parsed<StmtKind> {
        self.next();
        let name = self.expect_name()?;
        self.symbol("=")?;
        self.accept("||");
        let mut tags = Vec::new();
        loop {
            match self.peek() {
                Token::Tag(tag) => tags.push(tag.into()),
                _ => return Err(self.expected("a tag")),
            }
            self.next();
            if !self.accept("||") {
                return Ok(StmtKind::Enum { name, tags });
            }
        }
    }

    fn forall(&mut self) -> Parsed<StmtKind> {
        self.next();
        let name = self.expect_name()?;
        self.keyword("in")?;
        let set = self.expression()?;
        self.keyword("do")?;
        let body = self.statements(&[Token::Keyword("end")])?;
        self.keyword("end")?;
        Ok(StmtKind::Forall { name, set, body })
    }

    fn with_from(&mut self) -> Parsed<StmtKind> {
        self.next();
        let name = self.expect_name()?;
        self.keyword("from")?;
        let set = self.expression()?;
        Ok(StmtKind::WithFrom { name, set })
    }

    fn match_statement(&mut self) -> Parsed<StmtKind> {
        self.next();
        let subject = self.expression()?;
        self.keyword("with")?;
        self.accept("||");
        let ends = [Token::Keyword("end"), Token::Symbol("||")];
        let (mut clauses, mut default) = (Vec::new(), None);
        loop {
            match self.peek() {
                Token::Tag(tag) => {
                    self.next();
                    self.symbol("->")?;
                    clauses.push((tag.into(), self.statements(&ends)?));
                }
                Token::Symbol("_") => {
                    self.next();
                    self.symbol("->")?;
                    default = Some(self.statements(&ends)?);
                }
                _ => return Err(self.expected("a tag or '_'")),
            }
            if default.is_some() || !self.accept("||") {
                self.keyword("end")?;
                return Ok(StmtKind::Match { subject, clauses, default });
            }
        }
    }

    fn if_statement(&mut self) -> Parsed<StmtKind> {
        self.next();
        let condition = self.variant()?;
        self.accept_word("then");
        let then = self.statements(&[Token::Keyword("else"), Token::Keyword("end")])?;
        let otherwise = if self.accept_word("else") {
            self.statements(&[Token::Keyword("end")])?
        } else {
            Vec::new()
        };
        self.keyword("end")?;
        Ok(StmtKind::If { condition, then, otherwise })
    }

    fn instructions(&mut self) -> Parsed<StmtKind> {
        self.next();
        self.expect_name()?;
        self.symbol("[")?;
        let tags = self.list("]")?;
        Ok(StmtKind::Instructions(tags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> File {
        parse_file(0, text).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    #[test]
    fn titles() {
        let title = |text| parse(text).title;
        assert_eq!(title("").as_deref(), None);
        assert_eq!(title("SC acyclic po").as_deref(), Some("SC"));
        assert_eq!(title("C \"C++11\" withoutco let a = 0").as_deref(), Some("C++11"));
        assert_eq!(title("\"Linux\"").as_deref(), Some("Linux"));
    }

    #[test]
    fn statements_of_every_kind() {
        let text = r#"
            let rec a = b | a;a and c(x, y) = x & y when acyclic a as stop
            let f x = x in
            let g _ = 0
            let p, q = (a, b)
            let (r, s) = p
            ~empty a as e
            flag ~irreflexive a as f
            undefined_unless empty a
            assert empty a as g
            show a, b
            show a
            show W \ IW as ww
            show rf^-1 as inverse
            show a as b
            unshow a, b
            include "cos.cat"
            procedure p(a, b) = empty a \ b end
            procedure rec q x = call q x end
            call p(a, b) as pq
            enum Tags = 'a || 'b
            enum More = || 'c
            forall x in S do call q x end
            with co from generate_cos(co0)
            match t with || 'a -> empty a || _ -> acyclic b end
            if "mixed" && not ("kvm" || "mte") include "a.cat" else empty a end
            instructions R[{'once,'acquire}, 'x]
            default W['once]
            debug a
        "#;
        assert_eq!(parse(text).statements.len(), 28);
    }

    #[test]
    fn several_errors_are_reported() {
        let problems = parse_file(0, "let = a\nacyclic )\nlet b = c\nshow ;").err();
        assert_eq!(problems.map(|p| p.len()), Some(3));
    }

    #[test]
    fn nesting_is_limited() {
        for text in ["(", "~", "[", "{", "begin ", "fun x -> ", "let x = 0 in ", "f ("] {
            let deep = format!("let x = {}", text.repeat(100_000));
            assert!(parse_file(0, &deep).is_err());
        }
        let deep = format!("let x = a{}", "+".repeat(100_000));
        assert!(parse_file(0, &deep).is_err());
        let deep = "forall x in S do ".repeat(100_000);
        assert!(parse_file(0, &deep).is_err());
        let wide = format!("let x = a{}", "|a;a".repeat(100_000));
        assert!(parse_file(0, &wide).is_ok());
    }
}
