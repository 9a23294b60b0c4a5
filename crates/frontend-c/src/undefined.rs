//! Local variables that are given no value, marked before any pass of LLVM sees them.
//!
//! LLVM may take an undefined value for whichever is most convenient: of a variable that is 1 on one
//! way and undefined on the other it says that it is 1. That is right for a compiler and wrong for a
//! verifier, since the program does something else when it runs. So each local variable gets the
//! result of a call that nobody knows anything about, where its life begins. What is left of these
//! calls after the pass is what a program really reads before it writes; lowering gives it any
//! value.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use crate::driver::Language;
use crate::kept::{self, Kept};
use crate::llvm::MetadataId;

/// How the functions are called that give such values.
pub const PREFIX: &str = "parallax.undefined";

/// What is called for objects that stay in memory …
const KEPT: &str = "parallax.undefined.kept";

/// … for those of them whose address may be used after their end …
pub const OUTLIVED: &str = "parallax.undefined.outlived";

/// … and where the address of one is stored whose end is not marked.
pub const UNENDED: &str = "parallax.undefined.unended";

/// What is attached to a store that says no more than that a variable is declared: clang attaches it to
/// none, and the pass keeps it where it takes a store apart.
pub const MARK: &str = "noalias";

/// What a module has in which clang says which types are accessed. The pass may leave none of the
/// accesses of which it did.
pub const TYPED: &str = "parallax.typed";

/// A scope, as the verifier of LLVM wants it.
const SCOPE: &str = "!{!{!\"parallax.declared\", !{!\"parallax\"}}}";

/// Objects of more scalars are not taken apart.
const MOST_SCALARS: u64 = 64;

/// Types nest at most this deep.
const MAX_DEPTH: u32 = 20;

/// A module in LLVM's textual form, as clang writes it, with marks.
pub fn marked(text: &str, language: Language) -> String {
    let (types, functions) = (named_types(text), Vec::new());
    let mut marks = Marks { language, types, functions, count: 0 };
    let mut result = String::with_capacity(text.len() * 5 / 4);
    let mut kept = kept::objects(text).into_iter();
    let start = |line: &str| line.as_ptr().addr() - text.as_ptr().addr();
    let mut rest = text.lines();
    while let Some(line) = rest.next() {
        if !line.starts_with("define ") {
            let _ = writeln!(result, "{line}");
            continue;
        }
        let mut function = vec![line];
        for line in rest.by_ref() {
            function.push(line);
            if line == "}" {
                break;
            }
        }
        marks.function(&function, &kept.next().unwrap_or_default(), &start, &mut result);
    }
    for (number, ty) in marks.functions.iter().enumerate() {
        let _ = writeln!(result, "declare {ty} @{PREFIX}.{number}()");
    }
    let _ = writeln!(result, "declare void @{KEPT}(ptr)\ndeclare void @{OUTLIVED}(ptr)");
    let _ = writeln!(result, "declare void @{UNENDED}()");
    if text.contains("!tbaa") {
        let _ = writeln!(result, "!{TYPED} = !{{}}");
    }
    result
}

struct Marks<'t> {
    language: Language,
    /// What the types are that have names.
    types: HashMap<&'t str, &'t str>,
    /// The type of each function that gives a value.
    functions: Vec<&'t str>,
    count: u32,
}

