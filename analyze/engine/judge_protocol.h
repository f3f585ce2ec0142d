/* judge:NAME as a contestant of the reference suite: see judge_protocol.c. */
#ifndef ENGINE_JUDGE_PROTOCOL_H
#define ENGINE_JUDGE_PROTOCOL_H

#include "engine/judge.h"

/* Writes the questions, a line each: about the thread under suspicion, and of a hang about all
 * others. None where the dump cannot be read. */
void judge_protocol_write(struct json *j, const struct judge_work *w);

/* True when TEXT begins with the welcome of a contestant. */
bool judge_protocol_speaks(const char *text);

/* Reads welcome and answers into W->out. TEXT, which ends with a byte 0, is changed. Fails:
 * ERR_MALFORMED; ERR_IO with out->why, no thread has frames; ERR_MEMORY. */
enum status judge_protocol_read(const struct judge_work *w, char *text);

#endif
