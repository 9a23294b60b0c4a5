//! What only some engines know of a query, by its type.
//!
//! An engine with options of its own defines a type for them in its own crate. Who asks puts a value
//! of that type into the query, and an engine that does not know the type is not asked: no option
//! is passed over in silence.

use std::any::{Any, TypeId};
use std::sync::Arc;

/// At most one value of each type.
#[derive(Clone, Default)]
pub struct Extensions(Vec<(TypeId, Arc<dyn Any + Send + Sync>)>);

impl Extensions {
    /// With a value, in place of the one of its type that may be there.
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> Extensions {
        let id = TypeId::of::<T>();
        self.0.retain(|(known, _)| *known != id);
        self.0.push((id, Arc::new(value)));
        self
    }

    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        let (_, value) = self.0.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        value.downcast_ref()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether each of them is of one of these types.
    pub fn are_among(&self, known: &[TypeId]) -> bool {
        self.0.iter().all(|(id, _)| known.contains(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(PartialEq, Debug)]
    struct Depth(u32);

    #[test]
    fn there_is_one_of_each_type() {
        let extensions = Extensions::default().with(Depth(1)).with("other").with(Depth(2));
        assert_eq!(extensions.get::<Depth>(), Some(&Depth(2)));
        assert_eq!(extensions.get::<&str>(), Some(&"other"));
        assert_eq!(extensions.get::<u8>(), None);
    }

    #[test]
    fn an_engine_has_to_know_all_of_them() {
        let extensions = Extensions::default().with(Depth(1));
        assert!(extensions.are_among(&[TypeId::of::<Depth>()]));
        assert!(!extensions.are_among(&[TypeId::of::<u8>()]));
        assert!(Extensions::default().are_among(&[]));
    }
}
