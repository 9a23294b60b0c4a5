//! An answer holds in every layout of memory, or it is `unknown`: in C, where objects lie is not for
//! the program to know.

use crate::support;

use support::Folder;

const HEADER: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
                      #include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\
                      #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";

/// What an engine says about a program: all that it prints.
fn said(text: &str, engine: &str, model: &str) -> String {
    let folder = Folder::new();
    folder.write("program.c", format!("{HEADER}{text}\n"));
    let asked = ["--model", model, "--engine", engine, "--property", "assert,memory"];
    folder.run(&[&["verify", "program.c"], &asked[..]].concat()).stdout
}

/// What is different in another layout, whether the answer would be `safe` or `unsafe` in ours.
const DEPENDS: [&str; 23] = [
    // Bits of an address.
    "int main(void) { int *p = malloc(4); assert((int)(long)p != 5); }",
    "int main(void) { int *p = malloc(4); assert((unsigned)(uintptr_t)p == 0); }",
    "int main(void) { int *p = malloc(4); assert((unsigned long)p > 4294967295UL); }",
    "int main(void) { int *p = malloc(4); assert((uintptr_t)p % 4096 == 0); }",
    "int main(void) { int x; assert(((uintptr_t)&x & 15) == 0); }",
    "int main(void) { char *p = malloc(4); assert((uintptr_t)p - 0x10000000000 == 0); }",
    "int main(void) { int *p = malloc(4); int *q = (int *)123456789L; assert(p != q); }",
    // A hash.
    "int a, b, table[8]; int slot(void *p) { return ((uintptr_t)p >> 4) & 7; }\n\
     int main(void) { table[slot(&a)]++; table[slot(&b)]++; assert(table[slot(&a)] == 1); }",
    // Order, distance and adjacency of objects.
    "int main(void) { int *p = malloc(4), *q = malloc(4); assert(p < q); }",
    "int a, b; int main(void) { assert(&a < &b); }",
    "int a, b; int main(void) { assert((uintptr_t)&a < (uintptr_t)&b); }",
    "int main(void) { char *p = malloc(4), *q = malloc(4); assert(q - p > 4); }",
    "int a[2], b[2]; int main(void) { int *end = a + 2, *start = b; assert(end != start); }",
    // Both together.
    "int a, b; int main(void) { uintptr_t both = (uintptr_t)&a ^ (uintptr_t)&b;\n\
     *(int *)(both ^ (uintptr_t)&b) = 1; assert(a == 1); }",
    // What is in memory.
    "int x; int main(void) { int *p = &x; unsigned char *b = (unsigned char *)&p; assert(b[0]); }",
    "int x; int main(void) { int *p = &x; unsigned char *b = (unsigned char *)&p; int n = 0;\n\
     for (int i = 0; i < 8; i++) n += b[i]; assert(n == 0); }",
    "union { int *p; unsigned i; } u; int main(void) { u.p = malloc(4); assert(u.i == 0); }",
    "union { int *p; long i; } u; int main(void) { u.p = malloc(4); assert(u.i > 100000); }",
    "int x, y; int main(void) { int *p = &x, *q = &y; assert(memcmp(&p, &q, 8) < 0); }",
    "int x; struct { int a; int *p; } s[2]; int main(void) { for (int i = 0; i < 2; i++) s[i].p = &x;\n\
     assert(*(int *)&s[1].p == 0); }",
    "struct s { char name[8]; void *p; }; int main(void) { struct s *s = calloc(1, sizeof *s); s->p = s;\n\
     unsigned char *b = (unsigned char *)s; int n = 0; for (int i = 0; i < 16; i++) n += b[i];\n\
     assert(n == 0); }",
    // By way of the library.
    "int main(void) { int *p = malloc(4); long l = labs((long)p); assert(l % 1024 == 0); }",
    // Another thread's.
    "_Atomic(int *) shared; void *give(void *u) { atomic_store(&shared, malloc(4)); return 0; }\n\
     int main(void) { pthread_t t; pthread_create(&t, 0, give, 0); int *p = atomic_load(&shared);\n\
     assert(!p || (uintptr_t)p >> 12 & 1); pthread_join(t, 0); }",
];

#[test]
fn what_another_layout_would_change_is_unknown() {
    for text in DEPENDS {
        for engine in ["auto", "explore", "states", "bounded", "inductive"] {
            let said = said(text, engine, "sc");
            assert!(said.starts_with("unknown: "), "{engine} says {said} of\n{text}");
            if engine != "inductive" {
                assert!(said.contains("where objects lie in memory"), "{engine}: {said}\n{text}");
                assert!(said.contains("program.c:"), "{engine} names no place: {said}\n{text}");
            }
        }
    }
}

