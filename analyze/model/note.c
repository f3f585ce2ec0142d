/* The sentences of frame notes: see note.h. */
#include "model/note.h"

#include <stddef.h>

#include "model/names.h"

#define PART_DAMAGED                                                                               \
    "the PDB is damaged here: inlined functions may be missing, and names and lines wrong"
#define IMAGE_DAMAGED                                                                              \
    "the DWARF or symbols are damaged: inlined functions may be missing, names and lines wrong"
#define SPLIT_MISSING                                                                              \
    "inlined functions are in a .dwo file: name it, its folder or the .dwp file with --symbols"
#define START_DAMAGED                                                                              \
    "the dump is damaged where it describes the exception: the stack may begin elsewhere"
#define MODULES_DAMAGED                                                                            \
    "the dump's list of modules is damaged: this may lie in a module that it lacks"
#define RETURN_UNCHECKED                                                                           \
    "neither its code nor its module's sections are readable: it may be no return address"

static const char *const note_names[NOTE_UNWIND_FAILED] = {
    [NOTE_NO_SYMBOL_FILE] = "no symbol file",
    [NOTE_NOT_COVERED] = "no symbol covers this offset",
    [NOTE_CODE_UNNAMED] = "the symbols give this code no name",
    [NOTE_TOO_MANY_MODULES] = "too many modules without symbols",
    [NOTE_PDB_UNSUPPORTED] = "this kind of PDB is not supported",
    [NOTE_PDB_DAMAGED] = "the PDB cannot be read: it is damaged or truncated",
    [NOTE_PDB_PART_DAMAGED] = PART_DAMAGED,
    [NOTE_IMAGE_PART_DAMAGED] = IMAGE_DAMAGED,
    [NOTE_SPLIT_MISSING] = SPLIT_MISSING,
    [NOTE_PDB_OTHER_BUILD] = "the PDB found is of another build",
    [NOTE_PDB_OTHER_KEY] = "the PDB found is of another build than the folder that it is in says",
    [NOTE_SYM_OTHER_BUILD] = "the .sym file found is of another build",
    [NOTE_IMAGE_OTHER_BUILD] = "the image found is of another build",
    [NOTE_IMAGE_OTHER_PDB] = "the image found, of the same code id, names another PDB",
    [NOTE_GIVEN_PDB_OTHER_BUILD] = "the PDB given for this module is of another build",
    [NOTE_GIVEN_FILE_OTHER_BUILD] = "the symbol file given for this module is of another build",
    [NOTE_SYM_DAMAGED] = "the .sym file cannot be read: it is damaged or truncated",
    [NOTE_SEVERAL_BUILDS] =
        "several builds of this name: give debug_id, or bind one with --pdb NAME=FILE",
    [NOTE_SEVERAL_SYM_BUILDS] = "several builds of this name: give debug_id",
    [NOTE_MVID_ALONE] =
        "only the MVID is known, which the DLL has and its PDB has not: name the DLL as well",
    [NOTE_FILE_TAKEN] =
        "the symbol file already answers for another module; bind it with NAME=FILE",
    [NOTE_FAT_FILE] = "a fat file: its first architecture answers; --arch names another",
    [NOTE_PDB_FASTLINK] =
        "FASTLINK PDB: its procedures are in the object files; relink with /DEBUG:FULL",
    [NOTE_PDB_TYPES_ONLY] = "the PDB holds types only: it is the compiler's, take the linker's",
    [NOTE_PDB_NO_SECTIONS] =
        "the PDB has no section headers: only its image says where its code lies",
    [NOTE_PDB_NO_TYPES] =
        "the PDB's types are missing or damaged: inlined functions may have no name",
    [NOTE_FILE_PACKED] = "the symbol file found is compressed: unpack it first",
    [NOTE_ASYNC] = "async: its state machine's MoveNext",
    [NOTE_ITERATOR] = "iterator: its state machine's MoveNext",
    [NOTE_HIDDEN] = "code of the compiler's own, after this line",
    [NOTE_LINK_JUMP] = "a jump of an incremental link to this function",
    [NOTE_STORE_MESSAGE] = "the symbol store says why it has no such file",
    [NOTE_SERVER_WRONG_FILE] = "the symbol server sent a wrong file, which is now in quarantine",
    [NOTE_SERVER_SILENT] = "a symbol server did not answer",
    [NOTE_SERVER_REFUSED] = "a symbol server refused to send the file",
    [NOTE_OFFLINE] = "not in the cache, and --offline forbids to ask the symbol servers",
    [NOTE_NAMED_BY_INPUT] = "named by the input, which states no offset in the module",
    [NOTE_BREAKPAD_NO_ADDRESS] = "Breakpad states no address for frames with a function",
    [NOTE_NO_IL_MAP] = "nothing maps this method's code to its IL: the line is that of its start",
    [NOTE_MACHINE_FRAME] = "over a machine frame",
    [NOTE_NO_MODULE_POPPED] = "below a pc in no module: one return address popped",
    [NOTE_DATA_POPPED] = "below a pc in data: one return address popped",
    [NOTE_PDATA_UNREADABLE] = "pdata unreadable",
    [NOTE_NOT_A_LEAF] = "unwind data of a leaf, which this function cannot be",
    [NOTE_RETURN_UNCHECKED] = RETURN_UNCHECKED,
    [NOTE_CODE_UNREADABLE] =
        "the code of the callee is unreadable: it may have been in its epilogue",
    [NOTE_EXPORTS_UNREADABLE] =
        "the exports of ntdll.dll are unreadable: the callee may be what dispatches exceptions",
    [NOTE_START_DAMAGED] = START_DAMAGED,
    [NOTE_MODULES_DAMAGED] = MODULES_DAMAGED,
};

enum frame_note frame_note_of_stop(enum stop_reason reason)
{
    return (enum frame_note)(NOTE_UNWIND_FAILED + (int)reason);
}

bool frame_note_is_other_build(enum frame_note note)
{
    return note >= NOTE_PDB_OTHER_BUILD && note <= NOTE_GIVEN_FILE_OTHER_BUILD;
}

const char *frame_note_name(enum frame_note note)
{
    return note < NOTE_UNWIND_FAILED
               ? note_names[note]
               : stop_reason_name((enum stop_reason)(note - NOTE_UNWIND_FAILED));
}

enum frame_note frame_note_parse(const char *text)
{
    const int found = name_index(note_names, NOTE_UNWIND_FAILED, text);
    if (found >= 0 || text == NULL)
        return text != NULL ? (enum frame_note)found : NOTE_NONE;
    const enum stop_reason stop = stop_reason_parse(text);
    return stop != STOP_OTHER ? frame_note_of_stop(stop) : NOTE_OTHER;
}
