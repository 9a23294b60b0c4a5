//! Library calls for atomic accesses.

use crate::world;

use parallax_machine::Code;
use parallax_program::{InstKind, Tags};
use world::{End, World, ends, program};

#[test]
fn every_size_reads_and_modifies() {
    for size in [1, 2, 4, 8, 16] {
        let width = size * 8;
        let lines = format!(
            "  call store{size}()\n  call extern __atomic_load({size}:64, &x, &y, 0:32)\n  \
             r = load.4 &y\n  assert extract(r, 0, 8) == 8:8, \"loaded\""
        );
        let before = format!(
            "global x: 16\nglobal y: 16\nglobal e: 16\n\
             fn store{size}() {{\n  var v: {width}, ok: 1\n  \
             call extern __atomic_store_{size}(&x, 5:{width}, 3:32)\n  \
             v = call extern __atomic_fetch_add_{size}(&x, 2:{width}, 4:32)\n  \
             assert v == 5:{width}, \"old\"\n  \
             v = call extern __sync_add_and_fetch_{size}(&x, 1:{width})\n  \
             assert v == 8:{width}, \"new\"\n  \
             ok = call extern __atomic_compare_exchange_{size}(&x, &e, 1:{width}, 5:32, 0:32)\n  \
             assert ~ok, \"unequal\"\n  v = load.{size} &e\n  assert v == 8:{width}, \"stored\"\n  \
             ok = call extern __atomic_compare_exchange({size}:64, &x, &e, &e, 5:32, 0:32)\n  \
             assert ok, \"equal\"\n  return\n}}\n"
        );
        assert_eq!(ends(&before, &lines), End::Done, "{size}");
    }
    let odd = "  call extern __atomic_load(3:64, &x, &x, 0:32)";
    let end = End::Unknown("an atomic access of an odd size".into());
    assert_eq!(ends("global x: 4", odd), end);
}

#[test]
fn the_order_is_the_one_asked_for() {
    for (order, tag) in [(0, "RLX"), (1, "CON"), (2, "ACQ"), (5, "SC"), (9, "SC")] {
        let text = format!(
            "global x: 4\nfn main() {{\n  call extern __atomic_load_4(&x, {order}:32)\n  return\n}}\n\
             thread main = main()\n"
        );
        let program = program(&text);
        let code = Code::new(&program);
        let tags = World::new(&code).first_load();
        assert_eq!(tags, Some(Tags::new(["A", tag])), "{order}");
    }
    let fence = program("fn main() {\n  call extern __sync_synchronize()\n  return\n}\n");
    let inst = &fence.functions[0].blocks[0].insts[0].kind;
    assert_eq!(*inst, InstKind::Fence { tags: Tags::new(["SC"]) });
}
