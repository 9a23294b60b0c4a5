//! From the text of a proof to the graph. Whatever is wrong with a text is an error with its place.

mod executions;

use std::sync::Arc;

use parallax_machine::Site;
use parallax_machine::system::Entry;
use parallax_program::{
    AllocKind, Bits, BlockId, Diagnostics, FunctionId, Property, SourceFile, Span,
};
use parallax_solver::{Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

use super::terms::{BINARY, UNARY};
use super::{Edge, Header, Node, Proof, VERSION};
use crate::block::{Blocks, Decision};
use crate::control::{At, Local, Object, Stores, process};
use crate::declarative::leaving::Leaving;
use crate::places::{FORGOTTEN, FORGOTTEN_OPEN, Place, PlaceId};

/// What is deeper inside of parentheses is refused.
const DEEPEST: u32 = 500;
const MOST_THREADS: u32 = 64;
/// No place is beyond.
const LAST_ADDRESS: u64 = 1 << 62;

type Result<T> = std::result::Result<T, Problem>;

/// What is wrong, and with which word.
struct Problem {
    message: String,
    span: Span,
}

#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    start: usize,
}

/// The words of one line.
struct Line<'t> {
    words: Vec<Word<'t>>,
    at: usize,
    end: usize,
}

impl<'t> Line<'t> {
    fn new(line: &'t str, start: usize) -> Line<'t> {
        let line = line.split(';').next().unwrap_or("");
        let mut words = Vec::new();
        let mut from = None;
        for (at, c) in line.char_indices() {
            let is_sign = c == '(' || c == ')';
            if c.is_whitespace() || is_sign {
                if let Some(from) = from.take() {
                    words.push(Word { text: &line[from..at], start: start + from });
                }
                if is_sign {
                    words.push(Word { text: &line[at..at + 1], start: start + at });
                }
            } else if from.is_none() {
                from = Some(at);
            }
        }
        if let Some(from) = from {
            words.push(Word { text: &line[from..], start: start + from });
        }
        Line { words, at: 0, end: start + line.len() }
    }

    fn is_over(&self) -> bool {
        self.at >= self.words.len()
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T> {
        let last = self.at.checked_sub(1).and_then(|at| self.words.get(at));
        let span = last.map_or(Span::new(self.end, self.end), |word| {
            Span::new(word.start, word.start + word.text.len())
        });
        Err(Problem { message: message.into(), span })
    }

    fn word(&mut self) -> Result<&'t str> {
        let word = self.words.get(self.at).map(|word| word.text);
        self.at += 1;
        match word {
            Some(word) => Ok(word),
            None => self.wrong("the line ends too early"),
        }
    }

    fn accept(&mut self, wanted: &str) -> bool {
        let is_it = self.words.get(self.at).is_some_and(|word| word.text == wanted);
        self.at += usize::from(is_it);
        is_it
    }

    fn keyword(&mut self, wanted: &str) -> Result<()> {
        match self.word()? {
            word if word == wanted => Ok(()),
            _ => self.wrong(format!("expected '{wanted}'")),
        }
    }

    fn number(&mut self) -> Result<u128> {
        let word = self.word()?;
        let number = match word.strip_prefix("0x") {
            Some(digits) => u128::from_str_radix(digits, 16),
            None => word.parse(),
        };
        number.or_else(|_| self.wrong("expected a number"))
    }

    fn small<T: TryFrom<u128>>(&mut self) -> Result<T> {
        let number = self.number()?;
        T::try_from(number).or_else(|_| self.wrong("the number is too large"))
    }

    fn below(&mut self, most: usize, what: &str) -> Result<usize> {
        let number = self.small::<usize>()?;
        if number < most { Ok(number) } else { self.wrong(format!("there is no such {what}")) }
    }

    fn thread(&mut self) -> Result<u32> {
        self.below(MOST_THREADS as usize, "thread").map(|number| number as u32)
    }

    /// A thread, or the buffer of one.
    fn process(&mut self) -> Result<u32> {
        if self.accept("buffer") {
            return Ok(process::of_buffer(self.thread()?));
        }
        self.thread()
    }

    /// Address and size of an access.
    fn range(&mut self) -> Result<(u64, u8)> {
        let address = self.address()?;
        match self.small::<u8>()? {
            bytes @ 1..=16 => Ok((address, bytes)),
            _ => self.wrong("an access has 1 to 16 bytes"),
        }
    }

    fn address(&mut self) -> Result<u64> {
        let address = self.small::<u64>()?;
        if address < LAST_ADDRESS { Ok(address) } else { self.wrong("no address is that large") }
    }

    fn finish(&mut self) -> Result<()> {
        if self.is_over() {
            return Ok(());
        }
        self.at += 1;
        self.wrong("there is too much in this line")
    }

    fn constant(&mut self) -> Result<Bits> {
        let word = self.word()?;
        let (digits, radix, bits) = match word.get(..2) {
            Some("#x") => (&word[2..], 16, 4),
            Some("#b") => (&word[2..], 2, 1),
            _ => return self.wrong("expected a constant, such as #x00000001"),
        };
        let width = digits.len() as u32 * bits;
        match u128::from_str_radix(digits, radix) {
            Ok(value) if width <= Bits::MAX_WIDTH => Ok(Bits::new(width, value)),
            _ => self.wrong("no such constant"),
        }
    }
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split('\n').filter_map(move |line| {
        let words = Line::new(line, start);
        start += line.len() + 1;
        (!words.words.is_empty()).then_some(words)
    })
}

fn explained<T>(name: &str, text: &str, found: Result<T>) -> std::result::Result<T, Diagnostics> {
    let place =
        |problem: Problem| vec![SourceFile::new(name, text).error(problem.span, problem.message)];
    found.map_err(place)
}

/// What a proof is about.
pub fn header(name: &str, text: &str) -> std::result::Result<Header, Diagnostics> {
    explained(name, text, head(&mut lines(text)))
}

fn next<'t>(all: &mut impl Iterator<Item = Line<'t>>, keyword: &str) -> Result<Line<'t>> {
    let Some(mut line) = all.next() else {
        let message = format!("the text ends before '{keyword}'");
        return Err(Problem { message, span: Span::default() });
    };
    line.keyword(keyword)?;
    Ok(line)
}

