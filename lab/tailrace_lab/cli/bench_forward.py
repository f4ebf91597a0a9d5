"""`tailrace bench forward`: one program and one forwarder on this machine, beside the disk and TLS alone; or, with
--schedulers, many processes and four forwarders with each scheduler.

Reads the options and passes them to tailrace_lab.bench.forward or tailrace_lab.bench.testbed; bench_bars.py and
bench_schedulers.py print the results. Measures nothing itself.
"""

from __future__ import annotations

import argparse
from typing import Any

from . import bench_options

_EPILOG = """\
Files lie on this machine's disk, those of small writes in memory. The program tls_stream shows what TLS alone does.

--schedulers compares no forwarding with fifo, hbrr, twins (windows of 1 to 32 ms) and adaptive. Forwarders run in
separate network namespaces if the user may make these. The data servers are modelled: the storage of all
processes delays each transfer as a disk with seeks would. The table also shows the simulated study of the same run
(docs/forward-study.md).
--survey does that for reads and writes, each pattern, requests of 32 KiB and 4 MiB, one process and 128.

Exit code 1 if it cannot run, 2 if the options are wrong. A missed bar is reported, and is no failure."""

_SCHEDULERS = ("clients", "requests", "request", "pattern", "write", "disk")


def register(kinds: Any) -> None:
    """Adds the command."""
    parser = kinds.add_parser(
        "forward", help="one program and one forwarder, compared with disk and TLS; or schedulers of several "
                        "forwarders",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Starts a forwarder, and writes and reads a file through it and without it, round after round.\n"
                    "Prints bandwidth, the time of small writes, and bars. Takes some minutes, and needs a machine\n"
                    "that does nothing else.")
    bench_options.add_result(parser.add_argument, program="forward_bench or forward_testbed")
    parser.add_argument("--repeats", type=bench_options.count(1, 1000), metavar="N",
                        help="rounds, after one to warm up (default: 5; with --schedulers 8, with --survey 3)")
    add = parser.add_argument_group("schedulers").add_argument
    add("--schedulers", action="store_true", help="compare the schedulers of several forwarders")
    add("--survey", action="store_true", help="compare them under each access pattern: half an hour")
    add("--clients", type=bench_options.count(1, 1024), metavar="N", help="processes (default: 128)")
    add("--requests", type=bench_options.count(1, 1 << 20), metavar="N", help="of each process (default: 16)")
    add("--request", type=bench_options.size(1 << 10, 64 << 20), metavar="SIZE",
        help="bytes of a request (default: 32 KiB)")
    add("--pattern", choices=("strided", "contiguous", "files"),
        help="one file in turn, one file in ranges, or a file for each process (default: strided)")
    add("--write", action="store_true", default=None, help="write instead of reading")
    add("--disk", choices=("sata7200", "sas10k", "flash"), help="of the modelled servers (default: sata7200)")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    if arguments.survey:
        return _run_survey(arguments)
    if arguments.schedulers:
        return _run_schedulers(arguments)
    for name in _SCHEDULERS:
        if getattr(arguments, name) is not None:
            arguments.parser.error(f"--{name} is an option of --schedulers, which is missing")
    from ..bench import forward

    from . import bench_bars

    settings = bench_options.given(forward.QUICK if arguments.quick else forward.Settings(),
                                   directory=arguments.dir, repeats=arguments.repeats)
    return bench_options.conduct(
        arguments, lambda stream: bench_bars.Printer(stream, arguments.quick, arguments.markdown),
        lambda printer, display: forward.study(arguments.program, settings, _Told(printer, display)))


def _run_schedulers(arguments: argparse.Namespace) -> int:
    from ..bench import testbed

    from . import bench_schedulers

    if arguments.dir is not None:
        arguments.parser.error("--dir: with --schedulers all files lie in memory")
    chosen = {name: getattr(arguments, name) for name in _SCHEDULERS}
    settings = bench_options.given(testbed.QUICK if arguments.quick else testbed.Settings(),
                                   repeats=arguments.repeats, **chosen)
    return bench_options.conduct(
        arguments, lambda stream: bench_schedulers.Printer(stream, arguments.quick, arguments.markdown),
        lambda printer, display: testbed.study(arguments.program, settings, _Told(printer, display)))


def _run_survey(arguments: argparse.Namespace) -> int:
    from ..bench import survey, testbed

    from . import bench_survey

    for name in ("dir", *_SCHEDULERS):
        if name != "disk" and getattr(arguments, name) is not None:
            arguments.parser.error(f"--{name}: --survey has its own")
    base = testbed.QUICK if arguments.quick else testbed.Settings(repeats=3)
    settings = bench_options.given(base, repeats=arguments.repeats, disk=arguments.disk)
    of = survey.QUICK if arguments.quick else survey.Range()
    return bench_options.conduct(
        arguments, lambda stream: bench_survey.Printer(stream, arguments.quick, arguments.markdown),
        lambda printer, display: survey.study(arguments.program, settings, of, _Told(printer, display)))


class _Told:
    """The observer: sends progress to the bar on the terminal, and results to the printer."""

    def __init__(self, printer: Any, display: Any) -> None:
        self.begin = display.begin
        self.run = display.run
        self.part = printer.part
        self.missing = printer.missing
