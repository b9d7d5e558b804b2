"""Where events are kept, and the pure folds over them."""
