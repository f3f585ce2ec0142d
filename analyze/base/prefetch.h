/* Tells the processor that memory is read soon, so that it does not have to be waited for then. */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

/* P need not be valid. */
#if defined(__GNUC__)
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define PREFETCH(p) ((void)(p))
#endif

#endif
