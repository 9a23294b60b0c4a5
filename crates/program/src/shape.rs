//! Shapes of objects: how people call their parts. Shapes have no meaning for the program.

use std::fmt::Write;

/// The parts of an object, by offset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    Scalar,
    Array { element: Box<Shape>, stride: u64, count: u64 },
    Struct { name: String, fields: Vec<Field> },
}

/// A named part of a structure. Those of a union overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    pub name: String,
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    pub shape: Shape,
}

impl Shape {
    /// How the part at an offset is called, to stand behind the name of the object:
    /// `.head`, `[3].next`; a place inside a scalar is `+2`.
    pub fn name(&self, offset: u64) -> String {
        let mut name = String::new();
        let (mut shape, mut offset) = (self, offset);
        loop {
            match shape {
                Shape::Array { element, stride, count }
                    if offset < stride.saturating_mul(*count) =>
                {
                    let _ = write!(name, "[{}]", offset / stride);
                    offset %= stride;
                    shape = element;
                }
                Shape::Struct { fields, .. } => {
                    let here = |field: &&Field| {
                        field.offset <= offset && offset - field.offset < field.size.max(1)
                    };
                    let Some(field) = fields.iter().find(here) else {
                        break;
                    };
                    let _ = write!(name, ".{}", field.name);
                    offset -= field.offset;
                    shape = &field.shape;
                }
                _ => break,
            }
        }
        if offset > 0 {
            let _ = write!(name, "+{offset}");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names() {
        let field =
            |name: &str, offset| Field { name: name.into(), offset, size: 8, shape: Shape::Scalar };
        let node = Shape::Struct {
            name: "node".into(),
            fields: vec![field("value", 0), field("next", 8)],
        };
        let nodes = Shape::Array { element: Box::new(node), stride: 16, count: 4 };
        assert_eq!(nodes.name(24), "[1].next");
        assert_eq!(nodes.name(49), "[3].value+1");
        assert_eq!(nodes.name(64), "+64");
        assert_eq!(Shape::Scalar.name(0), "");
    }
}
