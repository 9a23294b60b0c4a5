//! What the kernel's primitives do, in events.
//!
//! A fully ordered read-modify-write stands between two `Mb` fences; one that is conditional
//! only where it succeeds, and where it fails it is a single `Once` read. Whether it does is
//! known too late for the fence before it: we guess, and give up the executions in which the
//! guess was wrong. The same trick tags the read of `spin_is_locked` by what it will see.
//!
//! A spinlock is a word that holds 1 while the lock is taken. Taking it reads 0 (`LKR`) and
//! writes 1 (`LKW`) at once; there are no events for waiting. `synchronize_srcu` is a read of
//! its structure whose value no one looks at, so that it has a location.

use parallax_program::{Expr, InstKind, RmwOp, Tags};

use super::{Behind, Operand, Order, Outcome, Primitive, Target};
use crate::c::ast::{BinaryOp, Expr as Tree};
use crate::c::lower::{CompareAndSwap, Lowered, Lowering, Pointer, Value};

impl Order {
    /// Tags of the read and the write of a read-modify-write.
    fn tags(self) -> (Tags, Tags) {
        let (read, write) = match self {
            Order::Relaxed | Order::Full => ("Once", "Once"),
            Order::Acquire => ("Acquire", "Once"),
            Order::Release => ("Once", "Release"),
        };
        (atomic(read), atomic(write))
    }
}

fn atomic(tag: &str) -> Tags {
    Tags::new([tag, "RMW"])
}

fn zero_bit() -> Expr {
    Expr::constant(1, 0)
}

impl<'a> Lowering<'a> {
    /// A call of one of the kernel's primitives, if there is one of that name.
    pub(in crate::c) fn kernel_call(
        &mut self,
        tree: &'a Tree,
        name: &str,
        args: &'a [Tree],
    ) -> Option<Lowered<Value>> {
        let primitive = Primitive::named(name)?;
        let call = self.arity(tree, name, args, primitive.arity());
        Some(call.and_then(|()| self.primitive(tree, primitive, args)))
    }

    fn primitive(
        &mut self,
        tree: &'a Tree,
        primitive: Primitive,
        args: &'a [Tree],
    ) -> Lowered<Value> {
        match (primitive, args) {
            (Primitive::Fence(tag), _) => {
                self.fence(tag);
                Ok(Value::void())
            }
            (Primitive::Load(tag, target), [place]) => {
                let pointer = self.target(target, place)?;
                self.at(tree);
                Ok(self.load(&pointer, Tags::new([tag])))
            }
            (Primitive::Store(tag, target, behind), [place, value]) => {
                let pointer = self.target(target, place)?;
                let value = self.scalar(value)?;
                self.at(tree);
                self.store(&pointer, value, Tags::new([tag]));
                if behind == Behind::FullFence {
                    self.fence("Mb");
                }
                Ok(Value::void())
            }
            (Primitive::SynchronizeSrcu, [place]) => {
                let pointer = self.pointer(place)?;
                self.at(tree);
                self.load(&pointer, Tags::new(["Sync-srcu"]));
                Ok(Value::void())
            }
            (Primitive::Update { op, operand, result, order }, _) => {
                self.kernel_update(tree, op, operand, args, (result, order))
            }
            (Primitive::CompareExchange(order), [place, old, new]) => {
                let pointer = self.pointer(place)?;
                let old = self.scalar(old)?;
                let new = self.scalar(new)?;
                self.at(tree);
                self.kernel_compare_exchange(&pointer, old, new, order)
            }
            (Primitive::AddUnless, [place, added, unless]) => {
                let pointer = self.pointer(place)?;
                let added = self.scalar(added)?;
                let unless = self.scalar(unless)?;
                self.at(tree);
                self.add_unless(&pointer, added, unless)
            }
            (_, [place]) => {
                let pointer = self.pointer(place)?;
                self.at(tree);
                self.spinlock(primitive, &pointer)
            }
            _ => Ok(Value::void()),
        }
    }

    fn target(&mut self, target: Target, tree: &'a Tree) -> Lowered<Pointer> {
        match target {
            Target::Place => self.shared(tree),
            Target::Pointer => self.pointer(tree),
        }
    }

    fn kernel_update(
        &mut self,
        tree: &'a Tree,
        op: RmwOp,
        operand: Operand,
        args: &'a [Tree],
        (result, order): (Outcome, Order),
    ) -> Lowered<Value> {
        let (pointer, operand) = match (operand, args) {
            (Operand::First, [operand, place]) => {
                let operand = self.scalar(operand)?;
                (self.pointer(place)?, operand)
            }
            (Operand::Last, [place, operand]) => (self.pointer(place)?, self.scalar(operand)?),
            (_, [place, ..]) => (self.pointer(place)?, Value::int(1)),
            _ => return Ok(Value::void()),
        };
        self.at(tree);
        if result == Outcome::Nothing {
            self.update(&pointer, op, operand, atomic("Noreturn"), atomic("Once"));
            return Ok(Value::void());
        }
        let (read, write) = order.tags();
        let fenced = order == Order::Full;
        if fenced {
            self.fence("Mb");
        }
        let old = self.update(&pointer, op, operand.clone(), read, write);
        if fenced {
            self.fence("Mb");
        }
        if result == Outcome::Old {
            return Ok(old);
        }
        let ty = old.ty.clone();
        let binary = match op {
            RmwOp::Sub => BinaryOp::Sub,
            _ => BinaryOp::Add,
        };
        let new = old.binary(binary, operand).convert(&ty);
        Ok(match result {
            Outcome::NewIsZero => new.binary(BinaryOp::Eq, Value::int(0)),
            Outcome::NewIsNegative => new.binary(BinaryOp::Lt, Value::int(0)),
            Outcome::Nothing | Outcome::Old | Outcome::New => new,
        })
    }

