"""One page about one world, to hand to a colleague: what is computed for it, and how it is said."""
