"""What the book and its courses need beside the library: checkers, shared drawings, numbers."""
