//! Local objects that must stay in memory.
//!
//! The pass that puts local variables into registers takes for granted that a program does nothing
//! undefined: an access beyond an object it drops, and in a register nothing is aligned or not. So only
//! those objects may go into registers of which each access is seen to be within bounds and aligned.
//! An object whose address is stored somewhere can be accessed by way of what is loaded there, and
//! after its life has ended; it stays. So does one whose address is one of several.
//!
//! Clang does not mark where lives end of variables that a jump leads past the declaration of, and of
//! compound literals. Where the address of one in an inner block is stored, what is found there
//! later is not known.

use std::collections::{HashMap, HashSet};

use parallax_program::SourceFile;

use crate::llvm::{
    self, Block, Call, Function, Instruction, MetadataId, Module, Name, Node, Operation, Type,
    Typed, Value,
};
use crate::lower::Layout;

/// What is to be marked in a function.
#[derive(Default)]
pub struct Kept {
    /// Objects that stay in memory.
    pub in_memory: HashSet<Name>,
    /// Those of them whose address is in something that lives longer.
    pub outlived: HashSet<Name>,
    /// Stores of addresses of objects whose end is not marked: where they are in the text, and the place
    /// in the source.
    pub unended: HashMap<u32, MetadataId>,
}

/// For each function that a module defines, in order. Of a module that cannot be read nothing is
/// known; reading what the pass makes of it says why.
pub fn objects(text: &str) -> Vec<Kept> {
    let Ok(module) = llvm::parse(&SourceFile::new("module.ll", text)) else {
        return Vec::new();
    };
    let Ok(layout) = Layout::new(&module) else {
        return Vec::new();
    };
    let defined = module.functions.iter().filter(|function| !function.blocks.is_empty());
    defined.map(|function| Objects::new(&module, &layout, function).kept()).collect()
}

const START: &str = "llvm.lifetime.start";
const END: &str = "llvm.lifetime.end";

/// The object that a mark of a life is about.
fn marked<'i>(instruction: &'i Instruction, mark: &str) -> Option<&'i Name> {
    let Operation::Call(call) = &instruction.operation else { return None };
    match (&call.callee, &call.args.get(1)?.value.value) {
        (Value::Global(name), Value::Local(object)) if name.starts_with(mark) => Some(object),
        _ => None,
    }
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
    module: &'m Module,
    layout: &'m Layout<'m>,
    function: &'m Function,
    objects: HashMap<Name, Object>,
    places: HashMap<Name, Place>,
}

impl<'m> Objects<'m> {
    fn new(module: &'m Module, layout: &'m Layout<'m>, function: &'m Function) -> Objects<'m> {
        let (objects, places) = (HashMap::new(), HashMap::new());
        let mut found = Objects { module, layout, function, objects, places };
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

    fn kept(&self) -> Kept {
        let mut kept = Kept::default();
        for instruction in self.instructions() {
            kept.in_memory.extend(self.misused(instruction));
            if let Operation::Store { address, value, .. } = &instruction.operation
                && let Some(Place { object, .. }) = self.place(&value.value)
            {
                kept.in_memory.insert(object.clone());
                let holder = self.place(address).map(|place| &place.object);
                if !holder.is_some_and(|holder| self.end_together(object, holder)) {
                    kept.outlived.insert(object.clone());
                }
                if self.end_is_lost(object)
                    && let Some(debug) = instruction.debug
                {
                    kept.unended.insert(instruction.start, debug);
                }
            }
        }
        kept
    }

    /// Objects that an instruction may access in a way that a register would not show.
    fn misused(&self, instruction: &Instruction) -> Vec<Name> {
        let align = u64::from(instruction.align.unwrap_or(1));
        let access = |address: &Value, ty: &Type| {
            let outside = |place: &&Place| !self.holds(place, self.bytes(ty), align);
            self.place(address).filter(outside).map(|place| place.object.clone())
        };
        let any = |values: &[&Value]| {
            let places = values.iter().filter_map(|value| self.place(value));
            places.map(|place| place.object.clone()).collect()
        };
        match &instruction.operation {
            Operation::Load { address, ty, .. } => access(address, ty).into_iter().collect(),
            Operation::Store { address, value, .. } => {
                access(address, &value.ty).into_iter().collect()
            }
            Operation::Rmw { address, operand, .. } => {
                access(address, &operand.ty).into_iter().collect()
            }
            Operation::CompareExchange(exchange) => {
                access(&exchange.address, &exchange.expected.ty).into_iter().collect()
            }
            Operation::Call(call) => self.filled_beyond(call),
            Operation::Phi { incoming, .. } => {
                any(&incoming.iter().map(|(value, _)| value).collect::<Vec<_>>())
            }
            Operation::Select { then, otherwise, .. } => any(&[&then.value, &otherwise.value]),
            _ => Vec::new(),
        }
    }

    /// Whether the life of an object ends where that of another does, wherever it ends.
    fn end_together(&self, object: &Name, holder: &Name) -> bool {
        let together = |block: &Block| {
            let ends: Vec<Option<&Name>> =
                block.instructions.iter().map(|i| marked(i, END)).collect();
            let mut runs = ends.split(|end| end.is_none());
            runs.all(|run| !run.contains(&Some(object)) || run.contains(&Some(holder)))
        };
        self.function.blocks.iter().all(together)
    }

    /// Whether an object is one of an inner block, and nothing says where its life ends.
    fn end_is_lost(&self, object: &Name) -> bool {
        let is_marked = || self.instructions().any(|i| marked(i, START) == Some(object));
        let is_object = |value: &Value| matches!(value, Value::Local(name) if name == object);
        let declared = self.instructions().find_map(|instruction| match &instruction.operation {
            Operation::Debug { value: Some(typed), variable, declares: true }
                if is_object(&typed.value) =>
            {
                self.module.node((*variable)?)
            }
            _ => None,
        });
        // A compound literal is there from where it is first written.
        let written = || {
            let is_write = |i: &&Instruction| match &i.operation {
                Operation::Store { address, .. } => {
                    self.place(address).is_some_and(|place| place.object == *object)
                }
                Operation::Call(call) => call.args.iter().any(|arg| is_object(&arg.value.value)),
                _ => false,
            };
            self.module.node(self.instructions().find(is_write)?.debug?)
        };
        let scope = |node: &Node| self.module.target(node.field("scope")).cloned();
        let scope = declared.or_else(written).and_then(scope);
        scope.is_some_and(|scope| scope.kind.starts_with("DILexicalBlock")) && !is_marked()
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
