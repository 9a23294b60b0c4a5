//! Random choices for tests.

#[allow(dead_code, reason = "some of the tests make programs of their own")]
pub mod shapes;

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

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

/// How many programs are tried; more when asked for.
pub fn cases(usual: u64) -> u64 {
    let asked = std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.unwrap_or(usual)
}
