//! Recursive descent over tokens: the steps that the rules of a grammar are made of, and a limit to how
//! deep they are inside of one another.

use crate::Span;

/// A token of some language.
pub trait Token: Copy + PartialEq {
    /// What follows the last one.
    const END: Self;

    /// The sign that it is, if it is one.
    fn symbol(&self) -> Option<&str>;

    /// The name or keyword that it is, if it is one.
    fn word(&self) -> Option<&str>;

    /// How errors name it.
    fn shown(&self) -> String;
}

/// A token and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spanned<T> {
    pub token: T,
    pub span: Span,
}

/// Tokens, and a place among them.
pub struct Tokens<'a, T> {
    tokens: &'a [Spanned<T>],
    at: usize,
    /// How many rules are inside of one another.
    depth: u32,
}

impl<'a, T: Token> Tokens<'a, T> {
    /// At the first of them.
    pub fn new(tokens: &'a [Spanned<T>]) -> Tokens<'a, T> {
        Tokens { tokens, at: 0, depth: 0 }
    }

    pub fn all(&self) -> &'a [Spanned<T>] {
        self.tokens
    }
}

/// A parser by recursive descent. `'a` is the life of the tokens.
pub trait Descent<'a> {
    type Token: Token + 'a;
    type Error;

    /// Rules deeper inside of one another are refused, so that no input exhausts the stack.
    const DEEPEST: u32;

    fn tokens(&self) -> &Tokens<'a, Self::Token>;

    fn tokens_mut(&mut self) -> &mut Tokens<'a, Self::Token>;

    fn error_at(&self, span: Span, message: impl Into<String>) -> Self::Error;

    fn peek(&self) -> Self::Token {
        self.peek_after(0)
    }

    /// The one that comes so many after the next one.
    fn peek_after(&self, tokens: usize) -> Self::Token {
        let Tokens { tokens: all, at, .. } = self.tokens();
        all.get(at + tokens).map_or(Self::Token::END, |spanned| spanned.token)
    }

    /// Where the next token stands, or the last one if there is none.
    fn span(&self) -> Span {
        let Tokens { tokens, at, .. } = self.tokens();
        let last = tokens.get(*at).or(tokens.last());
        last.map_or(Span::default(), |spanned| spanned.span)
    }

    /// Where the token before the next one stands.
    fn previous_span(&self) -> Span {
        let Tokens { tokens, at, .. } = self.tokens();
        let previous = at.checked_sub(1).and_then(|at| tokens.get(at));
        previous.map_or(Span::default(), |spanned| spanned.span)
    }

    /// From the start of a span to the last token that was taken.
    fn since(&self, start: Span) -> Span {
        let last = self.previous_span();
        if last.end > start.start { start.to(last) } else { start }
    }

    /// How many tokens were taken.
    fn position(&self) -> usize {
        self.tokens().at
    }

    fn go_to(&mut self, position: usize) {
        self.tokens_mut().at = position;
    }

    fn next(&mut self) {
        let tokens = self.tokens_mut();
        tokens.at = (tokens.at + 1).min(tokens.tokens.len());
    }

    fn is_at_end(&self) -> bool {
        self.peek() == Self::Token::END
    }

    fn is_next(&self, symbol: &str) -> bool {
        self.peek().symbol() == Some(symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        self.peek().word() == Some(word)
    }

    /// Takes the symbol if it comes next.
    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is_next(symbol);
        if found {
            self.next();
        }
        found
    }

    /// Takes the word if it comes next.
    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    fn symbol(&mut self, symbol: &str) -> Result<(), Self::Error> {
        match self.accept(symbol) {
            true => Ok(()),
            false => Err(self.expected(&format!("'{symbol}'"))),
        }
    }

    fn keyword(&mut self, word: &str) -> Result<(), Self::Error> {
        match self.accept_word(word) {
            true => Ok(()),
            false => Err(self.expected(&format!("'{word}'"))),
        }
    }

    /// "expected …, found …" at the next token.
    fn expected(&self, what: &str) -> Self::Error {
        let found = self.peek().shown();
        self.error_at(self.span(), format!("expected {what}, found {found}"))
    }

    /// One or more, with commas between them.
    fn separated<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Self::Error>,
    ) -> Result<Vec<T>, Self::Error> {
        let mut items = vec![item(self)?];
        while self.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// A rule that may be inside of itself.
    fn nested<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, Self::Error>,
    ) -> Result<T, Self::Error> {
        self.enter()?;
        let result = inside(self);
        self.leave();
        result
    }

    /// A rule begins that may be inside of itself. One that is too deep does not, and is not left.
    fn enter(&mut self) -> Result<(), Self::Error> {
        if self.tokens().depth >= Self::DEEPEST {
            let message = format!("this is nested more than {} deep", Self::DEEPEST);
            return Err(self.error_at(self.span(), message));
        }
        self.tokens_mut().depth += 1;
        Ok(())
    }

    /// And ends.
    fn leave(&mut self) {
        self.tokens_mut().depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Sign {
        Open,
        Close,
        Name(&'static str),
        End,
    }

    impl Token for Sign {
        const END: Sign = Sign::End;

        fn symbol(&self) -> Option<&str> {
            match self {
                Sign::Open => Some("("),
                Sign::Close => Some(")"),
                _ => None,
            }
        }

        fn word(&self) -> Option<&str> {
            if let Sign::Name(name) = self { Some(name) } else { None }
        }

        fn shown(&self) -> String {
            format!("{self:?}")
        }
    }

    struct Brackets<'a>(Tokens<'a, Sign>);

    impl<'a> Descent<'a> for Brackets<'a> {
        type Token = Sign;
        type Error = (Span, String);

        const DEEPEST: u32 = 3;

        fn tokens(&self) -> &Tokens<'a, Sign> {
            &self.0
        }

        fn tokens_mut(&mut self) -> &mut Tokens<'a, Sign> {
            &mut self.0
        }

        fn error_at(&self, span: Span, message: impl Into<String>) -> (Span, String) {
            (span, message.into())
        }
    }

    impl Brackets<'_> {
        fn depth(&mut self) -> Result<u32, (Span, String)> {
            if self.accept_word("x") {
                return Ok(0);
            }
            self.symbol("(")?;
            let inner = self.nested(Self::depth)?;
            self.symbol(")")?;
            Ok(inner + 1)
        }
    }

    fn depth(signs: &[Sign]) -> Result<u32, (Span, String)> {
        let place = |(at, token): (usize, &Sign)| {
            let span = Span::new(at, at + 1);
            Spanned { token: *token, span }
        };
        let tokens: Vec<Spanned<Sign>> = signs.iter().enumerate().map(place).collect();
        Brackets(Tokens::new(&tokens)).depth()
    }

    #[test]
    fn rules_inside_of_rules() {
        use Sign::*;
        assert_eq!(depth(&[Open, Open, Name("x"), Close, Close]), Ok(2));
        let open = depth(&[Open, Name("x")]);
        assert_eq!(open, Err((Span::new(1, 2), "expected ')', found End".to_string())));
        let other = depth(&[Open, Name("y")]);
        assert_eq!(other, Err((Span::new(1, 2), "expected '(', found Name(\"y\")".to_string())));
        assert!(depth(&[Open; 9]).is_err_and(|(_, message)| message.contains("nested")));
        assert!(depth(&[]).is_err());
    }
}
