//! Flows in the network of the labels, whose arcs are pairs: the linear programme of Frank-Wolfe with a free bias, and
//! the repair of its certificate.

pub mod circulation;
pub mod prices;
pub mod routing;
