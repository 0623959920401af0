//! Manhattan distances between the rows of two matrices, which no product of matrices gives.

use crate::linalg::features::Sparse;
use crate::memory;
use multiversion::multiversion;

/// Right rows that are compared at a time, each in a lane of a vector.
const RIGHT: usize = 8;

/// Left rows that are compared at a time: all sums stay in registers.
const LEFT: usize = 4;

/// `sum_k |x_ik - y_jk|` for the rows of two row-major matrices of `d` columns, row-major. Each sum is in the order of the
/// columns, so that it is the same whichever row is the left one.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
pub fn distances(left: &[f64], right: &[f64], d: usize, out: &mut [f64]) {
    if d == 0 {
        return out.fill(0.0);
    }
    let m = right.len() / d;
    let mut packed = memory::zeros(RIGHT * d);
    for (panel, rows) in right.chunks(RIGHT * d).enumerate() {
        for (lane, row) in rows.chunks_exact(d).enumerate() {
            for (k, &value) in row.iter().enumerate() {
                packed[k * RIGHT + lane] = value;
            }
        }
        let columns = panel * RIGHT..m.min((panel + 1) * RIGHT);
        let mut groups = left.chunks_exact(LEFT * d);
        let mut out = out.chunks_exact_mut(m);
        for group in &mut groups {
            let rows = std::array::from_fn(|i| &group[i * d..(i + 1) * d]);
            for sums in compared::<LEFT>(rows, &packed) {
                write(&sums, &mut out, columns.clone());
            }
        }
        for row in groups.remainder().chunks_exact(d) {
            let [sums] = compared([row], &packed);
            write(&sums, &mut out, columns.clone());
        }
    }
}

/// Writes the sums of one left row to the next row of the result.
#[inline(always)]
fn write<'a>(
    sums: &[f64],
    out: &mut impl Iterator<Item = &'a mut [f64]>,
    columns: std::ops::Range<usize>,
) {
    if let Some(row) = out.next() {
        let length = columns.len();
        row[columns].copy_from_slice(&sums[..length]);
    }
}

/// The distances of some left rows from the rows of a panel.
#[inline(always)]
fn compared<const N: usize>(rows: [&[f64]; N], packed: &[f64]) -> [[f64; RIGHT]; N] {
    let mut sums = [[0.0; RIGHT]; N];
    for (k, right) in packed.as_chunks::<RIGHT>().0.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(rows) {
            let value = row[k];
            for (sum, &other) in sums.iter_mut().zip(right) {
                *sum += (value - other).abs();
            }
        }
    }
    sums
}

/// What `|x - y|` lacks to `|x| + |y|`, halved: as `(x - y)^2` lacks `2 x y` to `x^2 + y^2`.
#[inline(always)]
pub fn overlap(x: f64, y: f64) -> f64 {
    let least = x.abs().min(y.abs());
    if (x < 0.0) == (y < 0.0) { least } else { 0.0 }
}

/// `sum_k |x_ik|` of every row.
pub fn sizes(features: &Sparse<'_>) -> Vec<f64> {
    let sizes = (0..features.rows()).map(|i| features.row(i).1.iter().map(|x| x.abs()).sum());
    sizes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For all numbers of rows around the sizes of blocks, and the same bits whichever row is the left one.
    #[test]
    fn distances_are_sums_of_differences() {
        let mut random = fastrand::Rng::with_seed(3);
        for d in [1, 2, 7, 8, 19] {
            for (n, m) in [(1, 1), (3, 9), (4, 8), (5, 7), (13, 17)] {
                let mut numbers =
                    |count: usize| -> Vec<f64> { (0..count).map(|_| random.f64() - 0.5).collect() };
                let (x, y) = (numbers(n * d), numbers(m * d));
                let (mut out, mut other) = (vec![f64::NAN; n * m], vec![f64::NAN; n * m]);
                distances(&x, &y, d, &mut out);
                distances(&y, &x, d, &mut other);
                for (i, x) in x.chunks_exact(d).enumerate() {
                    for (j, y) in y.chunks_exact(d).enumerate() {
                        let expected: f64 = x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum();
                        assert_eq!(out[i * m + j], expected);
                        assert_eq!(other[j * n + i], expected);
                    }
                }
            }
        }
    }
}
