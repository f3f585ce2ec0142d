/* One row of the table of routes. */
#ifndef HTTP_ROUTE_H
#define HTTP_ROUTE_H

struct exchange;
struct view;

typedef int route_handler(struct exchange *x);

enum route_flag {
    ROUTE_OPEN = 1 << 0,   /* needs no token even when other machines may ask */
    ROUTE_WRITES = 1 << 1, /* 403 unless --allow-write, and the token         */
    ROUTE_BODY = 1 << 2,   /* parses what a client sends, or files: on a deep stack */
};

struct route {
    const char *method;  /* "GET" also answers HEAD */
    const char *pattern; /* see http_path_match()   */
    route_handler *handler;
    unsigned flags;          /* of enum route_flag        */
    const struct view *view; /* for answer_view; else NULL                */
    const char *summary;     /* what it is; NULL for pages                */
};

#endif
