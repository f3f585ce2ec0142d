static int factor = 3;
int offset;
int scaled(int x)
{
    return x * factor++ + offset;
}
