//! Words that are taken for integers: where executions are followed, sums, differences and products are those of
//! numbers without bounds.

#[path = "../../engine-states/tests/common/random.rs"]
#[allow(dead_code)]
mod random;

use std::fmt::Write;
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract::{Options, verify};
use parallax_frontend_c::{Options as Reading, load};
use parallax_memory::Model;
use parallax_program::Property;
use parallax_verdict::Conclusion;
use random::Random;

/// An expression over two inputs, and the same in words that are wide enough for each of its values.
fn expression(random: &mut Random, depth: u32) -> (String, String) {
    if depth == 0 {
        // What is made of constants alone is computed by clang.
        let leaf = random.pick(&["a", "b"]);
        return (leaf.to_string(), format!("(long long){leaf}"));
    }
    let op = random.pick(&["+", "-", "*"]);
    let one = expression(random, depth - 1);
    // Whether products of two inputs are the same in other words is hard to say for a solver.
    let other = match op {
        "*" => ("5".to_string(), "5LL".to_string()),
        _ => expression(random, depth - 1),
    };
    (format!("({} {op} {})", one.0, other.0), format!("({} {op} {})", one.1, other.1))
}

fn program(ty: &str, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = format!(
        "#include <assert.h>\nextern unsigned char __VERIFIER_nondet_uchar(void);\nint main(void) {{\n\
         {ty} a = __VERIFIER_nondet_uchar(), b = __VERIFIER_nondet_uchar(), r;\n"
    );
    for _ in 0..4 {
        let (words, numbers) = expression(&mut random, 2);
        // Some never come to a result that fits.
        let _ = writeln!(text, "if (__VERIFIER_nondet_uchar()) {{\nr = {words};");
        let _ = writeln!(text, "assert((long long)r == {numbers});");
        let _ = writeln!(text, "r = a; r--; assert((long long)r == (long long)a - 1);\n}}");
    }
    text + "return 0;\n}\n"
}

fn answer(text: &str, integers: bool) -> Conclusion {
    let test = std::thread::current().name().unwrap_or("test").to_string();
    let name = format!("parallax-{}-{test}.c", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).expect("written");
    let program = load(std::slice::from_ref(&path), &Reading { integers, ..Reading::default() });
    std::fs::remove_file(&path).expect("removed");
    let program = program.unwrap_or_else(|errors| panic!("{text}\n{}", errors[0]));
    let model = Model::builtin("sc").expect("a model").expect("a good model");
    let control = Control::lasting(Duration::from_secs(60));
    let properties = vec![Property::Assert];
    verify(&program, &model, &Options { properties, control, ..Options::default() }).conclusion()
}

#[test]
fn what_is_followed_is_what_integers_do() {
    for seed in 0..2 {
        for ty in ["unsigned", "int"] {
            let text = program(ty, seed);
            assert_eq!(answer(&text, true), Conclusion::Safe, "{text}");
            let usual = if ty == "int" { Conclusion::Safe } else { Conclusion::Unsafe };
            assert_eq!(answer(&text, false), usual, "{text}");
        }
    }
}

/// Steps of narrow types are taken in the sign in which they fit, and pointers are no numbers.
#[test]
fn what_has_no_sign_of_its_own_goes_on() {
    let text = "#include <assert.h>\nextern unsigned char __VERIFIER_nondet_uchar(void);\n\
                int line[4];\nint main(void) {\nsigned char c = __VERIFIER_nondet_uchar();\nif (c == 127) return 0;\n\
                signed char d = c; d++;\nassert(d == c + 1 && d != 0);\n\
                int *last = &line[3], *first = line;\nif (c == 1) assert(first - last != -3);\nreturn 0;\n}\n";
    // Where it is -1, and the next one is 0.
    assert_eq!(answer(text, true), Conclusion::Unsafe);
    let kept = text.replace(" && d != 0", "");
    assert_eq!(answer(&kept, true), Conclusion::Unsafe, "the difference is followed");
    let rest = kept.replace("!= -3", "== -3");
    assert_eq!(answer(&rest, true), Conclusion::Safe);
}