impl<'t> Marks<'t> {
    fn function(
        &mut self,
        lines: &[&'t str],
        kept: &Kept,
        start: &dyn Fn(&str) -> usize,
        result: &mut String,
    ) {
        let objects: HashMap<&str, &str> = lines.iter().filter_map(|line| object(line)).collect();
        let scoped: HashSet<&str> = lines.iter().filter_map(|line| begins(line)).collect();
        let plain = |name: &'t str| name.trim_start_matches('%').trim_matches('"');
        let is_kept = |name: &'t str| kept.in_memory.contains(plain(name));
        for line in lines {
            let at = start(line.trim_start());
            if let Some(MetadataId(place)) =
                u32::try_from(at).ok().and_then(|at| kept.unended.get(&at))
            {
                let _ = writeln!(result, "  call void @{UNENDED}(), !dbg !{place}");
            }
            let _ = writeln!(result, "{line}");
            if let Some((name, _)) = object(line).filter(|(name, _)| is_kept(name)) {
                let mark = if kept.outlived.contains(plain(name)) { OUTLIVED } else { KEPT };
                let _ = writeln!(result, "  call void @{mark}(ptr {name})");
                continue;
            }
            let begun = match object(line) {
                Some((name, _)) if scoped.contains(name) => None,
                Some((name, _)) => Some(name),
                None => begins(line),
            };
            let begun = begun.filter(|name| !is_kept(name));
            if let Some((name, ty)) = begun.and_then(|name| Some((name, *objects.get(name)?))) {
                self.mark(name, ty, result);
            }
        }
    }

    fn mark(&mut self, name: &str, ty: &'t str, result: &mut String) {
        if self.language == Language::Rust {
            return;
        }
        if self.scalars(ty, 0).is_none_or(|count| count > MOST_SCALARS) {
            let _ = writeln!(result, "  call void @{KEPT}(ptr {name})");
            return;
        }
        let known = self.functions.iter().position(|known| *known == ty);
        let number = known.unwrap_or_else(|| {
            self.functions.push(ty);
            self.functions.len() - 1
        });
        let value = format!("%{PREFIX}.value.{}", self.count);
        self.count += 1;
        let _ = writeln!(result, "  {value} = call {ty} @{PREFIX}.{number}()");
        let _ = writeln!(result, "  store {ty} {value}, ptr {name}, align 1, !{MARK} {SCOPE}");
    }

    /// Of how many scalars a type is.
    fn scalars(&self, ty: &str, depth: u32) -> Option<u64> {
        if depth > MAX_DEPTH {
            return None;
        }
        let inner = |open: &str, close: &str| ty.strip_prefix(open)?.strip_suffix(close);
        if let Some(inner) = inner("[", "]") {
            let (count, element) = inner.split_once(" x ")?;
            let element = self.scalars(element.trim(), depth + 1)?;
            return count.trim().parse::<u64>().ok()?.checked_mul(element);
        }
        if let Some(fields) = inner("<{", "}>").or_else(|| inner("{", "}")) {
            let fields = parts(fields).into_iter().filter(|field| !field.is_empty());
            return fields.map(|field| self.scalars(field, depth + 1)).sum();
        }
        match ty.starts_with('%') {
            true => self.scalars(self.types.get(ty)?, depth + 1),
            false => Some(1),
        }
    }
}

/// `%struct.node = type { i32, ptr }`.
fn named_types(text: &str) -> HashMap<&str, &str> {
    let lines = text.lines().filter(|line| line.starts_with('%'));
    lines.filter_map(|line| line.split_once(" = type ")).collect()
}

/// The name and the type of an object of fixed size: `  %2 = alloca i32, align 4`.
fn object(line: &str) -> Option<(&str, &str)> {
    let (name, made) = line.strip_prefix("  ")?.split_once(" = alloca ")?;
    let parts = parts(made);
    let is_fixed = parts.get(1).is_none_or(|next| next.starts_with("align "));
    is_fixed.then(|| (name, parts[0]))
}

/// The object whose life begins: `  call void @llvm.lifetime.start.p0(i64 4, ptr %2) #3`.
fn begins(line: &str) -> Option<&str> {
    let (_, call) = line.split_once("call void @llvm.lifetime.start")?;
    let (_, object) = call.split_once(", ptr ")?;
    let end = object.find([')', ' ', ','])?;
    Some(&object[..end])
}

/// What commas outside of all brackets separate.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '{' | '<' | '(' => depth += 1,
            ']' | '}' | '>' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_marked_where_their_lives_begin() {
        let text = "%struct.pair = type { i32, [2 x i64] }\n\
                    define void @f() {\n  %1 = alloca i32, align 4\n  \
                    %2 = alloca %struct.pair, align 8\n  %3 = alloca [99 x i8], align 16\n  \
                    %4 = alloca i8, i64 %n, align 16\n  \
                    call void @llvm.lifetime.start.p0(i64 4, ptr %1) #3\n  ret void\n}\n";
        let marked = marked(text, Language::C);
        let begins = "@llvm.lifetime.start.p0(i64 4, ptr %1) #3\n  \
                      %parallax.undefined.value.1 = call i32 @parallax.undefined.1()\n  \
                      store i32 %parallax.undefined.value.1, ptr %1, align 1, \
                      !noalias !{";
        assert!(marked.contains(begins), "{marked}");
        assert!(marked.contains("store %struct.pair %parallax.undefined.value.0, ptr %2"));
        assert!(marked.contains("call void @parallax.undefined.kept(ptr %3)"));
        assert!(!marked.contains("ptr %4"));
        assert!(marked.contains("declare i32 @parallax.undefined.1()\n"));
    }

