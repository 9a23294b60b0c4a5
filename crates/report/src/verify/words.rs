//! Events in plain words: who, what, where, and with which memory order.

use parallax_program::{Location, Tags};
use parallax_verdict::{Call, Event, EventKind, Execution, Life};

use super::calls::{Meaning, is_of_library};
use super::links::{Links, Naming, file_name, is_library};

#[derive(Clone, Copy)]
pub struct Words<'a> {
    pub execution: &'a Execution,
    pub links: &'a Links,
}

impl<'a> Words<'a> {
    pub fn event(&self, event: u32) -> &'a Event {
        &self.execution.events[event as usize]
    }

    pub fn thread_name(&self, thread: u32) -> &'a str {
        self.execution.threads.get(thread as usize).map_or("a thread", String::as_str)
    }

    /// The name of the thread that performs the event.
    pub fn who(&self, event: u32) -> &'a str {
        self.event(event).thread.map_or("the start", |thread| self.thread_name(thread))
    }

    /// `queue.c:12`; empty for initial writes. For what the library does, where it was called.
    pub fn place(&self, event: u32) -> String {
        self.own_place(event).map_or_else(String::new, |place| self.line_of(place))
    }

    /// Where in the program's own code an event comes from.
    pub fn own_place(&self, event: u32) -> Option<&'a Location> {
        let stack = self.execution.stacks.get(event as usize);
        let caller = stack.and_then(|stack| own_call(stack)).map(|call| &call.place);
        caller.or(self.event(event).place.as_ref())
    }

    /// The source text of an event, or the function of the library that it belongs to.
    pub fn source(&self, event: u32) -> String {
        let stack = self.execution.stacks.get(event as usize);
        source(stack.map_or(&[], |stack| stack), &self.event(event).text)
    }

    /// The line, with the folder of its file only where it is needed to distinguish files.
    pub fn line_of(&self, place: &Location) -> String {
        match self.links.naming {
            Naming::OneFile(_) | Naming::Names => format!("{}:{}", file_name(place), place.line),
            Naming::Paths => format!("{}:{}", place.file, place.line),
        }
    }

    /// The line, as a sentence has it: without the file where there is only one.
    pub fn line_in_words(&self, place: &Location) -> String {
        match self.links.naming {
            Naming::OneFile(_) if !is_library(place) => format!("line {}", place.line),
            _ => self.line_of(place),
        }
    }

    /// Where an event is, as a sentence has it; empty for initial writes.
    pub fn place_in_words(&self, event: u32) -> String {
        self.own_place(event).map_or_else(String::new, |place| self.line_in_words(place))
    }

    /// ` (line 12)`, or nothing.
    fn in_brackets(&self, event: u32) -> String {
        match self.place_in_words(event) {
            place if place.is_empty() => place,
            place => format!(" ({place})"),
        }
    }

    /// `x = 1`
    pub fn access(&self, event: u32) -> String {
        format!("{} = {}", self.location(event), self.value(event))
    }

    /// The name of what is accessed, as far as it is the program's own: `m` for the library's
    /// `m.__data.__lock`. Empty for what is no access.
    pub fn location(&self, event: u32) -> String {
        match &self.event(event).kind {
            EventKind::Read { location, .. } | EventKind::Write { location, .. } => {
                let own = location.split(".__").next().unwrap_or(location);
                let own = own.strip_suffix("._Value").unwrap_or(own);
                self.links.naming.object(own)
            }
            _ => String::new(),
        }
    }

    /// What was read or written; empty for what is no access.
    pub fn value(&self, event: u32) -> String {
        match &self.event(event).kind {
            EventKind::Read { shown, .. } | EventKind::Write { shown, .. } => {
                self.links.naming.object(shown)
            }
            _ => String::new(),
        }
    }

    /// `writes x = 1`, `starts worker#1`, `locks m`
    pub fn act(&self, event: u32) -> String {
        if let Some(Meaning::Said(words)) = self.meaning(event) {
            return words;
        }
        let kind = &self.event(event).kind;
        match kind.life() {
            Some(Life::Start(thread)) => return format!("starts {}", self.thread_name(thread)),
            Some(Life::Begin(_)) => return "begins".to_string(),
            Some(Life::End(_)) => return "ends".to_string(),
            Some(Life::Join(thread)) => {
                return format!("joins {}", self.thread_name(thread));
            }
            None => {}
        }
        match kind {
            EventKind::Read { .. } => format!("reads {}", self.access(event)),
            EventKind::Write { .. } => format!("writes {}", self.access(event)),
            EventKind::Fence => "passes a fence".to_string(),
            EventKind::Alloc { size, name, .. } => {
                format!("allocates {}, {}", self.links.naming.object(name), bytes(*size))
            }
            EventKind::Free { name, .. } => format!("frees {}", self.links.naming.object(name)),
            EventKind::Choice { value } => format!("chooses {}", value.to_signed()),
            EventKind::AtomicBegin => "enters an atomic section".to_string(),
            EventKind::AtomicEnd => "leaves the atomic section".to_string(),
        }
    }

    /// `writes x = 1 (line 8)`
    pub fn act_and_place(&self, event: u32) -> String {
        format!("{}{}", self.act(event), self.in_brackets(event))
    }

    /// `writer#1's x = 1 (line 8)`
    pub fn write_of(&self, event: u32) -> String {
        format!("{}'s {}{}", self.who(event), self.access(event), self.in_brackets(event))
    }

    /// Where a read got its value, to follow what it read: ` from writer#1's store at line 9`.
    pub fn origin(&self, read: u32) -> String {
        if matches!(self.meaning(read), Some(Meaning::Said(_))) {
            return String::new();
        }
        let Some(write) = self.links.source[read as usize] else {
            return String::new();
        };
        let (reader, writer) = (self.event(read).thread, self.event(write).thread);
        let whose = match writer {
            None => return ", the initial value".to_string(),
            Some(_) if reader == writer => "its own".to_string(),
            Some(writer) => format!("{}'s", self.thread_name(writer)),
        };
        let place = self.place_in_words(write);
        let at = if place.is_empty() { place } else { format!(" at {place}") };
        format!(" from {whose} store{at}")
    }

    /// Since when what a read has found is there: ` since main's store at line 3`.
    pub fn since(&self, read: u32) -> String {
        let origin = self.origin(read);
        match origin.strip_prefix(" from") {
            Some(store) => format!(" since{store}"),
            None if origin.is_empty() => origin,
            None => " from the start".to_string(),
        }
    }

    /// `relaxed`; None for plain accesses and where the tags say nothing to people.
    pub fn memory_order(&self, event: u32) -> Option<String> {
        let event = self.event(event);
        if event.kind.life().is_some() {
            return None;
        }
        memory_order(&event.tags)
    }

    /// The calls that led to an event, innermost first.
    pub fn stack(&self, event: u32) -> Vec<&'a Call> {
        let stack = self.execution.stacks.get(event as usize);
        stack.map_or_else(Vec::new, |stack| stack.iter().rev().collect())
    }
}

