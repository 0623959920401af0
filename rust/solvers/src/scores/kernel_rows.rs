//! Kernel rows on demand, for loops that use one row at a time.

use crate::features::Panel;
use crate::gram::Gram;

/// Rows of a kernel matrix: of a stored one, or computed when first asked for and kept while there is room.
#[derive(Clone, Debug)]
pub struct KernelRows<'a> {
    source: Source<'a>,
    diagonal: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Source<'a> {
    Stored(&'a [f64]),
    Computed(Box<Computed<'a>>),
}

#[derive(Clone, Debug)]
struct Computed<'a> {
    gram: Gram<'a>,
    panel: Panel,
    kept: Vec<Option<Box<[f64]>>>,
    room: usize,
    last: Vec<f64>,
}

impl<'a> KernelRows<'a> {
    /// The rows of a symmetric `n x n` matrix.
    pub fn stored(matrix: &'a [f64], n: usize) -> Self {
        Self {
            source: Source::Stored(matrix),
            diagonal: matrix.iter().step_by(n + 1).copied().collect(),
        }
    }

    /// Rows computed when asked for; up to `cache_bytes` bytes of them are kept.
    pub fn computed(gram: Gram<'a>, cache_bytes: usize) -> Self {
        let n = gram.rows();
        Self {
            diagonal: gram.diagonal(),
            source: Source::Computed(Box::new(Computed {
                panel: Panel::default(),
                kept: vec![None; n],
                room: cache_bytes / (8 * n.max(1)),
                last: vec![0.0; n],
                gram,
            })),
        }
    }

    /// `K_ii` of every instance.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Row `i`.
    pub fn row(&mut self, i: usize) -> &[f64] {
        let n = self.diagonal.len();
        match &mut self.source {
            Source::Stored(matrix) => &matrix[i * n..(i + 1) * n],
            Source::Computed(computed) => computed.row(i),
        }
    }
}

impl Computed<'_> {
    fn row(&mut self, i: usize) -> &[f64] {
        if self.kept[i].is_none() {
            let n = self.last.len();
            self.gram.panel(&[i as u32], &mut self.panel);
            self.gram
                .block(&[i as u32], &self.panel, 0..n, &mut self.last);
            if self.room == 0 {
                return &self.last;
            }
            self.room -= 1;
            self.kept[i] = Some(self.last.clone().into_boxed_slice());
        }
        self.kept[i].as_deref().unwrap_or(&self.last)
    }
}
