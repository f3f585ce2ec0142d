//! What names of Rust can look like, and its inlined calls. The module of the outermost function is the shape.
#![no_std]
#![crate_type = "lib"]
#![allow(clippy::all)]

use core::ptr::{read_volatile, write_volatile};

static mut SINK: u32 = 0;

#[inline(never)]
fn callee(a: u32) -> u32 {
    unsafe {
        write_volatile(&raw mut SINK, a);
        read_volatile(&raw const SINK) ^ 5
    }
}

pub mod generics {
    use super::callee;

    pub struct Pair<T>(T, T);

    impl<T: Into<u32> + Copy> Pair<T> {
        #[inline(never)]
        pub fn sum(&self) -> u32 {
            callee(self.0.into()).wrapping_add(callee(self.1.into()))
        }
    }

    #[inline(never)]
    pub fn array<const N: usize>(a: [u32; N]) -> u32 {
        let mut sum = 0u32;
        for x in a.iter() {
            sum = sum.wrapping_mul(3).wrapping_add(callee(*x));
        }
        sum
    }

    #[no_mangle]
    pub extern "C" fn generics_use(a: u32) -> u32 {
        Pair(a, 2).sum() ^ Pair(3u8, 4u8).sum() ^ array([a, 1]) ^ array([a; 5])
    }
}

pub mod traits {
    use super::callee;

    pub trait Shape {
        fn area(&self) -> u32;
        #[inline(never)]
        fn twice(&self) -> u32 {
            self.area().wrapping_mul(callee(2))
        }
    }

    pub struct Square(u32);
    pub struct Strip<'a>(&'a [u32]);

    impl Shape for Square {
        #[inline(never)]
        fn area(&self) -> u32 {
            callee(self.0).wrapping_mul(self.0)
        }
    }

    impl<'a> Shape for Strip<'a> {
        #[inline(never)]
        fn area(&self) -> u32 {
            self.0.iter().map(|x| callee(*x)).fold(0, |a, b| a.wrapping_add(b))
        }
    }

    #[inline(never)]
    fn dynamic(s: &dyn Shape) -> u32 {
        s.area() ^ s.twice()
    }

    #[no_mangle]
    pub extern "C" fn traits_use(a: u32) -> u32 {
        dynamic(&Square(a)) ^ dynamic(&Strip(&[a, 2, 3])) ^ Square(a).twice()
    }
}

pub mod closures {
    use super::callee;

    #[inline(never)]
    fn call<F: FnMut(u32) -> u32>(mut f: F) -> u32 {
        f(callee(1)) ^ f(2)
    }

    #[inline(always)]
    fn inner(a: u32) -> u32 {
        callee(a).rotate_left(3)
    }

    #[inline(always)]
    fn outer(a: u32) -> u32 {
        inner(a ^ 1).wrapping_sub(inner(a))
    }

    #[no_mangle]
    pub extern "C" fn closures_use(a: u32) -> u32 {
        let mut n = a;
        call(|x| {
            n = n.wrapping_add(x);
            callee(n)
        }) ^ call(|x| outer(x) ^ (|y: u32| callee(y.wrapping_mul(3)))(a))
            ^ outer(n)
    }
}

pub mod macros {
    use super::callee;

    macro_rules! step {
        ($a:expr) => {
            callee($a).wrapping_add(callee($a ^ 1))
        };
    }

    #[no_mangle]
    pub extern "C" fn macros_use(a: u32) -> u32 {
        let b = step!(a);
        b ^ step!(b.swap_bytes())
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
