#![feature(no_core, lang_items, rustc_attrs, auto_traits)]
#![no_core]
#![no_main]
#![allow(internal_features)]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy {}
#[lang = "legacy_receiver"]
pub trait LegacyReceiver {}
impl<T: PointeeSized> LegacyReceiver for &T {}
#[lang = "freeze"]
unsafe auto trait Freeze {}
impl Copy for u32 {}
impl<'a, T: PointeeSized> Copy for &'a T {}

#[lang = "add"]
pub trait Add<R = Self> { type Output; fn add(self, r: R) -> Self::Output; }
impl Add for u32 { type Output = u32; #[inline(always)] fn add(self, r: u32) -> u32 { self + r } }
#[lang = "mul"]
pub trait Mul<R = Self> { type Output; fn mul(self, r: R) -> Self::Output; }
impl Mul for u32 { type Output = u32; #[inline(always)] fn mul(self, r: u32) -> u32 { self * r } }

pub trait Shape { fn area(&self) -> u32; }
pub struct Square(u32);
pub struct Pair<T>(T, T);
impl Shape for Square { #[inline(never)] fn area(&self) -> u32 { self.0 * self.0 } }
impl<T: Shape> Shape for Pair<T> {
    #[inline(always)]
    fn area(&self) -> u32 { self.0.area() + self.1.area() }
}

#[inline(always)]
fn twice(a: u32) -> u32 {
    a + a
}

#[inline(always)]
fn mix(a: u32, b: u32) -> u32 {
    let c = twice(a);
    c * b + twice(c)
}

#[inline(never)]
fn total<T: Shape>(shape: &T, n: u32) -> u32 {
    let area = shape.area();
    mix(area, n)
}

mod deep {
    pub mod er {
        #[inline(never)]
        pub fn inner(a: u32) -> u32 {
            super::super::mix(a, 3) + super::super::mix(a, 5)
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn start() -> u32 {
    let pair = Pair(Square(3), Pair(Square(4), Square(5)).0);
    total(&pair, 7) + total(&Square(2), 1) + deep::er::inner(9)
}
