// Much of the standard library: templates, ranges, closures, contracts, exceptions.
module own;

import std.algorithm, std.array, std.conv, std.format, std.range, std.stdio, std.string, std.typecons;

interface Shape
{
    double area();
}

class Circle : Shape
{
    double r;
    this(double r) { this.r = r; }
    double area() { return 3.14 * r * r; }
}

struct Square
{
    double side;
    double area() const in (side >= 0) { return side * side; }
}

auto fold(alias step, T, R)(T[] items, R start)
{
    foreach (item; items)
        start = step(start, item);
    return start;
}

int risky(int n)
{
    scope (exit) writeln("left");
    try
    {
        auto items = new int[n];
        return items[n - 1] + to!int("x");
    }
    catch (ConvException e)
        return cast(int) e.msg.length;
}

void main(string[] args)
{
    Shape[] shapes = [new Circle(1), new Circle(args.length)];
    writeln(fold!((a, s) => a + s.area)(shapes, 0.0), Square(2).area);
    int[string] counts;
    foreach (word; "crash dump crash stack".split)
        counts[word]++;
    auto keys = counts.keys.sort!((a, b) => counts[a] > counts[b]).array;
    writeln(keys.join(", "), iota(1, 20).filter!(x => x % 2 == 1).map!(x => x * x).take(4));
    writeln(format("%s %05d %g", tuple(1, "a"), 42, 2.5), risky(3));
}
