//! Arrays whose size grows with the problem: no memory for one unwinds with [`OutOfMemory`] instead of ending the
//! process, as a failed allocation of `Vec` does.
//!
//! The payload of the unwinding is what `std` would use for `-Z oom=panic`: a value of a known type. Whoever calls the
//! loops of this crate turns it into an error with [`catch`]; the helper threads of [`crate::parallel::threads`] hand it on.

use std::alloc::{Layout, alloc_zeroed};
use std::any::Any;
use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What an array holds, for the message when there is no memory for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A kernel matrix.
    KernelMatrix,
    /// Rows of a kernel matrix that are kept.
    KernelRows,
    /// A number for each row and label.
    RowsByLabels,
    /// A number for each feature and label.
    FeaturesByLabels,
    /// A number for each pair of features.
    FeaturesByFeatures,
    /// A number for each pair of labels.
    LabelsByLabels,
    /// The features in another order or precision.
    Features,
    /// A number for each pair of labels of a row.
    LabelPairs,
    /// The linear programme of the Frank-Wolfe method.
    Network,
    /// A number for each row.
    Rows,
    /// A number for each feature.
    Columns,
}

impl Purpose {
    /// What the array holds, and what would make it smaller.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::KernelMatrix => (
                "the kernel matrix",
                "a smaller cache_size, which computes its rows when they are needed, or fewer rows",
            ),
            Self::KernelRows => ("rows of the kernel matrix", "a smaller cache_size"),
            Self::RowsByLabels => (
                "an array of rows by labels",
                "fewer rows or labels, or a smaller cache_size",
            ),
            Self::FeaturesByLabels => {
                ("an array of features by labels", "fewer features or labels")
            }
            Self::FeaturesByFeatures => (
                "an array of features by features",
                "fewer features, or another solver",
            ),
            Self::LabelsByLabels => ("an array of labels by labels", "fewer labels"),
            Self::Features => (
                "a copy of the features",
                "fewer rows or features, or a smaller cache_size",
            ),
            Self::LabelPairs => (
                "a dual variable for each pair of labels",
                "solver='bcd', which stores none, or fewer rows",
            ),
            Self::Network => (
                "the linear programme of the Frank-Wolfe method",
                "solver='bcd', or fewer rows",
            ),
            Self::Rows => ("an array of one number a row", "fewer rows"),
            Self::Columns => ("an array of one number a feature", "fewer features"),
        }
    }
}