fn head<'t>(all: &mut impl Iterator<Item = Line<'t>>) -> Result<Header> {
    let mut line = next(all, "parallax-proof")?;
    if line.word()? != VERSION {
        return line.wrong(format!("this is no proof of version {VERSION}"));
    }
    line.finish()?;
    let mut line = next(all, "program")?;
    let program = line.small()?;
    line.finish()?;
    let mut line = next(all, "model")?;
    let model = line.word()?.to_string();
    let has_graphs = line.accept("graphs");
    line.finish()?;
    let mut line = next(all, "properties")?;
    let mut properties = Vec::new();
    while !line.is_over() {
        match Property::named(line.word()?) {
            Some(property) => properties.push(property),
            None => return line.wrong("there is no such property"),
        }
    }
    let mut line = next(all, "inputs")?;
    let nondet = match line.accept("any") {
        true => None,
        false => {
            let mut end = || match line.word()?.parse::<i128>() {
                Ok(number) => Ok(number),
                Err(_) => line.wrong("expected a number"),
            };
            Some((end()?, end()?))
        }
    };
    line.finish()?;
    Ok(Header { program, model, has_graphs, properties, nondet })
}

/// The graph of a proof. Its places and terms are those of the edges.
pub fn proof(
    name: &str,
    text: &str,
    blocks: &mut Blocks<'_>,
) -> std::result::Result<Proof, Diagnostics> {
    let mut all = lines(text);
    let mut reader = Reader {
        blocks,
        places: FxHashMap::default(),
        terms: FxHashMap::default(),
        edges: FxHashSet::default(),
        references: Vec::new(),
        proof: Proof {
            roots: Vec::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            predicates: Vec::new(),
        },
        has_ended: false,
        has_graph: false,
    };
    let found = head(&mut all).and_then(|_| {
        for mut line in all {
            reader.line(&mut line)?;
        }
        reader.finish(text)
    });
    explained(name, text, found)?;
    Ok(reader.proof)
}

