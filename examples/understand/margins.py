"""
Margins
=======

Large margins or even ones? Rank-SVM pushes small margins up, mlODM draws all of them together.

Learn how to look at the margins of label pairs, which say more about a ranking than the share of
wrong pairs.
"""

from matplotlib import pyplot

from multimargin import MLODM, RankSVM
from multimargin.datasets import load_digit_attributes
from multimargin.measures import ranking_loss

X_train, X_test, Y_train, Y_test = load_digit_attributes().train_test()
models = {
    "Rank-SVM": RankSVM(C=10.0, random_state=0).fit(X_train, Y_train),
    "mlODM": MLODM(C=10.0, theta=0.1, mu=1.0, random_state=0).fit(X_train, Y_train),
}

print("            margin of a pair, training      margin of a pair, test     ranking loss, test")
for name, model in models.items():
    train, test = model.margins(X_train, Y_train), model.margins(X_test, Y_test)
    loss = ranking_loss(Y_test, model.label_scores(X_test))
    print(
        f"{name:12s}mean {train.mean():5.2f}, variance {train.var():5.3f}"
        f"    mean {test.mean():5.2f}, variance {test.var():5.3f}{loss:17.4f}"
    )

print("\npairs of the training rows with a margin   below 0   below 0.9   above 1.1")
for name, model in models.items():
    margins = model.margins(X_train, Y_train)
    shares = ((margins < 0).mean(), (margins < 0.9).mean(), (margins > 1.1).mean())
    print(f"{name:40s}{shares[0]:10.1%}{shares[1]:12.1%}{shares[2]:12.1%}")

# %%
# The share of the pairs of the test rows up to each margin. Scores differ in their scale: margins
# are divided by their mean absolute value.
figure, ax = pyplot.subplots(layout="constrained")
ax.axvline(0.0, color="0.6")
for name, model in models.items():
    margins = model.margins(X_test, Y_test)
    ax.ecdf(margins / abs(margins).mean(), label=name)
ax.set(xlabel="margin of a label pair / mean absolute margin", ylabel="share of pairs")
ax.legend()
pyplot.show()
