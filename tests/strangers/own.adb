--  Packages, generics, tasks, tagged types and exceptions of the standard library.
with Ada.Containers.Vectors, Ada.Containers.Indefinite_Ordered_Maps, Ada.Strings.Unbounded, Ada.Text_IO, Ada.Exceptions;
use Ada.Strings.Unbounded;

procedure Own is
   package Shapes is
      type Shape is abstract tagged null record;
      function Area (S : Shape) return Float is abstract;
      type Circle is new Shape with record R : Float; end record;
      overriding function Area (S : Circle) return Float;
      type Square is new Shape with record Side : Float; end record;
      overriding function Area (S : Square) return Float;
   end Shapes;
   package body Shapes is
      overriding function Area (S : Circle) return Float is (3.14 * S.R * S.R);
      overriding function Area (S : Square) return Float is (S.Side * S.Side);
   end Shapes;
   package Numbers is new Ada.Containers.Vectors (Positive, Integer);
   package Counts is new Ada.Containers.Indefinite_Ordered_Maps (String, Natural);
   package Sorting is new Numbers.Generic_Sorting;
   generic
      type T is private;
      with function "+" (A, B : T) return T is <>;
   function Twice (X : T) return T;
   function Twice (X : T) return T is (X + X);
   function Double is new Twice (Integer);
   task type Worker (N : Integer) is
      entry Result (R : out Integer);
   end Worker;
   task body Worker is
   begin
      accept Result (R : out Integer) do R := Double (N); end Result;
   end Worker;
   function Total (S : Shapes.Shape'Class) return Float is (S.Area);
   V : Numbers.Vector;
   C : Counts.Map;
   W : Worker (4);
   R : Integer;
begin
   for I in 1 .. 9 loop V.Append (Double (10 - I)); end loop;
   Sorting.Sort (V);
   C.Insert ("crash", 2);
   C.Include ("dump", C ("crash") + 1);
   W.Result (R);
   Ada.Text_IO.Put_Line (To_String (To_Unbounded_String ("sum") & Float'Image (Total (Shapes.Circle'(R => 1.0)) + Total (Shapes.Square'(Side => 2.0)))) & Integer'Image (V (1) + R));
   declare
      Bad : Integer := V (Integer (C.Length) + 40);
   begin
      Ada.Text_IO.Put_Line (Integer'Image (Bad));
   end;
exception
   when E : others => Ada.Text_IO.Put_Line (Ada.Exceptions.Exception_Name (E));
end Own;
