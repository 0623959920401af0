"""
Label-specific features
=======================

Which features does each label need? LLSF finds a small set of features for every label.

Learn how the parameter beta trades features for accuracy, and how any classifier of scikit-learn is
trained on the features found.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.svm import SVC

from multimargin import LLSF, LabelSpecificBinaryRelevance
from multimargin.datasets import load_digit_attributes
from multimargin.measures import all_measures

data = load_digit_attributes()
X_train, X_test, Y_train, Y_test = data.train_test()

print("beta   features a label   macro F1 of LLSF   of support vector machines on these features")
for beta in (0.3, 3.0, 30.0, 60.0):
    selector = LLSF(alpha=0.1, beta=beta).fit(X_train, Y_train)
    machines = LabelSpecificBinaryRelevance(SVC(C=10.0), selector=selector).fit(X_train, Y_train)
    f1 = [
        all_measures(Y_test, model.predict(X_test), model.decision_function(X_test))["macro_f1"]
        for model in (selector, machines)
    ]
    features = selector.label_specific_features_.sum(axis=1).mean()
    print(f"{beta:4.1f}{features:19.1f}{f1[0]:19.4f}{f1[1]:19.4f}")

model = LLSF(alpha=0.1, beta=30.0).fit(X_train, Y_train)
print("\nthe pixels that tell whether a digit has the property, of 8 x 8 (beta = 30):")
for label in (data.label_names.index("even"), data.label_names.index("closed loop")):
    image = np.where(model.label_specific_features_[label].reshape(8, 8), "#", ".")
    print(f"\n{data.label_names[label]}\n" + "\n".join("".join(row) for row in image))

# %%
# How many features each label keeps.
pyplot.figure(layout="constrained")
pyplot.barh(data.label_names, model.label_specific_features_.sum(axis=1))
pyplot.xlabel("number of features")
pyplot.show()
