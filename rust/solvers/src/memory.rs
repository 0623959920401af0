//! Matrices whose size grows with the problem (rows by rows, rows by labels, features by labels): failure to allocate one
//! unwinds with [`OutOfMemory`] instead of aborting the process, as a failed allocation of `Vec` does.
//!
//! The payload of the unwinding is a value of a known type, as in `std` with `-Z oom=panic`. Callers of the crate's loops
//! turn it into an error with [`catch`]; the helper threads of [`crate::parallel::threads`] pass it on.

use std::alloc::{Layout, alloc_zeroed};
use std::any::Any;
use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The contents of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A kernel matrix.
    KernelMatrix,
    /// Cached rows of a kernel matrix.
    KernelRows,
    /// A number for each pair of labels of a row.
    LabelPairs,
    /// Numbers for each pair of labels.
    LabelNetwork,
    /// A number for each row, feature or label and each label or feature.
    Matrix,
}

impl Purpose {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::KernelMatrix => "the kernel matrix",
            Self::KernelRows => "rows of the kernel matrix",
            Self::LabelPairs => "a dual variable for each pair of labels",
            Self::LabelNetwork => "the labels' network of a free bias",
            Self::Matrix => "a matrix",
        }
    }
}

/// An array could not be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot allocate {} for {}; expected that much free memory", size(*.bytes), .purpose.name())]
pub struct OutOfMemory {
    /// Size of the array.
    pub bytes: usize,
    /// Its contents.
    pub purpose: Purpose,
}

impl OutOfMemory {
    /// Unwinds to [`catch`].
    fn raise(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

fn size(bytes: usize) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "kB", "MB", "GB", "TB"] {
        if value < 1000.0 {
            return format!("{value:.3} {unit}").replace(".000 bytes", " bytes");
        }
        value /= 1000.0;
    }
    format!("{value:.3e} PB")
}

/// The reason why [`catch`] has no result.
#[derive(Debug)]
pub enum Failure {
    /// An array could not be allocated.
    Memory(OutOfMemory),
    /// A panic: a bug in this crate.
    Panic(String),
}

/// Calls `work`, and returns the payload if it unwinds.
///
/// # Errors
/// When an array could not be allocated, or `work` panicked.
pub fn catch<R>(work: impl FnOnce() -> R) -> Result<R, Failure> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| failure(&*payload))
}

fn failure(payload: &(dyn Any + Send)) -> Failure {
    if let Some(error) = payload.downcast_ref::<OutOfMemory>() {
        return Failure::Memory(*error);
    }
    let message = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    Failure::Panic(message.unwrap_or("no message").to_owned())
}

thread_local! {
    static FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the allocation that the calling thread is making may fail: an allocator with an emergency reserve keeps it for
/// those that must not.
pub fn may_fail() -> bool {
    FALLIBLE.try_with(Cell::get).unwrap_or(false)
}

/// Calls `allocate` where failure is handled.
fn fallibly<R>(allocate: impl FnOnce() -> R) -> R {
    let before = FALLIBLE.replace(true);
    let result = allocate();
    FALLIBLE.set(before);
    result
}

/// Room for `length` values.
///
/// # Panics
/// Unwinds with [`OutOfMemory`] if they cannot be allocated, like all functions below.
pub fn room<T>(length: usize) -> Vec<T> {
    let mut values = Vec::new();
    reserve(&mut values, length);
    values
}

/// Makes room for `additional` further values.
pub fn reserve<T>(values: &mut Vec<T>, additional: usize) {
    reserve_for(values, additional, Purpose::Matrix);
}

fn reserve_for<T>(values: &mut Vec<T>, additional: usize, purpose: Purpose) {
    let wanted = values.len().saturating_add(additional);
    if wanted > values.capacity() && fallibly(|| values.try_reserve_exact(additional)).is_err() {
        let bytes = wanted.saturating_mul(size_of::<T>());
        OutOfMemory { bytes, purpose }.raise();
    }
}

/// A stored number: in double precision, or in single precision with half the memory. All arithmetic is in double precision.
///
/// # Safety
/// All bits 0 are the number 0.
pub unsafe trait Number: Copy + Default + Send + Sync + Into<f64> {
    /// The nearest number of this type.
    fn nearest(value: f64) -> Self;
}

// SAFETY: As IEEE 754 says.
unsafe impl Number for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}

// SAFETY: As IEEE 754 says.
unsafe impl Number for f32 {
    fn nearest(value: f64) -> Self {
        value as Self
    }
}

/// `length` zeros. Fresh pages of the system are zero already, and are not touched.
pub fn zeros(length: usize) -> Vec<f64> {
    zeros_for(length, Purpose::Matrix)
}

/// The same, with the contents named for an error.
pub fn zeros_for<T: Number>(length: usize, purpose: Purpose) -> Vec<T> {
    if length == 0 {
        return Vec::new();
    }
    let bytes = length.saturating_mul(size_of::<T>());
    let Ok(layout) = Layout::array::<T>(length) else {
        OutOfMemory { bytes, purpose }.raise();
    };
    // SAFETY: The layout is not empty.
    let start = fallibly(|| unsafe { alloc_zeroed(layout) });
    if start.is_null() {
        OutOfMemory { bytes, purpose }.raise();
    }
    // SAFETY: The memory comes from the global allocator with the layout of `length` numbers, all of whose bits are 0.
    unsafe { Vec::from_raw_parts(start.cast(), length, length) }
}

