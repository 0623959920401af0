//! Minimum-cost circulation by the network simplex method.
//!
//! The problem, on a multigraph of few nodes (labels) and very many arcs (label pairs):
//!
//! ```text
//! min  g^T a    subject to    H a = 0,    0 <= a <= c
//! ```
//!
//! where the column of `H` that belongs to the arc `m -> n` has `+1` in row `m` and `-1` in row `n`. This is the linear
//! programme that Frank-Wolfe for Rank-SVM with a free bias solves in every iteration: one arc a pair, capacity
//! `c_i`, cost the gradient `g` of the dual. Graph and capacities stay from one call to the next, the costs change, and
//! a change of costs leaves a flow feasible. So every call starts from the flow and the basis that the last one ended
//! with.
//!
//! The dual is `max over pi of -sum c * max(0, -(g - H^T pi))`. A circulation and potentials `pi` are optimal
//! together if, and only if, every arc with a positive reduced cost `g - pi_tail + pi_head` is empty and every arc with
//! a negative one is full.
//!
//! # Method
//!
//! The primal network simplex method with bounded arcs (Ahuja et al. 1993, chapter 11):
//!
//! * Parallel arcs form a bundle. Sorted by cost and filled from the cheapest, a bundle is one arc whose cost is convex
//!   and piecewise linear in its flow, with a segment for every arc. There are at most `q (q - 1)` bundles without
//!   loops, however many arcs there are.
//! * A basis is a spanning tree of the nodes and an artificial root, with one segment of a bundle on every tree edge.
//!   At first an artificial arc of cost 0 links each node to the root. These arcs all point to the root, so
//!   conservation at the root keeps them empty from then on, and one that left the tree never needs to come back.
//! * The tree is kept strongly feasible: every node can send a positive amount to the root along the tree
//!   (Cunningham 1976). Then no sequence of degenerate pivots returns to the same tree.
//! * A bundle that enters closes a cycle. Flow is sent around it, past the ends of segments, for as long as the next
//!   segments still make the cycle's cost negative. Each segment passed is a pivot of the plain method in which the
//!   segment that left is followed into the tree by its neighbour.
//! * Bundles are priced in blocks, cyclically: the most violated bundle of the first block that has one enters.
//! * When the costs change, each bundle is sorted anew and its flow moved to its cheapest arcs. The bundles outside of
//!   the tree whose flow then ends inside a segment are first moved to one of its ends.
//!
//! # Exact flows
//!
//! Flows are whole multiples of one unit, a power of two about `2^-52` of the largest capacity, and capacities are
//! rounded down to it. Sums and differences of flows are therefore exact in floating point: no drift over millions of
//! pivots, conservation holds exactly, and "degenerate" means zero and not "small". Costs are not rounded. A
//! reduced cost counts as negative when it is so by more than the rounding error of the potentials.

use crate::memory::{self, Purpose};
use std::cmp::Ordering;

/// Bundle number of the artificial arcs.
const ARTIFICIAL: u32 = u32::MAX;

/// End of a list of tree nodes.
const NONE: u32 = u32::MAX;

/// Reduced costs smaller than this, relative to the largest cost and potential, count as zero: a potential is a sum of
/// costs along a path of the tree, with one rounding error an arc.
const REDUCED_COST_TOLERANCE: f64 = 64.0 * f64::EPSILON;

/// Bundles priced before the most violated one enters, at the least.
const SMALLEST_BLOCK: usize = 20;

/// Bundles priced and tree nodes visited between two looks at the interruption: a few milliseconds.
const WORK_BETWEEN_POLLS: usize = 1 << 21;

/// Arcs sorted between two looks at the interruption, which take longer than arcs priced.
const SORTED_BETWEEN_POLLS: usize = 1 << 18;

/// What can be wrong with a graph or its costs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CirculationError {
    /// Two arrays with one entry an arc have different lengths.
    #[error("{name} has {found} entries, expected one for each of the {expected} arcs")]
    Length {
        /// The array at fault.
        name: &'static str,
        /// Its length.
        found: usize,
        /// The number of arcs.
        expected: usize,
    },
    /// An arc starts or ends outside of the graph.
    #[error("{name}[{arc}] is {found}, expected a node below {nodes}")]
    Node {
        /// `tails` or `heads`.
        name: &'static str,
        /// The arc.
        arc: usize,
        /// The node that was found.
        found: u32,
        /// The number of nodes.
        nodes: usize,
    },
    /// A capacity is negative, infinite or not a number.
    #[error("capacities[{arc}] is {found}, expected a finite number >= 0")]
    Capacity {
        /// The arc.
        arc: usize,
        /// The capacity that was found.
        found: f64,
    },
    /// A cost is infinite or not a number.
    #[error("costs[{arc}] is {found}, expected a finite number")]
    Cost {
        /// The arc.
        arc: usize,
        /// The cost that was found.
        found: f64,
    },
    /// Nodes and arcs are numbered by 32-bit integers.
    #[error("the graph has {found} {name}, expected fewer than {limit}")]
    Size {
        /// `nodes` or `arcs`.
        name: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
}

/// Why [`Circulation::solve`] stopped. The flow is feasible in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CirculationStatus {
    /// No arc has a reduced cost of the wrong sign.
    Optimal,
    /// The limit on the number of pivots was reached.
    PivotLimit,
    /// The caller asked to stop.
    Interrupted,
}

/// What [`Circulation::solve`] returns. Objective and duality gap belong to the returned flow and potentials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Why the loop stopped.
    pub status: CirculationStatus,
    /// How many bundles entered.
    pub pivots: usize,
    /// The primal value `g^T a`.
    pub objective: f64,
    /// `g^T a` minus the dual value `-sum c * max(0, -(g - H^T pi))`, at least 0.
    ///
    /// It is summed as the violation of complementary slackness, `sum of a * max(0, r) + (c - a) * max(0, -r)` over
    /// the reduced costs `r`. Conservation makes both the same number, but here nothing cancels.
    pub duality_gap: f64,
}

/// How much of its capacity an arc carries.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Empty,
    Partial,
    Full,
}

/// One arc, as a piece of the convex cost of its bundle.
#[derive(Clone, Copy)]
struct Segment {
    cost: f64,
    capacity: f64,
    arc: u32,
    /// As in the flow that the caller sees.
    level: Level,
}

/// All arcs from one node to another: a range of the segments.
#[derive(Clone, Copy)]
struct Bundle {
    start: usize,
    /// The arcs from here to `end` have less than one unit of capacity and stay empty.
    usable_end: usize,
    end: usize,
    /// The segments before this one are full, those after it are empty.
    current: usize,
    /// The flow of the segment `current`; out of date while the bundle is in the tree.
    flow: f64,
    in_tree: bool,
}

