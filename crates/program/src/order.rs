//! The memory orders of C11. Events carry them as tags; this is the one place that knows which tag is
//! which order.

use crate::tags::Tags;

/// In the order of their numbers in C.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Order {
    Relaxed,
    Consume,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

impl Order {
    pub const ALL: [Order; 6] = [
        Order::Relaxed,
        Order::Consume,
        Order::Acquire,
        Order::Release,
        Order::AcquireRelease,
        Order::SequentiallyConsistent,
    ];

    pub const fn tag(self) -> &'static str {
        match self {
            Order::Relaxed => "RLX",
            Order::Consume => "CON",
            Order::Acquire => "ACQ",
            Order::Release => "REL",
            Order::AcquireRelease => "ACQ_REL",
            Order::SequentiallyConsistent => "SC",
        }
    }

    /// As in `memory_order_…`.
    pub fn name(self) -> &'static str {
        match self {
            Order::Relaxed => "relaxed",
            Order::Consume => "consume",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcquireRelease => "acq_rel",
            Order::SequentiallyConsistent => "seq_cst",
        }
    }

    pub fn named(name: &str) -> Option<Order> {
        Order::ALL.into_iter().find(|order| order.name() == name)
    }

    pub fn of_tag(tag: &str) -> Option<Order> {
        Order::ALL.into_iter().find(|order| order.tag() == tag)
    }

    /// Whether a load, or a fence, of this order is an acquire. Consume is not: models have what they
    /// make of it.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent)
    }

    /// Whether a store, or a fence, of this order is a release.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent)
    }
}

impl Tags {
    /// The memory orders among the tags; more than one where halves of an access were put together.
    pub fn orders(&self) -> impl Iterator<Item = Order> {
        self.iter().filter_map(|tag| Order::of_tag(tag.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_tags_go_together() {
        for order in Order::ALL {
            assert_eq!(Order::of_tag(order.tag()), Some(order));
            assert_eq!(Order::named(order.name()), Some(order));
        }
        let tags = Tags::new(["A", "SC", "REL"]);
        let orders: Vec<Order> = tags.orders().collect();
        assert_eq!(orders, [Order::Release, Order::SequentiallyConsistent]);
        assert!(orders.iter().all(|order| order.releases()));
    }
}
