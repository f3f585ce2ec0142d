/* What a frame says beyond its other fields: why it has no name, or how its caller was found. The
 * engines and the symbol store state notes as values of one enum; its table of names holds the
 * sentences that text forms, JSON and the store use. */
#ifndef MODEL_NOTE_H
#define MODEL_NOTE_H

#include <stdbool.h>

#include "model/stop.h"

enum frame_note {
    NOTE_NONE,

    /* Why no symbols answer. */
    NOTE_NO_SYMBOL_FILE,
    NOTE_NOT_COVERED,  /* there are symbols, but none for this offset */
    NOTE_CODE_UNNAMED, /* the symbols know the place, but give it no name */
    NOTE_TOO_MANY_MODULES,
    NOTE_PDB_UNSUPPORTED,
    NOTE_PDB_DAMAGED,
    NOTE_PDB_PART_DAMAGED,   /* of the object file that holds the function, some is unreadable */
    NOTE_IMAGE_PART_DAMAGED, /* the same of DWARF or of symbol tables of an image without a PDB */
    NOTE_SPLIT_MISSING,      /* the unit's functions are in a .dwo file that was not found */
    NOTE_PDB_OTHER_BUILD,    /* this and the next six: only another build was found */
    NOTE_PDB_OTHER_KEY,
    NOTE_SYM_OTHER_BUILD,
    NOTE_IMAGE_OTHER_BUILD,
    NOTE_IMAGE_OTHER_PDB,
    NOTE_GIVEN_PDB_OTHER_BUILD,
    NOTE_GIVEN_FILE_OTHER_BUILD,
    NOTE_SYM_DAMAGED,
    NOTE_SEVERAL_BUILDS,
    NOTE_SEVERAL_SYM_BUILDS,
    NOTE_MVID_ALONE, /* and there is a PDB of that name, which does not state an MVID */
    NOTE_FILE_TAKEN,
    NOTE_FAT_FILE,
    NOTE_PDB_FASTLINK,
    NOTE_PDB_TYPES_ONLY,
    NOTE_PDB_NO_SECTIONS,
    NOTE_PDB_NO_TYPES, /* of a frame without a name, which its types would give */
    NOTE_FILE_PACKED,
    NOTE_ASYNC,    /* the state machine of this method, of which only MoveNext is on the stack */
    NOTE_ITERATOR, /* the same of an iterator */
    NOTE_HIDDEN,
    NOTE_LINK_JUMP,     /* of an incremental link, before the function that it is named after */
    NOTE_STORE_MESSAGE, /* a file.ptr says why there is no file */
    NOTE_SERVER_WRONG_FILE,
    NOTE_SERVER_SILENT,
    NOTE_SERVER_REFUSED,
    NOTE_OFFLINE,

    /* What the input of frames leaves out. */
    NOTE_NAMED_BY_INPUT,
    NOTE_BREAKPAD_NO_ADDRESS,
    NOTE_NO_IL_MAP, /* of a managed method: the capture had none, so its offset is 0 */

    /* How a walk came to the frame. */
    NOTE_MODULE_UNLOADED, /* the sentence holds the module's name */
    NOTE_MACHINE_FRAME,
    NOTE_NO_MODULE_POPPED,
    NOTE_DATA_POPPED,
    NOTE_PDATA_UNREADABLE,
    NOTE_NOT_A_LEAF,
    NOTE_RETURN_UNCHECKED,
    NOTE_CODE_UNREADABLE,
    NOTE_EXPORTS_UNREADABLE,
    NOTE_START_DAMAGED,   /* what the dump says of the exception */
    NOTE_MODULES_DAMAGED, /* the dump's lists of modules */

    NOTE_OTHER, /* only stated in words, by another version of this program */
    /* The first of STOP_REASON_COUNT values: unwind data was not used, because of that reason. */
    NOTE_UNWIND_FAILED,
};

/* The note of unwind data that could not be used because of REASON. */
enum frame_note frame_note_of_stop(enum stop_reason reason);

bool frame_note_is_other_build(enum frame_note note);

/* The sentence. NULL for NOTE_NONE, NOTE_OTHER and NOTE_MODULE_UNLOADED, whose words depend on the
 * frame: use frame_note_text() of model/stack.h. */
const char *frame_note_name(enum frame_note note);

/* The reverse: NOTE_NONE for NULL, NOTE_OTHER for any other text. */
enum frame_note frame_note_parse(const char *text);

#endif
