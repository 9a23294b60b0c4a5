//! Random programs: a few threads, a few statements each.

/// Xorshift: the same programs everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// What statements there may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Accesses of whole words, fences and branches.
    Straight,
    /// And accesses of some bytes.
    Bytes,
    /// And loops that wait, locks, and loops that count.
    Loops,
    /// And objects that are passed on and freed, atomic sections, threads that are spawned.
    Objects,
}

pub fn body(random: &mut Random, style: Style, statements: u64) -> String {
    let mut text = String::new();
    for number in 0..1 + random.below(statements) {
        text += &statement(random, style, number);
    }
    text
}

fn statement(random: &mut Random, style: Style, number: u64) -> String {
    let kinds = match style {
        Style::Straight => 10,
        Style::Bytes => 13,
        Style::Loops => 19,
        Style::Objects => 25,
    };
    let (g, c, d) = (random.pick(&["x", "y"]), random.below(3), random.below(3));
    let (r, s) = (random.below(4), random.below(4));
    match random.below(kinds) {
        0 | 1 => format!("store.4 &{g}, {c}:32 {}\n", random.pick(&["", "", "", "[REL]", "[SC]"])),
        2 => format!("store.4 &{g}, r{r}\n"),
        3..=5 => format!("r{r} = load.4 &{g}\n"),
        6 => {
            let op = random.pick(&["add", "swap", "or"]);
            format!("r{r} = rmw.{op}.4 &{g}, {c}:32 [X] [X]\n")
        }
        7 => {
            let fail = random.pick(&["[X]", "[]"]);
            let weak = ["", ".weak"][random.below(2) as usize];
            format!("r{r}, ok = cas{weak}.4 &{g}, {c}:32, {d}:32 [X] [X] {fail}\n")
        }
        8 => {
            let kinds = ["[MFENCE]", "[SFENCE]", "[SC]", "[REL]", "[ACQ]", "[MEMBARRIER]"];
            // Memory models do not know the last one.
            let knows_all = matches!(style, Style::Loops | Style::Objects);
            let known = kinds.len() - usize::from(!knows_all);
            format!("fence {}\n", random.pick(&kinds[..known]))
        }
        9 => {
            let then = statement(random, Style::Straight, number + 100);
            format!(
                "branch r{r} == {c}:32, then{number}, end{number}\nthen{number}:\n{then}\
                 end{number}:\n"
            )
        }
        10 => {
            let offset = random.below(4);
            format!("store.1 &{g} + {offset}:64, {c}:8\n")
        }
        11 => {
            let offset = random.below(2) * 2;
            format!("store.2 &{g} + {offset}:64, {}:16\n", c * 256 + d)
        }
        12 => {
            let offset = random.below(4);
            format!("b = load.1 &{g} + {offset}:64\nr{r} = zext(b, 32)\n")
        }
        13 => format!(
            "spin{number}:\nr{r} = load.4 &{g}\n\
             branch r{r} == {c}:32, spin{number}, end{number}\nend{number}:\n"
        ),
        14 => format!(
            "spin{number}:\nr{r} = load.4 &{g}\nr{s} = load.4 &y\n\
             branch (r{r} == {c}:32) & (r{s} == {d}:32), spin{number}, end{number}\nend{number}:\n"
        ),
        15 => {
            let inner = statement(random, Style::Bytes, number + 100);
            format!(
                "_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n{inner}\
                 store.4 &l, 0:32 [A, REL]\n"
            )
        }
        16 => format!("r{r} = load.4 &{g}\nwait r{r} != {c}:32\n"),
        17 => format!(
            "spin{number}:\nr{r} = rmw.swap.4 &l, 1:32 [X] [X]\n\
             branch r{r} == 1:32, spin{number}, end{number}\nend{number}:\n\
             r{s} = load.4 &{g}\nstore.4 &l, 0:32\n"
        ),
        19 => format!("p = alloc.heap.zeroed 8:64 align 8\nstore.4 p, {c}:32\nstore.8 &q, p\n"),
        20 => format!(
            "p = load.8 &q\nbranch p == 0:64, end{number}, use{number}\nuse{number}:\n\
             r{r} = load.4 p\nstore.4 p + 4:64, {d}:32\nend{number}:\n"
        ),
        21 => format!(
            "p = rmw.swap.8 &q, 0:64 [X] [X]\nbranch p == 0:64, end{number}, use{number}\n\
             use{number}:\nr{r} = load.4 p + 4:64\nfree.heap p\nend{number}:\n"
        ),
        22 => format!("atomic begin\nr{r} = load.4 &{g}\nstore.4 &y, r{r} + 1:32\natomic end\n"),
        23 => format!("p = alloc.stack.zeroed 4:64 align 4\nstore.4 p, r{r}\nr{s} = load.4 p\n"),
        24 => format!("n = spawn helper({c}:32)\nr{r} = load.4 &{g}\njoin n\n"),
        _ => {
            let inner = statement(random, Style::Bytes, number + 100);
            format!(
                "n = 0:32\nloop{number}:\n{inner}n = n + 1:32\n\
                 branch n == 2:32, end{number}, loop{number}\nend{number}:\n"
            )
        }
    }
}
