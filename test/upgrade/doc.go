// Package upgrade changes the program under Jobs that run: to a newer one, back to an older one, and to one that is too
// old for the log. It builds the older ones from this repository's history. docs/upgrade.md says what it shows.
package upgrade
