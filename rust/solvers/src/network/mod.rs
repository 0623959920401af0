//! Flows in the network of the labels, whose arcs are pairs: the linear programme of Frank-Wolfe with a free bias, and
//! the repair of its certificate.

pub mod cheapest;
pub mod circulation;
pub mod routing;
