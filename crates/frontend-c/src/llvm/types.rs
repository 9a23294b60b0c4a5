//! Types.

use std::rc::Rc;

use super::cursor::{Cursor, Parsed};
use super::module::Type;
use super::token::Kind;

impl Cursor<'_> {
    /// Whether a type starts here.
    pub fn at_type(&self) -> bool {
        let token = self.peek();
        match token.kind {
            Kind::Local => true,
            Kind::Punctuation(b'[' | b'{' | b'<') => true,
            Kind::Word => word_type(token.text).is_some() || token.text == "target",
            _ => false,
        }
    }

    pub fn ty(&mut self) -> Parsed<Type> {
        self.nested(|cursor| {
            let mut ty = cursor.plain_type()?;
            loop {
                if cursor.eat(b'*') {
                    ty = Type::Pointer;
                } else if cursor.is_word("addrspace") && ty == Type::Pointer {
                    cursor.next();
                    cursor.skip_brackets();
                } else if cursor.is(b'(') {
                    ty = cursor.function_type(ty)?;
                } else {
                    return Ok(ty);
                }
            }
        })
    }

    /// A type that is not a function's: where a parenthesis after it belongs to something else.
    pub fn value_type(&mut self) -> Parsed<Type> {
        let mut ty = self.nested(Cursor::plain_type)?;
        loop {
            if self.eat(b'*') {
                ty = Type::Pointer;
            } else if self.is_word("addrspace") && ty == Type::Pointer {
                self.next();
                self.skip_brackets();
            } else {
                return Ok(ty);
            }
        }
    }

    fn plain_type(&mut self) -> Parsed<Type> {
        let token = self.peek();
        match token.kind {
            Kind::Local => Ok(Type::Named(self.name(Kind::Local, "a type")?)),
            Kind::Punctuation(b'[') => {
                self.next();
                let (count, element) = self.elements()?;
                self.expect(b']')?;
                Ok(Type::Array(count, Rc::new(element)))
            }
            Kind::Punctuation(b'{') => Ok(Type::Struct { packed: false, fields: self.fields()? }),
            Kind::Punctuation(b'<') => {
                self.next();
                let ty = match self.is(b'{') {
                    true => Type::Struct { packed: true, fields: self.fields()? },
                    false => {
                        let (count, element) = self.elements()?;
                        Type::Vector(count, Rc::new(element))
                    }
                };
                self.expect(b'>')?;
                Ok(ty)
            }
            Kind::Word if token.text == "target" => {
                self.next();
                self.skip_brackets();
                Ok(Type::Other("target".into()))
            }
            Kind::Word => match word_type(token.text) {
                Some(ty) => {
                    self.next();
                    Ok(ty)
                }
                None => self.error("a type"),
            },
            _ => self.error("a type"),
        }
    }

    /// `4 x i32`
    fn elements(&mut self) -> Parsed<(u64, Type)> {
        if self.is_word("vscale") {
            return self.error("a vector of fixed size");
        }
        let count = self.number()?;
        self.expect_word("x")?;
        Ok((count, self.ty()?))
    }

    fn fields(&mut self) -> Parsed<Rc<[Type]>> {
        self.expect(b'{')?;
        let mut fields = Vec::new();
        while !self.eat(b'}') {
            fields.push(self.ty()?);
            if !self.eat(b',') && !self.is(b'}') {
                return self.error("',' or '}'");
            }
        }
        Ok(fields.into())
    }

    /// After the type of its result.
    pub fn function_type(&mut self, result: Type) -> Parsed<Type> {
        self.expect(b'(')?;
        let (mut params, mut variadic) = (Vec::new(), false);
        while !self.eat(b')') {
            if self.peek().kind == Kind::Ellipsis {
                self.next();
                variadic = true;
            } else {
                params.push(self.ty()?);
            }
            if !self.eat(b',') && !self.is(b')') {
                return self.error("',' or ')'");
            }
        }
        Ok(Type::Function { result: Rc::new(result), params: params.into(), variadic })
    }
}

fn word_type(word: &str) -> Option<Type> {
    Some(match word {
        "void" => Type::Void,
        "ptr" => Type::Pointer,
        "float" => Type::Float,
        "double" => Type::Double,
        "label" => Type::Label,
        "metadata" => Type::Metadata,
        "half" | "bfloat" | "fp128" | "x86_fp80" | "ppc_fp128" | "x86_amx" | "x86_mmx"
        | "token" | "opaque" => Type::Other(word.into()),
        _ => Type::Int(word.strip_prefix('i')?.parse().ok().filter(|width| *width > 0)?),
    })
}
