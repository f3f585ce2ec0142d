# For plugins, and programs without the capture.
#include "../../capture/chkstk.S"
