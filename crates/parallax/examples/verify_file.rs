//! Verifies a file, and prints what is wrong with it: `cargo run --example verify_file -- FILE.c`.

use parallax::{Conclusion, Verification};

fn main() -> Result<(), parallax::Errors> {
    let file = std::env::args_os().nth(1).unwrap_or("examples/c/store-buffering.c".into());
    let report = Verification::of(file).run()?;
    match report.conclusion() {
        Conclusion::Safe => println!("safe under {}", report.model()),
        Conclusion::Unsafe => println!("{}", report.text()),
        Conclusion::Unknown => println!("unknown: {:?}", report.reason()),
    }
    Ok(())
}
