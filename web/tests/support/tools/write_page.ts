// Writes a page of the fixture to look at:  node out/tools/write_page.mjs OUT.html SPANS [CORES]
import { readFileSync, writeFileSync } from "node:fs";
import { fillPage } from "../encode";
import { makePage } from "../fixture";

const [out, spans = "3000", cores = "2"] = process.argv.slice(2);
writeFileSync(out, fillPage(readFileSync("built/page.html", "utf8"), makePage({ spans: Number(spans), cores: Number(cores), ops: 2000 })));
