//! The objects of a program while it runs: where they are, what they hold at first, and how
//! people call them.

use std::collections::{BTreeMap, HashMap};

use parallax_machine::{Code, Concrete, Extent, Site};
use parallax_program::{AllocKind, Bits, FunctionId, InstKind, Program, Shape};

use super::own_line;

pub(crate) struct Objects<'p> {
    program: &'p Program,
    /// By first address; living and dead ones.
    objects: BTreeMap<u64, Object<'p>>,
    /// Initial values other than zero, by address.
    contents: BTreeMap<u64, Bits>,
    /// The same for what nobody has written.
    unwritten: BTreeMap<u64, Bits>,
    /// How many objects were called the same.
    namesakes: HashMap<String, u32>,
}

pub(super) struct Object<'p> {
    pub(super) size: u64,
    name: String,
    shape: Option<&'p Shape>,
    /// Whether it is a section, whose parts people call by their own names.
    is_section: bool,
    /// None for globals.
    pub(super) kind: Option<AllocKind>,
    pub(super) is_freed: bool,
    pub(super) is_constant: bool,
    /// Whether it holds anything before it is written.
    is_defined: bool,
}

impl<'p> Objects<'p> {
    pub(crate) fn new(code: &Code<'p>, unwritten: &[(u64, Bits)]) -> Self {
        let program = code.program;
        let mut objects = BTreeMap::new();
        let mut contents = BTreeMap::new();
        for (global, start) in program.globals.iter().zip(code.addresses()) {
            for cell in &global.init {
                let value = code.evaluate(&cell.value, &[], &mut Concrete);
                contents.insert(start.wrapping_add(cell.offset), value);
            }
            let object = Object {
                size: global.size,
                name: global.name.clone(),
                shape: global.shape.as_ref(),
                is_section: global.address.is_some(),
                kind: None,
                is_freed: false,
                is_constant: global.constant,
                is_defined: true,
            };
            objects.insert(*start, object);
        }
        let unwritten = unwritten.iter().copied().collect();
        Objects { program, objects, contents, unwritten, namesakes: HashMap::new() }
    }

    /// A new object, made by the innermost of these calls. The result is its name.
    pub(super) fn alloc(
        &mut self,
        code: &Code<'p>,
        sites: &[Site],
        address: u64,
        size: u64,
        align: u32,
    ) -> Result<String, String> {
        let made = sites.last().and_then(|site| {
            let function = code.program.function(site.function);
            let block = function.blocks.get(site.block.0 as usize)?;
            match &block.insts.get(site.index as usize)?.kind {
                InstKind::Alloc { kind, shape, dst, zeroed, .. } => {
                    Some((function, *kind, shape, *dst, *zeroed))
                }
                _ => None,
            }
        });
        let (function, kind, shape, dst, is_defined) = made.ok_or("there is no allocation here")?;
        self.check_room(address, size, align)?;
        let shape = shape.as_deref();
        let variable = function.vars.get(dst.0 as usize).map(|var| var.name.as_str());
        let base = match (kind, variable) {
            (AllocKind::Stack, Some(variable)) if !variable.starts_with('%') => {
                format!("{}::{variable}", function.name)
            }
            (AllocKind::Stack, _) => at_place(code, sites, shape, "local"),
            (AllocKind::Heap, _) => at_place(code, sites, shape, "malloc"),
        };
        let name = self.distinct(base);
        let kind = Some(kind);
        let object = Object {
            size,
            name: name.clone(),
            shape,
            is_section: false,
            kind,
            is_freed: false,
            is_constant: false,
            is_defined,
        };
        self.objects.insert(address, object);
        Ok(name)
    }

