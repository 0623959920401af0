//! Products with a matrix of few columns, read directly from the rows of the other factor: a general matrix product would
//! copy these rows first.

use crate::linalg::vector::prefetch;
use crate::memory::Number;
use pulp::{Arch, Simd, WithSimd};

/// Up to this many columns it is faster than a general product.
pub const FEW: usize = 64;

/// Vectors of rows of the result that are summed together.
const VECTORS: usize = 3;

/// Numbers in the widest vector of single precision.
const WIDEST: usize = 16;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The rows of `A` are more streams than a processor prefetches by itself: each is prefetched this many blocks ahead.
const AHEAD: usize = 4;

/// A precision in which products are computed with vector instructions.
pub trait Lanes: Number {
    /// A vector of numbers.
    type Vector<S: Simd>: Copy;

    /// How many.
    fn count<S: Simd>() -> usize {
        size_of::<Self::Vector<S>>() / size_of::<Self>()
    }

    /// The same number in all places.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;

    /// The first numbers of a slice, padded with 0.
    fn load<S: Simd>(simd: S, from: &[Self]) -> Self::Vector<S>;

    /// Whole vectors of a slice.
    fn whole<S: Simd>(from: &[Self]) -> &[Self::Vector<S>];

    /// `a b + c`
    fn add_product<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;

    /// Writes a vector.
    fn store<S: Simd>(simd: S, to: &mut [Self], vector: Self::Vector<S>);
}

/// [`Lanes`] by the functions of a precision.
macro_rules! lanes {
    ($number:ty, $vector:ident, $splat:ident, $load:ident, $whole:ident, $add_product:ident, $store:ident) => {
        impl Lanes for $number {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$vector {
                simd.$splat(value)
            }

            #[inline(always)]
            fn load<S: Simd>(simd: S, from: &[Self]) -> S::$vector {
                simd.$load(from)
            }

            #[inline(always)]
            fn whole<S: Simd>(from: &[Self]) -> &[S::$vector] {
                S::$whole(from).0
            }

            #[inline(always)]
            fn add_product<S: Simd>(
                simd: S,
                a: S::$vector,
                b: S::$vector,
                c: S::$vector,
            ) -> S::$vector {
                simd.$add_product(a, b, c)
            }

            #[inline(always)]
            fn store<S: Simd>(simd: S, to: &mut [Self], vector: S::$vector) {
                simd.$store(to, vector);
            }
        }
    };
}

lanes!(
    f64,
    f64s,
    splat_f64s,
    partial_load_f64s,
    as_simd_f64s,
    mul_add_e_f64s,
    partial_store_f64s
);
lanes!(
    f32,
    f32s,
    splat_f32s,
    partial_load_f32s,
    as_simd_f32s,
    mul_add_e_f32s,
    partial_store_f32s
);

/// `C += A^T B` for the given rows of `A`, a row-major `B` with a row for each of them, and a row-major `C` of `columns`
/// columns. The product is computed in the precision of `A`, with `B` divided by a power of two near its largest number.
pub fn add_products<T: Lanes>(a: &[&[T]], b: &[f64], c: &mut [f64], columns: usize) {
    let unit = unit(b);
    let b: Vec<T> = b.iter().map(|value| T::nearest(value / unit)).collect();
    Arch::new().dispatch(Products {
        a,
        b: &b,
        c,
        columns,
        unit,
    });
}

/// The largest power of two that does not exceed the largest absolute value.
fn unit(numbers: &[f64]) -> f64 {
    let largest = numbers.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
    let power = f64::from_bits(largest.to_bits() & f64::INFINITY.to_bits());
    if power.is_normal() { power } else { 1.0 }
}

struct Products<'a, T> {
    a: &'a [&'a [T]],
    b: &'a [T],
    c: &'a mut [f64],
    columns: usize,
    unit: f64,
}

