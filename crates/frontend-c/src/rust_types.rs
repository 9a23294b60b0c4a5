//! What the objects of Rust are made of. rustc makes all local ones so many bytes (`alloca [16 x i8]`), and
//! copies whole objects as bytes. The pass and lowering would take them for that: addresses would be read in
//! parts, and what is written in part would be read as a whole. So each object gets the type that its
//! accesses have, and each copy a list of what it copies. What one function knows of an object others learn
//! by way of calls and copies (a flow without order, as of L. Andersen, 1994, but for types). What
//! nobody knows is words, as large as the alignment has them.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// Objects of more bytes are words all over, and longer copies have no list.
const LARGEST: u64 = 1024;

/// So often is what objects are made of handed on.
const MOST_ROUNDS: u32 = 24;

/// What is known of an object, by where it starts: how many bytes, and as which type.
type Parts<'t> = BTreeMap<u64, (u64, &'t str)>;

/// An object as one function sees it, and how far from its start.
type Place = (usize, u64);

/// A module in LLVM's textual form, with types for objects and lists for copies.
pub fn typed(text: &str) -> String {
    let mut flow = Flow::default();
    let functions = functions(text);
    for (number, lines) in functions.iter().enumerate() {
        flow.signature(number, lines[0]);
    }
    for (number, lines) in functions.iter().enumerate() {
        lines[1..].iter().for_each(|line| flow.define(number, line));
        lines[1..].iter().for_each(|line| flow.note_line(number, line));
    }
    flow.settle();
    flow.written(text)
}

/// The lines of each function that is defined.
fn functions(text: &str) -> Vec<Vec<&str>> {
    let mut functions: Vec<Vec<&str>> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        if line.starts_with("define ") {
            functions.push(Vec::new());
            is_open = true;
        }
        if let Some(function) = functions.last_mut().filter(|_| is_open) {
            function.push(line);
        }
        is_open &= line != "}";
    }
    functions
}

#[derive(Default)]
struct Flow<'t> {
    /// The parts of each object, and how large it is where that is known.
    objects: Vec<(Parts<'t>, Option<u64>)>,
    /// Names of each function that are addresses within objects.
    places: HashMap<(usize, &'t str), Place>,
    /// Functions by name, and the names of their parameters.
    functions: HashMap<&'t str, (usize, Vec<&'t str>)>,
    /// What functions return.
    returned: HashMap<usize, Vec<Place>>,
    /// Places from which on so many bytes are the same.
    links: Vec<(Place, Place, u64)>,
    /// Results of calls: of which function.
    results: Vec<(Place, usize)>,
}

impl<'t> Flow<'t> {
    fn signature(&mut self, number: usize, line: &'t str) {
        if let Some((name, args)) = callee(line) {
            self.functions.insert(name, (number, arguments(args)));
        }
    }

    /// Where a name leads; one that nothing is known of yet is the start of an object.
    fn place(&mut self, function: usize, name: &'t str) -> Option<Place> {
        if !name.starts_with('%') {
            return None;
        }
        Some(*self.places.entry((function, name)).or_insert_with(|| {
            self.objects.push((Parts::new(), None));
            (self.objects.len() - 1, 0)
        }))
    }

    fn define(&mut self, function: usize, line: &'t str) {
        if let Some((name, bytes, _)) = object(line) {
            self.objects.push((Parts::new(), Some(bytes)));
            self.places.insert((function, name), (self.objects.len() - 1, 0));
        } else if let Some((name, base, by)) = step(line)
            && let Some((object, at)) = self.place(function, base)
        {
            self.places.insert((function, name), (object, at.saturating_add(by)));
        }
    }

    fn note_line(&mut self, function: usize, line: &'t str) {
        if let Some((address, ty)) = access(line) {
            if let Some((object, at)) = self.place(function, address)
                && let Some(bytes) = size(ty)
            {
                // Truth values are bytes in memory.
                self.note(object, at, bytes, if ty == "i1" { "i8" } else { ty });
            }
        } else if let Some((to, from, bytes, _)) = copy(line) {
            if let (Some(to), Some(from)) = (self.place(function, to), self.place(function, from)) {
                self.links.push((to, from, bytes));
            }
        } else if let Some(value) = line.strip_prefix("  ret ptr ") {
            let place = self.place(function, until_comma(value));
            self.returned.entry(function).or_default().extend(place);
        } else if let Some((name, args)) = callee(line).filter(|_| line.contains("call ")) {
            self.call(function, line, name, args);
        }
    }

