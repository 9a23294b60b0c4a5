//! C11's `<stdatomic.h>` (C11 7.17).
//!
//! Atomic accesses are tagged `A` and with their order, fences with their order alone. A
//! read-modify-write carries its order on both of its events and is tagged `RMW`; the read of
//! a failing compare-and-swap carries the failure order. The functions without `_explicit` are
//! sequentially consistent.

use parallax_program::{Expr, Order, RmwOp, Tags};

use super::ast::{Expr as Tree, ExprKind};
use super::lower::{CompareAndSwap, Lowered, Lowering, Pointer, Value, Variable};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    Load,
    Store,
    Init,
    Update(RmwOp),
    CompareExchange { weak: bool },
    TestAndSet,
    Clear,
    ThreadFence,
    SignalFence,
}

impl Operation {
    /// The function of that name, and whether its orders are written out.
    fn named(name: &str) -> Option<(Operation, bool)> {
        use Operation::*;
        let (base, explicit) = match name.strip_suffix("_explicit") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let operation = match base {
            "atomic_load" => Load,
            "atomic_store" => Store,
            "atomic_exchange" => Update(RmwOp::Swap),
            "atomic_fetch_add" => Update(RmwOp::Add),
            "atomic_fetch_sub" => Update(RmwOp::Sub),
            "atomic_fetch_or" => Update(RmwOp::Or),
            "atomic_fetch_xor" => Update(RmwOp::Xor),
            "atomic_fetch_and" => Update(RmwOp::And),
            "atomic_compare_exchange_strong" => CompareExchange { weak: false },
            "atomic_compare_exchange_weak" => CompareExchange { weak: true },
            "atomic_flag_test_and_set" => TestAndSet,
            "atomic_flag_clear" => Clear,
            "atomic_init" if !explicit => Init,
            "atomic_thread_fence" if !explicit => return Some((ThreadFence, true)),
            "atomic_signal_fence" if !explicit => return Some((SignalFence, true)),
            _ => return None,
        };
        Some((operation, explicit))
    }

    /// Arguments that are no orders.
    fn operands(self) -> usize {
        use Operation::*;
        match self {
            ThreadFence | SignalFence => 0,
            Load | TestAndSet | Clear => 1,
            Store | Init | Update(_) => 2,
            CompareExchange { .. } => 3,
        }
    }

    /// Orders that the explicit form takes.
    fn orders(self) -> usize {
        match self {
            Operation::CompareExchange { .. } => 2,
            Operation::Init => 0,
            _ => 1,
        }
    }
}

/// Whether the name is one of this library that the kernel does not have.
pub fn is_atomic_function(name: &str) -> bool {
    let both = matches!(
        name,
        "atomic_fetch_add"
            | "atomic_fetch_sub"
            | "atomic_fetch_or"
            | "atomic_fetch_xor"
            | "atomic_fetch_and"
    );
    !both && Operation::named(name).is_some()
}

/// The tag of `memory_order_…`.
fn order_tag(name: &str) -> Option<&'static str> {
    Order::named(name.strip_prefix("memory_order_")?).map(Order::tag)
}

const SEQ_CST: &str = Order::SequentiallyConsistent.tag();

fn access(order: &str) -> Tags {
    Tags::new(["A", order])
}

fn update(order: &str) -> Tags {
    Tags::new(["A", "RMW", order])
}

/// What a compare-and-swap finds its expected value in.
enum Expected {
    Local(Variable),
    Memory(Pointer),
}

impl<'a> Lowering<'a> {
    /// A call of the library, if it has a function of that name.
    pub(super) fn atomic_call(
        &mut self,
        tree: &'a Tree,
        name: &str,
        args: &'a [Tree],
    ) -> Option<Lowered<Value>> {
        let (operation, explicit) = Operation::named(name)?;
        let operands = operation.operands();
        let orders = if explicit { operation.orders() } else { 0 };
        if let Err(error) = self.arity(tree, name, args, operands + orders) {
            return Some(Err(error));
        }
        let (operands, orders) = args.split_at(operands);
        Some(self.atomic_operation(tree, operation, operands, orders))
    }

