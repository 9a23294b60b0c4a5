//! How people call what is in memory, and what they mean by a name.

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_machine::Code;
use parallax_program::{Bits, Global, Program, Shape};

/// An object that a thread has made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    pub address: u64,
    pub name: String,
    pub shape: Option<Arc<Shape>>,
}

/// Bytes in memory that somebody asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    pub name: String,
    pub address: u64,
    /// Bytes.
    pub size: u64,
    pub shape: Option<Shape>,
}

pub struct Names<'p> {
    program: &'p Program,
    addresses: Vec<u64>,
    /// The numbers of the globals, by address.
    order: Vec<usize>,
    made: BTreeMap<u64, (Made, u64)>,
    /// What threads that were started run.
    threads: BTreeMap<u32, String>,
}

impl<'p> Names<'p> {
    pub fn new(code: &Code<'p>) -> Names<'p> {
        let addresses = code.addresses().to_vec();
        let mut order: Vec<usize> = (0..addresses.len()).collect();
        order.sort_by_key(|number| addresses.get(*number).copied());
        Names {
            program: code.program,
            addresses,
            order,
            made: BTreeMap::new(),
            threads: BTreeMap::new(),
        }
    }

    /// An object was made that has so many bytes.
    pub fn add(&mut self, made: Made, size: u64) {
        self.made.insert(made.address, (made, size));
    }

    pub fn thread(&self, number: u32) -> String {
        let start = self.program.threads.get(number as usize);
        match (start, self.threads.get(&number)) {
            (Some(start), _) => start.name.clone(),
            (None, Some(function)) => format!("{function}#{number}"),
            (None, None) => format!("#{number}"),
        }
    }

    /// A thread has come to its first function.
    pub fn name_thread(&mut self, number: u32, function: &str) {
        self.threads.entry(number).or_insert_with(|| function.to_string());
    }

    fn global(&self, number: usize) -> Option<(u64, &'p Global)> {
        Some((*self.addresses.get(number)?, self.program.globals.get(number)?))
    }

    /// The global that an address is in.
    fn global_at(&self, address: u64) -> Option<(u64, &'p Global)> {
        let after =
            self.order.partition_point(|number| self.addresses.get(*number) <= Some(&address));
        let (start, global) = self.global(*self.order.get(after.checked_sub(1)?)?)?;
        (address - start < global.size.max(1)).then_some((start, global))
    }

    /// How people call what is at an address, if that has a name.
    pub fn place(&self, address: u64) -> Option<String> {
        if let Some((start, global)) = self.global_at(address) {
            let part = global.shape.as_ref().unwrap_or(&Shape::Scalar).name(address - start);
            // The parts of a section are called by their own names.
            return Some(match part.strip_prefix('.') {
                Some(part) if global.address.is_some() => part.to_string(),
                _ => format!("{}{part}", global.name),
            });
        }
        let (start, (made, size)) = self.made.range(..=address).next_back()?;
        let offset = address - start;
        let part = made.shape.as_deref().unwrap_or(&Shape::Scalar).name(offset);
        (offset < (*size).max(1)).then(|| format!("{}{part}", made.name))
    }

    /// What an object that starts there is called, if a thread has made it.
    pub fn base(&self, address: u64) -> Option<&str> {
        self.made.get(&address).map(|(made, _)| made.name.as_str())
    }

    /// The same, or the address.
    pub fn place_or_address(&self, address: u64) -> String {
        self.place(address).unwrap_or_else(|| format!("{address:#x}"))
    }

    /// A value as people write it: a signed number, or what it points to.
    pub fn value(&self, value: Bits) -> String {
        let number = value.to_signed();
        if value.width() == 1 {
            return value.unsigned().to_string();
        }
        if value.width() < self.program.pointer_width {
            return number.to_string();
        }
        let address = u64::try_from(value.unsigned()).ok();
        if let Some(place) = address.and_then(|address| self.place(address)) {
            return format!("&{place}");
        }
        if let Some(function) = self.program.function_at(value) {
            return format!("&{}", self.program.function(function).name);
        }
        match i128::from(i32::MIN) <= number && number <= i128::from(u32::MAX) {
            true => number.to_string(),
            false => format!("{:#x}", value.unsigned()),
        }
    }

    /// What a name such as `x`, `queue.head` or `slots[2].next` stands for. `function` is where the
    /// person is, whose own objects come first.
    pub fn resolve(&self, path: &str, function: Option<&str>) -> Option<Target> {
        let end = path.find(['.', '[']).filter(|end| *end > 0).unwrap_or(path.len());
        let (base, rest) = path.split_at_checked(end)?;
        let base = self.local(base, function).or_else(|| self.global_named(base))?;
        follow(base, rest).map(|target| Target { name: path.to_string(), ..target })
    }

    fn local(&self, name: &str, function: Option<&str>) -> Option<Target> {
        let own = function.map(|function| format!("{function}::{name}"));
        let is_it = |made: &Made| made.name == name || Some(&made.name) == own.as_ref();
        let (made, size) = self.made.values().rev().find(|(made, _)| is_it(made))?;
        let shape = made.shape.as_deref().cloned();
        Some(Target { name: name.to_string(), address: made.address, size: *size, shape })
    }

    fn global_named(&self, name: &str) -> Option<Target> {
        let globals = (0..self.addresses.len()).filter_map(|number| self.global(number));
        let mut part = None;
        for (address, global) in globals {
            let whole = Target {
                name: name.to_string(),
                address,
                size: global.size,
                shape: global.shape.clone(),
            };
            if global.name == name {
                return Some(whole);
            }
            if part.is_none() && global.address.is_some() {
                part = follow(whole, &format!(".{name}"));
            }
        }
        part
    }

    /// All globals that are no parts of machine code and not constant, by address.
    pub fn variables(&self) -> impl Iterator<Item = (u64, &'p Global)> {
        let globals = self.order.iter().filter_map(|number| self.global(*number));
        globals.filter(|(_, global)| !global.constant)
    }
}

/// A part of a part of an object.
fn follow(target: Target, path: &str) -> Option<Target> {
    let mut target = target;
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (index, behind) = after.split_once(']')?;
            let index: u64 = index.trim().parse().ok()?;
            let Shape::Array { element, stride, count } = target.shape? else {
                return None;
            };
            let address = target.address.checked_add(index.checked_mul(stride)?)?;
            let size = stride;
            target = (index < count).then_some(Target {
                address,
                size,
                shape: Some(*element),
                ..target
            })?;
            rest = behind;
        } else {
            let after = rest.strip_prefix('.')?;
            let Shape::Struct { fields, .. } = target.shape? else {
                return None;
            };
            // A name may itself have dots in it: the longest that fits.
            let fits = |name: &str| {
                after
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let fitting = fields.into_iter().filter(|field| fits(&field.name));
            let field = fitting.max_by_key(|field| field.name.len())?;
            rest = after.get(field.name.len()..)?;
            let address = target.address.checked_add(field.offset)?;
            target = Target { address, size: field.size, shape: Some(field.shape), ..target };
        }
    }
    Some(target)
}
