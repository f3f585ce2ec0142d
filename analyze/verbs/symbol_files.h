/* Files of symbols of any kind, for the subcommands of `twinstack symbols`. */
#ifndef VERBS_SYMBOL_FILES_H
#define VERBS_SYMBOL_FILES_H

#include "base/files.h"
#include "format/breakpad/breakpad.h"
#include "format/pdb/pdb.h"
#include "format/portable_pdb/managed.h"
#include "symbol/object.h"
#include "verbs/verb.h"

enum symbol_kind {
    SYMBOL_KIND_PDB,
    SYMBOL_KIND_IMAGE,
    SYMBOL_KIND_BREAKPAD,
    SYMBOL_KIND_OBJECT,
    SYMBOL_KIND_PORTABLE,
};

/* A file that was found. */
struct symbol_file {
    enum symbol_kind kind;
    const char *path, *name;
    char build_of[256];  /* the name under which a store keeps all builds: app.pdb of app.pd_ */
    char stored_as[256]; /* its name there */
    char id[ELF_BUILD_ID_BYTES + 24]; /* the name of its folder there; "": it has none */
    char debug_id[DEBUG_ID_BYTES];    /* of an image: of its PDB */
    char mvid[MVID_BYTES];            /* of a managed image */
    bool unpacked;
    struct file_map map;
    struct pdb pdb;                 /* open of a PDB          */
    struct ppdb portable;           /* open of a portable PDB */
    struct breakpad breakpad;       /* read of a .sym file    */
    struct object_candidate object; /* of an ELF or Mach-O file, its first slice */
};

/* "pdb", "ppdb", "image", "breakpad", "elf", "macho". */
const char *symbol_kind_name(const struct symbol_file *file);

typedef int symbol_file_fn(void *context, struct symbol_file *file);

/* Calls VISIT with every file named and every file in the folders named.  In folders, files of
 * other kinds are passed over; a named one is an error.  Returns the first exit code that is not
 * 0. */
int symbol_files_visit(const struct option_list *paths, symbol_file_fn *visit, void *context);

#endif
