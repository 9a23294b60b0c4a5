/* For programs written for GenMC. Hints to its search say nothing here. */
#ifndef PARALLAX_GENMC_H
#define PARALLAX_GENMC_H

#include <pthread.h>

#include "verifier.h"

/* Threads that are alike are found without being told. */
typedef pthread_t __VERIFIER_thread_t;
#define __VERIFIER_spawn(routine, argument)                           \
    ({ pthread_t thread_; pthread_create(&thread_, 0, (routine), (argument)); thread_; })
#define __VERIFIER_spawn_symmetric(routine, argument, like)           \
    ({ (void)(like); __VERIFIER_spawn(routine, argument); })
#define __VERIFIER_join(thread)                                       \
    ({ void *result_; pthread_join((thread), &result_); result_; })
#define __VERIFIER_join_symmetric(thread)    ((void)__VERIFIER_join(thread))

/* Hazard pointers are not supported: calls of these say so. */
typedef struct __VERIFIER_hp __VERIFIER_hp_t;
extern __VERIFIER_hp_t *__VERIFIER_hp_alloc(void);
extern void *__VERIFIER_hp_protect(__VERIFIER_hp_t *hazard, void *place);
extern void __VERIFIER_hp_clear(__VERIFIER_hp_t *hazard);
extern void __VERIFIER_hp_free(__VERIFIER_hp_t *hazard);
extern void __VERIFIER_hp_retire(void *object);

#define __VERIFIER_local_write(statement)    do { statement; } while (0)
#define __VERIFIER_final_write(statement)    do { statement; } while (0)
#define __VERIFIER_helped_CAS(statement)     do { statement; } while (0)
#define __VERIFIER_helping_CAS(statement)    do { statement; } while (0)
#define __VERIFIER_speculative_read(access)  ({ access; })
#define __VERIFIER_confirming_read(access)   ({ access; })
#define __VERIFIER_confirming_CAS(access)    ({ access; })

/* What stands in an optional block need not be looked into. */
#define __VERIFIER_optional(statement)       do { } while (0)

#endif
