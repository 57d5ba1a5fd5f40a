// Package upgrade replaces the program while Jobs run: by a newer one, then by an older one, and by one that is too old
// for the log. It builds the older programs from this repository's history. docs/upgrade.md describes the behaviour.
package upgrade
