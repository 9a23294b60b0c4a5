//! Local objects that must stay in memory.
//!
//! The pass that puts local variables into registers takes for granted that a program does nothing
//! undefined: an access beyond an object it drops, and in a register nothing is aligned or not. So only
//! those objects may go into registers of which each access is seen to be within bounds and aligned.
//! An object whose address is stored somewhere can be accessed by way of what is loaded there, and
//! after its life has ended; it stays. So does one whose address is one of several.

use std::collections::{HashMap, HashSet};

use parallax_program::SourceFile;

use crate::llvm::{self, Call, Function, Instruction, Name, Operation, Type, Typed, Value};
use crate::lower::Layout;

/// For each function that a module defines, in order, the names of the objects that stay. Of a module
/// that cannot be read nothing is known; reading what the pass makes of it says why.
pub fn objects(text: &str) -> Vec<HashSet<Name>> {
    let Ok(module) = llvm::parse(&SourceFile::new("module.ll", text)) else {
        return Vec::new();
    };
    let Ok(layout) = Layout::new(&module) else {
        return Vec::new();
    };
    let defined = module.functions.iter().filter(|function| !function.blocks.is_empty());
    defined.map(|function| Objects::new(&layout, function).kept()).collect()
}

/// A local object: its bytes, and what its address is a multiple of.
#[derive(Clone, Copy)]
struct Object {
    bytes: u64,
    align: u64,
}

/// An address within an object, if it is at a constant distance from its start.
#[derive(Clone)]
struct Place {
    object: Name,
    offset: Option<u64>,
}

struct Objects<'m> {
    layout: &'m Layout<'m>,
    function: &'m Function,
    objects: HashMap<Name, Object>,
    places: HashMap<Name, Place>,
}

