//! Values: constants and names.

use super::cursor::{Cursor, Parsed, name_of};
use super::metadata::Metadata;
use super::module::{Constant, Type, Typed, Value};
use super::operations::{binary_op, cast_op, predicate};
use super::token::{Kind, unescape};

/// Words that start a value; any other word before a value is an attribute.
const VALUE_WORDS: [&str; 17] = [
    "true",
    "false",
    "null",
    "undef",
    "poison",
    "zeroinitializer",
    "none",
    "asm",
    "blockaddress",
    "dso_local_equivalent",
    "no_cfi",
    "splat",
    "getelementptr",
    "icmp",
    "fcmp",
    "select",
    "ptrauth",
];

impl Cursor<'_> {
    pub fn typed(&mut self) -> Parsed<Typed> {
        let ty = self.ty()?;
        let value = self.value(&ty)?;
        Ok(Typed { ty, value })
    }

    /// Whether the word here is an attribute of the value that follows.
    pub fn at_attribute(&self) -> bool {
        let token = self.peek();
        match token.kind {
            Kind::Text => true,
            Kind::Word => {
                !VALUE_WORDS.contains(&token.text)
                    && cast_op(token.text).is_none()
                    && binary_op(token.text).is_none()
            }
            _ => false,
        }
    }

    pub fn value(&mut self, ty: &Type) -> Parsed<Value> {
        self.nested(|cursor| cursor.value_of(ty))
    }

    fn value_of(&mut self, ty: &Type) -> Parsed<Value> {
        if *ty == Type::Metadata {
            return self.metadata_value();
        }
        let token = self.peek();
        match token.kind {
            Kind::Local => Ok(Value::Local(name_of(self.next()))),
            Kind::Global => Ok(Value::Global(name_of(self.next()))),
            Kind::Integer if matches!(ty, Type::Float | Type::Double) => self.float(ty),
            Kind::Integer => self.integer(),
            Kind::Float => self.float(ty),
            Kind::Bytes => Ok(Value::Bytes(unescape(self.next().text).into_owned().into())),
            Kind::Punctuation(b'[') => self.aggregate(b'[', b']'),
            Kind::Punctuation(b'{') => self.aggregate(b'{', b'}'),
            Kind::Punctuation(b'<') => self.angles(),
            Kind::Word => self.word_value(),
            _ => self.error("a value"),
        }
    }

    fn integer(&mut self) -> Parsed<Value> {
        match parse_integer(self.peek().text) {
            Some(value) => {
                self.next();
                Ok(Value::Int(value))
            }
            None => self.error("a number of at most 128 bits"),
        }
    }

    /// Decimal, or the pattern of a double as 16 hexadecimal digits. Patterns of the types that
    /// are known by name only start with a letter.
    fn float(&mut self, ty: &Type) -> Parsed<Value> {
        let text = self.peek().text;
        let bits = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok().map(f64::to_bits),
        };
        match bits {
            Some(bits) => {
                self.next();
                Ok(Value::Float(bits))
            }
            None if !matches!(ty, Type::Float | Type::Double) => {
                Ok(Value::Other(self.next().text.into()))
            }
            None => self.error("a number"),
        }
    }

    fn aggregate(&mut self, open: u8, close: u8) -> Parsed<Value> {
        self.expect(open)?;
        let mut elements = Vec::new();
        while !self.eat(close) {
            elements.push(self.typed()?);
            if !self.eat(b',') && !self.is(close) {
                return self.error(&format!("',' or '{}'", char::from(close)));
            }
        }
        Ok(Value::Aggregate(elements.into()))
    }

    /// A vector, or a packed structure.
    fn angles(&mut self) -> Parsed<Value> {
        if self.ahead(1).kind == Kind::Punctuation(b'{') {
            self.next();
            let value = self.aggregate(b'{', b'}')?;
            self.expect(b'>')?;
            return Ok(value);
        }
        self.aggregate(b'<', b'>')
    }

    fn word_value(&mut self) -> Parsed<Value> {
        let word = self.next().text;
        Ok(match word {
            "true" => Value::Int(1),
            "false" => Value::Int(0),
            "null" => Value::Null,
            "undef" => Value::Undef,
            "poison" => Value::Poison,
            "zeroinitializer" | "none" => Value::Zero,
            "dso_local_equivalent" | "no_cfi" => {
                Value::Global(self.name(Kind::Global, "a function")?)
            }
            "blockaddress" | "ptrauth" => {
                self.skip_brackets();
                Value::Other(word.into())
            }
            "splat" => {
                self.expect(b'(')?;
                let lane = self.typed()?;
                self.expect(b')')?;
                Value::Splat(Box::new(lane))
            }
            "asm" => self.assembly()?,
            _ => Value::Constant(Box::new(self.constant(word)?)),
        })
    }

    fn assembly(&mut self) -> Parsed<Value> {
        while self.peek().kind == Kind::Word {
            self.next();
        }
        let text = self.text()?;
        self.expect(b',')?;
        Ok(Value::Assembly { text, constraints: self.text()? })
    }

    fn constant(&mut self, word: &str) -> Parsed<Constant> {
        if word == "getelementptr" {
            return self.constant_address();
        }
        if let Some(op) = cast_op(word) {
            self.skip_flags();
            self.expect(b'(')?;
            let value = self.typed()?;
            self.expect_word("to")?;
            let to = self.ty()?;
            self.expect(b')')?;
            return Ok(Constant::Cast { op, value, to });
        }
        if let Some(op) = binary_op(word) {
            self.skip_flags();
            let [left, right] = self.operands()?;
            return Ok(Constant::Binary { op, left, right });
        }
        match word {
            "icmp" => {
                let Some(predicate) = predicate(self.word()?) else {
                    return self.error("a comparison");
                };
                let [left, right] = self.operands()?;
                Ok(Constant::Compare { predicate, left, right })
            }
            "select" => {
                let [condition, then, otherwise] = self.operands()?;
                Ok(Constant::Select { condition, then, otherwise })
            }
            _ => self.error(&format!("a value, not '{word}'")),
        }
    }

    fn constant_address(&mut self) -> Parsed<Constant> {
        self.skip_flags();
        self.expect(b'(')?;
        let element = self.ty()?;
        self.expect(b',')?;
        let base = self.typed()?;
        let mut indices = Vec::new();
        while self.eat(b',') {
            self.eat_word("inrange");
            indices.push(self.typed()?);
        }
        self.expect(b')')?;
        Ok(Constant::Gep { element, base, indices })
    }

    /// `(T a, T b)`
    fn operands<const N: usize>(&mut self) -> Parsed<[Typed; N]> {
        self.expect(b'(')?;
        let mut operands = vec![self.typed()?];
        while self.eat(b',') {
            operands.push(self.typed()?);
        }
        self.expect(b')')?;
        match operands.try_into() {
            Ok(operands) => Ok(operands),
            Err(_) => self.error(&format!("{N} operands before it")),
        }
    }

    /// `nsw`, `inbounds`, `inrange(0, 4)`, `fast` …
    pub fn skip_flags(&mut self) {
        const FLAGS: [&str; 18] = [
            "nuw", "nsw", "nusw", "exact", "inbounds", "inrange", "disjoint", "nneg", "fast",
            "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "samesign", "volatile",
        ];
        while self.peek().kind == Kind::Word && FLAGS.contains(&self.peek().text) {
            let range = self.next().text == "inrange";
            if range && self.is(b'(') {
                self.skip_brackets();
            }
        }
    }

    fn metadata_value(&mut self) -> Parsed<Value> {
        match self.metadata()? {
            Metadata::Id(id) => Ok(Value::Metadata(Some(id), None)),
            Metadata::Value(value) => Ok(Value::Metadata(None, Some(value))),
            _ => Ok(Value::Metadata(None, None)),
        }
    }
}

/// A decimal number, modulo 2^128.
pub fn parse_integer(text: &str) -> Option<u128> {
    match text.strip_prefix('-') {
        Some(digits) => digits.parse::<u128>().ok().map(u128::wrapping_neg),
        None => text.parse().ok(),
    }
}
