//! Large arrays on large pages, as NumPy has its own.
//!
//! A kernel matrix of 512 MB touches 125,000 pages of 4 kB for the first time, which takes as long as its arithmetic,
//! and the system does it for one thread at a time. Linux uses pages of 2 MB for those who ask.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which asks for large pages for large arrays.
pub struct LargePages;

// SAFETY: All memory comes from and goes to `System`, with the layouts of the caller.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller's promises are those that `System` asks for.
        let start = unsafe { System.alloc(layout) };
        ask(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: As above.
        let start = unsafe { System.alloc_zeroed(layout) };
        ask(start, layout.size());
        start
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: As above.
        let start = unsafe { System.realloc(start, layout, size) };
        ask(start, size);
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: As above.
        unsafe { System.dealloc(start, layout) }
    }
}

#[cfg(target_os = "linux")]
fn ask(start: *mut u8, size: usize) {
    // Of the smallest array that asks, as in NumPy.
    const LARGE: usize = 4 << 20;
    const PAGE: usize = 4096;
    if size < LARGE || start.is_null() {
        return;
    }
    let skipped = start.align_offset(PAGE);
    // SAFETY: The range lies within the memory just allocated, and the advice does not change its contents. It may be
    // refused, which leaves small pages.
    unsafe {
        libc::madvise(
            start.add(skipped).cast(),
            size - skipped,
            libc::MADV_HUGEPAGE,
        );
    }
}

#[cfg(not(target_os = "linux"))]
fn ask(_start: *mut u8, _size: usize) {}
