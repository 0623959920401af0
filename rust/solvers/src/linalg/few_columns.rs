//! Products with a matrix of few columns, straight from the rows of the other factor, without the copy of these rows that a
//! general product of matrices needs.

use crate::linalg::vector::prefetch;
use pulp::{Arch, Simd, WithSimd};

/// Up to so many columns this is quicker than a general product.
pub const FEW: usize = 64;

/// Vectors of rows of the result that are summed together.
const VECTORS: usize = 3;

/// Numbers in the widest vectors, and in a cache line.
const WIDEST: usize = 8;

/// The rows of `A` are more streams than a processor foresees: each is asked for so many blocks ahead.
const AHEAD: usize = 4;

/// `C += A^T B` for the given rows of `A`, a row-major `B` with a row for each of them, and a row-major `C` of `columns`
/// columns.
pub fn add_products(a: &[&[f64]], b: &[f64], c: &mut [f64], columns: usize) {
    Arch::new().dispatch(Products { a, b, c, columns });
}

struct Products<'a> {
    a: &'a [&'a [f64]],
    b: &'a [f64],
    c: &'a mut [f64],
    columns: usize,
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let columns = self.columns;
        // All sums of a group stay in registers.
        let most = if S::REGISTER_COUNT < 32 { 4 } else { 8 };
        let groups = columns.div_ceil(most).max(1);
        let width = VECTORS * S::F64_LANES;
        for (index, c) in self.c.chunks_mut((width * columns).max(1)).enumerate() {
            let (a, b, start) = (self.a, self.b, index * width);
            let mut block = Block {
                a,
                b,
                c,
                columns,
                start,
            };
            for group in 0..groups {
                let (first, end) = (group * columns / groups, (group + 1) * columns / groups);
                match end - first {
                    1 => block.add::<S, 1>(simd, first),
                    2 => block.add::<S, 2>(simd, first),
                    3 => block.add::<S, 3>(simd, first),
                    4 => block.add::<S, 4>(simd, first),
                    5 => block.add::<S, 5>(simd, first),
                    6 => block.add::<S, 6>(simd, first),
                    7 => block.add::<S, 7>(simd, first),
                    _ => block.add::<S, 8>(simd, first),
                }
            }
        }
    }
}

/// Rows of the result, of which the first belongs to the entries at `start` of the rows of `A`.
struct Block<'a> {
    a: &'a [&'a [f64]],
    b: &'a [f64],
    c: &'a mut [f64],
    columns: usize,
    start: usize,
}

impl Block<'_> {
    /// Adds `WIDTH` columns of the product, from column `first` on.
    #[inline(always)]
    fn add<S: Simd, const WIDTH: usize>(&mut self, simd: S, first: usize) {
        let width = VECTORS * S::F64_LANES;
        let rows = self.c.len() / self.columns;
        let mut sums = [[simd.splat_f64s(0.0); VECTORS]; WIDTH];
        for (a, b) in self.a.iter().zip(self.b.chunks_exact(self.columns)) {
            if first == 0 {
                for line in (0..width).step_by(WIDEST) {
                    prefetch(a, self.start + AHEAD * width + line);
                }
            }
            let a = &a[self.start..][..rows];
            let a = match S::as_simd_f64s(a).0 {
                &[first, second, third] => [first, second, third],
                _ => [0, 1, 2].map(|k| {
                    let part = &a[(k * S::F64_LANES).min(rows)..];
                    simd.partial_load_f64s(&part[..part.len().min(S::F64_LANES)])
                }),
            };
            for (sums, &b) in sums.iter_mut().zip(&b[first..first + WIDTH]) {
                let b = simd.splat_f64s(b);
                for (sum, a) in sums.iter_mut().zip(a) {
                    *sum = simd.mul_add_e_f64s(a, b, *sum);
                }
            }
        }
        let mut columns = [[0.0; VECTORS * WIDEST]; WIDTH];
        for (column, sums) in columns.iter_mut().zip(sums) {
            for (part, sum) in column.chunks_exact_mut(S::F64_LANES).zip(sums) {
                simd.partial_store_f64s(part, sum);
            }
        }
        for (row, c) in self.c.chunks_exact_mut(self.columns).enumerate() {
            for (c, column) in c[first..first + WIDTH].iter_mut().zip(&columns) {
                *c += column[row];
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
        for columns in (1..=20).chain([FEW - 1, FEW, 100]) {
            for length in 0..60 {
                let count = random.usize(0..9);
                let a: Vec<f64> = (0..count * length).map(|_| random.f64() - 0.5).collect();
                let rows: Vec<&[f64]> = (0..count).map(|k| &a[k * length..][..length]).collect();
                let b: Vec<f64> = (0..count * columns).map(|_| random.f64() - 0.5).collect();
                let mut results = vec![vec![1.0; length * columns]; 2];
                let products = |c| Products {
                    a: &rows,
                    b: &b,
                    c,
                    columns,
                };
                add_products(&rows, &b, &mut results[0], columns);
                pulp::Scalar.vectorize(products(&mut results[1]));
                #[cfg(target_arch = "x86_64")]
                if let Some(simd) = pulp::x86::V3::try_new() {
                    let mut c = vec![1.0; length * columns];
                    Simd::vectorize(simd, products(&mut c));
                    results.push(c);
                }
                for at in 0..length * columns {
                    let terms = rows.iter().zip(b.chunks_exact(columns));
                    let sum: f64 = terms
                        .map(|(row, b)| row[at / columns] * b[at % columns])
                        .sum();
                    for c in &results {
                        assert!((c[at] - 1.0 - sum).abs() < 1e-14);
                    }
                }
            }
        }
    }
}
