//! Soft thresholds: the proximal map of the l1 norm.

/// The minimiser along one coordinate.
pub(super) fn coordinate(w: f64, gradient: f64, curvature: f64, beta: f64) -> f64 {
    if curvature <= 0.0 {
        return 0.0;
    }
    soft_threshold(w - gradient / curvature, beta / curvature)
}

/// (11) of the paper.
pub(super) fn soft_threshold(value: f64, threshold: f64) -> f64 {
    if value > threshold {
        value - threshold
    } else if value < -threshold {
        value + threshold
    } else {
        0.0
    }
}