    fn call(&mut self, function: usize, line: &'t str, name: &str, args: &'t str) {
        let Some((callee, params)) = self.functions.get(name).cloned() else { return };
        for (arg, param) in arguments(args).into_iter().zip(params) {
            if let (Some(arg), Some(param)) = (self.place(function, arg), self.place(callee, param))
            {
                self.links.push((arg, param, LARGEST));
            }
        }
        if let Some((result, _)) = line.trim_start().split_once(" = ")
            && let Some(place) = self.place(function, result)
        {
            self.results.push((place, callee));
        }
    }

    /// Notes a part, in place of smaller ones within it, unless a larger one is known there.
    fn note(&mut self, object: usize, start: u64, bytes: u64, ty: &'t str) -> bool {
        let Some((parts, size)) = self.objects.get_mut(object) else { return false };
        let end = start.saturating_add(bytes);
        if end > size.unwrap_or(LARGEST) {
            return false;
        }
        let overlaps =
            |(at, (bytes, _)): &(&u64, &(u64, &str))| **at < end && start < **at + *bytes;
        let known: Vec<(u64, u64)> =
            parts.iter().filter(overlaps).map(|(at, (bytes, _))| (*at, *bytes)).collect();
        let is_within = |(at, size): &(u64, u64)| *at >= start && at + size <= end && *size < bytes;
        if !known.iter().all(is_within) {
            return false;
        }
        parts.retain(|at, _| !known.iter().any(|(within, _)| within == at));
        parts.insert(start, (bytes, ty));
        true
    }

    fn settle(&mut self) {
        for (place, callee) in std::mem::take(&mut self.results) {
            let of = self.returned.get(&callee).into_iter().flatten();
            self.links.extend(of.map(|returned| (place, *returned, LARGEST)));
        }
        let links = std::mem::take(&mut self.links);
        for _ in 0..MOST_ROUNDS {
            let mut is_new = false;
            for (one, other, bytes) in &links {
                is_new |= self.hand_on(*one, *other, *bytes);
                is_new |= self.hand_on(*other, *one, *bytes);
            }
            if !is_new {
                break;
            }
        }
    }

    /// Whether something new is known of the second.
    fn hand_on(&mut self, from: Place, to: Place, bytes: u64) -> bool {
        let end = from.1.saturating_add(bytes);
        let parts = self.objects[from.0].0.range(from.1..end);
        let parts = parts.filter(|(at, (size, _))| *at + size <= end);
        let parts: Vec<_> = parts.map(|(at, (size, ty))| (at - from.1, *size, *ty)).collect();
        let mut is_new = false;
        for (by, size, ty) in parts {
            is_new |= self.note(to.0, to.1.saturating_add(by), size, ty);
        }
        is_new
    }

    /// The module with what has been found.
    fn written(&mut self, text: &'t str) -> String {
        let mut lists = Lists::after(text);
        let mut result = String::with_capacity(text.len() * 5 / 4);
        let mut function = 0;
        for line in text.lines() {
            function += usize::from(line.starts_with("define "));
            let number = function.wrapping_sub(1);
            let line = match (object(line), copy(line)) {
                (Some((name, bytes, align)), _) => {
                    self.retyped(number, name, bytes, align).unwrap_or_else(|| line.to_string())
                }
                (None, Some(copy)) => match self.listed(number, copy) {
                    Some(list) => format!("{line}, !tbaa.struct !{}", lists.number(list)),
                    None => line.to_string(),
                },
                (None, None) => line.to_string(),
            };
            result.push_str(&line);
            result.push('\n');
        }
        result.push_str(&lists.nodes);
        result
    }

    /// The line that makes an object, with its type.
    fn retyped(&self, function: usize, name: &str, bytes: u64, align: u64) -> Option<String> {
        let (object, _) = self.places.get(&(function, name))?;
        let parts = &self.objects.get(*object)?.0;
        let ty = match parts.get(&0) {
            _ if parts.is_empty() || bytes > LARGEST => {
                let word = align.min(8);
                let is_words = word > 1 && bytes.is_multiple_of(word);
                is_words.then(|| format!("[{} x i{}]", bytes / word, 8 * word))?
            }
            Some((all, ty)) if *all == bytes => (*ty).to_string(),
            _ => {
                let fields = without_gaps(parts, 0, bytes, align);
                let fields: Vec<String> = fields.into_iter().map(|(_, _, ty)| ty).collect();
                format!("<{{ {} }}>", fields.join(", "))
            }
        };
        Some(format!("  {name} = alloca {ty}, align {align}"))
    }

