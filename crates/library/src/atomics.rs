//! The text of the functions that compilers call for atomic accesses they have no instruction
//! for: `__atomic_load_8`, `__sync_fetch_and_add_16` and so on, for each size. The memory order
//! of an `__atomic_` function is an argument, so each has a block for each order.

use std::fmt::Write;

use parallax_program::Order;

const SIZES: [u32; 5] = [1, 2, 4, 8, 16];
const OPERATIONS: [&str; 6] = ["add", "sub", "and", "or", "xor", "nand"];
/// By their numbers in C.
const ORDERS: [&str; 6] = [
    Order::Relaxed.tag(),
    Order::Consume.tag(),
    Order::Acquire.tag(),
    Order::Release.tag(),
    Order::AcquireRelease.tag(),
    Order::SequentiallyConsistent.tag(),
];

/// Whether the functions here are the ones to look for a name in.
pub(crate) fn has(name: &str) -> bool {
    name.starts_with("__atomic_") || name.starts_with("__sync_")
}

/// Bits and bytes of values of a size, which are the same on every machine.
fn widths(size: u32) -> (String, String) {
    match size {
        8 => ("W64".to_string(), "W8".to_string()),
        _ => ((size * 8).to_string(), size.to_string()),
    }
}

pub(crate) fn text() -> String {
    let mut text = String::from("program atomics pointers 64\n\n");
    for size in SIZES {
        ordered(&mut text, size);
        compare_exchange(&mut text, size);
        legacy(&mut text, size);
    }
    generic(&mut text);
    fences(&mut text);
    text
}

/// A function whose argument `order` chooses among the same lines with each of the tags.
fn by_order(
    text: &mut String,
    head: &str,
    var: &str,
    orders: &[&str],
    lines: impl Fn(&str) -> String,
) {
    let _ = writeln!(text, "fn {head} {{\n{var}");
    for order in orders {
        let number = ORDERS.iter().position(|known| known == order).unwrap_or(0);
        let _ = writeln!(text, "  branch order == {number}:32, {order}, not_{order}\n{order}:");
        let _ = writeln!(text, "{}\nnot_{order}:", lines(order));
    }
    let _ = writeln!(text, "{}\n}}\n", lines("SC"));
}

/// Loads, stores, exchanges and arithmetic.
fn ordered(text: &mut String, size: u32) {
    let (width, bytes) = widths(size);
    let value = format!("  var v: {width}");
    let head = format!("__atomic_load_{size}(p: 64, order: 32) -> {width}");
    by_order(text, &head, &value, &["RLX", "CON", "ACQ"], |order| {
        format!("  v = load.{bytes} p [A, {order}]\n  return v")
    });
    let head = format!("__atomic_store_{size}(p: 64, v: {width}, order: 32)");
    by_order(text, &head, "", &["RLX", "REL"], |order| {
        format!("  store.{bytes} p, v [A, {order}]\n  return")
    });
    let old = format!("  var old: {width}");
    let modify = |text: &mut String, name: &str, op: &str| {
        let head = format!("__atomic_{name}_{size}(p: 64, v: {width}, order: 32) -> {width}");
        by_order(text, &head, &old, &ORDERS[..5], |order| {
            format!("  old = rmw.{op}.{bytes} p, v [A, {order}]\n  return old")
        });
    };
    modify(text, "exchange", "swap");
    for op in OPERATIONS {
        modify(text, &format!("fetch_{op}"), op);
    }
}

/// Compare-and-swap has an order for success and one for failure.
fn compare_exchange(text: &mut String, size: u32) {
    let (width, bytes) = widths(size);
    let _ = writeln!(
        text,
        "fn __atomic_compare_exchange_{size}(p: 64, expected: 64, desired: {width}, order: 32, \
         failure: 32) -> 1 {{\n  var wanted: {width}, old: {width}, ok: 1\n  \
         wanted = load.{bytes} expected [NA]"
    );
    for (number, order) in ORDERS.iter().enumerate() {
        let _ = writeln!(text, "  branch order == {number}:32, {order}, not_{order}\n{order}:");
        for (fail, failure) in [(0, "RLX"), (2, "ACQ"), (5, "SC")] {
            let _ = writeln!(
                text,
                "  branch failure == {fail}:32, {order}.{failure}, not_{order}.{failure}\n\
                 {order}.{failure}:\n  old, ok = cas.{bytes} p, wanted, desired \
                 [A, {order}] [A, {order}] [A, RMW, {failure}]\n  jump done\nnot_{order}.{failure}:"
            );
        }
        let _ = writeln!(
            text,
            "  old, ok = cas.{bytes} p, wanted, desired [A, {order}] [A, {order}] \
             [A, RMW, CON]\n  jump done\nnot_{order}:"
        );
    }
    let _ = writeln!(
        text,
        "  unsupported \"an unknown memory order\"\ndone:\n  branch ok, same, other join end\n\
         other:\n  store.{bytes} expected, old [NA]\nsame:\nend:\n  return ok\n}}\n"
    );
}

