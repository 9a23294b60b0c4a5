//! x86, in the order of operands that its manual has. Comparisons set zf and cf.

use parallax_program::Diagnostic;

use super::line::{Line, Operand, read_both};
use super::{Done, Translator};
use crate::isa::{Fence, Isa};

/// An operand of most instructions.
enum Place {
    Value(Operand),
    /// What has to be done first, and the location.
    Memory(String, String),
}

impl Translator<'_> {
    pub(super) fn x86(&mut self, line: &Line<'_>) -> Done {
        let name = line.mnemonic.to_ascii_lowercase();
        if matches!(name.as_str(), "nop" | "pause") {
            return Ok(());
        }
        let jump = |flag: &str, value: u32| (flag.to_string(), value);
        let jump = match name.as_str() {
            "je" | "jz" => Some(jump("zf", 1)),
            "jne" | "jnz" => Some(jump("zf", 0)),
            "jb" | "jc" => Some(jump("cf", 1)),
            "jae" | "jnc" => Some(jump("cf", 0)),
            _ => None,
        };
        let body = match jump {
            Some((flag, value)) => {
                let [label] = line.take()?;
                let label = self.target(line, label)?;
                let read = self.read_flags(&[&flag]);
                format!("{read}; branch(val_{flag} = {value}, label({label}))")
            }
            None if name == "jmp" => {
                let [label] = line.take()?;
                let label = self.target(line, label)?;
                format!("branch(T, label({label}))")
            }
            None if name == "lock" => {
                let (name, rest) =
                    line.rest.split_once(char::is_whitespace).unwrap_or((line.rest, ""));
                let inner = Line { mnemonic: name, rest: rest.trim(), ..*line };
                self.locked(&inner, &name.to_ascii_lowercase())?
            }
            None => self.x86_body(line, &name)?,
        };
        self.instr(body, line.text);
        Ok(())
    }

    fn place(&self, line: &Line<'_>, text: &str) -> Result<Place, Diagnostic> {
        let text = without_size(text);
        if text.starts_with('[') {
            let (before, place) = self.address(line, text)?;
            return Ok(Place::Memory(before, place));
        }
        Ok(Place::Value(self.operand(line, text)?))
    }

    fn x86_body(&self, line: &Line<'_>, name: &str) -> Result<String, Diagnostic> {
        Ok(match name {
            "mov" => {
                let [to, from] = line.take()?;
                match (self.place(line, to)?, self.place(line, from)?) {
                    (Place::Value(Operand::Register(to)), Place::Value(from)) => {
                        format!("{}; {to} := val", from.read("val"))
                    }
                    (Place::Value(Operand::Register(to)), Place::Memory(before, place)) => {
                        format!("{before}val := {place}; {to} := val")
                    }
                    (Place::Memory(before, place), Place::Value(from)) => {
                        format!("{before}{}; {place} := val", from.read("val"))
                    }
                    _ => return Err(line.error("'mov' has one operand in memory at most")),
                }
            }
            "add" | "sub" => {
                let [to, from] = line.take()?;
                self.change(line, name, to, from)?
            }
            "inc" | "dec" => {
                let [to] = line.take()?;
                self.change(line, name, to, "1")?
            }
            "cmp" => {
                let [first, second] = line.take()?;
                let reads = self.read_places(line, first, second)?;
                format!("{reads}{}", self.set_flags(&flags("sub", "rt - rd", "rt", "rd")))
            }
            "test" | "xor" => {
                let [first, second] = line.take()?;
                let register = self.register(line, first)?;
                if register != self.register(line, second)? {
                    let message = format!("'{name}' is supported of a register with itself only");
                    return Err(line.error(message));
                }
                let value = if name == "test" { register.as_str() } else { "0" };
                let zero = ("zf", "(val = 0) ? 1 : 0".to_string());
                let flags = self.set_flags(&[zero, ("cf", "0".to_string())]);
                let write =
                    if name == "xor" { format!("; {register} := val") } else { String::new() };
                format!("val := {value}{write}{flags}")
            }
            "xchg" => self.exchange(line)?,
            _ => match Fence::named(name).filter(|fence| fence.isa() == Some(Isa::X86)) {
                Some(fence) => fence.name().to_string(),
                None => return Err(line.unsupported(Isa::X86)),
            },
        })
    }

    /// Reads two operands, into rt and rd.
    fn read_places(
        &self,
        line: &Line<'_>,
        first: &str,
        second: &str,
    ) -> Result<String, Diagnostic> {
        Ok(match (self.place(line, first)?, self.place(line, second)?) {
            (Place::Value(first), Place::Value(second)) => read_both(&first, "rt", &second, "rd"),
            (Place::Memory(before, place), Place::Value(other)) => {
                format!("{before}rt := {place}; {}", other.read("rd"))
            }
            (Place::Value(other), Place::Memory(before, place)) => {
                format!("{before}{}; rd := {place}", other.read("rt"))
            }
            _ => return Err(line.error("one operand is in memory at most")),
        })
    }

    /// Adds or subtracts. In memory that is a read and a write, between which others may come.
    fn change(
        &self,
        line: &Line<'_>,
        name: &str,
        to: &str,
        from: &str,
    ) -> Result<String, Diagnostic> {
        let reads = self.read_places(line, to, from)?;
        let to = match self.place(line, to)? {
            Place::Memory(_, place) => place,
            Place::Value(Operand::Register(register)) => register,
            Place::Value(Operand::Number(_)) => {
                return Err(line.error(format!("expected a register, found '{to}'")));
            }
        };
        let sign = if matches!(name, "add" | "inc") { "+" } else { "-" };
        let flags = self.set_flags(&flags(name, "val", "rt", "rd"));
        Ok(format!("{reads}; val := rt {sign} rd{flags}; {to} := val"))
    }

    /// Atomic with and without `lock`.
    fn exchange(&self, line: &Line<'_>) -> Result<String, Diagnostic> {
        let [first, second] = line.take()?.map(without_size);
        let (memory, register) =
            if first.starts_with('[') { (first, second) } else { (second, first) };
        let register = self.register(line, register)?;
        let (before, place) = self.address(line, memory)?;
        Ok(format!(
            "{before}new := {register}; atom(val := {place}); atom({place} := new); {register} := val"
        ))
    }

    fn locked(&self, line: &Line<'_>, name: &str) -> Result<String, Diagnostic> {
        let two = || line.take().map(|[first, second]: [&str; 2]| (without_size(first), second));
        Ok(match name {
            "xchg" => self.exchange(line)?,
            "cmpxchg" => {
                let (memory, source) = two()?;
                let source = self.register(line, source)?;
                let (before, place) = self.address(line, memory)?;
                format!(
                    "{before}(expected := eax || new := {source}); atom(val := {place}); \
                     if(val = expected){{ atom({place} := new) }}{}; eax := val",
                    self.set_flags(&flags("sub", "expected - val", "expected", "val"))
                )
            }
            "xadd" => {
                let (memory, source) = two()?;
                let source = self.register(line, source)?;
                let (before, place) = self.address(line, memory)?;
                format!(
                    "{before}new := {source}; atom(val := {place}); \
                     sum := val + new; atom({place} := sum){}; {source} := val",
                    self.set_flags(&flags("add", "sum", "val", "new"))
                )
            }
            "add" | "sub" | "inc" | "dec" => {
                let (memory, operand) = match name {
                    "inc" | "dec" => {
                        (line.take().map(|[memory]| without_size(memory))?, Operand::Number(1))
                    }
                    _ => {
                        let (memory, source) = two()?;
                        (memory, self.operand(line, source)?)
                    }
                };
                let (before, place) = self.address(line, memory)?;
                let sign = if matches!(name, "add" | "inc") { "+" } else { "-" };
                let read = operand.read("new");
                format!(
                    "{before}{read}; atom(val := {place}); sum := val {sign} new; \
                     atom({place} := sum){}",
                    self.set_flags(&flags(name, "sum", "val", "new"))
                )
            }
            _ => return Err(line.error(format!("'{name}' cannot be locked here"))),
        })
    }
}

/// `[x]` of `dword ptr [x]`; sizes make no difference here.
fn without_size(text: &str) -> &str {
    let sizes = ["byte", "word", "dword", "qword"];
    let mut words = text.split_whitespace();
    let (size, ptr) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let is_size = sizes.iter().any(|known| size.eq_ignore_ascii_case(known));
    match text.find('[') {
        Some(start) if is_size && ptr.eq_ignore_ascii_case("ptr") => &text[start..],
        _ => text,
    }
}

/// What the flags are after a sum or a difference. `inc` and `dec` leave the carry alone.
fn flags(name: &str, result: &str, first: &str, second: &str) -> Vec<(&'static str, String)> {
    let zero = ("zf", format!("({result} = 0) ? 1 : 0"));
    let carry = match name {
        "add" => format!("{result} < {first}"),
        "sub" => format!("{first} < {second}"),
        _ => return vec![zero],
    };
    vec![zero, ("cf", format!("({carry}) ? 1 : 0"))]
}
