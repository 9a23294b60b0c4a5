/* For programs written for Dartagnan. */
#ifndef PARALLAX_DAT3M_H
#define PARALLAX_DAT3M_H

#include "verifier.h"

extern unsigned int __VERIFIER_tid(void);

#ifndef await_while
#define await_while(condition)                                          \
	for (__VERIFIER_loop_begin();                                   \
	     __VERIFIER_spin_start(),                                   \
	     (condition) ? 1 : (__VERIFIER_spin_end(1), 0);             \
	     __VERIFIER_spin_end(0))
#endif

#endif
