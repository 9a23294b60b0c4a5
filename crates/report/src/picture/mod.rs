//! Pictures of executions: threads as columns, events as boxes, relations as arrows.
//!
//! [`scene`] decides what is worth showing, in a form that knows no coordinates; the terminal
//! sketch and the DOT text are written from it directly. For SVG, [`layout`] places the boxes
//! in columns and rows, [`route`] draws the arrows around them and [`labels`] finds a free
//! spot for the name of each.

mod dot;
mod focus;
mod geometry;
mod labels;
mod layout;
mod plan;
mod relations;
mod route;
mod scene;
mod sketch;
mod svg;

#[cfg(test)]
pub(crate) mod properties;

pub use dot::dot;
pub use focus::{focused_dot, focused_svg};
pub use sketch::sketch;
pub use svg::{escape, svg};

/// What stands above a picture.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caption<'a> {
    /// The test.
    pub title: &'a str,
    /// The model, the number of the execution; may be empty.
    pub subtitle: &'a str,
}
