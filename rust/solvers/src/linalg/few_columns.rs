//! Products with a matrix of few columns, straight from the rows of the other factor, without the copy of these rows that a
//! general product of matrices needs.

use pulp::{Arch, Simd, WithSimd};

/// Up to so many columns, all sums of two vectors of rows stay in registers.
pub const FEW: usize = 8;

/// Vectors of rows of the result that are summed together.
const VECTORS: usize = 2;

/// Numbers in the widest vectors.
const WIDEST: usize = 8;

/// `C += A^T B` for the given rows of `A`, a row-major `B` with a row for each of them, and a row-major `C` of `columns`
/// columns: at most [`FEW`] of them, else nothing is done.
pub fn add_products(a: &[&[f64]], b: &[f64], c: &mut [f64], columns: usize) {
    match columns {
        1 => dispatch::<1>(a, b, c),
        2 => dispatch::<2>(a, b, c),
        3 => dispatch::<3>(a, b, c),
        4 => dispatch::<4>(a, b, c),
        5 => dispatch::<5>(a, b, c),
        6 => dispatch::<6>(a, b, c),
        7 => dispatch::<7>(a, b, c),
        8 => dispatch::<8>(a, b, c),
        _ => debug_assert!(false, "{columns} columns are not few"),
    }
}

fn dispatch<const Q: usize>(a: &[&[f64]], b: &[f64], c: &mut [f64]) {
    let (b, c) = (b.as_chunks().0, c.as_chunks_mut().0);
    Arch::new().dispatch(Products::<Q> { a, b, c });
}

struct Products<'a, const Q: usize> {
    a: &'a [&'a [f64]],
    b: &'a [[f64; Q]],
    c: &'a mut [[f64; Q]],
}

impl<const Q: usize> WithSimd for Products<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = VECTORS * S::F64_LANES;
        for (block, c) in self.c.chunks_mut(width).enumerate() {
            let mut sums = [[simd.splat_f64s(0.0); VECTORS]; Q];
            for (a, b) in self.a.iter().zip(self.b) {
                let a = &a[block * width..][..c.len()];
                let a = match S::as_simd_f64s(a).0 {
                    &[first, second] => [first, second],
                    _ => {
                        let (first, second) = a.split_at(a.len().min(S::F64_LANES));
                        [first, second].map(|part| simd.partial_load_f64s(part))
                    }
                };
                for (sums, &b) in sums.iter_mut().zip(b) {
                    let b = simd.splat_f64s(b);
                    for (sum, a) in sums.iter_mut().zip(a) {
                        *sum = simd.mul_add_e_f64s(a, b, *sum);
                    }
                }
            }
            let mut columns = [[0.0; VECTORS * WIDEST]; Q];
            for (column, sums) in columns.iter_mut().zip(sums) {
                for (part, sum) in column.chunks_exact_mut(S::F64_LANES).zip(sums) {
                    simd.partial_store_f64s(part, sum);
                }
            }
            for (row, c) in c.iter_mut().enumerate() {
                for (c, column) in c.iter_mut().zip(&columns) {
                    *c += column[row];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_three_loops() {
        let mut random = fastrand::Rng::with_seed(7);
        for columns in 1..=FEW {
            for length in 0..40 {
                let count = random.usize(0..9);
                let a: Vec<f64> = (0..count * length).map(|_| random.f64() - 0.5).collect();
                let rows: Vec<&[f64]> = (0..count).map(|k| &a[k * length..][..length]).collect();
                let b: Vec<f64> = (0..count * columns).map(|_| random.f64() - 0.5).collect();
                let mut c = vec![1.0; length * columns];
                add_products(&rows, &b, &mut c, columns);
                for i in 0..length {
                    for j in 0..columns {
                        let terms = rows.iter().zip(b.chunks_exact(columns));
                        let sum: f64 = terms.map(|(row, b)| row[i] * b[j]).sum();
                        assert!((c[i * columns + j] - 1.0 - sum).abs() < 1e-14);
                    }
                }
            }
        }
    }
}
