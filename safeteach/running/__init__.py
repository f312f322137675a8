"""Let learners live: the loop, comparisons, audits, and what is kept of them."""