struct Reader<'r, 't, 'p> {
    blocks: &'r mut Blocks<'p>,
    places: FxHashMap<&'t str, PlaceId>,
    terms: FxHashMap<&'t str, Term>,
    edges: FxHashSet<(usize, u32, Vec<Decision>)>,
    /// Numbers of nodes, and where they stand.
    references: Vec<(usize, Span)>,
    proof: Proof,
    has_ended: bool,
    /// Whether the execution of the last node has begun.
    has_graph: bool,
}

impl<'t> Reader<'_, 't, '_> {
    fn line(&mut self, line: &mut Line<'t>) -> Result<()> {
        let keyword = line.word()?;
        if self.has_ended {
            return line.wrong("the proof has ended");
        }
        match keyword {
            "child" => self.child(line)?,
            "shared" => {
                let context = line.small()?;
                self.blocks.shared.insert(context);
            }
            "piece" => {
                let address = line.address()?;
                self.piece(line, address)?;
            }
            "buffers" => {
                let most = line.below(64, "size of a buffer")? as u32;
                self.blocks.most_stores = most.max(1);
            }
            "track" | "use" | "enters" => self.memory(keyword, line)?,
            "place" => self.place(line)?,
            "let" => {
                let name = line.word()?;
                let term = self.term(line, 0)?;
                if !name.starts_with('$') || self.terms.insert(name, term).is_some() {
                    return line.wrong("names are new, and begin with $");
                }
            }
            "predicate" => {
                self.next_number(line, self.proof.predicates.len())?;
                let term = self.term(line, 0)?;
                if self.blocks.values.terms.width(term) != 1 {
                    return line.wrong("this is no condition");
                }
                self.proof.predicates.push(term);
            }
            "root" => {
                let node = self.reference(line)?;
                self.proof.roots.push(node);
            }
            "node" => {
                self.next_number(line, self.proof.nodes.len())?;
                self.proof.nodes.push(Node::default());
                self.has_graph = false;
            }
            "edge" => self.edge(line)?,
            "end" => self.has_ended = true,
            _ => self.part(keyword, line)?,
        }
        line.finish()
    }

    fn finish(&self, text: &str) -> Result<()> {
        if let Some((_, span)) = self.references.iter().find(|it| it.0 >= self.proof.nodes.len()) {
            return Err(Problem { message: "there is no such node".to_string(), span: *span });
        }
        if self.has_ended {
            return Ok(());
        }
        let span = Span::new(text.len(), text.len());
        Err(Problem { message: "the text ends before 'end'".to_string(), span })
    }

    fn next_number(&self, line: &mut Line<'t>, wanted: usize) -> Result<()> {
        match line.small::<usize>()? {
            number if number == wanted => Ok(()),
            _ => line.wrong(format!("the next number is {wanted}")),
        }
    }

    /// The number of a node that may come later.
    fn reference(&mut self, line: &mut Line<'t>) -> Result<usize> {
        let node = line.small::<usize>()?;
        let word = line.words[line.at - 1];
        self.references.push((node, Span::new(word.start, word.start + word.text.len())));
        Ok(node)
    }

    fn child(&mut self, line: &mut Line<'t>) -> Result<()> {
        let (number, parent) = (line.thread()?, line.thread()?);
        let place = line.small()?;
        if let Some(memory) = &mut self.blocks.graphs {
            memory.uses.note_start(parent, number);
        }
        match self.blocks.child(parent, place) == number {
            true => Ok(()),
            false => line.wrong("threads have the numbers in which they are named"),
        }
    }

    fn piece(&mut self, line: &mut Line<'t>, address: u64) -> Result<PlaceId> {
        let bytes = line.small::<u8>()?;
        if !(1..=16).contains(&bytes) {
            return line.wrong("a piece has 1 to 16 bytes");
        }
        let Blocks { places, values, .. } = &mut *self.blocks;
        match places.pieces(&mut values.terms, address, u64::from(bytes))[..] {
            [only]
                if places.place(only) == (Place::Memory { address, bytes }) && !places.is_cut =>
            {
                Ok(only)
            }
            _ => line.wrong("this overlaps with another piece"),
        }
    }

