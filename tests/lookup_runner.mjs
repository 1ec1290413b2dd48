// Look up the pastes of a JSON file: node lookup_runner.mjs CATALOGUE PASTES [TRIES] -> JSON on stdout.
// `milliseconds` is processor time, so that a busy machine does not count against the lookup: the
// least of TRIES. `loop` is what a loop that never changes takes at the same time, and `first` what
// the first paste takes that a catalogue sees, which must be arranged for it.
import { readFileSync } from "node:fs";
import { lookup } from "../docs/_static/lookup.mjs";

const [catalogueFile, pastesFile, given] = process.argv.slice(2);
const source = readFileSync(catalogueFile, "utf8");
const catalogue = JSON.parse(source);
const pastes = JSON.parse(readFileSync(pastesFile, "utf8"));
const tries = Number(given || 1);

function spent(work) {
  let least = Infinity;
  for (let i = 0; i < tries; i += 1) {
    const start = process.cpuUsage().user;
    work();
    least = Math.min(least, (process.cpuUsage().user - start) / 1000);
  }
  return least;
}

function loop() {
  const seen = new Map();
  for (let i = 0; i < 100000; i += 1) {
    const key = String((i * 7919) % 20011);
    seen.set(key, (seen.get(key) || 0) + 1);
  }
  return seen.size;
}

for (let i = 0; i < 3; i += 1) {
  lookup("RuntimeError: a leaf Variable that needs grad\n", catalogue);
  loop();
}
const answers = pastes.map((paste) => {
  let answer = null;
  const milliseconds = spent(() => {
    answer = lookup(paste, catalogue);
  });
  if (tries === 1) return { ...answer, milliseconds };
  const fresh = Array.from({ length: tries }, () => JSON.parse(source));
  const first = spent(() => lookup(paste, fresh.pop()));
  return { ...answer, milliseconds, first, loop: spent(loop) };
});
process.stdout.write(JSON.stringify(answers));
