//! What was typed of orders and pools, as the optimiser has it: for `optimize` and for `submit --batch`.

use howdah_planning::optimize::{Method, Objective, Sizes, SmallBy};

use crate::optimize::args::{MethodChoice, ObjectiveChoice, PoolArgs, SizesChoice, SmallByChoice};

/// With Algorithm 2's choices, as printed, where none was made.
pub(crate) fn method(method: MethodChoice, pools: &PoolArgs) -> Method {
    match method {
        MethodChoice::Johnson => Method::Johnson,
        MethodChoice::ReverseJohnson => Method::ReverseJohnson,
        MethodChoice::ShortestFirst => Method::ShortestFirst,
        MethodChoice::LongestFirst => Method::LongestFirst,
        MethodChoice::BalancedPools => Method::BalancedPools {
            most: pools.pools.map_or(2, |pools| pools as usize),
            sizes: match pools.sizes {
                None | Some(SizesChoice::Machines) => Sizes::Machines,
                Some(SizesChoice::Apart) => Sizes::Apart,
            },
            objective: objective(pools),
        },
    }
}

/// What is to be small.
pub(crate) fn objective(pools: &PoolArgs) -> Objective {
    match pools.objective {
        None | Some(ObjectiveChoice::Makespan) => Objective::Makespan,
        Some(ObjectiveChoice::MeanDelay) => Objective::MeanDelay,
    }
}

/// Which jobs count as small.
pub(crate) fn small_by(pools: &PoolArgs) -> SmallBy {
    match pools.small_by {
        None | Some(SmallByChoice::Maps) => SmallBy::Maps,
        Some(SmallByChoice::Work) => SmallBy::Work,
        Some(SmallByChoice::Length) => SmallBy::Length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithm_2_is_as_printed_by_default() {
        assert_eq!(method(MethodChoice::BalancedPools, &PoolArgs::default()), Method::BALANCED_POOLS);
    }
}