    #[test]
    fn objects_stay_in_memory_that_are_accessed_in_ways_that_do_not_show() {
        let is_kept = |lines: &str| {
            let objects = "%x = alloca { i32, i16 }, align 4\n  %p = alloca ptr, align 8";
            let text = format!("define void @f() {{\n  {objects}\n  {lines}\n  ret void\n}}\n");
            let is = |mark: &str| {
                marked(&text, Language::C).contains(&format!("call void @{mark}(ptr %x)"))
            };
            is(KEPT) || is(OUTLIVED)
        };
        let step = |ty: &str, by: i64| format!("%q = getelementptr {ty}, ptr %x, i64 {by}\n  ");
        assert!(!is_kept("store i32 1, ptr %x, align 4"));
        assert!(!is_kept(&(step("i16", 2) + "store i16 1, ptr %q, align 2")));
        assert!(!is_kept(&(step("i8", 1) + "store i32 1, ptr %q, align 1")));
        // Beyond it, before it, not aligned.
        assert!(is_kept(&(step("i32", 1) + "store i64 1, ptr %q, align 4")));
        assert!(is_kept(&(step("i16", -1) + "store i16 1, ptr %q, align 2")));
        assert!(is_kept(&(step("i8", 1) + "%v = load i16, ptr %q, align 2")));
        assert!(is_kept("%v = load i64, ptr %x, align 8"));
        assert!(is_kept("call void @llvm.memset.p0.i64(ptr %x, i8 0, i64 9, i1 false)"));
        assert!(!is_kept("call void @llvm.memset.p0.i64(ptr %x, i8 0, i64 8, i1 false)"));
        // By way of something else.
        assert!(is_kept("store ptr %x, ptr %p, align 8"));
        assert!(is_kept(&(step("i32", 1) + "store ptr %q, ptr %p, align 8")));
        assert!(is_kept("%s = select i1 %c, ptr %x, ptr %p"));
    }

    #[test]
    fn objects_that_are_outlived_are_reported_from_others() {
        let is_outlived = |between: &str| {
            let text = format!(
                "define i32 @f() {{\n  %1 = alloca ptr, align 8\n  %2 = alloca i32, align 4\n  \
                 store ptr %2, ptr %1, align 8\n  \
                 call void @llvm.lifetime.end.p0(i64 4, ptr %2) #3\n{between}  \
                 call void @llvm.lifetime.end.p0(i64 8, ptr %1) #3\n  ret i32 0\n}}\n"
            );
            marked(&text, Language::C).contains("call void @parallax.undefined.outlived(ptr %2)")
        };
        assert!(!is_outlived(""));
        assert!(is_outlived("  %3 = load ptr, ptr %1, align 8\n"));
    }
}