impl<T: Lanes> WithSimd for Products<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let columns = self.columns;
        // All sums of a group stay in registers.
        let most = if S::REGISTER_COUNT < 32 { 4 } else { 8 };
        let groups = columns.div_ceil(most).max(1);
        let width = VECTORS * T::count::<S>();
        for (index, c) in self.c.chunks_mut((width * columns).max(1)).enumerate() {
            let Self { a, b, unit, .. } = self;
            let mut block = Block {
                a,
                b,
                c,
                columns,
                start: index * width,
                unit,
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

/// Rows of the result; the first one belongs to the entries at `start` of the rows of `A`.
struct Block<'a, T> {
    a: &'a [&'a [T]],
    b: &'a [T],
    c: &'a mut [f64],
    columns: usize,
    start: usize,
    unit: f64,
}

impl<T: Lanes> Block<'_, T> {
    /// Adds `WIDTH` columns of the product, from column `first` on.
    #[inline(always)]
    fn add<S: Simd, const WIDTH: usize>(&mut self, simd: S, first: usize) {
        let lanes = T::count::<S>();
        let width = VECTORS * lanes;
        let rows = self.c.len() / self.columns;
        let mut sums = [[T::splat(simd, T::default()); VECTORS]; WIDTH];
        for (a, b) in self.a.iter().zip(self.b.chunks_exact(self.columns)) {
            if first == 0 {
                for line in (0..width).step_by(LINE / size_of::<T>()) {
                    prefetch(a, self.start + AHEAD * width + line);
                }
            }
            let a = &a[self.start..][..rows];
            let a = match T::whole::<S>(a) {
                &[first, second, third] => [first, second, third],
                _ => [0, 1, 2].map(|k| {
                    let part = &a[(k * lanes).min(rows)..];
                    T::load(simd, &part[..part.len().min(lanes)])
                }),
            };
            for (sums, &b) in sums.iter_mut().zip(&b[first..first + WIDTH]) {
                let b = T::splat(simd, b);
                for (sum, a) in sums.iter_mut().zip(a) {
                    *sum = T::add_product(simd, a, b, *sum);
                }
            }
        }
        let mut columns = [[T::default(); VECTORS * WIDEST]; WIDTH];
        for (column, sums) in columns.iter_mut().zip(sums) {
            for (part, sum) in column.chunks_exact_mut(lanes).zip(sums) {
                T::store(simd, part, sum);
            }
        }
        for (row, c) in self.c.chunks_exact_mut(self.columns).enumerate() {
            for (c, column) in c[first..first + WIDTH].iter_mut().zip(&columns) {
                *c += self.unit * column[row].into();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees_with_three_loops<T: Lanes>(precision: f64) {
        let mut random = fastrand::Rng::with_seed(7);
        for columns in (1..=20).chain([FEW - 1, FEW, 100]) {
            for length in 0..60 {
                let count = random.usize(0..9);
                let mut numbers = |count: usize| -> Vec<T> {
                    (0..count).map(|_| T::nearest(random.f64() - 0.5)).collect()
                };
                let (a, b) = (numbers(count * length), numbers(count * columns));
                let rows: Vec<&[T]> = (0..count).map(|k| &a[k * length..][..length]).collect();
                let of_double: Vec<f64> = b.iter().map(|&b| 3e-50 * b.into()).collect();
                let mut results = vec![vec![1.0; length * columns]; 2];
                let products = |c, unit| Products {
                    a: &rows,
                    b: &b,
                    c,
                    columns,
                    unit,
                };
                let mut small = vec![0.0; length * columns];
                add_products(&rows, &of_double, &mut small, columns);
                for (c, value) in results[0].iter_mut().zip(small) {
                    *c += value / 3e-50;
                }
                pulp::Scalar.vectorize(products(&mut results[1], 1.0));
                #[cfg(target_arch = "x86_64")]
                if let Some(simd) = pulp::x86::V3::try_new() {
                    let mut c = vec![1.0; length * columns];
                    Simd::vectorize(simd, products(&mut c, 1.0));
                    results.push(c);
                }
                for at in 0..length * columns {
                    let terms = rows.iter().zip(b.chunks_exact(columns));
                    let sum: f64 = terms
                        .map(|(row, b)| row[at / columns].into() * b[at % columns].into())
                        .sum();
                    for c in &results {
                        assert!((c[at] - 1.0 - sum).abs() < precision);
                    }
                }
            }
        }
    }

    #[test]
    fn agree_with_three_loops_in_either_precision() {
        agrees_with_three_loops::<f64>(1e-14);
        agrees_with_three_loops::<f32>(1e-6);
    }
}
