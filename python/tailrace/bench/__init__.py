"""The test-bed behind `tailrace bench pattern`: a program that computes and writes in turns, run by every writer.

In the order the data flow: program.py finds and runs the C++ program `pattern`, one process a run; measure.py has it
measure this machine and directory; writers.py names the ways to write; scratch.py lends them directories; pattern.py
runs them in turns; evaluate.py makes numbers of the runs, with statistics.py; result.py keeps it all in a file.
Prints nothing: that is the command line's.
"""
