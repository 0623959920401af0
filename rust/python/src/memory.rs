//! The allocator: large arrays on large pages, as in NumPy, and a reserve for small allocations.
//!
//! Filling a kernel matrix of 512 MB touches 125,000 new pages of 4 kB, which takes as long as the arithmetic, and the
//! system handles them for one thread at a time. Linux provides pages of 2 MB on request.
//!
//! Allocations of the solvers' large arrays may fail ([`multimargin_solvers::memory`]). An allocation that must not fail,
//! such as one row or one inside a library, would abort the process when memory runs out: the reserve is released for it,
//! and the call ends with a `MemoryError` at the next poll of its monitor.

use multimargin_solvers::memory::may_fail;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Address space kept for allocations that must not fail; none of its pages is touched.
const RESERVE: Layout = match Layout::from_size_align(64 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<u8>(),
};

static RESERVED: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Allocates the reserve unless it exists already; false if there is no memory for it.
pub fn keep_reserve() -> bool {
    if !RESERVED.load(Ordering::Acquire).is_null() {
        return true;
    }
    // SAFETY: The layout is not empty.
    let start = unsafe { System.alloc(RESERVE) };
    if start.is_null() {
        return false;
    }
    let kept = RESERVED.compare_exchange(null_mut(), start, Ordering::AcqRel, Ordering::Acquire);
    if kept.is_err() {
        // SAFETY: Another thread was first: what was just allocated goes back.
        unsafe { System.dealloc(start, RESERVE) };
    }
    true
}

/// Whether the reserve has been released.
pub fn reserve_is_spent() -> bool {
    RESERVED.load(Ordering::Acquire).is_null()
}

/// Returns the reserve to the system; false if there is none.
fn spend_reserve() -> bool {
    let start = RESERVED.swap(null_mut(), Ordering::AcqRel);
    if start.is_null() {
        return false;
    }
    // SAFETY: It was allocated with this layout, and the swap hands it to one thread only.
    unsafe { System.dealloc(start, RESERVE) };
    true
}

/// The system's allocator, which requests large pages for large arrays and releases the reserve for allocations that must
/// not fail.
pub struct Allocator;

/// Allocates, and tries again if releasing the reserve made room.
fn with_reserve(size: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let mut start = allocate();
    if start.is_null() && !may_fail() && spend_reserve() {
        start = allocate();
    }
    ask_for_large_pages(start, size);
    start
}

// SAFETY: All memory comes from and goes to `System`, with the layouts of the caller.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller's promises are those that `System` asks for.
        with_reserve(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: As above.
        with_reserve(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: As above; a call that fails leaves the old memory as it is.
        with_reserve(size, || unsafe { System.realloc(start, layout, size) })
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: As above.
        unsafe { System.dealloc(start, layout) }
    }
}

#[cfg(target_os = "linux")]
fn ask_for_large_pages(start: *mut u8, size: usize) {
    // Size of the smallest array for which large pages are requested, as in NumPy.
    const LARGE: usize = 4 << 20;
    const PAGE: usize = 4096;
    if size < LARGE || start.is_null() {
        return;
    }
    // Starts at the page in which the array begins: with different advice for the allocator's own bytes before it, the
    // mapping would be split in two, and a growing array copied instead of remapped.
    let before = start.addr() % PAGE;
    // SAFETY: The pages are those of the memory just allocated, and the advice does not change their contents. It may be
    // refused, which leaves small pages.
    unsafe {
        libc::madvise(
            start.wrapping_sub(before).cast(),
            size + before,
            libc::MADV_HUGEPAGE,
        );
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_start: *mut u8, _size: usize) {}
