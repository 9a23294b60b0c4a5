//! How cost grows: each family at rising parameters, in executions a second.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

use parallax_bench::{exclusives, iriw, message_chain, run, store_buffering, test, writers};
use parallax_memory::Model;
use parallax_verify::models::usual_model;

type Family = (&'static str, fn(usize) -> String, &'static [usize]);

const FAMILIES: [Family; 5] = [
    ("store-buffering", store_buffering, &[2, 4, 6, 8, 10]),
    ("message-chain", message_chain, &[2, 4, 8, 12]),
    ("iriw", iriw, &[2, 3, 4, 5]),
    ("writers", writers, &[2, 4, 6, 8, 16, 32]),
    ("exclusives", exclusives, &[1, 2, 3, 4]),
];

fn families(criterion: &mut Criterion) {
    for (name, family, sizes) in FAMILIES {
        let mut group = criterion.benchmark_group(name);
        for n in sizes {
            let test = test(&family(*n));
            let model = Model::builtin(usual_model(test.arch)).unwrap().unwrap();
            let outcomes = run(&test, &model);
            group.throughput(Throughput::Elements(outcomes.positive + outcomes.negative));
            group.bench_with_input(BenchmarkId::from_parameter(n), &test, |bencher, test| {
                bencher.iter(|| run(test, &model));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(2));
    targets = families
}
criterion_main!(benches);
