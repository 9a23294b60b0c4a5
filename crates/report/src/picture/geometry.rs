//! Points, boxes and smooth paths.

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

pub fn point(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// An upright rectangle.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn around(centre: Point, width: f64, height: f64) -> Rect {
        Rect { x: centre.x - width / 2.0, y: centre.y - height / 2.0, width, height }
    }

    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub fn centre(&self) -> Point {
        point(self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    pub fn contains(&self, p: Point) -> bool {
        p.x >= self.x && p.x <= self.right() && p.y >= self.y && p.y <= self.bottom()
    }

    /// The area that both cover.
    pub fn overlap(&self, other: &Rect) -> f64 {
        let width = self.right().min(other.right()) - self.x.max(other.x);
        let height = self.bottom().min(other.bottom()) - self.y.max(other.y);
        width.max(0.0) * height.max(0.0)
    }
}

/// A cubic Bézier curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cubic(pub [Point; 4]);

impl Cubic {
    pub fn at(&self, t: f64) -> Point {
        let [a, b, c, d] = self.0;
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        let mix = |f: fn(Point) -> f64| {
            weights[0] * f(a) + weights[1] * f(b) + weights[2] * f(c) + weights[3] * f(d)
        };
        point(mix(|p| p.x), mix(|p| p.y))
    }
}

/// Curves that follow one another; at least one.
#[derive(Clone, PartialEq, Debug)]
pub struct Path(pub Vec<Cubic>);

impl Path {
    pub fn line(a: Point, b: Point) -> Cubic {
        let between = |t: f64| point(a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t);
        Cubic([a, between(1.0 / 3.0), between(2.0 / 3.0), b])
    }

    pub fn reversed(&self) -> Path {
        let curves = self.0.iter().rev().map(|Cubic([a, b, c, d])| Cubic([*d, *c, *b, *a]));
        Path(curves.collect())
    }

    /// A point on the way: 0 is the start, 1 the end, each curve as far as long as it is.
    pub fn at(&self, t: f64) -> Point {
        let lengths: Vec<f64> = self.0.iter().map(chord).collect();
        let total: f64 = lengths.iter().sum();
        let mut left = t.clamp(0.0, 1.0) * total;
        for (curve, length) in self.0.iter().zip(&lengths) {
            if left <= *length {
                return curve.at(left / length.max(f64::EPSILON));
            }
            left -= length;
        }
        self.end()
    }

    pub fn end(&self) -> Point {
        self.0.last().map_or(Point::default(), |Cubic(c)| c[3])
    }

    /// From where the path arrives at its end.
    pub fn last_control(&self) -> Point {
        self.0.last().map_or(Point::default(), |Cubic(c)| c[2])
    }
}

/// Length of the curve's control polygon: close enough to its length.
fn chord(curve: &Cubic) -> f64 {
    let steps = curve.0.windows(2).map(|pair| match pair {
        [a, b] => (b.x - a.x).hypot(b.y - a.y),
        _ => 0.0,
    });
    steps.sum()
}
