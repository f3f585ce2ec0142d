/* libdwarf without libelf: sections come from the tool's own readers. */
#define HAVE_INTPTR_T 1
#define HAVE_INTTYPES_H 1
#define HAVE_MALLOC_H 1
#define HAVE_STDDEF_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UINTPTR_T 1
#define HAVE_UNISTD_H 1
#define HAVE_UNUSED_ATTRIBUTE 1
#define HAVE_WINDOWS_PATH 1
#define HAVE_ZLIB 1
#define HAVE_ZLIB_H 1
#define PACKAGE_VERSION "20210528"
#define STDC_HEADERS 1
