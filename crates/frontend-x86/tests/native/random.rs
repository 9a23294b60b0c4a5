//! Random numbers (SplitMix64: Steele, Lea, Flood, OOPSLA 2014), with a taste for corner cases.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound.max(1)
    }

    pub fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A number, often one at the edge of something.
    pub fn number(&mut self) -> u64 {
        let width = self.pick(&[8, 16, 32, 64]);
        let top = 1u64 << (width - 1);
        match self.below(12) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => top,
            4 => top - 1,
            5 => top.wrapping_mul(2).wrapping_sub(1),
            6 | 7 => self.below(70),
            8 => 1 << self.below(64),
            9 => self.word() >> self.below(64),
            10 => (self.below(70) as i64).wrapping_neg() as u64,
            _ => self.word(),
        }
    }

    /// The pattern of a number of double precision, often a special one.
    pub fn double(&mut self) -> u64 {
        let small = self.below(2000) as f64 / 4.0 - 250.0;
        let power = 2f64.powi(self.below(140) as i32 - 70);
        let edges = [2147483647.0, 2147483647.5, 2147483648.0, 2147483648.5, 2147483649.0];
        let wide = [9.223372036854775e18, 9.223372036854776e18, 4503599627370495.5, 1e300, 1e-310];
        let value = match self.below(16) {
            0 => 0.0,
            1 => f64::INFINITY,
            2 => return 0x7ff8_0000_0000_0000 | self.number() >> 13,
            3 => return 0x7ff0_0000_0000_0001 | self.number() >> 13,
            4 => f64::from_bits(self.number() >> 12),
            5 => power,
            6 => power * (1.0 + self.below(1 << 30) as f64 / f64::from(1 << 30)),
            7 => self.pick(&edges),
            8 => self.pick(&wide),
            9 | 10 => self.below(1 << 24) as f64 + 0.5,
            11 => return self.word(),
            12 => f64::from(f32::from_bits(self.single())),
            _ => small,
        };
        if self.chance(2) { (-value).to_bits() } else { value.to_bits() }
    }

    /// The same in single precision.
    pub fn single(&mut self) -> u32 {
        let value = match self.below(12) {
            0 => 0.0,
            1 => f32::INFINITY,
            2 => return 0x7fc0_0000 | self.number() as u32 >> 10,
            3 => return 0x7f80_0001 | self.number() as u32 >> 10,
            4 => f32::from_bits(self.number() as u32 >> 9),
            5 => self.below(1 << 20) as f32 + 0.5,
            6 => self.pick(&[2147483648.0, 2147483520.0, 9.223372e18, 16777217.0, 8388607.5]),
            7 => return self.word() as u32,
            8 => 2f32.powi(self.below(250) as i32 - 125),
            _ => self.below(2000) as f32 / 4.0 - 250.0,
        };
        if self.chance(2) { (-value).to_bits() } else { value.to_bits() }
    }
}
