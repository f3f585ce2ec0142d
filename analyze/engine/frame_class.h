/* Whose code a frame is, decided in one place for every engine.
 *
 * By the compiland (the object file, as the PDB's DBI module names it) that holds the
 * function, and by whether the image is one of the case's own:
 *   own        an object of victims/: of a target victims-* or plugin-*
 *   capture    an object of capture/
 *   runtime    any other object in our images (the C runtime, import thunks)
 *   system     any other image
 *   generated  code that the program made and registered
 *   none       no known module
 * An inline frame has the class of the function that holds it. */
#ifndef ENGINE_FRAME_CLASS_H
#define ENGINE_FRAME_CLASS_H

#include "model/case.h"
#include "model/stack.h"

/* Sets frame_class of every frame of STACK. A case without own images (an imported dump) has no
 * truth to compare with, so images with a PDB count as own. */
void frame_class_assign(const struct crash_case *crash, struct stack *stack);

/* Drops the frames of modules that come with the system from a physical stack, in place. */
void frame_class_drop_system(struct stack *physical);

/* The class of code in one of our own images, from the path of its object file. */
enum frame_class frame_class_of_compiland(const char *compiland);

#endif
