use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let model = parallax_memory::Model::builtin(&args[2]).unwrap().unwrap();
    let options =
        parallax_frontend_c::Options { clang_args: args[3..].to_vec(), ..Default::default() };
    let start = Instant::now();
    let program = match parallax_frontend_c::load(&[args[1].clone().into()], &options) {
        Ok(p) => p,
        Err(e) => {
            for d in e {
                println!("{d}");
            }
            return;
        }
    };
    println!("load {:?}", start.elapsed());
    if std::env::var("DUMP").is_ok() {
        println!("{}", program.to_text());
    }
    let o = parallax_engine_explore::Options {
        all: true,
        jobs: std::env::var("JOBS").map_or(1, |j| j.parse().unwrap()),
        reductions: if std::env::var("NONE").is_ok() {
            parallax_engine_explore::Reductions::NONE
        } else {
            parallax_engine_explore::Reductions::ALL
        },
        ..Default::default()
    };
    let start = Instant::now();
    let v = parallax_engine_explore::explore(&program, &model, &o).unwrap();
    let t = start.elapsed().as_secs_f64();
    println!(
        "{:?} {:?} {:?} reason {:?} {:.3}s {:.2}us each",
        v.conclusion,
        v.scope,
        v.counts,
        v.reason,
        t,
        t * 1e6 / (v.counts.executions.max(1) as f64)
    );
    for x in v.violations {
        println!("{} {} {:?}", x.property, x.message, x.place);
    }
}
