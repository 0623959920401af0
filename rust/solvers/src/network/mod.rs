//! Flows in the network of the labels, whose arcs are pairs: the repair of a certificate with a free bias.

pub mod prices;
pub mod routing;
