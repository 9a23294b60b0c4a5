//! YAML as a tree that knows its places. Task definitions and witnesses are written in it.
//!
//! Inputs are not trusted: aliases are refused, since a few of them can stand for more than fits into
//! memory, and so are trees that are deeper than anyone writes them.

use parallax_program::{Diagnostic, SourceFile, Span};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

/// No tree is deeper.
const DEEPEST: usize = 64;

/// A document, for places in messages.
pub struct Document {
    source: SourceFile,
    pub root: Node,
}

#[derive(Clone, Debug)]
pub struct Node {
    /// From 1.
    line: u32,
    /// In characters, from 0.
    column: u32,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum Value {
    Scalar {
        text: String,
        /// Whether it is written without quotes.
        is_plain: bool,
    },
    List(Vec<Node>),
    /// In the order of the text. No key is there twice.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// A text that stands for something: not nothing, and no list.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, is_plain } => {
                let is_nothing = *is_plain && matches!(text.as_str(), "" | "~" | "null");
                (!is_nothing).then_some(text)
            }
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(nodes) => Some(nodes),
            _ => None,
        }
    }

    pub fn map(&self) -> Option<&[(Node, Node)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// What a map has under a name.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let mut entries = self.map()?.iter();
        entries.find(|(name, _)| name.text() == Some(key)).map(|(_, node)| node)
    }
}

impl Document {
    /// Reads a text that is one document.
    pub fn parse(name: &str, text: &str) -> Result<Document, Diagnostic> {
        let source = SourceFile::new(name, text);
        match Reader::new(text).document() {
            Ok(root) => Ok(Document { source, root }),
            Err((place, message)) => {
                let (line, column) = position(place);
                Err(error_at(&source, line, column, &message))
            }
        }
    }

    /// That something is wrong with a node.
    pub fn error(&self, node: &Node, message: impl AsRef<str>) -> Diagnostic {
        error_at(&self.source, node.line, node.column, message.as_ref())
    }

    /// What a map must have under a name.
    pub fn field<'n>(&self, node: &'n Node, key: &str) -> Result<&'n Node, Diagnostic> {
        match node.map() {
            None => Err(self.error(node, format!("expected a map that has '{key}'"))),
            Some(_) => node.get(key).ok_or_else(|| self.error(node, format!("'{key}' is missing"))),
        }
    }

    /// The text that a map must have under a name.
    pub fn field_text<'n>(&self, node: &'n Node, key: &str) -> Result<&'n str, Diagnostic> {
        let field = self.field(node, key)?;
        field.text().ok_or_else(|| self.error(field, format!("'{key}' is to be a text")))
    }

    pub fn elements<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Node], Diagnostic> {
        node.list().ok_or_else(|| self.error(node, format!("expected a list of {what}")))
    }
}

fn position(place: Marker) -> (u32, u32) {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (number(place.line()), number(place.col()))
}

fn error_at(source: &SourceFile, line: u32, column: u32, message: &str) -> Diagnostic {
    let whole = source.span_at(0, line, 1);
    let start = whole.start as usize;
    let text = source.text().get(start..whole.end as usize).unwrap_or("");
    let bytes = text.char_indices().nth(column as usize).map_or(text.len(), |(place, _)| place);
    source.error(Span::new(start + bytes, start + bytes + 1), message)
}

type Wrong = (Marker, String);

struct Reader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Reader<'t> {
        Reader { parser: Parser::new_from_str(text), depth: 0 }
    }

    fn next(&mut self) -> Result<(Event<'t>, Marker), Wrong> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, span.start)),
            Some(Err(error)) => Err((*error.marker(), format!("bad YAML: {}", error.info()))),
            None => Ok((Event::StreamEnd, Marker::new(0, 1, 0))),
        }
    }

    fn document(&mut self) -> Result<Node, Wrong> {
        let mut root = None;
        loop {
            let (event, place) = self.next()?;
            match event {
                Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                Event::StreamEnd => {
                    return root.ok_or_else(|| (place, "there is nothing in it".to_string()));
                }
                _ if root.is_some() => {
                    return Err((place, "there is more than one document".to_string()));
                }
                event => root = Some(self.node(event, place)?),
            }
        }
    }

    fn node(&mut self, event: Event<'t>, place: Marker) -> Result<Node, Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((place, "this is nested too deeply".to_string()));
        }
        let value = match event {
            Event::Scalar(text, style, ..) => {
                let is_plain = style == ScalarStyle::Plain;
                Value::Scalar { text: text.into_owned(), is_plain }
            }
            Event::SequenceStart(..) => self.list()?,
            Event::MappingStart(..) => self.map()?,
            Event::Alias(_) => return Err((place, "aliases are not supported".to_string())),
            _ => return Err((place, "expected a value".to_string())),
        };
        self.depth -= 1;
        let (line, column) = position(place);
        Ok(Node { line, column, value })
    }

    fn list(&mut self) -> Result<Value, Wrong> {
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(nodes)),
                (event, place) => nodes.push(self.node(event, place)?),
            }
        }
    }

    fn map(&mut self) -> Result<Value, Wrong> {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        let mut names = std::collections::HashSet::new();
        loop {
            let (event, place) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Value::Map(entries));
            }
            let key = self.node(event, place)?;
            if let Some(name) = key.text()
                && !names.insert(name.to_string())
            {
                return Err((place, format!("'{name}' is there already")));
            }
            let (event, place) = self.next()?;
            let value = self.node(event, place)?;
            entries.push((key, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_places() {
        let text = "a: 'x'\nb:\n  - 1\n  - c: ~\n";
        let document = Document::parse("t.yml", text).expect("a document");
        let list = document.field(&document.root, "b").expect("b").list().expect("a list");
        assert_eq!(list[0].text(), Some("1"));
        assert_eq!(list[1].get("c").and_then(Node::text), None);
        let error = document.error(&list[1], "wrong");
        assert!(error.to_string().starts_with("t.yml:4:5: error: wrong"), "{error}");
        assert!(document.field_text(&document.root, "d").is_err());
    }

    #[test]
    fn bad_texts_are_errors_with_a_place() {
        let wrong = |text: &str| match Document::parse("t.yml", text) {
            Ok(document) => panic!("{:?}", document.root),
            Err(error) => error.to_string(),
        };
        assert!(wrong("a: [1, 2\n").starts_with("t.yml:"));
        assert!(wrong("a: 1\na: 2\n").starts_with("t.yml:2:1: error: 'a' is there already"));
        assert!(wrong("a: &x 1\nb: *x\n").contains("aliases"));
        assert!(wrong("").contains("nothing in it"));
        assert!(wrong("--- 1\n--- 2\n").contains("more than one"));
        assert!(wrong(&"- ".repeat(10_000)).contains("too deep"));
        wrong(&"[".repeat(10_000));
        wrong("\u{0}\t: {");
    }
}
