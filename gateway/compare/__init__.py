"""Two results against each other: readers of what people have, and which rows really moved."""
