//! What a thread's allocations hold at most while it works: a reader that believes a count in its input is found by it.
//!
//! Counted for each thread alone, as tests run beside each other.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, counted: the `#[global_allocator]` of a binary whose tests call [`most_held`].
#[derive(Debug)]
pub struct Counting;

impl Counting {
    fn add(bytes: isize) {
        // A thread that ends has no counters any more.
        let _ = HELD.try_with(|held| {
            held.set(held.get() + bytes);
            let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
        });
    }
}

#[expect(unsafe_code, reason = "an allocator is unsafe by trade; this one only counts around the system's")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counting::add(layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Counting::add(layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Counting::add(size as isize - layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Counting::add(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Works, and says how many bytes more than before this thread held at most.
///
/// # Panics
/// In a binary that does not count.
pub fn most_held<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    let counted = black_box(Box::new([0_u8; 64]));
    assert!(HELD.get() > before, "expected `Counting` as this binary's global allocator");
    drop(counted);
    MOST.set(before);
    let done = work();
    (done, (MOST.get() - before).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    #[test]
    fn the_most_that_is_held_at_once_counts_and_what_is_never_touched_as_well() {
        let (_, most) = most_held(|| {
            drop(black_box(vec![1_u8; 10_000]));
            drop(black_box(vec![0_u8; 30_000]));
            let mut grown = Vec::with_capacity(10);
            (0..1_000_u16).for_each(|n| grown.push(n));
            black_box(grown);
        });
        assert!((30_000..31_000).contains(&most), "{most}");
        let (_, claimed) = most_held(|| drop(black_box(Vec::<u8>::with_capacity(1 << 30))));
        assert_eq!(claimed, 1 << 30);
        let (_, none) = most_held(|| {});
        assert_eq!(none, 0);
    }
}
