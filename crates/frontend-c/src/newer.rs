//! Modules of newer versions of LLVM, in the words of LLVM 19. What differs is in attributes, which say
//! nothing that matters here, in one flag of comparisons, and in how lives of variables are marked.

/// The same module as LLVM 19 would write it.
pub fn as_llvm_19(text: &str) -> String {
    let lines = text.lines().map(line);
    lines.fold(String::with_capacity(text.len()), |mut result, line| {
        result.push_str(&line);
        result.push('\n');
        result
    })
}

/// Attributes of parameters, results and calls that came after LLVM 19, some with brackets behind.
const ATTRIBUTES: [&str; 7] = [
    "captures",
    "dead_on_return",
    "initializes",
    "noext",
    "nodivergencesource",
    "sanitize_alloc_token",
    "nofree_obj",
];

fn line(line: &str) -> String {
    let word = line.split_whitespace().next().unwrap_or("");
    if word == "attributes" {
        // Nothing that is asked of a function matters.
        let name = line.split('=').next().unwrap_or("").trim_end();
        return format!("{name} = {{ nounwind }}");
    }
    let is_call = || line.contains("call ") || line.contains("invoke ");
    if matches!(word, "define" | "declare") || (line.starts_with(' ') && is_call()) {
        return lives(&without_attributes(line));
    }
    line.replacen(" icmp samesign ", " icmp ", 1)
}

/// Lives of variables with how many bytes they are of, which only older versions say.
fn lives(line: &str) -> String {
    let line = line.to_string();
    let Some((start, rest)) = line.split_once("@llvm.lifetime.") else { return line };
    let Some((name, arguments)) = rest.split_once('(') else { return line };
    if !arguments.starts_with("ptr") {
        return line;
    }
    let size = if start.trim_start().starts_with("declare") { "i64 immarg" } else { "i64 -1" };
    format!("{start}@llvm.lifetime.{name}({size}, {arguments}")
}

fn without_attributes(line: &str) -> String {
    let mut result = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '"' || c == '@') {
        let (before, from) = rest.split_at(at);
        result.push_str(before);
        let length = match from.as_bytes().first() {
            Some(b'"') => from[1..].find('"').map_or(from.len(), |end| end + 2),
            Some(b'@') if from[1..].starts_with('"') => 1,
            _ => from[1..].find(|c: char| !is_of_word(c)).map_or(from.len(), |end| end + 1),
        };
        let (word, after) = from.split_at(length);
        let is_name = before.ends_with(['%', '!', '.', '#']);
        if is_name || !ATTRIBUTES.contains(&word) {
            result.push_str(word);
            rest = after;
            continue;
        }
        rest = after.strip_prefix('(').map_or(after, |inside| &inside[closed(inside)..]);
        rest = rest.strip_prefix(' ').unwrap_or(rest);
    }
    result.push_str(rest);
    result
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.$-".contains(c)
}

/// Where what comes after the bracket starts that closes an open one.
fn closed(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_taken_out() {
        let cases = [
            (
                "define void @f(ptr noundef captures(address, read_provenance) %x, ptr dead_on_return %y) #0 {",
                "define void @f(ptr noundef %x, ptr %y) #0 {",
            ),
            (
                "  call void @llvm.lifetime.start.p0(ptr %a), !dbg !8",
                "  call void @llvm.lifetime.start.p0(i64 -1, ptr %a), !dbg !8",
            ),
            (
                "declare void @llvm.lifetime.end.p0(ptr captures(none)) #4",
                "declare void @llvm.lifetime.end.p0(i64 immarg, ptr ) #4",
            ),
            ("  %c = icmp samesign ult i32 %a, %b", "  %c = icmp ult i32 %a, %b"),
            ("attributes #3 = { nounwind newest(none) }", "attributes #3 = { nounwind }"),
            (
                "  %r = call ptr @captures(ptr %captures, ptr @\"a captures b\")",
                "  %r = call ptr @captures(ptr %captures, ptr @\"a captures b\")",
            ),
            ("@s = constant [9 x i8] c\"captures(\"", "@s = constant [9 x i8] c\"captures(\""),
        ];
        for (newer, older) in cases {
            assert_eq!(line(newer), older);
        }
    }
}