    fn function(&self, line: &Line<'t>, name: &str) -> Result<FunctionId> {
        let functions = &self.blocks.code.program.functions;
        let found = match name.strip_prefix('@') {
            Some(number) => number.parse().ok().filter(|number| *number < functions.len()),
            None => functions.iter().position(|function| function.name == name),
        };
        match found {
            Some(number) => Ok(FunctionId(number as u32)),
            None => line.wrong("the program has no such function"),
        }
    }

    fn place(&mut self, line: &mut Line<'t>) -> Result<()> {
        let name = line.word()?;
        let id = match line.word()? {
            "memory" => {
                let address = line.address()?;
                self.piece(line, address)?
            }
            "local" => {
                let (thread, depth) = (line.thread()?, line.below(1 << 16, "call")? as u32);
                let function = line.word()?;
                let function = self.function(line, function)?;
                let count = self.blocks.code.program.function(function).vars.len();
                let var = line.below(count, "variable")? as u32;
                self.blocks.local(thread, depth, function, var)
            }
            "stored" => {
                let (thread, range) = (line.thread()?, line.range()?);
                let nth = line.below(1 << 8, "store")? as u32;
                let Blocks { places, values, .. } = &mut *self.blocks;
                places.stored(&mut values.terms, thread, range, nth)
            }
            "written" => {
                let thread = line.thread()?;
                let address = line.address()?;
                let before = match () {
                    () if line.accept("forgotten") => FORGOTTEN,
                    () if line.accept("open") => FORGOTTEN_OPEN,
                    () => line.below(1 << 8, "write")? as u32,
                };
                let Blocks { places, values, .. } = &mut *self.blocks;
                match places.written(&mut values.terms, thread, address, before) {
                    Some(id) => id,
                    None => return line.wrong("there is no such piece of memory"),
                }
            }
            _ => return line.wrong("expected 'memory', 'local', 'stored' or 'written'"),
        };
        let is_reserved = name.starts_with("#") || name == "(" || name == ")";
        if is_reserved || self.places.insert(name, id).is_some() {
            return line.wrong("this is no name for a place, or there is one already");
        }
        Ok(())
    }

    fn term(&mut self, line: &mut Line<'t>, depth: u32) -> Result<Term> {
        if depth > DEEPEST {
            return line.wrong("the term is too deep");
        }
        if line.accept("(") {
            let term = self.operator(line, depth + 1)?;
            line.keyword(")")?;
            return Ok(term);
        }
        let word = line.word()?;
        if word.starts_with('#') {
            line.at -= 1;
            let bits = line.constant()?;
            return Ok(self.blocks.values.terms.constant(bits));
        }
        if let Some(term) = self.terms.get(word) {
            return Ok(*term);
        }
        match self.places.get(word) {
            Some(id) => Ok(self.blocks.places.term(*id)),
            None => line.wrong("there is no such place"),
        }
    }

