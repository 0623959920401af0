//! A round of one part of the rows in the alternating direction method ([`crate::pairwise::admm`]).
//!
//! All rows share the weights `W` and the bias `b`: a round is at `F = X W + b`.

use crate::error::{SolverError, check_size, refused};
use crate::labels::Labels;
use crate::linalg::vector::{axpy, dot, row_sum};
use crate::memory;
use crate::pairwise::admm::{Map, Squares, scale};
use crate::pairwise::bcd::PartPoint;
use crate::pairwise::loss::{Loss, check_pairs};
use crate::pairwise::scores::{self, DenseScores};
use crate::parallel::threads::{CHUNK, Threads};
use crate::report::{Monitor, rounding_of};

/// The common point of a round, and the penalty.
#[derive(Clone, Copy, Debug)]
pub struct Split<'a> {
    /// `W`, `d x q` row-major.
    pub weights: &'a [f64],
    /// The bias `b`, one a label.
    pub offset: &'a [f64],
    /// `rho`
    pub rho: f64,
    /// Squared length to which the features of all rows are scaled.
    pub length: f64,
    /// Square of a constant feature that is added to all rows.
    pub beside: f64,
}

impl Split<'_> {
    fn check(&self) -> Result<(), SolverError> {
        let positive = self.rho > 0.0 && self.length > 0.0 && self.beside >= 0.0;
        if positive && (self.rho + self.length + self.beside).is_finite() {
            return Ok(());
        }
        Err(refused(
            "rho, length or beside",
            format!("{}, {} or {}", self.rho, self.length, self.beside),
            "two positive numbers and one that is not negative",
        ))
    }
}

/// A part's rows after a round, and the data that it sends to the others.
#[derive(Clone, Debug)]
pub struct SplitAnswer {
    /// `z_i` times the scales, `n x q` row-major.
    pub scores: Vec<f64>,
    /// `B_p`, `n x q` row-major, and its dual terms.
    pub dual: Vec<f64>,
    /// `D_i` of every instance.
    pub dual_terms: Vec<f64>,
    /// `X_p^T B_p`, `d x q` row-major, and the sum of the dual rows.
    pub weights: Vec<f64>,
    /// `sum_i beta_i`
    pub sum: Vec<f64>,
    /// `sum_i phi_i` at the common point.
    pub loss: f64,
    /// A bound on the rounding error of the difference of losses and dual terms.
    pub rounding: f64,
    /// `sum_i ||beta_i|| ||x_i||`: times `||W||`, a bound on the terms of `<B, X W>`.
    pub size: f64,
    /// Sum of squares of the scores, times the scales.
    pub square: f64,
    /// The residuals' sums of squares.
    pub squares: Squares,
}

/// Sums over the instances of a part.
#[derive(Debug, Default)]
struct Sums {
    loss: f64,
    /// Sizes of the terms of the objectives.
    terms: f64,
    size: f64,
    squares: Squares,
}

impl Sums {
    fn add(&mut self, others: &Self) {
        self.loss += others.loss;
        self.terms += others.terms;
        self.size += others.size;
        self.squares.add(&others.squares);
    }
}

/// A round of a part, from its scores times the scales (`None` for those of the common point) and its dual rows. `None` when
/// interrupted.
///
/// # Errors
/// When the sizes do not match, or a factor is out of range.
pub fn split_part<L: Loss>(
    labels: &Labels,
    scores: &mut DenseScores<'_>,
    loss: &L,
    common: Split<'_>,
    (start, mut dual): (Option<Vec<f64>>, Vec<f64>),
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<SplitAnswer>, SolverError> {
    common.check()?;
    check_pairs::<L>(labels)?;
    let point = PartPoint {
        dual: &dual,
        weights: common.weights,
        offset: common.offset,
    };
    point.place(labels, scores)?;
    let (n, q) = (labels.instances(), labels.count());
    let fitted = scores::all(scores, threads);
    let known = start.is_some();
    let mut own = start.unwrap_or_else(|| memory::copied(&fitted));
    check_size("scores", own.len(), n * q)?;
    let mut terms = vec![0.0; n];
    let squares: Vec<f64> = scores
        .diagonal()
        .iter()
        .map(|x| x + common.beside)
        .collect();
    let rows = own.chunks_mut(CHUNK * q).zip(dual.chunks_mut(CHUNK * q));
    let rows = rows.zip(terms.chunks_mut(CHUNK));
    let parts = threads.map(rows, |chunk, ((own, dual), terms)| {
        let mut map = Map::new(labels, loss, common.rho);
        let (mut at, mut displacement) = (vec![0.0; q], vec![0.0; q]);
        let mut sums = Sums::default();
        let rows = own.chunks_exact_mut(q).zip(dual.chunks_exact_mut(q));
        for (k, ((own, dual), term)) in rows.zip(terms).enumerate() {
            let i = chunk * CHUNK + k;
            if !labels.has_pairs(i) {
                own.fill(0.0);
                dual.fill(0.0);
                continue;
            }
            let scale = scale(squares[i], common.length);
            at.copy_from_slice(&fitted[i * q..(i + 1) * q]);
            axpy(1.0, common.offset, &mut at);
            let phi = map.loss(i, &at);
            at.iter_mut().for_each(|score| *score *= scale);
            if !known {
                own.copy_from_slice(&at);
            }
            let of_dual = displacement.iter_mut().zip(&*dual);
            of_dual.for_each(|(u, beta)| *u = beta / (common.rho * scale));
            map.apply(i, scale, &at, own, &mut displacement);
            *term = map.dual(i, scale, own, &displacement, dual);
            let products = at.iter().zip(&*dual).map(|(f, beta)| (f * beta).abs());
            sums.loss += phi;
            sums.terms += phi + term.abs() + products.sum::<f64>() / scale;
            sums.size += (dot(dual, dual) * scores.diagonal()[i]).sqrt();
        }
        sums.squares = map.squares;
        sums
    });
    let mut total = Sums::default();
    parts.iter().for_each(|part| total.add(part));
    if !scores.recompute(&dual, threads, monitor) {
        return Ok(None);
    }
    Ok(Some(SplitAnswer {
        square: dot(&own, &own),
        scores: own,
        weights: std::mem::take(scores.state()),
        sum: row_sum(&dual, q),
        dual,
        dual_terms: terms,
        loss: total.loss,
        rounding: rounding_of(total.terms, q + CHUNK + n.div_ceil(CHUNK)),
        size: total.size,
        squares: total.squares,
    }))
}
