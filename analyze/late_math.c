/* libm, loaded when one of its functions is called first.  Loading it with the program costs 0.1 ms
 * of every start, a tenth of a short `resolve`; only statistics and SQL expressions use it, and the
 * linker cannot take it from its archive while libc is shared.  Linked into the program on Linux
 * only; the library and other systems link libm as usual. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double one_fn(double);
typedef double two_fn(double, double);
typedef double ldexp_fn(double, int);

#define OF_ONE(X)                                                                                  \
    X(acos), X(acosh), X(asin), X(asinh), X(atan), X(atanh), X(cos), X(cosh), X(erfc), X(exp),     \
        X(floor), X(log), X(sin), X(sinh), X(sqrt), X(tan), X(tanh), X(trunc)
#define OF_TWO(X) X(atan2), X(fmax), X(fmod), X(pow)
#define NUMBER(name) NUMBER_##name
#define WORD(name) #name

enum { OF_ONE(NUMBER), ONE_COUNT };
enum { OF_TWO(NUMBER), TWO_COUNT };

static one_fn *one[ONE_COUNT];
static two_fn *two[TWO_COUNT];
static ldexp_fn *libm_ldexp;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

static void find(void *library, const char *name, void *to)
{
    void *found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) {
        (void)fprintf(stderr, "twinstack: error: libm.so.6 has no %s\n", name);
        abort();
    }
    memcpy(to, (void *)&found, sizeof found); /* POSIX: both kinds of pointer are alike */
}

static void load(void)
{
    static const char *const one_names[] = {OF_ONE(WORD)}, *const two_names[] = {OF_TWO(WORD)};
    void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < ONE_COUNT; i++)
        find(library, one_names[i], &one[i]);
    for (int i = 0; i < TWO_COUNT; i++)
        find(library, two_names[i], &two[i]);
    find(library, "ldexp", &libm_ldexp);
}

static double call_one(int number, double x)
{
    (void)pthread_once(&loaded, load);
    return one[number](x);
}

static double call_two(int number, double x, double y)
{
    (void)pthread_once(&loaded, load);
    return two[number](x, y);
}

double ldexp(double x, int exponent)
{
    (void)pthread_once(&loaded, load);
    return libm_ldexp(x, exponent);
}

#define DEFINE_ONE(name)                                                                           \
    double name(double x)                                                                          \
    {                                                                                              \
        return call_one(NUMBER_##name, x);                                                         \
    }
#define DEFINE_TWO(name)                                                                           \
    double name(double x, double y)                                                                \
    {                                                                                              \
        return call_two(NUMBER_##name, x, y);                                                      \
    }
DEFINE_ONE(acos)
DEFINE_ONE(acosh)
DEFINE_ONE(asin)
DEFINE_ONE(asinh)
DEFINE_ONE(atan)
DEFINE_ONE(atanh)
DEFINE_ONE(cos)
DEFINE_ONE(cosh)
DEFINE_ONE(erfc)
DEFINE_ONE(exp)
DEFINE_ONE(floor)
DEFINE_ONE(log)
DEFINE_ONE(sin)
DEFINE_ONE(sinh)
DEFINE_ONE(sqrt)
DEFINE_ONE(tan)
DEFINE_ONE(tanh)
DEFINE_ONE(trunc)
DEFINE_TWO(atan2)
DEFINE_TWO(fmax)
DEFINE_TWO(fmod)
DEFINE_TWO(pow)
