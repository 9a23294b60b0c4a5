//! Functions on bytes, strings, numbers and arrays, against Rust's own.

use crate::world;

use parallax_machine::Code;
use parallax_program::{Program, Property};
use proptest::prelude::*;
use world::{End, World, ends, program};

/// A program whose `main` has these lines, between two texts of 32 bytes and a result.
fn prepared(lines: &str) -> Program {
    program(&format!(
        "global a: 32 align 8\nglobal b: 32 align 8\nglobal r: 8\n\
         fn compare(x: 64, y: 64) -> 32 {{\n  var u: 32, v: 32\n  u = load.4 x\n  \
         v = load.4 y\n  return select(u <s v, -1:32, zext(v <s u, 32))\n}}\n\
         fn main(i: 64, j: 64, n: 64) {{\n  var w: 32, d: 64\n{lines}\n  return\n}}\n\
         thread main = main(0x1111:64, 0x2222:64, 0x3333:64)\n"
    ))
}

/// What the program leaves in the result and in the first text, started with these.
fn run(program: &Program, a: &[u8], b: &[u8], args: [u64; 3]) -> (i64, Vec<u8>) {
    let mut program = program.clone();
    let consts = args.map(|arg| parallax_program::Expr::constant(64, u128::from(arg)));
    program.threads[0].args = consts.to_vec();
    let cells = |bytes: &[u8]| {
        let cell = |(offset, byte): (usize, &u8)| parallax_program::Cell {
            offset: offset as u64,
            width: 8,
            value: parallax_program::Expr::constant(8, u128::from(*byte)),
        };
        bytes.iter().enumerate().map(cell).collect()
    };
    program.globals[0].init = cells(a);
    program.globals[1].init = cells(b);
    let code = Code::new(&program);
    let mut world = World::new(&code);
    assert_eq!(world.run(), End::Done);
    let result = world.global("r").try_into().map(i64::from_le_bytes).unwrap();
    (result, world.global("a"))
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(b"abAB".to_vec()), 0..12)
}

fn position(text: &[u8], byte: u8) -> i64 {
    text.iter().position(|b| *b == byte).map_or(-1, |at| at as i64)
}

