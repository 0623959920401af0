//! The work on a part of the rows in a fit over many machines: a round of the alternating direction method ([`split`]), and
//! the repair of a point with a free bias ([`flow`]). A part's share of block coordinate ascent is
//! [`crate::pairwise::bcd::improve_part`].

pub mod flow;
pub mod split;
