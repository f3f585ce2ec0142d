/* The body of every link_<room> program: linking it is the test. */
int main(void)
{
    return 0;
}
