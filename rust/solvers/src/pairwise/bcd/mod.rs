//! The engine of the pairwise family: block coordinate ascent in the dual, with one exact proximal step per instance.
//!
//! ```text
//! primal   min over W, b   1/2 sum_k ||w_k||^2 + sum_i phi_i(f(x_i)),   phi_i(s) = c_i sum_{m,n} loss(s_m - s_n)
//! dual     max over B      sum_i D_i(beta_i) - 1/2 <B, K B>,            D_i(beta) = -phi_i^*(-beta)
//! ```
//!
//! The model depends on the dual variables of the pairs only through `B` (`n x q`; Xu 2013, eq. (21)), so no pair is ever
//! stored. With the other instances held, the block of instance `i` is solved exactly by one proximal map: with `kappa =
//! K_ii`, current scores `s` and `v = s - kappa beta_i`,
//!
//! ```text
//! s_new = argmin 1/(2 kappa) ||s - v||^2 + phi_i(s),    beta_i = (s_new - v) / kappa,    D_i = phi_i(s_new) + <beta_i, s_new>
//! ```
//!
//! Every instance contributes one term to the duality gap, `phi_i(s_i) - D_i + <beta_i, s_i> >= 0`. Their sum is the stop
//! rule and the certificate; an instance whose term is negligible is skipped in the next epoch (each certificate recomputes
//! all terms, so no instance is skipped for good).
//!
//! A bias adds the curvature `sigma` and a constant `b` to the scores: `F + sigma g + b` with `g = sum_i beta_i`; see
//! [`crate::pairwise::bias`]. The loop around the epochs is [`crate::pairwise::outer`].

mod certificate;
mod chain;
mod engine;
mod hard_certificate;
mod hardest;
mod iterate;
mod local_scores;
mod part;
mod passes;
mod shortlist;
mod step;
mod visit;

pub(crate) use certificate::Certificate;
pub(crate) use engine::{Engine, Epoch, certifies_slowly};
pub(crate) use iterate::{Checkpoint, Iterate, hinge_dual_terms};
pub use part::{Answer, Common, PartPoint, PartState, PartTask, improve_part};
pub(crate) use step::negative_gradient;
pub use step::{Block, Proximal, Step};