/// `rows * columns` zeros.
pub fn matrix<T: Number>(rows: usize, columns: usize) -> Vec<T> {
    zeros_for(rows.saturating_mul(columns), Purpose::Matrix)
}

/// `length` times the same value.
pub fn filled<T: Clone>(value: T, length: usize) -> Vec<T> {
    let mut values = room(length);
    values.resize(length, value);
    values
}

/// Resizes a buffer to `length`, filling new places with the given value.
pub fn resize<T: Clone>(values: &mut Vec<T>, length: usize, value: T) {
    reserve(values, length.saturating_sub(values.len()));
    values.resize(length, value);
}

/// A copy.
pub fn copied<T: Clone>(values: &[T]) -> Vec<T> {
    let mut copy = room(values.len());
    copy.extend_from_slice(values);
    copy
}

/// Collects an iterator, in one allocation if it knows its length.
pub fn collected<T>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let values = values.into_iter();
    let (least, most) = values.size_hint();
    let mut collection = room(least);
    if most == Some(least) {
        // There is room for all of them, so nothing is checked for each.
        collection.extend(values);
    } else {
        extend(&mut collection, values);
    }
    collection
}

/// Appends a value to a growing list.
pub fn push<T>(values: &mut Vec<T>, value: T) {
    make_room(values, 1);
    values.push(value);
}

/// Appends zeros to a growing list.
pub fn grow<T: Number>(values: &mut Vec<T>, zeros: usize) {
    make_room(values, zeros);
    values.resize(values.len() + zeros, T::default());
}

/// Appends a copy of some values to a growing list.
pub fn append<T: Clone>(values: &mut Vec<T>, more: &[T]) {
    make_room(values, more.len());
    values.extend_from_slice(more);
}

/// Makes room for further values; if the list has to be moved, its capacity is doubled.
fn make_room<T>(values: &mut Vec<T>, additional: usize) {
    if values.capacity() - values.len() < additional {
        reserve(values, additional.max(values.len()).max(4));
    }
}

/// Appends the items of an iterator.
pub fn extend<T>(values: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for value in more {
        push(values, value);
    }
}

/// Unwinds unless `bytes` can be allocated now: called before a library allocates them, whose failure would abort the
/// process.
pub fn probe(bytes: usize, purpose: Purpose) {
    let mut unused: Vec<u8> = Vec::new();
    reserve_for(&mut unused, bytes, purpose);
    // An unused allocation would be optimised away, and the test with it.
    drop(black_box(unused));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::threads::Threads;

    const TOO_LARGE: usize = usize::MAX / 64;

    fn memory(failure: Result<(), Failure>) -> OutOfMemory {
        match failure {
            Err(Failure::Memory(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where memory does")]
    fn an_array_that_does_not_fit_is_an_error_with_its_size() {
        let tries: [fn(usize); 5] = [
            |n| drop(black_box(zeros(n))),
            |n| drop(black_box(matrix::<f32>(n, n))),
            |n| drop(black_box(filled(1.0, n))),
            |n| resize(black_box(&mut vec![1.0]), n, 0.0),
            |n| probe(8 * n, Purpose::Matrix),
        ];
        for too_large in tries {
            let error = memory(catch(|| too_large(TOO_LARGE)));
            assert_eq!(error.purpose, Purpose::Matrix);
            assert!(error.bytes >= TOO_LARGE);
            assert!(!may_fail());
        }
        let error = OutOfMemory {
            bytes: 28_800_000_000,
            purpose: Purpose::KernelMatrix,
        };
        assert!(
            error
                .to_string()
                .contains("28.800 GB for the kernel matrix")
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri ends where memory does")]
    fn failures_of_helper_threads_reach_the_caller() {
        for _ in 0..50 {
            let threads = Threads::new(3);
            let mut data = vec![0; 64];
            let error = memory(catch(|| {
                threads.for_each_chunk(&mut data, 1, |_, _| drop(black_box(zeros(TOO_LARGE))));
            }));
            assert_eq!(error.bytes, 8 * TOO_LARGE);
        }
    }

    #[test]
    fn fresh_numbers_are_zeros_that_grow() {
        let (mut double, mut single) = (zeros(70), matrix::<f32>(7, 10));
        extend(&mut double, single.drain(..).map(f64::from));
        assert_eq!(double, [0.0; 140]);
        assert_eq!(matrix::<f64>(0, 3), []);
    }

    #[test]
    fn a_panic_is_a_failure_with_its_message() {
        for work in [|| panic!("in {}", "words"), || panic!("in words")] {
            let work: fn() = work;
            match catch(work) {
                Err(Failure::Panic(message)) => assert_eq!(message, "in words"),
                other => panic!("{other:?}"),
            }
        }
    }
}