/// What the choice of the entering bundle looks at.
#[derive(Clone, Copy)]
struct Price {
    tail: u32,
    head: u32,
    /// The cost of another unit; infinite when the bundle is full, in the tree, or inside a segment.
    raise: f64,
    /// What one unit less saves; minus infinity when the bundle is empty, in the tree, or inside a segment.
    lower: f64,
}

/// The current segment of a bundle, as the edge between a tree node and its parent.
#[derive(Clone, Copy)]
struct Link {
    bundle: u32,
    /// The bundle goes from the child to the parent.
    upward: bool,
    flow: f64,
    capacity: f64,
    cost: f64,
}

/// One edge of the cycle that an entering bundle closes.
#[derive(Clone, Copy)]
struct CycleEdge {
    /// The lower end of a tree edge, [`NONE`] for the entering bundle.
    node: u32,
    link: Link,
    /// The flow around the cycle adds to the bundle's.
    increasing: bool,
    /// The link has moved to another segment.
    moved: bool,
}

impl CycleEdge {
    fn residual(&self) -> f64 {
        if self.increasing {
            self.link.capacity - self.link.flow
        } else {
            self.link.flow
        }
    }
}

#[derive(Clone, Copy)]
struct TreeNode {
    parent: u32,
    first_child: u32,
    next_sibling: u32,
    previous_sibling: u32,
    depth: u32,
    link: Link,
}

/// The basis: a spanning tree of the nodes and the root (the last node), with its potentials.
struct SpanningTree {
    nodes: Vec<TreeNode>,
    potentials: Vec<f64>,
    /// The largest absolute potential since the costs were set.
    largest_potential: f64,
}

impl SpanningTree {
    /// The star of artificial arcs. They stay empty, so that any capacity but 0 will do for them.
    fn star(nodes: u32) -> Self {
        let artificial = Link {
            bundle: ARTIFICIAL,
            upward: true,
            flow: 0.0,
            capacity: 1.0,
            cost: 0.0,
        };
        let lone = TreeNode {
            parent: NONE,
            first_child: NONE,
            next_sibling: NONE,
            previous_sibling: NONE,
            depth: 0,
            link: artificial,
        };
        let mut tree = SpanningTree {
            nodes: memory::filled(lone, nodes as usize + 1, Purpose::Network),
            potentials: memory::zeros(nodes as usize + 1, Purpose::Network),
            largest_potential: 0.0,
        };
        for node in 0..nodes {
            tree.attach(node, nodes, artificial);
            tree.nodes[node as usize].depth = 1;
        }
        tree
    }

    fn attach(&mut self, node: u32, parent: u32, link: Link) {
        let next = self.nodes[parent as usize].first_child;
        if next != NONE {
            self.nodes[next as usize].previous_sibling = node;
        }
        self.nodes[parent as usize].first_child = node;
        let entry = &mut self.nodes[node as usize];
        entry.parent = parent;
        entry.next_sibling = next;
        entry.previous_sibling = NONE;
        entry.link = link;
    }

    fn detach(&mut self, node: u32) {
        let TreeNode {
            parent,
            next_sibling,
            previous_sibling,
            ..
        } = self.nodes[node as usize];
        if previous_sibling == NONE {
            self.nodes[parent as usize].first_child = next_sibling;
        } else {
            self.nodes[previous_sibling as usize].next_sibling = next_sibling;
        }
        if next_sibling != NONE {
            self.nodes[next_sibling as usize].previous_sibling = previous_sibling;
        }
    }

    /// `pi_tail - pi_head`: the cost at which an arc of the bundle has reduced cost 0.
    fn difference(&self, price: &Price) -> f64 {
        self.potentials[price.tail as usize] - self.potentials[price.head as usize]
    }

    /// Recomputes all potentials.
    fn refresh_all(&mut self) {
        self.largest_potential = 0.0;
        let root = self.nodes.len() - 1;
        let mut child = self.nodes[root].first_child;
        while child != NONE {
            self.refresh(child);
            child = self.nodes[child as usize].next_sibling;
        }
    }

    /// Recomputes depth and potential below and at `top` from its parent's; returns the number of nodes.
    ///
    /// Potentials are added up along the tree anew rather than shifted, so that rounding errors do not pile up.
    fn refresh(&mut self, top: u32) -> usize {
        let mut visited = 0;
        let mut node = top;
        loop {
            visited += 1;
            let TreeNode {
                parent,
                link,
                first_child,
                ..
            } = self.nodes[node as usize];
            let potential =
                self.potentials[parent as usize] + if link.upward { link.cost } else { -link.cost };
            self.potentials[node as usize] = potential;
            self.largest_potential = self.largest_potential.max(potential.abs());
            self.nodes[node as usize].depth = self.nodes[parent as usize].depth + 1;
            if first_child != NONE {
                node = first_child;
                continue;
            }
            while node != top && self.nodes[node as usize].next_sibling == NONE {
                node = self.nodes[node as usize].parent;
            }
            if node == top {
                return visited;
            }
            node = self.nodes[node as usize].next_sibling;
        }
    }

    /// Writes the cycle "`from` -> `to`, then back along the tree" to `cycle`, in the direction of the flow, beginning
    /// at its node nearest to the root; returns the position of the entering edge.
    fn close_cycle(
        &self,
        from: u32,
        to: u32,
        entering: CycleEdge,
        cycle: &mut Vec<CycleEdge>,
    ) -> usize {
        cycle.clear();
        let (mut source, mut target) = (from, to);
        // Deeper nodes first; the upper part of the way up from `to` is reversed into place afterwards.
        while self.nodes[source as usize].depth > self.nodes[target as usize].depth {
            source = self.descend(source, cycle);
        }
        let mut apex = target;
        while self.nodes[apex as usize].depth > self.nodes[source as usize].depth {
            apex = self.nodes[apex as usize].parent;
        }
        while source != apex {
            source = self.descend(source, cycle);
            apex = self.nodes[apex as usize].parent;
        }
        cycle.reverse();
        let position = cycle.len();
        cycle.push(entering);
        while target != apex {
            let TreeNode { parent, link, .. } = self.nodes[target as usize];
            cycle.push(CycleEdge {
                node: target,
                link,
                increasing: link.upward,
                moved: false,
            });
            target = parent;
        }
        position
    }

    /// Appends the edge above `node`, along which the flow comes down; returns the parent.
    fn descend(&self, node: u32, cycle: &mut Vec<CycleEdge>) -> u32 {
        let TreeNode { parent, link, .. } = self.nodes[node as usize];
        cycle.push(CycleEdge {
            node,
            link,
            increasing: !link.upward,
            moved: false,
        });
        parent
    }

