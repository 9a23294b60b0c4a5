//! Metadata: places, variables and types of the source, as DWARF has them.

use super::cursor::{Cursor, Parsed, name_of};
use super::module::{Type, Typed};
use super::token::Kind;
use super::values::parse_integer;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct MetadataId(pub u32);

/// `!DILocation(line: 3, scope: !7)`, or `!{…}`, whose kind is empty.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node {
    pub kind: String,
    pub fields: Vec<(String, Metadata)>,
    pub items: Vec<Metadata>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Metadata {
    Null,
    Id(MetadataId),
    Node(Box<Node>),
    Integer(i128),
    Text(String),
    /// `DW_TAG_member`; where several are joined by `|`, the last.
    Word(String),
    Value(Box<Typed>),
}

impl Node {
    pub fn field(&self, name: &str) -> Option<&Metadata> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    pub fn number(&self, name: &str) -> Option<i128> {
        match self.field(name)? {
            Metadata::Integer(number) => Some(*number),
            _ => None,
        }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.field(name)? {
            Metadata::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn word(&self, name: &str) -> Option<&str> {
        match self.field(name)? {
            Metadata::Word(word) => Some(word),
            _ => None,
        }
    }
}

impl Cursor<'_> {
    pub fn metadata_id(&mut self) -> Parsed<MetadataId> {
        let token = self.peek();
        match (token.kind, token.text.parse()) {
            (Kind::MetadataId, Ok(number)) => {
                self.next();
                Ok(MetadataId(number))
            }
            _ => self.error("the number of a metadata node"),
        }
    }

    /// A node, after `distinct` if that is there.
    pub fn node(&mut self) -> Parsed<Node> {
        self.eat_word("distinct");
        match self.peek().kind {
            Kind::MetadataName => {
                let kind = self.next().text.to_string();
                self.node_fields(kind)
            }
            _ => self.tuple(),
        }
    }

    fn tuple(&mut self) -> Parsed<Node> {
        self.expect(b'!')?;
        self.expect(b'{')?;
        let mut items = Vec::new();
        while !self.eat(b'}') {
            items.push(self.metadata()?);
            if !self.eat(b',') && !self.is(b'}') {
                return self.error("',' or '}'");
            }
        }
        Ok(Node { items, ..Node::default() })
    }

    fn node_fields(&mut self, kind: String) -> Parsed<Node> {
        let mut node = Node { kind, ..Node::default() };
        self.expect(b'(')?;
        while !self.eat(b')') {
            if self.peek().kind == Kind::Label {
                let name = self.next().text.to_string();
                let value = self.metadata()?;
                node.fields.push((name, value));
            } else {
                let item = self.metadata()?;
                node.items.push(item);
            }
            if !self.eat(b',') && !self.is(b')') {
                return self.error("',' or ')'");
            }
        }
        Ok(node)
    }

    pub fn metadata(&mut self) -> Parsed<Metadata> {
        self.nested(Cursor::one_metadata)
    }

    fn one_metadata(&mut self) -> Parsed<Metadata> {
        let token = self.peek();
        match token.kind {
            Kind::MetadataId => Ok(Metadata::Id(self.metadata_id()?)),
            Kind::MetadataName => Ok(Metadata::Node(Box::new(self.node()?))),
            Kind::Integer => match parse_integer(token.text) {
                Some(number) => {
                    self.next();
                    Ok(Metadata::Integer(number as i128))
                }
                None => self.error("a number"),
            },
            Kind::Text => Ok(Metadata::Text(name_of(self.next()).to_string())),
            Kind::Punctuation(b'!') if self.ahead(1).kind == Kind::Text => {
                self.next();
                Ok(Metadata::Text(name_of(self.next()).to_string()))
            }
            Kind::Punctuation(b'!') => Ok(Metadata::Node(Box::new(self.tuple()?))),
            Kind::Word if token.text == "null" => {
                self.next();
                Ok(Metadata::Null)
            }
            _ if self.at_type() => self.typed_metadata(),
            Kind::Word => self.flags(),
            _ => self.error("metadata"),
        }
    }

    fn typed_metadata(&mut self) -> Parsed<Metadata> {
        let ty = self.ty()?;
        if ty == Type::Metadata {
            return self.metadata();
        }
        let value = self.value(&ty)?;
        Ok(Metadata::Value(Box::new(Typed { ty, value })))
    }

    /// `DIFlagPrototyped | DIFlagArtificial`
    fn flags(&mut self) -> Parsed<Metadata> {
        let mut word = self.word()?;
        while self.eat(b'|') {
            word = self.word()?;
        }
        Ok(Metadata::Word(word.to_string()))
    }
}
