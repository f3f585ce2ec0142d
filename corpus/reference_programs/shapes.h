/* Code of another file than its caller. */
IN int from_header(path at, int a)
{
    MARK(at);
    return a ^ sink;
}

IN int header_chain(path at, int a)
{
    return from_header(AT(at), a) + 3;
}
