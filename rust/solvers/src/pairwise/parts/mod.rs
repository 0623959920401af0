//! What a fit whose rows are dealt to many machines asks of a part of them: a round of the alternating direction method
//! ([`split`]), and the repair of a point with a free bias ([`flow`]). A part's share of block coordinate ascent is
//! [`crate::pairwise::bcd::improve_part`].

pub mod flow;
pub mod split;
