//! Expressions of C in witnesses, as far as they speak of whole variables and numbers.

/// No expression is nested deeper.
const DEEPEST: u32 = 100;

/// The value of an expression; `value` gives that of a name. None where it is not known.
pub fn evaluate(text: &str, value: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, value, depth: 0 };
    let result = parser.binary(0)?;
    (parser.next == tokens.len()).then_some(result)
}

/// The numbers in an expression.
pub fn numbers(text: &str) -> Vec<i128> {
    let tokens = tokens(text).unwrap_or_default();
    let mut numbers = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        if let Token::Number(number) = token {
            let before = place.checked_sub(1).and_then(|before| tokens.get(before));
            let is_negative = before == Some(&Token::Sign("-"));
            numbers.push(if is_negative { -number } else { *number });
        }
    }
    numbers
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Number(i128),
    Name(String),
    Sign(&'static str),
}

/// Longer ones first.
const SIGNS: [&str; 24] = [
    "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "->", "|", "^", "&", "<", ">", "+", "-", "*",
    "/", "%", "!", "~", "(", ")", ".",
];

/// How strongly operators of two operands bind.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut rest = text.trim();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if first.is_ascii_digit() || first == '_' || first.is_ascii_alphabetic() {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let word = &rest[..length];
            tokens.push(match first.is_ascii_digit() {
                true => Token::Number(number(word)?),
                false => Token::Name(word.to_string()),
            });
            length
        } else if let Some(word) = rest.strip_prefix('\\') {
            let length = word.find(|c| !is_word(c)).unwrap_or(word.len());
            tokens.push(Token::Name(rest[..=length].to_string()));
            length + 1
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

fn number(word: &str) -> Option<i128> {
    let word = word.trim_end_matches(['u', 'U', 'l', 'L']);
    match word.strip_prefix("0x").or(word.strip_prefix("0X")) {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None if word.len() > 1 && word.starts_with('0') => i128::from_str_radix(word, 8).ok(),
        None => word.parse().ok(),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    value: &'a dyn Fn(&str) -> Option<i128>,
    depth: u32,
}

impl Parser<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        let is = matches!(self.tokens.get(self.next), Some(Token::Sign(s)) if *s == sign);
        self.next += usize::from(is);
        is
    }

    fn binary(&mut self, level: usize) -> Option<i128> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.takes(sign)) {
            let right = self.binary(level + 1)?;
            left = apply(sign, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i128> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let result = if self.takes("-") {
            self.unary()?.checked_neg()
        } else if self.takes("!") {
            Some(i128::from(self.unary()? == 0))
        } else if self.takes("~") {
            Some(!self.unary()?)
        } else if self.takes("(") {
            let inner = self.binary(0)?;
            self.takes(")").then_some(inner)
        } else {
            let token = self.tokens.get(self.next);
            self.next += 1;
            match token? {
                Token::Number(number) => Some(*number),
                Token::Name(name) => (self.value)(name),
                Token::Sign(_) => None,
            }
        };
        self.depth -= 1;
        result
    }
}

fn apply(sign: &str, left: i128, right: i128) -> Option<i128> {
    let shift = |right: i128| u32::try_from(right).ok().filter(|far| *far < 64);
    Some(match sign {
        "||" => i128::from(left != 0 || right != 0),
        "&&" => i128::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i128::from(left == right),
        "!=" => i128::from(left != right),
        "<" => i128::from(left < right),
        ">" => i128::from(left > right),
        "<=" => i128::from(left <= right),
        ">=" => i128::from(left >= right),
        "<<" => left.checked_shl(shift(right)?)?,
        ">>" => left.checked_shr(shift(right)?)?,
        "+" => left.checked_add(right)?,
        "-" => left.checked_sub(right)?,
        "*" => left.checked_mul(right)?,
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_those_of_c() {
        let names = |name: &str| match name {
            "x" => Some(5),
            "\\result" => Some(-1),
            _ => None,
        };
        let value = |text: &str| evaluate(text, &names);
        assert_eq!(value("1 + 2 * 3"), Some(7));
        assert_eq!(value("(x == 0x5UL) && !(x < 3)"), Some(1));
        assert_eq!(value("\\result == -1"), Some(1));
        assert_eq!(value("7 - 2 - 1"), Some(4));
        assert_eq!(value("x ==\n 010"), Some(0));
        for unknown in ["y", "x +", "(x", "x)", "1 / 0", "a[0]", "p->q", "", "\"", "1 << 99"] {
            assert_eq!(value(unknown), None, "{unknown}");
        }
        assert_eq!(value(&"(".repeat(10_000)), None);
        assert_eq!(value(&"-".repeat(10_000)), None);
        assert_eq!(numbers("\\result == -3 && x < 4"), [-3, 4]);
    }
}
