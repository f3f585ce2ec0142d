/* Inside of the dbghelp judge. */
#ifndef HARNESS_JUDGE_DBGHELP_JUDGE_H
#define HARNESS_JUDGE_DBGHELP_JUDGE_H

#include <windows.h>

#include <dbghelp.h>
#include <stdbool.h>
#include <stdint.h>

enum { JUDGE_MODULES = 512, JUDGE_PATH_UNITS = 1024, JUDGE_FOLDERS = 15, JUDGE_SETS = 8 };

struct judge_module {
    uint64_t base_va;
    uint32_t image_bytes, timestamp;
    char name[256];
    bool system;    /* it comes with Windows, or with Wine */
    uint8_t *image; /* laid out as in memory; NULL: no file with this identity */
};

/* The modules of a dump, as dbghelp has loaded them.  A later dump with the same modules at the
 * same addresses, and files in the same folders, is read with the same set; modules of different
 * dumps are never mixed. */
struct judge_set {
    HANDLE process; /* dbghelp needs a process handle; any number will do for a dump */
    wchar_t search[JUDGE_FOLDERS * JUDGE_PATH_UNITS];
    struct judge_module modules[JUDGE_MODULES];
    uint32_t module_count;
    uint64_t used; /* number of the question that used it last; 0: the set is free */
};

struct judge {
    uint8_t *dump;
    uint64_t dump_bytes;
    HANDLE file, mapping;
    wchar_t folders[JUDGE_FOLDERS][JUDGE_PATH_UNITS];
    int folder_count;
    struct judge_set *set;
    const MINIDUMP_MEMORY_LIST *memory; /* of the dump; NULL: none */
    uint32_t memory_bytes, memory_last; /* the range that was read last */
    uint64_t questions;
    uint64_t open_ns, load_ns, unwind_ns, resolve_ns;
    uint64_t resolve_system_ns; /* of resolve_ns: frames of system modules */
};

extern struct judge judge;

/* ---- mapped_dump.c ---- */
uint64_t judge_now_ns(void);

/* Maps the dump. False: it cannot be read or is not a minidump. */
bool judge_open_dump(const wchar_t *path);
void judge_close_dump(void);

/* A stream of the dump, or NULL; its size in *BYTES. */
void *judge_stream(uint32_t type, uint32_t *bytes);

/* BYTES of the dump at OFFSET, or NULL when they are outside the file. */
void *judge_at(uint64_t offset, uint64_t bytes);

/* The path of a file beside this program; NAME "": its folder. False: it is too long. */
bool judge_beside_program(const wchar_t *name, wchar_t path[JUDGE_PATH_UNITS]);

/* ---- loaded_modules.c: finds and loads every module of the dump ---- */
/* Takes a set with the dump's modules, or makes one, in place of the one that was unused longest.
 */
void judge_load_modules(void);
const struct judge_module *judge_module_at(uint64_t va);

/* StackWalk64's read routine: the dump's memory, then the images. */
BOOL CALLBACK judge_read(HANDLE process, DWORD64 va, PVOID to, DWORD bytes, LPDWORD got);

/* The processor that its system information states. */
bool judge_is_x86(void);

/* The hooks of the C runtime capture their context in a call, so the first frame of the crashed
 * thread is a return address. */
bool judge_seed_is_return(bool crashed);

/* ---- print.c ---- */
/* ,"KEY":"TEXT"; TEXT NULL: null */
void judge_print_known(const char *key, const char *text);

/* Prints whose library this is, and its version, as a JSON text: "NAME of Microsoft 10.0.1.2". */
void judge_print_version(const wchar_t *library_name, const char *name);

/* ---- serve.c ---- */
enum { JUDGE_BAD_DUMP = 3 };

/* Reads the dump with the images and PDBs of judge.folders and prints the document, in one line.
 * Returns an exit status; *why says what is wrong. */
typedef int judge_answer_fn(const wchar_t *dump, const char **why);

/* What a judge's program does with its command line: one answer, or answers until its input ends.
 * Returns the exit status. */
int judge_main(int argc, wchar_t **argv, const char *name, judge_answer_fn *answer);

/* ---- frames.c ---- */
/* Finds dbghelp's interface for inlined functions; false: it is older than that. */
bool judge_open_frames(void);

/* Prints the logical frames of one physical frame. FOUND_BY: as judge_found_by(); NULL: not known.
 */
void judge_print_frame(uint32_t index, uint64_t pc_va, bool is_return, bool first,
                       const char *found_by);

/* ---- walk_evidence.c: x64 ---- */
enum { JUDGE_STEPS = 128 }; /* of the crashed thread, the innermost frames */

/* One physical frame as the walker left it. */
struct judge_step {
    uint64_t pc_va, sp_va, base_va;          /* base: of its module; 0: in none */
    uint32_t begin_rva, end_rva, unwind_rva; /* the entry of .pdata; all 0: it has none */
};

/* Reads BYTES of the dead process. */
typedef bool judge_read_fn(uint64_t va, void *to, uint32_t bytes);

/* How a frame was found, by the frame that it called; CALLEE NULL: it is the first. */
const char *judge_found_by(const struct judge_step *callee);

/* ,"evidence":[...]: a row for each of the COUNT innermost frames. */
void judge_print_evidence(const struct judge_step *steps, uint32_t count, judge_read_fn *read);

#endif
