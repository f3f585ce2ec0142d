/* See xml.h. */
#include "base/xml.h"

void xml_text(FILE *out, const char *text)
{
    for (; text != NULL && *text != 0; text++)
        switch (*text) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        case '\n':
            (void)fputs("&#10;", out);
            break;
        default:
            (void)fputc((unsigned char)*text < 0x20 ? '?' : *text, out);
        }
}

void xml_attribute(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, " %s=\"", name);
    xml_text(out, value);
    (void)fputc('"', out);
}
