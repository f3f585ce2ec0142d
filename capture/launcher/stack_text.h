/* A record from a stack in text form. */
#ifndef CAPTURE_LAUNCHER_STACK_TEXT_H
#define CAPTURE_LAUNCHER_STACK_TEXT_H

#include <stdbool.h>
#include <wchar.h>

/* Reads the first stack of FOLDER\stack.txt (`module!0xHEX`, innermost first; `?!0xADDRESS` in no
 * module; @i, @r: interrupted or return, else the first is interrupted) and writes
 * FOLDER\record.rec. A module is looked up next to PROGRAM, then among the system's modules, and
 * gets the identity of the file found. False: there is no such text, or the record cannot be
 * written. */
bool stack_text_to_record(const wchar_t *folder, const wchar_t *program);

#endif
