/* Texts in XML that this program writes. */
#ifndef BASE_XML_H
#define BASE_XML_H

#include <stdio.h>

/* Writes TEXT (NULL: nothing) as the content of an element or of an attribute in double quotes. A
 * control character, which XML 1.0 cannot hold, becomes '?'; the end of a line is kept as a
 * character reference, so that an attribute keeps it. Source: XML 1.0, sections 2.2, 2.4, 3.3.3. */
void xml_text(FILE *out, const char *text);

/* Writes ` NAME="VALUE"`. */
void xml_attribute(FILE *out, const char *name, const char *value);

#endif