    /// Cuts the edge above `cut` and hangs the subtree below `outer` by its node `inner`.
    fn exchange(&mut self, cut: u32, inner: u32, outer: u32, link: Link) {
        let (mut node, mut parent, mut link) = (inner, outer, link);
        loop {
            let TreeNode {
                parent: old_parent,
                link: mut old_link,
                ..
            } = self.nodes[node as usize];
            self.detach(node);
            self.attach(node, parent, link);
            if node == cut {
                return;
            }
            old_link.upward = !old_link.upward;
            (node, parent, link) = (old_parent, node, old_link);
        }
    }
}

/// A graph with capacities, a circulation on it, and the basis that the next call starts from.
pub struct Circulation {
    /// Flows are multiples of this power of two.
    unit: f64,
    flow: Vec<f64>,
    segments: Vec<Segment>,
    bundles: Vec<Bundle>,
    prices: Vec<Price>,
    tree: SpanningTree,
    /// Buffers: the cycle of a pivot, and by how much the flow on each of its edges can change.
    cycle: Vec<CycleEdge>,
    residuals: Vec<f64>,
    next_bundle: usize,
    pivot_limit: usize,
}

/// The bundle of parallel arcs, with its segments appended to `segments`: first those of arcs that can carry flow.
fn bundle_of(arcs: &[u32], capacities: &[f64], unit: f64, segments: &mut Vec<Segment>) -> Bundle {
    let start = segments.len();
    let usable = |arc: u32| round_down(capacities[arc as usize], unit) > 0.0;
    let segment = |&arc: &u32| Segment {
        cost: 0.0,
        capacity: capacities[arc as usize],
        arc,
        level: Level::Empty,
    };
    segments.extend(arcs.iter().filter(|&&arc| usable(arc)).map(segment));
    let usable_end = segments.len();
    segments.extend(arcs.iter().filter(|&&arc| !usable(arc)).map(segment));
    Bundle {
        start,
        usable_end,
        end: segments.len(),
        current: start,
        flow: 0.0,
        in_tree: false,
    }
}

impl Circulation {
    /// The zero circulation on the graph with the arcs `tails[j] -> heads[j]`.
    ///
    /// Parallel arcs, arcs in both directions, loops and capacities of 0 are legal, and the graph need not be
    /// connected.
    ///
    /// # Errors
    ///
    /// Arrays of different lengths, a node that is not below `nodes`, a capacity that is negative or not finite.
    pub fn new(
        nodes: usize,
        tails: &[u32],
        heads: &[u32],
        capacities: &[f64],
    ) -> Result<Self, CirculationError> {
        let arcs = tails.len();
        check_graph(nodes, tails, heads, capacities)?;
        let unit = unit_for(capacities.iter().copied().fold(0.0, f64::max));
        let mut order = stable_order(
            heads,
            nodes,
            &memory::collected(0..arcs as u32, Purpose::Network),
        );
        order = stable_order(tails, nodes, &order);

        let mut segments: Vec<Segment> = memory::room(arcs, Purpose::Network);
        let (mut bundles, mut prices) = (Vec::new(), Vec::new());
        let ends = |arc: u32| (tails[arc as usize], heads[arc as usize]);
        for group in order.chunk_by(|&first, &second| ends(first) == ends(second)) {
            bundles.push(bundle_of(group, capacities, unit, &mut segments));
            let (tail, head) = ends(group[0]);
            prices.push(Price {
                tail,
                head,
                raise: f64::INFINITY,
                lower: f64::NEG_INFINITY,
            });
        }
        Ok(Circulation {
            unit,
            flow: memory::zeros(arcs, Purpose::Network),
            segments,
            bundles,
            prices,
            tree: SpanningTree::star(nodes as u32),
            cycle: Vec::new(),
            residuals: Vec::new(),
            next_bundle: 0,
            pivot_limit: arcs.saturating_add(nodes).saturating_mul(100),
        })
    }

    /// Bounds the number of pivots of one call of [`solve`](Self::solve) (default: 100 times the number of nodes and
    /// arcs).
    pub fn set_pivot_limit(&mut self, pivots: usize) {
        self.pivot_limit = pivots;
    }

    /// The flow of every arc. `0 <= a <= c` holds exactly, and so does `H a = 0` when it is added up without rounding.
    pub fn flow(&self) -> &[f64] {
        &self.flow
    }

    /// The potential `pi` of every node; the reduced cost of an arc is `cost - pi[tail] + pi[head]`.
    pub fn potentials(&self) -> &[f64] {
        &self.tree.potentials[..self.tree.nodes.len() - 1]
    }