    fn order(&self, tree: Option<&Tree>) -> Lowered<&'static str> {
        let Some(tree) = tree else {
            return Ok(SEQ_CST);
        };
        let found = match &tree.kind {
            ExprKind::Name(name) => order_tag(name),
            _ => None,
        };
        found.ok_or_else(|| self.error(tree.span, "expected one of the 'memory_order_…'"))
    }

    fn atomic_operation(
        &mut self,
        tree: &'a Tree,
        operation: Operation,
        operands: &'a [Tree],
        orders: &'a [Tree],
    ) -> Lowered<Value> {
        let order = self.order(orders.first())?;
        match (operation, operands) {
            (Operation::ThreadFence, _) => {
                self.at(tree);
                self.fence(order);
            }
            // Orders a thread against its own signal handlers only.
            (Operation::SignalFence, _) => {}
            (Operation::Load, [place]) => {
                let pointer = self.pointer(place)?;
                self.at(tree);
                return Ok(self.load(&pointer, access(order)));
            }
            (Operation::Store | Operation::Init, [place, value]) => {
                let pointer = self.pointer(place)?;
                let value = self.scalar(value)?;
                self.at(tree);
                let tags = match operation {
                    Operation::Init => self.plain(),
                    _ => access(order),
                };
                self.store(&pointer, value, tags);
            }
            (Operation::Update(op), [place, value]) => {
                let pointer = self.pointer(place)?;
                let value = self.scalar(value)?;
                self.at(tree);
                let tags = update(order);
                return Ok(self.update(&pointer, op, value, tags.clone(), tags));
            }
            (Operation::TestAndSet, [place]) => {
                let pointer = self.pointer(place)?;
                self.at(tree);
                let tags = update(order);
                let old = self.update(&pointer, RmwOp::Swap, Value::int(1), tags.clone(), tags);
                return Ok(Value::truth(old.condition()));
            }
            (Operation::Clear, [place]) => {
                let pointer = self.pointer(place)?;
                self.at(tree);
                self.store(&pointer, Value::int(0), access(order));
            }
            (Operation::CompareExchange { weak }, [place, expected, desired]) => {
                let failure = self.order(orders.get(1))?;
                let pointer = self.pointer(place)?;
                let expected = self.expected(expected)?;
                let desired = self.scalar(desired)?;
                self.at(tree);
                let orders = (order, failure);
                return self.compare_exchange(&pointer, expected, desired, weak, orders);
            }
            _ => {}
        }
        Ok(Value::void())
    }

    /// The second argument of a compare-and-swap: a pointer into shared memory, or the address
    /// of a local variable.
    fn expected(&mut self, tree: &'a Tree) -> Lowered<Expected> {
        if let ExprKind::AddressOf(inner) = &tree.kind
            && let ExprKind::Name(name) = &inner.kind
            && let Some(variable) = self.variable(name)
        {
            return Ok(Expected::Local(variable.clone()));
        }
        Ok(Expected::Memory(self.pointer(tree)?))
    }

    /// Where it fails, what it found goes to where the expected value came from.
    fn compare_exchange(
        &mut self,
        pointer: &Pointer,
        expected: Expected,
        desired: Value,
        weak: bool,
        (success, failure): (&str, &str),
    ) -> Lowered<Value> {
        let plain = self.plain();
        let wanted = match &expected {
            Expected::Local(variable) => Value::variable(variable),
            Expected::Memory(memory) => self.load(memory, plain.clone()),
        };
        let old = self.temp(self.size(pointer).bits());
        let cas = CompareAndSwap {
            expected: wanted,
            desired,
            read: update(success),
            write: update(success),
            fail: update(failure),
            weak,
        };
        let ok = self.compare_and_swap(old, pointer, cas);
        let found = self.loaded(old, pointer);
        self.either(
            ok.clone(),
            |_| Ok(()),
            |this| {
                match expected {
                    Expected::Local(variable) => this.set(&variable, found),
                    Expected::Memory(memory) => this.store(&memory, found, plain),
                }
                Ok(())
            },
        )?;
        Ok(Value::truth(ok.eq(Expr::constant(1, 1))))
    }
}
