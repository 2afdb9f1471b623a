// A step: its answer saves itself, its source changes version in place, its terms explain
// themselves where they stand.
import "./answer.js";
import "./source.js";
import "./terms.js";
