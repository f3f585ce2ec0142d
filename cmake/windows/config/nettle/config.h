/* For the few files of nettle that are built here: x86-64, little-endian, no assembler. */
#define HAVE_INTTYPES_H 1
#define HAVE_STDINT_H 1
