//! The test's memory locations: made on first mention, typed by whoever declares them.
//!
//! herd7 lets a test use a location that it never declares. Such a location has room for eight
//! bytes, is shown as an `int`, and as a pointer where an address (or a number that needs one)
//! is put into it or compared with it.

use std::collections::HashMap;

use parallax_program::{AccessSize, Global, GlobalId};

use crate::types::ScalarType;

/// The test's memory locations, made on first mention.
#[derive(Default)]
pub struct Globals {
    pub list: Vec<Global>,
    shapes: Vec<Shape>,
    by_name: HashMap<String, GlobalId>,
}

/// What is known of a location's type.
#[derive(Clone, Copy, Default)]
struct Shape {
    element: Option<ScalarType>,
    /// Elements, for arrays.
    count: Option<u64>,
    /// Not declared, but holds or is compared with values of more than four bytes.
    wide: bool,
}

impl Globals {
    /// Size of a location that the test says nothing about, in bytes.
    pub const DEFAULT_SIZE: u64 = 8;

    /// The location of that name.
    pub fn get(&mut self, name: &str) -> GlobalId {
        if let Some(id) = self.by_name.get(name) {
            return *id;
        }
        let id = GlobalId(self.list.len() as u32);
        self.by_name.insert(name.to_string(), id);
        self.shapes.push(Shape::default());
        self.list.push(Global::zeroed(name, Self::DEFAULT_SIZE, 16));
        id
    }

    /// The location of that name, if the test has mentioned it.
    pub fn lookup(&self, name: &str) -> Option<GlobalId> {
        self.by_name.get(name).copied()
    }

    /// Gives a location its type; with `count`, an array of that many elements. The first
    /// declaration stands.
    pub fn declare(&mut self, name: &str, element: ScalarType, count: Option<u64>) -> GlobalId {
        let id = self.get(name);
        let index = id.0 as usize;
        if self.shapes[index].element.is_none() {
            self.shapes[index].element = Some(element);
            self.shapes[index].count = count;
            self.list[index].size = u64::from(element.bytes) * count.unwrap_or(1);
        }
        id
    }

    /// Gives a location a type whatever was declared before, for languages whose declarations
    /// do not bind. Arrays stay as they are.
    pub fn redeclare(&mut self, id: GlobalId, element: ScalarType) {
        let index = id.0 as usize;
        if let (Some(shape), Some(global)) = (self.shapes.get_mut(index), self.list.get_mut(index))
            && shape.count.is_none()
        {
            shape.element = Some(element);
            global.size = u64::from(element.bytes);
        }
    }

    /// The declared type of a location, or of its elements.
    pub fn declared(&self, id: GlobalId) -> Option<ScalarType> {
        self.shape(id).element
    }

    /// Elements, if the location was declared as an array.
    pub fn count(&self, id: GlobalId) -> Option<u64> {
        self.shape(id).count
    }

    /// Notes that values of more than four bytes are in use at a location.
    pub fn mark_wide(&mut self, id: GlobalId) {
        if let Some(shape) = self.shapes.get_mut(id.0 as usize) {
            shape.wide = true;
        }
    }

    /// The type that the location (or an element of it) is observed with.
    pub fn observed(&self, id: GlobalId) -> ScalarType {
        let shape = self.shape(id);
        match shape.element {
            Some(element) => element,
            None if shape.wide => ScalarType::signed(AccessSize::DOUBLE.bytes()),
            None => ScalarType::INT,
        }
    }

    fn shape(&self, id: GlobalId) -> Shape {
        self.shapes.get(id.0 as usize).copied().unwrap_or_default()
    }
}
