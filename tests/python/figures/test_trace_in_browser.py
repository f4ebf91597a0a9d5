"""A trace of the library in headless Chromium: it parses there, and keeps the rules of the trace event format.

Perfetto and chrome://tracing are not available in a test; the page below has their requirements: known phases,
numbers where numbers belong, asynchronous spans in pairs, and slices of a thread that nest.
"""

import json
import shutil
import subprocess

import numpy as np
import pytest
import tailrace

PAGE = """<!doctype html><meta charset="utf-8"><body><pre id="found">not run</pre>
<script id="trace" type="application/json">TRACE</script>
<script>
const found = {phases: {}, faults: []};
try {
  const trace = JSON.parse(document.getElementById('trace').textContent);
  found.unit = trace.displayTimeUnit;
  const open = new Map();
  for (const event of trace.traceEvents) {
    const fault = (what) => found.faults.push(what + ' ' + JSON.stringify(event));
    found.phases[event.ph] = (found.phases[event.ph] || 0) + 1;
    if (!'MXbeC'.includes(event.ph)) fault('phase');
    if (!Number.isInteger(event.pid) || !Number.isInteger(event.tid)) fault('pid or tid');
    if (typeof event.name !== 'string') fault('name');
    if (event.ph !== 'M' && !Number.isFinite(event.ts)) fault('ts');
    if (event.ph === 'X' && !(event.dur >= 0)) fault('dur');
    if (event.ph === 'C' && !Object.values(event.args).every(Number.isFinite)) fault('counter');
    const key = [event.pid, event.cat, event.id, event.name].join();
    if (event.ph === 'b' && open.has(key)) fault('begun twice');
    if (event.ph === 'b') open.set(key, event.ts);
    if (event.ph === 'e' && !(open.get(key) <= event.ts)) fault('ended before it began');
    if (event.ph === 'e') open.delete(key);
  }
  if (open.size > 0) found.faults.push('never ended: ' + open.size);
  const slices = trace.traceEvents.filter((event) => event.ph === 'X');
  const ends = [];
  const half = 0.0005;  // of a nanosecond, as floats round
  for (const slice of slices.sort((a, b) => a.ts - b.ts || b.dur - a.dur)) {
    while (ends.length > 0 && ends[ends.length - 1] <= slice.ts + half) ends.pop();
    if (ends.length > 0 && slice.ts + slice.dur > ends[ends.length - 1] + half) found.faults.push('overlap');
    ends.push(slice.ts + slice.dur);
  }
} catch (error) { found.faults.push(String(error)); }
document.getElementById('found').textContent = JSON.stringify(found);
</script>
"""

CONFIG = """\
tailrace: 1
name: sim
memory: {{budget: 1 MiB, when_full: {when_full}}}
layouts: {{l: {{type: float64, shape: [16384]}}}}
variables: {{a: {{layout: l}}, b: {{layout: l}}, c: {{layout: l}}}}
measurements: {{trace: true}}
log: {{level: error}}
"""


@pytest.fixture(scope="module")
def in_browser(tmp_path_factory):
    """Loads a trace, and returns the page's findings."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("chromium is not installed")

    def load(text):
        directory = tmp_path_factory.mktemp("browser")
        page = directory / "page.html"
        page.write_text(PAGE.replace("TRACE", text.replace("</", "<\\/")))
        done = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={directory / 'profile'}", "--dump-dom", page.as_uri()],
            capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.split('<pre id="found">')[1].split("</pre>")[0])

    return load


@pytest.mark.parametrize("when_full", ["block", "sync", "drop"])
def test_a_trace_opens(in_browser, out, when_full):
    block = np.ones(16384)
    with tailrace.open("sim.yaml", text=CONFIG.format(when_full=when_full), path=out) as client:
        for step in range(40):
            ticket = None
            try:
                client.write("a", step, block)
                client.alloc("b", step)[:] = block
                client.commit("b", step)
                ticket = client.borrow("c", step, block)
            except tailrace.Dropped:
                pass
            client.end_iteration(step)
            if ticket and step % 8 == 0:
                ticket.wait()
    found = in_browser((out / "sim_c0.trace.json").read_text())
    assert found["faults"] == [] and found["unit"] == "ms"
    assert found["phases"]["M"] == 3 and found["phases"]["X"] > 40
    assert found["phases"]["b"] == found["phases"]["e"] > 0 and found["phases"]["C"] > 0


@pytest.mark.parametrize("spoil, fault", [
    (lambda events: events.append({**events[3], "ts": events[3]["ts"] + events[3]["dur"] / 2}), "overlap"),
    (lambda events: events.remove(next(event for event in events if event["ph"] == "e")), "never ended"),
    (lambda events: events[3].pop("ts"), "ts"),
])
def test_the_page_would_see_a_fault(in_browser, out, spoil, fault):
    with tailrace.open("sim.yaml", text=CONFIG.format(when_full="block"), path=out) as client:
        client.write("a", 0, np.ones(16384))
        client.end_iteration(0)
    trace = json.loads((out / "sim_c0.trace.json").read_text())
    spoil(trace["traceEvents"])
    assert any(fault in text for text in in_browser(json.dumps(trace))["faults"])
