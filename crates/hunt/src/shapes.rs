//! The shapes of classic litmus tests: what a model forbids is a cycle, and cycles of a few accesses are
//! rarely met by chance (J. Alglave et al., Herding cats, TOPLAS 2014).

/// An access of a shape: to which of its variables, and whether it writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub variable: usize,
    pub writes: bool,
}

/// Threads, each a list of accesses.
pub type Shape = Vec<Vec<Access>>;

/// As people write them: store buffering, message passing and so on.
pub const NAMES: [&str; 12] = [
    "Wx Ry | Wy Rx",
    "Wx Wy | Ry Rx",
    "Rx Wy | Ry Wx",
    "Wx Wy | Ry Wx",
    "Wx Wy | Wy Rx",
    "Wx Wy | Wy Wx",
    "Wx Rx Ry | Wy Ry Rx",
    "Wx Wx | Rx Rx",
    "Wx | Rx Wy | Ry Rx",
    "Wx | Rx Ry | Wy Rx",
    "Wx Wy | Ry Wz | Rz Rx",
    "Wx | Wy | Rx Ry | Ry Rx",
];

/// The shape that has a name, over variables of which there are so many.
pub fn shape(name: &str, variables: usize) -> Shape {
    let access = |word: &str| {
        let variable = match word.as_bytes() {
            [_, b'x'] => 0,
            [_, b'y'] => 1,
            _ => 2,
        };
        Access { variable: variable % variables.max(1), writes: word.starts_with('W') }
    };
    name.split('|').map(|thread| thread.split_whitespace().map(access).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shapes() {
        let buffering = shape(NAMES[0], 2);
        let access = |variable, writes| Access { variable, writes };
        let expected = [[access(0, true), access(1, false)], [access(1, true), access(0, false)]];
        assert_eq!(buffering, expected.map(|thread| thread.to_vec()));
        assert!(NAMES.iter().all(|name| (2..=4).contains(&shape(name, 3).len())));
    }
}
