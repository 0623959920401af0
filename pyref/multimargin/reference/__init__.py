"""Plain versions of every method, to be read beside the papers.

One file a method, in its paper's letters and with its equation numbers: the primal and the dual
problem as CVXPY models, the published loop in NumPy, and the way from the dual variables to the
model. They are slow on purpose; the fast solvers are tested against them. Each file begins with a
dictionary of its symbols; `exact` holds what all exact models share.

Bibliography, as cited in this package::

    Elisseeff & Weston 2001  A. Elisseeff and J. Weston. A kernel method for multi-labelled
                             classification. Advances in Neural Information Processing Systems 14,
                             681-687.                                                  (Rank-SVM)
    Chen et al. 2009         G. Chen, J. Zhang, F. Wang, C. Zhang and Y. Gao. Efficient multi-label
                             classification with hypergraph regularization. IEEE Conference on
                             Computer Vision and Pattern Recognition.              (Rank-HLapSVM)
    Xu 2013                  J. Xu. Fast multi-label core vector machine. Pattern Recognition 46(3),
                             885-898.                                                  (Rank-CVM)
    Zhang & Yeung 2013       Y. Zhang and D.-Y. Yeung. Multilabel relationship learning. ACM
                             Transactions on Knowledge Discovery from Data 7(2).   (MLRL, SSMLRL)
    Huang et al. 2015        J. Huang, G. Li, Q. Huang and X. Wu. Learning label specific features
                             for multi-label classification. IEEE International Conference on Data
                             Mining.                                                      (LLSF)
    Xu 2016                  J. Xu. Multi-label Lagrangian support vector machine with random block
                             coordinate descent method. Information Sciences 329, 184-205.
                                                                                      (Rank-LSVM)
    Tan et al. 2019          Z.-H. Tan, P. Tan, Y. Jiang and Z.-H. Zhou. Multi-label optimal margin
                             distribution machine. Machine Learning.                     (mlODM)
"""
