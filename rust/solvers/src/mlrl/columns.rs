//! The sub-problems of all labels, each on its own, as the rounds pass them to SMO.

use super::Problem;
use crate::memory;
use crate::mlrl::smo::{LabelProblem, Limits, solve_label};
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Poll};

/// Labels per thread between two polls of the monitor.
const GROUP: usize = 2;

/// One label's column of `Z` and its gradient `c K z - p`.
#[derive(Debug)]
pub(super) struct Column {
    pub dual: Vec<f64>,
    pub gradient: Vec<f64>,
    pub steps: usize,
    done: bool,
    /// Whether the steps of the round were used up before the tolerance was reached.
    pub exhausted: bool,
}

impl Column {
    /// `z = 0`; the caller sets the gradient.
    pub fn zero(n: usize) -> Self {
        Self {
            dual: memory::zeros(n),
            gradient: memory::zeros(n),
            steps: 0,
            done: false,
            exhausted: false,
        }
    }
}

/// How the labels of a round are solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// The factor of the kernel.
    pub scale: f64,
    /// See [`Limits`].
    pub tolerance: f64,
    /// Whether the kernel is in single precision.
    pub single: bool,
}

/// Solves every label. Returns the number of pair steps; `None` when interrupted.
pub(super) fn solve_all(
    problem: &Problem<'_>,
    task: Task,
    columns: &mut [Column],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<usize> {
    for column in columns.iter_mut() {
        column.steps = 0;
        column.done = false;
    }
    // As many labels at a time as keep the threads busy, so that polls are frequent.
    let group = GROUP * threads.count();
    while columns.iter().any(|column| !column.done) {
        for (first, some) in columns.chunks_mut(group).enumerate() {
            if some.iter().all(|column| column.done) {
                continue;
            }
            if monitor.poll() != Poll::Go {
                return None;
            }
            threads.for_each_chunk(some, 1, |k, chunk| {
                let label = first * group + k;
                for column in chunk.iter_mut().filter(|column| !column.done) {
                    part(problem, label, task, column);
                }
            });
        }
    }
    Some(columns.iter().map(|column| column.steps).sum())
}

/// Number of steps between two checks for an interruption.
fn part(problem: &Problem<'_>, label: usize, task: Task, column: &mut Column) {
    let limits = Limits {
        tolerance: task.tolerance,
        steps: problem
            .patience()
            .min(problem.most_steps().saturating_sub(column.steps).max(1)),
    };
    let sub_problem = LabelProblem {
        kernel: problem.kernel,
        signs: problem.sign(label),
        bounds: problem.bound(label),
        scale: task.scale,
    };
    let solve = if task.single {
        solve_label::<f32>
    } else {
        solve_label::<f64>
    };
    let (steps, violation) = solve(&sub_problem, &mut column.dual, &mut column.gradient, limits);
    column.steps += steps;
    column.exhausted = column.steps >= problem.most_steps() && violation > limits.tolerance;
    column.done = steps < limits.steps || column.exhausted;
}
