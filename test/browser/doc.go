// Package browser has no code of its own: its tests drive the pages of "jobledger ui" in a real browser, by mouse and
// by keyboard alone, in each width and theme, and let axe-core judge them.
//
// Where there is no Chromium ($JOBLEDGER_CHROMIUM, or chromium in the path) they are skipped, and say so; make
// test-browser demands it.
package browser