/// The `__sync_` functions, which are sequentially consistent.
fn legacy(text: &mut String, size: u32) {
    let (width, bytes) = widths(size);
    for op in OPERATIONS {
        let new = match op {
            "add" => "old + v",
            "sub" => "old - v",
            "and" => "old & v",
            "or" => "old | v",
            "xor" => "old ^ v",
            _ => "~(old & v)",
        };
        for (name, result) in [(format!("fetch_and_{op}"), "old"), (format!("{op}_and_fetch"), new)]
        {
            let _ = writeln!(
                text,
                "fn __sync_{name}_{size}(p: 64, v: {width}) -> {width} {{\n  var old: {width}\n  \
                 old = rmw.{op}.{bytes} p, v [A, SC]\n  return {result}\n}}\n"
            );
        }
    }
    for (name, result, value) in [("val", width.as_str(), "old"), ("bool", "1", "ok")] {
        let _ = writeln!(
            text,
            "fn __sync_{name}_compare_and_swap_{size}(p: 64, wanted: {width}, new: {width}) -> \
             {result} {{\n  var old: {width}, ok: 1\n  \
             old, ok = cas.{bytes} p, wanted, new [A, SC] [A, SC] [A, RMW, SC]\n  return {value}\n}}\n"
        );
    }
    let _ = writeln!(
        text,
        "fn __sync_lock_test_and_set_{size}(p: 64, v: {width}) -> {width} {{\n  \
         var old: {width}\n  old = rmw.swap.{bytes} p, v [A, ACQ]\n  return old\n}}\n\n\
         fn __sync_lock_release_{size}(p: 64) {{\n  store.{bytes} p, 0:{width} [A, REL]\n  \
         return\n}}\n"
    );
}

/// The functions that take a size and pass values in memory.
fn generic(text: &mut String) {
    let dispatch =
        |text: &mut String, head: &str, body: &dyn Fn(u32, &str) -> String, result: &str| {
            let vars =
                SIZES.map(|size| format!("v{size}: {0}, w{size}: {0}", widths(size).0)).join(", ");
            let _ = writeln!(text, "fn {head} {{\n  var ok: 1, {vars}");
            for size in SIZES {
                let _ = writeln!(text, "  branch size == {size}:64, b{size}, n{size}\nb{size}:");
                let _ =
                    writeln!(text, "{}\n  return{result}\nn{size}:", body(size, &widths(size).1));
            }
            let _ = writeln!(
                text,
                "  unsupported \"an atomic access of an odd size\"\n  return{result}\n}}\n"
            );
        };
    dispatch(
        text,
        "__atomic_load(size: 64, p: 64, out: 64, order: 32)",
        &|n, bytes| {
            format!("  v{n} = call __atomic_load_{n}(p, order)\n  store.{bytes} out, v{n} [NA]")
        },
        "",
    );
    dispatch(
        text,
        "__atomic_store(size: 64, p: 64, value: 64, order: 32)",
        &|n, bytes| {
            format!("  v{n} = load.{bytes} value [NA]\n  call __atomic_store_{n}(p, v{n}, order)")
        },
        "",
    );
    dispatch(
        text,
        "__atomic_exchange(size: 64, p: 64, value: 64, out: 64, order: 32)",
        &|n, bytes| {
            format!(
                "  v{n} = load.{bytes} value [NA]\n  w{n} = call __atomic_exchange_{n}(p, v{n}, order)\n  \
                 store.{bytes} out, w{n} [NA]"
            )
        },
        "",
    );
    dispatch(
        text,
        "__atomic_compare_exchange(size: 64, p: 64, expected: 64, desired: 64, order: 32, failure: 32) -> 1",
        &|n, bytes| {
            format!(
                "  v{n} = load.{bytes} desired [NA]\n  \
                 ok = call __atomic_compare_exchange_{n}(p, expected, v{n}, order, failure)"
            )
        },
        " ok",
    );
}

fn fences(text: &mut String) {
    by_order(text, "__atomic_thread_fence(order: 32)", "", &ORDERS[1..5], |order| {
        format!("  fence [{order}]\n  return")
    });
    text.push_str(
        "fn __atomic_signal_fence(order: 32) {\n  return\n}\n\n\
         fn __sync_synchronize() {\n  fence [SC]\n  return\n}\n\n\
         fn __atomic_is_lock_free(size: 64, p: 64) -> 1 {\n  \
         return (size <=u 16:64) & (popcount(size) == 1:64)\n}\n",
    );
}
