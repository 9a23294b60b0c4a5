//! Accesses to shared memory.

use parallax_program::{AccessSize, Expr, InstKind, RmwOp, Tags, VarId};

use super::places::Pointer;
use super::{Lowering, Value};
use crate::c::types::CType;

/// What a compare-and-swap compares with and stores, and how its events are tagged.
pub struct CompareAndSwap {
    pub expected: Value,
    pub desired: Value,
    pub read: Tags,
    pub write: Tags,
    pub fail: Tags,
    pub weak: bool,
}

impl<'a> Lowering<'a> {
    /// Tags of a plain access.
    pub fn plain(&self) -> Tags {
        if self.unit.kernel { Tags::none() } else { Tags::new(["NA"]) }
    }

    /// How much memory an access through this pointer touches: the whole location where it is
    /// known which one, or where all are alike.
    pub fn size(&self, pointer: &Pointer) -> AccessSize {
        let own = match (&pointer.address, &pointer.target) {
            (Expr::Address(global), _) => {
                let declared = self.unit.globals.declared(*global);
                declared.and_then(|ty| AccessSize::from_bytes(ty.bytes))
            }
            (_, CType::Lock | CType::Srcu) => None,
            _ => self.unit.cell,
        };
        own.or(pointer.target.size()).unwrap_or(AccessSize::WORD)
    }

    pub fn load(&mut self, pointer: &Pointer, tags: Tags) -> Value {
        let dst = self.temp(self.size(pointer).bits());
        self.load_into(dst, pointer, tags)
    }

    /// A load into a variable as wide as the access; the value is in the pointer's type.
    pub fn load_into(&mut self, dst: VarId, pointer: &Pointer, tags: Tags) -> Value {
        let size = self.size(pointer);
        self.emit(InstKind::Load { dst, address: pointer.address.clone(), size, tags });
        self.loaded(dst, pointer)
    }

    /// What a variable that an access has filled holds, in the type of the pointer.
    pub fn loaded(&self, var: VarId, pointer: &Pointer) -> Value {
        let signed = pointer.target.signed();
        let width = self.size(pointer).bits();
        let raw = Value::new(Expr::Var(var), CType::Int { width, signed });
        let ty = match &pointer.target {
            CType::Lock | CType::Srcu => &CType::INT,
            target => target,
        };
        Value::new(raw.resize(ty.width()), ty.clone())
    }

    /// A value as an access through this pointer stores it.
    pub fn stored(&self, value: Value, pointer: &Pointer) -> Expr {
        let size = self.size(pointer).bits();
        match &pointer.target {
            CType::Lock | CType::Srcu => value.resize(size),
            target => value.convert(target).resize(size),
        }
    }

    pub fn store(&mut self, pointer: &Pointer, value: Value, tags: Tags) {
        self.note_conversion(&value.ty, &pointer.target);
        let value = self.stored(value, pointer);
        self.emit(InstKind::Store {
            address: pointer.address.clone(),
            value,
            size: self.size(pointer),
            tags,
        });
    }

    pub fn fence(&mut self, tag: &str) {
        let tags = Tags::new([tag]);
        self.emit(InstKind::Fence { tags });
    }

    /// An atomic update; gives back what was there before.
    pub fn update(
        &mut self,
        pointer: &Pointer,
        op: RmwOp,
        operand: Value,
        read: Tags,
        write: Tags,
    ) -> Value {
        let size = self.size(pointer);
        let dst = self.temp(size.bits());
        let operand = self.stored(operand, pointer);
        self.emit(InstKind::Rmw {
            dst: Some(dst),
            address: pointer.address.clone(),
            op,
            operand,
            size,
            read_tags: read,
            write_tags: write,
        });
        self.loaded(dst, pointer)
    }

    /// Compare and swap into `old`, as wide as the access; gives back whether it succeeded.
    pub fn compare_and_swap(&mut self, old: VarId, pointer: &Pointer, cas: CompareAndSwap) -> Expr {
        let ok = self.temp(1);
        let expected = self.stored(cas.expected, pointer);
        let desired = self.stored(cas.desired, pointer);
        self.emit(InstKind::Cas {
            dst: Some(old),
            ok: Some(ok),
            address: pointer.address.clone(),
            expected,
            desired,
            size: self.size(pointer),
            read_tags: cas.read,
            write_tags: cas.write,
            fail_tags: cas.fail,
            weak: cas.weak,
        });
        Expr::Var(ok)
    }
}