fn sign(order: std::cmp::Ordering) -> i64 {
    order as i64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn lengths_and_comparisons(a in text(), b in text(), n in 0..12usize) {
        let word = "\n  store.8 &r, sext(w, 64)";
        let length = prepared("  d = call extern strlen(&a)\n  store.8 &r, d");
        prop_assert_eq!(run(&length, &a, &b, [0; 3]).0, a.len() as i64);
        let most = prepared("  d = call extern strnlen(&a, n)\n  store.8 &r, d");
        prop_assert_eq!(run(&most, &a, &b, [0, 0, n as u64]).0, a.len().min(n) as i64);
        let compare = prepared(&format!("  w = call extern strcmp(&a, &b){word}"));
        prop_assert_eq!(run(&compare, &a, &b, [0; 3]).0.signum(), sign(a.cmp(&b)));
        let compare = prepared(&format!("  w = call extern strncmp(&a, &b, n){word}"));
        let (x, y) = (&a[..n.min(a.len())], &b[..n.min(b.len())]);
        prop_assert_eq!(run(&compare, &a, &b, [0, 0, n as u64]).0.signum(), sign(x.cmp(y)));
        let compare = prepared(&format!("  w = call extern strcasecmp(&a, &b){word}"));
        let order = a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase());
        prop_assert_eq!(run(&compare, &a, &b, [0; 3]).0.signum(), sign(order));
        let compare = prepared(&format!("  w = call extern memcmp(&a, &b, n){word}"));
        let padded = |text: &[u8]| [text, &[0; 12]].concat()[..n].to_vec();
        let order = sign(padded(&a).cmp(&padded(&b)));
        prop_assert_eq!(run(&compare, &a, &b, [0, 0, n as u64]).0.signum(), order);
    }

    #[test]
    fn searches(a in text(), b in prop::collection::vec(prop::sample::select(b"ab".to_vec()), 0..3)) {
        let place = "\n  store.8 &r, select(d == 0:64, -1:64, d - &a)";
        let find = |call: &str| prepared(&format!("  d = call extern {call}{place}"));
        prop_assert_eq!(run(&find("strchr(&a, 66:32)"), &a, &b, [0; 3]).0, position(&a, b'B'));
        prop_assert_eq!(run(&find("strchr(&a, 0:32)"), &a, &b, [0; 3]).0, a.len() as i64);
        let last = a.iter().rposition(|byte| *byte == b'A').map_or(-1, |at| at as i64);
        prop_assert_eq!(run(&find("strrchr(&a, 65:32)"), &a, &b, [0; 3]).0, last);
        prop_assert_eq!(run(&find("memchr(&a, 98:32, 12:64)"), &a, &b, [0; 3]).0, position(&a, b'b'));
        let part = a.windows(b.len().max(1)).position(|w| w == b).map_or(-1, |at| at as i64);
        let part = if b.is_empty() { 0 } else { part };
        prop_assert_eq!(run(&find("strstr(&a, &b)"), &a, &b, [0; 3]).0, part);
        let any = a.iter().position(|byte| b.contains(byte)).map_or(-1, |at| at as i64);
        prop_assert_eq!(run(&find("strpbrk(&a, &b)"), &a, &b, [0; 3]).0, any);
        let span = prepared("  d = call extern strspn(&a, &b)\n  store.8 &r, d");
        let all = a.iter().take_while(|byte| b.contains(byte)).count();
        prop_assert_eq!(run(&span, &a, &b, [0; 3]).0, all as i64);
    }

    #[test]
    fn copies(a in text(), b in text(), n in 0..12usize) {
        let copy = prepared("  call extern strcpy(&a, &b)");
        let copied = run(&copy, &a, &b, [0; 3]).1;
        prop_assert_eq!(&copied[..=b.len()], [&b[..], &[0]].concat());
        let part = run(&prepared("  call extern strncpy(&a, &b, n)"), &a, &b, [0, 0, n as u64]).1;
        prop_assert_eq!(&part[..n], &[&b[..], &[0; 12]].concat()[..n]);
        let joined = run(&prepared("  call extern strcat(&a, &b)"), &a, &b, [0; 3]).1;
        prop_assert_eq!(&joined[..=a.len() + b.len()], [&a[..], &b, &[0]].concat());
        let joined = run(&prepared("  call extern strncat(&a, &b, n)"), &a, &b, [0, 0, n as u64]).1;
        let some = &b[..n.min(b.len())];
        prop_assert_eq!(&joined[..=a.len() + some.len()], [&a[..], some, &[0]].concat());
        let own = prepared("  d = call extern strdup(&b)\n  call extern strcpy(&a, d)\n  call extern free(d)");
        prop_assert_eq!(run(&own, &a, &b, [0; 3]).1, copied);
    }

    #[test]
    fn moves(a in prop::collection::vec(any::<u8>(), 32), i in 0..16u64, j in 0..16u64, n in 0..17u64,
             unit in prop::sample::select(vec![1u64, 4, 8])) {
        let (i, j, n) = (i / unit * unit, j / unit * unit, n / unit * unit);
        let (from, to, count) = (i as usize, j as usize, n as usize);
        let mut expected = a.clone();
        expected.copy_within(from..from + count, to);
        let moved = prepared("  call extern memmove(&a + j, &a + i, n)");
        prop_assert_eq!(run(&moved, &a, &[], [i, j, n]).1, expected);
        let mut expected = a.clone();
        expected[to..to + count].fill(a[0]);
        let byte = i64::from(a[0]);
        let filled = prepared(&format!("  call extern memset(&a + j, {byte}:32, n)"));
        prop_assert_eq!(run(&filled, &a, &[], [0, j, n]).1, expected);
    }

    #[test]
    fn sorting(mut numbers in prop::collection::vec(-9..9i32, 0..8), key in -9..9i32) {
        let bytes = |numbers: &[i32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
        let sort = prepared("  call extern qsort(&a, n, 4:64, @compare)");
        let count = numbers.len();
        let sorted = run(&sort, &bytes(&numbers), &[], [0, 0, count as u64]).1;
        numbers.sort();
        prop_assert_eq!(&sorted[..4 * count], bytes(&numbers));
        let find = prepared(
            "  d = call extern bsearch(&b, &a, n, 4:64, @compare)\n  \
             store.8 &r, select(d == 0:64, -1:64, d - &a)",
        );
        let at = run(&find, &bytes(&numbers), &key.to_le_bytes(), [0, 0, count as u64]).0;
        match usize::try_from(at) {
            Ok(at) => prop_assert_eq!(numbers[at / 4], key),
            Err(_) => prop_assert!(!numbers.contains(&key)),
        }
    }

    #[test]
    fn numbers_in_texts(n in any::<i32>(), before in "[ \t]{0,3}", after in "[ ax.]{0,2}") {
        let text = format!("{before}{n}{after}");
        let read = prepared("  w = call extern atoi(&a)\n  store.8 &r, sext(w, 64)");
        prop_assert_eq!(run(&read, text.as_bytes(), &[], [0; 3]).0, i64::from(n));
        let hex = format!("{before}0x{:x}", n.unsigned_abs());
        let read = prepared("  d = call extern strtol(&a, &b, 0:32)\n  store.8 &r, d");
        prop_assert_eq!(run(&read, hex.as_bytes(), &[], [0; 3]).0, i64::from(n.unsigned_abs()));
    }

    #[test]
    fn kinds_of_characters(c in 0..128u8) {
        type Kind = fn(&u8) -> bool;
        let kinds: [(&str, Kind); 8] = [
            ("isdigit", u8::is_ascii_digit),
            ("isalpha", u8::is_ascii_alphabetic),
            ("isalnum", u8::is_ascii_alphanumeric),
            ("isupper", u8::is_ascii_uppercase),
            ("islower", u8::is_ascii_lowercase),
            ("ispunct", u8::is_ascii_punctuation),
            ("isxdigit", u8::is_ascii_hexdigit),
            ("iscntrl", u8::is_ascii_control),
        ];
        for (name, kind) in kinds {
            let ask = prepared(&format!("  w = call extern {name}({c}:32)\n  store.8 &r, zext(w, 64)"));
            prop_assert_eq!(run(&ask, &[], &[], [0; 3]).0 != 0, kind(&c), "{} {}", name, c);
        }
        let table = prepared(&format!(
            "  var place: 64, bits: 16\n  place = call extern __ctype_b_loc()\n  d = load.8 place\n  \
             bits = load.2 d + {}:64\n  store.8 &r, zext(bits & 0x400:16, 64)",
            2 * u32::from(c)
        ));
        prop_assert_eq!(run(&table, &[], &[], [0; 3]).0 != 0, c.is_ascii_alphabetic());
        let lower = prepared(&format!("  w = call extern tolower({c}:32)\n  store.8 &r, zext(w, 64)"));
        prop_assert_eq!(run(&lower, &[], &[], [0; 3]).0, i64::from(c.to_ascii_lowercase()));
    }
}