    /// What a copy copies, where something is known of that.
    fn listed(
        &self,
        function: usize,
        (to, from, bytes, align): (&str, &str, u64, u64),
    ) -> Option<Vec<(u64, u64)>> {
        let known = |name: &str| {
            let (object, at) = *self.places.get(&(function, name))?;
            let parts = &self.objects.get(object)?.0;
            let count = parts.range(at..at + bytes).count();
            (count > 0).then_some((count, parts, at))
        };
        if bytes == 0 || bytes > LARGEST {
            return None;
        }
        let (_, parts, at) = known(to).into_iter().chain(known(from)).max_by_key(|it| it.0)?;
        let fields = without_gaps(parts, at, bytes, align).into_iter();
        Some(fields.map(|(start, bytes, _)| (start, bytes)).collect())
    }
}

/// The parts in a range of bytes, counted from its start, with words between them.
fn without_gaps(parts: &Parts<'_>, start: u64, bytes: u64, align: u64) -> Vec<(u64, u64, String)> {
    let mut fields = Vec::new();
    let mut at = 0;
    let within =
        parts.range(start..start + bytes).filter(|(at, (size, _))| **at + *size <= start + bytes);
    let ends = within.map(|(at, (size, ty))| (at - start, *size, *ty));
    for (next, size, ty) in ends.chain([(bytes, 0, "")]) {
        while at < next {
            let fits =
                |word: &u64| *word <= align.max(1) && at.is_multiple_of(*word) && at + word <= next;
            let word = [8, 4, 2].into_iter().find(fits).unwrap_or(1);
            fields.push((at, word, format!("i{}", 8 * word)));
            at += word;
        }
        if size > 0 {
            fields.push((next, size, ty.to_string()));
            at = next + size;
        }
    }
    fields
}

/// The lists of copies, as nodes of metadata.
struct Lists {
    first: u64,
    known: HashMap<Vec<(u64, u64)>, u64>,
    nodes: String,
}

impl Lists {
    /// With numbers that a module does not use. Each field needs a type that it is accessed as.
    fn after(text: &str) -> Lists {
        let ids = text
            .lines()
            .filter_map(|line| line.strip_prefix('!')?.split(' ').next()?.parse::<u64>().ok());
        let first = ids.max().unwrap_or(0).saturating_add(1);
        let [root, scalar, tag] = [0, 1, 2].map(|more| first.saturating_add(more));
        let nodes = format!(
            "!{root} = !{{!\"parallax\"}}\n!{scalar} = !{{!\"scalar\", !{root}, i64 0}}\n\
             !{tag} = !{{!{scalar}, !{scalar}, i64 0}}\n"
        );
        Lists { first, known: HashMap::new(), nodes }
    }

    fn number(&mut self, list: Vec<(u64, u64)>) -> u64 {
        let next = self.first.saturating_add(3 + self.known.len() as u64);
        let tag = self.first.saturating_add(2);
        if let Some(number) = self.known.get(&list) {
            return *number;
        }
        let fields = list.iter().map(|(at, bytes)| format!("i64 {at}, i64 {bytes}, !{tag}"));
        let fields: Vec<String> = fields.collect();
        // Writing to a string does not fail.
        let _ = writeln!(self.nodes, "!{next} = !{{{}}}", fields.join(", "));
        self.known.insert(list, next);
        next
    }
}

/// `  %x = alloca [16 x i8], align 8`
fn object(line: &str) -> Option<(&str, u64, u64)> {
    let (name, rest) = line.strip_prefix("  ")?.split_once(" = alloca [")?;
    let (bytes, align) = rest.split_once(" x i8], align ")?;
    let bytes = bytes.parse().ok().filter(|bytes| *bytes > 0)?;
    Some((name, bytes, align.parse().ok()?))
}

/// `  %y = getelementptr inbounds i8, ptr %x, i64 8`
fn step(line: &str) -> Option<(&str, &str, u64)> {
    let (name, rest) = line.strip_prefix("  ")?.split_once(" = getelementptr ")?;
    let (_, rest) = rest.split_once("i8, ptr ")?;
    let (base, by) = rest.split_once(", i64 ")?;
    Some((name, base, until_comma(by).parse().ok()?))
}

/// The address and the type of an access.
fn access(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("  ")?;
    let plain =
        |text: &'_ str| text.trim_start_matches("atomic ").trim_start_matches("volatile ").len();
    let (ty, address) = if let Some(rest) = line.strip_prefix("store ") {
        let rest = &rest[rest.len() - plain(rest)..];
        let (value, address) = rest.rsplit_once(", ptr ")?;
        (value.split(' ').next()?, address)
    } else if let Some((_, rest)) = line.split_once(" = load ") {
        let rest = &rest[rest.len() - plain(rest)..];
        rest.split_once(", ptr ")?
    } else {
        let (_, rest) = line.split_once(" = atomicrmw ")?;
        let (_, rest) = rest.split_once(" ptr ")?;
        let (address, operand) = rest.split_once(", ")?;
        (operand.split(' ').next()?, address)
    };
    Some((address.split([',', ' ']).next()?, ty))
}

