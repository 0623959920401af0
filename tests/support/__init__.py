"""What several tests share: random problems, expansions as dual matrices, folders of data.

- `problems`: features and labels, label covariances, all by a seed;
- `models`: what fitted models say, in the form that references take;
- `certificates`: dual values and constraints of a dual matrix, by their definitions;
- `ctrl_c`: Ctrl-C in the midst of a fit;
- `data`: the folder of real data sets, where there is one;
- `subsets`: which cases of a parameter run in `make test`, and which in `make test-all` alone;
"""
