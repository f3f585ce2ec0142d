/* Asks the processor to load memory that is read soon, so that the program need not wait for it
 * then. */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

/* P need not be valid. */
#if defined(__GNUC__)
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define PREFETCH(p) ((void)(p))
#endif

#endif
