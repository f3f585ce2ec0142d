/* Shared by app.c and plug.c. Freestanding. */
#define APART __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

typedef int plug_fn(int a, int (*back)(int));

int first(void);