    fn operator(&mut self, line: &mut Line<'t>, depth: u32) -> Result<Term> {
        let word = line.word()?;
        if let Some((op, _)) = UNARY.iter().find(|(_, name)| *name == word) {
            let value = self.term(line, depth)?;
            return match op.takes(self.terms().width(value)) {
                true => Ok(self.terms().unary(*op, value)),
                false => line.wrong("the operand is too wide or not wide enough"),
            };
        }
        if let Some((op, _)) = BINARY.iter().find(|(_, name)| *name == word) {
            let (left, right) = (self.term(line, depth)?, self.term(line, depth)?);
            let (width, other) = (self.terms().width(left), self.terms().width(right));
            if width != other || op.is_float() && !matches!(width, 32 | 64) {
                return line.wrong("the operands are too wide or not wide enough");
            }
            return Ok(self.terms().binary(*op, left, right));
        }
        match word {
            "extract" => {
                let (low, width) = (line.small::<u32>()?, line.small::<u32>()?);
                let value = self.term(line, depth)?;
                let whole = self.terms().width(value);
                match width >= 1 && low.checked_add(width).is_some_and(|end| end <= whole) {
                    true => Ok(self.terms().extract(value, low, width)),
                    false => line.wrong("there are no such bits"),
                }
            }
            "concat" => {
                let (high, low) = (self.term(line, depth)?, self.term(line, depth)?);
                let width = self.terms().width(high) + self.terms().width(low);
                match width <= Bits::MAX_WIDTH {
                    true => Ok(self.terms().concat(high, low)),
                    false => line.wrong("the result is too wide"),
                }
            }
            "zero-extend" | "sign-extend" => {
                let width = line.small::<u32>()?;
                let value = self.term(line, depth)?;
                if width < self.terms().width(value) || width > Bits::MAX_WIDTH {
                    return line.wrong("the result is too wide or not wide enough");
                }
                match word {
                    "zero-extend" => Ok(self.terms().zero_extend(value, width)),
                    _ => Ok(self.terms().sign_extend(value, width)),
                }
            }
            "ite" => {
                let condition = self.term(line, depth)?;
                let (then, otherwise) = (self.term(line, depth)?, self.term(line, depth)?);
                let terms = self.terms();
                match terms.width(condition) == 1 && terms.width(then) == terms.width(otherwise) {
                    true => Ok(terms.select(condition, then, otherwise)),
                    false => line.wrong("the operands are too wide or not wide enough"),
                }
            }
            _ => line.wrong("there is no such operator"),
        }
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.blocks.values.terms
    }

    /// A line that says something of the last node.
    fn part(&mut self, keyword: &str, line: &mut Line<'t>) -> Result<()> {
        if matches!(keyword, "graph" | "event" | "waits" | "joined" | "before" | "inside") {
            return self.graph(keyword, line);
        }
        let covered = if keyword == "covered" { Some(self.reference(line)?) } else { None };
        let number = match keyword {
            "thread" => {
                let (number, local) = self.thread(line)?;
                let Some(node) = self.proof.nodes.last_mut() else {
                    return line.wrong("there is no node yet");
                };
                let threads = &mut node.control.threads;
                if threads.len() <= number as usize {
                    threads.resize(number as usize + 1, None);
                }
                if threads[number as usize].replace(Arc::new(local)).is_some() {
                    return line.wrong("the thread is there already");
                }
                return Ok(());
            }
            "value" => {
                let place = line.word()?;
                let Some(id) = self.places.get(place).copied() else {
                    return line.wrong("there is no such place");
                };
                let bits = line.constant()?;
                let width = self.blocks.values.terms.width(self.blocks.places.term(id));
                if bits.width() != width {
                    return line.wrong(format!("the place has {width} bits"));
                }
                Some((id, bits))
            }
            _ => None,
        };
        let predicates = self.proof.predicates.len();
        let Some(node) = self.proof.nodes.last_mut() else {
            return line.wrong("there is no node yet, and no such line");
        };
        match keyword {
            "value" => {
                if let Some((id, bits)) = number
                    && node.values.insert(id, bits).is_some()
                {
                    return line.wrong("the place has a value already");
                }
            }
            "covered" if node.covered.is_none() => node.covered = covered,
            "section" if node.control.section.is_none() => {
                node.control.section = Some(line.thread()?);
            }
            "object" => node.control.add(object(line)?),
            "holds" | "fails" => {
                let number = line.below(predicates, "predicate")?;
                node.facts.push((number, keyword == "holds"));
            }
            "expands" => {
                while !line.is_over() {
                    let process = line.process()?;
                    node.expands.push(process);
                }
            }
            _ => return line.wrong("there is no such line here"),
        }
        Ok(())
    }