    /// Makes the flow a circulation of least cost, starting from the present one.
    ///
    /// `interrupted` is asked every few milliseconds whether to stop.
    ///
    /// # Errors
    ///
    /// `costs` has the wrong length or an entry that is not finite. The flow is then as before.
    pub fn solve(
        &mut self,
        costs: &[f64],
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Outcome, CirculationError> {
        let largest_cost = self.check_costs(costs)?;
        let (status, pivots) = self.optimise(costs, largest_cost, interrupted);
        self.store_links();
        let (objective, duality_gap) = self.publish();
        Ok(Outcome {
            status,
            pivots,
            objective,
            duality_gap,
        })
    }

    /// The largest absolute cost.
    fn check_costs(&self, costs: &[f64]) -> Result<f64, CirculationError> {
        let expected = self.flow.len();
        if costs.len() != expected {
            return Err(CirculationError::Length {
                name: "costs",
                found: costs.len(),
                expected,
            });
        }
        if let Some((arc, &found)) = costs.iter().enumerate().find(|(_, cost)| !cost.is_finite()) {
            return Err(CirculationError::Cost { arc, found });
        }
        Ok(costs
            .iter()
            .fold(0.0, |largest, cost| cost.abs().max(largest)))
    }

    fn optimise(
        &mut self,
        costs: &[f64],
        largest_cost: f64,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> (CirculationStatus, usize) {
        let stopped = self.set_costs(costs, interrupted);
        self.load_links();
        if stopped {
            return (CirculationStatus::Interrupted, 0);
        }
        let (mut pivots, mut work, mut settled) = (0, 0, 0);
        loop {
            let tolerance = REDUCED_COST_TOLERANCE * largest_cost.max(self.tree.largest_potential);
            let (entering, scanned) = match self.next_unsettled(&mut settled) {
                Some(bundle) => (Some(bundle), 1),
                None => self.most_violated(tolerance),
            };
            let Some(bundle) = entering else {
                return (CirculationStatus::Optimal, pivots);
            };
            if pivots == self.pivot_limit {
                return (CirculationStatus::PivotLimit, pivots);
            }
            work += scanned + self.pivot(bundle, tolerance);
            pivots += 1;
            if work >= WORK_BETWEEN_POLLS {
                work = 0;
                if interrupted() {
                    return (CirculationStatus::Interrupted, pivots);
                }
            }
        }
    }

    /// Sorts every bundle by the new costs and fills its cheapest arcs with the flow it has. True when interrupted: the
    /// costs are then in place all the same, and the flow is unchanged where the order is.
    fn set_costs(&mut self, costs: &[f64], interrupted: &mut dyn FnMut() -> bool) -> bool {
        let (mut stopped, mut sorted) = (false, 0);
        for bundle in &mut self.bundles {
            for segment in &mut self.segments[bundle.start..bundle.end] {
                segment.cost = costs[segment.arc as usize];
            }
            if stopped {
                continue;
            }
            refill(bundle, &mut self.segments, self.unit);
            sorted += bundle.end - bundle.start;
            if sorted >= SORTED_BETWEEN_POLLS {
                sorted = 0;
                stopped = interrupted();
            }
        }
        stopped
    }

    /// Puts the current segments into the tree's links, and prices what is outside of the tree.
    fn load_links(&mut self) {
        for number in 0..self.bundles.len() {
            self.price(number);
        }
        for node in &mut self.tree.nodes {
            let link = &mut node.link;
            if link.bundle == ARTIFICIAL {
                continue;
            }
            let number = link.bundle as usize;
            let bundle = &mut self.bundles[number];
            // Strong feasibility: a downward link must not be empty. (An upward one is not full: its bundle was not.)
            let at_end = bundle.current == bundle.usable_end;
            if bundle.current > bundle.start && bundle.flow == 0.0 && (at_end || !link.upward) {
                bundle.current -= 1;
                bundle.flow = round_down(self.segments[bundle.current].capacity, self.unit);
            }
            let segment = &self.segments[bundle.current];
            link.flow = bundle.flow;
            link.capacity = round_down(segment.capacity, self.unit);
            link.cost = segment.cost;
        }
        self.tree.refresh_all();
    }

    /// Writes the flows of the tree's links back to their bundles.
    fn store_links(&mut self) {
        for TreeNode { link, .. } in &self.tree.nodes {
            if link.bundle != ARTIFICIAL {
                self.bundles[link.bundle as usize].flow = link.flow;
            }
        }
    }

    /// Brings the caller's flow up to date; returns objective and duality gap. The capacities are those of the caller.
    fn publish(&mut self) -> (f64, f64) {
        let (mut objective, mut duality_gap) = (0.0, 0.0);
        for (bundle, price) in self.bundles.iter().zip(&self.prices) {
            let difference = self.tree.difference(price);
            for (position, segment) in
                (bundle.start..).zip(&mut self.segments[bundle.start..bundle.end])
            {
                let flow = match position.cmp(&bundle.current) {
                    Ordering::Less => round_down(segment.capacity, self.unit),
                    Ordering::Equal => bundle.flow,
                    Ordering::Greater => 0.0,
                };
                let level = match position.cmp(&bundle.current) {
                    Ordering::Less => Level::Full,
                    Ordering::Equal if flow > 0.0 => Level::Partial,
                    _ => Level::Empty,
                };
                if level != segment.level || level == Level::Partial {
                    segment.level = level;
                    self.flow[segment.arc as usize] = flow;
                }
                let reduced = segment.cost - difference;
                objective += segment.cost * flow;
                duality_gap += if reduced > 0.0 {
                    reduced * flow
                } else {
                    -reduced * (segment.capacity - flow)
                };
            }
        }
        (objective, duality_gap)
    }

    /// The next bundle outside of the tree whose flow ends inside a segment.
    fn next_unsettled(&self, settled: &mut usize) -> Option<usize> {
        while *settled < self.bundles.len() {
            let number = *settled;
            *settled += 1;
            if !self.bundles[number].in_tree && self.bundles[number].flow > 0.0 {
                return Some(number);
            }
        }
        None
    }

    /// The entering bundle and the number of bundles priced: the most violated bundle of the next block that has any.
    fn most_violated(&mut self, tolerance: f64) -> (Option<usize>, usize) {
        let count = self.prices.len();
        let block = (count.isqrt() / 2).max(SMALLEST_BLOCK);
        let mut scanned = 0;
        while scanned < count {
            if self.next_bundle >= count {
                self.next_bundle = 0;
            }
            let start = self.next_bundle;
            let end = count.min(start + block);
            let (mut lowest, mut entering) = (-tolerance, None);
            for (number, price) in (start..).zip(&self.prices[start..end]) {
                let difference = self.tree.difference(price);
                let violation = (price.raise - difference).min(difference - price.lower);
                if violation < lowest {
                    (lowest, entering) = (violation, Some(number));
                }
            }
            self.next_bundle = end;
            scanned += end - start;
            if entering.is_some() {
                return (entering, scanned);
            }
        }
        (None, scanned)
    }

    /// Prices a bundle for the next choice of the entering one.
    fn price(&mut self, number: usize) {
        let bundle = &self.bundles[number];
        let (mut raise, mut lower) = (f64::INFINITY, f64::NEG_INFINITY);
        if !bundle.in_tree && bundle.flow == 0.0 {
            if bundle.current < bundle.usable_end {
                raise = self.segments[bundle.current].cost;
            }
            if bundle.current > bundle.start {
                lower = self.segments[bundle.current - 1].cost;
            }
        }
        self.prices[number].raise = raise;
        self.prices[number].lower = lower;
    }

    /// Moves a bundle into the tree, or to another point between two of its segments; returns a measure of the work.
    fn pivot(&mut self, number: usize, tolerance: f64) -> usize {
        let price = self.prices[number];
        let difference = self.tree.difference(&price);
        let (mut entering, slope) = self.enter(number, difference);
        let (from, to) = if entering.increasing {
            (price.tail, price.head)
        } else {
            (price.head, price.tail)
        };
        let mut cycle = std::mem::take(&mut self.cycle);
        let position = self.tree.close_cycle(from, to, entering, &mut cycle);
        let (blocking, steps) = self.push(&mut cycle, slope, tolerance);
        for edge in cycle.iter().filter(|edge| edge.node != NONE) {
            self.tree.nodes[edge.node as usize].link = edge.link;
        }
        let leaving = cycle[blocking];
        entering = cycle[position];
        self.bundles[number].in_tree = true;
        self.price(number);
        if leaving.link.bundle != ARTIFICIAL {
            self.leave(&leaving.link);
        }

        let (down, up) = (&cycle[..position], &cycle[position + 1..]);
        let link = |lower: u32| Link {
            upward: lower == price.tail,
            ..entering.link
        };
        // Below the highest edge with a new cost, and in the subtree that moves, depths and potentials change.
        let highest = match blocking.cmp(&position) {
            Ordering::Equal => [highest_moved(down.iter()), highest_moved(up.iter().rev())],
            Ordering::Less => {
                self.tree.exchange(leaving.node, from, to, link(from));
                [
                    highest_moved(cycle[..blocking].iter()),
                    highest_moved(up.iter().rev()).or(Some(from)),
                ]
            }
            Ordering::Greater => {
                self.tree.exchange(leaving.node, to, from, link(to));
                [
                    highest_moved(cycle[blocking + 1..].iter().rev()),
                    highest_moved(down.iter()).or(Some(to)),
                ]
            }
        };
        let mut work = steps * cycle.len();
        for node in highest.into_iter().flatten() {
            work += self.tree.refresh(node);
        }
        self.cycle = cycle;
        work
    }

    /// The entering bundle as an edge of its cycle, and the reduced cost of the cycle.
    fn enter(&mut self, number: usize, difference: f64) -> (CycleEdge, f64) {
        let price = &self.prices[number];
        let bundle = &mut self.bundles[number];
        let increasing = if bundle.flow > 0.0 {
            self.segments[bundle.current].cost < difference
        } else {
            price.raise - difference < difference - price.lower
        };
        if !increasing && bundle.flow == 0.0 {
            bundle.current -= 1;
            bundle.flow = round_down(self.segments[bundle.current].capacity, self.unit);
        }
        let Segment { cost, capacity, .. } = self.segments[bundle.current];
        let capacity = round_down(capacity, self.unit);
        let link = Link {
            bundle: number as u32,
            upward: true,
            flow: bundle.flow,
            capacity,
            cost,
        };
        let slope = if increasing {
            cost - difference
        } else {
            difference - cost
        };
        (
            CycleEdge {
                node: NONE,
                link,
                increasing,
                moved: false,
            },
            slope,
        )
    }

    /// Sends flow around the cycle of reduced cost `slope` until that is no longer negative, or an edge has no further
    /// segment; returns the position of the edge that blocks, and the number of segments that were passed or blocked.
    ///
    /// Among several edges that block, the last one in the order of the cycle counts. This choice keeps the tree
    /// strongly feasible.
    fn push(&mut self, cycle: &mut [CycleEdge], mut slope: f64, tolerance: f64) -> (usize, usize) {
        self.residuals.clear();
        self.residuals.extend(cycle.iter().map(CycleEdge::residual));
        let mut steps = 0;
        let blocking = loop {
            steps += 1;
            let (mut amount, mut blocking) = (f64::INFINITY, 0);
            for (position, &residual) in self.residuals.iter().enumerate() {
                if residual <= amount {
                    (amount, blocking) = (residual, position);
                }
            }
            for residual in &mut self.residuals {
                *residual -= amount;
            }
            let edge = &mut cycle[blocking];
            let Some(next) = self.next_segment(edge) else {
                break blocking;
            };
            let Segment { cost, capacity, .. } = self.segments[next];
            slope += (cost - edge.link.cost).abs();
            if slope >= -tolerance {
                break blocking;
            }
            self.bundles[edge.link.bundle as usize].current = next;
            edge.link.cost = cost;
            edge.link.capacity = round_down(capacity, self.unit);
            edge.moved = true;
            self.residuals[blocking] = edge.link.capacity;
        };
        for (edge, &residual) in cycle.iter_mut().zip(&self.residuals) {
            edge.link.flow = if edge.increasing {
                edge.link.capacity - residual
            } else {
                residual
            };
        }
        (blocking, steps)
    }

    /// The segment that continues the bundle of `edge` in the direction of the flow.
    fn next_segment(&self, edge: &CycleEdge) -> Option<usize> {
        if edge.link.bundle == ARTIFICIAL {
            return None;
        }
        let bundle = &self.bundles[edge.link.bundle as usize];
        if edge.increasing {
            (bundle.current + 1 < bundle.usable_end).then_some(bundle.current + 1)
        } else {
            (bundle.current > bundle.start).then(|| bundle.current - 1)
        }
    }

    /// Takes a bundle at an end of its current segment out of the tree.
    fn leave(&mut self, link: &Link) {
        let bundle = &mut self.bundles[link.bundle as usize];
        if link.flow > 0.0 {
            bundle.current += 1;
        }
        bundle.flow = 0.0;
        bundle.in_tree = false;
        self.price(link.bundle as usize);
    }
}

/// The lower end of the first edge that has moved to another segment.
fn highest_moved<'a>(mut edges: impl Iterator<Item = &'a CycleEdge>) -> Option<u32> {
    edges.find(|edge| edge.moved).map(|edge| edge.node)
}

/// Sorts a bundle by cost and moves its flow to its cheapest arcs.
fn refill(bundle: &mut Bundle, segments: &mut [Segment], unit: f64) {
    let segments = &mut segments[bundle.start..bundle.usable_end];
    let Some(last) = segments.len().checked_sub(1) else {
        return;
    };
    segments.sort_unstable_by(|first, second| {
        first
            .cost
            .total_cmp(&second.cost)
            .then(first.arc.cmp(&second.arc))
    });

    let capacity = |position: usize| round_down(segments[position].capacity, unit);
    let flow = |position: usize| match segments[position].level {
        Level::Empty => 0.0,
        Level::Partial => bundle.flow,
        Level::Full => capacity(position),
    };
    let (mut low, mut high) = (0, last);
    let (mut low_flow, mut high_flow) = (flow(low), flow(high));
    while low < high {
        let amount = high_flow.min(capacity(low) - low_flow);
        low_flow += amount;
        high_flow -= amount;
        if high_flow == 0.0 {
            high -= 1;
            high_flow = if low < high { flow(high) } else { low_flow };
        } else {
            low += 1;
            low_flow = if low < high { flow(low) } else { high_flow };
        }
    }
    let full = low_flow == capacity(low);
    bundle.current = bundle.start + low + usize::from(full);
    bundle.flow = if full { 0.0 } else { low_flow };
}

fn check_graph(
    nodes: usize,
    tails: &[u32],
    heads: &[u32],
    capacities: &[f64],
) -> Result<(), CirculationError> {
    let arcs = tails.len();
    let limit = NONE as usize;
    for (name, found) in [("nodes", nodes), ("arcs", arcs)] {
        if found >= limit {
            return Err(CirculationError::Size { name, found, limit });
        }
    }
    for (name, found) in [("heads", heads.len()), ("capacities", capacities.len())] {
        if found != arcs {
            return Err(CirculationError::Length {
                name,
                found,
                expected: arcs,
            });
        }
    }
    for (name, ends) in [("tails", tails), ("heads", heads)] {
        if let Some((arc, &found)) = ends
            .iter()
            .enumerate()
            .find(|&(_, &node)| node as usize >= nodes)
        {
            return Err(CirculationError::Node {
                name,
                arc,
                found,
                nodes,
            });
        }
    }
    let valid = |capacity: f64| capacity >= 0.0 && capacity.is_finite();
    if let Some((arc, &found)) = capacities
        .iter()
        .enumerate()
        .find(|&(_, &capacity)| !valid(capacity))
    {
        return Err(CirculationError::Capacity { arc, found });
    }
    Ok(())
}

/// The arcs of `order` sorted by their key, which is below `keys_below`; arcs of equal key keep their order.
fn stable_order(keys: &[u32], keys_below: usize, order: &[u32]) -> Vec<u32> {
    let mut next = memory::filled(0_usize, keys_below + 1, Purpose::Network);
    for &key in keys {
        next[key as usize + 1] += 1;
    }
    for key in 0..keys_below {
        next[key + 1] += next[key];
    }
    let mut sorted = memory::filled(0, order.len(), Purpose::Network);
    for &arc in order {
        let place = &mut next[keys[arc as usize] as usize];
        sorted[*place] = arc;
        *place += 1;
    }
    sorted
}

/// The power of two that makes `largest` less than `2^53` units.
fn unit_for(largest: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    const SMALLEST: f64 = f64::from_bits(1);
    (f64::from_bits(largest.to_bits() & EXPONENT) * f64::EPSILON).max(SMALLEST)
}

fn round_down(capacity: f64, unit: f64) -> f64 {
    (capacity / unit).floor() * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    struct Graph {
        nodes: usize,
        tails: Vec<u32>,
        heads: Vec<u32>,
        capacities: Vec<f64>,
    }

    impl Graph {
        fn solver(&self) -> Circulation {
            Circulation::new(self.nodes, &self.tails, &self.heads, &self.capacities).unwrap()
        }

        fn arcs(&self) -> impl Iterator<Item = (usize, usize)> {
            self.tails
                .iter()
                .zip(&self.heads)
                .map(|(&tail, &head)| (tail as usize, head as usize))
        }
    }

    fn solve(solver: &mut Circulation, costs: &[f64]) -> Outcome {
        solver.solve(costs, &mut || false).unwrap()
    }

    /// The flow is a circulation within the capacities; objective and duality gap are those that the outcome states.
    /// Returns the largest cost or potential times the sum of the capacities, which rounding errors go with.
    fn assert_feasible(
        graph: &Graph,
        costs: &[f64],
        solver: &Circulation,
        outcome: &Outcome,
    ) -> f64 {
        let flow = solver.flow();
        let (mut balance, mut throughput) = (vec![0.0; graph.nodes], vec![0.0; graph.nodes]);
        let (mut primal, mut dual, mut largest) = (0.0, 0.0, 0.0_f64);
        let pi = solver.potentials();
        for (arc, (tail, head)) in graph.arcs().enumerate() {
            let (flow, capacity, cost) = (flow[arc], graph.capacities[arc], costs[arc]);
            assert!(
                (0.0..=capacity).contains(&flow),
                "arc {arc} carries {flow} of {capacity}"
            );
            balance[tail] += flow;
            balance[head] -= flow;
            throughput[tail] += flow;
            throughput[head] += flow;
            primal += cost * flow;
            dual -= capacity * (-(cost - pi[tail] + pi[head])).max(0.0);
            largest = cost
                .abs()
                .max(pi[tail].abs())
                .max(pi[head].abs())
                .max(largest);
        }
        for (balance, throughput) in balance.iter().zip(&throughput) {
            assert!(
                balance.abs() <= 1e-14 * throughput,
                "{balance} is left of {throughput}"
            );
        }
        let size = largest * graph.capacities.iter().sum::<f64>();
        let rounding = 1e-13 * size;
        assert!(
            (outcome.objective - primal).abs() <= rounding,
            "{primal} {outcome:?}"
        );
        assert!(
            (outcome.duality_gap - (primal - dual)).abs() <= rounding,
            "{primal} {dual} {outcome:?}"
        );
        assert!(outcome.duality_gap >= 0.0);
        size
    }

    fn assert_optimal(graph: &Graph, costs: &[f64], solver: &Circulation, outcome: &Outcome) {
        assert_eq!(outcome.status, CirculationStatus::Optimal);
        let size = assert_feasible(graph, costs, solver, outcome);
        assert!(outcome.duality_gap <= 1e-13 * size, "{outcome:?} {size}");
        // Every node can send a positive amount to the root.
        for TreeNode { link, .. } in &solver.tree.nodes[..graph.nodes] {
            assert!(if link.upward {
                link.flow < link.capacity
            } else {
                link.flow > 0.0
            });
        }
    }

    /// The least cost for whole numbers, by cancelling negative cycles one after the other (Bellman-Ford).
    fn optimum_by_cycle_cancelling(graph: &Graph, costs: &[f64]) -> f64 {
        let arcs: Vec<(usize, usize)> = graph.arcs().collect();
        let mut flow = vec![0.0; arcs.len()];
        loop {
            let mut distance = vec![0.0; graph.nodes];
            let mut last: Vec<Option<(usize, bool)>> = vec![None; graph.nodes];
            let mut changed = None;
            for _ in 0..=graph.nodes {
                changed = None;
                for (arc, &(tail, head)) in arcs.iter().enumerate() {
                    let moves = [
                        (
                            flow[arc] < graph.capacities[arc],
                            tail,
                            head,
                            costs[arc],
                            true,
                        ),
                        (flow[arc] > 0.0, head, tail, -costs[arc], false),
                    ];
                    for (open, from, to, cost, forward) in moves {
                        if open && distance[from] + cost < distance[to] {
                            distance[to] = distance[from] + cost;
                            last[to] = Some((arc, forward));
                            changed = Some(to);
                        }
                    }
                }
            }
            let Some(mut node) = changed else {
                return flow.iter().zip(costs).map(|(flow, cost)| flow * cost).sum();
            };
            let source =
                |(arc, forward): (usize, bool)| if forward { arcs[arc].0 } else { arcs[arc].1 };
            for _ in 0..graph.nodes {
                node = source(last[node].unwrap());
            }
            let (mut cycle, first) = (Vec::new(), node);
            loop {
                cycle.push(last[node].unwrap());
                node = source(last[node].unwrap());
                if node == first {
                    break;
                }
            }
            let room = |&(arc, forward): &(usize, bool)| {
                if forward {
                    graph.capacities[arc] - flow[arc]
                } else {
                    flow[arc]
                }
            };
            let amount = cycle.iter().map(room).fold(f64::INFINITY, f64::min);
            for (arc, forward) in cycle {
                flow[arc] += if forward { amount } else { -amount };
            }
        }
    }

    fn graphs(
        capacity: impl Strategy<Value = f64> + Clone + 'static,
    ) -> impl Strategy<Value = Graph> {
        (1_usize..9, 0_usize..120).prop_flat_map(move |(nodes, arcs)| {
            let ends = || prop::collection::vec(0..nodes as u32, arcs);
            (
                ends(),
                ends(),
                prop::collection::vec(capacity.clone(), arcs),
            )
                .prop_map(move |(tails, heads, capacities)| Graph {
                    nodes,
                    tails,
                    heads,
                    capacities,
                })
        })
    }

    fn wide_capacity() -> impl Strategy<Value = f64> + Clone {
        prop_oneof![
            1 => Just(0.0),
            2 => (0_u8..4).prop_map(f64::from),
            2 => 0.0..1.0,
            2 => (-6.0..6.0).prop_map(|exponent: f64| 10_f64.powf(exponent)),
        ]
    }

    fn whole_cost() -> impl Strategy<Value = f64> + Clone {
        (-3_i8..=3).prop_map(f64::from)
    }

    fn wide_cost() -> impl Strategy<Value = f64> + Clone {
        let magnitude = (-6.0..6.0).prop_map(|exponent: f64| 10_f64.powf(exponent));
        prop_oneof![
            2 => whole_cost(),
            2 => -1.0..1.0,
            1 => magnitude.clone(),
            1 => magnitude.prop_map(|magnitude| -magnitude),
        ]
    }

    /// A graph and the costs of several calls, each either new or near to those of the call before.
    fn graphs_with_costs() -> impl Strategy<Value = (Graph, Vec<Vec<f64>>)> {
        graphs(wide_capacity()).prop_flat_map(|graph| {
            let arcs = graph.tails.len();
            let call = (
                prop::collection::vec(wide_cost(), arcs),
                any::<bool>(),
                0.0..1.0,
            );
            let calls = prop::collection::vec(call, 1..5).prop_map(move |calls| {
                let mut costs: Vec<Vec<f64>> = Vec::new();
                for (fresh, near, weight) in calls {
                    let next = match costs.last() {
                        Some(last) if near => last
                            .iter()
                            .zip(fresh)
                            .map(|(old, new)| old + weight * (new - old))
                            .collect(),
                        _ => fresh,
                    };
                    costs.push(next);
                }
                costs
            });
            (Just(graph), calls)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn whole_numbers_give_the_optimum_of_cycle_cancelling(
            (graph, costs) in graphs((0_u8..4).prop_map(f64::from)).prop_flat_map(|graph| {
                let costs = prop::collection::vec(whole_cost(), graph.tails.len());
                (Just(graph), costs)
            })
        ) {
            let mut solver = graph.solver();
            let outcome = solve(&mut solver, &costs);
            assert_optimal(&graph, &costs, &solver, &outcome);
            prop_assert_eq!(outcome.duality_gap, 0.0);
            prop_assert_eq!(outcome.objective, optimum_by_cycle_cancelling(&graph, &costs));
        }

        #[test]
        fn warm_and_cold_answers_are_certified_and_equal((graph, calls) in graphs_with_costs()) {
            let mut warm = graph.solver();
            for costs in &calls {
                let outcome = solve(&mut warm, costs);
                assert_optimal(&graph, costs, &warm, &outcome);
                let mut cold = graph.solver();
                let other = solve(&mut cold, costs);
                assert_optimal(&graph, costs, &cold, &other);
                let gaps = outcome.duality_gap + other.duality_gap;
                let values = graph.capacities.iter().zip(costs).map(|(capacity, cost)| (capacity * cost).abs());
                let size: f64 = values.sum();
                prop_assert!((outcome.objective - other.objective).abs() <= gaps + 1e-14 * size);
            }
        }

        #[test]
        fn limited_calls_keep_the_flow_feasible_and_never_raise_its_cost(
            (graph, calls) in graphs_with_costs(),
            limit in 0_usize..4,
        ) {
            let mut solver = graph.solver();
            solver.set_pivot_limit(limit);
            for costs in calls.iter().cycle().take(12) {
                let value = |flow: &[f64]| flow.iter().zip(costs).map(|(flow, cost)| flow * cost).sum::<f64>();
                let before = value(solver.flow());
                let outcome = solve(&mut solver, costs);
                prop_assert!(outcome.pivots <= limit && outcome.status != CirculationStatus::Interrupted);
                let size = assert_feasible(&graph, costs, &solver, &outcome);
                prop_assert!(outcome.objective <= before + 1e-13 * size, "{before} {outcome:?}");
            }
            solver.set_pivot_limit(usize::MAX);
            let outcome = solve(&mut solver, &calls[0]);
            assert_optimal(&graph, &calls[0], &solver, &outcome);
        }
    }

    /// Label pairs of random instances: all pairs of an instance have the same capacity, and costs come from scores.
    struct Ranking {
        graph: Graph,
        instances: Vec<usize>,
    }

    impl Ranking {
        fn new(instances: usize, labels: usize, random: &mut fastrand::Rng) -> Self {
            let mut graph = Graph {
                nodes: labels,
                tails: vec![],
                heads: vec![],
                capacities: vec![],
            };
            let mut owners = Vec::new();
            for instance in 0..instances {
                let mut order: Vec<u32> = (0..labels as u32).collect();
                random.shuffle(&mut order);
                let (relevant, irrelevant) = order.split_at(random.usize(1..labels));
                for &tail in relevant {
                    for &head in irrelevant {
                        graph.tails.push(tail);
                        graph.heads.push(head);
                        graph
                            .capacities
                            .push(1.0 / (relevant.len() * irrelevant.len()) as f64);
                        owners.push(instance);
                    }
                }
            }
            Ranking {
                graph,
                instances: owners,
            }
        }

        fn costs(&self, scores: &[f64]) -> Vec<f64> {
            let score =
                |arc: usize, label: usize| scores[self.instances[arc] * self.graph.nodes + label];
            self.graph
                .arcs()
                .enumerate()
                .map(|(arc, (tail, head))| score(arc, tail) - score(arc, head) - 1.0)
                .collect()
        }
    }

    #[test]
    fn the_oracle_of_frank_wolfe_is_solved_from_equal_costs_to_changing_scores() {
        let mut random = fastrand::Rng::with_seed(11);
        let ranking = Ranking::new(300, 12, &mut random);
        let mut warm = ranking.graph.solver();
        let mut scores = vec![0.0; 300 * 12];
        for step in 0..30 {
            let costs = ranking.costs(&scores);
            let outcome = solve(&mut warm, &costs);
            assert_optimal(&ranking.graph, &costs, &warm, &outcome);
            if step % 10 == 0 {
                let mut cold = ranking.graph.solver();
                let other = solve(&mut cold, &costs);
                assert!(
                    (outcome.objective - other.objective).abs() <= 1e-12 * other.objective.abs()
                );
            }
            for score in &mut scores {
                *score += 2.0 / f64::from(step + 2) * (random.f64() - 0.5 - *score);
            }
        }
    }

    #[test]
    fn the_magnitude_of_the_numbers_does_not_matter() {
        let mut random = fastrand::Rng::with_seed(2);
        let ranking = Ranking::new(40, 6, &mut random);
        let scores: Vec<f64> = (0..40 * 6).map(|_| random.f64()).collect();
        let costs = ranking.costs(&scores);
        let mut plain = ranking.graph.solver();
        let expected = solve(&mut plain, &costs);
        for (capacity_exponent, cost_exponent) in [
            (-1000, 0),
            (900, 0),
            (0, -900),
            (0, 900),
            (-500, 500),
            (600, -1000),
        ] {
            // Two factors each, because a power of two below the normal range is not a factor.
            let shift = |value: f64, exponent: i32| {
                value * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent / 2)
            };
            let mut graph = ranking.graph.clone();
            graph
                .capacities
                .iter_mut()
                .for_each(|capacity| *capacity = shift(*capacity, capacity_exponent));
            let costs: Vec<f64> = costs
                .iter()
                .map(|&cost| shift(cost, cost_exponent))
                .collect();
            let mut solver = graph.solver();
            let outcome = solve(&mut solver, &costs);
            assert_eq!(
                (outcome.status, outcome.pivots),
                (expected.status, expected.pivots)
            );
            let flow: Vec<f64> = plain
                .flow()
                .iter()
                .map(|&flow| shift(flow, capacity_exponent))
                .collect();
            assert_eq!(solver.flow(), flow);
        }
    }

    #[test]
    fn capacities_below_the_smallest_normal_number_are_legal() {
        let tiny = f64::from_bits(3);
        let mut solver =
            Circulation::new(2, &[0, 1, 1], &[1, 0, 0], &[tiny, f64::from_bits(2), tiny]).unwrap();
        let outcome = solve(&mut solver, &[-1.0, -1.0, 0.5]);
        assert_eq!(outcome.status, CirculationStatus::Optimal);
        assert_eq!(solver.flow(), [tiny, f64::from_bits(2), f64::from_bits(1)]);
    }

    #[test]
    fn an_arc_below_one_unit_stays_empty_and_counts_in_the_gap() {
        let graph = Graph {
            nodes: 1,
            tails: vec![0, 0],
            heads: vec![0, 0],
            capacities: vec![1.0, 1e-20],
        };
        let mut solver = graph.solver();
        let outcome = solve(&mut solver, &[-1.0, -1e6]);
        assert_eq!(solver.flow(), [1.0, 0.0]);
        assert_eq!(outcome.status, CirculationStatus::Optimal);
        assert_eq!(outcome.duality_gap, 1e-20 * 1e6);
    }

    #[test]
    fn a_maximum_flow_is_found_as_a_circulation() {
        // Two arcs of 3 and 2 out of the source 0 and of 2 and 3 into the sink 3, with a link of 1 between the paths.
        let tails = [0, 0, 1, 1, 2, 3];
        let heads = [1, 2, 3, 2, 3, 0];
        let mut solver =
            Circulation::new(4, &tails, &heads, &[3.0, 2.0, 2.0, 1.0, 3.0, 9.0]).unwrap();
        let outcome = solve(&mut solver, &[0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
        assert_eq!(outcome.objective, -5.0);
        assert_eq!(solver.flow(), [3.0, 2.0, 2.0, 1.0, 3.0, 5.0]);
    }

    #[test]
    fn nothing_to_do_is_done() {
        let mut solver = Circulation::new(0, &[], &[], &[]).unwrap();
        let outcome = solve(&mut solver, &[]);
        let expected = Outcome {
            status: CirculationStatus::Optimal,
            pivots: 0,
            objective: 0.0,
            duality_gap: 0.0,
        };
        assert_eq!(outcome, expected);
        let mut solver = Circulation::new(3, &[0, 1], &[1, 2], &[1.0, 1.0]).unwrap();
        assert_eq!(solve(&mut solver, &[-1.0, -1.0]).objective, 0.0);
        assert_eq!(solver.flow(), [0.0, 0.0]);
    }

    #[test]
    fn an_interruption_keeps_a_flow_from_which_to_go_on() {
        let mut random = fastrand::Rng::with_seed(3);
        let nodes = 150;
        let arcs = 300_000;
        let ends =
            |random: &mut fastrand::Rng| (0..arcs).map(|_| random.u32(0..nodes as u32)).collect();
        let graph = Graph {
            nodes,
            tails: ends(&mut random),
            heads: ends(&mut random),
            capacities: (0..arcs).map(|_| random.f64()).collect(),
        };
        let mut solver = graph.solver();
        let mut before = 0.0;
        for polls in 1..6 {
            let costs: Vec<f64> = (0..arcs).map(|_| random.f64() - 0.5).collect();
            let mut left = polls;
            let mut interrupted = || {
                left -= 1;
                left == 0
            };
            let outcome = solver.solve(&costs, &mut interrupted).unwrap();
            assert_eq!(outcome.status, CirculationStatus::Interrupted);
            assert_eq!(
                outcome.pivots == 0,
                polls == 1,
                "the first look is taken while the arcs are sorted"
            );
            assert_feasible(&graph, &costs, &solver, &outcome);
            let outcome = solver.solve(&costs, &mut || false).unwrap();
            assert_optimal(&graph, &costs, &solver, &outcome);
            assert!(outcome.objective != before);
            before = outcome.objective;
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let new = |tails: &[u32], heads: &[u32], capacities: &[f64]| {
            Circulation::new(2, tails, heads, capacities)
                .err()
                .unwrap()
                .to_string()
        };
        assert_eq!(
            new(&[0, 1], &[1], &[1.0, 1.0]),
            "heads has 1 entries, expected one for each of the 2 arcs"
        );
        assert_eq!(
            new(&[0], &[1], &[]),
            "capacities has 0 entries, expected one for each of the 1 arcs"
        );
        assert_eq!(
            new(&[0, 2], &[1, 0], &[1.0, 1.0]),
            "tails[1] is 2, expected a node below 2"
        );
        for found in [-1.0, f64::NAN, f64::INFINITY] {
            let expected = format!("capacities[1] is {found}, expected a finite number >= 0");
            assert_eq!(new(&[0, 1], &[1, 0], &[1.0, found]), expected);
        }
        let mut solver = Circulation::new(2, &[0, 1], &[1, 0], &[1.0, 1.0]).unwrap();
        let mut costs = |costs: &[f64]| solver.solve(costs, &mut || false).unwrap_err().to_string();
        assert_eq!(
            costs(&[1.0]),
            "costs has 1 entries, expected one for each of the 2 arcs"
        );
        assert_eq!(
            costs(&[1.0, f64::NAN]),
            "costs[1] is NaN, expected a finite number"
        );
    }
}
