/* Names of generic methods with the type arguments of their code. */
#include <stdio.h>
#include <string.h>

#include "format/portable_pdb/managed_image.h"
#include "made_metadata.h"
#include "test.h"

/* Offsets into the heap below. */
static const char strings[] = "\0N.S\0Outer\0Inner\0Go\0T\0U\0";
enum { S_SPACE = 1, S_OUTER = 5, S_INNER = 11, S_GO = 17, S_T = 20, S_U = 22 };

/* Go<U>(T,U) of N.S.Outer/Inner<T>, compiled for type arguments as records have them. */
static const struct {
    const char *name, *arguments, *want, *full;
} instances[] = {
    {"value types", "System.Int32;System.Byte", "Inner<int>::Go<byte>",
     "Inner<int>::Go<byte>(int,byte)"},
    {"a reference type", "System.__Canon;System.Double", "Inner<System.__Canon>::Go<double>",
     "Inner<System.__Canon>::Go<double>(System.__Canon,double)"},
    {"an instance in an instance", "A.B`2<System.Int32,C>;System.IntPtr",
     "Inner<A.B`2<int,C>>::Go<System.IntPtr>",
     "Inner<A.B`2<int,C>>::Go<System.IntPtr>(A.B`2<int,C>,System.IntPtr)"},
    {"a word within a name", "A.System.Int32;System.Int32x",
     "Inner<A.System.Int32>::Go<System.Int32x>",
     "Inner<A.System.Int32>::Go<System.Int32x>(A.System.Int32,System.Int32x)"},
    {"a type that a compiler made", "P/<>c__D`1<A,B>;P/<Run>d__0",
     "Inner<P/<>c__D`1<A,B>>::Go<P/<Run>d__0>",
     "Inner<P/<>c__D`1<A,B>>::Go<P/<Run>d__0>(P/<>c__D`1<A,B>,P/<Run>d__0)"},
    {"those of the type are not known", ";System.Int32", "Inner::Go<int>",
     "Inner<T>::Go<int>(T,int)"},
    /* Not as many as the method has, or damaged: none are shown. */
    {"none", "", NULL, NULL},
    {"those of the method are missing", "System.Int32;", NULL, NULL},
    {"neither", ";", NULL, NULL},
    {"one too many of a type that is not known", ";A,B", NULL, NULL},
    {"one too many", "System.Int32;A,B", NULL, NULL},
    {"no end of the type's", "System.Int32,System.Byte", NULL, NULL},
    {"two ends", "A;B;C", NULL, NULL},
    {"brackets that are not closed", "A`1<B;C", NULL, NULL},
    {"brackets that are not opened", "A`1>B;C", NULL, NULL},
    {"a byte that no name has", "A\nB;C", NULL, NULL},
};

TEST(names_of_generic_code_have_its_type_arguments)
{
    static const uint8_t blobs[] = {0, 2, 0x1D, 0x08, 8, 0x10, 1, 2, 0x01, 0x13, 0, 0x1E, 0};
    const struct made_row rows[] = {
        {0x02, "422222", {0, S_OUTER, S_SPACE, 0, 1, 1}},
        {0x02, "422222", {0, S_INNER, 0, 0, 1, 2}},
        {0x06, "422222", {0, 0, 0, S_T, 0, 1}},
        {0x06, "422222", {0, 0, 0, S_GO, 4, 1}},
        {0x29, "22", {2, 1}},
        {0x2A, "2222", {0, 0, 2 << 1, S_T}},
        {0x2A, "2222", {0, 0, 2 << 1 | 1, S_U}},
    };
    for (size_t i = 0; i < COUNT_OF(instances); i++) {
        struct metadata md;
        struct arena keep;
        struct made_metadata m;
        char want[128];
        made_begin(&m);
        made_stream(&m, "#Strings", strings, sizeof strings);
        made_stream(&m, "#Blob", blobs, sizeof blobs);
        made_tables(&m, 0, rows, COUNT_OF(rows));
        made_open(&m, &md);
        arena_init(&keep, 0);
        test_row(instances[i].name);
        const char *of = instances[i].arguments, *name = instances[i].want;
        (void)snprintf(want, sizeof want, "N.S.Outer/%s", name != NULL ? name : "Inner::Go");
        CHECK_STR(managed_instance_name(&md, 0x06000002, MANAGED_SHORT, of, &keep), want);
        (void)snprintf(want, sizeof want, "N.S.Outer/%s",
                       name != NULL ? instances[i].full : "Inner<T>::Go<U>(T,U)");
        CHECK_STR(managed_instance_name(&md, 0x06000002, MANAGED_FULL, of, &keep), want);
        CHECK_STR(managed_instance_name(&md, 0x06000002, MANAGED_RAW, of, &keep),
                  "N.S.Outer/Inner::Go");
        CHECK_STR(managed_instance_name(&md, 0x06000001, MANAGED_SHORT, of, &keep), "N.S.Outer::T");
        CHECK(managed_instance_name(&md, 0x06000003, MANAGED_SHORT, of, &keep) == NULL);
        arena_free(&keep);
    }
}
