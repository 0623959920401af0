//! The memory of a fit, as counted by the allocator.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failure is a panic"
)]

use multimargin_solvers::kernel::gram::Kernel;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::{Features, Sparse};
use multimargin_solvers::pairwise::bias::Bias;
use multimargin_solvers::pairwise::loss::Hinge;
use multimargin_solvers::pairwise::request::{Geometry, Request, Storage};
use multimargin_solvers::pairwise::{AnyLoss, Setup};
use multimargin_solvers::report::Settings;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: What is asked for is passed on.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: The caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: The caller's.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Peak memory in bytes of a fit with `n` rows, `d` words and `q` labels: a row has one label, two words specific to that
/// label, and four common words.
fn most(storage: Storage, (n, d, q): (usize, usize, usize)) -> usize {
    const WORDS: usize = 6;
    const SHARED: usize = 40;
    let own = (d - SHARED) / q;
    let mut random = fastrand::Rng::with_seed(0);
    let (mut indices, mut values, mut y) = (Vec::new(), Vec::new(), vec![0; n * q]);
    for row in y.chunks_exact_mut(q) {
        let label = random.usize(0..q);
        row[label] = 1;
        let own_words = [0, 1].map(|word| SHARED + label * own + word);
        let shared = random.choose_multiple(0..SHARED, WORDS - 2);
        let mut words: Vec<usize> = shared.into_iter().chain(own_words).collect();
        words.sort_unstable();
        indices.extend(words.into_iter().map(|word| word as i32));
        values.extend((0..WORDS).map(|_| random.f64()));
    }
    let starts: Vec<i32> = (0..=n as i32).map(|i| i * WORDS as i32).collect();
    let x = Sparse::new(&values, &indices, &starts, d).unwrap();
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let request = Request {
        labels: Labels::new(&y, q, 10.0).unwrap(),
        geometry: Geometry::Kernel(Kernel::Linear, Features::Sparse(x)),
        cache_bytes: 0,
        storage,
        by: None,
        setup: Setup {
            bias: Bias::None,
            settings: Settings {
                max_epochs: 3,
                ..Settings::default()
            },
            ..Setup::default()
        },
    };
    AnyLoss::Hinge(Hinge).solve(request, &mut ()).unwrap();
    MOST.load(Ordering::Relaxed) - before
}

/// A single test, as another one in parallel would be counted, too.
#[test]
fn a_fit_holds_what_it_has_to() {
    // Stored dense, the dual matrix and the weights take 8 bytes for each row, or feature, and label.
    let (n, d, q) = (8000, 1040, 500);
    let matrices = 8 * (n + d) * q;
    let (dense, compact) = (
        most(Storage::Dense, (n, d, q)),
        most(Storage::Compact, (n, d, q)),
    );
    assert!(dense > matrices, "{dense}");
    assert!(compact < 2 * matrices / 3, "{compact}");
    // The weights that certify a fit are recomputed in place.
    let (n, d, q) = (300, 60_000, 500);
    let weights = 8 * d * q;
    let dense = most(Storage::Dense, (n, d, q));
    assert!(dense < weights + weights / 2 + 8 * (1 << 24), "{dense}");
    // In single precision they are half, except those being recomputed.
    let single = most(Storage::Single, (n, d, q));
    assert!(
        single < weights / 2 + weights / 8 + 8 * (1 << 24),
        "{single}"
    );
}
