#include "victims/crash/cpp.h"

struct last_words {
    bool armed = false;
    ~last_words()
    {
        if (armed)
            HERE_DO(*victim_null = 1);
    }
};

/* The compiler makes a function, called at exit, that calls the destructor. */
enum { LINE_OF_WORDS = __LINE__ + 1 };
static last_words words;
#if defined(_MSC_VER)
#define NAME_OF_CALLER "`dynamic atexit destructor for 'words''"
#else
#define NAME_OF_CALLER "`dynamic atexit destructor for 'words'"
#endif
#define PUSH_CALLER_OF_DESTRUCTOR                                                                  \
    (TRUTH_PUSH(0, 0, 0, TRUTH_FLAG_SYSTEM), TRUTH_PUSH(NAME_OF_CALLER, __FILE__, LINE_OF_WORDS, 0))

SCENARIO(static_destructor, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .sentence = "The destructor of a global object crashes, when main has long returned.")
{
    words.armed = true;
    HERE_DO((PUSH_CALLER_OF_DESTRUCTOR, exit(0)));
    return 1;
}