    /// One bit that may be anything.
    fn guess(&mut self) -> Expr {
        let dst = self.temp(1);
        self.emit(InstKind::Nondet { dst });
        Expr::Var(dst)
    }

    fn assume(&mut self, condition: Expr) {
        self.emit(InstKind::Assume { condition });
    }

    fn kernel_compare_exchange(
        &mut self,
        pointer: &Pointer,
        expected: Value,
        desired: Value,
        order: Order,
    ) -> Lowered<Value> {
        let old = self.temp(self.size(pointer).bits());
        let attempt = |this: &mut Self| {
            let (read, write) = order.tags();
            let cas = CompareAndSwap {
                expected: expected.clone(),
                desired: desired.clone(),
                read,
                write,
                fail: atomic("Once"),
                weak: false,
            };
            this.compare_and_swap(old, pointer, cas)
        };
        if order == Order::Full {
            let succeeds = self.guess();
            self.either(
                succeeds,
                |this| {
                    this.fence("Mb");
                    let ok = attempt(this);
                    this.assume(ok);
                    this.fence("Mb");
                    Ok(())
                },
                |this| {
                    let ok = attempt(this);
                    this.assume(ok.eq(zero_bit()));
                    Ok(())
                },
            )?;
        } else {
            attempt(self);
        }
        Ok(self.loaded(old, pointer))
    }

    /// Adds where the value is not `unless`; gives back whether it did.
    fn add_unless(&mut self, pointer: &Pointer, added: Value, unless: Value) -> Lowered<Value> {
        let size = self.size(pointer);
        let old = self.temp(size.bits());
        let differs = self.loaded(old, pointer).binary(BinaryOp::Ne, unless);
        let new = self.loaded(old, pointer).binary(BinaryOp::Add, added);
        let new = self.stored(new, pointer);
        let adds = self.guess();
        let condition = differs.clone().condition();
        self.either(
            adds,
            |this| {
                this.fence("Mb");
                this.emit(InstKind::LoadLinked {
                    dst: old,
                    address: pointer.address.clone(),
                    size,
                    tags: atomic("Once"),
                });
                this.assume(condition.clone());
                let status = this.temp(1);
                this.emit(InstKind::StoreConditional {
                    status,
                    address: pointer.address.clone(),
                    value: new,
                    size,
                    tags: atomic("Once"),
                });
                this.assume(Expr::Var(status).eq(zero_bit()));
                this.fence("Mb");
                Ok(())
            },
            |this| {
                this.load_into(old, pointer, atomic("Once"));
                this.assume(condition.clone().eq(zero_bit()));
                Ok(())
            },
        )?;
        Ok(differs)
    }

    fn spinlock(&mut self, primitive: Primitive, lock: &Pointer) -> Lowered<Value> {
        match primitive {
            Primitive::SpinLock => {
                let taken = self.try_lock(lock);
                self.assume(taken);
                Ok(Value::void())
            }
            Primitive::SpinTryLock => {
                let taken = self.try_lock(lock);
                Ok(Value::truth(taken.ne(zero_bit())))
            }
            Primitive::SpinIsLocked => self.is_locked(lock),
            _ => {
                self.store(lock, Value::int(0), Tags::new(["UL"]));
                Ok(Value::void())
            }
        }
    }

    fn try_lock(&mut self, lock: &Pointer) -> Expr {
        let old = self.temp(self.size(lock).bits());
        let cas = CompareAndSwap {
            expected: Value::int(0),
            desired: Value::int(1),
            read: Tags::new(["LK", "LKR"]),
            write: Tags::new(["LK", "LKW"]),
            fail: Tags::new(["LF"]),
            weak: false,
        };
        self.compare_and_swap(old, lock, cas)
    }

    fn is_locked(&mut self, lock: &Pointer) -> Lowered<Value> {
        let word = self.temp(self.size(lock).bits());
        let locked = self.loaded(word, lock).condition();
        let guess = self.guess();
        self.either(
            guess,
            |this| {
                this.load_into(word, lock, Tags::new(["RL"]));
                this.assume(locked.clone());
                Ok(())
            },
            |this| {
                this.load_into(word, lock, Tags::new(["RU"]));
                this.assume(locked.clone().eq(zero_bit()));
                Ok(())
            },
        )?;
        Ok(Value::truth(locked))
    }
}
