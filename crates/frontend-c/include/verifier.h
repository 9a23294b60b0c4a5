/* Functions that verification tasks call. */
#ifndef PARALLAX_VERIFIER_H
#define PARALLAX_VERIFIER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Any scalar counts as true when it is not zero: pointers and 64-bit numbers are not cut off. */
extern void __VERIFIER_assume(_Bool condition);
extern void __VERIFIER_assert(_Bool condition);
extern void __VERIFIER_error(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

extern _Bool __VERIFIER_nondet_bool(void);
extern char __VERIFIER_nondet_char(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern short __VERIFIER_nondet_short(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern long __VERIFIER_nondet_long(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern float __VERIFIER_nondet_float(void);
extern double __VERIFIER_nondet_double(void);
extern void *__VERIFIER_nondet_pointer(void);

/* Inside of a loop: what holds whenever an iteration comes by. For proofs; nothing otherwise. */
extern void __PARALLAX_invariant(_Bool condition);

/* Marks of loops that only wait. */
extern void __VERIFIER_loop_begin(void);
extern void __VERIFIER_spin_start(void);
extern void __VERIFIER_spin_end(int left);
extern void __VERIFIER_loop_bound(int bound);

#ifdef __cplusplus
}
#endif

#endif
