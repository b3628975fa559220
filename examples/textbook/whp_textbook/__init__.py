"""Three textbook theorems of different kinds, stated and checked with whp's public interface alone.

Hoeffding's inequality is an *event* claim about a function, the perceptron's mistake bound a *slack* claim about a
stateful learner, the UCB1 regret bound a *sample* claim about a stateful learner.
"""
