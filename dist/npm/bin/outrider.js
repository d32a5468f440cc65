#!/usr/bin/env node
// Runs the outrider of this platform, which an optional dependency carries.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@outrider-run/outrider-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "outrider.exe" : "outrider";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`outrider: the package ${name} is not installed.
  It is an optional dependency of @outrider-run/outrider. Install without --omit=optional,
  or install outrider another way: https://github.com/outrider-run/outrider/blob/main/docs/how-to/install.md`);
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`outrider: ${program} cannot be started: ${error.message}`);
  process.exit(3);
});
// A terminal sends its signals to both processes. Others send them here, and the
// browser must be closed before the caller is told that all has ended.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
