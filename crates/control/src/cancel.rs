//! Tokens by which somebody outside ends a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by all of its clones. Once cancelled, it stays so.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Token>);

#[derive(Debug, Default)]
struct Token {
    is_cancelled: AtomicBool,
    parent: Option<Cancel>,
}

impl Cancel {
    /// A token that this one cancels, too, and that can be cancelled by itself.
    pub fn child(&self) -> Cancel {
        Cancel(Arc::new(Token { is_cancelled: AtomicBool::new(false), parent: Some(self.clone()) }))
    }

    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Cheap enough for inner loops.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Relaxed)
            || self.0.parent.as_ref().is_some_and(Cancel::is_cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_and_children_inherit() {
        let parent = Cancel::default();
        let (clone, child) = (parent.clone(), parent.child());
        child.cancel();
        assert!(child.is_cancelled() && !parent.is_cancelled());
        let child = parent.child();
        parent.cancel();
        assert!(clone.is_cancelled() && child.is_cancelled() && child.child().is_cancelled());
    }
}