/// A copy of so many bytes: where to, where from, and how the two are aligned.
fn copy(line: &str) -> Option<(&str, &str, u64, u64)> {
    let (_, rest) = line.split_once("@llvm.memcpy.p0.p0.i64(")?;
    let mut args = rest.split(", ");
    let mut end = || {
        let mut words = args.next()?.split(' ');
        let align = words.by_ref().skip_while(|word| *word != "align").nth(1);
        Some((words.next()?, align?.parse::<u64>().ok()?))
    };
    let ((to, one), (from, other)) = (end()?, end()?);
    let bytes = args.next()?.strip_prefix("i64 ")?.parse().ok()?;
    Some((to, from, bytes, one.min(other)))
}

/// The name of the function that a line calls or defines, and all that comes after the bracket.
fn callee(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(" @")?;
    let (name, args) = rest.split_once('(')?;
    (!name.contains([' ', ','])).then_some((name, args))
}

/// The last word of each argument or parameter, up to the bracket that closes.
fn arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' if depth > 0 => depth -= 1,
            ')' | ',' if depth == 0 => {
                found.push(text[start..at].trim().rsplit(' ').next().unwrap_or(""));
                start = at + 1;
                if c == ')' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

fn until_comma(text: &str) -> &str {
    text.split(',').next().unwrap_or(text)
}

/// How many bytes a scalar is of.
fn size(ty: &str) -> Option<u64> {
    match ty {
        "ptr" | "i64" | "double" => Some(8),
        "i32" | "float" => Some(4),
        "i16" => Some(2),
        "i8" | "i1" => Some(1),
        "i128" => Some(16),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_of_what_they_are_accessed_as() {
        let text = "define void @f(ptr %p) {\n  %a = alloca [24 x i8], align 8\n  \
                    %b = alloca [16 x i8], align 8\n  %c = alloca [8 x i8], align 4\n  \
                    %d = alloca [3 x i8], align 1\n  %e = alloca [8 x i8], align 8\n  \
                    store ptr %p, ptr %a, align 8\n  \
                    %1 = getelementptr inbounds i8, ptr %a, i64 12\n  \
                    %2 = load i32, ptr %1, align 4, !dbg !3\n  \
                    store atomic volatile i64 1, ptr %e seq_cst, align 8\n  \
                    call void @llvm.memcpy.p0.p0.i64(ptr align 8 %b, ptr align 8 %a, i64 16, i1 false), !dbg !3\n}\n\
                    !3 = !{}\n";
        let typed = typed(text);
        for line in [
            "%a = alloca <{ ptr, i32, i32, i64 }>, align 8",
            "%b = alloca <{ ptr, i32, i32 }>, align 8",
            "%c = alloca [2 x i32], align 4",
            "%d = alloca [3 x i8], align 1",
            "%e = alloca i64, align 8",
            "i64 16, i1 false), !dbg !3, !tbaa.struct !7",
            "!7 = !{i64 0, i64 8, !6, i64 8, i64 4, !6, i64 12, i64 4, !6}",
        ] {
            assert!(typed.contains(line), "{line}\n{typed}");
        }
    }

    #[test]
    fn functions_learn_from_those_that_they_call() {
        let text = "define ptr @make(ptr noundef align 4 dereferenceable(8) %x) {\n  \
                    %1 = call ptr @alloc(i64 8)\n  \
                    call void @llvm.memcpy.p0.p0.i64(ptr align 8 %1, ptr align 8 %x, i64 8, i1 false)\n  \
                    ret ptr %1\n}\n\
                    define void @f() {\n  %a = alloca [8 x i8], align 8\n  \
                    store i32 1, ptr %a, align 4\n  %r = call ptr @make(ptr align 8 %a), !dbg !3\n  \
                    %s = getelementptr inbounds i8, ptr %r, i64 4\n  \
                    %t = atomicrmw add ptr %s, i32 1 seq_cst, align 4\n}\n";
        let typed = typed(text);
        assert!(typed.contains("%a = alloca <{ i32, i32 }>, align 8"), "{typed}");
        assert!(typed.contains("= !{i64 0, i64 4, !3, i64 4, i64 4, !3}"), "{typed}");
    }
}
