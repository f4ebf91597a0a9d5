"""Pictures of measured runs: each module draws one kind into a matplotlib figure; `page` gathers them in HTML.

`source` reads a file and says what it is, `gallery` chooses the pictures for it. Everything here draws what is in
files; nothing measures, predicts or runs a program.
"""
