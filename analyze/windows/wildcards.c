/* The C runtime of mingw-w64 expands * and ? in arguments, as a shell does, if this variable is -1.
 * With MSVC, setargv.obj does it. */
extern int _dowildcard;
int _dowildcard = -1;
