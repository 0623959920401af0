//! Lower bounds of the gradient entries of the instances, sixteen instances at once.
//!
//! A closer look at instance `i` notes the minima of its columns, `T_n = min over m (F_im + alpha_imn / c_i)` for its
//! irrelevant labels, and the scores `R_m = F_im` of its relevant ones. From then on, as long as no `alpha` falls,
//!
//! ```text
//! g_imn  >=  T_n + (F_im - R_m) - F_in  >=  min over n (T_n - F_in)  +  min over m (F_im - R_m).
//! ```
//!
//! A step moves two labels, and lowers these two minima at most to those labels' own differences.

use super::lanes::{LANES, Lanes, lower_each};

/// Of `min over n (T_n - F_n)` and `min over m (F_m - R_m)`. Both are infinite for an instance without pairs.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) columns: Lanes,
    pub(super) rows: Lanes,
}

impl Bounds {
    /// The minima over no label.
    pub(super) const OF_NOTHING: Self = Self {
        columns: [f64::INFINITY; LANES],
        rows: [f64::INFINITY; LANES],
    };

    /// Bounds of the smallest gradient entries.
    #[inline(always)]
    pub(super) fn entries(&self) -> Lanes {
        let mut entries = self.columns;
        for (entry, row) in entries.iter_mut().zip(&self.rows) {
            *entry += row;
        }
        entries
    }

    /// Lowers the bounds to what one label allows; a bit of `relevant` for each instance.
    #[inline(always)]
    pub(super) fn lower_to(&mut self, scores: &Lanes, noted: &Lanes, relevant: u64) {
        let (mut columns, mut rows) = ([0.0; LANES], [0.0; LANES]);
        let of_labels = columns.iter_mut().zip(&mut rows);
        for (lane, ((column, row), (&noted, &score))) in
            of_labels.zip(noted.iter().zip(scores)).enumerate()
        {
            let difference = noted - score;
            (*column, *row) = if relevant & (1 << lane) != 0 {
                (f64::INFINITY, -difference)
            } else {
                (difference, f64::INFINITY)
            };
        }
        lower_each(&mut self.columns, &columns);
        lower_each(&mut self.rows, &rows);
    }
}
