/* Shared by the launcher and the victims. */
#ifndef VICTIMS_LIMIT_H
#define VICTIMS_LIMIT_H

/* The environment variable in which a victim finds its time limit in ms. It is longer than the one
 * that its scenario states if more programs run than processors. */
#define LIMIT_VARIABLE L"TWINSTACK_LIMIT_MS"

#endif
