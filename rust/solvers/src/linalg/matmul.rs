//! Matrix products on slices: a checked wrapper of the kernels of the `gemm` crates.

use gemm_common::Parallelism;
use gemm_f64::gemm::f64::get_gemm_fn;

use crate::parallel::threads::Threads;

/// Rows of a product that one thread computes at a time: enough to reach the speed of a large product.
const ROWS: usize = 128;

/// A strided view of a matrix inside a slice: element `(i, j)` is at `i * row_stride + j * column_stride`.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The slice that holds the elements.
    pub data: &'a [f64],
    /// Distance between two rows.
    pub row_stride: usize,
    /// Distance between two columns.
    pub column_stride: usize,
}

impl<'a> View<'a> {
    /// A row-major matrix whose rows are `stride` apart.
    pub fn rows(data: &'a [f64], stride: usize) -> Self {
        Self {
            data,
            row_stride: stride,
            column_stride: 1,
        }
    }

    /// The transpose.
    pub fn transposed(self) -> Self {
        Self {
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// `C = A B` for `A` of shape `m x k`, `B` of shape `k x n` and a row-major `C`. Runs on the calling thread.
///
/// # Panics
/// When a view is too short for its shape.
pub fn multiply(shape: (usize, usize, usize), a: View<'_>, b: View<'_>, c: &mut [f64]) {
    multiply_strided(shape, a, b, c, shape.2, false);
}

/// The same, added to `C`.
///
/// # Panics
/// When a view is too short for its shape.
pub fn multiply_add(shape: (usize, usize, usize), a: View<'_>, b: View<'_>, c: &mut [f64]) {
    multiply_strided(shape, a, b, c, shape.2, true);
}

/// `C = A B`, or `C += A B`, with the rows divided among threads.
pub fn multiply_rows(
    threads: &Threads,
    (m, k, n): (usize, usize, usize),
    a: View<'_>,
    b: View<'_>,
    c: &mut [f64],
    accumulate: bool,
) {
    let rows = ROWS.min(m);
    threads.for_each_chunk(c, rows * n, |index, c| {
        let data = &a.data[index * rows * a.row_stride..];
        multiply_strided((c.len() / n, k, n), View { data, ..a }, b, c, n, accumulate);
    });
}

/// `C = A B` (or `C += A B` when `accumulate`) for `A` of shape `m x k`, `B` of shape `k x n` and a row-major `C`
/// whose rows are `stride` apart. Runs on the calling thread.
///
/// # Panics
/// When a view is too short for its shape.
pub fn multiply_strided(
    (m, k, n): (usize, usize, usize),
    a: View<'_>,
    b: View<'_>,
    c: &mut [f64],
    stride: usize,
    accumulate: bool,
) {
    if m == 0 || n == 0 {
        return;
    }
    let last = |rows: usize, columns: usize, row_stride: usize, column_stride: usize| {
        if rows == 0 || columns == 0 {
            0
        } else {
            (rows - 1) * row_stride + (columns - 1) * column_stride + 1
        }
    };
    assert!(
        last(m, k, a.row_stride, a.column_stride) <= a.data.len(),
        "left factor too short"
    );
    assert!(
        last(k, n, b.row_stride, b.column_stride) <= b.data.len(),
        "right factor too short"
    );
    assert!(
        n <= stride && last(m, n, stride, 1) <= c.len(),
        "product too short"
    );
    // The kernels are fastest if the product has contiguous columns: with several columns, C' = B' A' is computed.
    let (m, n, a, b, column_stride, row_stride) = if stride > 1 {
        (n, m, b.transposed(), a.transposed(), stride, 1)
    } else {
        (m, n, a, b, 1, 1)
    };
    // SAFETY: the assertions above show that every element the product touches lies inside its slice, `c` is borrowed
    // mutably and so overlaps neither factor, and strides of slices in memory fit isize.
    unsafe {
        get_gemm_fn()(
            m,
            n,
            k,
            c.as_mut_ptr(),
            column_stride as isize,
            row_stride,
            accumulate,
            a.data.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}
