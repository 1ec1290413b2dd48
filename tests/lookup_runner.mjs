// Look up the pastes of a JSON file: node lookup_runner.mjs CATALOGUE PASTES -> JSON on stdout.
import { readFileSync } from "node:fs";
import { lookup } from "../docs/_static/lookup.mjs";

const [catalogueFile, pastesFile] = process.argv.slice(2);
const catalogue = JSON.parse(readFileSync(catalogueFile, "utf8"));
const pastes = JSON.parse(readFileSync(pastesFile, "utf8"));
lookup("warm up", catalogue);
const answers = pastes.map((paste) => {
  const start = performance.now();
  const answer = lookup(paste, catalogue);
  return { ...answer, milliseconds: performance.now() - start };
});
process.stdout.write(JSON.stringify(answers));
