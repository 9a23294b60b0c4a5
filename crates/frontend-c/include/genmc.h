/* For programs written for GenMC. Hints to its search say nothing here. */
#ifndef PARALLAX_GENMC_H
#define PARALLAX_GENMC_H

#include "verifier.h"

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
