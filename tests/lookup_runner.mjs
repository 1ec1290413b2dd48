// Look up the pastes of a JSON file: node lookup_runner.mjs CATALOGUE PASTES -> JSON on stdout.
// `milliseconds` is processor time, so that a busy machine does not count against the lookup.
import { readFileSync } from "node:fs";
import { lookup } from "../docs/_static/lookup.mjs";

const [catalogueFile, pastesFile] = process.argv.slice(2);
const catalogue = JSON.parse(readFileSync(catalogueFile, "utf8"));
const pastes = JSON.parse(readFileSync(pastesFile, "utf8"));
for (let i = 0; i < 3; i += 1) lookup("RuntimeError: a leaf Variable that needs grad\n", catalogue);
const answers = pastes.map((paste) => {
  const start = process.cpuUsage().user;
  const answer = lookup(paste, catalogue);
  return { ...answer, milliseconds: (process.cpuUsage().user - start) / 1000 };
});
process.stdout.write(JSON.stringify(answers));