/// There is no memory for an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot allocate {} for {}; expected that much free memory: try {}", size(*.bytes), .purpose.words().0, .purpose.words().1)]
pub struct OutOfMemory {
    /// Size of the array.
    pub bytes: usize,
    /// What it would have held.
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

/// Why [`catch`] has no answer.
#[derive(Debug)]
pub enum Failure {
    /// There was no memory for an array.
    Memory(OutOfMemory),
    /// A panic: a fault of this crate.
    Panic(String),
}

/// Calls `work` and returns what it unwound with, if it did.
///
/// # Errors
/// When there was no memory for an array, or `work` panicked.
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

/// Whether the allocation that the calling thread makes now may fail: an allocator with an emergency reserve keeps it
/// for those that may not.
pub fn may_fail() -> bool {
    FALLIBLE.try_with(Cell::get).unwrap_or(false)
}

/// Calls `allocate`, whose failure is handled.
fn fallibly<R>(allocate: impl FnOnce() -> R) -> R {
    let before = FALLIBLE.replace(true);
    let result = allocate();
    FALLIBLE.set(before);
    result
}

/// Room for `length` values.
///
/// # Panics
/// Unwinds with [`OutOfMemory`] when there is no memory for them.
pub fn room<T>(length: usize, purpose: Purpose) -> Vec<T> {
    let mut values = Vec::new();
    reserve(&mut values, length, purpose);
    values
}

/// Makes room for `additional` further values.
///
/// # Panics
/// As [`room`].
pub fn reserve<T>(values: &mut Vec<T>, additional: usize, purpose: Purpose) {
    let wanted = values.len().saturating_add(additional);
    if wanted > values.capacity() && fallibly(|| values.try_reserve_exact(additional)).is_err() {
        let bytes = wanted.saturating_mul(size_of::<T>());
        OutOfMemory { bytes, purpose }.raise();
    }
}

/// `length` zeros. Fresh pages of the system are zero already, and are not touched.
///
/// # Panics
/// As [`room`].
pub fn zeros(length: usize, purpose: Purpose) -> Vec<f64> {
    if length == 0 {
        return Vec::new();
    }
    let bytes = length.saturating_mul(size_of::<f64>());
    let Ok(layout) = Layout::array::<f64>(length) else {
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
///
/// # Panics
/// As [`room`], also when the product overflows.
pub fn matrix(rows: usize, columns: usize, purpose: Purpose) -> Vec<f64> {
    zeros(rows.saturating_mul(columns), purpose)
}

/// `length` times the same value.
///
/// # Panics
/// As [`room`].
pub fn filled<T: Clone>(value: T, length: usize, purpose: Purpose) -> Vec<T> {
    let mut values = room(length, purpose);
    values.resize(length, value);
    values
}

/// Makes a buffer `length` long, with the given value in what is new.
///
/// # Panics
/// As [`room`].
pub fn resize<T: Clone>(values: &mut Vec<T>, length: usize, value: T, purpose: Purpose) {
    reserve(values, length.saturating_sub(values.len()), purpose);
    values.resize(length, value);
}

/// A copy.
///
/// # Panics
/// As [`room`].
pub fn copied<T: Clone>(values: &[T], purpose: Purpose) -> Vec<T> {
    let mut copy = room(values.len(), purpose);
    copy.extend_from_slice(values);
    copy
}

/// What an iterator yields: for those that know their length, in one allocation.
///
/// # Panics
/// As [`room`].
pub fn collected<T>(values: impl IntoIterator<Item = T>, purpose: Purpose) -> Vec<T> {
    let values = values.into_iter();
    let (least, most) = values.size_hint();
    let mut collection = room(least, purpose);
    if most == Some(least) {
        // There is room for all of them: no check for each.
        collection.extend(values);
    } else {
        extend(&mut collection, purpose, values);
    }
    collection
}

/// Appends a value to a list that grows.
///
/// # Panics
/// As [`room`].
pub fn push<T>(values: &mut Vec<T>, value: T, purpose: Purpose) {
    if values.len() == values.capacity() {
        reserve(values, values.len().max(4), purpose);
    }
    values.push(value);
}

/// Appends what an iterator yields.
///
/// # Panics
/// As [`room`].
pub fn extend<T>(values: &mut Vec<T>, purpose: Purpose, more: impl IntoIterator<Item = T>) {
    for value in more {
        push(values, value, purpose);
    }
}

/// Unwinds unless `bytes` could be allocated now: before a library allocates them, whose failure would end the process.
///
/// # Panics
/// As [`room`].
pub fn probe(bytes: usize, purpose: Purpose) {
    // Unused memory would be optimised away, and the question with it.
    drop(black_box(room::<u8>(bytes, purpose)));
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
    fn an_array_that_does_not_fit_is_an_error_with_its_size_and_advice() {
        let purpose = Purpose::KernelMatrix;
        let tries: [fn(usize); 6] = [
            |n| drop(black_box(zeros(n, Purpose::KernelMatrix))),
            |n| drop(black_box(matrix(n, n, Purpose::KernelMatrix))),
            |n| drop(black_box(filled(1.0, n, Purpose::KernelMatrix))),
            |n| drop(black_box(room::<f64>(n, Purpose::KernelMatrix))),
            |n| resize(black_box(&mut vec![1.0]), n, 0.0, Purpose::KernelMatrix),
            |n| probe(8 * n, Purpose::KernelMatrix),
        ];
        for too_large in tries {
            let error = memory(catch(|| too_large(TOO_LARGE)));
            assert_eq!(error.purpose, purpose);
            assert!(error.bytes >= TOO_LARGE);
            assert!(!may_fail());
        }
        let error = OutOfMemory {
            bytes: 28_800_000_000,
            purpose,
        };
        assert!(
            error
                .to_string()
                .contains("28.800 GB for the kernel matrix")
        );
        assert!(error.to_string().contains("cache_size"));
    }

    #[test]
    fn values_are_those_of_the_standard_library() {
        let purpose = Purpose::Rows;
        assert_eq!(zeros(0, purpose), Vec::<f64>::new());
        assert_eq!(zeros(3, purpose), vec![0.0; 3]);
        assert_eq!(matrix(2, 3, purpose), vec![0.0; 6]);
        assert_eq!(filled(7_u32, 3, purpose), vec![7; 3]);
        assert_eq!(copied(&[1, 2], purpose), vec![1, 2]);
        assert_eq!(
            collected((0..100).filter(|i| i % 3 == 0), purpose),
            (0..100).step_by(3).collect::<Vec<_>>()
        );
        let mut buffer = vec![1];
        resize(&mut buffer, 3, 5, purpose);
        assert_eq!(buffer, vec![1, 5, 5]);
    }

    #[test]
    fn failures_of_helper_threads_reach_the_caller() {
        for _ in 0..50 {
            let threads = Threads::new(3);
            let mut data = vec![0; 64];
            let error = memory(catch(|| {
                threads.for_each_chunk(&mut data, 1, |_, _| {
                    drop(black_box(zeros(TOO_LARGE, Purpose::Rows)))
                });
            }));
            assert_eq!(error.purpose, Purpose::Rows);
        }
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