/// The innermost call that is not in the library.
pub fn own_call(stack: &[Call]) -> Option<&Call> {
    stack.iter().rfind(|call| !is_library(&call.place))
}

/// The text of the instruction that a stack leads to, or the function of the library that it is
/// in, without line ends and needless blanks.
pub fn source(stack: &[Call], text: &str) -> String {
    let first_of_library = stack.iter().find(|call| is_library(&call.place));
    match first_of_library.filter(|_| stack.last().is_some_and(|call| is_library(&call.place))) {
        Some(call) => format!("in {}", call.function),
        None => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

pub fn bytes(size: u64) -> String {
    if size == 1 { "1 byte".to_string() } else { format!("{size} bytes") }
}

/// `1 execution`, `2 executions`
pub fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `a`, `a and b`, `a, b and c`
pub fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The memory order of C, or the tags of an architecture as they are.
fn memory_order(tags: &Tags) -> Option<String> {
    if let Some(order) = tags.orders().min() {
        return Some(order.name().to_string());
    }
    let rest: Vec<&str> = shown_tags(tags).collect();
    (!rest.is_empty()).then(|| rest.join(", ").to_lowercase())
}

/// Tags that mean something to people: not those that all accesses of C have.
pub fn shown_tags(tags: &Tags) -> impl Iterator<Item = &str> {
    let shown = |tag: &&str| !["A", "NA", "COPY", "FRESH"].contains(tag) && !is_of_library(tag);
    tags.iter().map(|tag| tag.as_str()).filter(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_orders_have_names() {
        let order = |tags: &[&str]| memory_order(&Tags::new(tags.iter().copied()));
        assert_eq!(order(&["A", "RLX"]).as_deref(), Some("relaxed"));
        assert_eq!(order(&["NA"]), None);
        assert_eq!(order(&["NA", "COPY"]), None);
        assert_eq!(order(&["NA", "VOLATILE"]).as_deref(), Some("volatile"));
        assert_eq!(order(&["MFENCE"]).as_deref(), Some("mfence"));
    }

    #[test]
    fn lists_read_well() {
        let words = |n: usize| -> Vec<String> { (0..n).map(|i| format!("t{i}")).collect() };
        assert_eq!(listed(&words(1)), "t0");
        assert_eq!(listed(&words(3)), "t0, t1 and t2");
    }

    #[test]
    fn steps_of_the_library_belong_to_its_caller() {
        let call = |function: &str, file: &str| Call {
            function: function.to_string(),
            place: Location { file: file.into(), line: 3, column: 1 },
        };
        let stack =
            [call("main", "a.c"), call("pthread_join", "<library>/t"), call("x", "<library>/t")];
        assert_eq!(own_call(&stack).map(|call| &*call.function), Some("main"));
        assert_eq!(source(&stack, "wait ok"), "in pthread_join");
        assert_eq!(source(&stack[..1], "a  =\n 1;"), "a = 1;");
        assert_eq!(source(&[], "MOV"), "MOV");
    }
}
