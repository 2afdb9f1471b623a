// The grading desk, all by keyboard. The next answer is fetched while this one is read, so that
// turning to it is a swap on the page; a grade is sent in the background and never lost.
import "./queue/keys.js";
import { open } from "./queue/turning.js";

open(document.querySelector("[data-desk]"), location.href);