    fn thread(&mut self, line: &mut Line<'t>) -> Result<(u32, Local)> {
        let number = line.thread()?;
        let at = match line.word()? {
            "block" => At::Block,
            "operation" => At::Operation,
            "pending" => At::Pending,
            "ended" => At::Ended,
            _ => return line.wrong("expected 'block', 'operation', 'pending' or 'ended'"),
        };
        line.keyword("children")?;
        let (children, stores) = (line.small()?, Stores::default());
        let mut local = Local { stack: Vec::new(), at, children, held: Vec::new(), stores };
        while line.accept("held") {
            local.held.push(line.small()?);
        }
        self.stores(line, &mut local.stores)?;
        while line.accept("at") {
            let word = line.word()?;
            let mut parts = word.rsplitn(3, ':');
            let index = parts.next().and_then(|it| it.parse().ok());
            let block = parts.next().and_then(|it| it.parse().ok());
            let (Some(index), Some(block), Some(name)) = (index, block, parts.next()) else {
                return line.wrong("expected FUNCTION:BLOCK:INSTRUCTION");
            };
            let function = self.function(line, name)?;
            local.stack.push(Site { function, block: BlockId(block), index });
        }
        Ok((number, local))
    }

    /// What a thread has stored and others do not see.
    fn stores(&mut self, line: &mut Line<'t>, stores: &mut Stores) -> Result<()> {
        loop {
            if line.accept("blurred") {
                stores.blurred.push(line.range()?);
            } else if line.accept("store") {
                let (address, bytes) = line.range()?;
                let is_release = line.accept("release");
                stores.buffer.push(Entry::Store { address, bytes, value: (), is_release });
            } else if line.accept("barrier") {
                stores.buffer.push(Entry::Barrier);
            } else if line.accept("start") {
                let (child, function) = (line.thread()?, line.word()?);
                let (function, args) = (self.function(line, function)?, [].into());
                stores.buffer.push(Entry::Spawn { child, function, args });
            } else {
                return Ok(());
            }
        }
    }

    fn edge(&mut self, line: &mut Line<'t>) -> Result<()> {
        let (from, thread) = (self.reference(line)?, line.process()?);
        let mut trail = Vec::new();
        loop {
            if line.accept("side") {
                trail.push(Decision::Side(line.small()?));
            } else if line.accept("number") {
                trail.push(Decision::Number(line.number()?));
            } else if line.accept("inside") {
                trail.push(Decision::Inside(line.small()?));
            } else if line.accept("outside") {
                trail.push(Decision::Outside(line.small()?));
            } else if line.accept("keeps") {
                trail.push(Decision::Keeps(line.below(2, "answer")? == 1));
            } else if line.accept("stops") {
                trail.push(Decision::Stops(line.below(2, "answer")? == 1));
            } else if line.accept("flush") {
                trail.push(Decision::Flush(line.small()?));
            } else if line.accept("again") {
                trail.push(Decision::Again(line.small()?));
            } else if line.accept("drained") {
                trail.push(Decision::Drained);
            } else {
                break;
            }
        }
        let mut leaving = Leaving::default();
        while line.accept("gone") {
            let id = executions::id(line)?;
            let is_open = line.accept("open");
            if is_open || line.accept("forgotten") {
                leaving.lost.push((id, is_open));
            }
            leaving.gone.insert(id);
        }
        let mut to = Vec::new();
        while line.accept("to") {
            to.push(self.reference(line)?);
        }
        if to.is_empty() {
            return line.wrong("the step leads nowhere");
        }
        if !self.edges.insert((from, thread, trail.clone())) {
            return line.wrong("the step is there already");
        }
        self.proof.edges.push(Edge { from, thread, trail, leaving, to });
        Ok(())
    }
}

fn object(line: &mut Line<'_>) -> Result<Object> {
    let (address, size) = (line.address()?, line.address()?);
    let kind = match line.word()? {
        "heap" => AllocKind::Heap,
        "stack" => AllocKind::Stack,
        _ => return line.wrong("expected 'heap' or 'stack'"),
    };
    let owner = line.thread()?;
    let context = line.small()?;
    let zeroed = line.accept("zeroed");
    let is_private = line.accept("private");
    let is_freed = line.accept("freed");
    Ok(Object { address, size, kind, zeroed, owner, context, is_private, is_freed })
}
