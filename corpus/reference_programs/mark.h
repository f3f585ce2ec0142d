/* A mark is an instruction of which the program itself states where it is in the source: a row of the section .marks
 * has its address, and the lines of the mark and of the calls that lead to it, 1,000 to the power of the depth each.
 * The compiler's line tables have no part in it: line numbers are constants of the program. */
typedef unsigned long long path;

#ifdef __OPTIMIZE__
#define AT(outer) ((path)(outer) * 1000 + __LINE__)
#else
#define AT(outer) ((path)(0 * (outer) + __LINE__)) /* arguments are no constants there: the innermost line alone */
#endif

#ifdef NO_MARKS
#define MARKED(low, high) __asm__ volatile("nop"
#elif defined _WIN32 && !defined __clang__ /* its assembler cannot return to the section: a symbol states the same */
#define MARKED(low, high) __asm__ volatile("mark.%=." low "." high ": nop"
#elif !defined __ELF__
#ifdef _WIN64
#define OWN ".Lmark%="
#else
#define OWN "Lmark%="
#endif
#define MARKED(low, high) \
    __asm__ volatile(OWN ": nop\n .pushsection .marks,\"dr\"\n .rva " OWN "\n .long 0, " low ", " high "\n .popsection"
#elif defined __LP64__
#define MARKED(low, high) \
    __asm__ volatile("1: nop\n .pushsection .marks,\"\",%%progbits\n .quad 1b\n .long " low ", " high "\n .popsection"
#else
#define MARKED(low, high) \
    __asm__ volatile("1: nop\n .pushsection .marks,\"\",%%progbits\n .long 1b, 0, " low ", " high "\n .popsection"
#endif
#ifdef __OPTIMIZE__ /* 30 bits each */
#define MARK(outer) MARKED("%c0", "%c1")::"i"((unsigned)(AT(outer) & 0x3fffffff)), "i"((unsigned)(AT(outer) >> 30)))
#else
#define MARK(outer) MARKED("%c0", "0")::"i"(__LINE__))
#endif

#ifdef _WIN32
#define API __attribute__((noinline, used, dllexport))
#else
#define API __attribute__((noinline, used, visibility("default")))
#endif
#define IN static inline __attribute__((always_inline))
#define APART __attribute__((noinline, used))
