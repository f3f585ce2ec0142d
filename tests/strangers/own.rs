use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

trait Shape {
    fn area(&self) -> f64;
}
struct Circle(f64);
struct Square(f64);
impl Shape for Circle {
    fn area(&self) -> f64 {
        3.14 * self.0 * self.0
    }
}
impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

fn show<T: Display>(items: impl Iterator<Item = T>) -> String {
    items.map(|i| i.to_string()).collect::<Vec<_>>().join(", ")
}

fn main() {
    let shapes: Vec<Box<dyn Shape>> = (1..9).map(|i| if i % 2 == 0 { Box::new(Circle(i as f64)) as Box<dyn Shape> } else { Box::new(Square(i as f64)) }).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in "crash dump crash stack".split_whitespace() {
        *counts.entry(word.to_string()).or_default() += 1;
    }
    let sorted: BTreeMap<_, _> = counts.iter().collect();
    let total: f64 = shapes.iter().map(|s| s.area()).sum();
    println!("{} {}", show(sorted.keys()), show([total].iter()));
    let parsed: Result<Vec<i32>, _> = "1 2 x".split(' ').map(str::parse::<i32>).collect();
    if let Err(e) = parsed {
        eprintln!("{e}");
    }
}
