/* libmspack's CAB reader. */
#define HAVE_FSEEKO 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDINT_H 1
#define HAVE_STRING_H 1
#define HAVE_STRINGS_H 1
#define SIZEOF_OFF_T 8
#define _FILE_OFFSET_BITS 64
