//! What only some engines know of a query, by its type.
//!
//! An engine with options of its own defines a type for them in its own crate. Who asks puts a value
//! of that type into the query, and an engine that does not know the type is not asked: no option
//! is passed over in silence. An extension knows the settings that a person has made by it, so that
//! who is refused learns which of them it was. One by which nobody has set anything is a hint, for
//! whoever knows it.

use std::any::{Any, TypeId};
use std::sync::Arc;

use parallax_program::Setting;

/// Options of single engines.
pub trait Extension: Any + Send + Sync {
    /// The settings that are not as usual; of a hint there are none.
    fn settings(&self) -> Vec<Setting>;
}

/// That an object which is never freed leaks only if nothing leads to it at the end: what competitions
/// call tracked is none. A hint, because who does not know it finds more leaks, and not fewer.
pub struct Tracked;

impl Extension for Tracked {
    fn settings(&self) -> Vec<Setting> {
        Vec::new()
    }
}

/// At most one value of each type.
#[derive(Clone, Default)]
pub struct Extensions(Vec<(TypeId, Arc<dyn Extension>)>);

impl Extensions {
    /// With a value, in place of the one of its type that may be there.
    pub fn with<T: Extension>(mut self, value: T) -> Extensions {
        let id = TypeId::of::<T>();
        self.0.retain(|(known, _)| *known != id);
        self.0.push((id, Arc::new(value)));
        self
    }

    pub fn get<T: Extension>(&self) -> Option<&T> {
        let (_, value) = self.0.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        let value: &dyn Any = &**value;
        value.downcast_ref()
    }

    /// Whether each of them is of one of these types, or a hint.
    pub fn are_among(&self, known: &[TypeId]) -> bool {
        self.settings_beside(known).is_empty()
    }

    /// The settings of those that are of none of these types.
    pub fn settings_beside(&self, known: &[TypeId]) -> Vec<Setting> {
        let others = self.0.iter().filter(|(id, _)| !known.contains(id));
        others.flat_map(|(_, value)| value.settings()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(PartialEq, Debug)]
    struct Depth(u32);

    impl Extension for Depth {
        fn settings(&self) -> Vec<Setting> {
            vec![Setting::Unroll]
        }
    }

    #[derive(PartialEq, Debug)]
    struct Other;

    impl Extension for Other {
        fn settings(&self) -> Vec<Setting> {
            vec![Setting::Witness]
        }
    }

    struct Hint;

    impl Extension for Hint {
        fn settings(&self) -> Vec<Setting> {
            Vec::new()
        }
    }

    #[test]
    fn there_is_one_of_each_type() {
        let extensions = Extensions::default().with(Depth(1)).with(Other).with(Depth(2));
        assert_eq!(extensions.get::<Depth>(), Some(&Depth(2)));
        assert_eq!(extensions.get::<Other>(), Some(&Other));
        assert_eq!(Extensions::default().get::<Depth>(), None);
    }

    #[test]
    fn an_engine_has_to_know_all_of_them() {
        let extensions = Extensions::default().with(Depth(1));
        assert!(extensions.are_among(&[TypeId::of::<Depth>()]));
        assert!(!extensions.are_among(&[TypeId::of::<Other>()]));
        let known = [TypeId::of::<Depth>()];
        assert_eq!(extensions.with(Other).settings_beside(&known), [Setting::Witness]);
        assert!(Extensions::default().are_among(&[]));
        assert!(Extensions::default().with(Hint).are_among(&[]));
        assert!(!Extensions::default().with(Hint).with(Other).are_among(&[]));
    }
}
