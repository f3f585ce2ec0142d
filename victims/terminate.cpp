/* std::terminate leads to the capture.  The hook belongs to the C++ library
 * of the program, so a capture in C cannot set it. */
#include <exception>

#include "victims/victim.h"

extern "C" void victim_open_terminate_hook(void);

extern "C" void victim_open_terminate_hook(void)
{
    std::set_terminate(capture_on_terminate);
}
