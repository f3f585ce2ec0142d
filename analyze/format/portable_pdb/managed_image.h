/* What a managed image says itself: its metadata, its portable PDB, the names of its methods.
 *
 * Source: ECMA-335, partition II, sections 22, 23.2 and 25.3.3;
 * https://github.com/dotnet/runtime/blob/main/docs/design/specs/PE-COFF.md */
#ifndef FORMAT_MANAGED_IMAGE_H
#define FORMAT_MANAGED_IMAGE_H

#include "format/pe/pe.h"
#include "format/portable_pdb/ppdb.h"

/* True when the image has a CLR header. */
bool managed_recognize(const struct pe *pe);

/* Fails: ERR_ABSENT no CLR header; as metadata_open(). */
enum status managed_metadata(const struct pe *pe, struct metadata *out, struct fault *fault);

/* The MVID; false: it is no managed image, or its metadata is damaged. */
bool managed_mvid(const struct pe *pe, char out[MVID_BYTES]);

/* The id of the portable PDB that belongs to the image; false: it states none. */
bool managed_pdb_id(const struct pe *pe, uint8_t out[PPDB_ID_BYTES]);

/* The portable PDB in the image (debug directory type 17), unpacked into KEEP. Fails: ERR_ABSENT
 * there is none; ERR_MALFORMED; ERR_LIMIT; ERR_MEMORY. */
enum status managed_embedded_pdb(const struct pe *pe, struct arena *keep, struct byte_view *out,
                                 struct fault *fault);

/* How a method is spelt. A nested type follows its outer one and '/'; generic ones have their
 * arity: "Space.Outer/Inner`1::Method". What C#'s compiler makes of one method has that method's
 * name: "Type::Method::Local" a local function, "Type::Method::<lambda_0>" a lambda, with its
 * number in the method, "Type::Method" the code of an async method or of an iterator. */
enum managed_names {
    MANAGED_SHORT, /* as above */
    MANAGED_FULL, /* with generic parameters and the types of parameters: "...`1<T>::Map<U>(int32)";
                   * none of async methods and iterators, whose code has none */
    MANAGED_RAW, /* as in the metadata: "Type/<>c::<Method>b__4_0", "Type/<Method>d__1::MoveNext" */
};

/* In KEEP; NULL: there is no such method. */
const char *managed_method_name(const struct metadata *md, uint32_t token, enum managed_names names,
                                struct arena *keep);

/* The same with the type arguments that the code was compiled for, as records have them (METHODS in
 * capture/record.h): "Box`1<int>::Map<System.__Canon>". Those of a state machine, or of the class
 * of a lambda, are its method's type's first, and then the method's. Where those of the type are
 * not known, the method's are shown: "Box`1::Map<int>". ARGUMENTS that do not fit the method, or
 * NULL: the name without them; so is MANAGED_RAW. */
const char *managed_instance_name(const struct metadata *md, uint32_t token,
                                  enum managed_names names, const char *arguments,
                                  struct arena *keep);

#endif