#[test]
fn the_end_of_a_number_is_given() {
    let read =
        prepared("  call extern strtol(&a, &r, 10:32)\n  d = load.8 &r\n  store.8 &r, d - &a");
    assert_eq!(run(&read, b" 12x", &[], [0; 3]).0, 3);
    assert_eq!(run(&read, b" x", &[], [0; 3]).0, 0);
}

#[test]
fn square_roots_and_remainders() {
    let double = |value: f64| format!("{:#x}:64", value.to_bits());
    let lines = format!(
        "  p = call extern sqrt({})\n  assert p == {}, \"sqrt\"\n  \
         p = call extern fabs({})\n  assert p == {}, \"fabs\"\n  \
         p = call extern fmod({}, {})\n  assert p == {}, \"fmod\"",
        double(2.0),
        double(2.0f64.sqrt()),
        double(-3.5),
        double(3.5),
        double(-7.5),
        double(2.0),
        double(-1.5),
    );
    assert_eq!(ends("", &lines), End::Done);
}

#[test]
fn texts_that_are_not_known_are_not_made_up() {
    let cases = [
        ("strerror(5:32)", "the texts of strerror"),
        ("snprintf(&text, 8:64, &text)", "the text that snprintf makes"),
        ("vsnprintf(&text, 8:64, &text, &text)", "the text that vsnprintf makes"),
        ("sprintf(&text, &text)", "the text that sprintf makes"),
        ("vsprintf(&text, &text, &text)", "the text that vsprintf makes"),
        ("open(&text, 0:32)", "files"),
        ("atoi(&number)", "atoi of a number that does not fit"),
    ];
    let globals = "global text: 2 = { 0: 0x78:8 }\n\
        global number: 12 = { 0: 0x3939393939393939:64, 8: 0x393939:32 }";
    for (call, what) in cases {
        let lines = format!("  call extern {call}");
        assert_eq!(ends(globals, &lines), End::Unknown(what.into()), "{call}");
    }
}