    fn distinct(&mut self, base: String) -> String {
        let count = self.namesakes.entry(base.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { base } else { format!("{base}#{count}") }
    }

    /// Whether an object can be there: somewhere, aligned, and apart from all others.
    fn check_room(&self, address: u64, size: u64, align: u32) -> Result<(), String> {
        let end = address.checked_add(size.max(1) - 1);
        let highest = Bits::signed(self.program.pointer_width, -1).unsigned();
        let end = end.filter(|end| u128::from(*end) <= highest);
        let end = end.ok_or_else(|| format!("{size} bytes at {address:#x} are too many"))?;
        if address == 0 {
            return Err("an object at address 0".to_string());
        }
        if !address.is_multiple_of(u64::from(align.max(1))) {
            return Err(format!("{address:#x} is not aligned to {align}"));
        }
        if let Some((start, object)) = self.objects.range(..=end).next_back()
            && start.saturating_add(object.size.max(1) - 1) >= address
        {
            return Err(format!("the object at {address:#x} overlaps {}", object.name));
        }
        let reserved = |first: u64, last: u64| address <= last && first <= end;
        let code = |number| self.program.function_address(FunctionId(number)).unsigned() as u64;
        let (first, last) = (code(0), code(self.program.functions.len() as u32));
        let life = |number| Program::thread_address(number);
        if reserved(first, last) || reserved(life(0), life(Program::MOST_THREADS) - 1) {
            return Err(format!("no object can be at {address:#x}"));
        }
        Ok(())
    }

    /// Ends the life of an object, or leaves 0 alone. The result is its name.
    pub(super) fn free(&mut self, address: u64, kind: AllocKind) -> Result<String, String> {
        if address == 0 {
            return Ok("0".to_string());
        }
        let object = self.objects.get_mut(&address).filter(|object| object.kind == Some(kind));
        let object = object.ok_or_else(|| format!("{address:#x} cannot be freed"))?;
        if object.is_freed {
            return Err(format!("{} was freed before", object.name));
        }
        object.is_freed = true;
        Ok(object.name.clone())
    }

    /// The object that a byte is of, and where that starts.
    pub(super) fn covering(&self, address: u64) -> Option<(u64, &Object<'p>)> {
        let (start, object) = self.objects.range(..=address).next_back()?;
        (address - start < object.size).then_some((*start, object))
    }

    /// The object that a byte is of, or behind.
    pub(super) fn extent(&self, address: u64) -> Option<Extent> {
        let (start, object) = self.objects.range(..=address).next_back()?;
        Some(Extent {
            start: *start,
            size: object.size,
            is_freed: object.is_freed,
            is_constant: object.is_constant,
            is_alone: object.kind.is_some(),
        })
    }

    /// Whether a place holds anything before it is written.
    pub(super) fn is_defined(&self, address: u64) -> bool {
        self.covering(address).is_none_or(|(_, object)| object.is_defined)
    }

    /// The size of a living heap object, by its first address.
    pub(super) fn heap_size(&self, address: u64) -> Option<u64> {
        let object = self.objects.get(&address)?;
        let lives = object.kind == Some(AllocKind::Heap) && !object.is_freed;
        lives.then_some(object.size)
    }

    /// What some bytes hold at first; what nobody has written, as it is claimed.
    pub(crate) fn initial(&self, address: u64, bytes: u32) -> Bits {
        let byte = |at: u32| self.initial_byte(address.wrapping_add(u64::from(at)));
        (1..bytes).fold(byte(0), |low, at| byte(at).concat(low))
    }

    fn initial_byte(&self, address: u64) -> Bits {
        let is_defined = self.is_defined(address);
        let contents = if is_defined { &self.contents } else { &self.unwritten };
        let cell = contents.range(..=address).next_back();
        let inside = cell.filter(|(start, value)| address - *start < u64::from(value.width() / 8));
        match inside {
            Some((start, value)) => value.extract((address - start) as u32 * 8, 8),
            None => Bits::zero(8).unless(!is_defined),
        }
    }

    /// How people call what is at an address.
    pub(super) fn place(&self, address: u64) -> Option<String> {
        let (start, object) = self.objects.range(..=address).next_back()?;
        let offset = address - start;
        if offset >= object.size.max(1) {
            return None;
        }
        let part = object.shape.unwrap_or(&Shape::Scalar).name(offset);
        match part.strip_prefix('.').filter(|_| object.is_section) {
            Some(part) => Some(part.to_string()),
            None => Some(format!("{}{part}", object.name)),
        }
    }

    /// A value as people write it: a signed number, or what it points to.
    pub(super) fn show(&self, value: Bits) -> String {
        let number = value.to_signed();
        if value.width() == 1 {
            return value.unsigned().to_string();
        }
        if value.width() < self.program.pointer_width {
            return number.to_string();
        }
        if let Some(function) = self.program.function_at(value) {
            return format!("&{}", self.program.function(function).name);
        }
        let address = u64::try_from(value.unsigned()).ok();
        if let Some(object) = address.and_then(|address| self.objects.get(&address))
            && !object.is_section
        {
            return format!("&{}", object.name);
        }
        if let Some(place) = address.and_then(|address| self.place(address)) {
            return format!("&{place}");
        }
        match i64::from(i32::MIN) as i128 <= number && number <= i128::from(u32::MAX) {
            true => number.to_string(),
            false => format!("{:#x}", value.unsigned()),
        }
    }
}

/// `node@queue.c:12`.
fn at_place(code: &Code<'_>, sites: &[Site], shape: Option<&Shape>, otherwise: &str) -> String {
    let what = shape.and_then(type_name).unwrap_or(otherwise);
    let Some(place) = own_line(code, sites).0 else {
        return what.to_string();
    };
    let file = place.file.rsplit(['/', '\\']).next().unwrap_or(&place.file);
    format!("{what}@{file}:{}", place.line)
}

/// What a type is called in the source.
fn type_name(shape: &Shape) -> Option<&str> {
    match shape {
        Shape::Scalar => None,
        Shape::Array { element, .. } => type_name(element),
        Shape::Struct { name, .. } => (!name.is_empty()).then_some(name),
    }
}