/// What is the same in every layout.
const KEEPS: [&str; 19] = [
    // Addresses as numbers, and back.
    "int x; int main(void) { int *p = (int *)(long)&x; *(int *)(char *)(uintptr_t)p = 3;\n\
     assert(x == 3 && p == &x); }",
    // Bits that the alignment determines.
    "int64_t g; int main(void) { int64_t *p = malloc(8), l; assert((uintptr_t)p % 8 == 0);\n\
     assert(((uintptr_t)&g & 7) == 0 && (intptr_t)&l % 8 == 0); free(p); }",
    "int a[4]; int main(void) { int n = 0; for (int i = 0; i < 4; i++) n += ((uintptr_t)&a[i] & 3);\n\
     assert(n == 0); }",
    // Marks in the lowest bits.
    "struct n { struct n *next; int v; }; _Atomic uintptr_t word;\n\
     int main(void) { struct n *p = malloc(sizeof *p); p->v = 7; uintptr_t w = (uintptr_t)p | 1;\n\
     assert(w & 1); p->next = (struct n *)w; assert(((struct n *)((uintptr_t)p->next & ~1UL))->v == 7);\n\
     atomic_store(&word, (uintptr_t)p); atomic_fetch_or(&word, 1); uintptr_t r = atomic_load(&word);\n\
     assert((r & 1) && ((struct n *)(r & ~1UL))->v == 7); free(p); }",
    "int mark(int *p, bool m) { uintptr_t w = (uintptr_t)p | m; return w & 1; }\n\
     int main(void) { int *p = malloc(4); assert(mark(p, true) && !mark(p, false)); free(p); }",
    // Within an object.
    "int a[10]; int main(void) { int n = 0; for (int *p = a; p < a + 10; p++) n += ++*p;\n\
     int *h = malloc(40), *e = h + 10; for (int *p = h; p < e; ++p) *p = p - h;\n\
     for (int *p = h; p != e; p++) n += *p; assert(n == 55 && e - h == 10); free(h); }",
    "int main(void) { int *p[2]; for (int i = 0; i < 2; i++) { p[i] = malloc(40); }\n\
     for (int i = 0; i < 2; i++) { assert(p[i] < p[i] + 10 && p[i] + 10 - p[i] == 10); free(p[i]); } }",
    // Numbers and addresses at one place.
    "int seen[2], z; void *count(void *arg) { seen[(int)(long)arg] = 1; return arg; }\n\
     void *set(void *arg) { *(int *)arg = 4; return arg; }\n\
     int main(void) { pthread_t a, b; void *r; pthread_create(&a, 0, count, (void *)1);\n\
     pthread_create(&b, 0, set, &z); pthread_join(a, &r); assert((int)(long)r == 1);\n\
     pthread_join(b, &r); assert(r == &z && z == 4 && seen[1]); }",
    "struct { int kind; union { int i; int *p; } u; } v[2]; int x = 9;\n\
     int main(void) { v[0].kind = 0; v[0].u.p = &x; int n = *v[0].u.p; assert(n == 9); }",
    "struct v { int k; union { long i; double d; void *p; } u; }; int x;\n\
     long get(struct v *v) { return v->k == 0 ? v->u.i : v->k == 1 ? (long)v->u.d : v->u.p == &x; }\n\
     int main(void) { struct v v[3]; v[0].k = 0; v[0].u.i = 5; v[1].k = 1; v[1].u.d = 2.0; v[2].k = 2;\n\
     v[2].u.p = &x; long s = 0; for (int i = 0; i < 3; i++) s += get(&v[i]); assert(s == 8); }",
    // Objects of different types by one function.
    "void *make(size_t n) { void *p = malloc(n); if (!p) abort(); return p; } int x;\n\
     struct a { int k; int *p; }; struct b { int *p; int k[2]; };\n\
     int main(void) { struct a *a = make(sizeof *a); struct b *b = make(sizeof *b); a->k = 1; a->p = &x;\n\
     b->p = &x; b->k[0] = 2; b->k[1] = 3; int s = a->k; for (int i = 0; i < 2; i++) s += b->k[i];\n\
     assert(s == 6); free(a); free(b); }",
    // Arrays of pointers beside numbers.
    "struct n { struct n *next; int v; }; struct { struct n *free[4]; int count; struct n all[4]; } pool;\n\
     struct n *get(void) { return pool.free[--pool.count]; }\n\
     void put(struct n *n) { pool.free[pool.count++] = n; }\n\
     int main(void) { for (int i = 0; i < 4; i++) put(&pool.all[i]); struct n *a = get(), *b = get();\n\
     a->v = 1; b->v = 2; a->next = b; assert(pool.count == 2 && a->next->v == 2 && a - pool.all == 3); }",
    // Copies.
    "struct s { int k; char name[12]; struct s *next; int t[2]; };\n\
     int main(void) { struct s a = { 1, \"abc\", 0, { 5, 6 } }, b, *c = malloc(sizeof *c); a.next = &a;\n\
     b = a; memcpy(c, &b, sizeof b); assert(c->next == &a && c->k == 1 && c->name[1] == 'b');\n\
     int n = 0; for (int i = 0; i < 2; i++) n += c->t[i]; assert(n == 11); free(c); }",
    "int x; int main(void) { char *p = malloc(16); int *q = &x, *r; memcpy(p + 3, &q, sizeof q);\n\
     memcpy(&r, p + 3, sizeof r); assert(r == &x); free(p); }",
    // To print is not to look.
    "int main(void) { int *p = malloc(4); printf(\"%p\\n\", (void *)p); free(p); }",
    // From a part to the whole.
    "struct list { struct list *next; }; struct item { int v; struct list l; };\n\
     struct list head = { &head };\n\
     int main(void) { struct item *i = malloc(sizeof *i); i->v = 3; i->l.next = head.next;\n\
     head.next = &i->l; int n = 0; for (struct list *p = head.next; p != &head; p = p->next)\n\
     n += ((struct item *)((char *)p - offsetof(struct item, l)))->v; assert(n == 3); free(i); }",
    // Numbers that no object has for an address.
    "int main(void) { int *p = malloc(4); assert((uintptr_t)p < (uintptr_t)-4095);\n\
     assert(p && p != (int *)-1 && p != (int *)1); free(p); }",
    // Functions.
    "int one(void) { return 1; } int two(void) { return 2; } int (*f[2])(void) = { one, two };\n\
     int main(void) { assert(f[0] != f[1] && f[0]() + f[1]() == 3 && f[0] == one); }",
    // Hazard pointers.
    "_Atomic(int *) top, hazard;\n\
     void *look(void *u) { int *p; do { p = atomic_load(&top); atomic_store(&hazard, p); }\n\
     while (p != atomic_load(&top)); if (p) assert(*p == 1); atomic_store(&hazard, 0); return 0; }\n\
     int main(void) { pthread_t t; int *p = malloc(4); *p = 1; atomic_store(&top, p);\n\
     pthread_create(&t, 0, look, 0); atomic_store(&top, 0); pthread_join(t, 0);\n\
     if (atomic_load(&hazard) != p) free(p); }",
];