#[test]
fn what_is_printed_is_read() {
    let lines = |call: &str| {
        format!("  p = call extern malloc(8:64)\n  call extern free(p)\n  call extern {call}")
    };
    let calls = ["puts(p)", "fputs(p, 0:64)", "perror(p)", "fwrite(p, 1:64, 2:64, 0:64)"];
    for call in calls.into_iter().chain(["write(1:32, p, 1:64)"]) {
        assert_eq!(ends("", &lines(call)), End::Wild, "{call}");
    }
    let constant = "global text: 2 constant = { 0: 0x78:8 }";
    assert_eq!(ends(constant, "  call extern puts(&text)"), End::Done);
}

#[test]
fn copies_do_not_overlap() {
    let globals = "global text: 16 = { 0: 0x64636261:32 }";
    let overlap =
        || End::Failed(Property::Memory, "source and destination of a copy overlap".into());
    let wrong = [
        "memcpy(&text + 1:64, &text, 2:64)",
        "memcpy(&text, &text + 1:64, 2:64)",
        "mempcpy(&text, &text + 7:64, 8:64)",
        "__memcpy_chk(&text, &text + 7:64, 8:64, 16:64)",
        "strcpy(&text, &text + 1:64)",
        "strncpy(&text, &text + 1:64, 2:64)",
        "strncat(&text + 2:64, &text, 4:64)",
    ];
    for call in wrong {
        assert_eq!(ends(globals, &format!("  call extern {call}")), overlap(), "{call}");
    }
    let right = [
        "memcpy(&text, &text, 4:64)",
        "memcpy(&text, &text + 4:64, 4:64)",
        "memcpy(&text + 4:64, &text, 0:64)",
        "memmove(&text + 1:64, &text, 3:64)",
        "strcpy(&text + 8:64, &text)",
        "strncpy(&text + 2:64, &text, 2:64)",
    ];
    for call in right {
        assert_eq!(ends(globals, &format!("  call extern {call}")), End::Done, "{call}");
    }
}

#[test]
fn the_heap() {
    let lines = "  p = call extern malloc(4:64)\n  store.4 p, 7:32\n  \
        p = call extern realloc(p, 64:64)\n  r = load.4 p\n  assert r == 7:32, \"kept\"\n  \
        q = call extern malloc_usable_size(p)\n  assert q == 64:64, \"size\"\n  \
        p = call extern realloc(p, 2:64)\n  p = call extern realloc(p, 0:64)\n  \
        assert p == 0:64, \"freed\"\n  p = call extern realloc(0:64, 8:64)\n  \
        call extern free(p)\n  call extern free(0:64)\n  \
        p = call extern calloc(3:64, 5:64)\n  r = load.4 p + 8:64\n  assert r == 0:32, \"zero\"\n  \
        p = call extern calloc(-1:64, 2:64)\n  assert p == 0:64, \"too many\"\n  \
        p = call extern malloc(0:64)\n  q = call extern malloc(0:64)\n  \
        assert (p != q) & (p != 0:64), \"unique\"\n  \
        p = call extern aligned_alloc(256:64, 8:64)\n  assert (p & 255:64) == 0:64, \"aligned\"\n  \
        r = call extern posix_memalign(&out, 3:64, 8:64)\n  assert r == 22:32, \"odd\"\n  \
        r = call extern posix_memalign(&out, 64:64, 8:64)\n  q = load.8 &out\n  \
        assert (r == 0:32) & ((q & 63:64) == 0:64), \"aligned\"";
    assert_eq!(ends("global out: 8", lines), End::Done);
    let twice = "  p = call extern malloc(4:64)\n  call extern free(p)\n  call extern free(p)";
    assert_eq!(ends("", twice), End::Wild);
}

#[test]
fn output_is_silent() {
    let lines = "  r = call extern printf(0:64, 1:32, 2:64)\n  assert r == 0:32, \"printf\"\n  \
        r = call extern putchar(65:32)\n  assert r == 65:32, \"putchar\"";
    assert_eq!(ends("", lines), End::Done);
}
