//! Memory that is read soon, asked for ahead of time: of many streams at once, or short ones, the processor foresees little.

/// Asks for the cache line of `values[index]`, which may lie past the end; nothing on processors other than x86-64.
#[inline(always)]
pub fn prefetch(values: &[f64], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = values.as_ptr().wrapping_add(index);
        // SAFETY: A prefetch is a hint, which faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}