#[test]
fn what_every_layout_has_stays_exact() {
    for text in KEEPS {
        for engine in ["explore", "states", "bounded"] {
            let said = said(text, engine, "sc");
            assert!(said.starts_with("safe: "), "{engine} says {said} of\n{text}");
        }
    }
}

/// Copies of as many bytes as the program finds out. (The bounded engine takes its time over them.)
#[test]
fn copies_of_any_length_keep_addresses() {
    let text = "struct s { int k; char name[12]; struct s *next; int t[2]; };\n\
                int main(void) { struct s a = { 1, \"abc\", 0, { 5, 6 } }, b; a.next = &a;\n\
                volatile size_t m = sizeof b; memmove(&b, &a, m); assert(b.next == &a);\n\
                int n = 0; for (int i = 0; i < 2; i++) n += b.t[i]; assert(n == 11 && b.k == 1);\n\
                struct s *c = malloc(m); memcpy(c, &b, m); c = realloc(c, 2 * m);\n\
                assert(c->next == &a && !strcmp(c->name, \"abc\")); free(c); }";
    for engine in ["explore", "states"] {
        let said = said(text, engine, "sc");
        assert!(said.starts_with("safe: "), "{engine} says {said} of\n{text}");
    }
}

/// What is wrong before the layout comes in is wrong in all of them.
#[test]
fn what_is_wrong_in_every_layout_is_said() {
    let text = "int x; void *set(void *u) { x = 1; return 0; }\n\
                int main(void) { pthread_t t; pthread_create(&t, 0, set, 0); int *p = malloc(4);\n\
                assert(x == 0); assert((int)(long)p == 7); }";
    for (engine, model) in [("explore", "rc11"), ("states", "tso"), ("bounded", "aarch64")] {
        let said = said(text, engine, model);
        assert!(said.starts_with("unsafe: ") && said.contains("x == 0"), "{engine}: {said}");
    }
}