impl<'m> Objects<'m> {
    fn new(layout: &'m Layout<'m>, function: &'m Function) -> Objects<'m> {
        let (objects, places) = (HashMap::new(), HashMap::new());
        let mut found = Objects { layout, function, objects, places };
        found.instructions().for_each(|instruction| found.begin(instruction));
        // As far as the longest chain of steps, which clang writes in their order.
        loop {
            let known = found.places.len();
            found.instructions().for_each(|instruction| found.step(instruction));
            if found.places.len() == known {
                return found;
            }
        }
    }

    fn instructions(&self) -> impl Iterator<Item = &'m Instruction> + use<'m> {
        self.function.blocks.iter().flat_map(|block| &block.instructions)
    }

    fn begin(&mut self, instruction: &Instruction) {
        if let (Some(name), Operation::Alloca { ty, count: None, align }) =
            (&instruction.result, &instruction.operation)
            && let (Ok(bytes), Ok(natural)) = (self.layout.size(ty), self.layout.align(ty))
        {
            let align = align.map_or(natural, u64::from);
            self.objects.insert(name.clone(), Object { bytes, align });
            let place = Place { object: name.clone(), offset: Some(0) };
            self.places.insert(name.clone(), place);
        }
    }

    fn step(&mut self, instruction: &Instruction) {
        if let (Some(name), Operation::Gep { element, base, indices }) =
            (&instruction.result, &instruction.operation)
            && let Some(from) = self.place(&base.value)
        {
            let distance = self.distance(element, indices);
            let offset = from.offset.zip(distance).and_then(|(at, by)| at.checked_add_signed(by));
            let object = from.object.clone();
            // Where the distance is known, the place is before the object.
            let is_outside = from.offset.is_some() && distance.is_some() && offset.is_none();
            let offset = if is_outside { Some(u64::MAX) } else { offset };
            self.places.insert(name.clone(), Place { object, offset });
        }
    }

    fn place(&self, value: &Value) -> Option<&Place> {
        match value {
            Value::Local(name) => self.places.get(name),
            _ => None,
        }
    }

    /// How far constant indices lead.
    fn distance(&self, element: &Type, indices: &[Typed]) -> Option<i64> {
        let number = |index: &Typed| match &index.value {
            Value::Int(number) => i64::try_from(*number as i128).ok(),
            _ => None,
        };
        let size = |ty: &Type| self.layout.size(ty).ok().and_then(|size| i64::try_from(size).ok());
        let (first, rest) = indices.split_first()?;
        let mut distance = number(first)?.checked_mul(size(element)?)?;
        let mut ty = self.layout.resolve(element).clone();
        for index in rest {
            let number = number(index)?;
            let (by, part) = match &ty {
                Type::Array(_, part) | Type::Vector(_, part) => {
                    (number.checked_mul(size(part)?)?, part.as_ref())
                }
                Type::Struct { packed, fields } => {
                    let offsets = self.layout.field_offsets(*packed, fields).ok()?;
                    let field = usize::try_from(number).ok()?;
                    (i64::try_from(*offsets.get(field)?).ok()?, fields.get(field)?)
                }
                _ => return None,
            };
            distance = distance.checked_add(by)?;
            ty = self.layout.resolve(part).clone();
        }
        Some(distance)
    }

    fn kept(&self) -> HashSet<Name> {
        let mut kept = HashSet::new();
        for instruction in self.instructions() {
            let align = u64::from(instruction.align.unwrap_or(1));
            let mut access = |address: &Value, ty: &Type| {
                let outside = |place: &&Place| !self.holds(place, self.bytes(ty), align);
                kept.extend(self.place(address).filter(outside).map(|place| place.object.clone()));
            };
            match &instruction.operation {
                Operation::Load { address, ty, .. } => access(address, ty),
                Operation::Store { address, value, .. } => {
                    access(address, &value.ty);
                    kept.extend(self.place(&value.value).map(|place| place.object.clone()));
                }
                Operation::Rmw { address, operand, .. } => access(address, &operand.ty),
                Operation::CompareExchange(exchange) => {
                    access(&exchange.address, &exchange.expected.ty);
                }
                Operation::Call(call) => kept.extend(self.filled_beyond(call)),
                Operation::Phi { incoming, .. } => {
                    let places = incoming.iter().filter_map(|(value, _)| self.place(value));
                    kept.extend(places.map(|place| place.object.clone()));
                }
                Operation::Select { then, otherwise, .. } => {
                    let both = [&then.value, &otherwise.value].into_iter();
                    let places = both.filter_map(|value| self.place(value));
                    kept.extend(places.map(|place| place.object.clone()));
                }
                _ => {}
            }
        }
        kept
    }

    /// Objects that copying, or filling, goes beyond.
    fn filled_beyond(&self, call: &Call) -> Vec<Name> {
        let Value::Global(name) = &call.callee else {
            return Vec::new();
        };
        let places = match name.as_ref() {
            name if name.starts_with("llvm.memset") => 1,
            name if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") => 2,
            _ => return Vec::new(),
        };
        // Where it is not known how many, the pass leaves the object alone.
        let bytes = match call.args.get(2).map(|arg| &arg.value.value) {
            Some(Value::Int(bytes)) => u64::try_from(*bytes).ok(),
            _ => return Vec::new(),
        };
        let places = call.args.iter().take(places).filter_map(|arg| self.place(&arg.value.value));
        let beyond = places.filter(|place| !self.holds(place, bytes, 1));
        beyond.map(|place| place.object.clone()).collect()
    }

    /// Whether an access is within its object, and aligned. One at a distance that is not known stays in
    /// memory anyway.
    fn holds(&self, place: &Place, bytes: Option<u64>, align: u64) -> bool {
        let (Some(offset), Some(object)) = (place.offset, self.objects.get(&place.object)) else {
            return true;
        };
        let end = bytes.and_then(|bytes| offset.checked_add(bytes));
        let is_aligned = offset.is_multiple_of(align) && object.align >= align;
        end.is_some_and(|end| end <= object.bytes) && is_aligned
    }

    /// How many bytes an access of a type is of, without those that fill it up in an array.
    fn bytes(&self, ty: &Type) -> Option<u64> {
        match self.layout.width(ty) {
            Ok(bits) => Some(u64::from(bits.div_ceil(8))),
            Err(_) => self.layout.size(ty).ok(),
        }
    }
}
